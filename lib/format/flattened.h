/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flattened.h - makedumpfile's flattened format for output that cannot seek.
 *
 * A 4096-byte header, then records of {offset, size, bytes}, and an end record. Written
 * by `makedumpfile -F` and by every QEMU kdump format but kdump-raw-*. The contained file
 * may be kdump-compressed or ELF.
 */
#ifndef FORMAT_FLATTENED_H
#define FORMAT_FLATTENED_H

#include "format/view.h"

#define FLATTENED_HEADER_SIZE 4096

bool flattened_probe(struct atw_blob head);

/*
 * Index the records, so that the view reads like the file before it was flattened. Where
 * records overlap, the later one wins, as if they were written in this order. A file that
 * ends inside of a record, or without the end record, can still be opened: see
 * view.missing and view.unfinished. Memory: 24 bytes per record; freed by view_deinit().
 */
int flattened_open(struct atw_blob file, struct view *ret, struct atw_err *err);

/* view_direct() or flattened_open(), by the magic of the file. */
int view_open(struct atw_blob file, struct view *ret, struct atw_err *err);

#endif
