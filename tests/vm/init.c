// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /init of the guests.  Words on the kernel's command line say what else than
 * the usual is wanted:
 *
 *	atwalk.crash	once idle, wait for a word on the port "control" and
 *			crash into a kernel loaded before (see init-vmcore.c)
 *	atwalk.changes	once idle, wait for a word likewise, have a process change and
 *			list its changes (see init-changes.c)
 *	atwalk.kvm	start processes that run virtual machines (see init-kvm.c)
 *	atwalk.live	run atwalk on this kernel, before the truth is taken
 *	atwalk.many	start many pages instead of the test processes, and write
 *			no truth: something to measure with
 *	atwalk.vmcore	this is that kernel: copy /proc/vmcore out
 */
#include "init.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THP	"/sys/kernel/mm/transparent_hugepage/"

struct registry *registry;
size_t page_size;

static struct port status, truth;

static void stage(const char *what)
{
	port_printf(&status, "%s\n", what);
	port_flush(&status);
}

static void mount_all(void)
{
	static const struct {
		const char *type, *where;
	} fs[] = {
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "devtmpfs", "/dev" },
		{ "debugfs", "/sys/kernel/debug" },
	};
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(fs); i++) {
		mkdir(fs[i].where, 0755);
		mount(fs[i].type, fs[i].where, fs[i].type, 0, NULL);
	}
	fd = open("/dev/console", O_RDWR);
	if (fd >= 0) {
		dup2(fd, STDIN_FILENO);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		if (fd > STDERR_FILENO)
			close(fd);
	}
}

/*
 * Nothing may move pages on its own between the truth and the stop: not the
 * collapsing of huge pages, not compaction, not the reading ahead of swap, not
 * the thread that clears accessed bits for statistics (6.17 and later).
 * Huge pages themselves are wanted, which the kernel thinks this machine too
 * small for.
 */
static void set_up_kernel(void)
{
	static const struct {
		const char *path, *value;
	} settings[] = {
		{ "/proc/sys/kernel/kptr_restrict", "0" },
		{ "/proc/sys/kernel/randomize_va_space", "2" },
		{ "/proc/sys/vm/compaction_proactiveness", "0" },
		{ "/proc/sys/vm/page-cluster", "0" },
		{ "/proc/sys/kernel/numa_balancing", "0" },
		{ "/proc/sys/kernel/sysrq", "1" },
		{ "/sys/module/damon_stat/parameters/enabled", "N" },
		{ THP "khugepaged/scan_sleep_millisecs", "4000000000" },
		{ THP "khugepaged/max_ptes_none", "0" },
		{ THP "khugepaged/max_ptes_swap", "0" },
		{ THP "khugepaged/pages_to_scan", "1" },
		{ THP "use_zero_page", "1" },
		{ THP "defrag", "madvise" },
		{ THP "enabled", "madvise" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		write_file(settings[i].path, settings[i].value);
}

/*
 * There is no mkswap here, and the header is this simple: a version, the last
 * page, and a signature at the end of the first page.
 */
static void make_swap(const char *disk)
{
	static char page[65536];
	uint32_t *info = (uint32_t *)(page + 1024);
	off_t size;
	int fd;

	fd = open(disk, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	size = lseek(fd, 0, SEEK_END);
	info[0] = 1;
	info[1] = size / page_size - 1;
	memcpy(page + page_size - 10, "SWAPSPACE2", 10);
	if (pwrite(fd, page, page_size, 0) != (ssize_t)page_size)
		die("%s", disk);
	fsync(fd);
	close(fd);
	if (syscall(SYS_swapon, disk, 0))
		die("swapon %s", disk);
}

/* A disk, like a port, appears some time after its driver. */
static void wait_for(const char *path)
{
	int i;

	for (i = 0; i < 3000 && access(path, F_OK); i++)
		usleep(20000);
}

/*
 * The kernel marks locked pages as unevictable some at a time, from a list of each CPU.
 * A page that is still in the list of another CPU, where it was brought in, stays in that
 * one. A call that locks memory empties the lists of the CPU it runs on (lru_add_drain()).
 */
static void lock_memory(void)
{
	cpu_set_t all, one;
	void *page;
	int cpu;

	page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mlockall(MCL_CURRENT) || page == MAP_FAILED)
		warn("mlockall failed");
	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		if (munlock(page, page_size) || mlock(page, page_size))
			warn("mlock failed on CPU %d", cpu);
	}
	sched_setaffinity(0, sizeof(all), &all);
	munmap(page, page_size);
}

int main(void)
{
	char word[16];
	int control = -1;

	page_size = sysconf(_SC_PAGESIZE);
	mount_all();
	sethostname("atwalk-guest", 12);
	load_modules();
	if (cmdline_has("atwalk.vmcore"))
		vmcore_copy();

	if (!port_open(&status, "status") || !port_open(&truth, "truth"))
		die("no ports");
	stage("booted");
	set_up_kernel();
	wait_for("/dev/vda");
	make_swap("/dev/vda");
	registry = mmap(NULL, sizeof(*registry), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (registry == MAP_FAILED)
		die("registry");
	if (cmdline_has("atwalk.crash"))
		crash_prepare();
	if (cmdline_has("atwalk.crash") || cmdline_has("atwalk.changes")) {
		control = port_find("control", O_RDWR, 60000);
		memset(word, 1, sizeof(word));
	}

	if (cmdline_has("atwalk.many")) {
		start_many_processes();
		stage("idle");
		idle();
	}
	/* It writes there later; then its rights to the page have to be there. */
	registry->go_on = false;
	start_processes();
	stage("processes");
	info_write();
	stage("info");

	/*
	 * From here on pid 1 may not change a page that it has: locking it all
	 * into memory copies now what would be copied at the next write, and
	 * brings in the code that has not run yet.
	 */
	truth_prepare();
	write_file("/proc/sys/vm/drop_caches", "1");
	lock_memory();
	if (cmdline_has("atwalk.live")) {
		live_run();
		stage("live");
	}
	/* Not earlier: what is above frees and takes tens of megabytes. */
	info_write_counters();
	truth_write(&truth, &status);
	stage("idle");
	if (control < 0)
		idle();
	/* A port that is not open on the host's side reads as empty. */
	while (read(control, word, sizeof(word)) <= 0)
		usleep(100000);
	if (!memcmp(word, "crash", 5))
		crash();
	changes_write(&status);
	stage("changed");
	idle();
}
