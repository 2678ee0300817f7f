// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The truth: what the kernel says of every page of every process, in the form
 *
 *	# page_size N ...		once, at the start of each pass
 *	K pid comm			a kernel thread
 *	P pid comm			a process, followed by its
 *	T pid tid comm			other threads
 *	I tid pid ppid state		after each of these three: of that task
 *	V pid NAME KIB...		pairs: Vm and Rss lines of /proc/PID/status
 *	R pid NAME KIB...		pairs: all lines of /proc/PID/smaps_rollup
 *	M pid maps-line			line of /proc/PID/maps, followed by its
 *	pid vaddr pagemap kpageflags kpagecount		present, swapped and guard pages
 *	S pid start end by by_start	present pages here carry stamps: that of
 *					process `by`, and addresses from by_start
 *	# end HASH
 *
 * Numbers of pages and S lines are hex but for the pids; a frame that has no
 * struct page has flags 100000 (KPF_NOPAGE) and count 0.
 *
 * The truth is to be that of the moment the machine is stopped.  So it is taken
 * again until two passes in a row are the same, but for kernel threads, V and R;
 * only the last pass counts.
 */
#include "init.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PM_PRESENT	(1ULL << 63)
#define PM_SWAPPED	(1ULL << 62)
#define PM_GUARD	(1ULL << 58)	/* since 6.15 */
#define PM_LISTED	(PM_PRESENT | PM_SWAPPED | PM_GUARD)
#define PM_PFN_MASK	((1ULL << 55) - 1)
#define KPF_NOPAGE	(1ULL << 20)

#define MAX_PIDS	1024
#define MAX_PASSES	8

/* All of it static and touched before the first pass that counts. */
static uint64_t pagemap_buf[8192];
static uint64_t flags_buf[512], counts_buf[512];
static char maps_buf[65536];
static char comm_buf[64];
static int pids[MAX_PIDS];
static int kpageflags_fd, kpagecount_fd;

void truth_prepare(void)
{
	kpageflags_fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	kpagecount_fd = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC);
	if (kpageflags_fd < 0 || kpagecount_fd < 0)
		die("/proc/kpageflags or kpagecount");
	memset(pagemap_buf, 1, sizeof(pagemap_buf));
	memset(flags_buf, 1, sizeof(flags_buf));
	memset(counts_buf, 1, sizeof(counts_buf));
	memset(maps_buf, 1, sizeof(maps_buf));
	memset(pids, 1, sizeof(pids));
}

/* The numbers in a /proc folder, ascending. */
static int list_numbers(const char *path, int *out, int max)
{
	struct dirent *e;
	DIR *dir;
	int n = 0;

	dir = opendir(path);
	if (!dir)
		return 0;
	while (n < max && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			out[n++] = atoi(e->d_name);
	closedir(dir);
	return n;
}

static const char *comm_of(const char *path)
{
	if (read_file(path, comm_buf, sizeof(comm_buf)) < 0)
		comm_buf[0] = '\0';
	comm_buf[strcspn(comm_buf, "\n")] = '\0';
	return comm_buf;
}

/* Words of consecutive frames; `otherwise` where the file has none. */
static void read_frames(int fd, uint64_t pfn, size_t count, uint64_t *words, uint64_t otherwise)
{
	ssize_t n = pread(fd, words, count * sizeof(*words), pfn * sizeof(*words));
	size_t i = n > 0 ? n / sizeof(*words) : 0;

	for (; i < count; i++)
		words[i] = otherwise;
}

/* How many entries from here on are of consecutive frames. */
static size_t frame_run(const uint64_t *pm, size_t count)
{
	size_t n = 1;

	if (count > ARRAY_SIZE(flags_buf))
		count = ARRAY_SIZE(flags_buf);
	if (!(pm[0] & PM_PRESENT))
		return 1;
	while (n < count && pm[n] & PM_PRESENT &&
	       (pm[n] & PM_PFN_MASK) == (pm[0] & PM_PFN_MASK) + n)
		n++;
	return n;
}

/* Lines of pages with consecutive frames, or of one page that is not present. */
static void write_run(struct port *p, const char *pid, uint64_t vaddr, const uint64_t *pm,
		      size_t count)
{
	size_t i;

	if (pm[0] & PM_PRESENT) {
		read_frames(kpageflags_fd, pm[0] & PM_PFN_MASK, count, flags_buf, KPF_NOPAGE);
		read_frames(kpagecount_fd, pm[0] & PM_PFN_MASK, count, counts_buf, 0);
	} else {
		flags_buf[0] = counts_buf[0] = 0;
	}
	for (i = 0; i < count; i++) {
		port_write(p, pid, strlen(pid));
		port_hex(p, vaddr + i * page_size, ' ');
		port_hex(p, pm[i], ' ');
		port_hex(p, flags_buf[i], ' ');
		port_hex(p, counts_buf[i], '\n');
	}
}

static void write_range(struct port *p, int pid, int fd, uint64_t start,
			uint64_t end)
{
	uint64_t addr = start;
	size_t want, i, run;
	char text[16];
	ssize_t n;

	snprintf(text, sizeof(text), "%d ", pid);
	while (addr < end) {
		want = (end - addr) / page_size;
		if (want > ARRAY_SIZE(pagemap_buf))
			want = ARRAY_SIZE(pagemap_buf);
		n = pread(fd, pagemap_buf, want * sizeof(uint64_t),
			  addr / page_size * sizeof(uint64_t));
		if (n <= 0)
			return;		/* [vsyscall] is in no page table of its own */
		n /= sizeof(uint64_t);
		for (i = 0; i < (size_t)n; i += run) {
			run = frame_run(pagemap_buf + i, n - i);
			if (pagemap_buf[i] & PM_LISTED)
				write_run(p, text, addr + i * page_size, pagemap_buf + i, run);
		}
		addr += n * page_size;
	}
}

/* What /proc says of a task, in its file `stat`. */
struct task {
	char state;
	int ppid;
	unsigned long flags;
};

static bool read_task(const char *folder, struct task *t)
{
	char path[64], stat[512], *s;

	snprintf(path, sizeof(path), "%s/stat", folder);
	if (read_file(path, stat, sizeof(stat)) <= 0)
		return false;
	s = strrchr(stat, ')');		/* a name may have one as well */
	return s && sscanf(s, ") %c %d %*d %*d %*d %*d %lu", &t->state, &t->ppid,
			   &t->flags) == 3;
}

static void write_task(struct port *p, int tid, int pid, const struct task *t)
{
	port_printf(p, "I %d %d %d %c\n", tid, pid, t->ppid, t->state);
}

static void write_threads(struct port *p, int pid)
{
	static int tids[64];
	char folder[48], path[64];
	struct task task;
	int i, n;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	n = list_numbers(path, tids, ARRAY_SIZE(tids));
	for (i = 0; i < n; i++) {
		if (tids[i] == pid)
			continue;
		snprintf(folder, sizeof(folder), "/proc/%d/task/%d", pid, tids[i]);
		snprintf(path, sizeof(path), "%s/comm", folder);
		port_printf(p, "T %d %d %s\n", pid, tids[i], comm_of(path));
		if (read_task(folder, &task))
			write_task(p, tids[i], pid, &task);
	}
}

/*
 * Sizes out of a file of the process, as one line of that letter: pairs of a name and
 * KiB. No part of the hash.
 */
static void write_sizes(struct port *p, int pid, char letter, const char *file)
{
	char path[64], name[32], *line, *save;
	uint64_t hash = p->hash;
	unsigned long kib;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	if (read_file(path, maps_buf, sizeof(maps_buf)) <= 0)
		return;
	for (line = strtok_r(maps_buf, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (letter == 'V' && strncmp(line, "Vm", 2) && strncmp(line, "Rss", 3))
			continue;
		if (sscanf(line, "%31[^: ]: %lu kB", name, &kib) != 2)
			continue;
		if (!found++)
			port_printf(p, "%c %d", letter, pid);
		port_printf(p, " %s %lu", name, kib);
	}
	if (found)			/* a zombie has none */
		port_printf(p, "\n");
	p->hash = hash;
}

static void write_process(struct port *p, int pid)
{
	char path[64], *line, *save;
	uint64_t start, end;
	int fd;

	write_threads(p, pid);
	write_sizes(p, pid, 'V', "status");
	write_sizes(p, pid, 'R', "smaps_rollup");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (read_file(path, maps_buf, sizeof(maps_buf)) <= 0)
		return;			/* a zombie has none */
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s", path);
	for (line = strtok_r(maps_buf, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2)
			die("bad line in maps of %d: %s", pid, line);
		port_printf(p, "M %d %s\n", pid, line);
		write_range(p, pid, fd, start, end);
	}
	close(fd);
}

/*
 * One pass.  Returns a hash of all that is to stay the same, which kernel
 * threads need not: workers come and go as they please.
 */
static uint64_t write_pass(struct port *p)
{
	const struct stamped *s;
	char folder[32], path[64];
	struct task task;
	uint64_t hash;
	int i, n;

	p->hash = 0;
	port_printf(p, "# page_size %zu; K/P pid comm, T pid tid comm, I tid pid ppid state, V and R pid sizes, M pid maps, S pid start end by by_start, pid vaddr pagemap kpageflags kpagecount\n",
		    page_size);
	n = list_numbers("/proc", pids, MAX_PIDS);
	for (i = 0; i < n; i++) {
		bool kernel;

		snprintf(folder, sizeof(folder), "/proc/%d", pids[i]);
		if (!read_task(folder, &task))
			continue;	/* gone: nothing of ours ever ends */
		kernel = task.flags & 0x00200000;	/* PF_KTHREAD */
		snprintf(path, sizeof(path), "%s/comm", folder);
		hash = p->hash;
		port_printf(p, "%c %d %s\n", kernel ? 'K' : 'P', pids[i],
			    comm_of(path));
		write_task(p, pids[i], pids[i], &task);
		if (kernel)
			p->hash = hash;
		else
			write_process(p, pids[i]);
	}
	for (i = 0; i < (int)registry->stamped_count; i++) {
		s = &registry->stamped[i];
		port_printf(p, "S %d %lx %lx %d %lx\n", s->pid, s->start, s->end,
			    s->by, s->by_start);
	}
	hash = p->hash;
	port_printf(p, "# end %lx\n", hash);
	port_flush(p);
	return hash;
}

/*
 * The pass before the written one brings in whatever taking the truth itself
 * changes (pid 1's own stack, its heap); the pass after it proves that nothing
 * moved since.  Those two only hash.
 */
void truth_write(struct port *p, struct port *status)
{
	const struct timespec settle = { .tv_nsec = 200 * 1000 * 1000 };
	uint64_t before, written;
	int fd = p->fd, i;

	for (i = 0; i < MAX_PASSES; i++) {
		p->fd = -1;
		write_pass(p);
		p->fd = fd;
		written = write_pass(p);
		p->fd = -1;
		before = write_pass(p);
		p->fd = fd;
		if (before == written) {
			port_printf(status, "truth %d passes\n", 3 * (i + 1));
			return;
		}
		/* Flags of pages settle when the lists of the CPUs are drained. */
		nanosleep(&settle, NULL);
	}
	port_printf(status, "truth unstable\n");
}
