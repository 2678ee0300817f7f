/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - a stream of bytes out of a file or a pipe, packed by zstd or not.
 * Nothing is looked at twice unless somebody asks for it, and memory does not grow
 * with what comes.
 */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include <atwalk/base.h>

struct unpack;

/* `fd` stays the caller's. Whether it is packed, its first bytes say. */
int unpack_open(int fd, struct unpack **ret, struct atw_err *err);
/*
 * Up to `len` bytes, as soon as there are any; 0: that was all. ATW_E_DAMAGED:
 * they are packed, and what follows cannot be unpacked; ATW_E_UNSUPPORTED: this
 * build has no zstd. A failure is the same ever after.
 */
int unpack_read(struct unpack *u, void *buf, size_t len, size_t *ret, struct atw_err *err);
/*
 * What is read next begins so many bytes behind the beginning of all; of a file
 * only, not of a pipe. Forward it is read, and back it begins anew, if it is packed.
 */
int unpack_seek(struct unpack *u, uint64_t at, struct atw_err *err);
/* NULL is fine. */
void unpack_close(struct unpack *u);

#endif
