/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references_operands.h - addresses of memory that an x86-64 instruction accesses, from its
 * bytes and the registers before it runs. Decoded by Zydis, which is loaded when needed.
 */
#pragma once

#include "trace/trace.h"

enum {
	OPERANDS_MAX = 4,        /* of one instruction */
	OPERANDS_CODE = 15,      /* bytes of the longest instruction */
};

/* In the order of the numbers in instructions. */
struct operands_regs {
	uint64_t r[16];
	uint64_t rip, fs_base, gs_base;
};

struct operands_ref {
	uint64_t address;
	uint32_t size;
	enum trace_kind kind;
};

struct operands;

/* ATW_E_UNSUPPORTED: atwalk was built without Zydis, or it is not installed. */
int operands_open(struct operands **ret, struct atw_err *err);
/* NULL is accepted. */
void operands_close(struct operands *o);
/*
 * Returns the number of references, or -1: it accesses addresses that are not in the
 * instruction (gather, scatter), or it was not decoded.
 */
int operands_of(const struct operands *o, const void *code, size_t len,
		const struct operands_regs *regs, struct operands_ref ret[OPERANDS_MAX]);
