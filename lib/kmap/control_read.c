/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_read.c - what the files of control.h have in them. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kmap/control_own.h"

enum { PIECES = 3 };

struct piece {
	int fd;
	off_t at;
	uint64_t len;
};

/* Where kmap_stream is: its reader has everything before `at`. */
struct stream {
	off_t header, headers;           /* those first, up to there */
	off_t at;
	struct mark whole;               /* objects that it has wholly are before that */
	struct mark now;                 /* what `at` is in, if it is at a line's beginning */
	bool in_line;
	struct mark first;
	char end[128];                   /* its last line, once there is one */
	size_t end_len, end_at;
};

struct kmap_reading {
	struct kmap_controls *c;
	struct kmap_reading *next, **at;         /* of those that are open */
	unsigned kind;
	char *text;                      /* of small ones */
	struct piece piece[PIECES];      /* of kmap */
	int copy;
	struct mark end;                 /* kmap has what was freed up to there */
	uint64_t freed;                  /* that ends behind so many of its bytes */
	struct stream stream;
};

/* ---- small ones ---- */

static char *printed(const char *fmt, ...) ATW_PRINTF(1, 2);
static char *printed(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

static char *enabled(const struct kmap_controls *c)
{
	uint32_t gate = atomic_load(&c->s->gate);

	if (!(gate & KSHARE_OBJECTS))
		return printed("0 - memorizer disabled\n");
	if (gate & KSHARE_ONE)
		return printed("%d - memorizer enabled, accesses of this process\n",
			       atomic_load(&c->s->only_pid));
	return printed("1 - memorizer enabled, all processes\n");
}

/* As the kernel writes a bool. */
static char *switched(bool on)
{
	return strdup(on ? "Y\n" : "N\n");
}

static int drain_all(struct kmap_controls *c, struct atw_err *err)
{
	unsigned n;

	do {
		if (kmap_drain_some(c->d, KSHARE_QUEUE, &n, err) < 0)
			return -EIO;
	} while (n == KSHARE_QUEUE);
	return 0;
}

static int read_stats(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	int ret;

	control_stand_still(c);
	ret = drain_all(c, err);
	r->text = ret < 0 ? NULL : control_stats(c);
	control_go_on(c);
	return ret;
}

/* ---- kmap ---- */

/* A file without a name, where the output is. */
static int open_copy(const struct kmap_controls *c)
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
static int copy_live(struct kmap_reading *r, const struct mark *from, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct kmap_drain_opts o = *kmap_drain_how(c->d);
	struct kmap_drain *d = NULL;
	char parts[32];
	int ret;

	o.fd = r->copy;
	o.objects = r->end.objects - from->objects;
	o.accesses = r->end.accesses - from->accesses;
	ret = kmap_drain_open(c->s, &o, &d, err);
	/* Of what lives, some may have been written before that, in parts. */
	snprintf(parts, sizeof(parts), "%llu", (unsigned long long)from->parts);
	if (ret == ATW_OK && from->parts)
		ret = kmap_drain_header(d, "cleared-parts", parts, err);
	if (ret == ATW_OK && c->live)
		ret = kmap_drain_rest(d, err);
	if (ret == ATW_OK)
		ret = kmap_drain_end(d, NULL, err);
	if (ret == ATW_OK)
		r->piece[2] = (struct piece){ r->copy, 0, kmap_drain_sums(d).bytes };
	kmap_drain_close(d);
	return ret < 0 ? -EIO : 0;
}

static int copy_kmap(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct mark from;
	off_t headers = 0;
	int ret = drain_all(c, err);

	if (ret == 0)
		ret = control_here(c, &r->end, &headers, err);
	if (ret < 0)
		return ret;
	from = c->view.at > headers ? c->view : (struct mark){ .at = headers };
	r->piece[0] = (struct piece){ c->fd, 0, (uint64_t)headers };
	r->piece[1] = (struct piece){ c->fd, from.at, (uint64_t)(r->end.at - from.at) };
	r->freed = r->piece[0].len + r->piece[1].len;
	return copy_live(r, &from, err);
}

static int read_kmap(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct mark here;
	off_t headers;
	int ret = control_here(c, &here, &headers, err);

	if (ret < 0)
		return ret;
	r->copy = open_copy(c);
	if (r->copy < 0) {
		ret = -errno;
		atw_err_set(err, ATW_E_IO, "room for a copy of what lives: %s", strerror(errno));
		return ret;
	}
	control_stand_still(c);
	ret = copy_kmap(r, err);
	control_go_on(c);
	return ret;
}

/* What clear_printed_list may drop: only what a reader got all of. */
static void note_printed(struct kmap_reading *r, uint64_t upto)
{
	if (!r->freed || upto < r->freed)
		return;
	kmap_controls_lock(r->c);
	if (r->end.at > r->c->printed.at)
		r->c->printed = r->end;
	kmap_controls_unlock(r->c);
}

static ssize_t read_pieces(struct kmap_reading *r, char *buf, size_t len, uint64_t at)
{
	uint64_t before = 0;
	size_t done = 0;

	for (unsigned i = 0; i < PIECES && done < len; i++) {
		const struct piece *p = &r->piece[i];

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
	note_printed(r, at + done);
	return (ssize_t)done;
}

/* ---- kmap_stream ---- */

static int read_stream(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct mark here;
	off_t headers;
	int ret = control_here(c, &here, &headers, err);

	if (ret < 0)
		return ret;
	if (c->streaming) {
		atw_err_set(err, ATW_E_LIMIT, "somebody else reads it");
		return -EBUSY;
	}
	c->streaming = true;
	r->stream.at = -1;
	return 0;
}

/* Objects and accesses that begin in what is handed out, and where an object ends. */
static void follow(struct stream *s, const char *buf, size_t n)
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
static ssize_t last_line(struct kmap_reading *r, char *buf, size_t len)
{
	const struct kshare_counts *n = &r->c->s->count;
	struct stream *s = &r->stream;
	struct kmap_record rec = { .kind = KMAP_END };

	if (!s->end_len && !r->c->cut && kmap_drain_how(r->c->d)->version == KMAP_V4) {
		rec.u.end.objects = s->now.objects - s->first.objects;
		rec.u.end.accesses = s->now.accesses - s->first.accesses;
		rec.u.end.lost = n->lost_objects + n->lost_accesses;
		s->end_len = kmap_write(&rec, KMAP_V4, s->end, sizeof(s->end));
	}
	if (len > s->end_len - s->end_at)
		len = s->end_len - s->end_at;
	memcpy(buf, s->end + s->end_at, len);
	s->end_at += len;
	return (ssize_t)len;
}

/* As much as there is; 0: nothing yet. With the lock. */
static ssize_t take(struct kmap_reading *r, char *buf, size_t len, bool *end)
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
		s->first = s->now = s->whole = c->view.at > headers ? c->view : (struct mark){ .at = headers };
	}
	if (s->header < headers) {
		n = pread(c->fd, buf, len < (size_t)(headers - s->header)
				      ? len : (size_t)(headers - s->header), s->header);
		s->header += n > 0 ? n : 0;
	} else if (s->at >= 0 && s->at < upto) {
		n = pread(c->fd, buf, len < (size_t)(upto - s->at) ? len : (size_t)(upto - s->at), s->at);
		if (n > 0)
			follow(s, buf, (size_t)n);
		if (n > 0 && s->at == upto && !c->ended) {
			struct kmap_drained sum = kmap_drain_sums(c->d);

			s->whole = s->now = (struct mark){ upto, sum.objects, sum.accesses,
							   c->s->count.parts };
		}
	} else {
		n = c->ended ? last_line(r, buf, len) : 0;
	}
	if (n > 0)
		c->streamed += (uint64_t)n;
	return n < 0 ? -EIO : n;
}

static ssize_t wait_and_take(struct kmap_reading *r, char *buf, size_t len,
			     bool (*stop)(void *arg), void *arg)
{
	static const struct timespec moment = { 0, 20000000 };

	for (;;) {
		bool end;
		ssize_t n;

		kmap_controls_lock(r->c);
		n = take(r, buf, len, &end);
		kmap_controls_unlock(r->c);
		if (n || end)
			return n;
		if (stop && stop(arg))
			return -EINTR;
		nanosleep(&moment, NULL);
	}
}

/* What was read is gone from kmap as well. With the lock. */
static void end_stream(struct kmap_reading *r)
{
	struct kmap_controls *c = r->c;

	if (r->stream.at >= 0 && r->stream.whole.at > c->view.at)
		c->view = r->stream.whole;
	c->streaming = false;
}

/* ---- any of them ---- */

static int open_kind(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	int ret = 0;

	switch (r->kind) {
	case C_ENABLED:
		r->text = enabled(c);
		break;
	case C_ACCESSES:
		r->text = switched(atomic_load(&c->s->gate) & KSHARE_ACCESSES);
		break;
	case C_LIVE:
		r->text = switched(c->live);
		break;
	case C_CALLS:
		r->text = switched(false);
		break;
	case C_STATS:
		ret = read_stats(r, err);
		break;
	case C_KMAP:
		return read_kmap(r, err);
	case C_STREAM:
		return read_stream(r, err);
	case C_NO_GLOBALS:
	case C_NO_CALLS:
	case C_NO_ROWS:
		atw_err_set(err, ATW_E_UNSUPPORTED, "%s", r->kind == C_NO_CALLS
			    ? "calls of functions are not recorded" : r->kind == C_NO_ROWS
			    ? "rows of kmap are made by: atwalk kmap show --format csv"
			    : "globals are in kmap, as far as they are touched");
		return -EOPNOTSUPP;
	}
	if (ret == 0 && !r->text)
		return -ENOMEM;
	return ret;
}

int kmap_reading_open(struct kmap_controls *c, const struct kmap_control *f,
		      struct kmap_reading **ret, struct atw_err *err)
{
	struct kmap_reading *r;
	int status;

	if (!f->reads) {
		atw_err_set(err, ATW_E_PERM, "it is only written");
		return -EACCES;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->c = c;
	r->kind = f->kind;
	r->copy = -1;
	/* One at a time has the recorder stand still. */
	pthread_mutex_lock(&c->copying);
	kmap_controls_lock(c);
	status = open_kind(r, err);
	if (status == 0) {
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

ssize_t kmap_reading_read(struct kmap_reading *r, char *buf, size_t len, uint64_t at,
			  bool (*stop)(void *arg), void *arg)
{
	size_t all;

	if (r->kind == C_STREAM)
		return wait_and_take(r, buf, len, stop, arg);
	if (r->kind == C_KMAP)
		return read_pieces(r, buf, len, at);
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
		end_stream(r);
	*r->at = r->next;
	if (r->next)
		r->next->at = r->at;
	kmap_controls_unlock(r->c);
	if (r->copy >= 0)
		close(r->copy);
	free(r->text);
	free(r);
}
