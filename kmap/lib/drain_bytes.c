/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_bytes.c - lines on their way to the file, and how far the file makes sense.
 */
#include "kmap/lib/drain_own.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

enum {
	FRAME = 8 << 20,         /* of text in a frame: what is lost at worst with a packed file */
	LAST_ROOM = 512,         /* for a line that says why there is no more */
};

static bool drain_is_of_object(struct atw_blob text, size_t at)
{
	const char *s = text.data;

	/* Of comments, "# line", "# used", "# mark" and "# task" are. */
	return s[at] == ' ' || (s[at] == '#' && (at + 2 >= text.len || strchr("lumt", s[at + 2])));
}

/* Behind the last of the first `n` bytes that no access to something before follows; 0: none. */
static size_t drain_last_whole(struct atw_blob text, size_t n)
{
	const char *s = text.data, *nl;

	while (n && (nl = memrchr(s, '\n', n))) {
		size_t next = (size_t)(nl - s) + 1;

		if (next < text.len && !drain_is_of_object(text, next))
			return next;
		n = next - 1;
	}
	return 0;
}

/* The first `n` bytes are in the file, where the disk may end at any byte. */
static void drain_note_written(struct kmap_drain *d, struct atw_blob text, size_t n)
{
	off_t at = d->start + (off_t)d->sum.bytes;
	size_t whole = n > LAST_ROOM ? drain_last_whole(text, n - LAST_ROOM) : 0;

	if (!whole && d->whole_soon && at + (off_t)n - d->whole_soon >= LAST_ROOM)
		d->whole = d->whole_soon;
	else if (whole)
		d->whole = at + (off_t)whole;
	if (d->whole_soon <= d->whole) {
		whole = drain_last_whole(text, n);
		d->whole_soon = whole ? at + (off_t)whole : 0;
	}
}

/* *done: so many bytes were written, also if that failed. */
static int drain_write_text(struct kmap_drain *d, struct atw_blob text, size_t *done,
			    struct atw_err *err)
{
	int r = ATW_OK;

	*done = text.len;
	if (d->pack) {
		r = text.len ? pack_write(d->pack, text.data, text.len, err) : ATW_OK;
		*done = r < 0 ? 0 : text.len;
		d->in_frame += *done;
	} else {
		*done = io_write(d->o.fd, text.data, text.len);
		if (*done < text.len)
			r = atw_err_set(err, ATW_E_IO, "writing: %s", strerror(errno));
		if (*done)
			drain_note_written(d, text, *done);
	}
	d->sum.bytes += *done;
	return r;
}

/* In a thread: what it wrote waits for its turn. */
static int drain_put_on_tape(struct kmap_drain *d, struct atw_err *err)
{
	struct drain_tape *t = d->turn->tape;

	if (!array_reserve((void **)&t->text, &t->room, t->len + d->used, 1))
		return atw_err_nomem(err);
	if (d->used)
		memcpy(t->text + t->len, d->buffer, d->used);
	t->len += d->used;
	d->used = 0;
	drain_add_sums(&t->sum, &d->sum);
	d->sum = (struct kmap_drained){ 0 };
	return turn_is_full(d->turn, t->len) ? turn_pass(d->turn) : ATW_OK;
}

/* What could not be written stays, and nothing is written twice. */
int drain_put_out(struct kmap_drain *d, struct atw_err *err)
{
	size_t done;
	int r;

	if (d->turn)
		return drain_put_on_tape(d, err);
	r = drain_write_text(d, (struct atw_blob){ d->buffer, d->used }, &done, err);
	d->used -= done;
	memmove(d->buffer, d->buffer + done, d->used);
	return r;
}

int kmap_drain_flush(struct kmap_drain *d, struct atw_err *err)
{
	int r = drain_put_out(d, err);

	if (r < 0 || !d->pack || !d->in_frame)
		return r;
	r = pack_end(d->pack, err);
	pack_close(d->pack);
	d->pack = NULL;
	d->in_frame = 0;
	if (r < 0)
		return r;
	d->whole = lseek(d->o.fd, 0, SEEK_CUR);
	return pack_open(d->o.fd, d->o.level, &d->pack, err);
}

int drain_put_text(struct kmap_drain *d, const char *text, size_t n, bool between,
		   struct atw_err *err)
{
	size_t done;
	int r = drain_put_out(d, err);

	if (r == ATW_OK)
		r = drain_write_text(d, (struct atw_blob){ text, n }, &done, err);
	return r == ATW_OK && between && d->in_frame > FRAME ? kmap_drain_flush(d, err) : r;
}

int drain_put(struct kmap_drain *d, const struct kmap_record *rec, struct atw_err *err)
{
	int r = ATW_OK;

	if (sizeof(d->buffer) - d->used < KMAP_LINE) {
		/* Between objects a frame may end. */
		r = rec->kind == KMAP_OBJECT && d->in_frame > FRAME
			    ? kmap_drain_flush(d, err)
			    : drain_put_out(d, err);
		if (r < 0)
			return r;
	}
	d->used += kmap_write(rec, d->o.version, d->buffer + d->used,
			      sizeof(d->buffer) - d->used);
	return r;
}

bool kmap_drain_mend(struct kmap_drain *d, const char *cut)
{
	bool packed = d->o.level;

	if (d->start < 0 || ftruncate(d->o.fd, d->whole) < 0 ||
	    lseek(d->o.fd, d->whole, SEEK_SET) < 0)
		return false;
	pack_close(d->pack);
	d->pack = NULL;
	d->used = 0;
	if (packed && pack_open(d->o.fd, d->o.level, &d->pack, NULL) < 0)
		return false;
	if (!packed)
		d->sum.bytes = (uint64_t)(d->whole - d->start);
	if (d->whole == d->start && kmap_drain_begin(d, NULL) < 0)
		return false;
	return kmap_drain_end(d, cut, NULL) == ATW_OK;
}
