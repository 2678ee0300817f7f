/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regions_plan.c - inputs for the regions: kernel variables, VMCOREINFO, and mappings.
 */
#include "linux/regions.h"

/* ---- known values ---- */

struct optional optional_agreed(struct optional a, struct optional b)
{
	if (a.have && b.have && a.u != b.u)
		return (struct optional){ false, 0 };
	return a.have ? a : b;
}

struct optional plan_fact(const struct plan *p, const char *key)
{
	struct optional s = { false, 0 };

	s.have = p->k->have_vi && atw_vmcoreinfo_u64(&p->k->vi, key, &s.u) == ATW_OK;
	return s;
}

struct optional plan_value(const struct plan *p, enum need_symbol i)
{
	struct optional s = { false, 0 };

	s.have = p->symbol[i] && kmem_u64(p->m, p->symbol[i], &s.u, NULL) == ATW_OK;
	return s;
}

struct optional plan_text(const struct plan *p)
{
	struct optional s = plan_fact(p, "SYMBOL(_stext)");

	return s.have || !p->symbol[Y_image_text] ? s : optional(p->symbol[Y_image_text]);
}

struct optional plan_distance(const struct plan *p, uint64_t va)
{
	struct optional s = { false, 0 };
	atw_pa pa;

	if (kmem_physical(p->m, va, &pa, NULL) == ATW_OK)
		s = optional(va - pa.u);
	return s;
}

/*
 * mem_section is an array that memblock allocates from the direct map (VMCOREINFO has its
 * value); without SPARSEMEM_EXTREME it is in the image.
 */
struct optional plan_pointer_distance(const struct plan *p, uint64_t lo, uint64_t hi)
{
	struct optional at = plan_fact(p, "SYMBOL(mem_section)");

	if (!at.have || at.u < lo || at.u > hi)
		return (struct optional){ false, 0 };
	return plan_distance(p, at.u);
}

struct optional plan_ram_end(const struct plan *p)
{
	struct optional s = plan_value(p, Y_max_pfn);

	/* Physical addresses have at most 52 bits. */
	s.have &= s.u > 0 && s.u <= (UINT64_C(1) << 52) / p->page;
	s.u *= p->page;
	return s;
}

/* SECTION_MARKED_PRESENT and SECTION_HAS_MEM_MAP; the flags above vary. */
enum { SECTION_PRESENT = 3, SECTION_FLAGS = 0xfff, ROOTS_MAX = 1 << 18 };

static struct optional regions_plan_section_in_root(const struct plan *p, uint64_t root)
{
	struct optional size = plan_fact(p, "SIZE(mem_section)");
	struct optional off = plan_fact(p, "OFFSET(mem_section.section_mem_map)");
	uint64_t v;

	if (!size.have || !off.have || size.u < 8 || size.u > 256 || off.u > size.u - 8)
		return (struct optional){ false, 0 };
	for (uint64_t at = 0; at + size.u <= p->page; at += size.u)
		if (kmem_u64(p->m, root + at + off.u, &v, NULL) == ATW_OK &&
		    (v & SECTION_PRESENT) == SECTION_PRESENT)
			return optional(v & ~(uint64_t)SECTION_FLAGS);
	return (struct optional){ false, 0 };
}

struct optional plan_sections_vmemmap(const struct plan *p)
{
	struct optional array = plan_fact(p, "SYMBOL(mem_section)");
	struct optional len = plan_fact(p, "LENGTH(mem_section)"), s;
	uint64_t root;

	if (!array.have || !len.have)
		return (struct optional){ false, 0 };
	for (uint64_t i = 0; i < len.u && i < ROOTS_MAX; i++) {
		if (kmem_u64(p->m, array.u + 8 * i, &root, NULL) < 0)
			break;
		if (!root)
			continue;
		s = regions_plan_section_in_root(p, root);
		if (s.have)
			return s;
	}
	return (struct optional){ false, 0 };
}

/* ---- mappings ---- */

static struct leaf regions_plan_leaf_of(const struct plan *p, const struct mmu_seen *s,
					uint32_t i)
{
	uint64_t each = s->size / s->count;

	return (struct leaf){ s->va.u + each * i, s->va.u + each * i + (each - 1),
			      mmu_seen_pa(p->space, s, i).u };
}

bool first_leaf(const struct plan *p, uint64_t first, uint64_t last, struct leaf *ret)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(last),
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	bool found = false;

	if (first > last || mmu_walk_open(p->space, &o, &w, NULL) < 0)
		return false;
	while (mmu_walk_next(w, &s, NULL) == ATW_OK && !s->loss)
		if (s->kind == ATW_LEAF) {
			*ret = regions_plan_leaf_of(p, s, 0);
			found = true;
			break;
		}
	mmu_walk_close(w);
	return found;
}

enum found { NOTHING, LEAF, TABLE, LOST };

/* The last entry of the tables `depth` levels down, or of those above. */
static enum found regions_plan_last_entry(const struct plan *p, uint64_t first,
					  uint64_t last, unsigned depth, struct leaf *ret)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(last),
		.want = ATW_K_ANY, .depth = depth,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	enum found found = NOTHING;

	if (mmu_walk_open(p->space, &o, &w, NULL) < 0)
		return LOST;
	while (mmu_walk_next(w, &s, NULL) == ATW_OK) {
		if (s->loss) {
			found = LOST;
		} else if (s->kind == ATW_LEAF) {
			found = LEAF;
			*ret = regions_plan_leaf_of(p, s, s->count - 1);
		} else if (s->kind == ATW_TABLE) {
			/* Above the limit, and a table without entries in range. */
			found = s->depth == depth ? TABLE : NOTHING;
			*ret = (struct leaf){ s->va.u, s->va.u + (s->size - 1), s->pa.u };
		}
	}
	mmu_walk_close(w);
	return found;
}

/*
 * Descends along the last entries: one table per level, while a walk over a direct map of
 * small pages would read thousands. Empty tables remain in the kernel's half; if one is
 * found, the entry before it is tried.
 */
bool last_leaf(const struct plan *p, uint64_t first, uint64_t last, struct leaf *ret)
{
	unsigned depth = 1;
	uint64_t lo = first;

	for (unsigned tries = 0; tries < 4096 && first <= last; tries++) {
		struct leaf e = { lo, last, 0 };

		switch (regions_plan_last_entry(p, lo, last, depth, &e)) {
		case LEAF:
			*ret = e;
			return true;
		case TABLE:
			if (e.first > lo)
				lo = e.first;
			depth++;
			break;
		case NOTHING:
			if (depth == 1 || lo <= first)
				return false;
			last = lo - 1;
			lo = first;
			depth = 1;
			break;
		case LOST:
			return false;
		}
	}
	return false;
}
