/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flattened.h - makedumpfile's form for output that cannot seek.
 *
 * A 4096-byte header, then records of {offset, size, bytes}, and an end
 * record. Written by `makedumpfile -F` and by every QEMU kdump format but
 * kdump-raw-*. Any file may hide inside: kdump-compressed or ELF.
 */
#ifndef FORMAT_FLATTENED_H
#define FORMAT_FLATTENED_H

#include "format/view.h"

#define FLATTENED_HEADER_SIZE 4096

bool flattened_probe(struct atw_blob head);

/*
 * Index the records, so that the view reads like the file before it was
 * flattened. Where records overlap the later one counts, as if they had been
 * written in turn. A file that stops inside a record, or without the end
 * record, still opens: see view.missing and view.unfinished. Memory: 24 bytes
 * a record; view_deinit() frees it.
 */
int flattened_open(struct atw_blob file, struct view *ret, struct atw_err *err);

/* view_direct() or flattened_open(), by the file's first bytes. */
int view_open(struct atw_blob file, struct view *ret, struct atw_err *err);

#endif
