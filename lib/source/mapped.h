/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped.h - sources with memory that lies unpacked in a mapped file.
 *
 * ELF cores, LiME and raw images differ only in how their ranges are found: each parses,
 * adds extents and uses the operations below.
 */
#pragma once

#include "source/source.h"

#include "base/file.h"
#include "format/view.h"
#include "source/extents.h"

/* Put it first in a source's own struct: s->impl points to either. */
struct mapped {
	struct extents map;
	struct file file;
	struct view view;        /* the file, or what was flattened into it */
	struct file_holes holes; /* of the file, as of the first mapped_extent() */
	bool holes_sought;
	char truncated[160];     /* the fact "truncated", or empty */
	char what[128];          /* for describe */
};

/*
 * Allocate `size` bytes of zeroes that begin with a struct mapped, hang them
 * on the source and map spec->path. Refuses split sets.
 */
int mapped_open(struct atw_source *s, const struct atw_source_spec *spec,
		size_t size, struct atw_err *err);
void mapped_close(struct atw_source *s);

/*
 * Look at the file as what was flattened into it, if it was. Before any
 * mapped_add().
 */
int mapped_unflatten(struct mapped *m, struct atw_err *err);

/*
 * Add memory with its bytes at `off` in the file. What lies past the end of the file is
 * left out, and *missing grows to the number of bytes the file would have to grow to have
 * it all.
 */
int mapped_add(struct mapped *m, uint64_t start, uint64_t len, uint64_t off,
	       uint64_t *missing, struct atw_err *err);
/* Note that the file ends `missing` bytes short; 0 is fine. */
void mapped_truncated(struct mapped *m, uint64_t missing);

ssize_t mapped_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
		    struct atw_err *err);
ssize_t mapped_peek(struct atw_source *s, atw_pa pa, size_t len,
		    const void **ret, struct atw_err *err);
/* The bytes, where one extent has them all, or NULL. */
static inline const void *mapped_at(struct mapped *m, atw_pa pa, size_t len)
{
	const struct extent *e = extents_find(&m->map, pa.u);

	if (!e || (e->kind != ATW_DATA && e->kind != ATW_ZERO) || e->len - (pa.u - e->start) < len)
		return NULL;
	return (const char *)m->file.map.data + e->off + (pa.u - e->start);
}

int mapped_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret);
/*
 * "truncated": a sentence; present only when the file ends early. What it
 * has is good, but an answer from it is one in part.
 */
int mapped_fact(struct atw_source *s, const char *key, struct atw_blob *ret);
void mapped_describe(struct atw_source *s, char *buf, size_t len);

/* The operations of such a source; MAPPED_ONLY_OPS: of one that has nothing else. */
#define MAPPED_OPS \
	.read = mapped_read, .peek = mapped_peek, .extent = mapped_extent, \
	.describe = mapped_describe
#define MAPPED_ONLY_OPS MAPPED_OPS, .close = mapped_close, .fact = mapped_fact
