/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soft.c - non-present page-table entries of Linux: swap entries, migration, PROT_NONE.
 *
 * The layout depends on the architecture and the kernel's release, and no dump records
 * it, so it is selected by release: each layout cites the release of the commit. The swap
 * types at the top of the range also depend on the configuration (include/linux/swap.h,
 * MAX_SWAPFILES), which is derived from the kernel's functions; without symbols they are
 * marked as guesses.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "linux/kernel.h"
#include "linux/soft.h"
#include "paging/entry.h"

struct field { uint8_t lo, bits; };

struct soft_layout {
	enum atw_family family;
	uint8_t word_size;
	unsigned since;          /* KERNEL(major, minor) */
	uint64_t protnone;       /* any of these set: the page is present */
	uint64_t protnone_huge;  /* the same, above level 0, in addition */
	bool inverted;           /* PROT_NONE and swap keep address bits inverted */
	struct field type, offset;
	uint64_t soft_dirty, uffd_wp, exclusive;
	struct soft_bits page;   /* of present entries, including PROT_NONE */
};

#define KERNEL(a, b) ((unsigned)(a) << 16 | (unsigned)(b))

/* The layouts of an architecture, newest first. */
static const struct soft_layout layouts[] = {
	/* arch/x86/include/asm/pgtable_64.h; inverted since the L1TF fixes */
	{ .family = ATW_X86, .word_size = 8, .since = KERNEL(4, 18), .inverted = true,
	  .protnone = BIT(8), .protnone_huge = BIT(7), .type = { 59, 5 },
	  .offset = { 9, 50 },
	  .soft_dirty = BIT(1), .uffd_wp = BIT(2), .exclusive = BIT(3),
	  .page = { BIT(11), BIT(10), BIT(9) } },
	{ .family = ATW_X86, .word_size = 8,
	  .protnone = BIT(8), .protnone_huge = BIT(7), .type = { 9, 5 },
	  .offset = { 14, 50 },
	  .soft_dirty = BIT(7), .page = { BIT(11), 0, BIT(9) } },
	/* arch/x86/include/asm/pgtable-2level.h */
	{ .family = ATW_X86, .word_size = 4,
	  .protnone = BIT(8), .protnone_huge = BIT(7), .type = { 1, 5 },
	  .offset = { 10, 22 },
	  .exclusive = BIT(7), .page = { 0, 0, BIT(9) } },
	/* arch/arm64/include/asm/pgtable.h, pgtable-prot.h. Bit 11 (nG) with
	 * the valid bit clear is PTE_PRESENT_INVALID; bit 58 was PTE_PROT_NONE
	 * and bit 59 PMD_PRESENT_INVALID before. */
	{ .family = ATW_ARM64, .word_size = 8, .since = KERNEL(6, 11),
	  .protnone = BIT(11), .type = { 6, 5 }, .offset = { 12, 50 },
	  .uffd_wp = BIT(3), .exclusive = BIT(2), .page = { 0, BIT(58), BIT(56) } },
	{ .family = ATW_ARM64, .word_size = 8, .since = KERNEL(5, 19),
	  .protnone = BIT(58), .protnone_huge = BIT(59), .type = { 3, 5 },
	  .offset = { 8, 50 },
	  .exclusive = BIT(2), .page = { 0, 0, BIT(56) } },
	{ .family = ATW_ARM64, .word_size = 8,
	  .protnone = BIT(58), .protnone_huge = BIT(59), .type = { 2, 6 },
	  .offset = { 8, 50 },
	  .page = { 0, 0, BIT(56) } },
	/*
	 * arch/riscv/include/asm/pgtable.h; bit 5 (G) is PROT_NONE. Bits 59 and 60 are
	 * reserved without Svrsw60t59b, and those of swap entries are zero.
	 */
	{ .family = ATW_RISCV, .word_size = 8,
	  .protnone = BIT(5), .protnone_huge = 0xe, .type = { 7, 5 },
	  .offset = { 12, 52 },
	  .soft_dirty = BIT(3), .uffd_wp = BIT(4), .exclusive = BIT(6),
	  .page = { BIT(59), BIT(60), BIT(8) } },
	{ .family = ATW_RISCV, .word_size = 4,
	  .protnone = BIT(5), .protnone_huge = 0xe, .type = { 7, 5 },
	  .offset = { 12, 20 },
	  .exclusive = BIT(6), .page = { 0, 0, BIT(8) } },
};

static bool soft_parse_release(const char *release, unsigned *ret)
{
	unsigned major, minor;

	if (!release || sscanf(release, "%u.%u", &major, &minor) != 2)
		return false;
	*ret = KERNEL(major, minor);
	return true;
}

/* ---- swap types that are not devices: include/linux/swap.h ---- */

enum { TYPES = 32 };             /* 1 << MAX_SWAPFILES_SHIFT */

/* The relevant configuration options of a kernel. */
struct soft_config {
	bool memory_failure, migration, device_private;
};

/* Types above the devices: poison, migration, device memory, marker, error. */
static void soft_count_types(struct atw_soft_abi *abi, unsigned version, struct soft_config c)
{
	/* 5.14 (b756a3b5e7ea) added exclusive entries, two of them until 6.15. */
	unsigned device = version >= KERNEL(6, 15) ? 3 : version >= KERNEL(5, 14) ? 4 : 2;
	/* 5.19 (6c287605fd56) distinguishes exclusive pages. */
	unsigned migration = version >= KERNEL(5, 19) ? 3 : 2;
	/*
	 * 5.19 (679d10331910), on architectures with uffd-wp; all since 6.2
	 * (ca92ea3dc5a2).
	 */
	unsigned marker = version >= KERNEL(6, 2) ||
		(version >= KERNEL(5, 19) && abi->family == ATW_X86);
	/* 6.0 (9f186f9e5fa9) to 6.1; a marker since then. */
	unsigned error = version >= KERNEL(6, 0) && version < KERNEL(6, 2);

	abi->error = (uint8_t)(TYPES - error);
	abi->marker = (uint8_t)(abi->error - marker);
	abi->device = (uint8_t)(abi->marker - (c.device_private ? device : 0));
	abi->migration = (uint8_t)(abi->device - (c.migration ? migration : 0));
	abi->poison = (uint8_t)(abi->migration - c.memory_failure);
}

/* Functions that exist depending on configuration options. */
static const char *const configured[] = {
	"schedule", "memory_failure", "migrate_pages", "make_device_exclusive",
	"make_device_exclusive_range", "devm_request_free_mem_region",
};

/* All are looked up in one pass. */
static bool soft_has_symbol(void *arg, const char *name)
{
	const bool *have = arg;

	for (size_t i = 0; i < ARRAY_SIZE(configured); i++)
		if (!strcmp(name, configured[i]))
			return have[i];
	return false;
}

void soft_configured(struct atw_soft_abi *abi, const char *release,
		     bool (*has)(void *arg, const char *name), void *arg)
{
	unsigned version;
	struct soft_config c;

	if (!soft_parse_release(release, &version) || !has(arg, "schedule"))
		return;
	c = (struct soft_config){
		.memory_failure = has(arg, "memory_failure"),
		.migration = has(arg, "migrate_pages"),
		.device_private = has(arg, "make_device_exclusive") ||
			has(arg, "make_device_exclusive_range") ||
			/* Until 5.14 no other option needs this function. */
			(version < KERNEL(5, 14) && has(arg, "devm_request_free_mem_region")),
	};
	abi->configured = true;
	soft_count_types(abi, version, c);
}

/* ---- selection of the layout ---- */

static struct atw_soft_abi soft_abi_for(const struct atw_paging *pg, const char *release,
					unsigned *version)
{
	struct atw_soft_abi abi = { .generation = UINT8_MAX };

	*version = 0;
	if (!pg)
		return abi;              /* the layout is unknown */
	abi.family = pg->family;

	abi.known = soft_parse_release(release, version);
	if (!abi.known)
		*version = UINT32_MAX;   /* the newest is assumed */
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct soft_layout *l = &layouts[i];

		if (l->family == pg->family && l->word_size == pg->word_size &&
		    *version >= l->since) {
			abi.generation = (uint8_t)i;
			break;
		}
	}
	return abi;
}

struct atw_soft_abi atw_soft_abi_for(const struct atw_paging *pg, const char *release)
{
	unsigned version;
	struct atw_soft_abi abi = soft_abi_for(pg, release, &version);

	soft_count_types(&abi, version, (struct soft_config){true, true, true});
	return abi;
}

struct atw_soft_abi atw_kernel_soft_abi(struct atw_kernel *k, const struct atw_paging *pg)
{
	uint64_t at[ARRAY_SIZE(configured)];
	bool have[ARRAY_SIZE(configured)];
	unsigned version;
	struct atw_soft_abi abi = soft_abi_for(pg, atw_kernel_release(k), &version);

	if (!k)
		return abi;
	kernel_symbols_many(k, configured, at, have, ARRAY_SIZE(configured));
	soft_count_types(&abi, version, (struct soft_config){true, true, true});
	soft_configured(&abi, atw_kernel_release(k), soft_has_symbol, have);
	return abi;
}

/* ---- entries ---- */

/* The address bits of an entry, decoded as those of a leaf of its level. */
static atw_pa soft_page_of(const struct atw_paging *pg, unsigned level, uint64_t word,
			   bool inverted)
{
	return entry_addr(pg, level, ATW_LEAF, inverted ? ~word : word);
}

static uint64_t soft_take(uint64_t word, struct field f)
{
	return word >> f.lo & (BIT(f.bits) - 1);
}

static void soft_special_type(struct atw_soft_word *s, const struct atw_soft_abi *abi,
			      const struct atw_paging *pg)
{
	if (s->type < abi->poison)
		return;
	s->guess |= !abi->configured;
	if (s->type >= abi->error) {
		s->what = ATW_SOFT_POISON;
	} else if (s->type >= abi->marker) {
		s->what = s->offset & 4 ? ATW_SOFT_GUARD :
			  s->offset & 2 ? ATW_SOFT_POISON : ATW_SOFT_MARKER;
		s->uffd_wp = s->offset & 1;
	} else {
		s->what = s->type >= abi->device    ? ATW_SOFT_DEVICE :
			  s->type >= abi->migration ? ATW_SOFT_MIGRATION : ATW_SOFT_POISON;
		/*
		 * Migration entries have accessed and dirty bits above the frame number.
		 */
		s->pa = ATW_PA((s->offset & (BIT(pg->pa_bits - pg->page_shift) - 1))
			       << pg->page_shift);
	}
}

struct soft_bits soft_page_bits(const struct atw_soft_abi *abi)
{
	return abi->generation < ARRAY_SIZE(layouts) ? layouts[abi->generation].page
						     : (struct soft_bits){ 0, 0, 0 };
}

struct atw_soft_word soft_swap(const struct atw_soft_abi *abi, const struct atw_paging *pg,
			       unsigned type, uint64_t offset)
{
	struct atw_soft_word s = {
		.what = ATW_SOFT_SWAP, .guess = !abi->known, .type = (uint8_t)type,
		.offset = offset,
	};

	soft_special_type(&s, abi, pg);
	return s;
}

struct atw_soft_word atw_soft_decode(const struct atw_soft_abi *abi,
				     const struct atw_paging *pg,
				     unsigned level, uint64_t word)
{
	struct atw_soft_word s = { .what = ATW_SOFT_NONE, .guess = !abi || !abi->known };
	const struct soft_layout *l;
	uint64_t there;

	/* Words of a second stage are the hypervisor's, and none of them keeps a page. */
	if (!word || pg->stage2)
		return s;
	if (!abi || abi->generation >= ARRAY_SIZE(layouts)) {
		s.what = ATW_SOFT_UNKNOWN;
		return s;
	}
	l = &layouts[abi->generation];
	there = l->protnone | (level ? l->protnone_huge : 0);
	if (word & there) {
		s.what = ATW_SOFT_PROTNONE;
		s.soft_dirty = word & l->page.soft_dirty;
		s.uffd_wp = word & l->page.uffd_wp;
		s.pa = soft_page_of(pg, level, word, l->inverted);
		return s;
	}
	s.what = ATW_SOFT_SWAP;
	s.soft_dirty = word & l->soft_dirty;
	s.uffd_wp = word & l->uffd_wp;
	s.exclusive = word & l->exclusive;
	s.type = (uint8_t)soft_take(word, l->type);
	s.offset = soft_take(l->inverted ? ~word : word, l->offset);
	soft_special_type(&s, abi, pg);
	return s;
}

struct atw_soft_word atw_soft_decode_at(const struct atw_soft_abi *abi,
					const struct atw_paging *pg, atw_va va,
					unsigned level, uint64_t word)
{
	struct atw_soft_word s = { .what = ATW_SOFT_NONE, .guess = !abi || !abi->known };

	if (!(va.u >> 63) || !word || !abi || abi->generation >= ARRAY_SIZE(layouts))
		return atw_soft_decode(abi, pg, level, word);
	s.what = ATW_SOFT_PROTNONE;
	s.pa = soft_page_of(pg, level, word, layouts[abi->generation].inverted);
	return s;
}

uint8_t soft_kept(const void *abi, const struct mmu_space *sp, const struct mmu_seen *s,
		  uint64_t *ret_pa)
{
	const struct atw_soft_word soft = atw_soft_decode_at(
		abi, &sp->paging, s->va, s->level, s->path[s->depth - 1].word);

	if (soft.what != ATW_SOFT_PROTNONE && soft.what != ATW_SOFT_MIGRATION &&
	    soft.what != ATW_SOFT_POISON && soft.what != ATW_SOFT_DEVICE)
		return 0;
	*ret_pa = soft.pa.u;
	return (uint8_t)soft.what;
}

const char *atw_soft_name(enum atw_soft what)
{
	static const char *const names[] = {
		[ATW_SOFT_NONE] = "absent", [ATW_SOFT_PROTNONE] = "protnone",
		[ATW_SOFT_SWAP] = "swap", [ATW_SOFT_MIGRATION] = "migration",
		[ATW_SOFT_POISON] = "poison", [ATW_SOFT_DEVICE] = "device",
		[ATW_SOFT_MARKER] = "marker", [ATW_SOFT_GUARD] = "guard",
		[ATW_SOFT_UNKNOWN] = "unknown",
	};

	return (size_t)what < ARRAY_SIZE(names) ? names[what] : "unknown";
}
