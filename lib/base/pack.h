/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack.h - a stream of bytes into a file, a pipe or a socket, packed by zstd or not. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <atwalk/base.h>

struct pack;

/*
 * `fd` stays the caller's. `level`: of zstd, 1 to 19; 0: bytes go out as they are.
 * ATW_E_UNSUPPORTED: this build has no zstd.
 */
int pack_open(int fd, int level, struct pack **ret, struct atw_err *err);
/* After a failure every other call fails the same way. */
int pack_write(struct pack *p, const void *data, size_t len, struct atw_err *err);
/* All has left when this returns ATW_OK. Nothing is written after it. */
int pack_end(struct pack *p, struct atw_err *err);
/* NULL is fine. */
void pack_close(struct pack *p);

#endif
