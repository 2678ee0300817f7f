/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions.h - the functions of the kernel that is recorded, for the lines that name
 * them: each before the first object that has code of it, and the rest behind all objects.
 */
#pragma once

#include "base/buf.h"

struct kmap_function {
	uint64_t at;
	size_t name;                     /* where it begins in names */
};

/* By address, once it is sorted; zeroed it is empty. */
struct kmap_functions_of {
	struct kmap_function *v;
	size_t n, room;
	struct buf names;
};

/* false: no memory. */
bool kmap_functions_of_add(struct kmap_functions_of *f, uint64_t at, const char *name);
/* Then each is there once, and nothing is added any more. */
void kmap_functions_of_sort(struct kmap_functions_of *f);
void kmap_functions_of_deinit(struct kmap_functions_of *f);

static inline const char *kmap_functions_of_name(const struct kmap_functions_of *f, size_t i)
{
	return f->names.data + f->v[i].name;
}

/* Which of them a file has named so far. */
struct kmap_named {
	const struct kmap_functions_of *of;      /* NULL: none are named */
	uint64_t *function, *site;       /* bits */
	size_t nsites;
	uint64_t recent[256];            /* instructions with a function that is named */
};

/* false: no memory. `of` is borrowed. */
bool kmap_named_open(struct kmap_named *n, const struct kmap_functions_of *of, size_t nsites);
/* Fine on a zeroed struct. */
void kmap_named_close(struct kmap_named *n);
/* What comes next is to be understood without what came before. */
void kmap_named_forget(struct kmap_named *n);
/* Is this the first use of an instruction, by the number of its site? */
bool kmap_named_site(struct kmap_named *n, size_t site);
/*
 * The functions at one address, [*first, return value), that have to be named for an
 * instruction, and now are; none: they were, or none is known.
 */
size_t kmap_named_take(struct kmap_named *n, uint64_t ip, size_t *first);
/* Function i; false: it was. */
bool kmap_named_one(struct kmap_named *n, size_t i);
