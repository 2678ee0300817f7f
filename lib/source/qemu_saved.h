/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu_saved.h - sources of guests that QEMU saved, whatever file has the migration
 * stream.
 */
#pragma once

#include "base/codec.h"
#include "format/qemu_cpus.h"
#include "format/qemu_stream.h"
#include "format/vm_layout.h"
#include "source/mapped.h"
#include "source/page_cache.h"

/*
 * m.map has the RAM by its offset, of which the layout makes addresses; offsets of its
 * extents are of m.view.
 */
struct qemu_saved {
	struct mapped m;
	struct qemu_stream stream;
	struct vm_layout layout;
	struct qemu_cpus cpus;
	const char *machine;     /* as uname -m */
	uint64_t ram;            /* bytes of all blocks of RAM */
	uint64_t base[QEMU_BLOCKS]; /* of each block in it */
	bool chosen;             /* base[] is set */
	bool doubtful;           /* several blocks, taken for NUMA nodes */
	bool packed;             /* some pages are compressed */
	struct atw_source_ops packed_ops; /* then: those of the source, without peek() */
	struct page_cache cache;
	struct codec_ctx codec;
};

/*
 * After mapped_open() with this size and m.view: reads the stream at `start`. s->ops is a
 * copy if pages are compressed.
 */
int qemu_saved_index(struct atw_source *s, uint64_t start, const char *container,
		     struct atw_err *err);
void qemu_saved_close(struct atw_source *s);

ssize_t qemu_saved_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			struct atw_err *err);
ssize_t qemu_saved_peek(struct atw_source *s, atw_pa pa, size_t len, const void **ret,
			struct atw_err *err);
int qemu_saved_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret);
int qemu_saved_fact(struct atw_source *s, const char *key, struct atw_blob *ret);

#define QEMU_SAVED_OPS \
	.close = qemu_saved_close, .read = qemu_saved_read, .peek = qemu_saved_peek, \
	.extent = qemu_saved_extent, .fact = qemu_saved_fact, .describe = mapped_describe
