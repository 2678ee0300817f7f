/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object.c - objects come and go, whatever they are: kinds.c knows that.
 *
 * One that is over leaves the shadow at once and waits in the queue until the program
 * has written it down; then its place is free again. Nothing is dropped without a count.
 */
#include <string.h>

#include "recorder.h"

enum { SPILL_AT_ONCE = 1024 };

static uint32_t free_list, fresh, hand;
static uint32_t sampled;

void object_init(void)
{
	fresh = atomic_load(&rec.s->nobjects);
}

static uint32_t take(void)
{
	struct kshare_counts *c = &rec.s->count;
	uint32_t id = free_list;

	if (id) {
		free_list = kshare_object(rec.s, id)->next;
	} else if (fresh < rec.s->at.max_objects) {
		id = fresh++;
		atomic_store_explicit(&rec.s->nobjects, fresh, memory_order_release);
	} else {
		return 0;
	}
	if (++c->objects_used > c->objects_peak)
		c->objects_peak = c->objects_used;
	return id;
}

static void give_back(uint32_t id)
{
	struct kshare_object *o = kshare_object(rec.s, id);

	edge_free(o->table, o->bits);
	o->table = 0;
	o->flags = 0;
	o->type = 0;
	o->next = free_list;
	free_list = id;
	rec.s->count.objects_used--;
}

void object_reclaim(void)
{
	uint32_t id;

	while ((id = kshare_take(&rec.s->back)))
		give_back(id);
}

static bool hand_over(uint32_t id)
{
	while (!kshare_put(&rec.s->done, id)) {
		object_reclaim();
		rec.s->count.waits++;
		if (!wait_for_program())
			return false;
	}
	return true;
}

static uint32_t place(void)
{
	uint32_t id;

	/* What came back is used before what was never in use. */
	object_reclaim();
	id = take();
	/* As long as some are on their way, one comes back. */
	while (!id && atomic_load(&rec.s->done.head) != atomic_load(&rec.s->back.tail)) {
		rec.s->count.waits++;
		if (!wait_for_program())
			return 0;
		object_reclaim();
		id = take();
	}
	return id;
}

/* ---- which ones are wanted ---- */


static bool is_cache_wanted(const char *name)
{
	const struct kshare *s = rec.s;

	for (unsigned i = 0; i < KSHARE_FILTERS && s->only_cache[i][0]; i++)
		if (!strcmp(s->only_cache[i], name))
			return true;
	return !s->only_cache[0][0];
}

static bool is_site_wanted(uint64_t ip)
{
	const struct kshare *s = rec.s;

	for (unsigned i = 0; i < KSHARE_FILTERS && s->only_site[i].end; i++)
		if (ip - s->only_site[i].start < s->only_site[i].end - s->only_site[i].start)
			return true;
	return !s->only_site[0].end;
}

bool object_wanted(const char *cache, uint64_t ip)
{
	const struct kshare *s = rec.s;

	if (!is_cache_wanted(cache) || !is_site_wanted(ip))
		return false;
	return s->sample <= 1 || ++sampled % s->sample == 0;
}

/* ---- one for each place that allocates ---- */

enum { PLACES = 1 << 14 };
static struct place {
	uint64_t ip, size;
	uint32_t name, id;
	enum kshare_type type;
} places[PLACES];
static unsigned nplaces;

/* The one of its place and size, if those are what is wanted; id 0: it is new. NULL: too many. */
static struct place *of_place(enum kshare_type type, uint64_t ip, uint32_t name, uint64_t size)
{
	uint64_t key = ip ^ size << 20 ^ (uint64_t)name << 8 ^ (uint64_t)type << 56;
	unsigned i = (unsigned)(key * 0x9e3779b97f4a7c15u >> 50);

	while (places[i].id && (places[i].ip != ip || places[i].name != name ||
				places[i].type != type || places[i].size != size))
		i = (i + 1) % PLACES;
	if (places[i].id)
		return &places[i];
	if (nplaces == PLACES / 2)
		return NULL;
	nplaces++;
	places[i] = (struct place){ ip, size, name, 0, type };
	return &places[i];
}

static uint32_t make(uint64_t va, uint64_t size, enum kshare_type type, const struct vcpu *c,
		     uint64_t ip, uint32_t name)
{
	struct kshare_object *o;
	uint32_t id = place();

	if (!id)
		return 0;
	o = kshare_object(rec.s, id);
	*o = (struct kshare_object){
		.va = va, .size = size, .type = (uint8_t)type, .flags = KSHARE_LIVE,
		.pid = who_runs(c) < 0 ? 0 : c->pid, .alloc_ip = ip, .alloc_time = ++rec.s->clock, .name = name,
	};
	task_name(c, o->comm);
	rec.gen[id]++;
	return id;
}

uint32_t object_new(uint64_t va, uint64_t size, enum kshare_type type,
			   const struct vcpu *c, uint64_t ip, uint32_t name)
{
	struct place *p = rec.s->by_site ? of_place(type, ip, name, size) : NULL;
	uint32_t id = p ? p->id : 0;

	if (!id && (p || !rec.s->by_site))
		id = make(va, size, type, c, ip, name);
	if (p)
		p->id = id;
	rec.s->count.allocs[type] += id != 0;
	if (id)
		rec.s->count.objects++;
	else
		rec.s->count.lost_objects++;
	return id;
}

void object_end(uint32_t id, uint64_t ip)
{
	struct kshare_object *o = kshare_object(rec.s, id);

	if (rec.s->by_site)      /* it stands for others that live */
		return;
	object_name(id);
	o->free_time = ++rec.s->clock;
	o->free_ip = ip;
	o->flags &= (uint8_t)~KSHARE_LIVE;
	rec.gen[id]++;
	hand_over(id);
}

/* ---- writing down what there is ---- */

bool object_part(uint32_t id)
{
	struct kshare_object *o = kshare_object(rec.s, id), *p;
	uint32_t part;

	if (!o->edges)
		return true;
	part = place();
	if (!part)
		return false;
	p = kshare_object(rec.s, part);
	*p = *o;
	p->flags |= KSHARE_PART;
	o->table = o->edges = o->bits = 0;
	rec.gen[id]++;
	rec.s->count.parts++;
	return hand_over(part);
}

bool object_spill(void)
{
	uint32_t n = fresh, done = 0, looked = 0;
	uint64_t before = rec.s->count.edges_used;

	while (looked++ < n && done < SPILL_AT_ONCE) {
		struct kshare_object *o;

		hand = hand + 1 < n ? hand + 1 : 1;
		o = kshare_object(rec.s, hand);
		if (!(o->flags & (KSHARE_LIVE | KSHARE_GENERAL)) || o->flags & KSHARE_PART ||
		    !o->edges)
			continue;
		if (!object_part(hand))
			return false;
		done++;
	}
	/* What was handed over before comes back as well. */
	for (unsigned i = 0; i < 20000 && rec.s->count.edges_used >= before; i++) {
		object_reclaim();
		if (rec.s->count.edges_used < before)
			break;
		rec.s->count.waits++;
		if (!wait_for_program())
			return false;
	}
	return rec.s->count.edges_used < before;
}
