/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - memory references added up by cache line. */
#include "trace/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/sorted.h"
#include "base/table.h"

#define LINES_NONE UINT32_MAX

enum {
	LINES_SHARED_MOST = 1 << 23,     /* counts by thread and byte, of one line */
	LINES_LISTED = 16,               /* threads of a line that are searched one by one */
};

/* What a thread did to a line. Its masks are LINES_KINDS times l->words in l->mask. */
enum { LINES_READ, LINES_WRITE, LINES_OTHER, LINES_KINDS };
struct lines_thread {
	uint32_t tid, next;
	uint32_t number;                 /* in its line, from the first on */
};

/* A line, while references are added. */
struct lines_slot {
	uint64_t number;                 /* address / size */
	uint32_t pid;
	uint32_t thread, threads;        /* list, and its length */
	uint32_t part, parts;
	bool has_pid, threadless;
	bool has_physical, no_physical;  /* no_physical: of some references, or they differ */
	bool unlisted;
	struct lines_counts counts;
	uint64_t crossing, weight, weighed, physical;
};

struct lines_place {
	struct lines_part p;             /* of one thread */
	uint32_t slot, next;
	uint32_t number;                 /* of the thread in its line; LINES_NONE: unknown */
};

struct lines_order {
	uint64_t address;
	uint32_t pid, slot;
};

struct lines {
	struct lines_opts o;
	unsigned shift, words;           /* words: of a mask */
	bool rounded;
	struct lines_sum sum;
	struct table slots, places;
	struct table threads;            /* of lines with more than LINES_LISTED */
	struct lines_slot *slot;
	struct lines_thread *thread;
	struct lines_place *place;
	uint64_t *mask;
	size_t nslots, slots_cap, nthreads, threads_cap, mask_cap, nplaces, places_cap;
	struct lines_order *order;
	/* For the line at hand: */
	struct lines_part *part;         /* its members, in order */
	size_t nparts, parts_cap;
	uint64_t *shared;                /* references of each thread to each byte, and to all */
	size_t shared_cap;
	char touched[LINES_MARKS + 1];
};

const char *const lines_verdicts[LINES_VERDICTS] = {
	[LINES_UNDECIDED] = "undecided",     [LINES_PRIVATE] = "private",
	[LINES_READ_SHARED] = "read-shared", [LINES_TRUE_SHARED] = "true-shared",
	[LINES_FALSE_SHARED] = "false-shared", [LINES_HOT_COLD] = "hot-cold",
};

int lines_open(const struct lines_opts *o, struct lines **ret, struct atw_err *err)
{
	uint32_t size = o->line ? o->line : LINES_USUAL;
	struct lines *l;

	if (size < LINES_LEAST || size > LINES_MOST || size & (size - 1))
		return atw_err_set(err, ATW_E_USAGE,
				   "invalid line size %u: expected a power of two from %d to %d",
				   size, LINES_LEAST, LINES_MOST);
	l = calloc(1, sizeof(*l));
	if (!l)
		return atw_err_nomem(err);
	l->o = *o;
	l->o.line = size;
	if (!l->o.most_lines)
		l->o.most_lines = (size_t)1 << 20;
	if (!l->o.most_parts)
		l->o.most_parts = 2 * l->o.most_lines;
	if (!l->o.most_masks)
		l->o.most_masks = (size_t)256 << 20;
	l->shift = (unsigned)__builtin_ctz(size);
	l->words = (size + 63) / 64;
	*ret = l;
	return ATW_OK;
}

void lines_set_rounded(struct lines *l)
{
	l->rounded = true;
}

uint32_t lines_size(const struct lines *l)
{
	return l->o.line;
}

const struct lines_sum *lines_sum(const struct lines *l)
{
	return &l->sum;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	table_deinit(&l->slots);
	table_deinit(&l->places);
	table_deinit(&l->threads);
	free(l->slot);
	free(l->thread);
	free(l->place);
	free(l->mask);
	free(l->order);
	free(l->part);
	free(l->shared);
	free(l);
}

/* ---- adding ---- */

/* For sums that no other sum exceeds: if none of these overflows, nothing does. */
static void lines_count_sum(struct lines *l, uint64_t *n, uint64_t more)
{
	l->sum.overflow |= !sum_u64(n, more);
}

static void lines_count_kind(struct lines_counts *c, const struct trace_ref *r)
{
	sum_u64(&c->refs, r->count);
	switch (r->kind) {
	case TRACE_KIND_READ:
		sum_u64(&c->reads, r->count);
		break;
	case TRACE_KIND_WRITE:
		sum_u64(&c->writes, r->count);
		break;
	case TRACE_KIND_BOTH:
		sum_u64(&c->reads, r->count);
		sum_u64(&c->writes, r->count);
		break;
	case TRACE_KIND_FETCH:
		sum_u64(&c->fetches, r->count);
		break;
	case TRACE_KIND_UNKNOWN:
		sum_u64(&c->unknown, r->count);
		break;
	}
}

/* *ret stays LINES_NONE if there is no room for another line. */
static int lines_slot(struct lines *l, uint64_t number, uint32_t pid, bool has_pid,
		      uint32_t *ret, struct atw_err *err)
{
	uint64_t key = hash_two(number, (uint64_t)has_pid << 32 | pid);
	const struct table_slot *t = NULL;
	struct lines_slot *s;

	while ((t = table_next(&l->slots, key, t))) {
		s = &l->slot[t->value - 1];
		if (s->number == number && s->pid == pid && s->has_pid == has_pid) {
			*ret = (uint32_t)(t->value - 1);
			return ATW_OK;
		}
	}
	if (l->nslots >= l->o.most_lines || l->nslots >= LINES_NONE)
		return ATW_OK;
	if (!array_reserve((void **)&l->slot, &l->slots_cap, l->nslots + 1,
			   sizeof(*l->slot)) ||
	    !table_add(&l->slots, key, l->nslots + 1))
		return atw_err_nomem(err);
	l->slot[l->nslots] = (struct lines_slot){
		.number = number,
		.pid = pid,
		.has_pid = has_pid,
		.thread = LINES_NONE,
		.part = LINES_NONE,
	};
	*ret = (uint32_t)l->nslots++;
	l->sum.lines = l->nslots;
	return ATW_OK;
}

static uint64_t *lines_mask(const struct lines *l, uint32_t thread, unsigned kind)
{
	return l->mask + ((size_t)thread * LINES_KINDS + kind) * l->words;
}

static uint64_t lines_thread_key(uint32_t slot, uint32_t tid)
{
	return hash_two(slot, tid);
}

/* Its index in l->thread. LINES_NONE: the line has no such thread. */
static uint32_t lines_find_thread(const struct lines *l, uint32_t slot, uint32_t tid)
{
	const struct lines_slot *s = &l->slot[slot];
	const struct table_slot *t = NULL;
	uint32_t i = s->thread;

	if (s->threads <= LINES_LISTED) {
		while (i != LINES_NONE && l->thread[i].tid != tid)
			i = l->thread[i].next;
		return i;
	}
	while ((t = table_next(&l->threads, lines_thread_key(slot, tid), t))) {
		i = (uint32_t)(t->value >> 32) - 1;
		if ((uint32_t)t->value == slot && l->thread[i].tid == tid)
			return i;
	}
	return LINES_NONE;
}

static bool lines_index_thread(struct lines *l, uint32_t slot, uint32_t i)
{
	/* From 1 on: the value of an entry is never 0. */
	return table_add(&l->threads, lines_thread_key(slot, l->thread[i].tid),
			 (uint64_t)(i + 1) << 32 | slot);
}

/* A line that has just got one thread more than is searched one by one: all of them. */
static bool lines_index_threads(struct lines *l, uint32_t slot)
{
	const struct lines_slot *s = &l->slot[slot];

	if (s->threads <= LINES_LISTED)
		return true;
	if (s->threads > LINES_LISTED + 1)
		return lines_index_thread(l, slot, s->thread);
	for (uint32_t i = s->thread; i != LINES_NONE; i = l->thread[i].next)
		if (!lines_index_thread(l, slot, i))
			return false;
	return true;
}

/*
 * The thread of the line, and its number there; LINES_NONE: not known, or no room.
 */
static int lines_thread(struct lines *l, uint32_t slot, const struct trace_ref *r,
			uint32_t *ret, uint32_t *ret_number, struct atw_err *err)
{
	size_t words = (size_t)LINES_KINDS * l->words, need = (l->nthreads + 1) * words;
	struct lines_slot *s = &l->slot[slot];

	*ret = LINES_NONE;
	if (!(r->has & TRACE_HAS_TID)) {
		s->threadless = true;
		return ATW_OK;
	}
	*ret = lines_find_thread(l, slot, r->tid);
	if (*ret != LINES_NONE) {
		*ret_number = l->thread[*ret].number;
		return ATW_OK;
	}
	if (need * sizeof(*l->mask) > l->o.most_masks || l->nthreads >= LINES_NONE) {
		sum_u64(&l->sum.unmasked, r->count);
		s->threadless = true;
		return ATW_OK;
	}
	if (!array_reserve((void **)&l->thread, &l->threads_cap, l->nthreads + 1,
			   sizeof(*l->thread)) ||
	    !array_reserve((void **)&l->mask, &l->mask_cap, need, sizeof(*l->mask)))
		return atw_err_nomem(err);
	memset(l->mask + l->nthreads * words, 0, words * sizeof(*l->mask));
	l->thread[l->nthreads] = (struct lines_thread){r->tid, s->thread, s->threads};
	s->thread = *ret = (uint32_t)l->nthreads++;
	*ret_number = s->threads++;
	return lines_index_threads(l, slot) ? ATW_OK : atw_err_nomem(err);
}

static void lines_mark(struct lines *l, uint32_t thread, const struct trace_ref *r,
		       uint32_t first, uint32_t end)
{
	static const uint8_t kinds[] = {
		[TRACE_KIND_UNKNOWN] = 1 << LINES_OTHER,
		[TRACE_KIND_READ] = 1 << LINES_READ,
		[TRACE_KIND_WRITE] = 1 << LINES_WRITE,
		[TRACE_KIND_BOTH] = 1 << LINES_READ | 1 << LINES_WRITE,
		[TRACE_KIND_FETCH] = 1 << LINES_READ,
	};

	for (unsigned k = 0; k < LINES_KINDS; k++) {
		uint64_t *m = lines_mask(l, thread, k);

		for (uint32_t i = first; kinds[r->kind] >> k & 1 && i < end; i++)
			m[i / 64] |= UINT64_C(1) << i % 64;
	}
}

static int lines_place(struct lines *l, uint32_t slot, uint32_t number,
		       const struct trace_ref *r, uint32_t first, uint32_t end, struct lines_place **ret,
		       struct atw_err *err)
{
	bool has_ip = r->has & TRACE_HAS_IP;
	uint64_t ip = has_ip ? r->ip : 0;
	uint64_t key = hash_two((uint64_t)slot << 32 | first << 16 | end,
				hash_two(ip + has_ip, number));
	const struct table_slot *t = NULL;
	struct lines_slot *s = &l->slot[slot];
	struct lines_place *p;

	*ret = NULL;
	while ((t = table_next(&l->places, key, t))) {
		p = &l->place[t->value - 1];
		if (p->slot == slot && p->p.offset == first && p->p.size == end - first &&
		    p->p.has_ip == has_ip && p->p.ip == ip && p->number == number) {
			*ret = p;
			return ATW_OK;
		}
	}
	if (l->nplaces >= l->o.most_parts || l->nplaces >= LINES_NONE) {
		s->unlisted = true;
		sum_u64(&l->sum.unlisted, r->count);
		return ATW_OK;
	}
	if (!array_reserve((void **)&l->place, &l->places_cap, l->nplaces + 1,
			   sizeof(*l->place)) ||
	    !table_add(&l->places, key, l->nplaces + 1))
		return atw_err_nomem(err);
	*ret = &l->place[l->nplaces];
	**ret = (struct lines_place){
		.p = {.offset = first, .size = end - first, .ip = ip, .has_ip = has_ip},
		.slot = slot,
		.next = s->part,
		.number = number,
	};
	s->part = (uint32_t)l->nplaces++;
	s->parts++;
	return ATW_OK;
}

static void lines_note_physical(struct lines *l, struct lines_slot *s,
				const struct trace_ref *r)
{
	uint64_t line = r->physical & ~(uint64_t)(l->o.line - 1);

	/* Where a reference goes on in another line is known of that page alone. */
	if (r->address >> l->shift != s->number)
		return;
	if (!(r->has & TRACE_HAS_PHYSICAL) || (s->has_physical && s->physical != line))
		s->no_physical = true;
	s->has_physical = true;
	s->physical = line;
}

/* Bytes first..end-1 of the line. */
static int lines_add_to(struct lines *l, uint32_t slot, const struct trace_ref *r,
			uint32_t first, uint32_t end, bool crossing, struct atw_err *err)
{
	uint32_t thread, number = LINES_NONE;
	struct lines_slot *s = &l->slot[slot];
	struct lines_place *p;
	int e = lines_thread(l, slot, r, &thread, &number, err);

	if (e == ATW_OK)
		e = lines_place(l, slot, number, r, first, end, &p, err);
	if (e != ATW_OK)
		return e;
	lines_count_kind(&s->counts, r);
	if (crossing)
		sum_u64(&s->crossing, r->count);
	if (r->has & TRACE_HAS_WEIGHT) {
		uint64_t sum;

		if (__builtin_mul_overflow(r->weight, r->count, &sum)) {
			sum = UINT64_MAX;
			l->sum.overflow = true;
		}
		lines_count_sum(l, &s->weight, sum);
		sum_u64(&s->weighed, r->count);
	}
	lines_note_physical(l, s, r);
	if (thread != LINES_NONE)
		lines_mark(l, thread, r, first, end);
	if (p)
		lines_count_kind(&p->p.counts, r);
	return ATW_OK;
}

/* The last byte of a reference; without a size that of its aligned word. */
static uint64_t lines_last(const struct trace_ref *r)
{
	uint64_t last = r->address | (LINES_MARK - 1);

	if (r->has & TRACE_HAS_SIZE)
		last = r->address + (r->size ? r->size - 1 : 0);
	return last < r->address ? UINT64_MAX : last;
}

int lines_add(struct lines *l, const struct trace_ref *r, struct atw_err *err)
{
	/* The kernel's half is the same in all processes. */
	bool has_pid = r->has & TRACE_HAS_PID && r->address <= INT64_MAX, counted = false;
	uint64_t first, last, size = l->o.line, at;

	lines_count_sum(l, &l->sum.refs, r->count);
	if (!(r->has & TRACE_HAS_ADDRESS)) {
		sum_u64(&l->sum.addressless, r->count);
		return ATW_OK;
	}
	if (r->has & TRACE_HAS_SIZE && r->size > LINES_REFERENCE) {
		sum_u64(&l->sum.implausible, r->count);
		return ATW_OK;
	}
	last = lines_last(r);
	first = r->address >> l->shift;
	for (uint64_t n = first; n <= last >> l->shift; n++) {
		uint32_t slot = LINES_NONE;
		int e = lines_slot(l, n, has_pid ? r->pid : 0, has_pid, &slot, err);

		if (e != ATW_OK)
			return e;
		if (slot == LINES_NONE)
			continue;
		counted = true;
		at = n << l->shift;
		e = lines_add_to(l, slot, r, (uint32_t)(n == first ? r->address - at : 0),
				 (uint32_t)(last - at < size ? last - at + 1 : size),
				 last - at >= size, err);
		if (e != ATW_OK)
			return e;
	}
	if (!counted)
		sum_u64(&l->sum.left_out, r->count);
	else if (!(r->has & TRACE_HAS_TID))
		sum_u64(&l->sum.threadless, r->count);
	if (counted && first != last >> l->shift)
		sum_u64(&l->sum.crossing, r->count);
	return ATW_OK;
}

/* ---- results ---- */

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
