/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A look-up agrees with a translation, for any mode and any words. The tables here are
 * random, but lean towards words that lead on to one another.
 */
#include "walk/walk.h"

#include "memory.h"
#include "random.h"
#include "test.h"

enum { TABLES = 64, ADDRESSES = 20000 };

/* Lent, so that the short way is taken. */
static ssize_t mem_peek(struct atw_source *s, atw_pa pa, size_t len,
			const void **ret, struct atw_err *err)
{
	struct memory *m = (struct memory *)s;
	uint64_t base = pa.u & ~(uint64_t)(MEM_PAGE - 1);
	size_t i = mem_find(m, base);

	(void)err;
	if (i == m->n || m->page[i]->pa != base)
		return 0;
	*ret = m->page[i]->bytes + (pa.u - base);
	return (ssize_t)(len < MEM_PAGE - (pa.u - base) ? len : MEM_PAGE - (pa.u - base));
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

static uint64_t looked_up, leaves;

static void same(const struct atw_paging *pg)
{
	static struct atw_source_ops ops;
	struct memory *m = mem_new();
	struct mmu_space sp = {
		.mem = &m->s, .paging = *pg,
		.low = { ATW_PA(0), true }, .high = { ATW_PA(0x10000), true },
	};
	struct mmu_lookup *l;

	ops = mem_ops;
	ops.peek = mem_peek;
	m->s.ops = &ops;
	for (uint64_t pa = 0; pa < TABLES * MEM_PAGE; pa += pg->word_size) {
		uint64_t w = word(pg);

		mem_put(m, pa, &w, pg->word_size);
	}
	CHECK_EQ(mmu_lookup_open(&sp, &l, NULL), ATW_OK);
	for (unsigned i = 0; i < ADDRESSES; i++) {
		atw_va va = atw_va_canonical(pg, random_any(), random_any() & 1);
		struct mmu_place p = { 0 };
		struct mmu_seen s;
		int r = mmu_translate(&sp, va, &s, NULL);

		looked_up++;
		CHECK_EQ(mmu_lookup(l, va, &p, NULL), r);
		if (r < 0)
			continue;
		CHECK_EQ(p.kind, s.kind);
		CHECK_EQ(p.loss, s.loss);
		CHECK_EQ(p.level, s.level);
		CHECK_EQ(p.size, s.size);
		CHECK_EQ(p.rights, s.rights);
		CHECK_EQ(p.pa.u, s.kind == ATW_LEAF && !s.loss
				 ? s.pa.u + (va.u - s.va.u) : 0);
		leaves += p.kind == ATW_LEAF && !p.loss;
	}
	mmu_lookup_close(l);
	mem_free(m);
}

TEST(lookup_says_what_translate_says)
{
	static const char *const ext[] = { NULL, "lpa2", "thead", "svrsw60t59b", "cbit=51" };
	const struct atw_paging *pg;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++)
		for (unsigned k = 0; k < sizeof(ext) / sizeof(ext[0]); k++) {
			struct atw_paging copy = *pg;

			if (ext[k] && atw_paging_extend(&copy, ext[k], NULL) < 0)
				continue;
			same(&copy);
			if (test_failures) {
				fprintf(stderr, "%s %s\n", copy.name, ext[k] ? ext[k] : "");
				return;
			}
		}
	printf("note - %" PRIu64 " addresses, %" PRIu64 " of them mapped\n",
	       looked_up, leaves);
	CHECK(leaves > looked_up / 20);
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
