/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/write.h"

#include "base/bytes.h"
#include "base/pack.h"

enum { PIECE = 128 << 10 };

struct kmap_writer {
	struct pack *pack;
	struct kmap_form form;
	struct kmap_losses losses;
	uint64_t objects, accesses;      /* lines of them */
	bool said_cut;                   /* as what is read does */
	size_t len;
	char buf[PIECE + KMAP_LINE];
};

/* What our own form has lines for, and version 4 has not. */
static const uint32_t own_holds = KMAP_LOSES_HEAT | KMAP_LOSES_USED | KMAP_LOSES_CALL |
				  KMAP_LOSES_HEADER | KMAP_LOSES_SYMBOL | KMAP_LOSES_SAMPLE |
				  KMAP_LOSES_COMMENT | KMAP_LOSES_CALLER | KMAP_LOSES_MARK;

const char *kmap_form_name(struct kmap_form f)
{
	return f.own ? "atwalk's own form" : kmap_version_name(f.version);
}

static int kmap_write_put(struct kmap_writer *w, const struct kmap_record *rec,
			  struct atw_err *err);

static int kmap_write_put_header(struct kmap_writer *w, const char *key,
				 const char *value, struct atw_err *err)
{
	const struct kmap_record rec = {
		.kind = KMAP_HEADER,
		.u.header = { { key, strlen(key) }, { value, strlen(value) } },
	};

	return kmap_write_put(w, &rec, err);
}

int kmap_writer_open(int fd, int level, struct kmap_form form, struct kmap_writer **ret,
		     struct atw_err *err)
{
	struct kmap_writer *w = malloc(sizeof(*w));
	int r;

	if (!w)
		return atw_err_nomem(err);
	w->pack = NULL;
	w->form = form;
	w->losses = (struct kmap_losses){ 0 };
	w->objects = w->accesses = 0;
	w->said_cut = false;
	w->len = 0;
	r = pack_open(fd, level, &w->pack, err);
	if (r == ATW_OK && form.own)
		r = kmap_write_put_header(w, "version", "1", err);
	if (r != ATW_OK) {
		kmap_writer_close(w);
		return r;
	}
	*ret = w;
	return ATW_OK;
}

static int kmap_write_flush(struct kmap_writer *w, struct atw_err *err)
{
	int r = pack_write(w->pack, w->buf, w->len, err);

	w->len = 0;
	return r;
}

static int kmap_write_put(struct kmap_writer *w, const struct kmap_record *rec,
			  struct atw_err *err)
{
	size_t n = kmap_write(rec, w->form.version, w->buf + w->len, sizeof(w->buf) - w->len);

	if (!n)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "a line of %s would be longer than %d bytes",
				   kmap_form_name(w->form), KMAP_LINE);
	w->len += n;
	w->objects += rec->kind == KMAP_OBJECT;
	w->accesses += rec->kind == KMAP_ACCESS;
	return w->len >= PIECE ? kmap_write_flush(w, err) : ATW_OK;
}

static bool kmap_write_is_header(const struct kmap_record *rec, const char *key)
{
	return rec->kind == KMAP_HEADER && blob_is(rec->u.header.key, key);
}

/*
 * Does it have no line at all in that form, or one that would be wrong there? The first
 * line and the last one are the writer's own.
 */
static bool kmap_write_passed(const struct kmap_writer *w, const struct kmap_record *rec,
			      uint32_t lost)
{
	return rec->kind == KMAP_END || rec->kind == KMAP_BLANK ||
	       (w->form.own && kmap_write_is_header(rec, "version")) ||
	       (w->form.version != KMAP_COMPRESSED && kmap_is_compressed_comment(rec)) ||
	       (lost && rec->kind != KMAP_OBJECT && rec->kind != KMAP_ACCESS);
}

/* In a file of ours, a comment from elsewhere may look like one of our lines. */
static bool kmap_write_is_not_comment(const struct kmap_record *rec)
{
	char line[KMAP_LINE];
	struct kmap_record got;
	size_t n = kmap_write(rec, KMAP_V4, line, sizeof(line));

	return !n || kmap_parse((struct atw_blob){ line, n - 1 }, KMAP_V4, KMAP_OURS | KMAP_DECLARED,
				&got, NULL) != ATW_OK || got.kind != KMAP_COMMENT;
}

static uint32_t kmap_write_losses(const struct kmap_writer *w,
				  const struct kmap_record *rec)
{
	uint32_t lost = kmap_loses(rec, w->form.version);

	if (!w->form.own)
		return lost;
	return rec->kind == KMAP_COMMENT && kmap_write_is_not_comment(rec)
		       ? KMAP_LOSES_COMMENT
		       : lost & ~own_holds;
}

/* By what it begins with, or by what only lines of that form have. */
static bool kmap_write_is_compressed(const struct kmap_record *rec)
{
	return kmap_is_compressed_comment(rec) ||
	       (rec->kind == KMAP_OBJECT && rec->u.object.has & KMAP_HAS_NAME) ||
	       (rec->kind == KMAP_ACCESS && rec->u.access.has & KMAP_HAS_FREES);
}

/* Version 4 has the line, and no caller in it. */
static int kmap_write_put_without_caller(struct kmap_writer *w,
					 const struct kmap_record *rec,
					 struct atw_err *err)
{
	struct kmap_record plain = *rec;

	plain.u.access.has &= ~(uint32_t)KMAP_HAS_CALLER;
	return kmap_write_put(w, &plain, err);
}

static int kmap_write_on_record(void *arg, const struct kmap_record *rec,
				struct atw_err *err)
{
	struct kmap_writer *w = arg;
	uint32_t lost = kmap_write_losses(w, rec);

	if (w->form.own && kmap_write_is_compressed(rec))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "%s has single objects, and the compressed form only sums of them",
				   kmap_form_name(w->form));
	for (uint32_t left = lost; left; left &= left - 1)
		w->losses.n[__builtin_ctz(left)]++;
	w->said_cut |= kmap_write_is_header(rec, "cut");
	if (kmap_write_passed(w, rec, lost))
		return ATW_OK;
	return lost & KMAP_LOSES_CALLER ? kmap_write_put_without_caller(w, rec, err)
					: kmap_write_put(w, rec, err);
}

struct kmap_sink kmap_writer_sink(struct kmap_writer *w)
{
	return (struct kmap_sink){kmap_write_on_record, w};
}

const struct kmap_losses *kmap_writer_losses(const struct kmap_writer *w)
{
	return &w->losses;
}

/* Of what is not whole nothing whole can be made. */
static int kmap_write_last_line(struct kmap_writer *w, const struct kmap_summary *of,
				struct atw_err *err)
{
	const struct kmap_record end = {
		.kind = KMAP_END, .u.end = { w->objects, w->accesses, of->lost },
	};
	char why[80];

	if (w->said_cut && of->cut)
		return ATW_OK;
	if (!of->cut && !of->faults)
		return kmap_write_put(w, &end, err);
	if (of->faults)
		snprintf(why, sizeof(why), "invalid lines in its input: %" PRIu64,
			 of->faults);
	else
		snprintf(why, sizeof(why), "its input is cut off");
	return kmap_write_put_header(w, "cut", why, err);
}

int kmap_writer_end(struct kmap_writer *w, const struct kmap_summary *of, struct atw_err *err)
{
	int r = w->form.own ? kmap_write_last_line(w, of, err) : ATW_OK;

	if (r == ATW_OK)
		r = kmap_write_flush(w, err);
	return r == ATW_OK ? pack_end(w->pack, err) : r;
}

void kmap_writer_close(struct kmap_writer *w)
{
	if (!w)
		return;
	pack_close(w->pack);
	free(w);
}
