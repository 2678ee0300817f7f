/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - input and output of a file that may be a pipe.
 *
 * The process at the other end may be slow and may have made the pipe non-blocking, so
 * these functions wait for it. Signals do not end a transfer.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The status of a failed system call with this errno: missing, permission, memory, or I/O. */
int io_status(int e);
/* Read what is available, up to `len` bytes; 0: end of file; < 0: see errno. */
ssize_t io_read_some(int fd, void *buf, size_t len);
/* Read up to `len` bytes, fewer only at the end of the file; < 0: see errno. */
ssize_t io_read(int fd, void *buf, size_t len);
/* Write all of it. A return value below `len` is a failure: see errno. */
size_t io_write(int fd, const void *buf, size_t len);
