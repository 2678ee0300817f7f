// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paging_tables.c - checks the tables of every paging mode, and of every mode
 * with every extension it takes, for the slips that tables invite: an address
 * bit twice or not at all, a word without a kind, two flags with one letter.
 */
#include "paging/entry.h"
#include "random.h"
#include "test.h"

static uint64_t checks;          /* how many facts were looked at */
static struct atw_paging variant[128];
static unsigned nvariants;

#define FACT(pg, cond, ...) do { \
	checks++; \
	if (!(cond)) { \
		fprintf(stderr, "%s: ", (pg)->name); TEST_FAIL(__VA_ARGS__); \
		return; \
	} \
} while (0)

static void fill_variants(void)
{
	static const char *const ext[] = {
		"lpa2", "thead", "svrsw60t59b", "cbit=47", "cbit=51",
	};
	const struct atw_paging *pg;

	if (nvariants)
		return;
	for (size_t i = 0; (pg = atw_paging_at(i)); i++) {
		variant[nvariants++] = *pg;
		for (unsigned k = 0; k < sizeof(ext) / sizeof(ext[0]); k++) {
			variant[nvariants] = *pg;
			if (!atw_paging_extend(&variant[nvariants], ext[k], NULL))
				nvariants++;
		}
	}
}

static void for_each(void (*fn)(const struct atw_paging *pg))
{
	fill_variants();
	for (unsigned i = 0; i < nvariants && !test_failures; i++)
		fn(&variant[i]);
}

/* A word that is likely to be a leaf or a table: few bits, or a rule's own. */
static uint64_t likely_word(const struct atw_paging *pg)
{
	uint64_t w = random_any(), pick = random_any();
	const struct atw_rule *r = pg->rules;

	if (pick & 1)
		w &= random_any();
	if (pick & 2)
		w &= random_any();
	if (pick & 4)
		w &= ~(0xfffull << 52);
	if (pick & 8)                   /* aligned as large pages are */
		w &= ~0ull << (pick >> 8 & 63) | 0x3ff;
	for (unsigned n = pick >> 4 & 15; n; n--)
		if (r->levels != ATW_L_ALL || r->mask || r->nonzero)
			r++;
	w = (w & ~r->mask) | r->value;
	return pg->word_size == 4 ? w & 0xffffffff : w;
}

/* ---- shape ---- */

TEST(modes_are_those_of_the_interface)
{
	static const char *const want[] = {
		"x86_64-4", "x86_64-5",
		"arm64-4k-39", "arm64-4k-42", "arm64-4k-48", "arm64-4k-52",
		"arm64-16k-36", "arm64-16k-47", "arm64-16k-48", "arm64-16k-52",
		"arm64-64k-42", "arm64-64k-48", "arm64-64k-52",
		"riscv64-sv39", "riscv64-sv48", "riscv64-sv57",
		"i386", "i386-pae", "arm", "arm-lpae", "riscv32-sv32",
		"ept-4", "ept-5", "npt-4", "npt-5",
		"arm64-s2-4k-32", "arm64-s2-4k-36", "arm64-s2-4k-40",
		"arm64-s2-4k-42", "arm64-s2-4k-44", "arm64-s2-4k-48",
		"arm64-s2-4k-52",
		"arm64-s2-16k-40", "arm64-s2-16k-48", "arm64-s2-16k-52",
		"arm64-s2-64k-40", "arm64-s2-64k-48", "arm64-s2-64k-52",
		"riscv64-sv39x4", "riscv64-sv48x4", "riscv64-sv57x4",
	};
	size_t n = sizeof(want) / sizeof(want[0]);

	for (size_t i = 0; i < n; i++) {
		CHECK(atw_paging_at(i));
		CHECK_STR(atw_paging_at(i)->name, want[i]);
		CHECK(atw_paging_find(want[i]) == atw_paging_at(i));
		checks += 3;
	}
	CHECK(!atw_paging_at(SIZE_MAX));
	CHECK(!atw_paging_find("x86_64"));
	CHECK(!atw_paging_find(""));
}

static void shape(const struct atw_paging *pg)
{
	unsigned at = pg->page_shift;

	FACT(pg, pg->nlevels >= 2 && pg->nlevels <= ATW_MAX_LEVELS, "levels");
	FACT(pg, pg->word_size == 4 || pg->word_size == 8, "word size");
	FACT(pg, pg->help && *pg->help, "no help");
	FACT(pg, !pg->ignore || pg->family == ATW_X86, "ignored bits");
	for (unsigned l = 0; l < pg->nlevels; l++) {
		const struct atw_level *lv = &pg->level[l];

		FACT(pg, lv->shift == at, "level %u starts at bit %u", l, lv->shift);
		FACT(pg, lv->bits, "level %u has no bits", l);
		FACT(pg, lv->name && strlen(lv->name) == 3, "level %u: name", l);
		for (unsigned k = 0; k < l; k++)
			FACT(pg, strcmp(lv->name, pg->level[k].name),
			     "two levels are named %s", lv->name);
		/* a table below the root is no larger than a page */
		FACT(pg, l == pg->nlevels - 1u ||
		     atw_table_bytes(pg, l) <= 1ull << pg->page_shift,
		     "a table of level %u is larger than a page", l);
		at += lv->bits;
	}
	FACT(pg, at == pg->va_bits, "the levels translate %u bits", at);
	FACT(pg, !strcmp(pg->level[0].name, "PTE"), "level 0 is not the PTE");
	FACT(pg, !strcmp(pg->level[pg->nlevels - 1].name, "PGD"), "no PGD");
	FACT(pg, !pg->level[pg->nlevels].name || pg->nlevels == ATW_MAX_LEVELS,
	     "more levels than nlevels");
}

TEST(levels_chain_up_to_the_va)
{
	for_each(shape);
}

/* ---- address ---- */

/* The pieces that hold for a word of which `cond` is the only condition met. */
static void cover(const struct atw_paging *pg, const struct atw_bits *cond)
{
	unsigned to[64] = { 0 }, from[64] = { 0 };

	for (unsigned i = 0; i < 4; i++) {
		const struct atw_bits *b = &pg->addr[i];

		if (!b->hi)
			continue;
		if (b->mask && (b->mask != cond->mask || b->value != cond->value))
			continue;
		FACT(pg, b->hi >= b->lo && b->hi < pg->word_size * 8, "piece %u", i);
		FACT(pg, b->to >= b->lo, "piece %u moves down", i);
		FACT(pg, b->to + b->hi - b->lo < pg->pa_bits, "piece %u: too high", i);
		for (unsigned k = b->lo; k <= b->hi; k++) {
			/* below a large leaf's size the bits are free again */
			from[k] += !b->mask;
			to[b->to + k - b->lo]++;
		}
	}
	for (unsigned k = 0; k < 64; k++)
		FACT(pg, from[k] <= 1, "entry bit %u is read twice", k);
	for (unsigned k = pg->page_shift; k < pg->pa_bits; k++)
		FACT(pg, to[k] == 1 || (!cond->mask && !to[k] && k >= 32),
		     "address bit %u is covered %u times", k, to[k]);
	for (unsigned k = pg->pa_bits; k < 64; k++)
		FACT(pg, !to[k], "address bit %u does not exist", k);
}

static void address(const struct atw_paging *pg)
{
	const struct atw_bits none = { 0 };
	bool gap = false, conditions = false;

	cover(pg, &none);
	for (unsigned i = 0; i < 4; i++) {
		const struct atw_bits *b = &pg->addr[i];

		FACT(pg, !b->hi || !gap, "an unused piece before piece %u", i);
		FACT(pg, !(b->value & ~b->mask), "piece %u can never hold", i);
		gap |= !b->hi;
		if (!b->mask)
			continue;
		conditions = true;
		cover(pg, b);
	}
	/* Without conditions, nothing may be left out. */
	if (conditions)
		return;
	for (unsigned k = pg->page_shift; k < pg->pa_bits; k++) {
		unsigned n = 0;

		for (unsigned i = 0; i < 4 && pg->addr[i].hi; i++) {
			const struct atw_bits *b = &pg->addr[i];
			unsigned top = b->to + (unsigned)(b->hi - b->lo);

			n += k >= b->to && k <= top;
		}
		FACT(pg, n == 1, "address bit %u is covered %u times", k, n);
	}
}

TEST(every_address_bit_is_covered_once)
{
	for_each(address);
}

/* The same from outside: each entry bit moves the address as the table says. */
static void address_moves(const struct atw_paging *pg)
{
	for (unsigned i = 0; i < 4 && pg->addr[i].hi; i++) {
		const struct atw_bits *b = &pg->addr[i];

		for (unsigned k = b->lo; k <= b->hi && !b->mask; k++) {
			uint64_t pa = 1ull << (b->to + k - b->lo), w = 1ull << k;
			uint64_t want = w & pg->ignore ? 0 : pa;

			FACT(pg, entry_addr(pg, 1, ATW_TABLE, w).u == want,
			     "table: bit %u", k);
			if (pa >> pg->page_shift == 0)
				want = 0;
			if (!entry_replaces(pg, 0, w))
				FACT(pg, entry_addr(pg, 0, ATW_LEAF, w).u == want,
				     "page: bit %u", k);
		}
	}
	FACT(pg, !entry_addr(pg, 0, ATW_TABLE, 0).u, "zero points somewhere");
}

TEST(every_entry_bit_moves_the_address_it_carries)
{
	for_each(address_moves);
}

/* The pieces of a level, worked out once, say what the tables say of a word. */
static void pieces(const struct atw_paging *pg)
{
	for (unsigned i = 0; i < 4000; i++) {
		unsigned l = random_any() % pg->nlevels;
		enum atw_kind kind = i & 1 && l ? ATW_TABLE : ATW_LEAF;
		const struct entry_pieces e = entry_pieces(pg, l, kind);
		uint64_t w = likely_word(pg), pa = 0, want;
		bool replaces = kind == ATW_LEAF && entry_replaces(pg, l, w);

		if (entry_kind(pg, l, w) != kind)
			continue;
		for (unsigned k = 0; k < e.n; k++) {
			FACT(pg, e.piece[k].mask, "level %u: an empty piece", l);
			pa |= (w & e.piece[k].mask) << e.piece[k].left;
		}
		want = entry_addr(pg, l, kind, w).u;
		FACT(pg, !replaces || entry_may_replace(pg, l),
		     "level %u: 0x%" PRIx64 " replaces, against all rules", l, w);
		if (!replaces && !e.more)
			FACT(pg, pa == want, "level %u: the pieces of 0x%" PRIx64
			     " are 0x%" PRIx64 ", not 0x%" PRIx64, l, w, pa, want);
		else
			FACT(pg, e.more || !(want & ~pa), "level %u: 0x%" PRIx64
			     " says more than its pieces", l, w);
	}
}

TEST(pieces_say_what_the_tables_say)
{
	for_each(pieces);
}

/* ---- rules ---- */

static void rules(const struct atw_paging *pg)
{
	const struct atw_rule *r = pg->rules;
	unsigned kinds = 0;

	for (; r->levels != ATW_L_ALL || r->mask || r->nonzero; r++) {
		FACT(pg, !(r->value & ~r->mask), "a rule that never holds");
		FACT(pg, r->levels && !(r->levels & ~ATW_L_ALL), "a rule's levels");
		FACT(pg, pg->word_size == 8 || !((r->mask | r->nonzero) >> 32),
		     "a rule about bits that are not there");
		FACT(pg, !(r->nonzero & r->mask & ~r->value),
		     "a rule asks for bits that it wants zero");
	}
	FACT(pg, !r->value, "the last rule does not match all");
	for (unsigned l = 0; l < pg->nlevels; l++) {
		unsigned here = 0;

		for (unsigned i = 0; i < 20000; i++) {
			uint64_t w = i & 1 ? random_any() : likely_word(pg);
			enum atw_kind k = entry_kind(pg, l, w);

			FACT(pg, k <= ATW_BAD, "0x%" PRIx64 " has no kind", w);
			FACT(pg, l || k != ATW_TABLE, "a table below the pages");
			here |= ATW_K(k);
		}
		FACT(pg, here & ATW_K(ATW_ABSENT), "level %u: never absent", l);
		FACT(pg, here & (l ? ATW_K(ATW_TABLE) : ATW_K(ATW_LEAF)),
		     "level %u leads nowhere", l);
		FACT(pg, entry_kind(pg, l, 0) == ATW_ABSENT, "zero is there");
		kinds |= here;
	}
	FACT(pg, kinds & ATW_K(ATW_LEAF), "no leaves");
}

TEST(every_word_has_a_kind)
{
	for_each(rules);
}

/* ---- rights ---- */

static void rights(const struct atw_paging *pg)
{
	bool leaves = false;

	for (const struct atw_right_rule *r = pg->rights; r->clear; r++) {
		FACT(pg, !(r->value & ~r->mask), "a right rule that never holds");
		FACT(pg, r->kinds & ATW_K_ANY, "a right rule of no kind");
		FACT(pg, r->levels && !(r->clear & ~ATW_RIGHTS_ALL), "right rule");
		leaves |= r->kinds & LEAVES_FROM_HERE;
		FACT(pg, !leaves || !(r->kinds & K_TABLE),
		     "a rule about tables below those about leaves only");
	}
	for (unsigned i = 0; i < 20000; i++) {
		unsigned l = random_any() % pg->nlevels,
			 above = random_any() & ATW_RIGHTS_ALL;
		uint64_t w = likely_word(pg);
		enum atw_kind k = entry_kind(pg, l, w);
		unsigned left = entry_rights(pg, l, k, w, above);

		FACT(pg, !(left & ~above), "0x%" PRIx64 " adds rights", w);
		FACT(pg, k == ATW_LEAF || k == ATW_TABLE || left == above,
		     "0x%" PRIx64 " is no entry and takes rights", w);
	}
}

TEST(rights_only_go_away)
{
	for_each(rights);
}

/* ---- flags ---- */

static bool name_ok(const char *s)
{
	return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(s);
}

static void flags(const struct atw_paging *pg)
{
	unsigned n = 0;

	for (; pg->flags[n].letter; n++) {
		const struct atw_flag *f = &pg->flags[n];

		FACT(pg, n < 64, "more than 64 flags");
		FACT(pg, name_ok(f->name), "flag name \"%s\"", f->name);
		FACT(pg, f->help && *f->help, "%s has no help", f->name);
		FACT(pg, !(f->value & ~f->mask) && f->mask, "%s never holds", f->name);
		FACT(pg, f->levels & ((1u << pg->nlevels) - 1), "%s: levels", f->name);
		FACT(pg, f->kinds && !(f->kinds & ~ATW_K_ANY), "%s: kinds", f->name);
		FACT(pg, f->letter > ' ' && f->letter < 127, "%s: letter", f->name);
		FACT(pg, pg->word_size == 8 || !(f->mask >> 32), "%s: bits", f->name);
		for (unsigned i = 0; i < n; i++) {
			const struct atw_flag *g = &pg->flags[i];

			if (!(f->levels & g->levels) || !(f->kinds & g->kinds))
				continue;
			/* small and large Arm pages share a level, not a type */
			if (f->mask & g->mask & (f->value ^ g->value) &&
			    !strcmp(f->name, g->name))
				continue;
			FACT(pg, f->letter != g->letter, "%s and %s are both %c",
			     f->name, g->name, f->letter);
			FACT(pg, strcmp(f->name, g->name), "two are named %s", f->name);
		}
		/* one name is one letter all over the mode */
		for (unsigned i = 0; i < n; i++)
			FACT(pg, strcmp(f->name, pg->flags[i].name) ||
			     f->letter == pg->flags[i].letter,
			     "%s has two letters", f->name);
	}
	FACT(pg, n > 5, "hardly any flags");
}

TEST(flags_have_one_letter_and_a_usable_name)
{
	for_each(flags);
}

/* ---- spans ---- */

static void spans(const struct atw_paging *pg)
{
	for (const struct atw_span_rule *s = pg->spans; s && s->shift; s++) {
		FACT(pg, !(s->value & ~s->mask) && s->mask, "a span never holds");
		for (unsigned l = 0; l < pg->nlevels; l++) {
			const struct atw_level *lv = &pg->level[l];

			if (!(s->levels & ATW_L(l)))
				continue;
			FACT(pg, s->shift > lv->shift, "a span of one slot");
			FACT(pg, s->shift <= lv->shift + lv->bits,
			     "a run larger than its table at level %u", l);
		}
	}
	for (unsigned i = 0; i < 20000; i++) {
		unsigned l = random_any() % pg->nlevels;
		uint64_t w = likely_word(pg), pa;
		unsigned span = atw_entry_span(pg, l, w);

		if (entry_kind(pg, l, w) != ATW_LEAF)
			continue;
		pa = entry_addr(pg, l, ATW_LEAF, w).u;
		if (!entry_replaces(pg, l, w))
			span = pg->level[l].shift;
		FACT(pg, !(pa & ((1ull << span) - 1)), "0x%" PRIx64 " is odd", w);
		FACT(pg, !(pa >> pg->pa_bits), "0x%" PRIx64 ": too many bits", w);
	}
}

TEST(spans_fit_into_their_table)
{
	for_each(spans);
}

/* ---- atw_leaf_attrs ---- */

/* All that an entry says but for where it points. */
static bool same(const struct atw_paging *pg, unsigned l, uint64_t a, uint64_t b)
{
	return entry_kind(pg, l, a) == entry_kind(pg, l, b) &&
	       atw_entry_flags(pg, l, ATW_LEAF, a) ==
	       atw_entry_flags(pg, l, ATW_LEAF, b) &&
	       entry_rights(pg, l, ATW_LEAF, a, ATW_RIGHTS_ALL) ==
	       entry_rights(pg, l, ATW_LEAF, b, ATW_RIGHTS_ALL) &&
	       atw_entry_span(pg, l, a) == atw_entry_span(pg, l, b) &&
	       entry_replaces(pg, l, a) == entry_replaces(pg, l, b);
}

static void attrs(const struct atw_paging *pg)
{
	for (unsigned l = 0; l < pg->nlevels; l++) {
		uint64_t mask = atw_leaf_attrs(pg, l), seen = 0;
		unsigned bits = pg->word_size * 8, leaves = 0;

		for (unsigned i = 0; i < 30000; i++) {
			uint64_t w = likely_word(pg), v;

			if (entry_kind(pg, l, w) != ATW_LEAF)
				continue;
			leaves++;
			v = (w & mask) | (random_any() & ~mask);
			FACT(pg, same(pg, l, w, v),
			     "level %u: 0x%" PRIx64 " and 0x%" PRIx64 " differ in "
			     "more than address", l, w, v);
			for (unsigned k = 0; k < bits; k++)
				if (!(seen >> k & 1) && !same(pg, l, w, w ^ 1ull << k))
					seen |= 1ull << k;
		}
		if (leaves)
			FACT(pg, seen == mask, "level %u: mask 0x%" PRIx64
			     ", but 0x%" PRIx64 " decide", l, mask, seen);
	}
}

TEST(leaf_attrs_are_exact)
{
	for_each(attrs);
}

/* A bit of one leaf is address or attribute, never both. */
static void either(const struct atw_paging *pg)
{
	for (unsigned i = 0; i < 60000; i++) {
		unsigned l = random_any() % pg->nlevels,
			 k = random_any() % (pg->word_size * 8);
		uint64_t w = likely_word(pg), v = w ^ 1ull << k;

		if (entry_kind(pg, l, w) != ATW_LEAF ||
		    entry_addr(pg, l, ATW_LEAF, w).u ==
		    entry_addr(pg, l, ATW_LEAF, v).u)
			continue;
		/* what makes a run also says where the address lies */
		if (entry_kind(pg, l, v) != ATW_LEAF ||
		    atw_entry_span(pg, l, w) != atw_entry_span(pg, l, v))
			continue;
		FACT(pg, same(pg, l, w, v), "level %u: bit %u of 0x%" PRIx64
		     " is address and attribute", l, k, w);
	}
}

TEST(a_bit_is_address_or_attribute)
{
	for_each(either);
}

TEST(summary)
{
	printf("checked %" PRIu64 " facts of %u modes, extended ones included\n",
	       checks, nvariants);
	CHECK(nvariants > 30);
	CHECK(checks > 1000000);
}
