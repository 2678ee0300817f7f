/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables of many address spaces are read in few batches; each space is reported
 * once, and tables that changed meanwhile are detected.
 */
#include "walk/sweep.h"

#include "memory.h"
#include "target/look.h"
#include "test.h"

#define P 3u
#define PS (1u << 7)

/* A running machine: a word changes after a number of reads of a page. */
struct machine {
	struct memory m;         /* comes first, see memory.h */
	uint64_t watch, after, pa, word;
	uint64_t reads, many;    /* reads, and the batches they came in */
};

static ssize_t machine_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			    struct atw_err *err)
{
	struct machine *k = (struct machine *)s;
	ssize_t got = mem_read(s, pa, buf, len, err);

	k->reads++;
	if (k->watch && (pa.u & ~UINT64_C(0xfff)) == k->watch && !--k->after) {
		mem_put64(&k->m, k->pa, k->word);
		k->watch = 0;
	}
	return got;
}

static void machine_read_many(struct atw_source *s, struct atw_piece *p, size_t n,
			      struct atw_err *err)
{
	((struct machine *)s)->many++;
	for (size_t i = 0; i < n; i++)
		p[i].got = p[i].len ? machine_read(s, p[i].pa, p[i].buf, p[i].len, err) : 0;
}

static const struct atw_source_ops machine_ops = {
	.name = "machine", .help = "runs",
	.close = mem_close, .read = machine_read, .extent = mem_extent, .fact = mem_fact,
	.live = true, .read_many = machine_read_many,
};

enum { SPACES = 5 };

/*
 * Space i: root 0x1i000, PUD 0x2i000, PMD 0x3i000, lowest tables 0x4i000 and 0x5i000. Of
 * the first two pages, the second is shared by all; slot 7 of the PMD is a large page.
 */
static struct machine *machine(struct mmu_space sp[SPACES])
{
	struct machine *k = calloc(1, sizeof(*k));
	struct memory *m = &k->m;

	m->s.ops = &machine_ops;
	for (uint64_t i = 0; i < SPACES; i++) {
		uint64_t at = i << 12;

		mem_put64(m, 0x10000 + at, (0x20000 + at) | P);
		mem_put64(m, 0x20000 + at, (0x30000 + at) | P);
		mem_put64(m, 0x30000 + at, (0x40000 + at) | P);
		mem_put64(m, 0x30008 + at, (0x50000 + at) | P);
		mem_put64(m, 0x30038 + at, 0x40000000 | P | PS);
		mem_put64(m, 0x40000 + at, (0x100000 + at) | P);
		mem_put64(m, 0x40008 + at, 0x200000 | P);
		mem_put64(m, 0x40010 + at, 0x201000 | P);
		mem_put64(m, 0x50ff8 + at, (0x300000 + at) | P | 1u << 9);
		mem_put64(m, 0x60000 + at, 0x400000 | P);
		sp[i] = (struct mmu_space){
			.mem = &m->s, .paging = *atw_paging_find("x86_64-4"),
			.low = { ATW_PA(0x10000 + at), true },
		};
	}
	return k;
}

static void end(struct machine *k)
{
	mem_close(&k->m.s);
	free(k);
}

struct events {
	char text[4096];
	size_t n;
};

static int on_table(void *arg, const struct sweep_seen *s, struct atw_err *err)
{
	struct events *t = arg;

	(void)err;
	t->n += (size_t)snprintf(t->text + t->n, sizeof(t->text) - t->n, "%zu:%u@%" PRIx64 "+%u ",
				 s->space, s->level, s->va, s->n);
	return ATW_OK;
}

static int on_done(void *arg, size_t space, bool moved, struct atw_err *err)
{
	struct events *t = arg;

	(void)err;
	t->n += (size_t)snprintf(t->text + t->n, sizeof(t->text) - t->n, "%zu %s; ", space,
				 moved ? "moved" : "held");
	return ATW_OK;
}

static struct events sweep(const struct mmu_space *sp, size_t n)
{
	const struct mmu_space *v[SPACES];
	struct events t = { .n = 0 };
	const struct sweep_to to = { on_table, on_done, &t };

	for (size_t i = 0; i < n; i++)
		v[i] = &sp[i];
	if (sweep_spaces(v, n, &to, NULL) != ATW_OK)
		abort();
	return t;
}

TEST(spaces_are_reported_one_after_the_other)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	struct events t = sweep(sp, 2);

	CHECK_STR(t.text, "0:0@0+512 0:0@200000+512 0:3@0+256 0:2@0+512 0:1@0+512 0 held; "
			  "1:0@0+512 1:0@200000+512 1:3@0+256 1:2@0+512 1:1@0+512 1 held; ");
	end(k);
}

/* One batch per level, and one for all lowest tables with the entries above them. */
TEST(batches_do_not_grow_with_spaces)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);

	sweep(sp, 1);
	CHECK_EQ(k->many, 4);
	k->many = k->reads = 0;
	sweep(sp, SPACES);
	CHECK_EQ(k->many, 4);
	/* 3 upper tables, 2 lowest ones, 3 entries read again, each. */
	CHECK_EQ(k->reads, SPACES * 8);
	end(k);
}

TEST(a_changed_entry_marks_the_space_as_moved)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	struct events t;

	/* The PMD entry changes after its table was read. */
	k->watch = 0x42000;
	k->after = 1;
	k->pa = 0x32000;
	k->word = 0x62000 | P;
	t = sweep(sp, SPACES);
	CHECK(strstr(t.text, "1 held; 2 moved; 3:0@0+512"));
	CHECK(strstr(t.text, "4 held; "));
	end(k);
}

TEST(a_changed_guard_marks_the_space_as_moved)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	struct events t;

	mem_put64(&k->m, 0x70000, 1);
	mem_put64(&k->m, 0x70008, 1);
	for (size_t i = 0; i < 2; i++)
		sp[i].guard[0] = (struct mmu_guard){ ATW_PA(0x70000 + 8 * i), UINT64_MAX, 0, 8, true };
	k->watch = 0x40000;
	k->after = 1;
	k->pa = 0x70000;
	k->word = 0;
	t = sweep(sp, 2);
	CHECK(strstr(t.text, "0 moved; ") == t.text);
	CHECK(strstr(t.text, "1 held; "));
	end(k);
}

/* ---- runs and counts ---- */

static struct look look(const struct mmu_space *sp, size_t n, struct counts *counts)
{
	const struct mmu_space *v[SPACES];
	struct atw_soft_abi soft = atw_soft_abi_for(&sp[0].paging, "6.12.0");
	const struct look_opts o = {
		.space = v, .n = n, .soft = &soft, .special = 1u << 9, .most = 1000,
	};
	struct look l = { 0 };

	for (size_t i = 0; i < n; i++)
		v[i] = &sp[i];
	if (look_at_spaces(&l, &o, counts, NULL) != ATW_OK)
		abort();
	return l;
}

static void text_of(const struct look *l, size_t space, char *buf, size_t len)
{
	const struct look_space *s = &l->space[space];
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = s->first; i < s->first + s->n; i++)
		n += (size_t)snprintf(buf + n, len - n, "%" PRIx64 "x%u/%u ", look_pfn(l->run[i]),
				      look_times(l->run[i]), look_class(l->run[i]));
}

TEST(pages_are_kept_as_runs_and_counted)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	struct counts counts = { 0 };
	struct look l;
	char text[256];

	mem_put64(&k->m, 0x41018, UINT64_C(0x0ffffffffffff000));     /* on swap */
	CHECK(counts_make_dense(&counts, 0x300, true));
	l = look(sp, SPACES, &counts);
	CHECK(l.keep);
	text_of(&l, 0, text, sizeof(text));
	CHECK_STR(text, "100x1/0 200x2/0 300x1/63 40000x1/9 ");
	text_of(&l, 1, text, sizeof(text));
	CHECK_STR(text, "101x1/0 200x2/0 301x1/63 40000x1/9 ");
	CHECK_EQ(l.space[0].swapped, 0);
	CHECK_EQ(l.space[1].swapped, 1);
	CHECK_EQ(counts_get(&counts, 0x100), 1);
	CHECK_EQ(counts_get(&counts, 0x200), SPACES);
	CHECK_EQ(counts_get(&counts, 0x304), 1);         /* above the dense counts */
	CHECK_EQ(counts_get(&counts, 0x40123), SPACES);
	look_deinit(&l);
	counts_deinit(&counts);
	end(k);
}

/* A space that moved is walked again, and its first results are dropped. */
TEST(a_space_that_moved_is_walked_again)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	struct counts counts = { 0 };
	struct look l;
	char text[256];

	k->watch = 0x42000;
	k->after = 1;
	k->pa = 0x32000;
	k->word = 0x62000 | P;
	l = look(sp, SPACES, &counts);
	text_of(&l, 2, text, sizeof(text));
	CHECK_STR(text, "400x1/0 302x1/63 40000x1/9 ");
	CHECK_EQ(counts_get(&counts, 0x102), 0);
	CHECK_EQ(counts_get(&counts, 0x200), SPACES - 1);
	CHECK_EQ(counts_get(&counts, 0x40000), SPACES);
	look_deinit(&l);
	counts_deinit(&counts);
	end(k);
}

TEST(too_many_runs_are_not_kept)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	const struct mmu_space *v[SPACES] = { &sp[0], NULL, &sp[2] };
	struct atw_soft_abi soft = atw_soft_abi_for(&sp[0].paging, "6.12.0");
	const struct look_opts o = { .space = v, .n = 3, .soft = &soft, .special = 1u << 9, .most = 7 };
	struct counts counts = { 0 };
	struct look l = { 0 };

	CHECK_EQ(look_at_spaces(&l, &o, &counts, NULL), ATW_OK);
	CHECK(!l.keep);
	CHECK(l.space[1].shared);
	CHECK_EQ(counts_get(&counts, 0x100), 1);
	CHECK_EQ(counts_get(&counts, 0x101), 0);
	CHECK_EQ(counts_get(&counts, 0x200), 2);
	look_deinit(&l);
	counts_deinit(&counts);
	end(k);
}

/* ---- frames with one mapping ---- */

enum { FRAMES = 0x1800, HIST = 64 };

/* Number of pages of a space by the mapcount of their frames. */
static void histogram(struct look *l, struct counts *c, size_t space, uint64_t *ret)
{
	const struct look_space *s = &l->space[space];

	memset(ret, 0, HIST * sizeof(*ret));
	ret[1] += l->soles.pages[space];
	for (size_t i = l->soles.first[space]; i < l->soles.first[space + 1]; i++) {
		CHECK_EQ(l->soles.former[i].space, space);
		ret[soles_get(&l->soles, c, l->soles.former[i].pfn)]++;
	}
	for (size_t i = s->first; i < s->first + s->n; i++) {
		uint64_t n = (uint64_t)look_times(l->run[i]) << look_order(l->run[i]);

		for (uint64_t k = 0; k < n; k++)
			ret[soles_get(&l->soles, c, look_pfn(l->run[i]) + k)]++;
	}
}

/* Few frames, so that all kinds of mappings share them; some lie above `soles`. */
static void fill_tables(struct machine *k, uint64_t seed, uint32_t mapped[SPACES][FRAMES])
{
	for (uint64_t i = 0; i < SPACES; i++)
		for (uint64_t e = 0; e < 1024; e++) {
			uint64_t r = (seed = seed * UINT64_C(6364136223846793005) + 1) >> 33;
			uint64_t pfn = r % 8 ? r / 8 % 0x400 : 0x200 + i * 0x10 + e % 8;
			uint64_t at = (e < 512 ? 0x40000 : 0x50000) + (i << 12) + e % 512 * 8;
			bool maps = r / 65536 % 4 && e % 64 > 8;
			uint64_t special = r / 524288 % 16 ? 0 : 1u << 9;

			pfn += e >= 768 ? 0x1000 : 0;
			mem_put64(&k->m, at, maps ? pfn << 12 | P | special : 0);
			mapped[i][pfn] += maps;
		}
	/* One large page is mapped by two spaces. */
	for (uint64_t i = 1; i < 3; i++) {
		mem_put64(&k->m, 0x30038 + (i << 12), 0x200000 | P | PS);
		for (uint64_t pfn = 0x200; pfn < 0x400; pfn++)
			mapped[i][pfn]++;
	}
	for (uint64_t i = 0; i < SPACES; i++)
		if (i != 1 && i != 2)
			mem_put64(&k->m, 0x30038 + (i << 12), 0);
}

TEST(soles_agree_with_counts)
{
	for (uint64_t seed = 1; seed < 40; seed++) {
		static uint32_t mapped[SPACES][FRAMES];
		struct mmu_space sp[SPACES];
		struct machine *k = machine(sp);
		const struct mmu_space *v[SPACES];
		struct atw_soft_abi soft = atw_soft_abi_for(&sp[0].paging, "6.12.0");
		const struct look_opts o = {
			.space = v, .n = SPACES, .soft = &soft, .special = 1u << 9, .most = 10000,
			.soles = 0x900,
		};
		struct counts counts = { 0 };
		struct look l = { 0 };

		memset(mapped, 0, sizeof(mapped));
		fill_tables(k, seed, mapped);
		for (size_t i = 0; i < SPACES; i++)
			v[i] = &sp[i];
		CHECK(counts_make_dense(&counts, 0x700, false));
		CHECK_EQ(look_at_spaces(&l, &o, &counts, NULL), ATW_OK);
		for (size_t i = 0; i < SPACES; i++) {
			uint64_t want[HIST] = { 0 }, got[HIST];

			for (size_t pfn = 0; pfn < FRAMES; pfn++) {
				uint64_t refs = 0;

				for (size_t j = 0; j < SPACES; j++)
					refs += mapped[j][pfn];
				want[refs] += mapped[i][pfn];
			}
			histogram(&l, &counts, i, got);
			for (size_t n = 0; n < HIST; n++)
				CHECK_EQ(got[n], want[n]);
			CHECK(l.soles.pages[i] > 0);
		}
		/* The same as counts, for lookups by frame. */
		CHECK(soles_count(&l.soles, &counts));
		for (size_t pfn = 0; pfn < FRAMES; pfn++) {
			uint64_t refs = 0;

			for (size_t j = 0; j < SPACES; j++)
				refs += mapped[j][pfn];
			CHECK_EQ(counts_get(&counts, pfn), refs);
		}
		look_deinit(&l);
		counts_deinit(&counts);
		end(k);
	}
}

TEST(soles_of_a_space_that_moved_are_dropped)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	const struct mmu_space *v[SPACES];
	struct atw_soft_abi soft = atw_soft_abi_for(&sp[0].paging, "6.12.0");
	const struct look_opts o = {
		.space = v, .n = SPACES, .soft = &soft, .special = 1u << 9, .most = 1000,
		.soles = 0x1000,
	};
	struct counts counts = { 0 };
	struct look l = { 0 };
	char text[256];

	for (size_t i = 0; i < SPACES; i++)
		v[i] = &sp[i];
	k->watch = 0x42000;
	k->after = 1;
	k->pa = 0x32000;
	k->word = 0x62000 | P;
	CHECK_EQ(look_at_spaces(&l, &o, &counts, NULL), ATW_OK);
	/* The exclusive page of a space that moved is listed like any other. */
	text_of(&l, 2, text, sizeof(text));
	CHECK_STR(text, "400x1/0 302x1/63 40000x1/9 ");
	CHECK_EQ(l.soles.pages[2], 0);
	CHECK_EQ(l.soles.space[0x102], 0);
	text_of(&l, 3, text, sizeof(text));
	CHECK_STR(text, "303x1/63 40000x1/9 200x2/0 ");
	CHECK_EQ(l.soles.pages[3], 1);
	/* The space that mapped a frame first has no run for it. */
	text_of(&l, 0, text, sizeof(text));
	CHECK_STR(text, "300x1/63 40000x1/9 ");
	CHECK_EQ(l.soles.pages[0], 1);
	CHECK_EQ(l.soles.first[1] - l.soles.first[0], 2);
	CHECK_EQ(soles_get(&l.soles, &counts, 0x200), SPACES - 1);
	look_deinit(&l);
	counts_deinit(&counts);
	end(k);
}

static const struct atw_soft_abi *sure(const void *arg)
{
	++**(unsigned *const *)arg;
	return NULL;
}

/* The kernel's configuration is determined only for words that depend on it. */
TEST(the_configuration_is_used_only_where_needed)
{
	struct mmu_space sp[SPACES];
	struct machine *k = machine(sp);
	const struct mmu_space *v[1] = { &sp[0] };
	struct atw_soft_abi soft = atw_soft_abi_for(&sp[0].paging, "6.12.0");
	unsigned times = 0, *arg = &times;
	const struct look_opts o = {
		.space = v, .n = 1, .soft = &soft, .sure = sure, .sure_arg = &arg, .most = 1000,
	};
	const struct {
		uint64_t word;
		unsigned times;
		bool odd;
	} words[] = {
		{ 0, 0, false },
		{ UINT64_C(0x0ffffffffffff000), 0, false },      /* of swap file 1 */
		{ UINT64_C(0xeffffffffffff000), 1, true },       /* of type 29: no file */
	};
	struct counts counts = { 0 };
	struct look l = { 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		times = 0;
		mem_put64(&k->m, 0x40018, words[i].word);
		CHECK_EQ(look_at_spaces(&l, &o, &counts, NULL), ATW_OK);
		CHECK_EQ(times, words[i].times);
		CHECK_EQ(l.space[0].odd, words[i].odd);
	}
	look_deinit(&l);
	counts_deinit(&counts);
	end(k);
}
