/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - a stream of bytes out of a file or a pipe, packed by zstd or not. It goes
 * backwards only on request, and memory does not grow with the input.
 *
 * zstd packs 30000 equal bytes into one, so that a small file may unpack to hours of
 * zeroes. Captures shrink to a tenth, and those of a thousand children of one process
 * that have hardly any pages of their own to an 800th. Above UNPACK_FREE bytes, a ratio
 * of more than UNPACK_RATIO is an error.
 */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include <atwalk/base.h>

#define UNPACK_FREE ((uint64_t)64 << 20)
enum { UNPACK_RATIO = 4096 };

struct unpack;

/* `fd` stays the caller's. Whether it is packed, its first bytes say. */
int unpack_open(int fd, struct unpack **ret, struct atw_err *err);
/*
 * From a file, or from standard input if it is "-"; the caller adds the name to errors.
 */
int unpack_open_path(const char *path, struct unpack **ret, struct atw_err *err);
/*
 * Up to `len` bytes, as soon as there are any; 0: that was all. ATW_E_DAMAGED:
 * they are packed, and what follows cannot be unpacked, or is too much; ATW_E_UNSUPPORTED: this
 * build has no zstd. A failure is the same ever after.
 */
int unpack_read(struct unpack *u, void *buf, size_t len, size_t *ret, struct atw_err *err);
/*
 * What is read next begins so many bytes behind the beginning of all; of a file
 * only, not of a pipe. Forward it is read, and back it begins anew, if it is packed.
 */
int unpack_seek(struct unpack *u, uint64_t at, struct atw_err *err);
/* Bytes of the file that were used, and its size; 0: not known. */
void unpack_progress(const struct unpack *u, uint64_t *done, uint64_t *all);
/* NULL is fine. */
void unpack_close(struct unpack *u);

#endif
