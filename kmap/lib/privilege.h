/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * privilege.h - how much code may do, after Roessler and others, "uSCOPE: A Methodology
 * for Analyzing Least-Privilege Compartmentalization in Large Software Artifacts"
 * (RAID 2021).
 *
 * One unit of privilege is one instruction that may do one operation to one byte. A cut
 * puts code into compartments; what one instruction of a compartment was seen to do,
 * all of its instructions for that operation may do.
 */
#pragma once

#include "kmap/lib/names.h"

enum kmap_op { KMAP_READ, KMAP_WRITE, KMAP_FREE, KMAP_CALLS, KMAP_OPS };

struct kmap_privilege {
	unsigned have;                   /* bits 1 << op: known, and no more than 64 bits */
	uint64_t v[KMAP_OPS];
};

/* What a compartment may do. */
struct kmap_compartment {
	uint64_t instructions[KMAP_OPS];         /* that do it */
	uint64_t reach[KMAP_OPS];                /* bytes they do it to */
	uint64_t sites;                          /* with objects that it touches */
	uint64_t inside, in, out;                /* calls */
};

/* Was the instruction seen to do it? */
bool kmap_code_does(const struct kmap_code *c, enum kmap_op op);
/*
 * Operations that the recording and the symbols let us count; `why` of calls, or NULL:
 * what is missing.
 */
unsigned kmap_ops_known(const struct kmap_model *m, const struct kmap_names *n,
			const char **why);
/* PS_min: what each instruction was seen to do, and nothing else. */
struct kmap_privilege kmap_ps_min(const struct kmap_model *m, const struct kmap_names *n);
/* PS_mono: any instruction may do its operation to all there is. */
int kmap_ps_mono(const struct kmap_model *m, const struct kmap_names *n,
		 struct kmap_privilege *ret, struct atw_err *err);
/* One compartment a unit; *ret is freed by the caller. */
int kmap_compartments(const struct kmap_model *m, const struct kmap_units *u,
		      struct kmap_compartment **ret, struct atw_err *err);
/* Code that does nothing but allocate is in the model, too; false: it is that. */
bool kmap_compartment_works(const struct kmap_compartment *c);
/* PS of all of them together; of one with `n` 1. */
void kmap_ps_cut(const struct kmap_compartment *c, size_t n, unsigned known,
		 struct kmap_privilege *ret);
/* All that is known together; false: it has more than 64 bits, or is nothing. */
bool kmap_ps_total(const struct kmap_privilege *p, unsigned known, uint64_t *ret);
/* a / b in millionths, rounded; false: b is 0. */
bool kmap_ppm(uint64_t a, uint64_t b, uint64_t *ret);
