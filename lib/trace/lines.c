/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - memory references added up by cache line. */
#include "trace/lines_slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/sorted.h"
#include "base/table.h"

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
