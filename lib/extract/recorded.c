// SPDX-License-Identifier: GPL-2.0-or-later
/* recorded.c - source that records reads, and source that replays them. */
#include "extract/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/sorted.h"
#include "base/table.h"
#include "source/wrap.h"

/* A page, and a bit for each byte of it that was read. */
struct kept {
	uint64_t nr;
	struct kept_bytes {
		uint8_t bytes[MARK_PAGE], have[MARK_BITMAP];
	} *data;
};

struct record {
	struct kept *v;
	size_t n, cap;
	struct table by_nr;      /* 1 + index in v[] */
	bool failed;
};

struct replay {
	struct record *of;
	struct atw_source *below;
	enum record_missing missing;
	uint64_t *order;         /* sorted page numbers; as many as existed at that
				  * time */
	size_t n;
};

/* ---- pages ---- */

static struct kept_bytes *recorded_record_find(const struct record *c, uint64_t nr)
{
	uint64_t i = table_find(&c->by_nr, nr);

	return i ? c->v[i - 1].data : NULL;
}

static struct kept_bytes *recorded_record_page(struct record *c, uint64_t nr)
{
	struct kept_bytes *k = recorded_record_find(c, nr);

	if (k)
		return k;
	if (!ARRAY_ROOM(c->v, c->n, c->cap))
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k || !table_add(&c->by_nr, nr, c->n + 1)) {
		free(k);
		return NULL;
	}
	c->v[c->n++] = (struct kept){ nr, k };
	return k;
}

static void recorded_record_add(struct record *c, uint64_t pa, const void *data,
				uint64_t len)
{
	const uint8_t *p = data;

	while (len) {
		unsigned from = pa & (MARK_PAGE - 1);
		unsigned part = MARK_PAGE - from < len ? MARK_PAGE - from : (unsigned)len;
		struct kept_bytes *k = recorded_record_page(c, pa >> MARK_SHIFT);

		if (!k) {
			c->failed = true;
			return;
		}
		memcpy(k->bytes + from, p, part);
		mark_bits(k->have, from, part);
		pa += part;
		p += part;
		len -= part;
	}
}

/* The number of bytes from `from` on that were read, up to `len`. */
static unsigned recorded_record_run(const struct kept_bytes *k, unsigned from,
				    unsigned len)
{
	unsigned n = 0;

	while (n < len) {
		unsigned at = from + n;

		if (!(at & 7) && len - n >= 8 && k->have[at / 8] == 0xff)
			n += 8;
		else if (k->have[at / 8] >> (at & 7) & 1)
			n++;
		else
			break;
	}
	return n;
}

static size_t recorded_record_copy(const struct record *c, uint64_t pa, void *buf,
				   size_t len, bool zero)
{
	size_t done = 0;

	while (done < len) {
		unsigned from = (pa + done) & (MARK_PAGE - 1), run;
		unsigned part = MARK_PAGE - from < len - done ? MARK_PAGE - from
							      : (unsigned)(len - done);
		const struct kept_bytes *k =
			recorded_record_find(c, (pa + done) >> MARK_SHIFT);

		if (!k)
			break;
		run = zero ? part : recorded_record_run(k, from, part);
		memcpy((char *)buf + done, k->bytes + from, run);
		done += run;
		if (run < part)
			break;
	}
	return done;
}

/* ---- the recording source ---- */

static ssize_t recorded_record_read(struct atw_source *s, atw_pa pa, void *buf,
				    size_t len, struct atw_err *err)
{
	ssize_t got = s->below->ops->read(s->below, pa, buf, len, err);

	if (got > 0)
		recorded_record_add(s->impl, pa.u, buf, (size_t)got);
	return got;
}

static void recorded_record_many(struct atw_source *s, struct atw_piece *piece, size_t n,
				 struct atw_err *err)
{
	atw_read_many(s->below, piece, n, err);
	for (size_t i = 0; i < n; i++)
		if (piece[i].got > 0)
			recorded_record_add(s->impl, piece[i].pa.u, piece[i].buf,
					    (size_t)piece[i].got);
}

static void recorded_record_free(struct atw_source *s)
{
	struct record *c = s->impl;

	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].data);
	free(c->v);
	table_deinit(&c->by_nr);
	wrap_close(s);
}

static const struct atw_source_ops record_ops = {
	WRAP_OPS,
	.name = "record",
	.help = "keeps what is read",
	.close = recorded_record_free,
	.read = recorded_record_read,
	.read_many = recorded_record_many,
};

int record_open(struct atw_source *below, struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *s = wrap_new(&record_ops, below, sizeof(struct record), err);

	if (!s)
		return ATW_E_NOMEM;
	*ret = s;
	return ATW_OK;
}

void record_close(struct atw_source *s)
{
	if (!s)
		return;
	s->below = NULL;                 /* borrowed: not to be closed */
	atw_source_close(s);
}

bool record_failed(const struct atw_source *s)
{
	return ((const struct record *)s->impl)->failed;
}

void record_put(struct atw_source *s, uint64_t pa, const void *data, size_t len)
{
	recorded_record_add(s->impl, pa, data, len);
}

void record_trim(const struct atw_source *s, struct byte_marks *m)
{
	const struct record *c = s->impl;
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct kept_bytes *k = recorded_record_find(c, m->v[i].nr);

		if (!k || !marks_limit(m, i, k->have))
			free(m->v[i].bytes);
		else
			m->v[n++] = m->v[i];
	}
	m->n = n;
}

/* ---- the replaying source ---- */

static ssize_t recorded_replay_read(struct atw_source *s, atw_pa pa, void *buf,
				    size_t len, struct atw_err *err)
{
	struct replay *p = s->impl;
	size_t done =
		recorded_record_copy(p->of, pa.u, buf, len, p->missing == RECORD_ZERO);
	ssize_t got;

	if (done || p->missing != RECORD_FILL)
		return (ssize_t)done;
	/* Up to the first byte that is recorded already, because those do not change. */
	for (done = 1; done < len; done++) {
		const struct kept_bytes *k =
			recorded_record_find(p->of, (pa.u + done) >> MARK_SHIFT);

		if (k && recorded_record_run(k, (pa.u + done) & (MARK_PAGE - 1), 1))
			break;
	}
	got = p->below->ops->read(p->below, pa, buf, done, err);
	if (got > 0)
		recorded_record_add(p->of, pa.u, buf, (size_t)got);
	return got;
}

static bool recorded_replay_sort(struct replay *p)
{
	uint64_t *order;

	if (p->n == p->of->n)
		return true;
	order = realloc(p->order, p->of->n * sizeof(*order));
	if (!order)
		return false;
	for (size_t i = 0; i < p->of->n; i++)
		order[i] = p->of->v[i].nr;
	p->order = order;
	p->n = p->of->n;
	qsort(order, p->n, sizeof(*order), sorted_by_u64);
	return true;
}

/* Pages with recorded bytes; the memory between them is left out. */
static int recorded_replay_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct replay *p = s->impl;
	uint64_t nr = pa.u >> MARK_SHIFT, end;
	size_t lo;

	if (p->missing != RECORD_NOTHING)
		return atw_extent_at(p->below, pa, ret);
	if (!recorded_replay_sort(p))
		return ATW_E_NOMEM;
	lo = sorted_below(p->order, p->n, sizeof(*p->order), 0, nr);
	if (lo == p->n)
		return ATW_END;
	*ret = (struct atw_extent){ pa, 0, ATW_EXCLUDED };
	end = p->order[lo];
	if (end == nr) {
		ret->kind = ATW_DATA;
		for (end++; ++lo < p->n && p->order[lo] == end; end++)
			;
	}
	ret->len = (end << MARK_SHIFT) - pa.u;
	return ATW_OK;
}

static int recorded_replay_fact(struct atw_source *s, const char *key,
				struct atw_blob *ret)
{
	return atw_fact(((struct replay *)s->impl)->below, key, ret);
}

static void recorded_replay_close(struct atw_source *s)
{
	free(((struct replay *)s->impl)->order);
	wrap_close(s);
}

static const struct atw_source_ops replay_ops = {
	.name = "replay",
	.help = "has what was read",
	.close = recorded_replay_close,
	.read = recorded_replay_read,
	.extent = recorded_replay_extent,
	.fact = recorded_replay_fact,
};

int record_replay(struct atw_source *s, struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *r = wrap_new(&replay_ops, NULL, sizeof(struct replay), err);

	if (!r)
		return ATW_E_NOMEM;
	*(struct replay *)r->impl = (struct replay){ .of = s->impl, .below = s->below };
	*ret = r;
	return ATW_OK;
}

void record_missing(struct atw_source *replay, enum record_missing what)
{
	((struct replay *)replay->impl)->missing = what;
}
