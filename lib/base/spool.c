// SPDX-License-Identifier: GPL-2.0-or-later
/* spool.c - files in memory. */
#include "base/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/unpack.h"

enum { SPOOL_PAGE = 4096, SPOOL_CHUNK = 1 << 20 };

/* What was unpacked, with holes for pages of zeroes. */
struct spool {
	int fd;
	uint64_t len;
};

static int spool_failed(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_IO, "cannot be unpacked into memory: %s", strerror(errno));
}

static int spool_open(struct spool *ret, struct atw_err *err)
{
	*ret = (struct spool){.fd = memfd_create("atwalk", MFD_CLOEXEC)};
	return ret->fd < 0 ? spool_failed(err) : ATW_OK;
}

static bool spool_is_zero(const char *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

/* Pages that are not aligned in the file would be no holes. */
static int spool_add(struct spool *s, const void *data, size_t len, struct atw_err *err)
{
	const char *p = data;

	while (len) {
		size_t n = SPOOL_PAGE - s->len % SPOOL_PAGE;

		n = n < len ? n : len;
		if (!spool_is_zero(p, n))
			for (size_t done = 0; done < n;) {
				ssize_t w = pwrite(s->fd, p + done, n - done,
						   (off_t)(s->len + done));

				if (w <= 0)
					return spool_failed(err);
				done += (size_t)w;
			}
		s->len += n;
		p += n;
		len -= n;
	}
	return ATW_OK;
}

/* The file has all of it now; the descriptor is the caller's. */
static int spool_end(struct spool *s, int *ret, struct atw_err *err)
{
	if (s->len > INT64_MAX || ftruncate(s->fd, (off_t)s->len) < 0)
		return spool_failed(err);
	*ret = s->fd;
	s->fd = -1;
	return ATW_OK;
}

/* After a failure; fine after spool_end(). */
static void spool_close(struct spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int spool_unpacked(int fd, uint64_t at, int *ret, struct atw_err *err)
{
	_auto_free char *buf = malloc(SPOOL_CHUNK);
	struct unpack *u = NULL;
	struct spool s;
	size_t n = 1;
	int r;

	if (!buf)
		return atw_err_nomem(err);
	if (at > INT64_MAX || lseek(fd, (off_t)at, SEEK_SET) < 0)
		return atw_err_set(err, ATW_E_IO, "%s", strerror(errno));
	r = spool_open(&s, err);
	if (r < 0)
		return r;
	r = unpack_open(fd, &u, err);
	while (r == ATW_OK && n) {
		r = unpack_read(u, buf, SPOOL_CHUNK, &n, err);
		if (r == ATW_OK && n)
			r = spool_add(&s, buf, n, err);
	}
	unpack_close(u);
	if (r == ATW_OK)
		r = spool_end(&s, ret, err);
	spool_close(&s);
	return r;
}
