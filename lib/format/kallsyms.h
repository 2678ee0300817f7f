/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms.h - the kernel's own symbols, in the tables that scripts/kallsyms.c writes:
 * names packed with 256 tokens, one address each.
 *
 * Pure: every blob is borrowed, must stay as it is, and is not read outside of its
 * bounds. The encodings of addresses and of the lengths of names differ from kernel to
 * kernel, and no number identifies them: the decoder uses the one that gives _stext its
 * known address, and fails if there is none.
 *
 * Names are the kernel's bytes: a caller that prints one must not trust them.
 */
#pragma once

#include <atwalk/base.h>

enum kallsyms_form {
	KALLSYMS_ABSOLUTE,       /* u64: the address; up to 6.10 */
	KALLSYMS_RELATIVE,       /* u32 from the base; 4.6 to 6.19 */
	KALLSYMS_PERCPU,         /* s32; if negative base - 1 - it; x86 up to 6.14 */
	KALLSYMS_PLACE,          /* s32 relative to its own address; since 7.0 */
};

struct kallsyms_tables {
	struct atw_blob names;   /* from kallsyms_names on; more may follow */
	struct atw_blob tokens;  /* from kallsyms_token_table on; more may follow */
	struct atw_blob index;   /* kallsyms_token_index: 256 of 16 bits */
	struct atw_blob offsets; /* kallsyms_offsets, or kallsyms_addresses */
	bool absolute;           /* the table is kallsyms_addresses: 64 bits each */
	uint32_t num;            /* value of kallsyms_num_syms */
	bool has_base;           /* there is a kallsyms_relative_base */
	uint64_t base;           /* its value */
	uint64_t offsets_va;     /* address of kallsyms_offsets */
	uint64_t anchor;         /* address of _stext, which verifies the encoding */
};

enum {
	KALLSYMS_NAME = 512,     /* KSYM_NAME_LEN, its NUL included */
	KALLSYMS_STEP = 256,     /* symbols per entry of at[] */
	KALLSYMS_RUNS = 32,      /* ascending runs of addresses, plus 1 */
};

struct kallsyms {
	struct kallsyms_tables t;
	enum kallsyms_form form;
	bool long_names;         /* lengths from 128 on have two bytes; since 6.1 */
	size_t names_len;        /* bytes of all names */
	/* head: its first bytes, and any others, so that a short one is copied at once. */
	struct kallsyms_token { const char *text; size_t len; char head[16]; } token[256];
	size_t *at;              /* offset of every KALLSYMS_STEPth name */
	/* Addresses ascend from run[i] to before run[i + 1]; mostly there is one run. */
	uint32_t run[KALLSYMS_RUNS + 1], nruns;
};

/*
 * _E_DAMAGED: the tables are inconsistent. _E_UNSUPPORTED: they can be decoded, but no
 * encoding yields the address of _stext.
 */
int kallsyms_init(struct kallsyms *ret, const struct kallsyms_tables *t,
		  struct atw_err *err);
/* A zeroed struct is accepted. */
void kallsyms_deinit(struct kallsyms *k);

/* The first symbol of that name. ATW_E_MISSING: there is none. */
int kallsyms_find(const struct kallsyms *k, const char *name, size_t len, uint64_t *ret);

/*
 * The same for many names in one pass over the table per 128 names. Sets have[i] and, if
 * it is true, addr[i]; returns how many were found.
 */
size_t kallsyms_find_many(const struct kallsyms *k, const char *const *names,
			  uint64_t *addr, bool *have, size_t n);

/*
 * The tables have no sizes. A symbol extends to the next higher address, but at most 1
 * MiB for data and 64 KiB for everything else; without this limit everything behind the
 * last symbol would belong to it. At equal addresses the first symbol determines the
 * limit.
 */
struct kallsyms_symbol {
	uint64_t address;
	uint64_t size;           /* never 0 */
	char type;               /* letter as in nm(1); 'A': also an offset of per-CPU
				  * data */
	char name[KALLSYMS_NAME];
};
uint64_t kallsyms_size_max(char type);

/*
 * The symbol that contains this address; at equal addresses the first, which is the one
 * that the kernel prints. ATW_E_MISSING: there is none.
 */
int kallsyms_near(const struct kallsyms *k, uint64_t address,
		  struct kallsyms_symbol *ret);

/* Iterator over all symbols in the order of the table; begins zeroed. */
struct kallsyms_iter {
	uint32_t index;          /* of the next symbol */
	uint32_t run;            /* that it is in */
	size_t pos;              /* of its name */
	uint64_t size;           /* of the symbols at the last address */
};
/* ATW_END: no more. */
int kallsyms_next(const struct kallsyms *k, struct kallsyms_iter *it,
		  struct kallsyms_symbol *ret);

/*
 * Finds the tables in a kernel image by their structure: kernels before 6.0 do not record
 * their addresses. `va` is the address of the first byte of the image. The result has
 * been verified by kallsyms_init(). ATW_E_MISSING: not found.
 */
int kallsyms_locate(struct atw_blob image, uint64_t va, uint64_t anchor,
		    struct kallsyms_tables *ret, struct atw_err *err);

/*
 * The length of a name, and the number of bytes that encode it; 0 if it exceeds `names`.
 * No name is empty: each has a byte for its type.
 */
static inline size_t kallsyms_length(struct atw_blob names, size_t pos,
				     bool long_names, size_t *ret)
{
	const uint8_t *p = (const uint8_t *)names.data + pos;
	size_t left = pos < names.len ? names.len - pos : 0, used = 1, n;

	if (left < 2)
		return 0;
	n = p[0];
	if (long_names && n & 0x80) {
		n = (n & 0x7f) | (size_t)p[1] << 7;
		used = 2;
	}
	*ret = used;
	return n <= left - used ? n : 0;
}
