/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access.c - hot path for one load or store.
 *
 * An instruction mostly accesses the same object as before, or the one before that. So it
 * remembers the edges of both, with the addresses that they are for: then neither the
 * object of an address nor its edge has to be found. What an instruction remembers is
 * forgotten at once when it is no longer true (access_forget()), for that is rare and
 * accesses are not.
 */
#include <string.h>
#include <sys/mman.h>

#include "qemu/api.h"
#include "recorder.h"

static void *access_empty(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * The bits of an access's kind that a store has and a load has not. The interface does
 * not name them, so all kinds are looked at, and if one differs, none are used.
 */
static uint32_t access_store_bits(void)
{
	enum { KINDS = 1 << 18 };
	uint32_t stores = KINDS - 1;

	for (uint32_t i = 0; i < KINDS; i++)
		if (qemu_plugin_mem_is_store(i))
			stores &= i;
	for (uint32_t i = 0; i < KINDS && stores; i++)
		if (qemu_plugin_mem_is_store(i) != ((i & stores) != 0))
			return 0;
	return stores;
}

static inline bool access_is_store(uint32_t info)
{
	if (unlikely(!rec.store_bits))
		return qemu_plugin_mem_is_store(info);
	return info & rec.store_bits;
}

/* ---- what instructions remember ---- */

static void access_forget_at(struct site *site, uint32_t object)
{
	for (unsigned i = 0; i < RECENT; i++)
		if (site->recent[i].object == object)
			site->recent[i] = (struct recent){ 0 };
}

void access_forget(uint32_t object)
{
	const struct kshare_object *o = kshare_object(rec.s, object);
	uint32_t nsites = atomic_load_explicit(&rec.s->nsites, memory_order_relaxed);

	for (uint32_t i = 0; o->table && i < 1u << o->bits; i++) {
		uint32_t id = rec.edges[o->table + i].site;

		if (id && id < nsites && rec.site[id])
			access_forget_at(rec.site[id], object);
	}
}

/* Only edges of this site have been there: what it remembers follows. */
static void access_follow(uint32_t site, uint32_t from, uint32_t to)
{
	uint32_t nsites = atomic_load_explicit(&rec.s->nsites, memory_order_relaxed);

	for (unsigned i = 0; site < nsites && rec.site[site] && i < RECENT; i++)
		if (rec.site[site]->recent[i].edge == from)
			rec.site[site]->recent[i].edge = to;
}

void access_forget_all(void)
{
	uint32_t nsites = atomic_load(&rec.s->nsites);

	for (uint32_t i = 0; i < nsites; i++)
		if (rec.site[i])
			memset(rec.site[i]->recent, 0, sizeof(rec.site[i]->recent));
}

/* Its edges are about to go. What is written with them has the same cache as the rest. */
static void access_at_end(uint32_t object)
{
	object_name(object);
	access_forget(object);
}

int access_init(void)
{
	rec.store_bits = access_store_bits();
	rec.edges = kshare_edge(rec.s, 0);
	rec.site = access_empty((uint64_t)rec.s->at.max_sites * sizeof(*rec.site));
	rec.covered = access_empty(rec.s->at.max_objects);
	rec.store.goes = access_at_end;
	rec.store.moved = access_follow;
	return rec.site && rec.covered ? 0 : -1;
}

/* ---- slow path ---- */

static inline bool access_is_of_interest(uint64_t va)
{
	return va - rec.first <= rec.span;
}

static struct recent *access_find(const struct vcpu *c, struct site *site, uint32_t id)
{
	int32_t task_id = current_task_id(c);
	struct kshare_edge *e;

	if (unlikely(!kstore_counts(&rec.store, id))) {
		rec.s->count.unfiltered++;
		return NULL;
	}
	if (!site->id) {
		site->id = kstore_site(&rec.store, site->ip);
		rec.site[site->id] = site;
	}
	if (!site->id)
		return NULL;
	e = kstore_edge_for(&rec.store, id, site->id, task_id, 1, 1);
	if (!e)
		return NULL;
	site->recent[1] = site->recent[0];
	site->recent[0] = (struct recent){ .edge = (uint32_t)(e - rec.edges), .object = id,
					   .task_id = task_id };
	return &site->recent[0];
}

/* The address is of none of the ranges. NULL: not to be counted. */
static __attribute__((noinline)) struct recent *
access_recent_slowly(const struct vcpu *c, struct site *site, uint64_t va)
{
	uint32_t id = shadow_find(va);
	int32_t task_id = current_task_id(c);
	struct recent *r = site->recent;
	bool has;

	if (r->object != id || r->task_id != task_id || !r->edge)
		r++;
	if (r->object != id || r->task_id != task_id || !r->edge) {
		r = access_find(c, site, id);
		if (!r)
			return NULL;
		has = shadow_span(id, va, &r->first, &r->len);
	} else if (r->len) {
		has = shadow_span(id, va, &r->first, &r->len);
	} else {
		/* It has no range of its own, and will have none. */
		has = shadow_alike(id, va, &r->first, &r->len);
	}
	/* Addresses of no interest are in no remembered range. */
	if (!has || !access_is_of_interest(r->first) ||
	    !access_is_of_interest(r->first + r->len - 1))
		r->len = 0;
	return r;
}

/* ---- what counts ---- */

/* Not to be counted; what was remembered does not matter, for it may be older than that. */
static bool access_is_closed_for(const struct vcpu *c, uint32_t gate)
{
	struct kshare_counts *n = &rec.s->count;

	if (c->tracing)
		n->induced++;
	else if (!(gate & KSHARE_ACCESSES))
		n->disabled++;
	else if (gate & KSHARE_ONE && current_pid(c) != atomic_load_explicit(&rec.s->only_pid,
								     memory_order_relaxed))
		n->unfiltered++;
	else
		return false;
	return true;
}

/* Of every thread? */
static inline bool access_is_on(const struct kshare *s)
{
	uint32_t gate = atomic_load_explicit(&s->gate, memory_order_relaxed);

	return (gate & (KSHARE_ACCESSES | KSHARE_ONE)) == KSHARE_ACCESSES;
}

static inline bool access_is_open(const struct vcpu *c, const struct kshare *s)
{
	return access_is_on(s) && !c->tracing;
}

static inline bool access_is_closed(const struct vcpu *c)
{
	return unlikely(!access_is_open(c, rec.s)) &&
	       access_is_closed_for(c, atomic_load_explicit(&rec.s->gate, memory_order_relaxed));
}

/* What is remembered is what would be found. */
static inline void access_check_object(uint32_t id, uint64_t va)
{
#ifdef RECORDER_CHECKS
	if (shadow_find(va) != id)
		give_up("an instruction remembers what is no longer true");
#endif
	(void)id;
	(void)va;
}

static inline void access_check(const struct recent *r, uint64_t va)
{
#ifdef RECORDER_CHECKS
	const struct kshare_object *o = kshare_object(rec.s, r->object);
	const struct kshare_edge *e = rec.edges + r->edge;

	if (r->edge - o->table >= 1u << o->bits || e->pid != r->task_id)
		give_up("an instruction remembers an edge that is no longer there");
#endif
	access_check_object(r->object, va);
}

static inline struct recent *access_recent(const struct vcpu *c, struct site *site,
					   uint64_t va)
{
	int32_t task_id = current_task_id(c);
	struct recent *r = site->recent;

	if (unlikely(va - r->first >= r->len || r->task_id != task_id)) {
		r++;
		if (va - r->first >= r->len || r->task_id != task_id)
			return access_recent_slowly(c, site, va);
	}
	access_check(r, va);
	return r;
}

/* The details that are recorded besides the thread: times and lines. */
static void access_count_detail(uint64_t va, bool store)
{
	uint32_t id = shadow_find(va);
	struct kshare_object *o = kshare_object(rec.s, id);

	if (o->flags & KSHARE_GENERAL)
		return;
	if (rec.s->detail & KSHARE_TIMES) {
		o->last_use = rec.s->clock ? rec.s->clock : 1;
		if (!o->first_use)
			o->first_use = o->last_use;
	}
	kstore_line(&rec.store, id, va, store, !store);
}

/* NULL: it is not counted. */
static inline void access_count(struct recent *r, uint64_t va, bool store)
{
	struct kshare_edge *e;
	uint32_t n;

	if (unlikely(!r))
		return;
	e = rec.edges + r->edge;
	if (store) {
		n = ++e->writes;
		rec.s->count.writes++;
	} else {
		n = ++e->reads;
		rec.s->count.reads++;
	}
	/* The slow path writes down what would overflow. */
	if (unlikely(n >= UINT32_MAX - 1))
		*r = (struct recent){ 0 };
	if (unlikely(rec.s->detail))
		access_count_detail(va, store);
}

void access_memory_any(unsigned vcpu, uint32_t info, uint64_t va, void *site)
{
	const struct vcpu *c = &rec.cpu[vcpu];

	if (!access_is_of_interest(va))
		return;
	lock();
	if (!access_is_closed(c))
		access_count(access_recent(c, site, va), va, access_is_store(info));
	unlock();
}

/* Neither range has the address. */
static __attribute__((noinline)) void access_memory_slowly(const struct vcpu *c, uint32_t info,
							   uint64_t va, struct site *site)
{
	if (!access_is_of_interest(va))
		return;
	lock();
	if (!access_is_closed(c))
		access_count(access_recent_slowly(c, site, va), va, access_is_store(info));
	unlock();
}

/*
 * The same where nothing is unusual: one thread, no details, an edge that is remembered.
 * It calls nothing, so that it needs no stack.
 */
void access_memory(unsigned vcpu, uint32_t info, uint64_t va, void *arg)
{
	const struct vcpu *c = &rec.cpu[vcpu];
	struct site *site = arg;
	struct recent *r = site->recent;
	struct kshare *s = rec.s;
	int32_t task_id = current_task_id(c);
	struct kshare_edge *e;

	if (unlikely(c->tracing)) {
		s->count.induced += access_is_of_interest(va);
		return;
	}
	if (unlikely(va - r->first >= r->len || r->task_id != task_id)) {
		r++;
		if (va - r->first >= r->len || r->task_id != task_id)
			return access_memory_slowly(c, info, va, site);
	}
	access_check(r, va);
	begin_work(s);
	if (unlikely(is_held(s) || !access_is_on(s)))
		return access_memory_any(vcpu, info, va, arg);
	e = rec.edges + r->edge;
	if (info & rec.store_bits) {
		s->count.writes++;
		if (unlikely(++e->writes >= UINT32_MAX - 1))
			*r = (struct recent){ 0 };
	} else {
		s->count.reads++;
		if (unlikely(++e->reads >= UINT32_MAX - 1))
			*r = (struct recent){ 0 };
	}
	end_work(s);
}

/*
 * QEMU does one element of a string instruction at a time. It is one access as long as
 * each element is next to the last one and of the same object, and nothing that comes
 * after the instruction ran meanwhile.
 */
static inline bool access_is_next(const struct string *run, uint64_t va)
{
	return run->object && (va == run->last + run->size || va == run->last - run->size);
}

/* Nothing has to be looked up: it is of the same object. */
static inline bool access_is_same(const struct string *run, uint64_t va)
{
	return va >= run->last && va < run->end && run->changes == rec.changes;
}

static bool access_goes_on(struct string *run, uint64_t va)
{
	bool next = access_is_next(run, va);
	uint32_t id;

	if (likely(next && access_is_same(run, va))) {
		run->last = va;
		return true;
	}
	id = shadow_find(va);
	next &= run->object == id;
	run->last = va;
	run->object = id;
	run->changes = rec.changes;
	run->end = shadow_end_of(id, va);
	return next;
}

void access_string_any(unsigned vcpu, uint32_t info, uint64_t va, void *strings)
{
	const struct vcpu *c = &rec.cpu[vcpu];
	struct strings *s = strings;
	bool store = access_is_store(info);
	struct string *run = &s->of[store];

	if (!access_is_of_interest(va))
		return;
	lock();
	if (!access_is_closed(c)) {
		if (unlikely(run->info != info)) {
			run->info = info;
			run->size = 1u << qemu_plugin_mem_size_shift(info);
		}
		if (!access_goes_on(run, va))
			access_count(access_recent(c, s->site, va), va, store);
	}
	unlock();
}

/* The next element of what was counted changes nothing that others see. */
void access_string(unsigned vcpu, uint32_t info, uint64_t va, void *strings)
{
	struct strings *s = strings;
	struct string *run = &s->of[(info & rec.store_bits) != 0];

	if (likely(run->info == info && va == run->last + run->size && access_is_same(run, va))) {
		access_check_object(run->object, va);
		run->last = va;
	} else if (access_is_of_interest(va)) {
		access_string_any(vcpu, info, va, strings);
	}
}

bool access_is_usual(void)
{
	return rec.store_bits && !rec.locks && !(rec.s->detail & (KSHARE_TIMES | KSHARE_LINES));
}

void access_string_end(unsigned vcpu, void *arg)
{
	struct strings *s = arg;

	(void)vcpu;
	s->of[0].object = s->of[1].object = 0;
	s->of[0].end = s->of[1].end = 0;
}
