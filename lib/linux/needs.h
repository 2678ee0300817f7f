/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * needs.h - what atwalk requires of a kernel: members of its structs, values of its
 * enumerators, addresses of its symbols. needs.def lists them with their names in other
 * releases. Their presence decides, never a version number.
 *
 * Use: off = needs->member[N_task_mm]; if (off == NEED_NONE) ...
 */
#pragma once

#include <atwalk/base.h>

#include "format/btf.h"

/* Features that depend on a requirement. */
enum need_for {
	FOR_TASKS,               /* the list of tasks, and --pid */
	FOR_SPACES,              /* their page tables */
	FOR_AREAS,               /* memory areas */
	FOR_NAMES,               /* names of files and areas */
	FOR_PAGES,               /* struct page */
	FOR_SLAB,                /* the slab cache of a page */
	FOR_SWAP,                /* swap devices */
	FOR_LARGE,               /* THP eligibility */
	FOR_REGIONS,             /* names of the kernel's regions */
	FOR_MODULES,             /* types that loaded modules describe */
	FOR_CPUS,                /* state of CPUs */
	FOR_CGROUPS,             /* the memory cgroup that a page is charged to */
	FOR_ABOUT,               /* task attributes and resource usage */
	FOR_MACHINE,             /* size and ranges of RAM */
	FOR_COUNTERS,            /* memory counters */
	FOR_LOG,                 /* the kernel's log */
	FOR_CRASH,               /* CPU and time of a crash, host name */
	FOR_GUESTS,              /* where KVM has the RAM of virtual machines */
	FOR_STAGE2,              /* page tables of virtual machines */
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
	/* Of a bit field, which these bytes contain: its bits, from bit `low` on; else 0. */
	uint8_t bits[N_MEMBERS], low[N_MEMBERS];
	uint32_t size[N_SIZES];          /* bytes */
	int64_t constant[N_CONSTS];
	bool have_const[N_CONSTS];
	uint64_t symbol[N_SYMBOLS];      /* 0: none */
	bool types, symbols;             /* the kernel's types and symbols were available */
	const struct atw_err *why;       /* types: why not, if known; NULL */
};

/*
 * Fill in members, sizes and constants; NULL: there are no types. Missing ones remain
 * marked as such. One pass over the types.
 */
void needs_from_types(struct needs *n, const struct btf *b);
/* Fill in those of this feature that are missing, from `more`. */
void needs_add(struct needs *n, const struct needs *more, enum need_for f);
/* Member i is a bit field from that bit of the struct on. false: it must not be one. */
bool needs_set_bits(struct needs *n, size_t i, uint64_t bit, unsigned bits);
/* Requirement `i` in 0..needs_count() - 1: to list them all. */
struct need_info {
	const char *kind;        /* "member", "size", "constant", "symbol" */
	const char *names;       /* alternatives separated by | */
	enum need_for serves;
	bool must;               /* the feature does not work without it */
	bool have;
};
size_t needs_count(void);
struct need_info needs_at(const struct needs *n, size_t i);
/* The feature as text: "the list of tasks". */
const char *needs_for_name(enum need_for f);
/* ATW_OK, or ATW_E_UNSUPPORTED with the name of the first missing `must`. */
int needs_check(const struct needs *n, enum need_for f, struct atw_err *err);
/* The names of requirement `i` in 0..needs_count() - 1. */
const char *needs_names(size_t i);
/* The names of symbol i, alternatives separated by |. */
const char *needs_symbol_names(enum need_symbol i);

/* ---- wanted.c ---- */

/*
 * Index of the names that are looked up among all types of a kernel: they are
 * many and far apart, so one pass must find them all.
 */

struct name_entry {
	char name[64];
	uint16_t owner;          /* index of the need that it is an alternative name
				  * for */
	uint8_t place;           /* 1-based position among its alternatives */
	/* Filled in by the search; initially zero. */
	bool there, have;
	uint64_t id;
	int64_t value;
};

struct name_index {
	struct name_entry *v;
	size_t n, cap;
	bool first[1024];        /* by a hash of the first two letters: does a name begin so? */
};

/* The next alternative of "a.b|c.d" as text in buf; NULL after the last. */
const char *wanted_alternative(const char *names, char *buf, size_t len);
/* Add all alternatives; of "struct.member" only the struct. false: no memory. */
bool wanted_add(struct name_index *l, const char *names, uint16_t owner);
/* After all were added: sorts them and removes duplicates. */
void wanted_settle(struct name_index *l);
struct name_entry *wanted_find(const struct name_index *l, const char *name);
/* A zeroed struct is accepted. */
void wanted_deinit(struct name_index *l);

/* ---- dwarf_needs.c ---- */

/*
 * Members, sizes and enumerators from the DWARF of a vmlinux, for kernels
 * without BTF. Parsed by libdw, which is optional at build time.
 */

/*
 * The counterpart of needs_from_types(); `types`: how many of the required types were
 * found. ATW_E_UNSUPPORTED: built without libdw. Errors do not include the name of the
 * file.
 */
int needs_from_dwarf(struct needs *n, const char *path, uint32_t *types,
		     struct atw_err *err);
