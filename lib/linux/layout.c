/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.c - paging mode and root of the kernel from VMCOREINFO. */
#include "linux/root.h"

#include <inttypes.h>
#include <stdio.h>

/* arch/x86/include/asm/page_64_types.h */
#define X86_START_KERNEL_MAP UINT64_C(0xffffffff80000000)

static int layout_missing(struct atw_err *err, const char *key)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED, "VMCOREINFO has no %s", key);
}

static int layout_need(const struct atw_vmcoreinfo *vi, const char *key, uint64_t *ret,
		       struct atw_err *err)
{
	return atw_vmcoreinfo_u64(vi, key, ret) < 0 ? layout_missing(err, key) : ATW_OK;
}

static bool layout_has(const struct atw_vmcoreinfo *vi, const char *key)
{
	uint64_t v;

	return atw_vmcoreinfo_u64(vi, key, &v) == ATW_OK;
}

static int layout_mode(const char *name, struct layout_guess *g, struct atw_err *err)
{
	const struct atw_paging *pg = atw_paging_find(name);

	if (!pg)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "VMCOREINFO describes %s, a paging mode that does not exist", name);
	g->paging = *pg;
	return ATW_OK;
}

/* The image is mapped with a constant offset: `shift` = virtual - physical. */
static int layout_image(const struct atw_vmcoreinfo *vi, uint64_t shift,
			struct layout_guess *g, struct atw_err *err)
{
	uint64_t root;

	if (layout_need(vi, "SYMBOL(swapper_pg_dir)", &root, err) < 0 ||
	    layout_need(vi, "SYMBOL(_stext)", &g->text_va, err) < 0)
		return err ? err->status : ATW_E_UNSUPPORTED;
	g->root = ATW_PA(root - shift);
	g->text_pa = ATW_PA(g->text_va - shift);
	return ATW_OK;
}

static int layout_x86_64(const struct atw_vmcoreinfo *vi, struct layout_guess *g,
			 struct atw_err *err)
{
	uint64_t phys_base, la57 = 0, sme = 0;
	int r;

	r = layout_need(vi, "NUMBER(phys_base)", &phys_base, err);
	if (r < 0)
		return r;
	atw_vmcoreinfo_u64(vi, "NUMBER(pgtable_l5_enabled)", &la57);
	atw_vmcoreinfo_u64(vi, "NUMBER(sme_mask)", &sme);
	r = layout_mode(la57 ? "x86_64-5" : "x86_64-4", g, err);
	if (r < 0)
		return r;
	g->paging.ignore |= sme;
	return layout_image(vi, X86_START_KERNEL_MAP - phys_base, g, err);
}

/*
 * NUMBER(VA_BITS) is the build's value; TCR_EL1.T1SZ is that of this CPU. A 64K kernel
 * built for 52 bits lays out its root table for 52 bits also on a 48-bit CPU, and TTBR1
 * points into it (arch/arm64 offset_ttbr1).
 */
static int layout_arm64(const struct atw_vmcoreinfo *vi, struct layout_guess *g,
			struct atw_err *err)
{
	uint64_t page = 4096, built, t1sz, bits, voffset;
	char name[32];
	int r;

	r = layout_need(vi, "NUMBER(VA_BITS)", &built, err) ?:
	    layout_need(vi, "NUMBER(kimage_voffset)", &voffset, err);
	if (r < 0)
		return r;
	atw_vmcoreinfo_u64(vi, "PAGESIZE", &page);
	bits = built;
	if (atw_vmcoreinfo_u64(vi, "NUMBER(TCR_EL1_T1SZ)", &t1sz) == ATW_OK)
		bits = 64 - (t1sz & 63);
	snprintf(name, sizeof(name), "arm64-%" PRIu64 "k-%" PRIu64, page / 1024, bits);
	r = layout_mode(name, g, err) ?: layout_image(vi, voffset, g, err);
	if (r == ATW_OK && page == 65536 && built == 52 && bits == 48)
		g->root.u += ((1u << (52 - 42)) - (1u << (48 - 42))) * 8;
	return r;
}

static int layout_riscv64(const struct atw_vmcoreinfo *vi, struct layout_guess *g,
			  struct atw_err *err)
{
	uint64_t bits, offset;
	char name[32];
	int r;

	r = layout_need(vi, "NUMBER(VA_BITS)", &bits, err) ?:
	    layout_need(vi, "NUMBER(va_kernel_pa_offset)", &offset, err);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "riscv64-sv%" PRIu64, bits);
	r = layout_mode(name, g, err);
	return r < 0 ? r : layout_image(vi, offset, g, err);
}

int layout_from_vmcoreinfo(const struct atw_vmcoreinfo *vi,
			   struct layout_guess *ret, struct atw_err *err)
{
	struct layout_guess g = { 0 };
	int r;

	/* Each architecture exports keys that no other one has. */
	if (layout_has(vi, "NUMBER(kimage_voffset)"))
		r = layout_arm64(vi, &g, err);
	else if (layout_has(vi, "NUMBER(phys_ram_base)") ||
		 layout_has(vi, "NUMBER(va_kernel_pa_offset)"))
		r = layout_riscv64(vi, &g, err);
	else if (layout_has(vi, "NUMBER(phys_base)"))
		r = layout_x86_64(vi, &g, err);
	else
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"VMCOREINFO is of an unknown architecture");
	if (r == ATW_OK)
		*ret = g;
	return r;
}
