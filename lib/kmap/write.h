/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write.h - records of a KMAP as text, in any of its versions. */
#ifndef KMAP_WRITE_H
#define KMAP_WRITE_H

#include "kmap/read.h"

struct kmap_writer;

/* What did not go into it: of each KMAP_LOSES bit how many records had it. */
struct kmap_losses {
	uint64_t n[KMAP_LOSES];
};

/*
 * `fd` stays the caller's. `level`: of zstd, 1 to 19; 0: plain text. Calls, comments and
 * the like that the version has no line for are passed over, and counted.
 */
int kmap_writer_open(int fd, int level, enum kmap_version version, struct kmap_writer **ret,
		     struct atw_err *err);
struct kmap_sink kmap_writer_sink(struct kmap_writer *w);
const struct kmap_losses *kmap_writer_losses(const struct kmap_writer *w);
/* Everything has left when this returns ATW_OK. */
int kmap_writer_end(struct kmap_writer *w, struct atw_err *err);
/* NULL is fine. */
void kmap_writer_close(struct kmap_writer *w);

#endif
