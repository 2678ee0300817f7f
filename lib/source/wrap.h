/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wrap.h - operations that a wrapper passes on unchanged to the source below it. */
#pragma once

#include "source/source.h"
#include "host/pace.h"

/*
 * A wrapper with `size` bytes of zeroes as its own state. It owns `below` from
 * here on; on failure `below` stays the caller's.
 */
struct atw_source *wrap_new(const struct atw_source_ops *ops,
			    struct atw_source *below, size_t size,
			    struct atw_err *err);
void wrap_close(struct atw_source *s);
int wrap_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret);
int wrap_fact(struct atw_source *s, const char *key, struct atw_blob *ret);
void wrap_describe(struct atw_source *s, char *buf, size_t len);
void *wrap_buffer_open(struct atw_source *s, size_t len);
bool wrap_buffer_close(struct atw_source *s, void *buf);
void wrap_mapped(struct atw_source *s, atw_pa pa, atw_va va, uint64_t len);
int wrap_mm_of(struct atw_source *s, uint64_t pid, uint64_t *ret, struct atw_err *err);
void wrap_threads(struct atw_source *s, unsigned n);
bool wrap_ahead(struct atw_source *s, const uint64_t *pa, size_t n);

/*
 * The operations of a wrapper that asks `below` for all but bytes. `direct` and `list`
 * are not among them: they are of use to a wrapper only if it need not know what is read.
 */
#define WRAP_OPS \
	.extent = wrap_extent, .fact = wrap_fact, \
	.describe = wrap_describe, .buffer_open = wrap_buffer_open, \
	.buffer_close = wrap_buffer_close, .mapped = wrap_mapped, .mm_of = wrap_mm_of, \
	.threads = wrap_threads, .ahead = wrap_ahead

/* ---- paced.c: wrapper that counts the reads of a source and limits their rate ---- */

/*
 * `p` stays the caller's and has to live as long as the source. The result owns `below`;
 * on failure `below` is unchanged.
 */
int paced_source(struct atw_source *below, struct pace *p, struct atw_source **ret,
		 struct atw_err *err);
