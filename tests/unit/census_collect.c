/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a provider reports becomes the exact records of a capture. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "census/census.h"
#include "linux/kpf.h"
#include "target/provider.h"
#include "test.h"
#include "unit/census_heard.h"

enum { K = 4096 };

/* ---- a provider ---- */

struct fake {
	struct provider p;
	const struct atw_area *area;
	const struct page_run *run;
	size_t areas, runs;
	size_t next_area, next_run;
	bool ends;                   /* its first task ends while it is listed */
	bool hidden;                 /* nothing is known of frames */
	bool steady, alike;          /* no flags that come and go; says what is alike */
	size_t asked;                /* for facts */
	int broken;                  /* what areas_next() says after the last area */
};

static struct fake *of(struct provider *p)
{
	return (struct fake *)p;
}

static int add_task(struct provider *p, uint32_t pid, const char *name, uint64_t mm, bool shared)
{
	struct page_task *t = provider_add_task(p);

	if (!t)
		return ATW_E_NOMEM;
	t->pid = pid;
	t->mm = mm;
	t->shared = shared;
	snprintf(t->name, sizeof(t->name), "%s", name);
	return ATW_OK;
}

static int fake_tasks(struct provider *p, struct atw_err *err)
{
	(void)err;
	add_task(p, 7, "one", 0x10, false);
	add_task(p, 8, "two", 0x10, true);
	return add_task(p, 9, "gone", 0x20, false);
}

static int fake_find(struct provider *p, uint32_t pid, size_t *ret, struct atw_err *err)
{
	for (size_t i = 0; i < p->ntasks; i++)
		if (p->task[i].pid == pid) {
			*ret = i;
			return ATW_OK;
		}
	return atw_err_set(err, ATW_E_MISSING, "no process %u", pid);
}

static int fake_vmas_open(struct vma_cursor *c, struct atw_err *err)
{
	(void)err;
	of(c->p)->next_area = 0;
	return c->p->task[c->task].pid == 9 ? ATW_END : ATW_OK;
}

static int fake_vmas_next(struct vma_cursor *c, struct atw_area *ret, struct atw_err *err)
{
	struct fake *f = of(c->p);

	if (f->next_area == f->areas && f->broken) {
		f->broken = 0;
		return atw_err_set(err, ATW_E_DAMAGED, "a list is broken");
	}
	if (f->next_area == f->areas)
		return ATW_END;
	*ret = f->area[f->next_area++];
	return ATW_OK;
}

static int fake_pages_open(struct page_cursor *c, struct atw_err *err)
{
	(void)err;
	of(c->p)->next_run = 0;
	return ATW_OK;
}

static int fake_pages_next(struct page_cursor *c, const struct page_run **ret, struct atw_err *err)
{
	struct fake *f = of(c->p);

	(void)err;
	if (f->next_run == f->runs - (f->ends ? 1 : 0))
		return ATW_END;
	*ret = &f->run[f->next_run++];
	return ATW_OK;
}

/* Frames up to 15 are of a file, others of none; 99 is given back, 90 the zero page. */
static struct frame_facts facts_of(const struct fake *f, uint64_t pfn)
{
	struct frame_facts ret = { .have = FACT_FLAGS | FACT_COUNT };

	ret.page.count = pfn == 90 ? 0 : 2;
	ret.page.flags = pfn == 99 ? kpf(KPF_BUDDY) : pfn == 90 ? kpf(KPF_ZERO_PAGE) :
			 pfn < 16 ? kpf(KPF_LRU) : kpf(KPF_LRU) | kpf(KPF_ANON);
	/* These come and go: no run breaks on them. */
	if (pfn & 1 && !f->steady)
		ret.page.flags |= kpf(KPF_REFERENCED) | kpf(KPF_ACTIVE) | kpf(KPF_MLOCKED);
	return ret;
}

static int fake_facts(struct page_cursor *c, const struct page_run *r, uint32_t i, uint64_t off,
		      uint64_t mapped, struct frame_facts *ret, struct atw_err *err)
{
	uint64_t pfn = (r->pa[i] + off) / K;
	struct fake *f = of(c->p);

	(void)mapped;
	f->asked++;
	if (f->hidden)
		return ATW_E_UNSUPPORTED;
	if (pfn == 80)
		return atw_err_set(err, ATW_E_DAMAGED, "frame 80 is odd");
	*ret = facts_of(f, pfn);
	for (uint64_t n = 1; f->alike && (r->slot > K ? off + n * K < r->slot : i + n < r->count); n++) {
		uint64_t next = r->slot > K ? pfn + n : r->pa[i + n] / K;
		struct frame_facts other = facts_of(f, next);

		if (next == 80 || other.page.flags != ret->page.flags ||
		    other.page.count != ret->page.count)
			break;
		ret->alike++;
	}
	return ATW_OK;
}

static int fake_count(struct provider *p, struct atw_err *err)
{
	(void)err;
	for (uint64_t pfn = 0; pfn < 100; pfn++)
		for (unsigned n = 0; n < (pfn < 16 ? 3 : 1); n++)
			if (!counts_add(&p->counts, pfn, 1))
				return ATW_E_NOMEM;
	p->counted = true;
	return ATW_OK;
}

static int fake_machine(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	const struct capture_record ram = {
		.letter = 'R', .r = { 0, 200 * K - 1, { "System RAM", 10 }, 0 },
	};

	(void)p;
	return to->tell(to->arg, &ram, err);
}

static int fake_others(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	struct task_about a;
	struct atw_err why = { .text = "one is not to be had" };
	int r;

	about_nothing(&a, 2, "kthreadd", 0);
	provider_cannot(p, "tasks", &why);
	r = about_tell(to, &a, err);
	if (r == ATW_OK)
		r = about_passed(to, 7, err);
	about_nothing(&a, 40, "kworker", 0);
	if (r == ATW_OK)
		r = about_tell(to, &a, err);
	return r == ATW_OK ? about_passed(to, 8, err) : r;
}

static int fake_about(struct provider *p, size_t task, const struct vma_cursor *vmas,
		      struct task_about *ret, struct atw_err *err)
{
	const struct page_task *t = &p->task[task];

	(void)vmas, (void)err;
	about_nothing(ret, t->pid, t->name, t->mm);
	ret->t.minor = 5;
	ret->has |= CAPTURE_T_FAULTS;
	return ATW_OK;
}

/* The second time it is asked, more is known. */
static int fake_file(struct vma_cursor *c, const struct atw_area *a, struct elfunit *ret)
{
	(void)c;
	if (a->offset)
		return ATW_E_MISSING;
	*ret = (struct elfunit){ .loads = 1, .load = { { 0, 0x10000, 0x20, 0x30, 5 } },
				 .build = { { 0xab, 0xcd }, 2 } };
	return ATW_OK;
}

static int fake_frames(struct provider *p, uint64_t first, uint64_t last,
		       provider_frames_fn *tell, void *arg, struct atw_err *err)
{
	const struct capture_frames run = {
		.pa = first, .pages = (last - first + 1) / K, .use = CAPTURE_UNKNOWN,
	};

	(void)p;
	return tell(arg, &run, err);
}

static const struct provider_ops fake_ops = {
	.name = "fake", .tasks = fake_tasks, .find = fake_find,
	.vma_cursor_size = sizeof(struct vma_cursor),
	.page_cursor_size = sizeof(struct page_cursor),
	.vmas_open = fake_vmas_open, .vmas_next = fake_vmas_next,
	.pages_open = fake_pages_open, .pages_next = fake_pages_next, .facts = fake_facts, .frames = fake_frames,
	.count = fake_count, .machine = fake_machine, .others = fake_others,
	.about = fake_about, .file = fake_file,
};

/* ---- emitted records ---- */

#define AREA(s, e, ...) { .start = { s }, .end = { e }, .read = true, __VA_ARGS__ }
#define RUN(v, pages, st, ...) { .va = v, .size = (pages) * (uint64_t)K, .slot = K, \
	.count = pages, .state = st, __VA_ARGS__ }
#define RIGHTS .have = RUN_RIGHTS | RUN_USED, .rights = ATW_UR

static int collect(struct fake *f, const struct census_collect_opts *o, struct heard *h,
		   struct atw_err *err)
{
	const struct census_sink to = heard_sink(h);
	int r;

	f->p.ops = &fake_ops;
	f->p.page_shift = 12;
	f->p.user_last = 0xffffff;
	f->p.way = "fake";
	f->p.used = true;
	r = census_collect(&f->p, o, &to, err);
	counts_deinit(&f->p.counts);
	free(f->p.task);
	return r;
}

static const struct census_collect_opts plain = { .refs = true };

static void check(struct fake *f, const struct census_collect_opts *o, const char *want)
{
	struct heard h = { .left = 0 };
	struct atw_err err = { 0 };

	CHECK_EQ(collect(f, o, &h, &err), ATW_OK);
	CHECK_STR(h.text.data, want);
	buf_deinit(&h.text);
}

#define HEAD \
	"H: page, 4096\n" \
	"H: way, fake\n" \
	"H: bits, ED2\n" \
	"H: pageflags, FDFFFFBB\n" \
	"R: 00000000, 000C7FFF, System RAM\n" \
	"L: 0, tasks, one is not to be had\n" \
	"T: kthreadd, 2, 00000000, -, -, -, -, -, -, -\n" \
	"T: one, 7, 00000010, -, 5, 0, 0, 0, -, -\n"
#define TAIL \
	"T: kworker, 40, 00000000, -, -, -, -, -, -, -\n" \
	"T: two, 8, 00000010, -, 5, 0, 0, 0, -, -\n" \
	"H: vanished, 1\n"

/* ---- tests ---- */

TEST(neighbours_that_agree_are_one_run)
{
	static const uint64_t file[] = { 4 * K, 5 * K, 9 * K }, zero[] = { 90 * K, 90 * K, 90 * K };
	static const uint64_t anon[] = { 30 * K, 31 * K };
	static const struct atw_area area[] = {
		AREA(0x10000, 0x14000, .exec = true, .flags = 0x75, .file = true, .major = 8,
		     .minor = 1, .inode = 5, .offset = 0x3000, .name = "/a"),
		AREA(0x20000, 0x21000, .flags = 0x71, .file = true, .major = 8, .minor = 1,
		     .inode = 5, .name = "/a"),
		AREA(0x30000, 0x38000, .write = true, .flags = 0x73, .shared = true,
		     .name = "[heap]"),
	};
	static const struct page_run run[] = {
		RUN(0x0, 16, PAGE_ABSENT),
		RUN(0x10000, 3, PAGE_PRESENT, .have = RUN_RIGHTS | RUN_USED,
		    .rights = ATW_UR | ATW_UX, .accessed = true, .pa = file),
		RUN(0x13000, 0x1d, PAGE_ABSENT),
		RUN(0x30000, 3, PAGE_PRESENT, RIGHTS, .pa = zero),
		RUN(0x33000, 1, PAGE_SWAP, .have = RUN_SWAP, .swap_type = 1, .swap_offset = 20),
		RUN(0x34000, 1, PAGE_SWAP, .have = RUN_SWAP, .swap_type = 1, .swap_offset = 21),
		RUN(0x35000, 1, PAGE_GUARD),
		RUN(0x36000, 2, PAGE_PRESENT, .have = RUN_RIGHTS | RUN_USED,
		    .rights = ATW_UR | ATW_UW, .accessed = true, .dirty = true, .pa = anon),
		RUN(0x38000, 0xfc8, PAGE_ABSENT),
	};
	struct fake f = { .area = area, .areas = 3, .run = run, .runs = 9 };

	check(&f, &plain, HEAD
	      "U: 8:1, 5, /a\n"
	      "V: 00010000, 00013FFF, 00004000, 00003000, -, 00000075, /a, dev=8:1, inode=5, "
	      "offset=3000\n"
	      "P: 3, 3, 3, 0, 3, swap=0, anon=0, file=3, huge=0\n"
	      " 00010000*2=00004612, 2, 00000020, refs=3 |\n"
	      " 00012000=00009612, 2, 00000020, refs=3 |\n"
	      "U: 8:1, 5, /a, build=ABCD, loads=0:10000:20:30:5\n"
	      "V: 00020000, 00020FFF, 00001000, 00000000, -, 00000071, /a, dev=8:1, inode=5, "
	      "offset=0\n"
	      "P: 0, 0, 0, 0, 0, swap=0, anon=0, file=0, huge=0\n"
	      "V: 00030000, 00037FFF, 00008000, 00005000, -, 00000073, [heap], shared=1\n"
	      "P: 5, 0, 3, 5, 0, swap=2, anon=2, file=0, huge=0\n"
	      " 00030000*3=0005A012, 0, 01000000, refs=1, state=zero, same=1 |\n"
	      " 00033000*2=00000000, -, -, swap=1:14 |\n"
	      " 00035000=00000000, -, -, state=guard |\n"
	      " 00036000*2=0001E4D2, 2, 00001020, refs=1 |\n"
	      TAIL);
}

/* PROT_EXEC alone, where the CPU has such pages (riscv64). */
TEST(pages_that_only_execute)
{
	static const uint64_t anon[] = { 30 * K };
	static const struct atw_area area[] = {
		AREA(0x10000, 0x11000, .exec = true, .flags = 0x74),
	};
	static const struct page_run run[] = {
		RUN(0x0, 16, PAGE_ABSENT),
		RUN(0x10000, 1, PAGE_PRESENT, .have = RUN_RIGHTS, .rights = ATW_UX, .pa = anon),
		RUN(0x11000, 0xfef, PAGE_ABSENT),
	};
	struct fake f = { .area = area, .areas = 1, .run = run, .runs = 3 };

	check(&f, &plain, HEAD
	      "V: 00010000, 00010FFF, 00001000, 00001000, -, 00000074, NULL\n"
	      "P: 1, 1, 1, 1, 0, swap=0, anon=1, file=0, huge=0\n"
	      " 00010000=0001EA12, 2, 00001020, refs=1 |\n"
	      TAIL);
}

TEST(large_pages_and_those_given_back)
{
	static const uint64_t large[] = { 16 * K }, small[] = { 98 * K, 99 * K, 300 * K };
	static const struct atw_area area[] = { AREA(0x10000, 0x19000, .flags = 0x71) };
	static const struct page_run run[] = {
		RUN(0x0, 16, PAGE_ABSENT),
		{ .va = 0x10000, .size = 4 * K, .slot = 4 * K, .count = 1,
		  .state = PAGE_PRESENT, RIGHTS, .pa = large },
		RUN(0x14000, 2, PAGE_ABSENT),
		RUN(0x16000, 3, PAGE_PRESENT, RIGHTS, .pa = small),
		RUN(0x19000, 0xfe7, PAGE_ABSENT),
	};
	struct fake f = { .area = area, .areas = 1, .run = run, .runs = 5 };
	struct heard h = { .left = 0 };
	struct atw_err err = { 0 };

	check(&f, &plain, HEAD
	      "V: 00010000, 00018FFF, 00009000, 00007000, -, 00000071, NULL\n"
	      "P: 7, 0, 7, 6, 0, swap=0, anon=5, file=1, huge=4\n"
	      " 00010000*4=00010012, 2, 00001020, refs=1, order=2 |\n"
	      " 00016000=00062012, 2, 00001020, refs=1 |\n"
	      " 00017000=00063012, 2, 00000400, refs=1 |\n"
	      " 00018000=0012C012, -, -, state=device |\n"
	      TAIL);
	/* What runs gives frames back meanwhile, and what it says of them is not ours. */
	f = (struct fake){ .area = area, .areas = 1, .run = run, .runs = 5, .p.running = true };
	CHECK_EQ(collect(&f, &plain, &h, &err), ATW_OK);
	CHECK(strstr(h.text.data, " 00017000=00063012, -, -, refs=1 |\n"));
	CHECK(strstr(h.text.data, "H: vanished, 1\nH: stale, 1\nH: ended, "));
	buf_deinit(&h.text);
}

/* With runs marked as alike, fewer pages are looked up and the output is the same. */
TEST(what_is_alike_is_asked_once)
{
	static const uint64_t large[] = { 12 * K, 40 * K };
	static const uint64_t small[] = {
		50 * K, 51 * K, 52 * K, 51 * K, 51 * K, 51 * K, 300 * K, 53 * K, 54 * K, 80 * K,
		81 * K, 82 * K, 99 * K, 99 * K, 60 * K, 199 * K, 150 * K, 151 * K, 90 * K,
	};
	static const struct atw_area area[] = {
		AREA(0x10000, 0x14000, .flags = 0x71), AREA(0x14000, 0x30000, .flags = 0x71),
		AREA(0x30000, 0x43000, .flags = 0x71),
	};
	static const struct page_run run[] = {
		RUN(0x0, 16, PAGE_ABSENT),
		{ .va = 0x10000, .size = 16 * K, .slot = 8 * K, .count = 2,
		  .state = PAGE_PRESENT, RIGHTS, .pa = large },
		RUN(0x20000, 16, PAGE_ABSENT),
		RUN(0x30000, 19, PAGE_PRESENT, RIGHTS, .pa = small),
		RUN(0x43000, 0xfbd, PAGE_ABSENT),
	};
	const struct census_collect_opts ways[] = {
		{ .refs = true }, { .refs = false }, { .refs = true, .area_runs = 2 },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct fake f = { .area = area, .areas = 3, .run = run, .runs = 5, .steady = true };
		struct fake g = f;
		struct heard each = { .left = 0 }, once = { .left = 0 };

		g.alike = true;
		CHECK_EQ(collect(&f, &ways[i], &each, NULL), ATW_OK);
		CHECK_EQ(collect(&g, &ways[i], &once, NULL), ATW_OK);
		CHECK_STR(once.text.data, each.text.data);
		CHECK_EQ(f.asked, 34);
		CHECK_EQ(g.asked, 9);
		if (!i) {
			CHECK(strstr(once.text.data, " 00030000*3=00032012, 2, 00001020, refs=1 |\n"
				     " 00033000*3=00033012, 2, 00001020, refs=1, same=1 |\n"
				     " 00036000=0012C012, -, -, state=device |\n"
				     " 00037000*2=00035012, 2, 00001020, refs=1 |\n"));
			CHECK(strstr(once.text.data, "P: 19, 0, 19, 18, 0, "));
		}
		buf_deinit(&each.text);
		buf_deinit(&once.text);
	}
}

TEST(long_areas_are_told_in_parts)
{
	static const uint64_t pa[] = { 30 * K, 32 * K, 34 * K, 35 * K, 38 * K, 40 * K };
	static const struct atw_area area[] = {
		AREA(0x10000, 0x18000, .flags = 0x71, .file = true, .inode = 3, .offset = 0x1000,
		     .name = "/b"),
		AREA(0x18000, 0x19000, .flags = 0x70),
	};
	static const struct page_run run[] = {
		RUN(0x0, 17, PAGE_ABSENT),
		RUN(0x11000, 6, PAGE_PRESENT, RIGHTS, .pa = pa),
		RUN(0x17000, 0xfe9, PAGE_ABSENT),
	};
	struct fake f = { .area = area, .areas = 2, .run = run, .runs = 3 };
	const struct census_collect_opts two = { .refs = true, .area_runs = 2 };

	check(&f, &two, HEAD
	      "U: 0:0, 3, /b\n"
	      "V: 00010000, 00012FFF, 00003000, 00002000, -, 00000071, /b, dev=0:0, inode=3, "
	      "offset=1000, more=1\n"
	      "P: 2, 0, 2, 2, 0, swap=0, anon=2, file=0, huge=0\n"
	      " 00011000=0001E012, 2, 00001020, refs=1 |\n"
	      " 00012000=00020012, 2, 00001020, refs=1 |\n"
	      "V: 00013000, 00015FFF, 00003000, 00003000, -, 00000071, /b, dev=0:0, inode=3, "
	      "offset=4000, more=1\n"
	      "P: 3, 0, 3, 3, 0, swap=0, anon=3, file=0, huge=0\n"
	      " 00013000*2=00022012, 2, 00001020, refs=1 |\n"
	      " 00015000=00026012, 2, 00001020, refs=1 |\n"
	      "V: 00016000, 00017FFF, 00002000, 00001000, -, 00000071, /b, dev=0:0, inode=3, "
	      "offset=7000\n"
	      "P: 1, 0, 1, 1, 0, swap=0, anon=1, file=0, huge=0\n"
	      " 00016000=00028012, 2, 00001020, refs=1 |\n"
	      "V: 00018000, 00018FFF, 00001000, 00000000, -, 00000070, NULL\n"
	      "P: 0, 0, 0, 0, 0, swap=0, anon=0, file=0, huge=0\n"
	      TAIL);
}

TEST(what_cannot_be_read_is_said)
{
	static const uint64_t pa[] = { 30 * K, 31 * K, 32 * K }, odd[] = { 80 * K };
	static const struct atw_area area[] = { AREA(0x10000, 0x14000, .flags = 0x71) };
	static const struct page_run run[] = {
		RUN(0x0, 15, PAGE_ABSENT),
		RUN(0xf000, 2, PAGE_PRESENT, RIGHTS, .pa = pa),
		RUN(0x11000, 1, PAGE_LOST),
		RUN(0x12000, 1, PAGE_PRESENT, RIGHTS, .pa = odd),
		RUN(0x13000, 3, PAGE_PRESENT, RIGHTS, .pa = pa),
		RUN(0x16000, 1, PAGE_EXCLUDED),
		RUN(0x17000, 0xfe9, PAGE_ABSENT),
	};
	struct fake f = { .area = area, .areas = 1, .run = run, .runs = 7,
			  .broken = ATW_E_DAMAGED };

	check(&f, &plain, HEAD
	      "V: 0000F000, 0000FFFF, 00001000, 00001000, -, -, NULL\n"
	      "P: 1, 0, 1, 1, 0, swap=0, anon=1, file=0, huge=0\n"
	      " 0000F000=0001E012, 2, 00001020, refs=1 |\n"
	      "L: 7, page table, the source does not have it, start=11000, last=11FFF\n"
	      "L: 7, struct pages, frame 80 is odd\n"
	      "V: 00010000, 00013FFF, 00004000, 00003000, -, 00000071, NULL\n"
	      " 00010000=0001F012, 2, 00001020, refs=1 |\n"
	      " 00012000=00050012, -, -, refs=1 |\n"
	      " 00013000=0001E012, 2, 00001020, refs=1 |\n"
	      "L: 7, areas, a list is broken\n"
	      "V: 00014000, 00015FFF, 00002000, 00002000, -, -, NULL\n"
	      "P: 2, 0, 2, 2, 0, swap=0, anon=2, file=0, huge=0\n"
	      " 00014000*2=0001F012, 2, 00001020, refs=1 |\n"
	      "L: 7, page table, it was excluded when the dump was made, start=16000, last=16FFF\n"
	      TAIL);
}

TEST(nobody_knows_of_frames)
{
	static const struct atw_area area[] = { AREA(0x10000, 0x14000, .shared = true) };
	static const struct page_run run[] = {
		RUN(0x0, 16, PAGE_ABSENT),
		RUN(0x10000, 3, PAGE_PRESENT, .have = RUN_RIGHTS | RUN_MAP, .rights = ATW_UR,
		    .map = 0x140),
		RUN(0x13000, 1, PAGE_SWAP, .have = RUN_MAP, .map = 0x80),
		RUN(0x14000, 0xfec, PAGE_ABSENT),
	};
	struct fake f = { .area = area, .areas = 1, .run = run, .runs = 4, .hidden = true,
			  .p.area_rights = true };
	const struct census_collect_opts o = { .pid = 7, .frames = true };

	/* No P:, for no page is known to be mapped once, or more often. */
	check(&f, &o,
	      "H: page, 4096\n"
	      "H: way, fake\n"
	      "H: bits, 692\n"
	      "H: pageflags, FDFFFFBB\n"
	      "H: areaflags, 87\n"
	      "R: 00000000, 000C7FFF, System RAM\n"
	      "T: one, 7, 00000010, -, 5, 0, 0, 0, -, -\n"
	      "V: 00010000, 00013FFF, 00004000, 00003000, -, 00000081, NULL, shared=1\n"
	      " 00010000*3=00000012, -, -, map=140, noframe=1 |\n"
	      " 00013000=00000000, -, -, map=80 |\n"
	      " 00000000*200=unknown |\n");
}

TEST(a_task_that_ends_is_told_up_to_there)
{
	static const uint64_t pa[] = { 30 * K };
	static const struct atw_area area[] = {
		AREA(0x10000, 0x11000, .flags = 0x71), AREA(0x12000, 0x13000, .flags = 0x71),
	};
	static const struct page_run run[] = {
		RUN(0x0, 16, PAGE_ABSENT), RUN(0x10000, 1, PAGE_PRESENT, RIGHTS, .pa = pa),
		RUN(0x11000, 1, PAGE_ABSENT), RUN(0x12000, 0xfee, PAGE_ABSENT),
	};
	struct fake f = { .area = area, .areas = 2, .run = run, .runs = 4, .ends = true,
			  .p.running = true };
	struct heard h = { .left = 0 };
	struct atw_err err = { 0 };

	CHECK_EQ(collect(&f, &plain, &h, &err), ATW_OK);
	CHECK(strstr(h.text.data, "V: 00010000,") && !strstr(h.text.data, "V: 00012000,"));
	CHECK(strstr(h.text.data, "H: vanished, 2\nH: ended, "));
	buf_deinit(&h.text);
}

TEST(who_listens_may_have_had_enough)
{
	static const uint64_t pa[] = { 30 * K, 32 * K };
	static const struct atw_area area[] = { AREA(0x10000, 0x14000, .flags = 0x71) };
	static const struct page_run run[] = {
		RUN(0x0, 16, PAGE_ABSENT), RUN(0x10000, 2, PAGE_PRESENT, RIGHTS, .pa = pa),
		RUN(0x12000, 1, PAGE_LOST), RUN(0x13000, 0xfed, PAGE_ABSENT),
	};

	for (size_t left = 1; left <= 14; left++) {
		struct fake f = { .area = area, .areas = 1, .run = run, .runs = 4 };
		struct heard h = { .left = left };
		struct atw_err err = { 0 };

		CHECK_EQ(collect(&f, &plain, &h, &err), left <= 13 ? ATW_E_IO : ATW_OK);
		CHECK_STR(err.text, left <= 13 ? "full" : "");
		buf_deinit(&h.text);
	}
}
