/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io.c - complete reads and writes of files, pipes and sockets. */
#include "base/io.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include <atwalk/base.h>

/*
 * Whether a failed call is to be repeated. If not, errno is that of the call or of
 * poll(2).
 */
static bool io_again(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return errno == EINTR ||
	       (errno == EAGAIN && (poll(&p, 1, -1) > 0 || errno == EINTR));
}

int io_status(int e)
{
	return e == ENOENT || e == ENOTDIR ? ATW_E_MISSING :
	       e == EACCES || e == EPERM   ? ATW_E_PERM :
	       e == ENOMEM                 ? ATW_E_NOMEM : ATW_E_IO;
}

ssize_t io_read_some(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && io_again(fd, POLLIN));
	return n;
}

ssize_t io_read(int fd, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = io_read_some(fd, (char *)buf + done, len - done);

		if (n < 0)
			return -1;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

size_t io_write(int fd, const void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, (const char *)buf + done, len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (!io_again(fd, POLLOUT))
			break;
	}
	return done;
}
