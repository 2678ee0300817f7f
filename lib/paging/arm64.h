/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64.h - what stage 1 and stage 2 of VMSAv8-64 share: kinds of descriptors, contiguous
 * runs and addresses. The sections of the manual are named in arm64.c.
 */
#pragma once

#include "paging/arm_long.h"

/* ---- kinds: which levels know blocks ---- */

/* 2M, 1G; with LPA2 also 512G */
static const struct atw_rule rules_4K[] = AL_RULES(ATW_L(1) | ATW_L(2));
static const struct atw_rule rules_4K_LPA2[] = AL_RULES(ATW_L(1) | ATW_L(2) | ATW_L(3));
/* 32M; with LPA2 also 64G */
static const struct atw_rule rules_16K[] = AL_RULES(ATW_L(1));
static const struct atw_rule rules_16K_LPA2[] = AL_RULES(ATW_L(1) | ATW_L(2));
/* 512M, with LPA 4T */
static const struct atw_rule rules_64K[] = AL_RULES(ATW_L(1) | ATW_L(2));

/* ---- contiguous runs: each entry still carries its own address ---- */

static const struct atw_span_rule spans_4k[] = {
	{ AL_CONTIG, AL_CONTIG, ATW_L(0), 16, false },   /* 16 x 4K */
	{ AL_CONTIG, AL_CONTIG, ATW_L(1), 25, false },   /* 16 x 2M */
	{ AL_CONTIG, AL_CONTIG, ATW_L(2), 34, false },   /* 16 x 1G */
	{ 0 }
};

static const struct atw_span_rule spans_16k[] = {
	{ AL_CONTIG, AL_CONTIG, ATW_L(0), 21, false },   /* 128 x 16K */
	{ AL_CONTIG, AL_CONTIG, ATW_L(1), 30, false },   /* 32 x 32M */
	{ 0 }
};

static const struct atw_span_rule spans_64k[] = {
	{ AL_CONTIG, AL_CONTIG, ATW_L(0), 21, false },   /* 32 x 64K */
	{ AL_CONTIG, AL_CONTIG, ATW_L(1), 34, false },   /* 32 x 512M */
	{ 0 }
};

/* ---- where the address lies ---- */

#define ADDR_4K       { { 47, 12, 12, 0, 0 } }
#define ADDR_16K      { { 47, 14, 14, 0, 0 } }
/* LPA2 (TCR.DS): OA[49:48] in place, OA[51:50] in bits 9:8 */
#define ADDR_4K_LPA2  { { 49, 12, 12, 0, 0 }, { 9, 8, 50, 0, 0 } }
#define ADDR_16K_LPA2 { { 49, 14, 14, 0, 0 }, { 9, 8, 50, 0, 0 } }
/*
 * LPA: OA[51:48] in bits 15:12. A CPU without it has these bits RES0, so a 64K
 * mode can always read them.
 */
#define ADDR_64K      { { 47, 16, 16, 0, 0 }, { 15, 12, 48, 0, 0 } }

/* ---- granules; STAGE and the tables without a size are those of the stage ---- */

#define GRANULE(shift, bits, size, flag_table, span_table) \
	STAGE, .family = ATW_ARM64, .word_size = 8, .page_shift = shift, \
	.pa_bits = bits, .addr = ADDR_##size, .rules = rules_##size, .rights = rights, \
	.properties = properties, .flags = flag_table, .spans = span_table
#define GRANULE_4K       GRANULE(12, 48, 4K, flags, spans_4k)
#define GRANULE_4K_LPA2  GRANULE(12, 52, 4K_LPA2, flags_lpa2, spans_4k)
#define GRANULE_16K      GRANULE(14, 48, 16K, flags, spans_16k)
#define GRANULE_16K_LPA2 GRANULE(14, 52, 16K_LPA2, flags_lpa2, spans_16k)
#define GRANULE_64K      GRANULE(16, 52, 64K, flags, spans_64k)

/* "lpa2": TCR.DS with fewer than 52 bits of address. */
#define EXTENSIONS_LPA2(is_stage2) { \
	{ "lpa2", ATW_ARM64, 12, 8, 52, ADDR_4K_LPA2, \
	  rules_4K_LPA2, flags_lpa2, spans_4k, is_stage2 }, \
	{ "lpa2", ATW_ARM64, 14, 8, 52, ADDR_16K_LPA2, \
	  rules_16K_LPA2, flags_lpa2, spans_16k, is_stage2 }, \
	{ 0 } \
}
