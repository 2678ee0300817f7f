/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ram_proof.c - proof of a layout of a guest's RAM that was guessed.
 *
 * VMCOREINFO leads to mem_section[], which marks the sections of memory that are online, and to
 * the description of each NUMA node, which lies in that node's memory and has its number. Both
 * are read by the layout, so a wrong one disagrees with them. No symbols or types are needed;
 * a kernel without these keys decides nothing.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "linux/machine.h"

/* SECTION_MARKED_PRESENT, SECTION_HAS_MEM_MAP and SECTION_IS_ONLINE: not of a device's memory. */
enum { SECTION_ONLINE = 7, PAGE = 4096, NODES = 1024 };

struct ram_proof {
	struct atw_kernel *k;
	struct kmem *m;
	uint64_t above;          /* memory from there on is not part of the layout */
	uint64_t text;           /* physical address of the kernel's text */
	bool text_is_online;
};

static bool proof_number(const struct ram_proof *p, const char *key, uint64_t *ret)
{
	return atw_vmcoreinfo_u64(&p->k->vi, key, ret) == ATW_OK;
}

/* Has the layout any memory there? */
static bool proof_is_ram(const struct ram_proof *p, uint64_t start, uint64_t len)
{
	struct atw_extent e;

	return atw_extent_at(p->k->mem, ATW_PA(start), &e) == ATW_OK &&
	       (e.kind != ATW_NONE || e.len < len);
}

static int proof_no_ram(uint64_t at, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_DAMAGED,
			   "the kernel has memory at 0x%" PRIx64 ", and the layout has none there", at);
}

/* ---- sections ---- */

struct sections {
	uint64_t at, roots, size, map_at, bits;
	uint64_t per_root;
};

/* SPARSEMEM_EXTREME, as all of these architectures have it: pointers to pages of sections. */
static bool proof_find_sections(const struct ram_proof *p, struct sections *ret)
{
	struct sections s = { .bits = p->k->own.paging.family == ATW_X86 ? 27 : 0 };

	/* memmap.c has the history of the last one. */
	proof_number(p, "NUMBER(SECTION_SIZE_BITS)", &s.bits);
	if (!proof_number(p, "SYMBOL(mem_section)", &s.at) ||
	    !proof_number(p, "LENGTH(mem_section)", &s.roots) ||
	    !proof_number(p, "SIZE(mem_section)", &s.size) ||
	    !proof_number(p, "OFFSET(mem_section.section_mem_map)", &s.map_at) ||
	    s.bits < 20 || s.bits > 40 || s.size < 8 || s.size > 256 || s.map_at > s.size - 8)
		return false;
	s.per_root = ((uint64_t)1 << p->k->own.paging.page_shift) / s.size;
	*ret = s;
	return true;
}

static int proof_section(struct ram_proof *p, const struct sections *s, uint64_t nr,
			 struct atw_err *err)
{
	uint64_t start = nr << s->bits, len = (uint64_t)1 << s->bits;

	if (nr >> (64 - s->bits) || (start < p->above && !proof_is_ram(p, start, len)))
		return proof_no_ram(start, err);
	p->text_is_online |= p->text >> s->bits == nr;
	return ATW_OK;
}

/* The sections of a page of them. */
static int proof_root(struct ram_proof *p, const struct sections *s, uint64_t root, uint64_t nr,
		      struct atw_err *err)
{
	uint64_t whole = s->per_root * s->size;
	_auto_free unsigned char *page = malloc(whole);
	int r = page ? kmem_read(p->m, root, page, whole, err) : atw_err_nomem(err);

	for (uint64_t i = 0; i < s->per_root && r == ATW_OK; i++)
		if ((get_le64(page + i * s->size + s->map_at) & SECTION_ONLINE) == SECTION_ONLINE)
			r = proof_section(p, s, nr + i, err);
	return r;
}

static int proof_sections(struct ram_proof *p, struct atw_err *err)
{
	unsigned char roots[PAGE];
	struct sections s;
	int r;

	if (!proof_find_sections(p, &s))
		return ATW_OK;
	/* Of pages of 4 KiB, those of 16 TiB. */
	s.roots = MIN(s.roots, (uint64_t)PAGE / 8);
	r = kmem_read(p->m, s.at, roots, s.roots * 8, err);
	for (uint64_t i = 0; i < s.roots && r == ATW_OK; i++) {
		uint64_t root = get_le64(roots + 8 * i);

		/* The sections themselves: a kernel built without EXTREME. */
		if ((root & 3) == 3)
			return ATW_OK;
		if (root)
			r = proof_root(p, &s, root, i * s.per_root, err);
	}
	if (r == ATW_OK && !p->text_is_online)
		r = atw_err_set(err, ATW_E_DAMAGED,
				"the kernel's own text at 0x%" PRIx64 " is in no section of its memory",
				p->text);
	return r;
}

/* ---- nodes ---- */

static int proof_node(struct ram_proof *p, uint64_t pgdat, uint32_t id, const uint64_t at[3],
		      struct atw_err *err)
{
	unsigned shift = p->k->own.paging.page_shift;
	uint64_t start = 0, pages = 0;
	uint32_t number = 0;
	int r = kmem_u64(p->m, pgdat + at[0], &start, err) ?:
		kmem_u64(p->m, pgdat + at[1], &pages, err) ?:
		kmem_u32(p->m, pgdat + at[2], &number, err);

	if (r < 0)
		return atw_err_wrap(err, "NUMA node %" PRIu32, id);
	if (number != id)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the description of NUMA node %" PRIu32 " is that of no node, or of %" PRIu32,
				   id, number);
	start <<= shift;
	return !pages || start >= p->above || proof_is_ram(p, start, pages << shift)
		       ? ATW_OK : proof_no_ram(start, err);
}

static int proof_nodes(struct ram_proof *p, struct atw_err *err)
{
	uint64_t data, len, online, at[3], pgdat, word = 0;
	int r = ATW_OK;

	if (!proof_number(p, "SYMBOL(node_data)", &data) ||
	    !proof_number(p, "LENGTH(node_data)", &len) ||
	    !proof_number(p, "SYMBOL(node_online_map)", &online) ||
	    !proof_number(p, "OFFSET(pglist_data.node_start_pfn)", &at[0]) ||
	    !proof_number(p, "OFFSET(pglist_data.node_spanned_pages)", &at[1]) ||
	    !proof_number(p, "OFFSET(pglist_data.node_id)", &at[2]))
		return ATW_OK;
	for (uint32_t i = 0; i < MIN(len, (uint64_t)NODES) && r == ATW_OK; i++) {
		if (i % 64 == 0)
			r = kmem_u64(p->m, online + i / 64 * 8, &word, err);
		if (r < 0 || !(word >> i % 64 & 1))
			continue;
		r = kmem_u64(p->m, data + i * 8, &pgdat, err);
		if (r == ATW_OK && pgdat)
			r = proof_node(p, pgdat, i, at, err);
	}
	return r;
}

int kernel_prove_ram(struct atw_kernel *k, uint64_t above, bool nodes, struct atw_err *err)
{
	struct ram_proof p = { .k = k, .above = above };
	atw_pa text = ATW_PA(0);
	int r;

	if (!k->have_vi || !k->stext)
		return ATW_OK;
	/* Not the kernel's own: an extract of it begins with a kernel that was not used. */
	r = kmem_open(&k->own, &p.m, err);
	if (r < 0)
		return r;
	r = kmem_physical(p.m, k->stext, &text, err);
	p.text = text.u;
	r = r == ATW_OK ? proof_sections(&p, err) : r;
	r = r == ATW_OK && nodes ? proof_nodes(&p, err) : r;
	kmem_close(p.m);
	return r;
}
