// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * init-live.c - runs atwalk on the guest's own kernel with each backend. The output is
 * written to the port "live":
 *
 *	##### COMMAND		followed by its standard output; where it did not run
 *				as root, its first word is replaced by the user's label
 *	##### exit STATUS MS	followed by its standard error
 *
 * PID 1 only waits meanwhile, and starts it by vfork(2): a copy of the page tables of
 * PID 1 would make exclusive pages shared.
 */
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* %s is the backend; then come addresses of the page that every process shares. */
static const char *const commands[] = {
	"info %s --format csv",
	"ps %s --threads --format csv",
	"pages %s --all --format csv --columns pid,address,size,physical,rights,state,count,kcount,pageflags,swap,cgroup,task,area",
	"map %s --task spin --all --filter user --format csv --columns address,size,physical,rights,state",
	"walk %s --pid 1 %lx -p --format csv --columns address,size,physical,level,entry_at,state",
	"find %s %llx+1 --format csv --columns pid,task,address,physical,size",
};
static const char *const collects[] = {
	"collect live:kcore --frames", "collect live:bpf --frames",
	"collect live:pagemap --frames",
};
/* Of the first virtual machine, if this kernel runs some: see machines.py. */
static const char of_machines[] = "vms --columns pid,ram,stage2,s2_root --format csv";
static const char nested[] =
	"--nested --format csv --columns physical,hva,hpa,host_page,host_state,s2_hpa,s2_page,s2_rights,s2_state,s2_differs";
static const char *const ways[] = { "live:kcore", "live:bpf" };

static const char errors[] = "/live.err";

static struct port live;
static char text[16384];

static void split(char *line, char **argv, int max)
{
	char *save, *w;
	int n = 0;

	argv[n++] = "atwalk";
	for (w = strtok_r(line, " ", &save); w && n < max - 1;
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	argv[n] = NULL;
}

/*
 * Switches to an unprivileged user with these capabilities. Raw system calls: the
 * wrappers of libc signal all threads of a process, and this one still shares its
 * parent's memory.
 */
static void become(uint64_t caps)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	uint32_t low = caps;
	struct __user_cap_data_struct data[2] = { { low, low, low }, { 0 } };
	unsigned i;

	prctl(PR_SET_KEEPCAPS, 1);
	if (syscall(SYS_setresgid, 65534, 65534, 65534) ||
	    syscall(SYS_setresuid, 65534, 65534, 65534) || syscall(SYS_capset, &head, data))
		_exit(126);
	for (i = 0; i < 32; i++)
		if (low >> i & 1)
			prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
}

#define AS_ROOT UINT64_MAX

static int run(const char *command, uint64_t caps)
{
	char line[512], *argv[24];
	int status = -1;
	pid_t pid;

	snprintf(line, sizeof(line), "%s", command);
	split(line, argv, ARRAY_SIZE(argv));
	pid = vfork();
	if (!pid) {
		int fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(live.fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		if (caps != AS_ROOT)
			become(caps);
		execv("/atwalk", argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Not through the vDSO: its data would be one more page of this process. */
static long now_ms(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int answer(const char *label, const char *command, uint64_t caps)
{
	long start;
	int status;

	port_printf(&live, "##### %s\n", label);
	port_flush(&live);
	start = now_ms();
	status = run(command, caps);
	port_printf(&live, "##### exit %d %ld\n", status, now_ms() - start);
	if (read_file(errors, text, sizeof(text)) > 0)
		port_write(&live, text, strlen(text));
	return status;
}

/* Physical address of a page of this process. */
static unsigned long long physical(const void *p)
{
	uint64_t word = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (pread(fd, &word, sizeof(word), (uintptr_t)p / page_size * sizeof(word)) < 0)
		die("pagemap");
	close(fd);
	return (word & ((1ULL << 55) - 1)) * page_size;
}

static void ask_of_machines(void)
{
	char command[512];
	unsigned int i;
	int len;

	if (!registry->slots)
		return;
	answer(of_machines, of_machines, AS_ROOT);
	len = snprintf(command, sizeof(command), "walk kvm:%d --root %lx --paging %s",
		       registry->slot[0].pid, registry->tables, registry->paging);
	for (i = 0; i < registry->slots && registry->slot[i].pid == registry->slot[0].pid; i++) {
		const struct machine_slot *s = &registry->slot[i];

		len += snprintf(command + len, sizeof(command) - len, " %lx-%lx", s->gpa,
				s->gpa + s->size - 1);
	}
	snprintf(command + len, sizeof(command) - len, " %s", nested);
	answer(command, command, AS_ROOT);
}

void live_run(void)
{
	unsigned long at = (unsigned long)registry;
	char command[512];
	size_t w, i;

	if (!port_open(&live, "live"))
		die("no live port");
	answer("info live --format csv", "info live --format csv", AS_ROOT);
	/* The hint of atwalk where the kernel does not interpret its program. */
	if (answer("first live:bpf", "info live:bpf", AS_ROOT))
		write_file("/proc/sys/net/core/bpf_jit_enable", "1");
	/* Reads memory of processes, which marks pages as accessed some time later. */
	ask_of_machines();
	/* First, because reading the headers of files changes page flags. */
	for (w = 0; w < ARRAY_SIZE(collects); w++)
		answer(collects[w], collects[w], AS_ROOT);
	/*
	 * /proc twice: the first time moves pages to the LRU lists, and their flags
	 * would change between the other backends.
	 */
	snprintf(command, sizeof(command), commands[2], "live:pagemap");
	answer("first live:pagemap", command, AS_ROOT);
	for (w = 0; w < ARRAY_SIZE(ways); w++)
		for (i = 0; i < ARRAY_SIZE(commands); i++) {
			/* Physical and virtual addresses have different types. */
			if (strstr(commands[i], "%ll"))
				snprintf(command, sizeof(command), commands[i], ways[w],
					 physical(registry));
			else
				snprintf(command, sizeof(command), commands[i], ways[w], at);
			answer(command, command, AS_ROOT);
		}
	snprintf(command, sizeof(command), commands[2], "live:pagemap");
	answer(command, command, AS_ROOT);
	answer("unprivileged live:kcore", "info live:kcore", 0);
	answer("capable live:kcore", "ps live:kcore --threads --format csv",
	       1 << CAP_DAC_READ_SEARCH | 1 << CAP_SYS_RAWIO);
	port_flush(&live);
	close(live.fd);
	unlink(errors);
}
