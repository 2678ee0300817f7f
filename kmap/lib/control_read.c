/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_read.c - contents of the controls. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "kmap/lib/control_own.h"
#include <time.h>

/* ---- small ones ---- */

ATW_PRINTF(1, 2) static char *control_read_printed(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

static char *control_read_enabled(const struct kmap_controls *c)
{
	uint32_t gate = atomic_load(&c->s->gate);

	if (!(gate & KSHARE_OBJECTS))
		return control_read_printed("0 - memorizer disabled\n");
	if (gate & KSHARE_ONE)
		return control_read_printed(
			"%d - memorizer enabled, accesses of this process\n",
			atomic_load(&c->s->only_pid));
	return control_read_printed("1 - memorizer enabled, all processes\n");
}

/* As the kernel writes a bool. */
static char *control_read_switched(bool on)
{
	return strdup(on ? "Y\n" : "N\n");
}

static int read_stats(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	int ret;

	control_stand_still(c);
	ret = control_drain_all(c, err);
	r->text = ret < 0 ? NULL : control_stats(c);
	control_go_on(c);
	return ret;
}

/* ---- kmap ---- */

/* A file without a name, where the output is. */
static int control_read_open_copy(const struct kmap_controls *c)
{
	char name[] = "/tmp/atwalk-kmap.XXXXXX";
	int fd = open(c->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

/* What lives, and a last line that counts all of it. */
static int control_read_copy_live(struct kmap_reading *r, const struct control_mark *from,
				  struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct kmap_drain_opts o = *kmap_drain_how(c->d);
	struct kmap_drain *d = NULL;
	int ret;

	o.fd = r->copy;
	o.objects = r->end.objects - from->objects;
	o.accesses = r->end.accesses - from->accesses;
	ret = kmap_drain_open(c->s, &o, &d, err);
	/* Of what lives, some may have been written before that, in parts. */
	if (ret == ATW_OK && from->parts)
		ret = kmap_drain_header(d, err, "cleared-parts", "%" PRIu64, from->parts);
	if (ret == ATW_OK && kmap_drain_known(c->d))
		ret = kmap_drain_functions(d, kmap_drain_known(c->d), err);
	if (ret == ATW_OK && c->live)
		ret = kmap_drain_rest(d, err);
	if (ret == ATW_OK)
		ret = kmap_drain_unnamed(d, err) ?: kmap_drain_end(d, NULL, err);
	if (ret == ATW_OK)
		r->piece[2] =
			(struct control_piece){r->copy, 0, kmap_drain_sums(d).bytes};
	kmap_drain_close(d);
	return ret < 0 ? -EIO : 0;
}

static int control_read_copy_kmap(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct control_mark from;
	off_t headers = 0;
	int ret = control_drain_all(c, err) ?: control_here(c, &r->end, &headers, err);

	if (ret < 0)
		return ret;
	/* A caller that has read this may clear it. */
	kmap_drain_anew(c->d);
	from = c->view.at > headers ? c->view : (struct control_mark){.at = headers};
	r->piece[0] = (struct control_piece){c->fd, 0, (uint64_t)headers};
	r->piece[1] =
		(struct control_piece){c->fd, from.at, (uint64_t)(r->end.at - from.at)};
	r->freed = r->piece[0].len + r->piece[1].len;
	return control_read_copy_live(r, &from, err);
}

static int read_kmap(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct control_mark here;
	off_t headers;
	int ret = control_here(c, &here, &headers, err);

	if (ret < 0)
		return ret;
	r->copy = control_read_open_copy(c);
	if (r->copy < 0) {
		ret = -errno;
		atw_err_set(err, ATW_E_IO, "cannot copy live objects: %s", strerror(errno));
		return ret;
	}
	control_stand_still(c);
	ret = control_read_copy_kmap(r, err);
	control_go_on(c);
	return ret;
}

static ssize_t read_pieces(void *arg, char *buf, size_t len, uint64_t at)
{
	struct kmap_reading *r = arg;
	uint64_t before = 0;
	size_t done = 0;

	for (unsigned i = 0; i < PIECES && done < len; i++) {
		const struct control_piece *p = &r->piece[i];

		while (done < len && at + done < before + p->len) {
			uint64_t in = at + done - before, want = p->len - in;
			ssize_t n = pread(p->fd, buf + done, want < len - done ? want : len - done,
					  p->at + (off_t)in);

			if (n < 0 && errno == EINTR)
				continue;
			/* It became shorter: its disk was full. */
			if (n <= 0)
				return -EIO;
			done += (size_t)n;
		}
		before += p->len;
	}
	return (ssize_t)done;
}

/* ---- kmap in rows ---- */

/* Other versions have no types, or no processes: nothing is to be made up. */
static int control_read_rows(struct kmap_reading *r, struct atw_err *err)
{
	enum kmap_version v = kmap_drain_how(r->c->d)->version;
	int ret;

	if (v != KMAP_V4)
		return control_refuse(err, -EOPNOTSUPP, ATW_E_UNSUPPORTED,
				      "rows require version 4, and %s is recorded",
				      kmap_version_name(v));
	ret = read_kmap(r, err);
	return ret < 0 ? ret : control_rows_open(r->kind == C_ACCESS_ROWS, r->freed, read_pieces,
						 r, &r->rows);
}

static int read_globals(struct kmap_reading *r, struct atw_err *err)
{
	if (!r->c->s->kernel.nglobals)
		return control_refuse(err, -ENODATA, ATW_E_MISSING,
				      "no variables of a kernel are recorded");
	r->text = control_globals(r->c);
	return 0;
}

/* ---- kmap_stream: freed objects as a stream ---- */

static int control_stream_open(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct control_mark here;
	off_t headers;
	int ret = control_here(c, &here, &headers, err);

	if (ret < 0)
		return ret;
	if (c->streaming)
		return control_refuse(err, -EBUSY, ATW_E_LIMIT, "it already has a reader");
	c->streaming = true;
	r->stream.at = -1;
	return 0;
}

/* Objects and accesses that begin in what is handed out, and where an object ends. */
static void control_stream_follow(struct stream *s, const char *buf, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!s->in_line && buf[i] != ' ' && buf[i] != '#') {
			s->now.at = s->at + (off_t)i;
			s->whole = s->now;
			s->now.objects++;
		} else if (!s->in_line && buf[i] == ' ') {
			s->now.accesses++;
		}
		s->in_line = buf[i] != '\n';
	}
	s->at += (off_t)n;
}

/* Its last line counts what its reader got; without one it is cut. */
static ssize_t control_stream_last_line(struct kmap_reading *r, char *buf, size_t len)
{
	const struct kshare_counts *n = &r->c->s->count;
	struct stream *s = &r->stream;
	struct kmap_record rec = { .kind = KMAP_END };

	if (!s->end_len && !r->c->cut && kmap_drain_how(r->c->d)->version == KMAP_V4) {
		rec.u.end.objects = s->now.objects - s->first.objects;
		rec.u.end.accesses = s->now.accesses - s->first.accesses;
		rec.u.end.lost = kshare_lost(n);
		s->end_len = kmap_write(&rec, KMAP_V4, s->end, sizeof(s->end));
	}
	len = MIN(len, s->end_len - s->end_at);
	memcpy(buf, s->end + s->end_at, len);
	s->end_at += len;
	return (ssize_t)len;
}

/* As much as there is; 0: nothing yet. With the lock. */
static ssize_t control_stream_take(struct kmap_reading *r, char *buf, size_t len,
				   bool *end)
{
	struct kmap_controls *c = r->c;
	struct stream *s = &r->stream;
	off_t headers, upto;
	ssize_t n;

	*end = c->ended;
	if (!c->ended && kmap_drain_flush(c->d, NULL) < 0)
		return -EIO;
	upto = kmap_drain_at(c->d, &headers);
	s->now.parts = c->s->count.parts;
	/* Headers may still come as long as nothing else has. */
	if (s->at < 0 && (upto > headers || c->ended)) {
		s->at = c->view.at > headers ? c->view.at : headers;
		s->first = s->now = s->whole =
			c->view.at > headers ? c->view
					     : (struct control_mark){.at = headers};
	}
	if (s->header < headers) {
		n = pread(c->fd, buf, len < (size_t)(headers - s->header)
				      ? len : (size_t)(headers - s->header), s->header);
		s->header += n > 0 ? n : 0;
	} else if (s->at >= 0 && s->at < upto) {
		n = pread(c->fd, buf, len < (size_t)(upto - s->at) ? len : (size_t)(upto - s->at), s->at);
		if (n > 0)
			control_stream_follow(s, buf, (size_t)n);
		if (n > 0 && s->at == upto && !c->ended) {
			struct kmap_drained sum = kmap_drain_sums(c->d);

			s->whole = s->now = (struct control_mark){
				upto, sum.objects, sum.accesses, c->s->count.parts};
		}
	} else {
		n = c->ended ? control_stream_last_line(r, buf, len) : 0;
	}
	if (n > 0)
		c->streamed += (uint64_t)n;
	return n < 0 ? -EIO : n;
}

static ssize_t control_stream_read(struct kmap_reading *r, char *buf, size_t len,
				   bool (*stop)(void *arg), void *arg)
{
	static const struct timespec moment = { 0, 20000000 };

	for (;;) {
		bool end;
		ssize_t n;

		kmap_controls_lock(r->c);
		n = control_stream_take(r, buf, len, &end);
		kmap_controls_unlock(r->c);
		if (n || end)
			return n;
		if (stop && stop(arg))
			return -EINTR;
		nanosleep(&moment, NULL);
	}
}

static void control_stream_end(struct kmap_reading *r)
{
	struct kmap_controls *c = r->c;

	if (r->stream.at >= 0 && r->stream.whole.at > c->view.at)
		c->view = r->stream.whole;
	kmap_drain_anew(c->d);
	c->streaming = false;
}

/* ---- any of them ---- */

static int control_read_open_kind(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	int ret = 0;

	switch (r->kind) {
	case C_ENABLED:
		r->text = control_read_enabled(c);
		break;
	case C_ACCESSES:
		r->text =
			control_read_switched(atomic_load(&c->s->gate) & KSHARE_ACCESSES);
		break;
	case C_LIVE:
		r->text = control_read_switched(c->live);
		break;
	case C_CALLS:
		r->text = control_read_switched(false);
		break;
	case C_GRAPH:
		r->text = control_read_switched(atomic_load(&c->s->gate) & KSHARE_GRAPH);
		break;
	case C_GRAPH_ROWS:
		if (!c->s->at.max_calls)
			return control_no_calls(err);
		r->text = control_graph(c);
		break;
	case C_STATS:
		ret = read_stats(r, err);
		break;
	case C_KMAP:
		return read_kmap(r, err);
	case C_STREAM:
		return control_stream_open(r, err);
	case C_ALLOCATION_ROWS:
	case C_ACCESS_ROWS:
		return control_read_rows(r, err);
	case C_GLOBALS:
		ret = read_globals(r, err);
		break;
	}
	if (ret == 0 && !r->text)
		return -ENOMEM;
	return ret;
}

static bool control_read_has_copy(unsigned kind)
{
	return kind == C_KMAP || kind == C_ALLOCATION_ROWS || kind == C_ACCESS_ROWS;
}

int kmap_reading_open(struct kmap_controls *c, const struct kmap_control *f,
		      struct kmap_reading **ret, struct atw_err *err)
{
	struct kmap_reading *r;
	int status;

	if (!f->reads)
		return control_refuse(err, -EACCES, ATW_E_PERM, "it is write-only");
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->c = c;
	r->kind = f->kind;
	r->copy = -1;
	/* One at a time has the recorder stand still. */
	pthread_mutex_lock(&c->copying);
	kmap_controls_lock(c);
	status = c->opens < OPENS &&
				 (c->copies < COPIES || !control_read_has_copy(r->kind))
			 ? control_read_open_kind(r, err)
			 : -EMFILE;
	if (status == -EMFILE)
		atw_err_set(err, ATW_E_LIMIT, "too many readers have it open");
	if (status == 0) {
		c->opens++;
		c->copies += control_read_has_copy(r->kind);
		r->next = c->open;
		r->at = &c->open;
		if (r->next)
			r->next->at = &r->next;
		c->open = r;
	}
	kmap_controls_unlock(c);
	pthread_mutex_unlock(&c->copying);
	if (status < 0) {
		if (r->copy >= 0)
			close(r->copy);
		free(r->text);
		free(r);
		return status;
	}
	*ret = r;
	return 0;
}

/* What clear_printed_list may drop: only what a reader got all of. */
static void control_read_note_printed(struct kmap_reading *r, uint64_t upto)
{
	if (upto < r->freed)
		return;
	kmap_controls_lock(r->c);
	if (r->end.at > r->c->printed.at)
		r->c->printed = r->end;
	kmap_controls_unlock(r->c);
}

ssize_t kmap_reading_read(struct kmap_reading *r, char *buf, size_t len, uint64_t at,
			  bool (*stop)(void *arg), void *arg)
{
	ssize_t n;
	size_t all;

	if (r->kind == C_STREAM)
		return control_stream_read(r, buf, len, stop, arg);
	if (r->kind == C_KMAP || r->rows) {
		n = r->rows ? control_rows_read(r->rows, buf, len, at) : read_pieces(r, buf, len, at);
		/* Less than there is room for: that was the last of it. */
		if (n >= 0)
			control_read_note_printed(r, !r->rows          ? at + (uint64_t)n
						     : (size_t)n < len ? r->freed
								       : 0);
		return n;
	}
	all = strlen(r->text);
	if (at >= all)
		return 0;
	len = len < all - at ? len : all - (size_t)at;
	memcpy(buf, r->text + at, len);
	return (ssize_t)len;
}

void kmap_reading_close(struct kmap_reading *r)
{
	if (!r)
		return;
	kmap_controls_lock(r->c);
	if (r->kind == C_STREAM)
		control_stream_end(r);
	r->c->opens--;
	r->c->copies -= control_read_has_copy(r->kind);
	*r->at = r->next;
	if (r->next)
		r->next->at = r->at;
	kmap_controls_unlock(r->c);
	control_rows_close(r->rows);
	if (r->copy >= 0)
		close(r->copy);
	free(r->text);
	free(r);
}
