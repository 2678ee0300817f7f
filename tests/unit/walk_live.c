/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables that change while they are walked are read again, and reported as unstable in
 * the end.
 */
#include "walk/walk.h"

#include "base/bytes.h"
#include "memory.h"
#include "test.h"
#include "walk/space.h"

#define P 1u
#define RW 2u
#define PS (1u << 7)

/* A machine that runs on between two reads. */
struct change {
	uint64_t after;          /* so many reads of `watch` */
	uint64_t watch;          /* a page */
	uint64_t pa, word;
	bool again;              /* each time, the word one page further */
	uint32_t more;           /* words that follow become the same */
	bool along;              /* each time, the word that follows */
};

struct machine {
	struct memory m;         /* comes first, see memory.h */
	struct change change[4];
	uint64_t seen[4];
};

static ssize_t machine_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			    struct atw_err *err)
{
	struct machine *k = (struct machine *)s;
	ssize_t got = mem_read(s, pa, buf, len, err);

	for (size_t i = 0; i < 4; i++) {
		struct change *c = &k->change[i];

		if (!c->watch || (pa.u & ~UINT64_C(0xfff)) != c->watch ||
		    ++k->seen[i] < c->after || (!c->again && !c->along && k->seen[i] > c->after))
			continue;
		for (uint32_t w = 0; w <= c->more; w++)
			mem_put64(&k->m, c->pa + 8 * w, c->word);
		if (c->again)
			c->word += 0x1000;
		if (c->along)
			c->pa += 8;
	}
	return got;
}

static const struct atw_source_ops machine_ops = {
	.name = "machine", .help = "runs",
	.close = mem_close, .read = machine_read, .extent = mem_extent, .fact = mem_fact,
	.live = true,
};

/*
 * Root 0x1000, PUD table 0x2000, PMD table 0x3000 with leaf tables 0x4000 and
 * 0x5000 in its first two slots, 0x8000 in the last; and what may come in place
 * of them: PMD table 0x6000, leaf table 0x7000.
 */
static struct machine *machine(void)
{
	struct machine *k = calloc(1, sizeof(*k));
	struct memory *m = &k->m;

	m->s.ops = &machine_ops;
	mem_put64(m, 0x1000, 0x2000 | P | RW);
	mem_put64(m, 0x2000, 0x3000 | P | RW);
	mem_put64(m, 0x3000, 0x4000 | P | RW);
	mem_put64(m, 0x3008, 0x5000 | P | RW);
	mem_put64(m, 0x3ff8, 0x8000 | P | RW);
	mem_put64(m, 0x4000, 0x10000 | P | RW);
	mem_put64(m, 0x5000, 0x11000 | P | RW);
	mem_put64(m, 0x6000, 0x4000 | P | RW);
	mem_put64(m, 0x6008, 0x7000 | P | RW);
	mem_put64(m, 0x7000, 0x12000 | P | RW);
	mem_put64(m, 0x8000, 0x13000 | P | RW);
	return k;
}

/* After so many reads of `watch`. */
static void once(struct machine *k, unsigned i, uint64_t after, uint64_t watch, uint64_t pa,
		 uint64_t word)
{
	k->change[i] = (struct change){ .after = after, .watch = watch, .pa = pa, .word = word };
}

static void each_time(struct machine *k, unsigned i, uint64_t after, uint64_t watch, uint64_t pa,
		      uint64_t word)
{
	once(k, i, after, watch, pa, word);
	k->change[i].again = true;
}

static struct mmu_space space(struct machine *k)
{
	return (struct mmu_space){
		.mem = &k->m.s, .paging = *atw_paging_find("x86_64-4"),
		.low = { ATW_PA(0x1000), true },
	};
}

static void end(struct machine *k)
{
	mem_close(&k->m.s);
	free(k);
}

struct log {
	char text[65536];        /* "va pa" of leaves, "va+size reason" of losses */
	struct mmu_walk_stats stats;
	struct atw_err err;
	bool ordered;
	int r;
};

static struct log look(const struct mmu_space *sp, uint32_t want)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(0x7fffffffffff), .want = want,
	};
	struct log g = { .ordered = true };
	const struct mmu_seen *s;
	struct mmu_walk *w = NULL;
	uint64_t next = 0;
	size_t n = 0;

	g.r = mmu_walk_open(sp, &o, &w, &g.err);
	while (g.r == ATW_OK && (g.r = mmu_walk_next(w, &s, &g.err)) == ATW_OK) {
		bool table = s->kind == ATW_TABLE && !s->loss;

		g.ordered &= s->va.u >= next;
		if (!table)
			next = s->va.u + s->size;
		if (s->loss)
			n += (size_t)snprintf(g.text + n, sizeof(g.text) - n, "%" PRIx64 "+%" PRIx64 " loss %u; ",
					      s->va.u, s->size, s->loss);
		else if (s->kind != ATW_ABSENT || want & ATW_K(ATW_TABLE))
			n += (size_t)snprintf(g.text + n, sizeof(g.text) - n, "%" PRIx64 "%s%" PRIx64 "; ",
					      s->va.u, table ? "=" : " ", s->pa.u);
		else
			n += (size_t)snprintf(g.text + n, sizeof(g.text) - n, "%" PRIx64 "+%" PRIx64 "; ",
					      s->va.u, s->size);
	}
	g.stats = w ? mmu_walk_stats(w) : (struct mmu_walk_stats){ 0 };
	mmu_walk_close(w);
	return g;
}

TEST(what_holds_still_is_walked_once)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g = look(&sp, 0);

	CHECK_EQ(g.r, ATW_END);
	CHECK_STR(g.text, "0 10000; 200000 11000; 3fe00000 13000; ");
	CHECK_EQ(g.stats.tables, 6);
	CHECK_EQ(g.stats.changed, 0);
	/*
	 * Tables: 1 + 1 + 1 + 3 in one go; entries that lead there: none for the
	 * root, 1 for the PUD table, 2, 3.
	 */
	CHECK_EQ(k->m.reads, 6 + 1 + 2 + 3);
	end(k);
}

TEST(accessed_bits_are_no_change)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	once(k, 0, 1, 0x4000, 0x3000, 0x4000 | P | RW | 1u << 5);
	g = look(&sp, 0);
	CHECK_STR(g.text, "0 10000; 200000 11000; 3fe00000 13000; ");
	CHECK_EQ(g.stats.changed, 0);
	end(k);
}

TEST(a_leaf_table_that_was_replaced_is_read_again)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	/* The second one changes while the first is read: 0x5000 is no table any more. */
	once(k, 0, 1, 0x4000, 0x3008, 0x7000 | P | RW);
	g = look(&sp, 0);
	CHECK_EQ(g.r, ATW_END);
	CHECK_STR(g.text, "0 10000; 200000 12000; 3fe00000 13000; ");
	CHECK_EQ(g.stats.changed, 1);
	CHECK_EQ(g.stats.lost, 0);
	end(k);
}

TEST(the_first_one_as_well)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	once(k, 0, 1, 0x4000, 0x3000, 0x7000 | P | RW);
	g = look(&sp, ATW_K(ATW_LEAF) | ATW_K(ATW_TABLE));
	CHECK_EQ(g.r, ATW_END);
	/* A table that was returned is returned again. */
	CHECK_STR(g.text, "0=2000; 0=3000; 0=4000; 0=7000; 0 12000; "
			  "200000=5000; 200000 11000; 3fe00000=8000; 3fe00000 13000; ");
	CHECK_EQ(g.stats.changed, 1);
	end(k);
}

TEST(a_leaf_table_that_became_a_large_page)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	once(k, 0, 1, 0x5000, 0x3008, 0xa00000 | P | RW | PS);
	g = look(&sp, 0);
	CHECK_STR(g.text, "0 10000; 200000 a00000; 3fe00000 13000; ");
	mem_put64(&k->m, 0x3008, 0x5000 | P | RW);
	once(k, 0, 1, 0x4000, 0x3008, 0);
	k->seen[0] = 0;
	g = look(&sp, 0);
	CHECK_STR(g.text, "0 10000; 3fe00000 13000; ");
	end(k);
}

TEST(many_tables_that_are_unmapped_at_once)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	for (uint64_t i = 2; i < 40; i++)
		mem_put64(&k->m, 0x3000 + 8 * i, 0x5000 | P | RW);
	k->change[0] = (struct change){ .after = 1, .watch = 0x4000, .pa = 0x3008, .more = 38 };
	g = look(&sp, 0);
	CHECK_EQ(g.r, ATW_END);
	CHECK_STR(g.text, "0 10000; 3fe00000 13000; ");
	CHECK_EQ(g.stats.changed, 39);
	end(k);
}

/* Each of them while it is read: none of them takes the attempts of the next. */
TEST(many_tables_that_are_unmapped_one_after_another)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	for (uint64_t i = 2; i < 40; i++)
		mem_put64(&k->m, 0x3000 + 8 * i, 0x5000 | P | RW);
	k->change[0] = (struct change){ .after = 1, .watch = 0x3000, .pa = 0x3000, .along = true };
	g = look(&sp, 0);
	CHECK_EQ(g.r, ATW_END);
	CHECK_STR(g.text, "3fe00000 13000; ");
	CHECK_EQ(g.stats.changed, 40);
	end(k);
}

/* Of the PMD table, when its first two slots are done. */
static struct log change_above(uint64_t word, uint32_t want)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	/* Slots in between are taken, so that the last is not read ahead. */
	for (uint64_t i = 2; i < 500; i++) {
		mem_put64(&k->m, 0x3000 + 8 * i, (0x100000 + 0x1000 * i) | P | RW);
		mem_put64(&k->m, 0x100000 + 0x1000 * i, 0);
	}
	once(k, 0, 1, 0x8000, 0x2000, word);
	g = look(&sp, want);
	end(k);
	return g;
}

TEST(an_upper_table_that_was_replaced)
{
	/* The new one has nothing in the last slot, and what was before is done. */
	struct log g = change_above(0x6000 | P | RW, 0);

	CHECK_EQ(g.r, ATW_END);
	CHECK(g.ordered);
	CHECK_STR(g.text, "0 10000; 200000 11000; ");
	CHECK_EQ(g.stats.changed, 1);
}

TEST(an_upper_table_that_was_taken_out)
{
	struct log g = change_above(0, ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT));
	const char *rest = strstr(g.text, "3e");

	CHECK_EQ(g.r, ATW_END);
	CHECK(g.ordered);
	CHECK_EQ(strncmp(g.text, "0 10000; 1000+1ff000; 200000 11000; 201000+1ff000; ", 50), 0);
	/* The tables of one go are read anew, and nothing is there any more. */
	CHECK(rest && strstr(rest, "; 40000000+7fc0000000; 8000000000+7f8000000000; "));
	CHECK_EQ(g.stats.lost, 0);
}

TEST(a_part_of_a_large_page_is_no_answer)
{
	struct log g = change_above(0x40000000 | P | RW | PS, 0);

	CHECK_EQ(g.r, ATW_END);
	CHECK(g.ordered);
	CHECK(strstr(g.text, "0 10000; 200000 11000; "));
	CHECK(strstr(g.text, " loss 4; "));
	CHECK_EQ(g.stats.lost, 1);
}

TEST(what_never_holds_still_is_given_up)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	each_time(k, 0, 1, 0x5000, 0x3008, 0x20000 | P | RW);
	for (uint64_t pa = 0x20000; pa < 0x60000; pa += 0x1000)
		mem_put64(&k->m, pa, 0x14000 | P);
	/* The tables that come next do the same. */
	each_time(k, 1, 2, 0x3000, 0x3008, 0x30000 | P | RW);
	g = look(&sp, 0);
	CHECK_EQ(g.r, ATW_END);
	CHECK(g.ordered);
	CHECK_STR(g.text, "0 10000; 200000+200000 loss 4; 3fe00000 13000; ");
	CHECK(g.stats.changed > 8);
	end(k);
}

TEST(a_process_that_ends_ends_the_walk)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct log g;

	/* mm_users and pgd, of an mm_struct at 0x9000. */
	mem_put64(&k->m, 0x9000, 1);
	mem_put64(&k->m, 0x9010, 0xffff888000001000);
	sp.guard[0] = (struct mmu_guard){ ATW_PA(0x9000), UINT32_MAX, 0, 4, true };
	sp.guard[1] = (struct mmu_guard){ ATW_PA(0x9010), UINT64_MAX, 0xffff888000001000, 8, false };
	g = look(&sp, 0);
	CHECK_EQ(g.r, ATW_END);
	CHECK_STR(g.text, "0 10000; 200000 11000; 3fe00000 13000; ");

	once(k, 0, 1, 0x4000, 0x9000, 0);
	g = look(&sp, 0);
	CHECK_EQ(g.r, ATW_E_LIMIT);
	CHECK_STR(g.text, "");
	CHECK_STR(g.err.text, "the process ended while its page tables were read");

	/* Another process has the mm_struct by now. */
	mem_put64(&k->m, 0x9000, 2);
	once(k, 0, 1, 0x1000, 0x9010, 0xffff888000777000);
	k->seen[0] = 0;
	g = look(&sp, 0);
	CHECK_EQ(g.r, ATW_E_LIMIT);
	CHECK_STR(g.text, "");
	end(k);
}

TEST(one_address_is_looked_at_again_as_well)
{
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	struct mmu_seen s;

	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x200123), &s, NULL), ATW_OK);
	CHECK_EQ(s.pa.u, 0x11000);
	once(k, 0, 1, 0x5000, 0x2000, 0x6000 | P | RW);
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x200123), &s, NULL), ATW_OK);
	CHECK_EQ(s.loss, ATW_HAVE);
	CHECK_EQ(s.pa.u, 0x12000);
	CHECK_EQ(s.path[1].word, 0x6000 | P | RW);

	each_time(k, 0, 1, 0x7000, 0x6008, 0x20000 | P | RW);
	for (uint64_t pa = 0x20000; pa < 0x60000; pa += 0x1000)
		mem_put64(&k->m, pa, 0x14000 | P);
	each_time(k, 1, 2, 0x6000, 0x6008, 0x30000 | P | RW);
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x200123), &s, NULL), ATW_OK);
	CHECK_EQ(s.loss, ATW_LOST_UNSTABLE);
	CHECK_EQ(s.va.u, 0x200000);
	CHECK_EQ(s.size, 0x1000);
	end(k);
}

/* An entry of a piece, and the way to it, in one read. */
static void has_at_hand(const struct mmu_walk *w, unsigned i, uint64_t va, uint32_t n,
			struct mmu_words *ret)
{
	CHECK(mmu_walk_at_hand(w, i, ret));
	CHECK_EQ(ret->va.u, va);
	CHECK_EQ(ret->n, n);
}

/* The rest of its table, and tables that were read with it, no further than was asked. */
TEST(what_was_read_and_not_returned_yet)
{
	struct machine *k = machine();
	const struct mmu_space sp = space(k);
	const struct mmu_walk_opts o = { .last = ATW_VA(0x202fff) };
	const struct mmu_seen *s;
	struct mmu_words words;
	struct mmu_walk *w = NULL;

	CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
	CHECK(!mmu_walk_at_hand(w, 0, &words));
	CHECK_EQ(mmu_walk_next(w, &s, NULL), ATW_OK);
	CHECK_EQ(s->va.u, 0);
	has_at_hand(w, 0, 0x1000, 511, &words);
	has_at_hand(w, 1, 0x200000, 3, &words);
	CHECK_EQ(get_le64(words.words), 0x11000 | P | RW);
	CHECK(!mmu_walk_at_hand(w, 2, &words));
	CHECK_EQ(mmu_walk_next(w, &s, NULL), ATW_OK);
	CHECK_EQ(s->va.u, 0x200000);
	has_at_hand(w, 0, 0x201000, 2, &words);
	CHECK(!mmu_walk_at_hand(w, 1, &words));
	CHECK_EQ(mmu_walk_next(w, &s, NULL), ATW_END);
	CHECK(!mmu_walk_at_hand(w, 0, &words));
	mmu_walk_close(w);
	end(k);
}

TEST(a_piece_that_still_leads_there)
{
	const struct mmu_walk_opts o = { .last = ATW_VA(0x7fffffffffff) };
	struct machine *k = machine();
	struct mmu_space sp = space(k);
	const struct mmu_seen *s = NULL;
	struct mmu_walk *w = NULL;

	mem_put64(&k->m, 0x4008, 0x15000 | P | RW);
	CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
	CHECK_EQ(mmu_walk_next(w, &s, NULL), ATW_OK);
	CHECK_EQ(s->count, 2);
	CHECK(space_still_leads(&sp, s, 0));
	CHECK(space_still_leads(&sp, s, 1));
	CHECK(!space_still_leads(&sp, s, 2));
	/* Another table with the same entries, and an entry that changed. */
	mem_put64(&k->m, 0x6000, 0x10000 | P | RW);
	mem_put64(&k->m, 0x3000, 0x6000 | P | RW);
	CHECK(!space_still_leads(&sp, s, 0));
	mem_put64(&k->m, 0x3000, 0x4000 | P | RW | 0x20);
	CHECK(space_still_leads(&sp, s, 1));
	mem_put64(&k->m, 0x4008, 0x16000 | P | RW);
	CHECK(space_still_leads(&sp, s, 0));
	CHECK(!space_still_leads(&sp, s, 1));
	mmu_walk_close(w);
	end(k);
}
