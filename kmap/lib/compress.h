/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compress.h - the compressed form, as uSCOPE makes it: one object for each place that
 * allocates, each global, and each kind of memory that has neither; what touched any of
 * them touched that one. Memory grows with places, not with objects.
 */
#pragma once

#include "kmap/lib/read.h"

struct kmap_compress;

int kmap_compress_open(struct kmap_compress **ret, struct atw_err *err);
struct kmap_sink kmap_compress_sink(struct kmap_compress *c);
/*
 * Emits all of it after the last record: comments that say what it is, calls by address,
 * objects as they were first met, their accesses by address. *objects: how many.
 */
int kmap_compress_end(struct kmap_compress *c, const struct kmap_sink *to, uint64_t *objects,
		      struct atw_err *err);
/* Records that had what it cannot hold, by KMAP_LOSES bits. */
const uint64_t *kmap_compress_losses(const struct kmap_compress *c);
/* NULL is fine. */
void kmap_compress_close(struct kmap_compress *c);
