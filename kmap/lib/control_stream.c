/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_stream.c - kmap_stream: freed objects as a stream. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "kmap/lib/control_own.h"

int control_stream_open(struct kmap_reading *r, struct atw_err *err)
{
	struct kmap_controls *c = r->c;
	struct control_mark here;
	off_t headers;
	int ret = control_here(c, &here, &headers, err);

	if (ret < 0)
		return ret;
	if (c->streaming) {
		atw_err_set(err, ATW_E_LIMIT, "it already has a reader");
		return -EBUSY;
	}
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
	if (len > s->end_len - s->end_at)
		len = s->end_len - s->end_at;
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

ssize_t control_stream_read(struct kmap_reading *r, char *buf, size_t len,
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

void control_stream_end(struct kmap_reading *r)
{
	struct kmap_controls *c = r->c;

	if (r->stream.at >= 0 && r->stream.whole.at > c->view.at)
		c->view = r->stream.whole;
	kmap_drain_anew(c->d);
	c->streaming = false;
}
