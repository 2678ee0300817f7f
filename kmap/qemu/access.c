/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access.c - hot path for one load or store.
 *
 * An instruction mostly accesses the same object as before, so it caches the edge. The
 * cache is valid while the generation of the object is unchanged.
 */
#include "qemu/api.h"
#include "recorder.h"

/* Slow path without a cached edge. NULL: not to be counted. */
static struct kshare_edge *access_count_slowly(const struct vcpu *c, struct site *site,
					       uint64_t va)
{
	uint32_t id = shadow_find(va);
	int32_t task_id = current_task_id(c);
	struct kshare_edge *e;

	if (unlikely(!kstore_counts(&rec.store, id))) {
		rec.s->count.unfiltered++;
		return NULL;
	}
	if (!site->id)
		site->id = kstore_site(&rec.store, site->ip);
	if (!site->id)
		return NULL;
	e = kstore_edge_for(&rec.store, id, site->id, task_id, 1, 1);
	if (!e)
		return NULL;
	site->edge = e;
	site->object = id;
	site->task_id = task_id;
	site->gen = rec.store.gen[id];
	return e;
}

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

static inline bool access_is_closed(const struct vcpu *c)
{
	uint32_t gate = atomic_load_explicit(&rec.s->gate, memory_order_relaxed);

	if (likely((gate & (KSHARE_ACCESSES | KSHARE_ONE)) == KSHARE_ACCESSES && !c->tracing))
		return false;
	return access_is_closed_for(c, gate);
}

static inline struct kshare_edge *access_edge_at(const struct vcpu *c, struct site *site,
						 uint64_t va)
{
	uint32_t id = shadow_find(va);

	if (likely(site->object == id && site->task_id == current_task_id(c) && site->gen == rec.store.gen[id] &&
		   site->edge->reads < UINT32_MAX - 1 && site->edge->writes < UINT32_MAX - 1))
		return site->edge;
	return access_count_slowly(c, site, va);
}

static inline bool access_is_of_interest(uint64_t va)
{
	return va - rec.first <= rec.span;
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

static inline void access_count(const struct vcpu *c, struct site *site, uint64_t va,
				bool store)
{
	struct kshare_edge *e = access_edge_at(c, site, va);

	if (unlikely(!e))
		return;
	if (store) {
		e->writes++;
		rec.s->count.writes++;
	} else {
		e->reads++;
		rec.s->count.reads++;
	}
	if (unlikely(rec.s->detail))
		access_count_detail(va, store);
}

void access_memory(unsigned vcpu, uint32_t info, uint64_t va, void *site)
{
	const struct vcpu *c = &rec.cpu[vcpu];

	if (!access_is_of_interest(va))
		return;
	lock();
	if (!access_is_closed(c))
		access_count(c, site, va, qemu_plugin_mem_is_store(info));
	unlock();
}

/*
 * QEMU does one element of a string instruction at a time. It is one access as long as
 * each element is next to the last one and of the same object, and nothing that comes
 * after the instruction ran meanwhile.
 */
static bool access_goes_on(struct string *run, uint64_t va, unsigned size)
{
	bool next = run->object && (va == run->last + size || va == run->last - size);
	uint32_t id;

	/* No object begins within 8 bytes. */
	if (likely(next && !((va ^ run->last) >> 3))) {
		run->last = va;
		return true;
	}
	id = shadow_find(va);
	next &= run->object == id;
	*run = (struct string){ va, id };
	return next;
}

static void access_count_string(const struct vcpu *c, struct site *site, uint32_t info,
				uint64_t va)
{
	bool store = qemu_plugin_mem_is_store(info);

	if (!access_is_closed(c) &&
	    !access_goes_on(&site->string[store], va,
			    1u << qemu_plugin_mem_size_shift(info)))
		access_count(c, site, va, store);
}

void access_string(unsigned vcpu, uint32_t info, uint64_t va, void *site)
{
	if (!access_is_of_interest(va))
		return;
	lock();
	access_count_string(&rec.cpu[vcpu], site, info, va);
	unlock();
}

void access_string_end(unsigned vcpu, void *arg)
{
	struct site *site = arg;

	(void)vcpu;
	site->string[0].object = site->string[1].object = 0;
}
