/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack.h - output stream to a file, a pipe or a socket, optionally compressed by zstd. */
#pragma once

#include <atwalk/base.h>

#include "base/buf.h"

struct pack;

/*
 * `fd` remains owned by the caller. `level`: of zstd, 1 to 19; 0: uncompressed.
 * ATW_E_UNSUPPORTED: this build has no zstd.
 */
int pack_open(int fd, int level, struct pack **ret, struct atw_err *err);
/* After a failure every further call fails in the same way. */
int pack_write(struct pack *p, const void *data, size_t len, struct atw_err *err);
/* ATW_OK: all bytes have been written. Nothing may be written afterwards. */
int pack_end(struct pack *p, struct atw_err *err);
/* NULL is accepted. */
void pack_close(struct pack *p);

/* ---- blocks ---- */

/* Has this build zstd? */
bool pack_have(void);
/* Adds `data` to ret, compressed by zstd. ATW_E_UNSUPPORTED: this build has no zstd. */
int pack_block(int level, const void *data, size_t len, struct buf *ret, struct atw_err *err);

/* Has this build zlib? */
bool pack_have_gzip(void);
/* Adds `data` to ret, compressed by gzip. ATW_E_UNSUPPORTED: this build has no zlib. */
int pack_gzip(const void *data, size_t len, struct buf *ret, struct atw_err *err);
