/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live - what the pages of a running process cost: out of its page tables through
 * BPF, out of /proc by our provider, by the least reads that bring the same words,
 * and by what others do.
 *
 * The processes are children of this one, see live_process.h. All ways look at the
 * same pages in turns and have to agree on frames, counts and the flags that stay,
 * see measure.h. The least reads do not look at what they brought.
 *
 * How many reads that takes, and so what most rows cost, depends on how much in
 * order the kernel's free memory is: the line above each block has it. So 1 GiB of small
 * pages is measured twice: in contiguous frames, and in those that the kernel gives.
 */
#include "live_copy.h"
#include "live_memory.h"
#include "live_plain.h"
#include "resident.h"

#include "linux/linux.h"

#include "target/provider.h"

struct input {
	struct looked_at at;             /* first: ways without the library take it */
	struct provider *pagemap;
	struct provider *tables;         /* NULL: BPF is not for us */
	size_t task;                     /* of tables */
	struct atw_source *src;
	struct atw_kernel *kernel;
	struct atw_mm mm;
	struct atw_soft_abi soft;
	struct atw_memmap *map;
	struct copy_plan copy;           /* struct pages of all pages */
};

/* ---- by the library ---- */

static struct answer bpf_leaves(void *arg)
{
	const struct input *in = arg;
	const struct mmu_walk_opts o = {
		.first = ATW_VA(in->at.process.lo),
		.last = ATW_VA(in->at.process.hi - 1), .want = ATW_K(ATW_LEAF),
	};
	struct answer a = { 0 };
	const struct mmu_seen *s;
	struct atw_err err = { 0 };
	struct mmu_walk *w;
	int r = mmu_walk_open(&in->mm.space, &o, &w, &err);

	need(r, &err);
	while ((r = mmu_walk_next(w, &s, &err)) == ATW_OK)
		if (s->kind == ATW_LEAF && !s->loss)
			a.count += s->size / PAGE;
	need(r, &err);
	mmu_walk_close(w);
	return a;
}

/*
 * As `atwalk collect` asks: what is alike is not asked for again. With q.each every page
 * counts, else the first of a large one.
 */
static uint64_t sum_facts(struct page_cursor *c, const struct page_run *r)
{
	uint64_t step = c->q.each ? PAGE : r->slot, sum = 0;
	struct frame_facts f = { 0 };
	uint32_t alike = 0;

	for (uint32_t i = 0; i < r->count; i++)
		for (uint64_t off = 0; off < r->slot; off += step) {
			if (alike)
				alike--;
			else if (page_cursor_facts(c, r, i, off, off ? 0 : r->slot, &f, NULL) == ATW_OK)
				alike = step == PAGE ? f.alike : 0;
			else
				continue;
			sum += page_sum((r->pa[i] + off) / PAGE, f.page.flags, f.page.count);
		}
	return sum;
}

/* The bound: their struct pages copied, and no more. */
static struct answer copy_of_pages(void *arg)
{
	const struct input *in = arg;

	return (struct answer){ .count = copy_go(&in->copy) };
}

enum ask { NO_FACTS, OF_TRANSLATIONS, OF_PAGES };

/* The cost of /proc includes that of the VMAs. */
static struct answer list(const struct input *in, struct provider *p, enum ask ask)
{
	const struct page_query q = {
		.task = p == in->tables ? in->task : 0,
		.first = in->at.process.lo,
		.last = in->at.process.hi - 1,
		.each = ask == OF_PAGES,
	};
	struct page_cursor *c = NULL;
	struct atw_err err = { 0 };
	struct answer a = { 0 };
	const struct page_run *r;
	int rc;

	need(page_cursor_open(p, &q, &c, &err), &err);
	while ((rc = page_cursor_next(c, &r, &err)) == ATW_OK) {
		if (r->state != PAGE_PRESENT)
			continue;
		a.count += r->size / PAGE;
		if (ask != NO_FACTS)
			a.sum += sum_facts(c, r);
	}
	need(rc, &err);
	page_cursor_close(c);
	return a;
}

#define LISTING(name, provider, ask) \
	static struct answer name(void *arg) \
	{ \
		const struct input *in = arg; \
		return list(in, in->provider, ask); \
	}
LISTING(pagemap_list, pagemap, NO_FACTS)
LISTING(pagemap_facts, pagemap, OF_PAGES)
LISTING(pagemap_large_facts, pagemap, OF_TRANSLATIONS)
LISTING(bpf_list, tables, NO_FACTS)
LISTING(bpf_facts, tables, OF_PAGES)
LISTING(bpf_large_facts, tables, OF_TRANSLATIONS)

/* ---- opening ---- */

static const struct atw_soft_abi *soft(const void *arg)
{
	return &((const struct input *)arg)->soft;
}

static int open_tables(struct input *in, struct atw_err *err)
{
	const struct atw_kernel_opts ko = { 0 };
	struct walk_provider_opts o = { .soft = soft, .soft_arg = in, .frames = true };
	int r = atw_source_open("live:bpf", NULL, 0, &in->src, err);

	if (r == ATW_OK)
		r = atw_kernel_open(in->src, &ko, &in->kernel, err);
	if (r < 0)
		return r;
	if (atw_source_mm_of(in->src, (uint64_t)in->at.process.pid, &o.mm, NULL) != ATW_OK)
		return atw_err_set(err, ATW_E_MISSING, "the process was not found");
	r = atw_mm_open(in->kernel, o.mm, &in->mm, err);
	if (r < 0)
		return r;
	in->soft = atw_kernel_soft_abi(in->kernel, &in->mm.space.paging);
	o.kernel = in->kernel;
	r = walk_provider_open(&o, NULL, NULL, &in->tables, err);
	if (r == ATW_OK)
		r = in->tables->ops->tasks(in->tables, err);
	if (r == ATW_OK)
		r = in->tables->ops->find(in->tables, (uint32_t)in->at.process.pid, &in->task,
					  err);
	if (r == ATW_OK)
		r = atw_memmap_open(in->kernel, &in->map, err);
	return r;
}

static int add_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	(void)err;
	*(uint64_t *)arg += run->pages;
	return ATW_OK;
}

/* All frames of the machine: `report machine` asks so. */
static struct answer classify(void *arg)
{
	const struct input *in = arg;
	struct answer a = { 0 };
	struct atw_err err = { 0 };
	struct atw_extent e;

	for (uint64_t at = 0; atw_extent_at(in->src, ATW_PA(at), &e) == ATW_OK && e.len;
	     at = e.start.u + e.len)
		if (e.kind == ATW_DATA)
			need(in->tables->ops->frames(in->tables, e.start.u, e.start.u + e.len - 1,
						     add_frames, &a.count, &err), &err);
	return a;
}

/* Of all frames, and of those of the process. */
static void plan_machine(struct input *in)
{
	struct atw_extent e;

	for (uint64_t at = 0; atw_extent_at(in->src, ATW_PA(at), &e) == ATW_OK && e.len;
	     at = e.start.u + e.len) {
		uint64_t pfn = (e.start.u + PAGE - 1) / PAGE, end = (e.start.u + e.len) / PAGE;

		for (; e.kind == ATW_DATA && pfn < end; pfn++)
			copy_add(&in->copy, in->map, pfn, 1);
	}
	copy_settle(&in->copy, in->src);
}

static void plan_process(struct input *in)
{
	const struct page_query q = {
		.task = in->task, .first = in->at.process.lo, .last = in->at.process.hi - 1,
	};
	struct page_cursor *c = NULL;
	const struct page_run *r;
	struct atw_err err = { 0 };
	int rc;

	need(page_cursor_open(in->tables, &q, &c, &err), &err);
	while ((rc = page_cursor_next(c, &r, &err)) == ATW_OK)
		for (uint32_t i = 0; r->state == PAGE_PRESENT && i < r->count; i++)
			copy_add(&in->copy, in->map, r->pa[i] / PAGE, r->slot / PAGE);
	need(rc, &err);
	page_cursor_close(c);
	copy_settle(&in->copy, in->src);
}

static void close_tables(struct input *in)
{
	copy_drop(&in->copy);
	atw_memmap_close(in->map);
	in->map = NULL;
	provider_close(in->tables);
	atw_kernel_close(in->kernel);
	atw_source_close(in->src);
	in->tables = NULL;
	in->kernel = NULL;
	in->src = NULL;
}

static void open_pagemap(struct input *in)
{
	const struct pagemap_provider_opts o = {
		.only = (uint32_t)in->at.process.pid, .flags = true, .counts = true,
	};
	struct atw_err err = { 0 };

	need(pagemap_provider_open(&o, NULL, NULL, &in->pagemap, &err), &err);
	need(in->pagemap->ops->tasks(in->pagemap, &err), &err);
}

static void open_all(struct input *in, const struct process *p)
{
	struct atw_err err = { 0 };

	look_at(&in->at, p);
	open_pagemap(in);
	if (open_tables(in, &err) < 0) {
		printf("  %-44s %s\n", "no live:bpf", err.text);
		close_tables(in);
		return;
	}
	plan_process(in);
}

static void close_all(struct input *in)
{
	close_tables(in);
	provider_close(in->pagemap);
	look_away(&in->at);
}

/* ---- rows ---- */

static void leaves(struct input *in, bool dense)
{
	static const struct way ways[] = {
		{ .name = "pagemap, reads of 32 KiB", .go = pagemap_pieces },
		{ .name = "pagemap, reads of a word", .go = pagemap_words, .slow = true },
		{ .name = "live:pagemap", .go = pagemap_list },
		{ .name = "live:bpf, as a provider", .go = bpf_list },
		{ .name = "live:bpf, mmu_walk", .go = bpf_leaves },
	};
	double mid[MAX_WAYS];

	heading("where each page is, ns of CPU time a page", "to first");
	contest_medians(ways, in->tables ? 5 : 3, in, in->at.present, mid);
	if (!in->tables || !dense)
		return;
	least("live:bpf, million pages a second", 1e3 / mid[4], 800);
	least("live:bpf, times as fast as reads of 32 KiB", mid[0] / mid[4], 15);
}

enum facts_way {
	LEAST, PAGEMAP, LEAST_FLAGS, PAGEMAP_LARGE, BPF_COPY, BPF, BPF_LARGE, PAGE_TYPES,
	PTEXPLORE, FACTS_WAYS,
};

static void facts(struct input *in, bool large, bool dense)
{
	static const struct way ways[FACTS_WAYS] = {
		[LEAST] = { .name = "the least reads of the same words", .go = bare,
			    .counts_only = true },
		[PAGEMAP] = { .name = "live:pagemap", .go = pagemap_facts, .times = 1.3 },
		[LEAST_FLAGS] = { .name = "the least reads, without counts", .go = bare_flags,
				  .counts_only = true },
		[PAGEMAP_LARGE] = { .name = "live:pagemap, large pages as one",
				    .go = pagemap_large_facts, .counts_only = true },
		[BPF_COPY] = { .name = "bound: copy their struct pages", .go = copy_of_pages,
			       .counts_only = true },
		[BPF] = { .name = "live:bpf", .go = bpf_facts },
		[BPF_LARGE] = { .name = "live:bpf, large pages as one", .go = bpf_large_facts,
				.counts_only = true },
		[PAGE_TYPES] = { .name = "as page-types -p", .go = like_page_types, .slow = true },
		[PTEXPLORE] = { .name = "as ptexplore", .go = like_ptexplore, .slow = true },
	};
	struct way chosen[FACTS_WAYS] = { 0 };
	double mid[MAX_WAYS], of[FACTS_WAYS] = { 0 };
	int way[FACTS_WAYS];
	size_t n = 0;

	for (int i = 0; i < FACTS_WAYS; i++) {
		if ((!large && (i == PAGEMAP_LARGE || i == BPF_LARGE)) ||
		    (!in->tables && (i == BPF_COPY || i == BPF || i == BPF_LARGE)))
			continue;
		way[n] = i;
		chosen[n] = ways[i];
		if (i == BPF && dense)
			chosen[n].target = 25;
		n++;
	}
	heading("flags and count of each page, ns of CPU time a page", "to least");
	contest_medians(chosen, n, in, in->at.present, mid);
	for (size_t i = 0; i < n; i++)
		of[way[i]] = mid[i];
	figure("the least reads, times as fast as ptexplore", of[PTEXPLORE] / of[LEAST], 0);
	figure("  without counts", of[PTEXPLORE] / of[LEAST_FLAGS], 0);
	least("live:pagemap, times as fast as ptexplore", of[PTEXPLORE] / of[PAGEMAP], 25);
	if (!in->tables)
		return;
	if (dense)
		least("live:bpf, times as fast as ptexplore", of[PTEXPLORE] / of[BPF], 45);
	else
		figure("live:bpf, times as fast as ptexplore", of[PTEXPLORE] / of[BPF], 0);
	figure("  the bound", of[PTEXPLORE] / of[BPF_COPY], 0);
	figure("live:bpf, times as fast as live:pagemap", of[PAGEMAP] / of[BPF], 0);
	figure("live:bpf, in times of the bound", of[BPF] / of[BPF_COPY], 0);
}

/* Which frames are free, of files, of processes, ... */
static void machine(void)
{
	static const struct way ways[] = {
		{ .name = "bound: copy the page array", .go = copy_of_pages, .counts_only = true },
		{ .name = "live:bpf", .go = classify, .counts_only = true, .times = 3 },
	};
	struct process p = process_start(shape_dense, MIB, 0);
	static struct input in;

	in.at.process = p;
	if (open_tables(&in, &(struct atw_err){ 0 }) == ATW_OK) {
		plan_machine(&in);
		heading("use of all frames, ms of CPU time", "to bound");
		contest(ways, 2, &in, 1000000);
	}
	close_tables(&in);
	process_stop(&p);
}

enum kind { SCATTERED, DENSE, TYPICAL, LARGE_PAGES };

static void measure(struct input *in, const char *name, enum kind kind)
{
	static shape_fn *const shape[] = {
		shape_dense, shape_dense, shape_typical, shape_large,
	};
	struct process p = process_start(shape[kind], kind == TYPICAL ? 2400 * MIB : 1024 * MIB, 0);
	const struct plan *plan = &in->at.plan;

	open_all(in, &p);
	printf("\n%s: %" PRIu64 " pages of %" PRIu64 " in areas are there; %zu reads of %" PRIu64
	       " frames bring their words\n", name, in->at.present, in->at.pages, plan->nframes,
	       plan->asked);
	leaves(in, kind == DENSE);
	facts(in, kind == LARGE_PAGES, kind == DENSE);
	close_all(in);
	process_stop(&p);
}

/* ---- 1 TiB with next to nothing in it ---- */

static void sparse(struct input *in)
{
	static const struct way ways[] = {
		{ .name = "live:pagemap", .go = pagemap_list, .target = 50 },
		{ .name = "live:bpf, as a provider", .go = bpf_list, .target = 50 },
	};
	struct process p = process_start(shape_sparse, TIB, 1000);

	in->at.process = p;
	open_pagemap(in);
	open_tables(in, &(struct atw_err){ 0 });
	heading("1 TiB of addresses with 1000 pages, ms of CPU time", "");
	contest(ways, in->tables ? 2 : 1, in, 1000000);
	close_tables(in);
	provider_close(in->pagemap);
	process_stop(&p);
}

/* ---- memory ---- */

/* KiB by which going through it once makes a process grow, its opening too. */
static long growth(const struct process *p, struct answer (*go)(void *), bool tables)
{
	struct input in = { .at.process = *p };
	long kib[2] = { 0 };
	int fd[2];
	pid_t pid;

	child_pipe(fd);
	pid = child_fork();
	if (!pid) {
		kib[0] = resident_field("/proc/self/status", "VmRSS:", NULL);
		if (!tables)
			open_pagemap(&in);
		else if (open_tables(&in, &(struct atw_err){ 0 }) < 0)
			_exit(1);
		go(&in);
		kib[1] = resident_field("/proc/self/status", "VmHWM:", NULL);
		_exit(write(fd[1], kib, sizeof(kib)) != sizeof(kib));
	}
	close(fd[1]);
	if (read(fd[0], kib, sizeof(kib)) != sizeof(kib))
		kib[0] = kib[1] = 0;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return kib[1] - kib[0];
}

enum { PROCESSES = 4 };

static void flat(const char *name, struct answer (*go)(void *), bool tables)
{
	/*
	 * Both fill whatever keeps a fixed amount of what was read last. How much of that is
	 * filled depends on where the frames are, so that of several processes the most counts.
	 */
	static const uint64_t size[2] = { 1024 * MIB, 4096 * MIB };
	long kib[2] = { 0 };

	for (int i = 0; i < 2 * PROCESSES; i++) {
		struct process p = process_start(shape_dense, size[i % 2], 0);
		long grown = growth(&p, go, tables);

		if (kib[i % 2] < grown)
			kib[i % 2] = grown;
		process_stop(&p);
	}
	if (kib[0] <= 0) {
		printf("  %-44s could not be measured\n", name);
		return;
	}
	figure(name, (double)kib[1] / 1024, 0);
	figure("  of that, for being four times as large", (double)(kib[1] - kib[0]) / 1024, 0.5);
}

static void memory(void)
{
	heading("memory it takes to go through 4 GiB, MiB", NULL);
	flat("live:pagemap, flags and counts", pagemap_facts, false);
	flat("live:bpf, mmu_walk", bpf_leaves, true);
	flat("live:bpf, flags and counts", bpf_facts, true);
}

/* ---- all of it ---- */

/* Figures that depend on fragmentation, in memory that is not fragmented. */
static void in_order(struct input *in)
{
	struct process taken;
	/* The largest process that is measured has 4 GiB. */
	bool took = memory_take(6 * 1024 * MIB, &taken);

	if (took)
		printf("\n  of free memory in small blocks, %" PRIu64 " MiB are held by a process\n",
		       (taken.hi - taken.lo) / MIB);
	else
		printf("\n  too much of the free memory is in small blocks to hold it: no targets for 1 GiB\n");
	/* First, for what is freed later would be had for nothing. */
	memory();
	if (!took)
		return;
	measure(in, "1 GiB, all of it there", DENSE);
	process_stop(&taken);
}

int main(void)
{
	static struct input in;

	printf("\nthe running kernel\n");
	if (!look_open(&in.at))
		return 0;
	in_order(&in);
	measure(&in, "1 GiB, all of it there, where the kernel has it", SCATTERED);
	measure(&in, "many areas with little in them", TYPICAL);
	measure(&in, "1 GiB in large pages", LARGE_PAGES);
	sparse(&in);
	machine();
	return 0;
}
