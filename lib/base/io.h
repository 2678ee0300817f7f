/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - bytes from and to a file that may be a pipe. The process at the other end may
 * be slow and may have made the pipe non-blocking: wait for it. Signals do not end a
 * transfer.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

/* What has come, up to `len` bytes; 0: the end; < 0: errno says why. */
ssize_t io_read_some(int fd, void *buf, size_t len);
/* As much as there is up to `len`, short only at the end; < 0: errno says why. */
ssize_t io_read(int fd, void *buf, size_t len);
/* How much of it was written: all of it, or errno says why not. */
size_t io_write(int fd, const void *buf, size_t len);

#endif
