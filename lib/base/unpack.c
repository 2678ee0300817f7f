/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.c - input stream with optional decompression. */
#include "base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/unpack_codec.h"

enum { PACKED = 128 << 10 };

struct unpack {
	int fd;
	bool owned;              /* fd is closed with the stream */
	const struct unpack_codec *codec; /* NULL: not packed */
	bool ended;
	bool within;             /* inside of a frame */
	uint64_t taken;          /* bytes of the file that were consumed */
	uint64_t given;          /* bytes that they expanded to */
	void *state;             /* of the codec */
	struct atw_err failed;   /* status 0: no failure yet */
	size_t pos, len;         /* of in[] */
	char in[PACKED];
};

static int unpack_fill(int fd, char *buf, size_t len, size_t *ret, struct atw_err *err)
{
	ssize_t n = io_read_some(fd, buf, len);

	if (n < 0)
		return atw_err_set(err, errno == EISDIR ? ATW_E_FORMAT : ATW_E_IO, "%m");
	*ret = (size_t)n;
	return ATW_OK;
}

/* A pipe may deliver even the magic number in pieces. */
static int unpack_begin(struct unpack *u, struct atw_err *err)
{
	size_t n = 0;

	while (u->len < UNPACK_MAGIC && !u->ended) {
		int r = unpack_fill(u->fd, u->in + u->len, sizeof(u->in) - u->len, &n,
				    err);

		if (r != ATW_OK)
			return r;
		u->ended = !n;
		u->len += n;
	}
	u->codec = unpack_codec_of((struct atw_blob){ u->in, u->len });
	return ATW_OK;
}

static int unpack_start(struct unpack *u, struct atw_err *err)
{
	if (!u->codec->start)
		return unpack_codec_absent(u->codec, err);
	u->state = u->codec->start();
	return u->state ? ATW_OK : atw_err_nomem(err);
}

static int unpack_too_many(const struct unpack *u, struct atw_err *err)
{
	atw_err_set(err, ATW_E_DAMAGED, "packed by %s, and %" PRIu64 " bytes of it become more "
		    "than %d times as many", u->codec->name, u->taken, UNPACK_RATIO);
	atw_err_hint(err, "if that is as it should be, unpack it with %s", u->codec->tool);
	return ATW_E_DAMAGED;
}

static int unpack_decode(struct unpack *u, void *buf, size_t len, size_t *ret,
			 struct atw_err *err)
{
	size_t done = 0;

	for (;;) {
		struct unpack_step io = { .out = (char *)buf + done, .outlen = len - done,
					  .in = u->in + u->pos, .inlen = u->len - u->pos };
		int r = 0;

		if (u->pos < u->len || u->within)
			r = u->codec->step(u->state, &io);
		if (r < 0)
			return atw_err_set(err, ATW_E_DAMAGED, "packed by %s, and damaged behind "
					   "byte %" PRIu64 ": %s", u->codec->name, u->taken,
					   io.why ? io.why : "invalid");
		if (u->pos < u->len || io.made)
			u->within = r;
		done += io.made;
		u->taken += io.used;
		u->pos += io.used;
		if (u->given + done > UNPACK_FREE &&
		    (u->given + done) / UNPACK_RATIO > u->taken)
			return unpack_too_many(u, err);
		if (done)
			break;
		if (u->pos < u->len)
			continue;
		if (u->ended && u->within)
			return atw_err_set(err, ATW_E_DAMAGED, "packed by %s, and cut off behind "
					   "byte %" PRIu64, u->codec->name, u->taken);
		if (u->ended)
			break;
		u->pos = 0;
		if (unpack_fill(u->fd, u->in, sizeof(u->in), &u->len, err) != ATW_OK)
			return err->status;
		u->ended = !u->len;
	}
	*ret = done;
	return ATW_OK;
}

int unpack_open(int fd, struct unpack **ret, struct atw_err *err)
{
	struct unpack *u;
	struct stat st;
	int r;

	if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
		return atw_err_set(err, ATW_E_FORMAT, "is a directory");
	u = malloc(sizeof(*u));
	if (!u)
		return atw_err_nomem(err);
	memset(u, 0, offsetof(struct unpack, in));
	u->fd = fd;
	r = unpack_begin(u, err);
	if (r == ATW_OK && u->codec)
		r = unpack_start(u, err);
	if (r != ATW_OK) {
		unpack_close(u);
		return r;
	}
	*ret = u;
	return ATW_OK;
}

int unpack_open_path(const char *path, struct unpack **ret, struct atw_err *err)
{
	bool is_stdin = !strcmp(path, "-");
	_auto_fd int fd = is_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int r;

	if (!is_stdin && fd < 0)
		return atw_err_set(err, io_status(errno), "%m");
	r = unpack_open(is_stdin ? 0 : fd, ret, err);
	if (r == ATW_OK && !is_stdin) {
		(*ret)->owned = true;
		fd = -1;
	}
	return r;
}

static int unpack_get(struct unpack *u, void *buf, size_t len, size_t *ret,
		      struct atw_err *err)
{
	size_t n = u->len - u->pos;

	if (u->codec && u->failed.status == ATW_OK)
		u->failed.status = unpack_decode(u, buf, len, ret, &u->failed);
	if (u->codec)
		return atw_err_give(err, u->failed.status, &u->failed);
	if (!n && u->ended) {
		*ret = 0;
		return ATW_OK;
	}
	if (!n) {
		int r = unpack_fill(u->fd, buf, len, ret, err);

		u->taken += r == ATW_OK ? *ret : 0;
		return r;
	}
	n = n < len ? n : len;
	memcpy(buf, u->in + u->pos, n);
	u->pos += n;
	u->taken += n;
	*ret = n;
	return ATW_OK;
}

int unpack_read(struct unpack *u, void *buf, size_t len, size_t *ret, struct atw_err *err)
{
	int r;

	*ret = 0;
	r = unpack_get(u, buf, len, ret, err);
	u->given += r == ATW_OK ? *ret : 0;
	return r;
}

/* Restart at offset `at` of the file, where nothing has been consumed yet. */
static int unpack_rewind_to(struct unpack *u, uint64_t at, struct atw_err *err)
{
	if (at > INT64_MAX || lseek(u->fd, (off_t)at, SEEK_SET) < 0)
		return atw_err_set(err, ATW_E_IO, "%m");
	u->pos = u->len = 0;
	u->ended = false;
	u->given = u->taken = at;
	return ATW_OK;
}

int unpack_seek(struct unpack *u, uint64_t at, struct atw_err *err)
{
	char skip[4096];
	size_t n;
	int r = ATW_OK;

	if (!u->codec)
		return unpack_rewind_to(u, at, err);
	if (at < u->given) {
		r = unpack_rewind_to(u, 0, err);
		u->within = false;
		u->failed = (struct atw_err){ 0 };
		u->codec->restart(u->state);
	}
	while (r == ATW_OK && u->given < at) {
		uint64_t left = at - u->given;

		r = unpack_read(u, skip, left < sizeof(skip) ? left : sizeof(skip), &n, err);
		if (r == ATW_OK && !n)
			return atw_err_set(err, ATW_E_DAMAGED, "ends before byte %" PRIu64, at);
	}
	return r;
}

void unpack_progress(const struct unpack *u, uint64_t *done, uint64_t *all)
{
	struct stat st;

	*done = u->taken;
	*all = !fstat(u->fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

void unpack_close(struct unpack *u)
{
	if (!u)
		return;
	if (u->state)
		u->codec->end(u->state);
	if (u->owned)
		close(u->fd);
	free(u);
}
