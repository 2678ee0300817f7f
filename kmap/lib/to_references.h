/* SPDX-License-Identifier: GPL-2.0-or-later */
/* to_references.h - memory references, as trace/recording.h has them, from a KMAP. */
#pragma once

#include "kmap/lib/read.h"

struct kmap_references;

/*
 * A KMAP has no offsets of accesses, but where it has lines of objects, these are
 * addresses, without threads and code. Objects of up to 64 bytes lie in one or two lines,
 * and their accesses have threads and code. `fd` is borrowed.
 */
int kmap_references_open(int fd, struct kmap_references **ret, struct atw_err *err);
/* ATW_E_UNSUPPORTED: objects of the KMAP stand for others at other addresses. */
struct kmap_sink kmap_references_sink(struct kmap_references *k);
/* Accesses so far to objects that are larger, without lines: they are in no row. */
uint64_t kmap_references_placeless(const struct kmap_references *k);
/* Writes what is left. `of`: the summary of the input. */
int kmap_references_end(struct kmap_references *k, const struct kmap_summary *of,
			struct atw_err *err);
/* NULL is fine. */
void kmap_references_close(struct kmap_references *k);
