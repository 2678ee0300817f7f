/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/objects.h"

#include "base/sorted.h"

#define SIZE_MAX_SANE (UINT64_C(1) << 48)    /* larger ones say nothing about memory */

int kmap_objects_init(struct kmap_model *m)
{
	kmap_table_init(&m->open, sizeof(struct kmap_open));
	m->hot = calloc(m->top, sizeof(*m->hot));
	return m->hot ? ATW_OK : ATW_E_NOMEM;
}

void kmap_objects_deinit(struct kmap_model *m)
{
	kmap_table_deinit(&m->open);
	free(m->hot);
}

/* ---- the hottest ---- */

static uint64_t objects_heat(const struct kmap_hot *h)
{
	return h->reads + h->writes < h->reads ? UINT64_MAX : h->reads + h->writes;
}

/* Hotter first; of equal ones the one that came first. */
static int objects_hotter(const void *a, const void *b)
{
	const struct kmap_hot *x = a, *y = b;

	return ORDER(objects_heat(y), objects_heat(x)) ?: ORDER(x->number, y->number);
}

/* A heap with the least hot on top. */
static void objects_sift_down(struct kmap_hot *h, size_t n)
{
	for (size_t i = 0, next; 2 * i + 1 < n; i = next) {
		struct kmap_hot t = h[i];

		next = 2 * i + 1;
		if (next + 1 < n && objects_hotter(&h[next + 1], &h[next]) > 0)
			next++;
		if (objects_hotter(&h[i], &h[next]) >= 0)
			return;
		h[i] = h[next];
		h[next] = t;
	}
}

static void objects_sift_up(struct kmap_hot *h, size_t i)
{
	for (; i; i = (i - 1) / 2) {
		struct kmap_hot t = h[i];

		if (objects_hotter(&h[i], &h[(i - 1) / 2]) <= 0)
			return;
		h[i] = h[(i - 1) / 2];
		h[(i - 1) / 2] = t;
	}
}

static void objects_offer(struct kmap_model *m, const struct kmap_open *o)
{
	const struct kmap_hot h = {
		.site = o->site, .va = o->key.a, .size = o->size, .alloc_time = o->key.b,
		.free_time = o->free_time, .reads = o->reads, .writes = o->writes,
		.pid = o->pid, .task = o->task, .freed = o->free_time != 0, .number = o->number,
	};

	if (!o->reads && !o->writes)
		return;
	if (m->hots < m->top) {
		m->hot[m->hots] = h;
		objects_sift_up(m->hot, m->hots++);
	} else if (objects_hotter(&h, &m->hot[0]) < 0) {
		m->hot[0] = h;
		objects_sift_down(m->hot, m->hots);
	}
}

/* ---- adding up ---- */

/* In a sample: never watched. Older recordings do not have the marks. */
static bool objects_is_unwatched(const struct kmap_model *m, const struct kmap_open *o)
{
	return !o->reads && !o->writes && !(o->marks & KMAP_WATCHED) && kmap_watch_sampled(m);
}

static void objects_add_use(const struct kmap_model *m, struct kmap_sums *s,
			    const struct kmap_open *o)
{
	unsigned __int128 n = (unsigned __int128)o->reads + o->writes;

	if (objects_is_unwatched(m, o))
		return;
	s->watched++;
	kmap_add(&s->reads, o->reads);
	kmap_add(&s->writes, o->writes);
	if (n > UINT64_MAX || __builtin_add_overflow(s->squares, n * n, &s->squares))
		s->squares = ~(unsigned __int128)0;
	if (!o->reads && !o->writes) {
		s->untouched++;
		kmap_add(&s->untouched_bytes, o->size);
	} else if (!o->reads) {
		s->unread++;
		kmap_add(&s->unread_bytes, o->size);
	} else if (!o->writes) {
		s->unwritten++;
		kmap_add(&s->unwritten_bytes, o->size);
	}
}

static void objects_add_end(struct kmap_sums *s, const struct kmap_open *o,
			    uint64_t until)
{
	bool freed = o->ended;

	s->freed += freed;
	s->live += !freed;
	if (!freed)
		kmap_add(&s->live_bytes, o->size);
	s->missed += freed && o->free_ip == KMAP_FREE_LOST;
	s->nested += freed && o->free_ip == KMAP_FREE_NESTED;
	if (!freed && !o->key.b)
		kmap_add(&s->always, o->size);
	/* An object with an unknown time of end is left out of averages. */
	if (freed && !o->free_time)
		return;
	if (o->key.b && until > o->key.b && o->size < SIZE_MAX_SANE &&
	    __builtin_add_overflow(s->stay, (unsigned __int128)o->size * (until - o->key.b), &s->stay))
		s->stay = ~(unsigned __int128)0;
}

static unsigned objects_bits_of(uint64_t time)
{
	return time ? 64 - (unsigned)__builtin_clzll(time) : 0;
}

/* NULL: no memory. */
static struct kmap_time *objects_time_of(struct kmap_model *m, uint32_t cache,
					 uint64_t time)
{
	return kmap_table_elem(&m->time, (struct kmap_key){ cache, objects_bits_of(time), 0 }, NULL);
}

static int objects_add_life(struct kmap_model *m, uint32_t cache,
			    const struct kmap_open *o)
{
	struct kmap_time *t;

	if (!o->key.b)
		return ATW_OK;
	t = objects_time_of(m, cache, o->free_time - o->key.b);
	if (!t)
		return ATW_E_NOMEM;
	t->life++;
	t->life_untouched += !o->reads && !o->writes && !objects_is_unwatched(m, o);
	kmap_add(&t->life_bytes, o->size);
	kmap_cache(m, cache)->lives++;
	m->life_total++;
	return ATW_OK;
}

/* What was never accessed was dead all its life, which is no time from an access. */
static int objects_add_dead(struct kmap_model *m, uint32_t cache,
			    const struct kmap_open *o)
{
	struct kmap_cache *c = kmap_cache(m, cache);
	struct kmap_time *t;

	if (!o->used || o->undated) {
		c->undated += o->reads || o->writes;
		m->undated += o->reads || o->writes;
		return ATW_OK;
	}
	if (o->last_use > o->free_time) {
		m->dead_late++;
		return ATW_OK;
	}
	t = objects_time_of(m, cache, o->free_time - o->last_use);
	if (!t)
		return ATW_E_NOMEM;
	t->dead++;
	kmap_add(&t->dead_bytes, o->size);
	c->dead++;
	m->dead++;
	return ATW_OK;
}

static int objects_add_times(struct kmap_model *m, uint32_t cache,
			     const struct kmap_open *o)
{
	int r;

	if (!o->free_time)
		return ATW_OK;
	if (o->free_time < o->key.b) {
		m->backwards++;
		return ATW_OK;
	}
	r = objects_add_life(m, cache, o);
	return r == ATW_OK ? objects_add_dead(m, cache, o) : r;
}

/* Over time: each site has a series of its own, also one with unknown code. */
static int objects_add_series(struct kmap_model *m, struct kmap_site *s,
			      const struct kmap_open *o)
{
	int64_t n;

	if (!o->key.b || o->size >= SIZE_MAX_SANE || m->compressed ||
	    (o->ended && o->free_time < o->key.b))
		return ATW_OK;
	if (!s->series) {
		n = kmap_series_new(&m->series);
		if (n < 0)
			return ATW_E_NOMEM;
		s->series = (uint32_t)n + 1;
	}
	kmap_series_add(&m->series, s->series - 1, o->key.b, (int64_t)o->size);
	if (o->free_time)
		kmap_series_add(&m->series, s->series - 1, o->free_time, -(int64_t)o->size);
	return ATW_OK;
}

/* Nothing of it will come any more. */
static int objects_settle(struct kmap_model *m, const struct kmap_open *o)
{
	struct kmap_site *s = kmap_site(m, o->site);
	struct kmap_cache *c = kmap_cache(m, s->cache);
	struct kmap_sums *sums[] = { &m->s, &s->s, &c->s };
	uint64_t until = o->free_time ? o->free_time : m->last;

	for (unsigned i = 0; i < 3; i++) {
		sums[i]->objects++;
		kmap_add(&sums[i]->bytes, o->size);
		objects_add_use(m, sums[i], o);
		objects_add_end(sums[i], o, until);
	}
	m->timeless += o->ended && !o->free_time;
	objects_offer(m, o);
	return objects_add_times(m, s->cache, o) < 0 ? ATW_E_NOMEM
						     : objects_add_series(m, s, o);
}

static int objects_add_free(struct kmap_model *m, const struct kmap_open *o)
{
	struct kmap_edge *e;
	int64_t code;

	if (!o->ended || !kmap_is_code(o->free_ip))
		return ATW_OK;
	code = kmap_code_of(m, o->free_ip);
	e = code < 0 ? NULL : kmap_edge_of(m, o->site, (uint64_t)code);
	if (!e)
		return ATW_E_NOMEM;
	e->frees++;
	kmap_code(m, (size_t)code)->frees++;
	m->has_frees = true;
	return ATW_OK;
}

uint64_t kmap_objects_free_time(const struct kmap_model *m, uint64_t time)
{
	return time > KMAP_TIME_MOST && !m->clock ? 0 : time;
}

/* The present object: its last part, or one of those before. */
static int objects_leave(struct kmap_model *m)
{
	const struct kmap_open *o = &m->now;
	struct kmap_open *kept;
	int64_t i;

	if (!m->bound)
		return ATW_OK;
	m->bound = false;
	m->now.undated |= o->part_touched && !o->part_used;
	if (!o->ended) {
		kept = kmap_table_elem(&m->open, o->key, NULL);
		if (kept)
			*kept = *o;
		return kept ? ATW_OK : ATW_E_NOMEM;
	}
	i = kmap_table_find(&m->open, o->key);
	if (i >= 0)
		kmap_table_remove(&m->open, (size_t)i);
	return objects_add_free(m, o) < 0 ? ATW_E_NOMEM : objects_settle(m, o);
}

int kmap_objects_begin(struct kmap_model *m, const struct kmap_object *o, uint64_t site,
		       const char *task, bool *fresh)
{
	const struct kmap_key key = { o->va, o->alloc_time, site };
	struct kmap_open *now = &m->now;
	int64_t i;

	if (objects_leave(m) < 0)
		return ATW_E_NOMEM;
	i = kmap_table_find(&m->open, key);
	*fresh = i < 0;
	if (i >= 0)
		*now = ((struct kmap_open *)m->open.v)[i];
	else
		*now = (struct kmap_open){ .key = key, .site = site, .pid = o->pid,
					   .number = m->objects_read++ };
	now->size = o->size > now->size ? o->size : now->size;
	now->task = task ? task : now->task;
	now->ended = o->free_time;
	now->free_time = kmap_objects_free_time(m, o->free_time);
	now->free_ip = o->free_ip;
	now->part_touched = now->part_used = false;
	m->bound = true;
	return ATW_OK;
}

void kmap_objects_access(struct kmap_model *m, const struct kmap_access *a)
{
	kmap_add(&m->now.reads, a->reads);
	kmap_add(&m->now.writes, a->writes);
	m->now.part_touched |= a->reads || a->writes;
}

void kmap_objects_used(struct kmap_model *m, uint64_t last)
{
	struct kmap_open *o = &m->now;

	o->last_use = o->used && o->last_use > last ? o->last_use : last;
	o->used = o->part_used = true;
}

/* In the order they came, so that equal ones rank as they lie in the file. */
static int objects_by_number(const void *a, const void *b)
{
	const struct kmap_open *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

int kmap_objects_end(struct kmap_model *m)
{
	int r = objects_leave(m);

	if (m->open.n)
		qsort(m->open.v, m->open.n, m->open.elem, objects_by_number);
	for (size_t i = 0; i < m->open.n && r == ATW_OK; i++)
		r = objects_settle(m, (struct kmap_open *)m->open.v + i);
	kmap_table_deinit(&m->open);
	qsort(m->hot, m->hots, sizeof(*m->hot), objects_hotter);
	return r;
}
