/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines_verdict.c - the lines in order, how threads share each of them, and its members. */
#include "trace/lines_slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/sorted.h"

const char *const lines_verdicts[LINES_VERDICTS] = {
	[LINES_UNDECIDED] = "undecided",     [LINES_PRIVATE] = "private",
	[LINES_READ_SHARED] = "read-shared", [LINES_TRUE_SHARED] = "true-shared",
	[LINES_FALSE_SHARED] = "false-shared", [LINES_HOT_COLD] = "hot-cold",
};

static int lines_by_place(const void *a, const void *b)
{
	const struct lines_order *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Of the same process, or none: slots are in no order that may be shown. */
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Can references be counted by thread and byte? */
static bool lines_is_counted(const struct lines *l, const struct lines_slot *s)
{
	return s->threads > 1 && !s->unlisted && !s->threadless &&
	       s->threads <= LINES_SHARED_MOST / l->o.line;
}

int lines_sort(struct lines *l, struct atw_err *err)
{
	struct lines_order *order = calloc(l->nslots + 1, sizeof(*order));
	size_t most = 1, shared = 1;

	if (!order)
		return atw_err_nomem(err);
	for (size_t i = 0; i < l->nslots; i++) {
		const struct lines_slot *s = &l->slot[i];

		order[i] = (struct lines_order){
			s->number << l->shift,
			s->pid,
			(uint32_t)i,
		};
		if (s->parts > most)
			most = s->parts;
		if (lines_is_counted(l, s) && (size_t)s->threads * (l->o.line + 1) > shared)
			shared = (size_t)s->threads * (l->o.line + 1);
	}
	if (!array_reserve((void **)&l->part, &l->parts_cap, most, sizeof(*l->part)) ||
	    !array_reserve((void **)&l->shared, &l->shared_cap, shared, sizeof(*l->shared))) {
		free(order);
		return atw_err_nomem(err);
	}
	qsort(order, l->nslots, sizeof(*order), lines_by_place);
	free(l->order);
	l->order = order;
	return ATW_OK;
}

size_t lines_find(const struct lines *l, uint32_t pid, uint64_t address)
{
	size_t lo = 0, hi = l->nslots;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct lines_order *o = &l->order[mid];

		if (o->pid < pid || (o->pid == pid && o->address < address))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Bytes of all threads, by kind, and those that two of them touched. */
struct lines_bytes {
	uint64_t kind[LINES_KINDS][LINES_MOST / 64];
	uint64_t twice[LINES_MOST / 64];
};

static void lines_gather(const struct lines *l, const struct lines_slot *s,
			 struct lines_bytes *ret)
{
	uint64_t any[LINES_MOST / 64] = {0};

	memset(ret, 0, sizeof(*ret));
	for (uint32_t t = s->thread; t != LINES_NONE; t = l->thread[t].next)
		for (unsigned w = 0; w < l->words; w++) {
			uint64_t all = 0;

			for (unsigned k = 0; k < LINES_KINDS; k++) {
				all |= lines_mask(l, t, k)[w];
				ret->kind[k][w] |= lines_mask(l, t, k)[w];
			}
			ret->twice[w] |= any[w] & all;
			any[w] |= all;
		}
}

/* Has one word nearly all references, and do three others have some? */
static bool lines_is_hot_cold(const struct lines *l, const struct lines_slot *s)
{
	uint64_t refs[LINES_MARKS] = {0}, limit = s->counts.refs / 10, hot = 0;
	unsigned cold = 0;

	if (s->unlisted)
		return false;
	for (uint32_t i = s->part; i != LINES_NONE; i = l->place[i].next) {
		const struct lines_part *p = &l->place[i].p;

		for (uint32_t m = p->offset / LINES_MARK;
		     m <= (p->offset + p->size - 1) / LINES_MARK; m++)
			sum_u64(&refs[m], p->counts.refs);
	}
	for (unsigned m = 0; m < l->o.line / LINES_MARK; m++) {
		if (refs[m] >= s->counts.refs - limit)
			hot++;
		else if (refs[m] && refs[m] <= limit)
			cold++;
		else if (refs[m])
			return false;
	}
	return hot == 1 && cold >= 3;
}

/* Is a byte written, and touched by two threads? */
static bool lines_is_contested(const struct lines_bytes *b, unsigned at)
{
	return b->twice[at / 64] & b->kind[LINES_WRITE][at / 64] & UINT64_C(1) << at % 64;
}

/* References of each thread to each byte; returns those of all but the busiest thread. */
static uint64_t lines_count_shared(struct lines *l, const struct lines_slot *s)
{
	uint64_t *refs = l->shared + (size_t)s->threads * l->o.line, all = 0, most = 0;

	memset(l->shared, 0, (size_t)s->threads * (l->o.line + 1) * sizeof(*l->shared));
	for (uint32_t i = s->part; i != LINES_NONE; i = l->place[i].next) {
		const struct lines_place *p = &l->place[i];
		uint64_t *n = l->shared + (size_t)p->number * l->o.line + p->p.offset;

		for (uint32_t k = 0; k < p->p.size; k++)
			sum_u64(&n[k], p->p.counts.refs);
		sum_u64(&refs[p->number], p->p.counts.refs);
	}
	for (uint32_t t = 0; t < s->threads; t++) {
		sum_u64(&all, refs[t]);
		most = refs[t] > most ? refs[t] : most;
	}
	return all - most;
}

/* References to a byte of all but the thread that has most of them. */
static uint64_t lines_others(const struct lines *l, const struct lines_slot *s, unsigned at)
{
	uint64_t all = 0, most = 0;

	for (uint32_t t = 0; t < s->threads; t++) {
		uint64_t n = l->shared[(size_t)t * l->o.line + at];

		sum_u64(&all, n);
		most = n > most ? n : most;
	}
	return all - most;
}

/*
 * Most programs initialize a word, or read its final value, in another thread than the one
 * that uses it. Without this limit, such a read by main() would hide all false sharing of
 * the counters that its threads increment. Where references cannot be counted by thread,
 * one contested byte suffices.
 */
static bool lines_is_true_shared(struct lines *l, const struct lines_slot *s,
				 const struct lines_bytes *b)
{
	uint64_t other = 0, true_others = 0;
	bool any = false;

	for (unsigned at = 0; !any && at < l->o.line; at++)
		any = lines_is_contested(b, at);
	if (!any || !lines_is_counted(l, s))
		return any;
	other = lines_count_shared(l, s);
	for (unsigned at = 0; at < l->o.line; at += LINES_MARK) {
		uint64_t most = 0;

		for (unsigned k = at; k < at + LINES_MARK; k++) {
			uint64_t n = lines_is_contested(b, k) ? lines_others(l, s, k) : 0;

			most = n > most ? n : most;
		}
		sum_u64(&true_others, most);
	}
	return true_others >= other / 10 + !!(other % 10);
}

static enum lines_verdict lines_decide(struct lines *l, const struct lines_slot *s,
				       const struct lines_bytes *b)
{
	enum lines_verdict v = LINES_PRIVATE;

	/* More threads, or more writes, change nothing of this one. */
	if (s->threads > 1 && !l->rounded && lines_is_true_shared(l, s, b))
		return LINES_TRUE_SHARED;
	if (s->threadless || !s->threads)
		return LINES_UNDECIDED;
	if (s->threads > 1) {
		if (s->counts.unknown || (s->counts.writes && l->rounded))
			return LINES_UNDECIDED;
		if (s->counts.writes)
			return LINES_FALSE_SHARED;
		v = LINES_READ_SHARED;
	}
	return !l->rounded && lines_is_hot_cold(l, s) ? LINES_HOT_COLD : v;
}

/* Without threads there are no masks: the parts have it, if all of them are there. */
static void lines_gather_parts(const struct lines *l, const struct lines_slot *s,
			       struct lines_bytes *b)
{
	for (uint32_t i = s->part; i != LINES_NONE; i = l->place[i].next) {
		const struct lines_part *p = &l->place[i].p;

		for (uint32_t k = p->offset; k < p->offset + p->size; k++) {
			uint64_t bit = UINT64_C(1) << k % 64;

			if (p->counts.reads || p->counts.fetches)
				b->kind[LINES_READ][k / 64] |= bit;
			if (p->counts.writes)
				b->kind[LINES_WRITE][k / 64] |= bit;
			if (p->counts.unknown)
				b->kind[LINES_OTHER][k / 64] |= bit;
		}
	}
}

static void lines_write_marks(struct lines *l, const struct lines_bytes *b)
{
	unsigned n = l->o.line / LINES_MARK;

	for (unsigned m = 0; m < n; m++) {
		unsigned at = m * LINES_MARK, shift = at % 64;
		bool r = b->kind[LINES_READ][at / 64] >> shift & 0xff;
		bool w = b->kind[LINES_WRITE][at / 64] >> shift & 0xff;
		bool other = b->kind[LINES_OTHER][at / 64] >> shift & 0xff;

		l->touched[m] = '.';
		if (other)
			l->touched[m] = '?';
		if (r)
			l->touched[m] = 'r';
		if (w)
			l->touched[m] = r ? 'b' : 'w';
	}
	l->touched[n] = '\0';
}

/* By offset, size and instruction. */
static int lines_by_offset(const void *a, const void *b)
{
	const struct lines_part *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->has_ip != y->has_ip)
		return x->has_ip ? 1 : -1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

/* Those of all threads are one member. */
static void lines_list_parts(struct lines *l, const struct lines_slot *s)
{
	size_t n = 0;

	l->nparts = 0;
	for (uint32_t i = s->part; i != LINES_NONE; i = l->place[i].next) {
		l->part[n] = l->place[i].p;
		l->part[n].has_threads = l->place[i].number != LINES_NONE;
		l->part[n++].threads = 1;
	}
	qsort(l->part, n, sizeof(*l->part), lines_by_offset);
	for (size_t i = 0; i < n; i++) {
		struct lines_part *last = l->nparts ? &l->part[l->nparts - 1] : NULL;
		const struct lines_part *p = &l->part[i];

		if (!last || lines_by_offset(last, p)) {
			l->part[l->nparts++] = *p;
			continue;
		}
		last->has_threads &= p->has_threads;
		last->threads++;
		sum_u64(&last->counts.refs, p->counts.refs);
		sum_u64(&last->counts.reads, p->counts.reads);
		sum_u64(&last->counts.writes, p->counts.writes);
		sum_u64(&last->counts.fetches, p->counts.fetches);
		sum_u64(&last->counts.unknown, p->counts.unknown);
	}
}

bool lines_get(struct lines *l, size_t i, struct lines_line *ret)
{
	const struct lines_slot *s;
	struct lines_bytes b;

	if (i >= l->nslots || !l->order)
		return false;
	s = &l->slot[l->order[i].slot];
	lines_gather(l, s, &b);
	*ret = (struct lines_line){
		.address = s->number << l->shift,
		.pid = s->pid,
		.has_pid = s->has_pid,
		.has_threads = !s->threadless && s->threads,
		.has_physical = s->has_physical && !s->no_physical,
		.counts = s->counts,
		.crossing = s->crossing,
		.weight = s->weight,
		.weighed = s->weighed,
		.physical = s->physical,
		.threads = s->threads,
		.verdict = lines_decide(l, s, &b),
		.touched = l->rounded ? NULL : l->touched,
	};
	if (s->threadless)
		lines_gather_parts(l, s, &b);
	lines_write_marks(l, &b);
	lines_list_parts(l, s);
	ret->parts = l->nparts;
	return true;
}

bool lines_part(struct lines *l, size_t i, struct lines_part *ret)
{
	if (i >= l->nparts)
		return false;
	*ret = l->part[i];
	return true;
}
