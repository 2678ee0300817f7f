/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkcapture [-fx] [-m RAM] [-p PROCESSES] [-r RUNS] [-s SEED] - the capture of a
 * machine that never was, to standard output; the same for the same options, on
 * every machine. -f has the frames of RAM as well, F: lines.
 *
 * Programs and libraries are mapped by many, in the same frames, though not all of
 * each by everyone; what is written of them, heaps and other memory are of one
 * process each, some of it on swap, some in large pages. How often a frame is mapped
 * is counted before the first line is written, and a frame that is not shared is
 * used once. So sums are known to the page, and -x writes these instead:
 *
 *	all RAM TASKS AREAS RUNS PRESENT FRAMES SWAPPED LARGE
 *	unit NAME PROCESSES VIRTUAL TEXT DATA
 *	process PID PRESENT OWN SWAPPED PSS
 *
 * in pages; FRAMES: mapped ones, each once; PRESENT: as often as it is mapped;
 * LARGE: those of 512 together; TEXT and DATA: frames, DATA with .bss; VIRTUAL: of all
 * of its processes; OWN: mapped once.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "census/census.h"
#include "linux/kpf.h"
#include "random.h"

enum {
	PAGE = 4096, LARGE = 512, PIECES = 200, UNITS = 12,
	AREA_RUNS = 512,                 /* of anonymous memory */
	LOW = 0xa0, HIGH = 0x100,        /* frames: no RAM between them */
	KERNEL = 512,                    /* as far as the kernel has them */
	HOLE = 3 << 18, BEHIND = 1 << 20,    /* frames: RAM beyond goes on behind it */
	THREADS = 8,                     /* of the kernel */
};

/* Frames of a program or library that are mapped by all its processes. */
struct piece {
	uint64_t frame;
	uint32_t page, pages;
	uint64_t refs;
};

struct unit {
	char name[32];
	uint64_t text, clean, data, bss;     /* pages; of data, `clean` were not written */
	struct piece *piece;             /* g->pieces of text, then the clean data */
	uint64_t users, seen_text, seen_data;
};

struct sums {
	uint64_t tasks, areas, runs, present, frames, swapped, large;
};

struct gen {
	uint64_t seed, ram, processes, runs;     /* ram: pages */
	bool frames, expect, wide;
	unsigned programs, libraries, units, pieces;
	struct unit *unit;
	/* Frames lo to hi of what is of one process; up to `large`, and then large ones. */
	uint64_t shared, lo, hi, first, last, large, spread;
	bool flip;
	uint64_t swap;
	struct capture_run *run;         /* of one area */
	size_t nruns, cap;
	struct census_sink to;
	struct sums all;
	/* Of the process that is written. */
	struct sums one;
	uint64_t own, random;
	double pss;
};

static void need(int r, const struct atw_err *e)
{
	if (r != ATW_OK)
		errx(1, "%s", e->text);
}

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t s = a * 0x9e3779b97f4a7c15 ^ b * 0xc2b2ae3d27d4eb4f ^
		     c * 0x165667b19e3779f9;

	return random_next(&s);
}

static uint64_t pa_of(const struct gen *g, uint64_t frame)
{
	return (g->wide && frame >= HOLE ? frame - HOLE + BEHIND : frame) * PAGE;
}

/* ---- frames ---- */

/* From either end in turns, so that neighbours never become one run. */
static uint64_t private(struct gen *g, uint64_t n)
{
	if (g->hi - g->lo < n)
		errx(1, "RAM is too small for that many runs");
	g->flip = !g->flip;
	if (g->flip) {
		g->lo += n;
		return g->lo - n;
	}
	g->hi -= n;
	return g->hi;
}

static void divide(struct gen *g)
{
	uint64_t most = g->runs + g->processes * UNITS * 16;

	if (g->ram < 4096 || !g->processes || g->runs < 40 * g->processes)
		errx(1, "at least 16M of RAM, a process, and 40 runs for each");
	g->wide = g->ram >= 2 * HOLE;
	g->shared = KERNEL;
	g->lo = g->first = g->wide ? HOLE : g->ram / 4;
	g->large = (g->ram - (g->ram - g->lo) / 16) & ~(uint64_t)(LARGE - 1);
	g->hi = g->last = g->large;
	/* Of runs with 1 to 1 + spread pages nine tenths fit. */
	g->spread = (g->hi - g->lo) * 9 / 10 * 2 / most;
	g->spread = g->spread < 2 ? 0 : g->spread - 2;
	g->spread = g->spread > 63 ? 63 : g->spread;
}

/* ---- programs and libraries ---- */

static void make_unit(struct gen *g, unsigned i)
{
	struct unit *u = &g->unit[i];
	uint64_t s = mix(g->seed, i, 1), page = 0, low, high;
	unsigned n = g->pieces;

	snprintf(u->name, sizeof(u->name), i < g->programs ? "/usr/bin/p%u" : "/usr/lib/l%u.so",
		 i < g->programs ? i : i - g->programs);
	u->piece = calloc(n + 1, sizeof(*u->piece));
	if (!u->piece)
		errx(1, "out of memory");
	u->clean = 1 + random_below(&s, 4);
	u->data = u->clean + 1 + random_below(&s, 4);
	u->bss = 1 + random_below(&s, 8);
	for (unsigned k = 0; k < n; k++) {
		u->piece[k].page = (uint32_t)page;
		u->piece[k].pages = (uint32_t)(1 + random_below(&s, 7));
		page += u->piece[k].pages + random_below(&s, 3);
	}
	u->text = page + 1;
	u->piece[n].pages = (uint32_t)u->clean;
	if (g->shared + page + u->clean > g->first)
		errx(1, "RAM is too small for the programs");
	/* Every other piece from the far end. */
	low = g->shared;
	high = g->shared + page + u->clean;
	g->shared = high;
	for (unsigned k = 0; k <= n; k++) {
		u->piece[k].frame = k & 1 ? (high -= u->piece[k].pages) : low;
		low += k & 1 ? 0 : u->piece[k].pages;
	}
}

static unsigned unit_of(const struct gen *g, uint64_t p, unsigned i)
{
	if (!i)
		return (unsigned)(p % g->programs);
	if (i == 1)
		return g->programs;
	return g->programs + 1 + (unsigned)((p * 13 + i) % (g->libraries - 1));
}

static bool has_piece(const struct gen *g, uint64_t p, unsigned unit, unsigned k)
{
	return mix(g->seed ^ p << 20, unit, k + 2) & 7;
}

static void make_units(struct gen *g)
{
	uint64_t each = g->runs / g->processes;

	g->units = (unsigned)(each / 80 < 1 ? 1 : each / 80 < UNITS ? each / 80 : UNITS);
	g->pieces = (unsigned)(each / 40 < 2 ? 2 : each / 40 < PIECES ? each / 40 : PIECES);
	g->programs = (unsigned)(1 + (g->processes - 1) / 25);
	g->libraries = UNITS + (unsigned)(g->processes / 50);
	g->unit = calloc(g->programs + g->libraries, sizeof(*g->unit));
	if (!g->unit)
		errx(1, "out of memory");
	for (unsigned i = 0; i < g->programs + g->libraries; i++)
		make_unit(g, i);
	for (uint64_t p = 0; p < g->processes; p++)
		for (unsigned i = 0; i < g->units; i++) {
			unsigned n = unit_of(g, p, i);
			struct unit *u = &g->unit[n];

			u->users++;
			u->piece[g->pieces].refs++;
			for (unsigned k = 0; k < g->pieces; k++)
				u->piece[k].refs += has_piece(g, p, n, k);
		}
	for (unsigned i = 0; i < g->programs + g->libraries; i++) {
		for (unsigned k = 0; k < g->pieces; k++)
			if (g->unit[i].piece[k].refs)
				g->unit[i].seen_text += g->unit[i].piece[k].pages;
		if (g->unit[i].users)
			g->unit[i].seen_data = g->unit[i].clean;
	}
}

/* ---- telling ---- */

static void record(struct gen *g, const struct capture_record *rec)
{
	struct atw_err e;

	if (!g->expect)
		need(g->to.record(g->to.arg, rec, &e), &e);
}

static void header(struct gen *g, const char *key, const char *value)
{
	record(g, &(struct capture_record){ .letter = 'H', .h = { blob_of(key),
								  blob_of(value) } });
}

enum { READ = 1, WRITE = 2, EXEC = 4 };  /* VM_... */

static void add(struct gen *g, const struct capture_run *run)
{
	void *array = g->run;

	if (!array_reserve(&array, &g->cap, g->nruns + 1, sizeof(*run)))
		errx(1, "out of memory");
	g->run = array;
	g->run[g->nruns++] = *run;
}

static void add_frames(struct gen *g, uint64_t va, uint64_t pages, uint64_t frame,
		       unsigned prot, uint64_t flags, uint64_t refs)
{
	struct capture_run run = {
		.va = va, .pages = pages, .count = refs, .refs = refs, .flags = flags,
		.has = CAPTURE_M_COUNT | CAPTURE_M_FLAGS | CAPTURE_M_REFS,
		.entry = pa_of(g, frame) | CAPTURE_PRESENT | CAPTURE_USER | CAPTURE_ACCESSED |
			 (prot & WRITE ? CAPTURE_WRITE | CAPTURE_DIRTY : 0) |
			 (prot & EXEC ? CAPTURE_EXEC : 0),
	};

	if (flags >> KPF_THP & 1) {
		run.has |= CAPTURE_M_ORDER | CAPTURE_M_FOLIO;
		run.order = run.folio = 9;
		g->one.large += pages;
	}
	add(g, &run);
	g->one.present += pages;
	g->pss += (double)pages / (double)refs;
	if (refs == 1)
		g->own += pages;
}

static void add_private(struct gen *g, uint64_t va, uint64_t pages, unsigned prot)
{
	add_frames(g, va, pages, private(g, pages), prot,
		   1 << KPF_UPTODATE | 1 << KPF_LRU | 1 << KPF_MMAP | 1 << KPF_ANON |
		   1 << KPF_SWAPBACKED | 1ull << KPF_OWNER_2, 1);
	g->one.frames += pages;
}

/* The area that the runs are of, and they. */
static void area(struct gen *g, const struct capture_area *v, unsigned prot, uint32_t has)
{
	struct capture_sums p = { 0 };
	struct capture_record rec = { .letter = 'V', .v = *v };
	uint64_t anon = 0, large = 0;
	struct atw_err e;

	for (size_t i = 0; i < g->nruns; i++) {
		const struct capture_run *r = &g->run[i];

		capture_add(r, false, &p);
		anon += r->flags >> KPF_ANON & 1 ? r->pages : 0;
		large += r->order ? r->pages : 0;
	}
	rec.v.size = v->last - v->start + 1;
	rec.v.resident = p.user * PAGE;
	rec.v.prot = CAPTURE_PRESENT | CAPTURE_USER | CAPTURE_ACCESSED |
		     (prot & EXEC ? CAPTURE_EXEC : 0);
	rec.v.flags = 0x70 | prot;
	rec.has = has | CAPTURE_V_PROT | CAPTURE_V_FLAGS;
	record(g, &rec);
	p.anon = anon;
	p.file = p.user - anon;
	p.huge = large;
	record(g, &(struct capture_record){
		.letter = 'P', .p = p,
		.has = CAPTURE_P_SWAP | CAPTURE_P_ANON | CAPTURE_P_FILE | CAPTURE_P_HUGE });
	for (size_t i = 0; i < g->nruns && !g->expect; i++)
		need(g->to.run(g->to.arg, &g->run[i], &e), &e);
	g->one.areas++;
	g->one.runs += g->nruns;
	g->nruns = 0;
}

/* Text, data, .bss, one behind the other, as a linker has them. */
static void map_unit(struct gen *g, uint64_t p, unsigned n, uint64_t va)
{
	struct unit *u = &g->unit[n];
	const uint64_t file = 1 << KPF_REFERENCED | 1 << KPF_UPTODATE | 1 << KPF_LRU |
			      1 << KPF_ACTIVE | 1 << KPF_MMAP;
	uint64_t data = va + u->text * PAGE, bss = data + u->data * PAGE;
	struct capture_area v = {
		.start = va, .last = data - 1, .name = blob_of(u->name),
		.dev = { 0xfe, 1 },
		.inode = n + 100,
	};

	for (unsigned k = 0; k < g->pieces; k++)
		if (has_piece(g, p, n, k))
			add_frames(g, va + u->piece[k].page * (uint64_t)PAGE, u->piece[k].pages,
				   u->piece[k].frame, READ | EXEC, file, u->piece[k].refs);
	area(g, &v, READ | EXEC, CAPTURE_V_DEV | CAPTURE_V_INODE | CAPTURE_V_OFFSET);

	v.start = data;
	v.last = bss - 1;
	v.offset = u->text * PAGE;
	add_frames(g, data, u->clean, u->piece[g->pieces].frame, READ, file,
		   u->piece[g->pieces].refs);
	add_private(g, data + u->clean * PAGE, u->data - u->clean, READ | WRITE);
	area(g, &v, READ | WRITE, CAPTURE_V_DEV | CAPTURE_V_INODE | CAPTURE_V_OFFSET);

	v = (struct capture_area){ .start = bss, .last = bss + u->bss * PAGE - 1 };
	add_private(g, bss, u->bss, READ | WRITE);
	area(g, &v, READ | WRITE, 0);
	u->seen_data += u->data - u->clean + u->bss;
}

/* Pages on swap, large ones, or some frames; returns where it ends. */
static uint64_t anonymous(struct gen *g, uint64_t va)
{
	uint64_t dice = random_below(&g->random, 128), pages = LARGE;

	if (dice == 0 && g->large + LARGE <= g->ram) {
		va = (va | (LARGE * PAGE - 1)) + 1;
		add_frames(g, va, LARGE, g->large, READ | WRITE,
			   1 << KPF_UPTODATE | 1 << KPF_LRU | 1 << KPF_MMAP | 1 << KPF_ANON |
			   1 << KPF_SWAPBACKED | 1 << KPF_THP | 1ull << KPF_COMPOUND_HEAD, 1);
		g->one.frames += LARGE;
		g->large += LARGE;
	} else {
		pages = 1 + random_below(&g->random, g->spread + 1);
		if (dice > 8) {
			add_private(g, va, pages, READ | WRITE);
		} else {
			add(g, &(struct capture_run){ .va = va, .pages = pages,
						      .has = CAPTURE_M_SWAP,
						      .swap = { 0, g->swap } });
			g->swap += pages + 1;
			g->one.swapped += pages;
		}
	}
	return va + (pages + (dice & 1 ? dice / 16 : 0)) * PAGE;
}

static uint64_t map_anonymous(struct gen *g, uint64_t va, uint64_t runs, const char *name)
{
	struct capture_area v = { .start = va };

	while (runs--)
		va = anonymous(g, va);
	v.last = va - 1;
	if (name)
		v.name = blob_of(name);
	area(g, &v, READ | WRITE, 0);
	return va;
}

static void task(struct gen *g, const char *name, uint64_t pid, uint64_t tgid, uint64_t mm,
		 const struct unit *exe, uint64_t threads)
{
	struct capture_record rec = {
		.letter = 'T', .has = 0x3fff & ~(uint32_t)(CAPTURE_T_BRK | CAPTURE_T_CODE |
							  CAPTURE_T_DATA | CAPTURE_T_STACK),
		.t = { .name = blob_of(name), .pid = pid, .mm = mm, .minor = pid,
		       .user = 1,
		       .tgid = tgid, .ppid = 1, .uid = mm ? 1000 + tgid % 7 : 0, .start = pid,
		       .cgroup = blob_of("/"), .threads = threads },
	};

	if (exe)
		rec.t.exe = blob_of(exe->name);
	else
		rec.has &= ~(uint32_t)CAPTURE_T_EXE;
	record(g, &rec);
	g->one.tasks++;
}

static uint64_t runs_of(const struct gen *g, uint64_t p)
{
	uint64_t each = g->runs / g->processes, less = mix(g->seed, p / 2, 3) % (each / 2);

	if (p == (g->processes - 1) && !(p & 1))
		less = 0;
	return (p & 1 ? each + less : each - less) + (p < g->runs % g->processes);
}

/* What programs and libraries take of a process's runs, and the stack. */
static uint64_t fixed_runs(const struct gen *g, uint64_t p)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < g->units; i++) {
		n += 3;
		for (unsigned k = 0; k < g->pieces; k++)
			n += has_piece(g, p, unit_of(g, p, i), k);
	}
	return n;
}

static void process(struct gen *g, uint64_t p)
{
	uint64_t pid = 100 + 10 * p, mm = 0xffff888000000000 + pid * 1024;
	uint64_t runs = runs_of(g, p) - fixed_runs(g, p), heap = runs / 4 + 1;
	const struct unit *exe = &g->unit[unit_of(g, p, 0)];
	uint64_t va = 0x7e0000000000, stack = 0x7ffffff00000;
	unsigned threads = p % 10 ? 1 : 3;
	char name[17];

	g->one = (struct sums){ 0 };
	g->own = 0;
	g->pss = 0;
	g->random = mix(g->seed, p, 4);
	snprintf(name, sizeof(name), "p%u", unit_of(g, p, 0));
	task(g, name, pid, pid, mm, exe, threads);
	map_unit(g, p, unit_of(g, p, 0), 0x555500000000);
	map_anonymous(g, 0x555510000000, heap, "[heap]");
	for (runs -= heap; runs;) {
		uint64_t n = runs < AREA_RUNS ? runs : AREA_RUNS;

		va = map_anonymous(g, va, n, NULL) + PAGE;
		runs -= n;
	}
	for (unsigned i = 1; i < g->units; i++)
		map_unit(g, p, unit_of(g, p, i), 0x7f0000000000 + i * (1ull << 28));
	add_private(g, stack - PAGE, 1, READ | WRITE);
	area(g, &(struct capture_area){ .start = stack - 33 * PAGE, .last = stack - 1,
					.name = blob_of("[stack]") }, READ | WRITE, 0);
	for (unsigned i = 1; i < threads; i++)
		task(g, name, pid + i, pid, mm, exe, threads);
	if (g->expect)
		printf("process %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f\n", pid,
		       g->one.present, g->own, g->one.swapped, g->pss);
	g->all.tasks += g->one.tasks;
	g->all.areas += g->one.areas;
	g->all.runs += g->one.runs;
	g->all.present += g->one.present;
	g->all.frames += g->one.frames;
	g->all.swapped += g->one.swapped;
	g->all.large += g->one.large;
}

/* ---- all of it ---- */

static uint64_t ram_pages(const struct gen *g)
{
	return g->ram - 1 - (HIGH - LOW);
}

static void ram(struct gen *g, uint64_t first, uint64_t end, uint64_t node)
{
	record(g, &(struct capture_record){
		.letter = 'R', .has = CAPTURE_R_NODE,
		.r = { pa_of(g, first), pa_of(g, end - 1) + PAGE - 1,
		       blob_of("System RAM"), node } });
}

static void front(struct gen *g)
{
	char total[24], bits[24];

	snprintf(total, sizeof(total), "%" PRIu64, ram_pages(g) * (PAGE / 1024));
	snprintf(bits, sizeof(bits), "%X", CAPTURE_ENTRY_BITS);
	header(g, "page", "4096");
	header(g, "machine", "x86_64");
	header(g, "release", "6.12.0");
	header(g, "way", "mkcapture");
	header(g, "begun", "1700000000.000");
	header(g, "cpus", "8");
	header(g, "hz", "100");
	header(g, "MemTotal", total);
	ram(g, 1, LOW, 0);
	ram(g, HIGH, g->wide ? HOLE : g->ram, 0);
	if (g->wide)
		ram(g, HOLE, g->ram, 1);
	record(g, &(struct capture_record){
		.letter = 'S', .s = { 0, 1ull << 40, 0, blob_of("/dev/vdb") } });
	for (unsigned i = 0; i < g->programs + g->libraries; i++) {
		const struct unit *u = &g->unit[i];
		const struct capture_load text = { 0, 0, u->text * PAGE, u->text * PAGE, 5 };
		const struct capture_load data = { u->text * PAGE, u->text * PAGE, u->data * PAGE,
						   (u->data + u->bss) * PAGE, 6 };
		struct capture_record rec = {
			.letter = 'U', .has = CAPTURE_U_LOADS | CAPTURE_U_BUILD,
			.u = { .dev = { 0xfe, 1 }, .inode = i + 100,
			       .name = blob_of(u->name),
			       .build = { { (uint8_t)(i >> 8), (uint8_t)i, 0x5a }, 3 } },
		};
		char loads[2 * CAPTURE_LOAD_TEXT];

		rec.u.loads.data = loads;
		rec.u.loads.len = capture_write_load(&text, true, loads, CAPTURE_LOAD_TEXT);
		rec.u.loads.len += capture_write_load(&data, false, loads + rec.u.loads.len,
						      CAPTURE_LOAD_TEXT);
		record(g, &rec);
	}
}

static void use(struct gen *g, uint64_t first, uint64_t end, enum capture_use what)
{
	struct atw_err e;

	if (first < end && !g->expect)
		need(g->to.frames(g->to.arg,
				  &(struct capture_frames){ .pa = pa_of(g, first), .pages = end - first, .use = what },
				  &e), &e);
}

static void frames(struct gen *g)
{
	use(g, 1, LOW, CAPTURE_KERNEL);
	use(g, HIGH, KERNEL, CAPTURE_KERNEL);
	use(g, KERNEL, g->shared, CAPTURE_FILE);
	use(g, g->shared, g->first, CAPTURE_FREE);
	use(g, g->first, g->lo, CAPTURE_ANON);
	use(g, g->lo, g->hi, CAPTURE_FREE);
	use(g, g->hi, g->large, CAPTURE_ANON);
	use(g, g->large, g->ram, CAPTURE_FREE);
}

static void tell(struct gen *g)
{
	front(g);
	g->one = (struct sums){ 0 };
	for (unsigned i = 0; i < THREADS; i++)
		task(g, "kthread", 2 + i, 2 + i, 0, NULL, 1);
	g->all = g->one;
	for (uint64_t p = 0; p < g->processes; p++)
		process(g, p);
	if (g->frames)
		frames(g);
}

static void expectations(struct gen *g)
{
	for (unsigned i = 0; i < g->programs + g->libraries; i++) {
		const struct unit *u = &g->unit[i];

		if (!u->users)
			continue;
		printf("unit %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", u->name,
		       u->users, u->users * (u->text + u->data + u->bss), u->seen_text,
		       u->seen_data);
		g->all.frames += u->seen_text + u->clean;
	}
	printf("all %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %" PRIu64 " %" PRIu64 "\n", ram_pages(g), g->all.tasks, g->all.areas,
	       g->all.runs, g->all.present, g->all.frames, g->all.swapped, g->all.large);
}

static uint64_t number(const char *s, bool size)
{
	uint64_t v = 0;

	if (!(size ? num_size : num_any)(s, strlen(s), &v) || v >> 56)
		errx(2, "'%s' is no number", s);
	return v;
}

int main(int argc, char **argv)
{
	struct gen g = { .seed = 1, .ram = 1 << 18, .processes = 20, .runs = 20000 };
	struct census_writer *w = NULL;
	struct atw_err e;
	int c;

	while ((c = getopt(argc, argv, "fxm:p:r:s:")) != -1)
		switch (c) {
		case 'f':
			g.frames = true;
			break;
		case 'x':
			g.expect = true;
			break;
		case 'm':
			g.ram = number(optarg, true) / PAGE;
			break;
		case 'p':
			g.processes = number(optarg, false);
			break;
		case 'r':
			g.runs = number(optarg, false);
			break;
		case 's':
			g.seed = number(optarg, false);
			break;
		default:
			errx(2, "usage: mkcapture [-fx] [-m RAM] [-p PROCESSES] [-r RUNS] [-s SEED]");
		}
	divide(&g);
	make_units(&g);
	if (!g.expect) {
		need(census_writer_open(1, 0, &w, &e), &e);
		g.to = census_writer_sink(w);
	}
	tell(&g);
	if (g.expect)
		expectations(&g);
	else
		need(census_writer_end(w, &e), &e);
	census_writer_close(w);
	for (unsigned i = 0; i < g.programs + g.libraries; i++)
		free(g.unit[i].piece);
	free(g.unit);
	free(g.run);
	return 0;
}
