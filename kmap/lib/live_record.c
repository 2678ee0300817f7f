/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/live_record.h"

#include <time.h>

#include "base/clock.h"
#include "linux/kernel.h"
#include "host/live_pmu.h"
#include "kmap/lib/live_sample.h"
#include "host/host.h"
#include "kmap/lib/format.h"

enum {
	AT_ONCE = 8192,          /* events between two looks at everything else */
	CACHES = 1 << 12,
};
/* So long ago an event is surely in its ring, ns. */
#define SETTLED UINT64_C(500000)

struct live_record_cache {
	uint32_t name;
	uint64_t size;
};

struct live_recorder {
	struct live_recorder_opts o;
	struct kstore store;
	struct live_events *events;
	struct live_pmu *pmu;            /* one of these, or none */
	struct live_sample *sample;
	struct live_edges edges;
	struct table objects;       /* by their address, or that of their struct page */
	struct table caches;        /* index + 1 in cache[], by address */
	struct live_record_cache *cache;
	uint32_t ncaches;
	struct kmem *kmem;
	uint64_t words;                  /* of what lives */
	uint64_t since;                  /* until when `all` is added up */
	struct live_sums sums;
	bool on;
};

/* ---- what an event says ---- */

/* A cache that cannot be read has neither name nor size. */
static struct live_record_cache *live_record_cache_of(struct live_recorder *r,
						      uint64_t address)
{
	const struct kshare_kernel *k = &r->o.s->kernel;
	uint32_t i = (uint32_t)table_find(&r->caches, address), size = 0;
	char text[64] = "";
	uint64_t name;

	if (i)
		return &r->cache[i - 1];
	if (r->ncaches == CACHES)
		return &r->cache[CACHES];
	if (kmem_read(r->kmem, address + k->cache_name, &name, 8, NULL) == ATW_OK)
		kmem_text(r->kmem, name, text, sizeof(text), NULL);
	kmem_read(r->kmem, address + k->cache_size, &size, 4, NULL);
	r->cache[r->ncaches] = (struct live_record_cache){
		*text ? kstore_name(r->o.s, text, strlen(text)) : 0,
		size,
	};
	table_put(&r->caches, address, ++r->ncaches);
	return &r->cache[r->ncaches - 1];
}

/* false: it is none of what is followed. */
static bool live_record_birth_of(struct live_recorder *r, const struct live_event *e,
				 struct kstore_birth *b)
{
	const struct kshare_kernel *k = &r->o.s->kernel;
	const struct live_record_cache *c;

	*b = (struct kstore_birth){ .va = e->ptr, .ip = e->ip, .pid = (int32_t)e->pid };
	memcpy(b->comm, e->comm, sizeof(b->comm));
	/* include/linux/preempt.h: it is no task that runs. */
	if (e->depth & 0xff0100) {
		b->pid = 0;
		memset(b->comm, 0, sizeof(b->comm));
		snprintf(b->comm, sizeof(b->comm), "%s", e->depth & 0xff0000 ? "hardirq" : "softirq");
	}
	switch (e->kind) {
	case KSHARE_KMALLOC:
		b->type = KSHARE_T_KMALLOC;
		b->size = e->what;
		break;
	case KSHARE_CACHE_ALLOC:
		b->type = KSHARE_T_CACHE;
		c = live_record_cache_of(r, e->what);
		b->name = c->name;
		b->size = c->size;
		break;
	case KSHARE_PAGE_ALLOC:
		b->type = KSHARE_T_PAGES;
		b->size = (UINT64_C(1) << (e->what & 31)) << k->page_shift;
		b->va = k->vmemmap && k->page_size
			? k->direct + ((e->ptr - k->vmemmap) / k->page_size << k->page_shift) : 0;
		break;
	default:
		b->type = KSHARE_T_VMALLOC;
		b->size = e->what;
	}
	/* No memory to be had is an event as well. */
	return e->ptr && (int64_t)e->ptr < -4095;
}

static uint64_t live_record_words_of(uint64_t size)
{
	return (size + 7) / 8;
}

static void live_record_end(struct live_recorder *r, uint32_t id, uint64_t key,
			    uint64_t time, uint64_t ip)
{
	r->words -= live_record_words_of(kshare_object(r->o.s, id)->size);
	table_remove(&r->objects, table_next(&r->objects, key, NULL));
	if (r->sample && live_sample_over(r->sample, id, time))
		kstore_finish(&r->store, id, ip);        /* what touched it comes yet */
	else
		kstore_end(&r->store, id, ip);
}

static int live_record_begin(struct live_recorder *r, const struct live_event *e,
			     struct atw_err *err)
{
	uint32_t id = (uint32_t)table_find(&r->objects, e->ptr);
	struct kstore_birth b;

	if (!live_record_birth_of(r, e, &b) || kstore_is_repeated(&r->store, id, &b))
		return ATW_OK;
	if (id) {
		r->o.s->count.overlaps++;
		live_record_end(r, id, e->ptr, e->time, KMAP_FREE_LOST);
	}
	if (!kstore_wanted(&r->store, kshare_name(r->o.s, b.name), b.ip) ||
	    !kstore_sampled(&r->store))
		return ATW_OK;
	id = kstore_new(&r->store, &b);
	if (!id || r->o.s->by_site)
		return ATW_OK;
	if (!table_put(&r->objects, e->ptr, id))
		return atw_err_nomem(err);
	r->words += live_record_words_of(b.size);
	return ATW_OK;
}

static int live_record_take(struct live_recorder *r, const struct live_event *e,
			    struct atw_err *err)
{
	uint32_t id;

	if (e->time > r->since) {
		r->sums.all += (unsigned __int128)r->words * (e->time - r->since);
		r->since = e->time;
	}
	if (e->kind < KSHARE_EVENTS)
		r->o.s->count.event[e->kind]++;
	if (!(e->depth & 0xff0100) && r->edges.named)
		kstore_task(&r->store, (int32_t)e->pid, e->comm);
	switch (e->kind) {
	case KSHARE_KMALLOC:
	case KSHARE_CACHE_ALLOC:
	case KSHARE_PAGE_ALLOC:
	case KSHARE_VMAP_ALLOC:
		return live_record_begin(r, e, err);
	case KSHARE_KFREE:
	case KSHARE_CACHE_FREE:
	case KSHARE_PAGE_FREE:
	case KSHARE_VMAP_FREE:
		id = (uint32_t)table_find(&r->objects, e->ptr);
		if (id) {
			r->o.s->count.frees++;
			live_record_end(r, id, e->ptr, e->time, e->ip);
		} else if (r->o.everyone) {
			r->o.s->count.strange_frees++;
		}
		return ATW_OK;
	default:
		r->o.s->count.undecodable++;
		return ATW_OK;
	}
}

/* ---- what the CPU samples ---- */

enum { LARGEST_SLAB = 8192, ORDERS = 11 };

static uint32_t live_record_covers(const struct live_recorder *r, uint64_t key,
				   uint64_t va)
{
	uint32_t id = (uint32_t)table_find(&r->objects, key);
	const struct kshare_object *o = kshare_object(r->o.s, id);

	return id && va - o->va < o->size ? id : 0;
}

/* The smallest one that it is in: of a slab, what vmalloc() mapped, pages. 0: none. */
static uint32_t live_record_object_at(const struct live_recorder *r, uint64_t va)
{
	const struct kshare_kernel *k = &r->o.s->kernel;
	uint64_t page = va >> k->page_shift << k->page_shift, pfn = (va - k->direct) >> k->page_shift;
	uint32_t id = 0;

	for (uint64_t off = va & 7; off < LARGEST_SLAB && !id; off += 8)
		id = live_record_covers(r, va - off, va);
	for (unsigned n = 0; n < 1u << ORDERS && !id; n++)
		id = live_record_covers(r, page - ((uint64_t)n << k->page_shift), va);
	/* Of the buddy allocator's, each order begins at a multiple of its size. */
	for (unsigned order = 0; order < ORDERS && !id && k->vmemmap; order++)
		id = live_record_covers(
			r, k->vmemmap + (pfn >> order << order) * k->page_size, va);
	return id;
}

static void live_record_touch(struct live_recorder *r, uint64_t until)
{
	bool on = atomic_load(&r->o.s->gate) & KSHARE_ACCESSES;
	const struct live_touch *t;

	while (r->pmu && (t = live_pmu_next(r->pmu, until))) {
		uint32_t id = on ? live_record_object_at(r, t->va) : 0;

		if (id)
			live_edges_add(&r->edges, id, t->va, t->ip, t->pid, t->write, !t->write);
		else
			r->sums.elsewhere += on;
	}
}

static int live_record_take_some(struct live_recorder *r, uint64_t until, unsigned max,
				 unsigned *ret_n, struct atw_err *err)
{
	const struct live_event *e;
	int ret = ATW_OK;

	*ret_n = 0;
	while (*ret_n < max && ret == ATW_OK && (e = live_events_next(r->events, until))) {
		live_record_touch(r, e->time);
		ret = live_record_take(r, e, err);
		++*ret_n;
	}
	if (*ret_n < max)
		live_record_touch(r, until);
	return ret;
}

/* ---- the whole ---- */

static void live_record_follow_gate(struct live_recorder *r, uint32_t gate)
{
	bool on = gate & KSHARE_OBJECTS;

	if (on != r->on)
		live_events_switch(r->events, on);
	r->on = on;
}

int live_recorder_work(struct live_recorder *r, unsigned *ret_n, struct atw_err *err)
{
	uint32_t gate = atomic_load(&r->o.s->gate);
	uint64_t settled = now() - SETTLED;
	int ret;

	live_record_follow_gate(r, gate);
	r->o.s->count.lost_events = live_events_lost(r->events);
	ret = live_record_take_some(r, settled, AT_ONCE, ret_n, err);
	/* The next words are chosen when all that happened to the last ones is known. */
	if (ret == ATW_OK && r->sample)
		ret = live_sample_work(r->sample, now(), *ret_n < AT_ONCE ? settled : 0,
				       gate & KSHARE_ACCESSES, err);
	return ret;
}

void live_recorder_stop(struct live_recorder *r)
{
	live_events_switch(r->events, false);
	if (r->sample)
		live_sample_stop(r->sample, now(), NULL);
}

int live_recorder_finish(struct live_recorder *r, struct atw_err *err)
{
	static const struct timespec settled = { 0, SETTLED };
	unsigned n = 1;
	uint64_t last;
	int ret = ATW_OK;

	live_events_switch(r->events, false);
	if (r->sample)
		ret = live_sample_stop(r->sample, now(), err);
	nanosleep(&settled, NULL);
	last = now();
	while (n && ret == ATW_OK)
		ret = live_record_take_some(r, last, AT_ONCE, &n, err);
	if (ret == ATW_OK && r->sample)
		ret = live_sample_end(r->sample, err);
	r->o.s->count.lost_events = live_events_lost(r->events);
	if (last > r->since)
		r->sums.all += (unsigned __int128)r->words * (last - r->since);
	r->since = last;
	return ret;
}

struct live_events *live_recorder_events(struct live_recorder *r)
{
	return r->events;
}

struct live_sums live_recorder_sums(const struct live_recorder *r)
{
	struct live_sums s = r->sums;

	s.hits = r->edges.n;
	s.rate = r->pmu ? r->o.rate : 0;
	if (r->pmu)
		s.lost_hits = live_pmu_lost(r->pmu);
	if (r->sample)
		live_sample_sums(r->sample, &s);
	s.lost_events = live_events_lost(r->events);
	return s;
}

static int live_record_open_sampler(struct live_recorder *r)
{
	if (r->o.rate && live_pmu_open("/sys/bus/event_source/devices", 0, r->o.rate, &r->pmu,
				       &r->sums.why) == ATW_OK)
		return ATW_OK;
	return live_sample_open(&r->edges, r->o.period, &r->sample, &r->sums.why);
}

uint64_t live_sums_scale(const struct live_sums *s, uint64_t sample)
{
	unsigned __int128 of = s->rate ? s->rate : s->watched ? s->all / s->watched : 0;

	if (!s->rate && !s->watched)
		return 0;
	of = of > UINT64_MAX ? UINT64_MAX : of * sample;
	return of > UINT64_MAX ? UINT64_MAX : of ? (uint64_t)of : 1;
}

static int live_record_make(struct live_recorder *r, struct atw_err *err)
{
	struct live_events_opts eo = {
		.layout = { .task_tgid = r->o.task_tgid, .in_task = r->o.s->kernel.in_task },
		.ring = r->o.ring, .everyone = r->o.everyone,
	};
	int ret = kernel_kmem(r->o.kernel, &r->kmem, err);

	if (ret < 0)
		return ret;
	r->cache = calloc(CACHES + 1, sizeof(*r->cache));
	if (!r->cache || kstore_init(&r->store, r->o.s, r->o.wait, r->o.arg) < 0)
		return atw_err_nomem(err);
	memcpy(eo.layout.of_cpu, r->o.s->kernel.of_cpu, sizeof(eo.layout.of_cpu));
	r->edges.store = &r->store;
	/* Elsewhere hits have other numbers than events. */
	r->edges.named = host_first_pid_namespace();
	ret = r->o.accesses ? live_record_open_sampler(r) : ATW_OK;
	/* Without accesses objects are recorded all the same. */
	if (ret < 0 && ret != ATW_E_UNSUPPORTED && ret != ATW_E_PERM)
		return atw_err_set(err, ret, "%s", r->sums.why.text);
	r->since = now();
	return live_events_open(&eo, &r->events, err);
}

int live_recorder_open(const struct live_recorder_opts *o, struct live_recorder **ret,
		       struct atw_err *err)
{
	struct live_recorder *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return atw_err_nomem(err);
	r->o = *o;
	status = live_record_make(r, err);
	if (status < 0)
		live_recorder_close(r);
	else
		*ret = r;
	return status;
}

void live_recorder_close(struct live_recorder *r)
{
	if (!r)
		return;
	live_events_close(r->events);
	live_sample_close(r->sample);
	live_pmu_close(r->pmu);
	live_edges_free(&r->edges);
	table_deinit(&r->objects);
	table_deinit(&r->caches);
	free(r->cache);
	kstore_free(&r->store);
	free(r);
}
