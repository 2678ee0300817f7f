/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/read.h"

#include "base/unpack.h"

enum {
	PIECE = 256 << 10,           /* what is read at once stays in the cache */
	FAULTS = 20,                 /* so many are reported one by one */
	ENOUGH = 1 << 20,            /* of what has so many, nothing more is read */
};

struct kmap_read_reading {
	const char *name;            /* of the file, for people */
	const struct kmap_read_opts *o;
	const struct kmap_sink *to;
	struct kmap_summary *summary;
	bool theirs;                 /* what failed is not the file */
	struct atw_err e;            /* of the last fault */
	struct kmap_reader rd;
	char buf[KMAP_LOOK + KMAP_LINE + PIECE];
};

static int kmap_read_failed(const struct kmap_read_reading *x, struct atw_err *err)
{
	atw_err_set(err, x->e.status, "%s", x->e.text);
	if (x->e.hint[0])
		atw_err_hint(err, "%s", x->e.hint);
	return x->e.status;
}

/* Reports damage and goes on; without a callback it is a failure. */
static int kmap_read_emit(struct kmap_read_reading *x, struct atw_err *err)
{
	if (!x->o || !x->o->damaged)
		return kmap_read_failed(x, err);
	atw_err_wrap(&x->e, "%s", x->name);
	x->o->damaged(x->o->arg, &x->e);
	return ATW_OK;
}

static void kmap_read_note(struct kmap_read_reading *x)
{
	const struct kmap_reader *k = &x->rd;

	x->summary->version = k->version;
	x->summary->ours = k->ours;
	x->summary->objects = k->objects;
	x->summary->accesses = k->accesses;
	x->summary->calls = k->calls;
	x->summary->faults = k->faults;
	x->summary->lost = k->lost;
}

/* All whole lines of a buffer; *pos moves behind them. */
static int kmap_read_lines(struct kmap_read_reading *x, struct atw_blob buf, bool last,
			   size_t *pos, struct atw_err *err)
{
	struct kmap_record rec;
	int r;

	for (;;) {
		/* After the first errors only their number is reported. */
		r = kmap_next(&x->rd, buf, last, pos, &rec,
			      x->rd.faults < FAULTS ? &x->e : NULL);
		if (r == ATW_OK) {
			if (rec.kind != KMAP_ACCESS)
				kmap_read_note(x);
			r = x->to->record(x->to->arg, &rec, err);
			x->theirs = r != ATW_OK;
		} else if (r == ATW_END) {
			return ATW_OK;
		} else if (r == ATW_E_UNSUPPORTED) {
			/* Its sentence is due, whatever came before. */
			return x->rd.faults > FAULTS
				       ? atw_err_set(err, r,
						     "line %" PRIu64
						     ": of another version than the "
						     "lines before",
						     x->rd.line)
				       : kmap_read_failed(x, err);
		} else {
			r = x->rd.faults <= FAULTS ? kmap_read_emit(x, err) : ATW_OK;
			if (r == ATW_OK && x->rd.faults >= ENOUGH)
				return ATW_END;
		}
		if (r != ATW_OK)
			return r;
	}
}

/* Of Memorizer's files of 2024 two are tables with a head, and no KMAPs. */
static bool kmap_read_is_table(struct atw_blob b)
{
	static const char *const heads[] = { "alloc_ip,pid,ptr,size,", "alloc_index,access_ip," };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		if (b.len >= strlen(heads[i]) && !memcmp(b.data, heads[i], strlen(heads[i])))
			return true;
	return false;
}

/* Is it a KMAP? Detected from its first object or our header; a pipe may never end. */
static int kmap_read_first_lines(struct kmap_read_reading *x, struct unpack *u,
				 size_t *have, struct atw_err *err)
{
	size_t len = 0, n = 0;
	int r;

	do {
		r = unpack_read(u, x->buf + len, KMAP_LOOK - len, &n, &x->e);
		len += r == ATW_OK ? n : 0;
	} while (r == ATW_OK && n && len < KMAP_LOOK &&
		 !kmap_probe((struct atw_blob){ x->buf, len }));
	*have = len;
	if (kmap_probe((struct atw_blob){ x->buf, len }))
		return ATW_OK;
	if (r != ATW_OK)
		return kmap_read_failed(x, err);
	if (!len)
		return atw_err_set(err, ATW_E_FORMAT, "is empty");
	if (kmap_read_is_table((struct atw_blob){x->buf, len}))
		return atw_err_set(err, ATW_E_FORMAT, "not a KMAP, but a table of the control folder; "
				   "read 'kmap' there");
	return atw_err_set(err, ATW_E_FORMAT, "not a KMAP: expected a first line "
			   "\"alloc_ip,pid,va,size,...\" or \"# atwalk-kmap 1\"");
}

static void kmap_read_progress(const struct kmap_read_reading *x, const struct unpack *u)
{
	uint64_t done, all;

	if (!x->o || !x->o->progress)
		return;
	unpack_progress(u, &done, &all);
	x->o->progress(x->o->arg, done, all);
}

static int kmap_read_all(struct kmap_read_reading *x, struct unpack *u,
			 struct atw_err *err)
{
	size_t have = 0, n, pos;
	bool last = false;
	int r = kmap_read_first_lines(x, u, &have, err);

	/* ATW_END: enough of it. */
	while (r == ATW_OK) {
		pos = 0;
		r = kmap_read_lines(x, (struct atw_blob){x->buf, have}, last, &pos, err);
		if (r != ATW_OK || last)
			break;
		have -= pos;
		memmove(x->buf, x->buf + pos, have);
		kmap_read_progress(x, u);
		r = unpack_read(u, x->buf + have, sizeof(x->buf) - have, &n, &x->e);
		if (r == ATW_OK) {
			have += n;
			last = !n;
		} else if (r == ATW_E_DAMAGED) {
			const char *nl = memrchr(x->buf, '\n', have);

			/* That the line has no end is the same news. */
			have = nl ? (size_t)(nl - x->buf) + 1 : 0;
			x->summary->cut = last = true;
			r = kmap_read_emit(x, err);
		} else {
			r = kmap_read_failed(x, err);
		}
	}
	if (r == ATW_END) {
		x->summary->cut = true;
		atw_err_set(&x->e, ATW_E_DAMAGED, "line %" PRIu64 ": %d invalid lines so far: "
			    "the rest is not read", x->rd.line, ENOUGH);
		return kmap_read_emit(x, err);
	}
	if (r == ATW_OK && x->rd.faults > FAULTS) {
		atw_err_set(&x->e, ATW_E_DAMAGED, "%" PRIu64 " more lines are invalid",
			    x->rd.faults - FAULTS);
		r = kmap_read_emit(x, err);
	}
	if (r == ATW_OK && !x->summary->cut && kmap_finish(&x->rd, &x->e) != ATW_OK) {
		x->summary->cut = true;
		r = kmap_read_emit(x, err);
	}
	return r;
}

int kmap_read(const char *path, const struct kmap_read_opts *o, const struct kmap_sink *to,
	      struct kmap_summary *ret, struct atw_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	_auto_free struct kmap_read_reading *x = malloc(sizeof(*x));
	struct kmap_summary summary = { 0 };
	struct unpack *u = NULL;
	int r;

	if (ret)
		*ret = summary;
	if (!x)
		return atw_err_nomem(err);
	x->name = name;
	x->o = o;
	x->to = to;
	x->summary = ret ? ret : &summary;
	x->theirs = false;
	x->e = (struct atw_err){ 0 };
	kmap_init(&x->rd);
	r = unpack_open_path(path, &u, err) ?: kmap_read_all(x, u, err);
	kmap_read_note(x);
	unpack_close(u);
	/* A failure to write is not about what is read. */
	if (r < 0 && !x->theirs)
		atw_err_wrap(err, "%s", name);
	return r;
}
