/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * needs.h - what atwalk needs to know of a kernel: members of its structs,
 * values of its enumerators, addresses of its symbols. needs.def has the list,
 * with what they were called in other releases. What is there decides, never a
 * version number.
 *
 * Use: off = needs->member[N_task_mm]; if (off == NEED_NONE) ...
 */
#ifndef LINUX_NEEDS_H
#define LINUX_NEEDS_H

#include <atwalk/base.h>

#include "format/btf.h"

/* What of atwalk a need serves: what is lost without it. */
enum need_for {
	FOR_TASKS,               /* the list of tasks, and --pid */
	FOR_SPACES,              /* their page tables */
	FOR_AREAS,               /* memory areas */
	FOR_NAMES,               /* names of files and areas */
	FOR_PAGES,               /* struct page */
	FOR_SLAB,                /* the slab cache of a page */
	FOR_SWAP,                /* swap devices */
	FOR_LARGE,               /* why pages are no large ones */
	FOR_REGIONS,             /* names of the kernel's regions */
	FOR_MODULES,             /* types that loaded modules describe */
	FOR_CPUS,                /* what each CPU was using */
	FOR_CGROUPS,             /* the memory cgroup that pays for a page */
	FOR_ABOUT,               /* what tasks are, and have used */
	FOR_MACHINE,             /* how much RAM there is, and where */
	FOR_COUNTERS,            /* what the kernel counts of its memory */
	FOR_LOG,                 /* the kernel's log */
	FOR_CRASH,               /* on which CPU it crashed, when, and what it is called */
	FOR_COUNT
};

enum need_member {
#define MEMBER(id, paths, serves, must) N_##id,
#include "linux/needs.def"
	N_MEMBERS
};
enum need_size {
#define SIZE(id, types, serves, must) S_##id,
#include "linux/needs.def"
	N_SIZES
};
enum need_const {
#define CONST(id, names, serves, must) C_##id,
#include "linux/needs.def"
	N_CONSTS
};
enum need_symbol {
#define SYMBOL(id, names, serves, must) Y_##id,
#include "linux/needs.def"
	N_SYMBOLS
};

#define NEED_NONE UINT32_MAX

struct needs {
	uint32_t member[N_MEMBERS];      /* bytes from the struct's start */
	uint8_t width[N_MEMBERS];        /* its bytes: 1, 2, 4, 8; 0: other */
	uint32_t size[N_SIZES];          /* bytes */
	int64_t constant[N_CONSTS];
	bool have_const[N_CONSTS];
	uint64_t symbol[N_SYMBOLS];      /* 0: none */
	bool types, symbols;             /* were there any to look in */
	const struct atw_err *why;       /* types: why not, if more is known; NULL */
};

/*
 * Fill in members, sizes and constants; NULL: there are no types. What the
 * types lack stays missing. One pass over the types.
 */
void needs_from_types(struct needs *n, const struct btf *b);
/* For a need `i` in 0..needs_count() - 1: to list them all. */
struct need_info {
	const char *kind;        /* "member", "size", "constant", "symbol" */
	const char *names;       /* alternatives with | between */
	enum need_for serves;
	bool must;               /* nothing of what it serves works without it */
	bool have;
};
size_t needs_count(void);
struct need_info needs_at(const struct needs *n, size_t i);
/* What is lost without it, as words: "the list of tasks". */
const char *needs_for_name(enum need_for f);
/* ATW_OK, or ATW_E_UNSUPPORTED naming the first `must` that is missing. */
int needs_check(const struct needs *n, enum need_for f, struct atw_err *err);
/* The names of symbol i, alternatives with | between. */
const char *needs_symbol_names(enum need_symbol i);

#endif
