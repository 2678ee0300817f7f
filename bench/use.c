/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * use - RSS, PSS and USS of all processes, beside a loop that reads
 * /proc/PID/smaps_rollup of each, which is what scripts do.
 *
 * use PROGRAM: 200 and then 560 children of this one are there besides what runs
 * anyway. Each has the files of a larger program mapped, all pages of them, and private
 * memory in a hundred areas: as an interpreter that has imported a few modules. All
 * ways take turns, and the CPU time of the whole program counts, its start included; the
 * time that passes is beside it, and it is what counts for collect, which uses all CPUs. The
 * last rows of each block are bounds: what it takes to
 * copy all page tables of the processes through BPF, and the struct pages of all frames
 * that they map as well, and to do nothing with them.
 */
#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

#include "live_copy.h"
#include "live_process.h"
#include "measure.h"

#include "linux/process.h"
#include "walk/memory.h"
#include "walk/space.h"
#include "walk/sweep.h"

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

/* What it cost, ms. */
struct cost {
	double cpu, wall;
};

static struct cost run(const char *const *argv)
{
	double start = wall_ms();
	int null = child_null();
	struct rusage u = child_end_of(child_run(argv, -1, null, null), argv[1], 4);

	close(null);
	return (struct cost){ child_cpu(&u), wall_ms() - start };
}

static struct cost smaps_rollup(void)
{
	double start = wall_ms();
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
	return (struct cost){ child_cpu(&after) - child_cpu(&before), wall_ms() - start };
}

/* ---- the bounds ---- */

enum { FRAMES_MOST = 1 << 28 };          /* of 1 TiB */

struct bound {
	const struct mmu_space *sp[4096];
	size_t n;
	uint64_t tables;
	uint64_t *mapped;        /* frames, a bit each; NULL: not wanted */
	double tables_ms, pages_ms;      /* less than 0: BPF cannot be used */
	uint64_t frames;
};

static int bound_table(void *arg, const struct sweep_seen *s, struct atw_err *err)
{
	struct bound *b = arg;
	const struct mmu_space *sp = b->sp[s->space];

	b->tables++;
	for (uint32_t i = 0; b->mapped && !s->level && i < s->n; i++) {
		uint64_t word = load_word(s->words, sp->paging.word_size, i), pfn;

		if (!word || entry_kind(&sp->paging, 0, word) != ATW_LEAF)
			continue;
		pfn = space_leaf_pa(sp, 0, word, s->va + i * PAGE).u / PAGE;
		if (pfn < FRAMES_MOST)
			b->mapped[pfn / 64] |= (uint64_t)1 << pfn % 64;
	}
	return ATW_OK;
}

static int bound_done(void *arg, size_t space, bool moved, struct atw_err *err)
{
	return ATW_OK;
}

static double bound_sweep(struct bound *b)
{
	const struct sweep_to to = { bound_table, bound_done, b };
	double start = now_ns();

	b->tables = 0;
	return sweep_spaces(b->sp, b->n, &to, NULL) == ATW_OK ? (now_ns() - start) / 1e6 : -1;
}

/* Struct pages of all frames that are mapped as small pages, once each. */
static double bound_pages(struct bound *b, struct atw_kernel *k, struct atw_source *src)
{
	struct copy_plan plan = { .n = 0 };
	struct atw_memmap *map = NULL;
	double start;

	b->mapped = calloc(FRAMES_MOST / 64, sizeof(*b->mapped));
	if (!b->mapped || bound_sweep(b) < 0 || atw_memmap_open(k, &map, NULL) != ATW_OK)
		return -1;
	for (uint64_t pfn = 0; pfn < FRAMES_MOST; pfn++) {
		if (b->mapped[pfn / 64] >> pfn % 64 & 1)
			copy_add(&plan, map, pfn, 1);
		else if (!b->mapped[pfn / 64])
			pfn |= 63;
	}
	copy_settle(&plan, src);
	start = now_ns();
	b->frames = copy_go(&plan);
	start = now_ns() - start;
	copy_drop(&plan);
	atw_memmap_close(map);
	return start / 1e6;
}

static void bound_measure(struct bound *b)
{
	const struct atw_kernel_opts ko = { 0 };
	static struct atw_mm mm[4096];
	struct atw_source *src = NULL;
	struct atw_kernel *k = NULL;
	struct lnx_tasks *list = NULL;
	struct lnx_task task;

	*b = (struct bound){ .tables_ms = -1, .pages_ms = -1 };
	if (atw_source_open("live:bpf", NULL, 0, &src, NULL) == ATW_OK &&
	    atw_kernel_open(src, &ko, &k, NULL) == ATW_OK &&
	    lnx_tasks_open(k, &list, NULL) == ATW_OK) {
		for (; b->n < 4096 && lnx_tasks_next(list, &task, NULL) == ATW_OK;)
			if (task.mm && atw_mm_of(k, &task, &mm[b->n], NULL) == ATW_OK) {
				b->sp[b->n] = &mm[b->n].space;
				b->n++;
			}
		b->tables_ms = bound_sweep(b);
		b->pages_ms = bound_pages(b, k, src);
		free(b->mapped);
	}
	lnx_tasks_close(list);
	atw_kernel_close(k);
	atw_source_close(src);
}

/* ---- the contest ---- */

static void put_row(const char *name, struct cost *of, const struct cost *floor, double times,
		    bool all_cpus)
{
	double cpu[LOOKS], wall[LOOKS], floor_cpu[LOOKS], floor_wall[LOOKS], mid, to, passed;

	for (int i = 0; i < LOOKS; i++) {
		cpu[i] = of[i].cpu;
		wall[i] = of[i].wall;
		floor_cpu[i] = floor[i].cpu;
		floor_wall[i] = floor[i].wall;
	}
	mid = median(cpu, LOOKS);
	to = median(floor_cpu, LOOKS);
	row_begin(name, mid, cpu[0], to);
	passed = median(wall, LOOKS) / median(floor_wall, LOOKS);
	printf(" %8.2fx", passed);
	if (times > 0)
		printf("  %gx %s%s", times, all_cpus ? "of wall " : "",
		       verdict(all_cpus ? passed : mid / to, times));
	printf("\n");
	fflush(stdout);
}

#define ARGV(...) (const char *const[]){ NULL, __VA_ARGS__, NULL }

static void measure(size_t n)
{
	const struct {
		const char *name;
		const char *const *argv;
		double times;
		bool all_cpus;
	} ways[] = {
		{ "report use: pid, rss, pss, uss",
		  ARGV("report", "use", "live", "--columns", "pid,rss,pss,uss"), 0.4, false },
		{ "report use", ARGV("report", "use", "live"), 0.7, false },
		{ "report use, live:pagemap", ARGV("report", "use", "live:pagemap"), 0, false },
		{ "pages --totals", ARGV("pages", "live", "--totals"), 1.5, false },
		{ "collect", ARGV("collect", "live", "-o", "/dev/null"), 1.5, true },
	};
	enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
	static struct process child[MOST];
	static struct cost loop[LOOKS], cost[WAYS][LOOKS];
	double tables[LOOKS], pages[LOOKS], all[LOOKS];
	static struct bound bound;
	char title[64];

	for (size_t i = 0; i < n; i++)
		child[i] = process_start(shape_program, 32 * MIB, i + 1);
	for (int r = 0; r < LOOKS; r++) {
		loop[r] = smaps_rollup();
		for (size_t w = 0; w < WAYS; w++) {
			const char *argv[8] = { program };

			for (size_t k = 1; ways[w].argv[k]; k++)
				argv[k] = ways[w].argv[k];
			cost[w][r] = run(argv);
		}
		bound_measure(&bound);
		tables[r] = bound.tables_ms;
		pages[r] = bound.tables_ms + bound.pages_ms;
		all[r] = loop[r].cpu;
	}
	for (size_t i = 0; i < n; i++)
		process_stop(&child[i]);
	snprintf(title, sizeof(title), "sums of %zu processes and what runs here, ms", n);
	printf("\n%-46s %9s %9s %9s %9s  target\n", title, "median", "best", "to loop", "of wall");
	put_row("loop over /proc/PID/smaps_rollup", loop, loop, 0, false);
	for (size_t w = 0; w < WAYS; w++)
		put_row(ways[w].name, cost[w], loop, ways[w].times, ways[w].all_cpus);
	if (bound.tables_ms >= 0 && bound.pages_ms >= 0) {
		double mid = median(tables, LOOKS), loops = median(all, LOOKS);

		snprintf(title, sizeof(title), "bound: copy %" PRIu64 " tables", bound.tables);
		row(title, mid, tables[0], loops, 0);
		mid = median(pages, LOOKS);
		snprintf(title, sizeof(title), "bound: and %" PRIu64 " struct pages", bound.frames);
		row(title, mid, pages[0], loops, 0);
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
