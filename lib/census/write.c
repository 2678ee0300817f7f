/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write.c - writer of captures: a sink of the stream. */
#include "census/census.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/pack.h"

enum {
	PIECE = 256 << 10,           /* flushed in parts that fit into the cache */
	WRAP = 4000,                 /* minimum length of an M: or F: line before a new
				      * one begins */
};

struct census_writer {
	struct pack *out;
	struct capture_end end;
	char open;                   /* letter of the line that runs are appended to;
				      * 0: none */
	size_t line;                 /* its start in buf[] */
	struct capture_tail tail;
	size_t len;
	char buf[PIECE + CAPTURE_LINE];
};

int census_writer_open(int fd, int level, struct census_writer **ret, struct atw_err *err)
{
	static const struct capture_record first = {
		.letter = 'H', .h = { { "atwalk-capture", 14 }, { "1", 1 } },
	};
	struct census_writer *w = malloc(sizeof(*w));
	int r;

	_Static_assert(CAPTURE_VERSION == 1, "the first line says which version it is");
	if (!w)
		return atw_err_nomem(err);
	memset(w, 0, offsetof(struct census_writer, buf));
	r = pack_open(fd, level, &w->out, err);
	if (r != ATW_OK) {
		free(w);
		return r;
	}
	w->len = capture_write(&first, w->buf, CAPTURE_LINE);
	w->end.lines = 1;
	*ret = w;
	return ATW_OK;
}

/* Makes room for a line. */
static int write_room(struct census_writer *w, struct atw_err *err)
{
	size_t len = w->len;

	if (len < PIECE)
		return ATW_OK;
	w->len = 0;
	return pack_write(w->out, w->buf, len, err);
}

static void write_close_line(struct census_writer *w)
{
	if (!w->open)
		return;
	w->buf[w->len++] = '\n';
	w->end.lines++;
	w->open = 0;
}

/*
 * Makes room for a run in a line of this letter. Only complete lines are flushed, so the
 * buffer contains the open line from its beginning.
 */
static int write_open_line(struct census_writer *w, char letter, struct atw_err *err)
{
	int r;

	if (w->open == letter && w->len - w->line < WRAP)
		return ATW_OK;
	write_close_line(w);
	r = write_room(w, err);
	if (r != ATW_OK)
		return r;
	w->line = w->len;
	w->open = letter;
	w->buf[w->len++] = letter;
	w->buf[w->len++] = ':';
	return ATW_OK;
}

static int write_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct census_writer *w = arg;
	int r = write_open_line(w, 'M', err);

	if (r == ATW_OK)
		w->len += capture_write_like(run, &w->tail, w->buf + w->len,
					     sizeof(w->buf) - w->len);
	return r;
}

static int write_on_frames(void *arg, const struct capture_frames *run,
			   struct atw_err *err)
{
	struct census_writer *w = arg;
	int r = write_open_line(w, 'F', err);

	if (r == ATW_OK)
		w->len += capture_write_frames(run, w->buf + w->len, sizeof(w->buf) - w->len);
	return r;
}

static bool write_is_first(const struct capture_record *rec)
{
	static const char key[] = "atwalk-capture";

	return rec->letter == 'H' && rec->h.key.len == sizeof(key) - 1 &&
	       !memcmp(rec->h.key.data, key, sizeof(key) - 1);
}

static int write_put(struct census_writer *w, const struct capture_record *rec,
		     struct atw_err *err)
{
	size_t n;
	int r;

	write_close_line(w);
	r = write_room(w, err);
	if (r != ATW_OK)
		return r;
	n = capture_write(rec, w->buf + w->len, CAPTURE_LINE);
	if (!n)
		return atw_err_set(err, ATW_E_LIMIT, "%c: a line of more than %d bytes",
				   rec->letter, CAPTURE_LINE);
	w->len += n;
	w->end.lines++;
	return ATW_OK;
}

static int write_on_record(void *arg, const struct capture_record *rec,
			   struct atw_err *err)
{
	struct census_writer *w = arg;
	int r;

	/* The writer adds the first line and the last. */
	if (write_is_first(rec) || rec->letter == 'E')
		return ATW_OK;
	r = write_put(w, rec, err);
	if (r != ATW_OK)
		return r;
	w->end.tasks += rec->letter == 'T';
	w->end.areas += rec->letter == 'V';
	w->end.lost += rec->letter == 'L';
	return ATW_OK;
}

struct census_sink census_writer_sink(struct census_writer *w)
{
	return (struct census_sink){write_on_record, write_on_run, write_on_frames, w};
}

int census_writer_end(struct census_writer *w, struct atw_err *err)
{
	struct capture_record rec = { .letter = 'E' };
	int r;

	write_close_line(w);
	rec.e = w->end;
	r = write_put(w, &rec, err) ?: pack_write(w->out, w->buf, w->len, err);
	w->len = 0;
	if (r == ATW_OK)
		r = pack_end(w->out, err);
	return r;
}

void census_writer_close(struct census_writer *w)
{
	if (!w)
		return;
	pack_close(w->out);
	free(w);
}
