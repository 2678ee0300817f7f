/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups, one by one and many at once, agree with translations, for any mode and any
 * words. The tables here are random, but lean towards words that lead on to one another.
 * Some of the memory is missing, excluded or damaged.
 */
#include "walk/walk.h"

#include "memory.h"
#include "random.h"
#include "source/mapped.h"
#include "test.h"

enum {
	TABLES = 64, ADDRESSES = 10000, BLOCK_MAX = 300,
	LOST = 50, EXCLUDED = 42, DAMAGED = 52, SECOND = 32,     /* pages */
	PREFIXES = 256,
};

/* How a source gives its bytes. */
enum access { LENT, MAPPED, READ, ACCESSES };

static ssize_t mem_peek(struct atw_source *s, atw_pa pa, size_t len,
			const void **ret, struct atw_err *err)
{
	struct memory *m = (struct memory *)s;
	uint64_t base = pa.u & ~(uint64_t)(MEM_PAGE - 1);
	size_t i = mem_find(m, base);

	(void)err;
	if (i == m->n || m->page[i]->pa != base || m->page[i]->kind != ATW_DATA)
		return 0;
	*ret = m->page[i]->bytes + (pa.u - base);
	return (ssize_t)(len < MEM_PAGE - (pa.u - base) ? len : MEM_PAGE - (pa.u - base));
}

/* The same memory as a file of two banks, the second one first, at odd offsets. */
struct lookup_file {
	struct mapped m;
	struct atw_source s;
	unsigned char bytes[TABLES * MEM_PAGE + 3];
};

static void file_add(struct lookup_file *f, struct memory *m, unsigned from, unsigned to,
		     size_t off)
{
	for (unsigned i = from; i < to; i++)
		memcpy(f->bytes + off + (size_t)(i - from) * MEM_PAGE,
		       mem_at(m, (uint64_t)i * MEM_PAGE)->bytes, MEM_PAGE);
	if (extents_add(&f->m.map, (uint64_t)from * MEM_PAGE, (uint64_t)(to - from) * MEM_PAGE,
			off, ATW_DATA, NULL) < 0)
		abort();
}

static struct lookup_file *file_new(struct memory *m)
{
	static const struct atw_source_ops ops = { .name = "file", MAPPED_OPS, .fact = mem_fact };
	struct lookup_file *f = calloc(1, sizeof(*f));

	f->s = (struct atw_source){ .ops = &ops, .impl = &f->m };
	f->m.file.map = (struct atw_blob){ f->bytes, sizeof(f->bytes) };
	f->m.holes_sought = true;
	file_add(f, m, SECOND, EXCLUDED, 3);
	file_add(f, m, EXCLUDED + 1, LOST, 3 + (size_t)(EXCLUDED - SECOND) * MEM_PAGE);
	file_add(f, m, LOST + 1, TABLES, 3 + (size_t)(LOST - SECOND) * MEM_PAGE);
	file_add(f, m, 0, SECOND, 3 + (size_t)(TABLES - SECOND) * MEM_PAGE);
	if (extents_add(&f->m.map, (uint64_t)EXCLUDED * MEM_PAGE, MEM_PAGE, 0, ATW_EXCLUDED,
			NULL) < 0 || extents_build(&f->m.map, NULL) < 0)
		abort();
	return f;
}

/* A word that some rule of the mode asks for, pointing at low memory. */
static uint64_t word(const struct atw_paging *pg)
{
	const struct atw_rule *r = pg->rules;
	uint64_t w = random_any(), address = 0,
		 target = random_any() % (TABLES * MEM_PAGE);
	unsigned n = 0;

	if (random_any() % 8 == 0)
		return w;
	for (n = 0; r[n].mask; n++)
		;
	r += n ? random_any() % n : 0;
	for (unsigned i = 0; i < 4 && pg->addr[i].hi; i++) {
		const struct atw_bits *b = &pg->addr[i];
		uint64_t bits = (UINT64_MAX >> (63 - b->hi)) & (UINT64_MAX << b->lo);

		if (b->mask)
			continue;
		address |= target >> b->to << b->lo & bits;
		w &= ~bits;
	}
	w |= address;
	if (random_any() % 4)                   /* few other bits */
		w &= address | r->mask | (random_any() & random_any() & random_any());
	return (w & ~r->mask) | r->value;
}

static uint64_t looked_up, leaves, states[8];

/* All of it is what mmu_translate() returns. */
static void same_place(const struct mmu_space *sp, atw_va va, const struct mmu_place *p)
{
	struct mmu_seen s;
	int r = mmu_translate(sp, va, &s, NULL);

	looked_up++;
	CHECK_EQ(p->status, r);
	if (r < 0) {
		CHECK_EQ(p->pa.u | p->size | p->kind | p->level | p->loss | p->rights, 0);
		return;
	}
	CHECK_EQ(p->kind, s.kind);
	CHECK_EQ(p->loss, s.loss);
	CHECK_EQ(p->level, s.level);
	CHECK_EQ(p->size, s.size);
	CHECK_EQ(p->rights, s.rights);
	CHECK_EQ(p->pa.u, s.kind == ATW_LEAF && !s.loss ? s.pa.u + (va.u - s.va.u) : 0);
	leaves += p->kind == ATW_LEAF && !p->loss;
	states[p->loss ? p->loss : 0]++;
}

/* Of known regions mostly, so that what is kept of their upper levels is used. */
static atw_va same_address(const struct atw_paging *pg, uint64_t prefix[PREFIXES])
{
	unsigned above = pg->level[1].shift;
	uint64_t low = random_any() & (((uint64_t)1 << above) - 1), *p;

	if (random_any() % 64 == 0)
		return ATW_VA(random_any());
	p = &prefix[random_any() % PREFIXES];
	if (!*p || random_any() % 8 == 0)
		*p = atw_va_canonical(pg, random_any(), random_any() & 1).u >> above;
	return ATW_VA(*p << above | low);
}

static void same_many(const struct mmu_space *sp, struct mmu_lookup *one,
		      struct mmu_lookup *many, uint64_t prefix[PREFIXES])
{
	static struct mmu_brief brief[BLOCK_MAX];
	static atw_va va[BLOCK_MAX];
	static atw_pa pa[BLOCK_MAX];
	size_t n = random_any() % BLOCK_MAX;

	for (size_t i = 0; i < n; i++)
		va[i] = same_address(&sp->paging, prefix);
	memset(brief, 0xee, sizeof(brief));
	mmu_lookup_many(many, va, n, pa, brief);
	for (size_t i = 0; i < n; i++) {
		struct mmu_place p;

		CHECK_EQ(mmu_lookup(one, va[i], &p, NULL), p.status);
		same_place(sp, va[i], &p);
		CHECK_EQ(pa[i].u, p.pa.u);
		CHECK_EQ(brief[i].kind, p.kind);
		CHECK_EQ(brief[i].loss, p.loss);
		CHECK_EQ(brief[i].level, p.level);
		CHECK_EQ(brief[i].status, p.status);
	}
	for (size_t i = n; i < BLOCK_MAX; i++)
		CHECK_EQ(brief[i].kind, 0xee);
}

static void same(const struct atw_paging *pg, enum access access)
{
	static uint64_t prefix[PREFIXES];
	static struct atw_source_ops ops;
	struct memory *m = mem_new();
	struct mmu_space sp = {
		.mem = &m->s, .paging = *pg, .low = { ATW_PA(0), true },
		.high = { ATW_PA(0x10000), random_any() % 4 != 0 },
	};
	struct mmu_lookup *one, *many, *mixed;
	struct lookup_file *f = NULL;

	memset(prefix, 0, sizeof(prefix));
	ops = mem_ops;
	if (access == LENT)
		ops.peek = mem_peek;
	m->s.ops = &ops;
	for (uint64_t pa = 0; pa < TABLES * MEM_PAGE; pa += pg->word_size) {
		uint64_t w = word(pg);

		if (pa / MEM_PAGE != LOST)
			mem_put(m, pa, &w, pg->word_size);
	}
	mem_kind(m, EXCLUDED * MEM_PAGE, MEM_PAGE, ATW_EXCLUDED);
	mem_kind(m, DAMAGED * MEM_PAGE, MEM_PAGE, ATW_NONE);
	if (access == MAPPED) {
		f = file_new(m);
		sp.mem = &f->s;
	}
	CHECK_EQ(mmu_lookup_open(&sp, &one, NULL), ATW_OK);
	CHECK_EQ(mmu_lookup_open(&sp, &many, NULL), ATW_OK);
	CHECK_EQ(mmu_lookup_open(&sp, &mixed, NULL), ATW_OK);
	for (unsigned i = 0; i < ADDRESSES / BLOCK_MAX; i++) {
		same_many(&sp, one, many, prefix);
		same_many(&sp, mixed, mixed, prefix);
	}
	mmu_lookup_close(one);
	mmu_lookup_close(many);
	mmu_lookup_close(mixed);
	if (f)
		extents_deinit(&f->m.map);
	free(f);
	mem_free(m);
}

TEST(lookups_agree_with_translations)
{
	static const char *const ext[] = { NULL, "lpa2", "thead", "svrsw60t59b", "cbit=51" };
	const struct atw_paging *pg;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++)
		for (unsigned k = 0; k < sizeof(ext) / sizeof(ext[0]) * ACCESSES; k++) {
			struct atw_paging copy = *pg;
			const char *x = ext[k / ACCESSES];

			if (x && atw_paging_extend(&copy, x, NULL) < 0)
				continue;
			same(&copy, k % ACCESSES);
			if (test_failures) {
				fprintf(stderr, "%s %s, access %u\n", copy.name, x ? x : "",
					k % ACCESSES);
				return;
			}
		}
	printf("note - %" PRIu64 " addresses, %" PRIu64 " of them mapped\n",
	       looked_up, leaves);
	CHECK(leaves > looked_up / 20);
	CHECK(states[ATW_LOST] > 100);
	CHECK(states[ATW_LOST_EXCLUDED] > 100);
	CHECK(states[ATW_LOST_DAMAGED] > 100);
}

/* Tables that change between two lookups, as those of a running machine. */
TEST(lookups_of_live_tables_are_never_kept)
{
	static struct atw_source_ops ops;
	struct memory *m = mem_new();
	struct mmu_space sp = {
		.mem = &m->s, .paging = *atw_paging_find("x86_64-4"), .low = { ATW_PA(0x1000), true },
	};
	struct mmu_lookup *l;
	struct mmu_brief brief;
	struct mmu_place p;
	atw_va va = ATW_VA(0x123);
	atw_pa pa;

	ops = mem_ops;
	ops.peek = mem_peek;
	ops.live = true;
	m->s.ops = &ops;
	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x3000, 0x4003);
	mem_put64(m, 0x4000, 0x7003);
	mem_put64(m, 0x5000, 0x8001);
	CHECK_EQ(mmu_lookup_open(&sp, &l, NULL), ATW_OK);
	CHECK_EQ(mmu_lookup(l, va, &p, NULL), ATW_OK);
	CHECK_EQ(p.pa.u, 0x7123);
	mem_put64(m, 0x3000, 0x5003);
	CHECK_EQ(mmu_lookup(l, va, &p, NULL), ATW_OK);
	CHECK_EQ(p.pa.u, 0x8123);
	CHECK(!(p.rights & ATW_KW));
	mem_put64(m, 0x3000, 0);
	mmu_lookup_many(l, &va, 1, &pa, &brief);
	CHECK_EQ(pa.u, 0);
	CHECK_EQ(brief.kind, ATW_ABSENT);
	CHECK_EQ(brief.level, 1);
	mmu_lookup_close(l);
	mem_free(m);
}

TEST(addresses_that_are_none)
{
	struct memory *m = mem_new();
	struct mmu_space sp = {
		.mem = &m->s, .paging = *atw_paging_find("arm64-4k-48"),
		.high = { ATW_PA(0), true },
	};
	struct mmu_lookup *l;
	struct mmu_place p;

	CHECK_EQ(mmu_lookup_open(&sp, &l, NULL), ATW_OK);
	CHECK_EQ(mmu_lookup(l, ATW_VA(0x1000), &p, NULL), ATW_E_MISSING);
	CHECK_EQ(mmu_lookup(l, ATW_VA(0x8000000000000000), &p, NULL), ATW_E_USAGE);
	CHECK_EQ(mmu_lookup(l, ATW_VA(0xffff000000000000), &p, NULL), ATW_OK);
	CHECK_EQ(p.loss, ATW_LOST);
	mmu_lookup_close(l);
	mem_free(m);
}
