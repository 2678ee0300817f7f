/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault.h - source that wraps another one and makes chosen memory vanish or fail.
 */
#pragma once

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "source/wrap.h"

/* Chosen reads are made to fail. */
struct atw_fault {
	atw_pa start;
	uint64_t len;                /* bytes from start that fail */
	enum atw_extent_kind kind;   /* EXCLUDED, NONE: a hole; DATA: an I/O error */
};

struct faults {
	size_t n;
	struct atw_fault *v;     /* none empty, none past the last address */
};

static uint64_t fault_last_of(uint64_t start, uint64_t len)
{
	uint64_t end;

	return add_u64(start, len, &end) && end ? end - 1 : UINT64_MAX;
}

/* The first fault that holds pa, or NULL. */
static const struct atw_fault *fault_at(const struct faults *fs, uint64_t pa)
{
	for (size_t i = 0; i < fs->n; i++)
		if (pa - fs->v[i].start.u < fs->v[i].len)
			return &fs->v[i];
	return NULL;
}

/* Up to where, and at most `last`, what holds for pa holds on. */
static uint64_t fault_same_until(const struct faults *fs, uint64_t pa, uint64_t last)
{
	const struct atw_fault *here = fault_at(fs, pa);

	if (here && fault_last_of(here->start.u, here->len) < last)
		last = fault_last_of(here->start.u, here->len);
	for (size_t i = 0; i < fs->n; i++)
		if (fs->v[i].start.u > pa && fs->v[i].start.u <= last)
			last = fs->v[i].start.u - 1;
	return last;
}

/* How many of `len` bytes may be asked for below; 0: a hole; < 0: an error. */
static ssize_t fault_allowed(struct atw_source *s, atw_pa pa, size_t len,
			     struct atw_err *err)
{
	const struct atw_fault *f = fault_at(s->impl, pa.u);

	if (!len)
		return 0;
	if (!f)
		return (ssize_t)(fault_same_until(s->impl, pa.u,
						  fault_last_of(pa.u, len)) -
				 pa.u + 1);
	if (f->kind != ATW_DATA)
		return 0;
	return atw_err_set(err, ATW_E_IO, "0x%" PRIx64 ": this read was made to fail",
			   pa.u);
}

static ssize_t fault_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	ssize_t n = fault_allowed(s, pa, len, err);

	return n > 0 ? s->below->ops->read(s->below, pa, buf, (size_t)n, err) : n;
}

static ssize_t fault_peek(struct atw_source *s, atw_pa pa, size_t len,
			  const void **ret, struct atw_err *err)
{
	ssize_t n = fault_allowed(s, pa, len, err);

	return n > 0 ? s->below->ops->peek(s->below, pa, (size_t)n, ret, err) : n;
}

/* What there is at pa, and the last address up to which nothing changes. */
static int fault_piece_at(struct atw_source *s, uint64_t pa, enum atw_extent_kind *kind,
			  uint64_t *last)
{
	const struct atw_fault *f = fault_at(s->impl, pa);
	struct atw_extent e;
	int r;

	*kind = ATW_NONE;
	*last = UINT64_MAX;
	if (f && f->kind != ATW_DATA) {
		*kind = f->kind;
	} else {
		r = atw_extent_at(s->below, ATW_PA(pa), &e);
		if (r < 0)
			return r;
		if (r == ATW_OK) {
			*kind = e.kind;
			*last = e.len ? fault_last_of(pa, e.len) : UINT64_MAX;
		}
	}
	*last = fault_same_until(s->impl, pa, *last);
	return ATW_OK;
}

static int fault_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	enum atw_extent_kind kind, k;
	uint64_t last, l;
	int r = fault_piece_at(s, pa.u, &kind, &last);

	/* Whether anything is left above a hole only what follows it can tell. */
	for (k = kind, l = last; r == ATW_OK && k == ATW_NONE;) {
		if (l == UINT64_MAX)
			return ATW_END;
		r = fault_piece_at(s, l + 1, &k, &l);
	}
	if (r < 0)
		return r;
	*ret = (struct atw_extent){ pa, last - pa.u + 1, kind };
	return ATW_OK;
}

static void fault_close(struct atw_source *s)
{
	struct faults *fs = s->impl;

	free(fs->v);
	wrap_close(s);
}

#define FAULT_OPS(...) { \
	.name = "fault", \
	.help = "makes reads fail", \
	.close = fault_close, \
	.read = fault_read, \
	.extent = fault_extent, \
	.fact = wrap_fact, \
	.mm_of = wrap_mm_of, \
	.describe = wrap_describe, \
	__VA_ARGS__ \
}

/* It can lend pointers only if what it wraps does. */
static const struct atw_source_ops fault_ops = FAULT_OPS();
static const struct atw_source_ops fault_peek_ops = FAULT_OPS(.peek = fault_peek);

static inline int atw_source_faults(struct atw_source *below, const struct atw_fault *faults,
		      size_t n, struct atw_source **ret, struct atw_err *err)
{
	struct atw_fault *v;
	struct atw_source *s;
	struct faults *fs;

	for (size_t i = 0; i < n; i++)
		if (faults[i].kind == ATW_ZERO || !faults[i].len ||
		    fault_last_of(faults[i].start.u, faults[i].len) - faults[i].start.u !=
			    faults[i].len - 1)
			return atw_err_set(err, ATW_E_USAGE,
				"fault %zu: must be a hole or an error, over one byte or more",
				i);
	v = calloc(n + 1, sizeof(*v));
	if (!v)
		return atw_err_nomem(err);
	if (n)
		memcpy(v, faults, n * sizeof(*v));
	s = wrap_new(below->ops->peek ? &fault_peek_ops : &fault_ops, below,
		     sizeof(*fs), err);
	if (!s) {
		free(v);
		return ATW_E_NOMEM;
	}
	fs = s->impl;
	*fs = (struct faults){ n, v };
	*ret = s;
	return ATW_OK;
}
