/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /init of guests that are recorded (see record): processes that do what is known, and
 * then what the kernel itself counted of its allocations, on the console.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define TRACE	"/sys/kernel/tracing/"

enum { FILES = 20 };

/* A child that opens FILES files and nothing else, one after the other. */
static void child(unsigned n)
{
	char name[64];

	snprintf(name, sizeof(name), "opens-%u", n);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(name, sizeof(name), "/tmp/%u.%d", n, i);
		fd = open(name, O_CREAT | O_RDWR, 0600);
		if (fd < 0 || write(fd, name, sizeof(name)) < 0)
			_exit(1);
		close(fd);
		unlink(name);
	}
	_exit(0);
}

/* Room for 256 pages in a pipe is described by more than a slab cache has objects of. */
static void large(void)
{
	int fd[2];

	if (!pipe(fd) && fcntl(fd[0], F_SETPIPE_SZ, 256 * getpagesize()) > 0)
		printf("truth large %d\n", (int)getpid());
}

static void show(const char *what, const char *path)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		printf("truth %s %s", what, line);
	if (f)
		fclose(f);
}

static void show_symbols(void)
{
	static const char *const names[] = { " _text\n", " __kmalloc\n", " kfree\n", " vfs_open\n" };
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strstr(line, names[i]))
				printf("truth symbol %s", line);
	if (f)
		fclose(f);
}

static void put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0) {
		if (write(fd, value, strlen(value)) < 0)
			perror(path);
		close(fd);
	}
}

/* What the kernel's command line says behind this word; NULL: it is not there. */
static const char *word(const char *name)
{
	static char line[2048];
	const char *at;
	FILE *f = fopen("/proc/cmdline", "r");

	at = f && fgets(line, sizeof(line), f) ? strstr(line, name) : NULL;
	if (f)
		fclose(f);
	return at ? at + strlen(name) : NULL;
}

static unsigned children(void)
{
	const char *n = word("kmap.children=");

	return n ? (unsigned)atoi(n) : 20;
}

/* ---- histograms of the events that are recorded ---- */

static void set_triggers(void)
{
	static const char *const hist[][2] = {
		{ "kmem/kmalloc", "hist:keys=call_site,bytes_req:size=8192" },
		{ "kmem/kmem_cache_alloc", "hist:keys=call_site.sym:vals=bytes_alloc:size=8192" },
		{ "kmem/kfree", "hist:keys=common_stacktrace:size=8192" },
		{ "kmem/kmem_cache_free", "hist:keys=ptr:size=8192" },
		{ "kmem/mm_page_alloc", "hist:keys=pfn,order:size=8192" },
		{ "sched/sched_switch", "hist:keys=next_pid,next_comm:size=8192" },
	};
	char path[128];

	for (size_t i = 0; i < sizeof(hist) / sizeof(hist[0]); i++) {
		snprintf(path, sizeof(path), TRACE "events/%s/trigger", hist[i][0]);
		put(path, hist[i][1]);
	}
}

/* How much each of them counted. */
static void show_triggers(void)
{
	static const char *const event[] = { "kmem/kmalloc", "kmem/kfree", "sched/sched_switch" };
	char path[128], line[4096];

	for (size_t i = 0; i < sizeof(event) / sizeof(event[0]); i++) {
		FILE *f;

		snprintf(path, sizeof(path), TRACE "events/%s/hist", event[i]);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			if (strstr(line, "Hits:"))
				printf("truth hist %s %lu\n", event[i],
				       strtoul(strchr(line, ':') + 1, NULL, 10));
		if (f)
			fclose(f);
	}
}

/* ---- allocations without a recorded tracepoint ---- */

#define CALLS	TRACE "instances/calls/"

/* The kernel itself is to say what it does by CPU. */
static void watch_percpu(void)
{
	mkdir(TRACE "instances/calls", 0755);
	put(CALLS "options/hash-ptr", "0");
	put(CALLS "buffer_size_kb", "1024");
	put(CALLS "events/percpu/percpu_alloc_percpu/enable", "1");
	put(CALLS "events/percpu/percpu_free_percpu/enable", "1");
}

/* A file system has counters by CPU. */
static void mounts(void)
{
	char path[64];

	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), "/tmp/m%d", i);
		mkdir(path, 0755);
		mount("tmpfs", path, "tmpfs", 0, NULL);
	}
	for (int i = 0; i < 40; i += 2) {
		snprintf(path, sizeof(path), "/tmp/m%d", i);
		umount(path);
	}
}

/* Timers are freed in bulk, once no reader can access them (RCU). */
static void timers(void)
{
	int fd[200];

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 200; i++)
			fd[i] = timerfd_create(CLOCK_MONOTONIC, 0);
		for (int i = 0; i < 200; i++)
			close(fd[i]);
	}
}

/* A process with many VMAs has a maple tree; its nodes are allocated in bulk. */
static void pieces(void)
{
	enum { PAGES = 2000 };
	pid_t pid = fork();
	char *at;

	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	at = mmap(NULL, PAGES * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < PAGES && at != MAP_FAILED; i += 2)
		mprotect(at + i * 4096, 4096, PROT_READ);
	_exit(0);
}

/* How many objects a cache has, when none is kept in store. */
static void show_cache(const char *name)
{
	char path[512], line[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", name);
	put(path, "1");
	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/objects", name);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f))
		printf("truth slab %s %lu\n", name, strtoul(line, NULL, 10));
	if (f)
		fclose(f);
}

static void show_memblock(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	char line[2048], *end;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (strstr(line, "memblock_"))
			printf("truth memblock %s\n", strchr(line, ';') + 1);
	}
	if (fd >= 0)
		close(fd);
}

/* A marker in the recording: no other process uses inotify. */
static void mark(void)
{
	inotify_add_watch(inotify_init1(0), "/", IN_DELETE_SELF);
}

static void calls(void)
{
	watch_percpu();
	mounts();
	pieces();
	timers();
	/* Until what is freed later is freed. */
	sleep(7);
	put(CALLS "tracing_on", "0");
	mark();
}

static void show_calls(void)
{
	DIR *dir = opendir("/sys/kernel/slab");
	const struct dirent *e;

	show("percpu", CALLS "trace");
	show_memblock();
	show("vmalloc", "/proc/vmallocinfo");
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			show_cache(e->d_name);
	if (dir)
		closedir(dir);
}

int main(void)
{
	/* The kernel's command line may not be available to request it. */
	bool triggers = access("/triggers", F_OK) == 0;
	char path[128];

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/tmp", 0755);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("tracefs", TRACE, "tracefs", 0, NULL);
	mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
	put("/proc/sys/kernel/kptr_restrict", "0");
	if (triggers)
		set_triggers();
	large();
	for (unsigned i = 0, n = children(); i < n; i++) {
		pid_t pid = fork();
		int status = 1;

		if (!pid)
			child(i);
		waitpid(pid, &status, 0);
		printf("truth child %u %d %d\n", i, (int)pid, status);
	}
	if (word("kmap.calls"))
		calls();
	put(TRACE "tracing_on", "0");
	for (int cpu = 0; cpu < 64; cpu++) {
		snprintf(path, sizeof(path), TRACE "per_cpu/cpu%d/stats", cpu);
		show("stats", path);
	}
	show_symbols();
	if (word("kmap.calls"))
		show_calls();
	if (triggers)
		show_triggers();
	puts("truth end");
	fflush(stdout);
	/* The kernel's own last line does not wait for what is still to be sent. */
	tcdrain(STDOUT_FILENO);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
