/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write.c - writer of captures: a sink of the stream. */
#include "census/census.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/pack.h"
#include "census/capture_text.h"

enum {
	PIECE = 256 << 10,           /* flushed in parts that fit into the cache */
	COPY = 32 << 10,             /* lines of fewer bytes are gathered */
};

struct census_writer {
	struct pack *out;
	struct capture_text lines;
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
	w->len = capture_text_add(&w->lines, &first, w->buf, NULL);
	*ret = w;
	return ATW_OK;
}

static int write_flush(struct census_writer *w, struct atw_err *err)
{
	size_t len = w->len;

	w->len = 0;
	return pack_write(w->out, w->buf, len, err);
}

/* Room for a line. Only complete lines are flushed. */
static int write_room(struct census_writer *w, struct atw_err *err)
{
	w->len += capture_text_close(&w->lines, w->buf + w->len);
	return w->len < PIECE ? ATW_OK : write_flush(w, err);
}

/* The line that runs of this letter are appended to, in the buffer from its beginning. */
static int write_open_line(struct census_writer *w, char letter, struct atw_err *err)
{
	int r = ATW_OK;

	if (!capture_text_go_on(&w->lines, letter)) {
		r = write_room(w, err);
		w->len += capture_text_open(&w->lines, letter, w->buf + w->len);
	}
	return r;
}

static int write_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct census_writer *w = arg;
	int r = write_open_line(w, 'M', err);

	if (r == ATW_OK)
		w->len += capture_text_add_run(&w->lines, run, w->buf + w->len);
	return r;
}

static int write_on_frames(void *arg, const struct capture_frames *run,
			   struct atw_err *err)
{
	struct census_writer *w = arg;
	int r = write_open_line(w, 'F', err);

	if (r == ATW_OK)
		w->len += capture_text_add_frames(&w->lines, run, w->buf + w->len);
	return r;
}

/* Lines of others, which are many or are copied behind those before. */
static int write_on_lines(void *arg, const char *text, size_t len,
			  const struct capture_end *count, struct atw_err *err)
{
	struct census_writer *w = arg;
	int r = write_room(w, err);

	capture_text_count(&w->lines, count);
	if (r == ATW_OK && len < COPY) {
		memcpy(w->buf + w->len, text, len);
		w->len += len;
		return ATW_OK;
	}
	return r ?: write_flush(w, err) ?: pack_write(w->out, text, len, err);
}

static bool write_is_first(const struct capture_record *rec)
{
	static const char key[] = "atwalk-capture";

	return rec->letter == 'H' && rec->h.key.len == sizeof(key) - 1 &&
	       !memcmp(rec->h.key.data, key, sizeof(key) - 1);
}

static int write_on_record(void *arg, const struct capture_record *rec,
			   struct atw_err *err)
{
	struct census_writer *w = arg;
	size_t n;
	int r;

	/* The writer adds the first line and the last. */
	if (write_is_first(rec) || rec->letter == 'E')
		return ATW_OK;
	r = write_room(w, err);
	if (r != ATW_OK)
		return r;
	n = capture_text_add(&w->lines, rec, w->buf + w->len, err);
	w->len += n;
	return n ? ATW_OK : ATW_E_LIMIT;
}

struct census_sink census_writer_sink(struct census_writer *w)
{
	return (struct census_sink){
		.record = write_on_record, .run = write_on_run,
		.frames = write_on_frames, .arg = w,
		.lines = write_on_lines,
	};
}

int census_writer_end(struct census_writer *w, struct atw_err *err)
{
	struct capture_record rec = { .letter = 'E' };
	int r = write_room(w, err);

	if (r != ATW_OK)
		return r;
	rec.e = w->lines.count;
	w->len += capture_text_add(&w->lines, &rec, w->buf + w->len, err);
	return write_flush(w, err) ?: pack_end(w->out, err);
}

void census_writer_close(struct census_writer *w)
{
	if (!w)
		return;
	pack_close(w->out);
	free(w);
}
