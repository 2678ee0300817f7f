/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refdecode_arm.h - Arm entries, stage 1 of EL1&0, from DDI 0487: chapter D8
 * for VMSAv8-64, chapter G5 for the two AArch32 formats (DDI 0406C chapter B3
 * has the same two for ARMv7).
 */
#pragma once

#include "refdecode.h"

/*
 * D8.4.1.2 "Stage 1 Direct permissions", table D8-63: AP[2:1] are bits 7:6.
 * UXN is bit 54, PXN is bit 53 (table D8-52).
 */
static inline struct ref_entry ref_arm64_leaf(uint64_t addr, uint64_t w,
					      unsigned span)
{
	struct ref_entry e;
	unsigned lost = 0;

	if (ref_bit(w, 7))               /* 1x: no PrivWrite, no UnprivWrite */
		lost |= ATW_KW | ATW_UW;
	if (!ref_bit(w, 6))              /* x0: no UnprivRead, no UnprivWrite */
		lost |= ATW_UR | ATW_UW;
	if (ref_bit(w, 54))              /* UXN: "UnprivExecute is removed" */
		lost |= ATW_UX;
	if (ref_bit(w, 53))              /* PXN: "PrivExecute is removed" */
		lost |= ATW_KX;

	e = ref_leaf(addr, lost, span);
	/*
	 * R_VWLLR: "if UnprivWrite is present, then PrivExecute is removed".
	 * Table D8-65: AP is "the Effective value after the effects of APTable
	 * are applied", so a table above that took UnprivWrite saves PrivExecute.
	 */
	e.uw_forbids_kx = true;
	return e;
}

/* The same for tables: R_YTXKB with table D8-64; TCR_EL1.HPD0, HPD1 = 0. */
static inline unsigned ref_arm64_table_lost(uint64_t w)
{
	unsigned lost = 0;

	if (ref_bit(w, 61))              /* x1: "Removes UnprivRead and UnprivWrite" */
		lost |= ATW_UR | ATW_UW;
	if (ref_bit(w, 62))              /* 1x: "Removes UnprivWrite and PrivWrite" */
		lost |= ATW_KW | ATW_UW;
	if (ref_bit(w, 60))              /* UXNTable: UXN treated as 1 below */
		lost |= ATW_UX;
	if (ref_bit(w, 59))              /* PXNTable: PXN treated as 1 below */
		lost |= ATW_KX;
	return lost;
}

/*
 * D8.3.1 "VMSAv8-64 descriptor formats", tables D8-48, D8-50 and D8-52, 4 KB
 * granule. Level 0 here is the manual's level 3. With TCR_EL1.DS = 1 ("lpa2")
 * bits 49:48 are OA[49:48] and bits 9:8 are OA[51:50], in tables as in pages
 * and blocks.
 */
static inline struct ref_entry ref_arm64_4k(bool lpa2, unsigned level, uint64_t w)
{
	uint64_t high = lpa2 ? ref_field(w, 9, 8) << 50 | ref_keep(w, 49, 48) : 0;
	bool contiguous = ref_bit(w, 52);

	if (!ref_bit(w, 0))              /* "invalid" */
		return ref_absent();

	if (level == 0) {                /* 11 a page, 01 "reserved, invalid" */
		if (!ref_bit(w, 1))
			return ref_bad();
		return ref_arm64_leaf(high | ref_keep(w, 47, 12), w,
				      contiguous ? 16 : 12);
	}

	if (ref_bit(w, 1))
		return ref_table(high | ref_keep(w, 47, 12),
				 ref_arm64_table_lost(w));

	/*
	 * D8.7.1 "The Contiguous bit", table D8-104: 16 entries; it is RES0
	 * in the manual's level 0 block, which is one only if DS = 1.
	 */
	if (level == 1)
		return ref_arm64_leaf(high | ref_keep(w, 47, 21), w,
				      contiguous ? 25 : 21);
	if (level == 2)
		return ref_arm64_leaf(high | ref_keep(w, 47, 30), w,
				      contiguous ? 34 : 30);
	if (level == 3 && lpa2)
		return ref_arm64_leaf(high | ref_keep(w, 47, 39), w, 39);
	return ref_bad();                /* a block where there is none */
}

/* The same, 16 KB granule. */
static inline struct ref_entry ref_arm64_16k(bool lpa2, unsigned level, uint64_t w)
{
	uint64_t high = lpa2 ? ref_field(w, 9, 8) << 50 | ref_keep(w, 49, 48) : 0;
	bool contiguous = ref_bit(w, 52);

	if (!ref_bit(w, 0))
		return ref_absent();

	if (level == 0) {
		if (!ref_bit(w, 1))
			return ref_bad();
		/* 128 pages in a contiguous run */
		return ref_arm64_leaf(high | ref_keep(w, 47, 14), w,
				      contiguous ? 21 : 14);
	}

	if (ref_bit(w, 1))
		return ref_table(high | ref_keep(w, 47, 14),
				 ref_arm64_table_lost(w));

	/* 32 blocks in a run at the manual's level 2; RES0 at its level 1 */
	if (level == 1)
		return ref_arm64_leaf(high | ref_keep(w, 47, 25), w,
				      contiguous ? 30 : 25);
	if (level == 2 && lpa2)
		return ref_arm64_leaf(high | ref_keep(w, 47, 36), w, 36);
	return ref_bad();
}

/* The same, 64 KB granule with FEAT_LPA: OA[51:48] are bits 15:12. */
static inline struct ref_entry ref_arm64_64k(unsigned level, uint64_t w)
{
	uint64_t high = ref_field(w, 15, 12) << 48;
	bool contiguous = ref_bit(w, 52);

	if (!ref_bit(w, 0))
		return ref_absent();

	if (level == 0) {
		if (!ref_bit(w, 1))
			return ref_bad();
		/* 32 pages in a contiguous run */
		return ref_arm64_leaf(high | ref_keep(w, 47, 16), w,
				      contiguous ? 21 : 16);
	}

	if (ref_bit(w, 1))
		return ref_table(high | ref_keep(w, 47, 16),
				 ref_arm64_table_lost(w));

	/* 32 blocks at the manual's level 2; RES0 in its level 1 (4 TB) block */
	if (level == 1)
		return ref_arm64_leaf(high | ref_keep(w, 47, 29), w,
				      contiguous ? 34 : 29);
	return ref_arm64_leaf(high | ref_keep(w, 47, 42), w, 42);
}

/*
 * G5.5 "The VMSAv8-32 Long-descriptor translation table format", PL1&0. The
 * layout of VMSAv8-64, but the output address ends at bit 39. Bits 47:40 are
 * SBZP in ARMv7 and an Address size fault in Armv8, which is no reserved
 * encoding: they are ignored here.
 */
static inline struct ref_entry ref_arm_lpae(unsigned level, uint64_t w)
{
	bool contiguous = ref_bit(w, 52);
	unsigned lost = 0;

	if (!ref_bit(w, 0))
		return ref_absent();

	if (level > 0 && ref_bit(w, 1)) {
		/* Table G5-8 and G5.6.3.1 */
		if (ref_bit(w, 61))      /* "Access at EL0 not permitted" */
			lost |= REF_USER;
		if (ref_bit(w, 62))      /* no writes at any level */
			lost |= ATW_KW | ATW_UW;
		if (ref_bit(w, 60))      /* XNTable: XN treated as 1 below */
			lost |= ATW_KX | ATW_UX;
		if (ref_bit(w, 59))      /* PXNTable: PXN treated as 1 below */
			lost |= ATW_KX;
		return ref_table(ref_keep(w, 39, 12), lost);
	}

	if (level == 0 && !ref_bit(w, 1))
		return ref_bad();

	if (ref_bit(w, 7))               /* AP[2]: read-only */
		lost |= ATW_KW | ATW_UW;
	/*
	 * AP[1] = 0: no access at EL0 (table G5-7), which includes execution:
	 * G5.6.3 "a Permission fault unless... read access is permitted".
	 * That rule is AArch32's; VMSAv8-64 can map execute-only.
	 */
	if (!ref_bit(w, 6))
		lost |= REF_USER;
	/*
	 * G5.6.3.2: writable at EL0 implies PXN only "when SCTLR.UWXN is set to
	 * 1"; in VMSAv8-64 always. UWXN is context, as WXN is.
	 */
	if (ref_bit(w, 54))              /* XN: "at any Exception level" */
		lost |= ATW_KX | ATW_UX;
	if (ref_bit(w, 53))              /* PXN */
		lost |= ATW_KX;

	/*
	 * G5.5.3.2: "16 adjacent translation table entries". The top table has
	 * four: 16 GB is "larger than the size of the input address supported",
	 * a programming error (G5.5.5.1), not a span.
	 */
	if (level == 0)
		return ref_leaf(ref_keep(w, 39, 12), lost, contiguous ? 16 : 12);
	if (level == 1)
		return ref_leaf(ref_keep(w, 39, 21), lost, contiguous ? 25 : 21);
	return ref_leaf(ref_keep(w, 39, 30), lost, 30);
}

/*
 * Table G5-9 "VMSAv8-32 MMU access permissions", SCTLR.AFE = 0, in a Client
 * domain. G5.6.3 again: what cannot be read cannot be executed.
 */
static inline unsigned ref_arm_ap_lost(bool ap2, uint64_t ap10)
{
	if (!ap2) {
		if (ap10 == 0)           /* 000: all accesses generate faults */
			return ATW_RIGHTS_ALL;
		if (ap10 == 1)           /* 001: access only at PL1 */
			return REF_USER;
		if (ap10 == 2)           /* 010: PL0 read-only */
			return ATW_UW;
		return 0;                /* 011: full access */
	}
	if (ap10 == 0)                   /* 100: reserved */
		return ATW_RIGHTS_ALL;
	if (ap10 == 1)                   /* 101: PL1 read-only */
		return REF_USER | ATW_KW;
	return ATW_KW | ATW_UW;          /* 110 (deprecated), 111: read-only */
}

/* G5.4.1 "VMSAv8-32 Short-descriptor Translation Table format descriptors". */
static inline struct ref_entry ref_arm_short(unsigned level, uint64_t w)
{
	struct ref_entry e;
	unsigned lost;

	if (ref_field(w, 1, 0) == 0)     /* "Invalid" */
		return ref_absent();

	if (level == 1) {                /* G5.4.1.1, figure G5-4 */
		if (ref_field(w, 1, 0) == 1) /* page table; PXN is bit 2 */
			return ref_table(ref_keep(w, 31, 10),
					 ref_bit(w, 2) ? ATW_KX : 0);

		lost = ref_arm_ap_lost(ref_bit(w, 15), ref_field(w, 11, 10));
		if (ref_bit(w, 4))       /* XN */
			lost |= ATW_KX | ATW_UX;
		if (ref_bit(w, 0))       /* PXN */
			lost |= ATW_KX;

		if (!ref_bit(w, 18))     /* section */
			return ref_leaf(ref_keep(w, 31, 20), lost, 20);

		/* Supersection: PA[35:32] = 23:20, PA[39:36] = 8:5 */
		e = ref_leaf(ref_field(w, 8, 5) << 36 |
			     ref_field(w, 23, 20) << 32 |
			     ref_keep(w, 31, 24), lost, 24);
		e.replaces = true;
		return e;
	}

	/* G5.4.1.2, figure G5-5: AP[2] is bit 9, AP[1:0] are bits 5:4 */
	lost = ref_arm_ap_lost(ref_bit(w, 9), ref_field(w, 5, 4));

	if (ref_bit(w, 1)) {             /* 1x: small page, XN is bit 0 */
		if (ref_bit(w, 0))
			lost |= ATW_KX | ATW_UX;
		return ref_leaf(ref_keep(w, 31, 12), lost, 12);
	}

	if (ref_bit(w, 15))              /* 01: large page, XN is bit 15 */
		lost |= ATW_KX | ATW_UX;
	e = ref_leaf(ref_keep(w, 31, 16), lost, 16);
	e.replaces = true;
	return e;
}
