/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The iterator keeps its promises: order, cover, depth, pruning, budget, damage. */
#include "walk/walk.h"

#include "memory.h"
#include "test.h"

#define P 1u
#define RW 2u

static struct mmu_space space(struct memory *m, const char *mode, uint64_t root)
{
	return (struct mmu_space){
		.mem = &m->s, .paging = *atw_paging_find(mode),
		.low = { ATW_PA(root), true },
	};
}

/* Two leaf tables under one PMD table; a 2 MiB leaf; a lost table. */
static struct memory *small_machine(void)
{
	struct memory *m = mem_new();

	mem_put64(m, 0x1000, 0x2000 | P | RW);
	mem_put64(m, 0x2000, 0x3000 | P | RW);
	mem_put64(m, 0x3000, 0x4000 | P | RW);
	mem_put64(m, 0x3008, 0x5000 | P | RW);
	mem_put64(m, 0x3010, 0xa00000 | P | RW | 1u << 7);
	mem_put64(m, 0x3018, 0x77000 | P | RW);
	mem_put64(m, 0x4000, 0x10000 | P | RW);
	mem_put64(m, 0x4008, 0x11000 | P | RW);
	mem_put64(m, 0x4010, 0x12000 | P);
	mem_put64(m, 0x5ff8, 0x13000 | P | RW);
	return m;
}

struct count {
	uint64_t pieces, leaves, tables, absent, lost, bytes;
	bool ordered;
};

static int drain(const struct mmu_space *sp, const struct mmu_walk_opts *o,
		 struct count *ret)
{
	struct count c = { .ordered = true };
	const struct mmu_seen *s;
	struct mmu_walk *w = NULL;
	uint64_t next = 0;
	bool wrapped = false;
	int r = mmu_walk_open(sp, o, &w, NULL);

	while (r == ATW_OK && (r = mmu_walk_next(w, &s, NULL)) == ATW_OK) {
		c.pieces++;
		if (s->kind == ATW_TABLE && !s->loss && !s->repeat_of) {
			c.tables++;      /* comes before what lies below it */
			continue;
		}
		if (s->va.u < next || wrapped)
			c.ordered = false;
		next = s->va.u + s->size;
		wrapped = !next;
		c.bytes += s->size;
		c.lost += s->loss != 0;
		c.leaves += !s->loss && s->kind == ATW_LEAF ? s->count : 0;
		c.absent += !s->loss && s->kind == ATW_ABSENT ? s->count : 0;
	}
	mmu_walk_close(w);
	*ret = c;
	return r;
}

TEST(pieces_come_in_order_and_cover_everything)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT) | ATW_K(ATW_TABLE),
	};
	struct count c;

	CHECK_EQ(drain(&sp, &o, &c), ATW_END);
	CHECK(c.ordered);
	CHECK_EQ(c.leaves, 5);
	CHECK_EQ(c.tables, 5);           /* each once, the lost one as well */
	CHECK_EQ(c.lost, 1);
	CHECK_EQ(c.bytes, (uint64_t)1 << 48);

	/* One entry a piece says the same. */
	o.flags = MMU_WALK_EACH;
	CHECK_EQ(drain(&sp, &o, &c), ATW_END);
	CHECK(c.ordered);
	CHECK_EQ(c.leaves, 5);
	CHECK_EQ(c.absent, 511 + 511 + 508 + 509 + 511);
	CHECK_EQ(c.bytes, (uint64_t)1 << 48);
	mem_free(m);
}

TEST(a_range_limits_the_work)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	struct mmu_walk_opts o = {
		.first = ATW_VA(0x1000), .last = ATW_VA(0x2fff),
	};
	struct count c;

	CHECK_EQ(drain(&sp, &o, &c), ATW_END);
	CHECK_EQ(c.leaves, 2);
	CHECK_EQ(c.bytes, 0x2000);
	/* root, PUD, PMD, one PTE table: nothing else was read */
	CHECK_EQ(m->reads, 4);
	o.first = ATW_VA(0x5000);
	o.last = ATW_VA(0x4000);
	CHECK_EQ(drain(&sp, &o, &c), ATW_E_USAGE);
	mem_free(m);
}

TEST(depth_stops_at_a_level_and_shows_its_tables)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX), .depth = 3,
	};
	struct count c;

	CHECK_EQ(drain(&sp, &o, &c), ATW_END);
	CHECK_EQ(c.tables, 3);
	CHECK_EQ(c.leaves, 1);
	CHECK_EQ(c.lost, 0);             /* not visited */
	o.depth = 1;
	CHECK_EQ(drain(&sp, &o, &c), ATW_END);
	CHECK_EQ(c.tables, 1);
	mem_free(m);
}

TEST(prune_stays_out_of_a_table)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_TABLE),
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	unsigned leaves = 0;

	CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
	while (mmu_walk_next(w, &s, NULL) == ATW_OK) {
		if (s->kind == ATW_TABLE && s->pa.u == 0x4000)
			mmu_walk_prune(w);
		leaves += s->kind == ATW_LEAF ? s->count : 0;
	}
	CHECK_EQ(leaves, 2);
	mmu_walk_close(w);
	mem_free(m);
}

TEST(the_path_names_every_entry)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	struct mmu_seen s;

	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x3ff123), &s, NULL), ATW_OK);
	CHECK_EQ(s.depth, 4);
	CHECK_EQ(s.pa.u, 0x13000);
	CHECK_EQ(s.va.u, 0x3ff000);
	CHECK_EQ(s.path[0].at.u, 0x1000);
	CHECK_EQ(s.path[1].at.u, 0x2000);
	CHECK_EQ(s.path[2].at.u, 0x3008);
	CHECK_EQ(s.path[2].index, 1);
	CHECK_EQ(s.path[3].at.u, 0x5ff8);
	CHECK_EQ(s.path[3].word, 0x13003);
	CHECK_EQ(s.path[3].level, 0);

	/* A lost table: the path ends with the entry that points to it. */
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x600000), &s, NULL), ATW_OK);
	CHECK_EQ(s.loss, ATW_LOST);
	CHECK_EQ(s.depth, 3);
	CHECK_EQ(s.pa.u, 0x77000);
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x800000000000), &s, NULL), ATW_E_USAGE);
	mem_free(m);
}

static bool same_piece(const struct mmu_seen *a, const struct mmu_seen *b)
{
	if (a->va.u != b->va.u || a->size != b->size || a->pa.u != b->pa.u ||
	    a->count != b->count || a->level != b->level || a->kind != b->kind ||
	    a->loss != b->loss || a->rights != b->rights || a->depth != b->depth)
		return false;
	for (unsigned i = 0; i < a->depth; i++) {
		const struct mmu_step *p = &a->path[i], *q = &b->path[i];

		if (p->level != q->level || p->kind != q->kind || p->rights != q->rights ||
		    p->index != q->index || p->at.u != q->at.u || p->word != q->word)
			return false;
	}
	return true;
}

/* Each entry of a run, taken out of it, is what EACH returns at its place. */
TEST(one_entry_of_a_run_is_a_piece_of_its_own)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT),
	};
	const struct mmu_seen *run, *each;
	struct mmu_walk *runs, *eaches;
	struct mmu_seen one;
	unsigned n = 0, longest = 0;

	CHECK_EQ(mmu_walk_open(&sp, &o, &runs, NULL), ATW_OK);
	o.flags = MMU_WALK_EACH;
	CHECK_EQ(mmu_walk_open(&sp, &o, &eaches, NULL), ATW_OK);
	while (mmu_walk_next(runs, &run, NULL) == ATW_OK) {
		/* What is lost stays one piece with EACH too. */
		for (uint32_t i = 0; i < run->count; i++) {
			if (!run->loss || !i)
				CHECK_EQ(mmu_walk_next(eaches, &each, NULL), ATW_OK);
			mmu_seen_one(&sp, run, i, &one);
			CHECK_EQ(one.va.u, run->va.u + i * one.size);
			if (run->loss) {
				CHECK_EQ(one.depth, each->depth);
				CHECK_EQ(one.pa.u, each->pa.u);
				continue;
			}
			CHECK(same_piece(&one, each));
			CHECK_EQ(mmu_seen_word(&sp, &one, 0), mmu_seen_word(&sp, run, i));
			n++;
		}
		if (run->kind == ATW_LEAF && run->count > longest)
			longest = run->count;
	}
	CHECK_EQ(mmu_walk_next(eaches, &each, NULL), ATW_END);
	CHECK_EQ(longest, 2);
	CHECK(n > 2500);
	mmu_walk_close(runs);
	mmu_walk_close(eaches);
	mem_free(m);
}

TEST(bytes_by_virtual_address_cross_pages)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	char buf[16] = "";

	mem_put(m, 0x10ff8, "abcdefgh", 8);
	mem_put(m, 0x11000, "ijkl", 5);
	CHECK_EQ(mmu_space_read(&sp, ATW_VA(0xff8), buf, 13, NULL), 13);
	CHECK_STR(buf, "abcdefghijkl");
	/* Up to the first page that is not mapped; 0x12000 is mapped, not there. */
	CHECK_EQ(mmu_space_read(&sp, ATW_VA(0x1ff8), buf, 16, NULL), 8);
	CHECK_EQ(mmu_space_read(&sp, ATW_VA(0x200000), buf, 16, NULL), 0);
	mem_free(m);
}

/*
 * Every entry of one table points to the table itself, each with another
 * ignored bit set, so that nothing folds: 512^4 leaves out of 4 KiB.
 */
TEST(a_hostile_tree_ends_at_the_budget)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX), .flags = MMU_WALK_FOLD,
	};
	const struct mmu_seen *s;
	struct atw_err err = { 0 };
	struct mmu_walk *w;
	int r;

	for (unsigned i = 0; i < 512; i++)
		mem_put64(m, 0x1000 + 8 * i, 0x1000 | P | RW | (uint64_t)(i & 3) << 9 |
			  (uint64_t)(i >> 2 & 127) << 52);
	CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
	while ((r = mmu_walk_next(w, &s, &err)) == ATW_OK)
		;
	CHECK_EQ(r, ATW_E_LIMIT);
	CHECK(strstr(err.text, "stopped after"));
	CHECK_EQ(mmu_walk_stats(w).tables, 65536 + 1);
	/* It stays ended, and says why each time. */
	memset(&err, 0, sizeof(err));
	CHECK_EQ(mmu_walk_next(w, &s, &err), ATW_E_LIMIT);
	CHECK(strstr(err.text, "stopped after"));
	mmu_walk_close(w);

	o.budget = 5;
	CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
	while ((r = mmu_walk_next(w, &s, &err)) == ATW_OK)
		;
	CHECK_EQ(r, ATW_E_LIMIT);
	CHECK_EQ(mmu_walk_stats(w).tables, 5);
	mmu_walk_close(w);
	mem_free(m);
}

TEST(damage_is_told_and_passed)
{
	struct memory *m = small_machine();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	const struct mmu_walk_opts o = { .last = ATW_VA(UINT64_MAX) };
	const struct mmu_seen *s;
	struct mmu_walk *w;
	unsigned leaves = 0, damaged = 0, lost = 0;

	mem_kind(m, 0x4000, 1, ATW_NONE);
	CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
	while (mmu_walk_next(w, &s, NULL) == ATW_OK) {
		if (s->loss == ATW_LOST_DAMAGED) {
			damaged++;
			CHECK_STR(mmu_walk_error(w)->text, "page 0x4000 is broken");
			CHECK_EQ(s->va.u, 0);
			CHECK_EQ(s->size, 0x200000);
		} else if (s->loss) {
			lost++;
		} else {
			leaves += s->count;
		}
	}
	CHECK_EQ(damaged, 1);
	CHECK_EQ(lost, 1);
	CHECK_EQ(leaves, 2);
	mmu_walk_close(w);
	mem_free(m);
}

TEST(unfold_walks_repeats_after_all)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m, "x86_64-4", 0x1000);
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX), .flags = MMU_WALK_FOLD,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	uint64_t leaves = 0, folds = 0;

	mem_put64(m, 0x1000, 0x2000 | P | RW);
	mem_put64(m, 0x2000, 0x3000 | P | RW);
	for (unsigned i = 0; i < 3; i++)
		mem_put64(m, 0x3000 + 8 * i, 0x4000 | P | RW);
	mem_put64(m, 0x4000, 0x9000 | P | RW);
	CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
	while (mmu_walk_next(w, &s, NULL) == ATW_OK) {
		if (s->repeat_of) {
			folds++;
			CHECK_EQ(s->va.u, 0x200000);
			CHECK_EQ(s->size, 0x400000);
			CHECK_EQ(s->repeat_of, 0x200000);
			CHECK_EQ(s->count, 2);
			CHECK_EQ(s->pa.u, 0x4000);
			mmu_walk_unfold(w);
		} else {
			CHECK_EQ(s->va.u, leaves * 0x200000);
			leaves += s->count;
		}
	}
	CHECK_EQ(folds, 1);
	CHECK_EQ(leaves, 3);
	CHECK_EQ(mmu_walk_stats(w).folded, 0);
	mmu_walk_close(w);
	mem_free(m);
}

/* arm64: two roots, and each half has its own. */
TEST(split_halves_have_their_own_roots)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m, "arm64-4k-48", 0);
	struct mmu_seen s;

	sp.low.have = false;
	sp.high = (struct mmu_root){ ATW_PA(0x1000), true };
	mem_put64(m, 0x1ff8, 0x2003);
	mem_put64(m, 0x2ff8, 0x40000000 | 0x401);
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0xffffffffc0001234), &s, NULL), ATW_OK);
	CHECK_EQ(s.kind, ATW_LEAF);
	CHECK_EQ(s.pa.u, 0x40000000);
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x1234), &s, NULL), ATW_E_MISSING);
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x1000000000000), &s, NULL), ATW_E_USAGE);
	mem_free(m);
}
