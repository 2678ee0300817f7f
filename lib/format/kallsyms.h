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
#ifndef FORMAT_KALLSYMS_H
#define FORMAT_KALLSYMS_H

#include <atwalk/base.h>

enum kallsyms_form {
	KALLSYMS_ABSOLUTE,       /* u64: the address; up to 6.10 */
	KALLSYMS_RELATIVE,       /* u32 from the base; 4.6 to 6.19 */
	KALLSYMS_PERCPU,         /* s32, base - 1 - it below zero; x86 to 6.14 */
	KALLSYMS_PLACE,          /* s32 from where it lies; since 7.0 */
};

struct kallsyms_tables {
	struct atw_blob names;   /* from kallsyms_names on; more may follow */
	struct atw_blob tokens;  /* from kallsyms_token_table on; more may follow */
	struct atw_blob index;   /* kallsyms_token_index: 256 of 16 bits */
	struct atw_blob offsets; /* kallsyms_offsets, or kallsyms_addresses */
	bool absolute;           /* it is kallsyms_addresses: 64 bits each */
	uint32_t num;            /* what kallsyms_num_syms holds */
	bool has_base;           /* there is a kallsyms_relative_base */
	uint64_t base;           /* what it holds */
	uint64_t offsets_va;     /* where kallsyms_offsets lies */
	uint64_t anchor;         /* the address of _stext; it proves the reading */
};

enum {
	KALLSYMS_NAME = 512,     /* KSYM_NAME_LEN, its NUL included */
	KALLSYMS_STEP = 256,     /* symbols for each place of a name kept */
	KALLSYMS_RUNS = 32,      /* times that addresses may start over, and 1 */
};

struct kallsyms {
	struct kallsyms_tables t;
	enum kallsyms_form form;
	bool long_names;         /* lengths from 128 on have two bytes; since 6.1 */
	size_t names_len;        /* bytes that the names take */
	struct { const char *text; size_t len; } token[256];
	size_t *at;              /* where every KALLSYMS_STEPth name lies */
	/* Addresses ascend from run[i] up to before run[i + 1]; one run, mostly. */
	uint32_t run[KALLSYMS_RUNS + 1], nruns;
};

/*
 * _E_DAMAGED: the tables contradict themselves. _E_UNSUPPORTED: they can be
 * read, but no way to read them puts _stext where it is.
 */
int kallsyms_init(struct kallsyms *ret, const struct kallsyms_tables *t,
		  struct atw_err *err);
/* Fine on a zeroed struct. */
void kallsyms_deinit(struct kallsyms *k);

/* The first symbol of that name. ATW_E_MISSING: there is none. */
int kallsyms_find(const struct kallsyms *k, const char *name, size_t len,
		  uint64_t *ret);

/*
 * The same for many names in one pass over the table (for each 64 of them).
 * have[i] and, when it is true, addr[i] are set; returns how many were found.
 */
size_t kallsyms_find_many(const struct kallsyms *k, const char *const *names,
			  uint64_t *addr, bool *have, size_t n);

/*
 * The tables have no sizes. A symbol goes on to the next other address, but
 * not further than its kind may: 1 MiB for data, 64 KiB for everything else.
 * Without the bound all that lies behind the last one would be part of it. Of
 * several at the same place the first one's kind decides for all.
 */
struct kallsyms_symbol {
	uint64_t address;
	uint64_t size;           /* never 0 */
	char type;               /* as nm has it; 'A': also an offset of a CPU's data */
	char name[KALLSYMS_NAME];
};
uint64_t kallsyms_size_max(char type);

/*
 * The symbol that has this address in it; the first of those at the same place,
 * which is the one the kernel prints. ATW_E_MISSING: none has.
 */
int kallsyms_near(const struct kallsyms *k, uint64_t address,
		  struct kallsyms_symbol *ret);

/* All of them, in the order of the table; begins zeroed. */
struct kallsyms_iter {
	uint32_t index;          /* of the symbol that comes next */
	size_t pos;              /* of its name */
	uint64_t size;           /* of those at the last one's address */
};
/* ATW_END: no more. */
int kallsyms_next(const struct kallsyms *k, struct kallsyms_iter *it,
		  struct kallsyms_symbol *ret);

/*
 * The tables in a kernel's image, by what they look like: kernels before 6.0
 * do not say where they are. `va` is the address of the image's first byte.
 * What it finds has been proven with kallsyms_init(). ATW_E_MISSING: nothing.
 */
int kallsyms_locate(struct atw_blob image, uint64_t va, uint64_t anchor,
		    struct kallsyms_tables *ret, struct atw_err *err);

/*
 * One name's length, and how many bytes say so; 0 when it does not lie in
 * `names`. No name is empty: each has a byte for its type.
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

#endif
