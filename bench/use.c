/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * use - RSS, PSS and USS of all processes, beside a loop that reads
 * /proc/PID/smaps_rollup of each, which is what scripts do.
 *
 * use PROGRAM: 200 and then 560 children of this one are there besides what runs
 * anyway. Each has the files of a larger program mapped, all pages of them, and private
 * memory in a hundred areas: as an interpreter that has imported a few modules. All
 * ways take turns, and the CPU time of the whole program counts, its start included.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "live_process.h"
#include "measure.h"

enum { AREAS = 100, LOOKS = 9, MOST = 560 };

static const char *program;

/* ---- processes ---- */

/* As the loader maps a library: text, read-only data, data. */
static void map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	volatile char *p;
	struct stat st;
	size_t third;

	if (fd < 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size < 8 * PAGE)
		return;
	third = (size_t)st.st_size / 3 & ~(PAGE - 1);
	for (int i = 0; i < 3; i++) {
		p = mmap(NULL, third, i ? PROT_READ : PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			 (off_t)(third * (size_t)i));
		if (p == MAP_FAILED)
			return;
		for (size_t at = 0; at < third; at += PAGE)
			(void)p[at];
	}
	close(fd);
}

static void shape_program(char *lo, uint64_t bytes, uint64_t arg)
{
	const uint64_t area = bytes / AREAS & ~(PAGE - 1);
	uint64_t seed = arg;

	for (int i = 0; i < AREAS; i++) {
		char *at = lo + (uint64_t)i * area;

		/* Half of it is used, and the memory behind it is not mapped at all. */
		if (mprotect(at, area / 2, PROT_READ | PROT_WRITE) ||
		    madvise(at, area / 2, MADV_NOHUGEPAGE))
			err(1, "mprotect");
		for (uint64_t page = 0; page < area / 2; page += PAGE)
			if (random_below(&seed, 8))
				at[page] = 1;
	}
	map_file("/proc/self/exe");
	map_file(program);
}

/* ---- ways ---- */

static double spent(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

/* CPU time of a child, ms. */
static double run(const char *const *argv)
{
	struct rusage u;
	int status, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		dup2(null, 1);
		dup2(null, 2);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(null);
	if (wait4(pid, &status, 0, &u) != pid || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 4))
		errx(1, "%s %s failed", argv[0], argv[1]);
	return spent(&u);
}

static double smaps_rollup(void)
{
	DIR *d = opendir("/proc");
	struct rusage before, after;
	struct dirent *e;
	char buf[8192], path[300];

	getrusage(RUSAGE_SELF, &before);
	while (d && (e = readdir(d))) {
		int fd;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/smaps_rollup", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
			;
		if (fd >= 0)
			close(fd);
	}
	getrusage(RUSAGE_SELF, &after);
	if (d)
		closedir(d);
	return spent(&after) - spent(&before);
}

#define ARGV(...) (const char *const[]){ NULL, __VA_ARGS__, NULL }

static void measure(size_t n)
{
	const struct { const char *name; const char *const *argv; double times; } ways[] = {
		{ "report use: pid, rss, pss, uss",
		  ARGV("report", "use", "live", "--columns", "pid,rss,pss,uss"), 0.4 },
		{ "report use", ARGV("report", "use", "live"), 0.7 },
		{ "report use, live:pagemap", ARGV("report", "use", "live:pagemap"), 0 },
		{ "pages --totals", ARGV("pages", "live", "--totals"), 1.5 },
		{ "collect", ARGV("collect", "live", "-o", "/dev/null"), 1.5 },
	};
	enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
	static struct process child[MOST];
	static double loop[LOOKS], ms[WAYS][LOOKS];
	char title[64];
	double mid;

	for (size_t i = 0; i < n; i++)
		child[i] = process_start(shape_program, 32 * MIB, i + 1);
	for (int r = 0; r < LOOKS; r++) {
		loop[r] = smaps_rollup();
		for (size_t w = 0; w < WAYS; w++) {
			const char *argv[8] = { program };

			for (size_t k = 1; ways[w].argv[k]; k++)
				argv[k] = ways[w].argv[k];
			ms[w][r] = run(argv);
		}
	}
	for (size_t i = 0; i < n; i++)
		process_stop(&child[i]);
	snprintf(title, sizeof(title), "sums of %zu processes and what runs here, ms", n);
	heading(title, "to loop");
	mid = median(loop, LOOKS);
	row("loop over /proc/PID/smaps_rollup", mid, loop[0], mid, 0);
	for (size_t w = 0; w < WAYS; w++) {
		double it = median(ms[w], LOOKS);

		row_begin(ways[w].name, it, ms[w][0], mid);
		if (ways[w].times > 0)
			printf("  %gx %s", ways[w].times, verdict(it / mid, ways[w].times));
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: use PROGRAM");
	program = argv[1];
	printf("\nmemory of all processes\n");
	if (geteuid()) {
		printf("  not measured: it takes root\n");
		return 0;
	}
	measure(200);
	measure(MOST);
	return 0;
}
