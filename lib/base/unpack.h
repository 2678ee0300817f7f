/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - input stream from a file or a pipe, decompressed if it is zstd, gzip, xz, lz4
 * or bzip2. It seeks backwards only on request, and memory does not grow with the input.
 *
 * zstd compresses 30000 equal bytes into one, so a small file may expand to hours of
 * zeroes. Captures shrink to a tenth, and those of a thousand children of one process
 * that have hardly any pages of their own to an 800th. Above UNPACK_FREE bytes, a ratio
 * of more than UNPACK_RATIO is an error.
 */
#pragma once

#include <atwalk/base.h>

#define UNPACK_FREE ((uint64_t)64 << 20)
enum { UNPACK_RATIO = 4096 };

struct unpack;

/* `fd` remains owned by the caller. Compression is detected from the first bytes. */
int unpack_open(int fd, struct unpack **ret, struct atw_err *err);
/*
 * From a file, or from standard input if it is "-"; the caller adds the name to errors.
 */
int unpack_open_path(const char *path, struct unpack **ret, struct atw_err *err);
/*
 * Up to `len` bytes, as soon as some are available; 0: end of the stream. ATW_E_DAMAGED:
 * the rest cannot be decompressed or exceeds UNPACK_RATIO; ATW_E_UNSUPPORTED: this build
 * lacks the library. After a failure every further call fails in the same way.
 */
int unpack_read(struct unpack *u, void *buf, size_t len, size_t *ret, struct atw_err *err);
/*
 * Seek to an offset of the decompressed stream; files only, not pipes. Compressed files
 * are read forward to it, and decompressed again from the start to go back.
 */
int unpack_seek(struct unpack *u, uint64_t at, struct atw_err *err);
/* Bytes of the file that were consumed, and its size; 0: not known. */
void unpack_progress(const struct unpack *u, uint64_t *done, uint64_t *all);
/* "zstd", if files that begin like this are decompressed, even by another build; or NULL. */
const char *unpack_name(struct atw_blob head);
/* NULL is accepted. */
void unpack_close(struct unpack *u);
