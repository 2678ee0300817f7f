/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture - source for captures, atwalk-capture(5), which list as text the memory of each
 * task. A capture has no memory that could be read; lib/target/capture_vmas.c reads its
 * records. This source recognises the format and holds the file, which may be the copy of
 * a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "source/capture_stream.h"
#include "source/kinds.h"

enum { ZSTD_MAGIC = 0xfd2fb528, HEADERS = 256 };

struct held {
	int fd;
	bool paper, packed;
	char path[32];               /* leads to fd, whatever the file is called now */
	char machine[72], release[72];
};

/* What is packed by zstd can be nothing else. */
static int source_capture_probe(struct atw_blob head, const char *path)
{
	const void *p = blob_at(head, 0, 4);

	(void)path;
	return p && get_le32(p) == ZSTD_MAGIC ? 50 : capture_probe(head);
}

static void source_capture_keep(char *to, size_t len, const struct capture_header *h,
				const char *key)
{
	if (blob_is(h->key, key))
		snprintf(to, len, "%.*s", (int)(h->value.len < len ? h->value.len : len - 1),
			 (const char *)h->value.data);
}

/* Read the first lines. Errors in them are left to the reader of the whole file. */
static int source_capture_read_head(struct held *h, struct atw_err *err)
{
	struct capture_stream *s = NULL;
	struct capture_record rec;
	int r = capture_stream_open(h->fd, &s, err);

	for (unsigned i = 0; r == ATW_OK && i < HEADERS; i++) {
		r = capture_stream_next(s, &rec);
		if (s->fatal)
			break;
		if (r == ATW_END || (r == ATW_OK && rec.letter == 'T'))
			i = HEADERS;
		if (r == ATW_OK && rec.letter == 'H') {
			source_capture_keep(h->machine, sizeof(h->machine), &rec.h,
					    "machine");
			source_capture_keep(h->release, sizeof(h->release), &rec.h,
					    "release");
		}
		r = ATW_OK;
	}
	if (s) {
		h->paper = s->rd.paper;
		if (r != ATW_OK)
			atw_err_set(err, r, "%s", s->e.text);
	}
	capture_stream_close(s);
	return r;
}

static int capture_open(struct atw_source *s, const struct atw_source_spec *spec,
			struct atw_err *err)
{
	struct held *h = calloc(1, sizeof(*h));
	uint8_t magic[4] = { 0 };

	s->impl = h;
	if (!h)
		return atw_err_nomem(err);
	h->fd = -1;
	if (spec->nparts)
		return atw_err_set(err, ATW_E_USAGE, "a capture is one file");
	h->fd = open(spec->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (h->fd < 0)
		return atw_err_set(err, errno == ENOENT ? ATW_E_MISSING :
				   errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO, "%m");
	snprintf(h->path, sizeof(h->path), "/proc/self/fd/%d", h->fd);
	h->packed = pread(h->fd, magic, 4, 0) == 4 && get_le32(magic) == ZSTD_MAGIC;
	return source_capture_read_head(h, err);
}

static void source_capture_close(struct atw_source *s)
{
	struct held *h = s->impl;

	if (h && h->fd >= 0)
		close(h->fd);
	free(h);
	s->impl = NULL;
}

static ssize_t capture_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			    struct atw_err *err)
{
	(void)s, (void)pa, (void)buf, (void)len, (void)err;
	return 0;
}

static int capture_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	(void)s, (void)pa, (void)ret;
	return ATW_END;
}

static int capture_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	const struct held *h = s->impl;
	const char *text = !strcmp(key, "capture") ? h->path :
			   !strcmp(key, "machine") ? h->machine :
			   !strcmp(key, "release") ? h->release : "";

	*ret = (struct atw_blob){ text, strlen(text) };
	return *text ? ATW_OK : ATW_E_MISSING;
}

static void source_capture_describe(struct atw_source *s, char *buf, size_t len)
{
	const struct held *h = s->impl;

	snprintf(buf, len, "capture%s%s", h->paper ? " in the paper's form" : ", version 1",
		 h->packed ? ", packed by zstd" : "");
}

const struct atw_source_ops source_capture = {
	.size = sizeof(struct atw_source_ops),
	.name = "capture",
	.help = "page ownership, as recorded by atwalk collect",
	.probe = source_capture_probe,
	.open = capture_open,
	.close = source_capture_close,
	.read = capture_read,
	.extent = capture_extent,
	.fact = capture_fact,
	.describe = source_capture_describe,
};
