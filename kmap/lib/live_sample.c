/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/live_sample.h"

#include "base/cleanup.h"
#include "base/sorted.h"
#include "host/live_watch.h"

enum {
	HITS = 2048,             /* of a word, then it is watched no longer */
	CANDIDATES = 16, TRIES = 256,
	KINDS = 1 << 10,
};

struct live_sample_slot {
	uint32_t id;             /* 0: nothing is watched */
	bool stopped, freed;
	uint64_t va;
	uint64_t start, end;     /* until when hits count, once it is known */
	unsigned n;
	struct live_hit hit[HITS];
};

struct live_sample {
	struct kstore *store;            /* borrowed */
	struct live_watch *watch;
	struct live_edges *edges;        /* borrowed */
	uint64_t period, random;
	unsigned words;
	uint64_t watches, refused, watched;
	uint32_t seen[KINDS];            /* how often kinds were watched */
	struct live_sample_slot slot[LIVE_WORDS];
};

int live_sample_open(struct live_edges *edges, unsigned period, struct live_sample **ret,
		     struct atw_err *err)
{
	struct live_sample *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return atw_err_nomem(err);
	x->edges = edges;
	x->store = edges->store;
	x->period = (uint64_t)period * 1000000;
	x->random = UINT64_C(0x9e3779b97f4a7c15);
	r = live_watch_open(&x->watch, 0, &x->words, err);
	if (r < 0)
		live_sample_close(x);
	else
		*ret = x;
	return r;
}

void live_sample_close(struct live_sample *x)
{
	if (!x)
		return;
	live_watch_close(x->watch);
	free(x);
}

/* ---- what a sample touched ---- */

void live_edges_free(struct live_edges *x)
{
	table_deinit(&x->sites);
	x->n = 0;
}

static uint32_t live_edges_site_of(struct live_edges *x, uint64_t ip)
{
	uint32_t site = (uint32_t)table_find(&x->sites, ip);

	if (site)
		return site;
	site = kstore_site(x->store, ip);
	if (site && !table_put(&x->sites, ip, site)) {
		x->store->s->count.lost_accesses++;
		return 0;
	}
	return site;
}

void live_edges_add(struct live_edges *x, uint32_t object, uint64_t va, uint64_t ip, uint32_t pid,
		    uint32_t writes, uint32_t reads)
{
	struct kshare *s = x->store->s;
	struct kshare_edge *e;
	uint32_t site;
	int32_t task_id;

	if (atomic_load(&s->gate) & KSHARE_ONE && (int32_t)pid != atomic_load(&s->only_pid)) {
		s->count.unfiltered += reads + writes;
		return;
	}
	site = live_edges_site_of(x, ip);
	task_id = x->named ? kstore_task_of(x->store, (int32_t)pid) : (int32_t)pid & KSHARE_PID;
	e = site ? kstore_edge_for(x->store, object, site, task_id, writes, reads) : NULL;
	if (!e)
		return;
	e->reads += reads;
	e->writes += writes;
	s->count.reads += reads;
	s->count.writes += writes;
	x->n += reads + writes;
	kstore_line(x->store, object, va, writes, reads);
}

/* ---- which one ---- */

/* Marsaglia's xorshift64: what is picked need not be a secret. */
static uint64_t live_sample_draw(struct live_sample *x)
{
	x->random ^= x->random << 13;
	x->random ^= x->random >> 7;
	x->random ^= x->random << 17;
	return x->random;
}

static uint32_t *live_sample_kind_of(struct live_sample *x, const struct kshare_object *o)
{
	return &x->seen[(o->name * 31u + o->type) % KINDS];
}

static bool live_sample_can_be_watched(const struct live_sample *x, uint32_t id)
{
	const struct kshare_object *o = kshare_object(x->store->s, id);

	if (!(o->flags & KSHARE_LIVE) || o->flags & (KSHARE_GENERAL | KSHARE_PART) || !o->va ||
	    !o->size || o->type == KSHARE_T_GLOBAL)
		return false;
	for (unsigned i = 0; i < x->words; i++)
		if (x->slot[i].id == id)
			return false;
	return true;
}

static uint32_t live_sample_choose(struct live_sample *x)
{
	uint32_t n = atomic_load(&x->store->s->nobjects), best = 0;

	for (unsigned tries = 0, found = 0; n > 1 && tries < TRIES && found < CANDIDATES; tries++) {
		uint32_t id = (uint32_t)(1 + live_sample_draw(x) % (n - 1));

		if (!live_sample_can_be_watched(x, id))
			continue;
		found++;
		if (!best ||
		    *live_sample_kind_of(x, kshare_object(x->store->s, id)) <
			    *live_sample_kind_of(x, kshare_object(x->store->s, best)))
			best = id;
	}
	return best;
}

static void live_sample_watch_next(struct live_sample *x, unsigned i, uint64_t time)
{
	struct live_sample_slot *s = &x->slot[i];
	struct kshare_object *o;
	uint32_t id = live_sample_choose(x);
	uint64_t va;

	if (!id)
		return;
	o = kshare_object(x->store->s, id);
	++*live_sample_kind_of(x, o);
	/* What is allocated begins at a word and has whole ones. */
	va = o->va + live_sample_draw(x) % ((o->size + 7) / 8) * 8;
	if (live_watch_set(x->watch, i, va, LIVE_WORD, NULL) < 0) {
		/* What the kernel needs to handle a breakpoint may have none. */
		live_watch_stop(x->watch, i, NULL);
		x->refused++;
		return;
	}
	x->watches++;
	o->flags |= KSHARE_WATCHED;
	s->id = id;
	s->stopped = s->freed = false;
	s->n = 0;
	s->va = va;
	s->start = time;
}

/* ---- what came of it ---- */

static int live_sample_order(const void *a, const void *b)
{
	const struct live_hit *x = a, *y = b;

	return ORDER(x->ip, y->ip) ?: ORDER(x->pid, y->pid);
}

static void live_sample_finish(struct live_sample *x, unsigned i)
{
	struct live_sample_slot *s = &x->slot[i];
	unsigned n = 0;

	for (unsigned h = 0; h < s->n; h++)
		if (s->hit[h].time >= s->start && s->hit[h].time <= s->end)
			s->hit[n++] = s->hit[h];
	qsort(s->hit, n, sizeof(s->hit[0]), live_sample_order);
	for (unsigned from = 0, to; from < n; from = to) {
		uint32_t writes = 0, reads;

		for (to = from; to < n && !live_sample_order(&s->hit[from], &s->hit[to]);
		     to++)
			writes += s->hit[to].write;
		/* Both breakpoints tell of a write. */
		reads = to - from - writes;
		live_edges_add(x->edges, s->id, s->va, s->hit[from].ip, s->hit[from].pid, writes,
			       reads > writes ? reads - writes : 0);
	}
	if (s->end > s->start)
		x->watched += s->end - s->start;
	if (s->freed)
		kstore_let_go(x->store, s->id);
	s->id = 0;
}

bool live_sample_over(struct live_sample *x, uint32_t id, uint64_t time)
{
	for (unsigned i = 0; i < x->words; i++) {
		struct live_sample_slot *s = &x->slot[i];

		if (s->id != id)
			continue;
		s->freed = true;
		if (!s->stopped || time < s->end)
			s->end = time;
		return true;
	}
	return false;
}

/* ---- one after the other ---- */

static int live_sample_disarm(struct live_sample *x, unsigned i, uint64_t time,
			      struct atw_err *err)
{
	struct live_sample_slot *s = &x->slot[i];

	if (!s->id || s->stopped)
		return ATW_OK;
	s->stopped = true;
	if (!s->freed)
		s->end = time;
	return live_watch_stop(x->watch, i, err);
}

/* Hits of a word come in order from each CPU; one that has too many is left alone. */
static int live_sample_collect(struct live_sample *x, struct atw_err *err)
{
	struct live_hit h;
	int r = ATW_OK;

	while (r == ATW_OK && live_watch_next(x->watch, &h)) {
		struct live_sample_slot *s = &x->slot[h.word];

		if (!s->id || s->n == HITS)
			continue;
		s->hit[s->n++] = h;
		if (s->n == HITS)
			r = live_sample_disarm(x, h.word, h.time, err);
	}
	return r;
}

int live_sample_work(struct live_sample *x, uint64_t time, uint64_t known, bool on,
		     struct atw_err *err)
{
	int r = live_sample_collect(x, err);

	for (unsigned i = 0; i < x->words && r == ATW_OK; i++) {
		struct live_sample_slot *s = &x->slot[i];

		if (s->id && !s->stopped && (s->freed || !on || time - s->start >= x->period)) {
			r = live_sample_disarm(x, i, time, err) ?:
			    live_sample_collect(x, err);
		}
		if (s->id && s->stopped && (s->freed || known >= s->end) && r == ATW_OK)
			live_sample_finish(x, i);
		if (!s->id && on && r == ATW_OK)
			live_sample_watch_next(x, i, time);
	}
	return r;
}

int live_sample_stop(struct live_sample *x, uint64_t time, struct atw_err *err)
{
	int r = ATW_OK;

	for (unsigned i = 0; i < x->words && r == ATW_OK; i++)
		r = live_sample_disarm(x, i, time, err);
	return r < 0 ? r : live_sample_collect(x, err);
}

int live_sample_end(struct live_sample *x, struct atw_err *err)
{
	int r = live_sample_collect(x, err);

	for (unsigned i = 0; i < x->words; i++)
		if (x->slot[i].id)
			live_sample_finish(x, i);
	return r;
}

void live_sample_sums(const struct live_sample *x, struct live_sums *sums)
{
	sums->watches = x->watches;
	sums->refused = x->refused;
	sums->watched = x->watched;
	sums->words = x->words;
	sums->lost_hits = live_watch_lost(x->watch);
}
