/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store.c - the lifecycle of objects of any kind, which the recorders detect. */
#include "kmap/lib/store.h"

enum { SPILL_AT_ONCE = 1024, PLACES = 1 << 14 };

/* One for each place that allocates. */
struct kstore_place {
	uint64_t ip, size;
	uint32_t name, id;
	enum kshare_type type;
	bool left_out;
};

int kstore_init(struct kstore *k, struct kshare *s, bool (*wait)(void *), void *arg)
{
	struct kstore_place *places = calloc(PLACES, sizeof(*places));

	if (!places)
		return -1;
	*k = (struct kstore){ .s = s, .wait = wait, .arg = arg, .places = places,
			      .fresh_edge = KSTORE_FIRST_EDGE };
	kstore_learn(k);
	return 0;
}

void kstore_free(struct kstore *k)
{
	free(k->places);
	free(k->tasks);
	*k = (struct kstore){ 0 };
}

void kstore_learn(struct kstore *k)
{
	k->fresh = atomic_load(&k->s->nobjects);
}

uint32_t kstore_name(struct kshare *s, const char *name, size_t len)
{
	uint32_t at = atomic_load_explicit(&s->names_used, memory_order_relaxed);

	/* If another process can write here, the number cannot be trusted. */
	if (at >= s->at.max_names || len + 1 > s->at.max_names - at)
		return 0;
	if (len)
		memcpy(kshare_name(s, at), name, len);
	kshare_name(s, at)[len] = '\0';
	atomic_store_explicit(&s->names_used, at + (uint32_t)len + 1, memory_order_release);
	return at;
}

uint32_t kstore_site(struct kstore *k, uint64_t ip)
{
	struct kshare *s = k->s;
	uint32_t n = atomic_load_explicit(&s->nsites, memory_order_relaxed);

	if (n == s->at.max_sites) {
		s->count.lost_accesses++;
		return 0;
	}
	*kshare_site(s, n) = ip;
	atomic_store_explicit(&s->nsites, n + 1, memory_order_release);
	return n;
}

static uint32_t store_take(struct kstore *k)
{
	struct kshare_counts *c = &k->s->count;
	uint32_t id = k->free_list;

	if (id) {
		k->free_list = kshare_object(k->s, id)->next;
	} else if (k->fresh < k->s->at.max_objects) {
		id = k->fresh++;
		atomic_store_explicit(&k->s->nobjects, k->fresh, memory_order_release);
	} else {
		return 0;
	}
	if (++c->objects_used > c->objects_peak)
		c->objects_peak = c->objects_used;
	return id;
}

static void store_give_back(struct kstore *k, uint32_t id)
{
	struct kshare_object *o = kshare_object(k->s, id);

	kstore_edge_free(k, o->table, o->bits);
	o->table = 0;
	o->flags = 0;
	o->type = 0;
	o->next = k->free_list;
	k->free_list = id;
	k->s->count.objects_used--;
}

void kstore_reclaim(struct kstore *k)
{
	uint32_t id;

	while ((id = kshare_take(&k->s->back)))
		store_give_back(k, id);
}

static bool store_wait(struct kstore *k)
{
	k->s->count.waits++;
	return k->wait(k->arg);
}

/* Handed over, and not reclaimed yet: the writer has room to return so many. */
static uint32_t store_on_their_way(const struct kstore *k)
{
	return atomic_load(&k->s->done.head) - atomic_load(&k->s->back.tail);
}

static bool store_hand_over(struct kstore *k, uint32_t id)
{
	if (store_on_their_way(k) >= KSHARE_QUEUE)
		kstore_reclaim(k);
	while (store_on_their_way(k) >= KSHARE_QUEUE) {
		if (!store_wait(k))
			return false;
		kstore_reclaim(k);
	}
	return kshare_put(&k->s->done, id);
}

static uint32_t store_place(struct kstore *k)
{
	uint32_t id;

	/* What came back is used before what was never in use. */
	kstore_reclaim(k);
	id = store_take(k);
	/* As long as some are on their way, one comes back. */
	while (!id && store_on_their_way(k)) {
		if (!store_wait(k))
			return 0;
		kstore_reclaim(k);
		id = store_take(k);
	}
	return id;
}

/* ---- which ones are wanted ---- */

static bool store_is_cache_wanted(const struct kshare *s, const char *name)
{
	for (unsigned i = 0; i < KSHARE_FILTERS && s->only_cache[i][0]; i++)
		if (!strcmp(s->only_cache[i], name))
			return true;
	return !s->only_cache[0][0];
}

static bool store_is_site_wanted(const struct kshare *s, uint64_t ip)
{
	for (unsigned i = 0; i < KSHARE_FILTERS && s->only_site[i].end; i++)
		if (ip - s->only_site[i].start < s->only_site[i].end - s->only_site[i].start)
			return true;
	return !s->only_site[0].end;
}

bool kstore_wanted(const struct kstore *k, const char *cache, uint64_t ip)
{
	return store_is_cache_wanted(k->s, cache) && store_is_site_wanted(k->s, ip);
}

bool kstore_sampled(struct kstore *k)
{
	return k->s->sample <= 1 || ++k->sampled % k->s->sample == 0;
}

bool kstore_counts(const struct kstore *k, uint32_t object)
{
	const struct kshare_object *o = kshare_object(k->s, object);

	if (o->flags & KSHARE_LEFT_OUT)
		return false;
	return !k->s->only_some || (!(o->flags & KSHARE_GENERAL) && o->type != KSHARE_T_GLOBAL);
}

/* ---- they begin and end ---- */

/* The one of its place and size, if those are what is wanted; id 0: it is new. NULL: too many. */
static struct kstore_place *store_of_place(struct kstore *k, const struct kstore_birth *b)
{
	uint64_t key = b->ip ^ b->size << 20 ^ (uint64_t)b->name << 8 ^ (uint64_t)b->type << 56;
	unsigned i = (unsigned)(key * 0x9e3779b97f4a7c15u >> 50);
	struct kstore_place *p = k->places;

	while (p[i].id && (p[i].ip != b->ip || p[i].name != b->name || p[i].type != b->type ||
			   p[i].size != b->size || p[i].left_out != b->left_out))
		i = (i + 1) % PLACES;
	if (p[i].id)
		return &p[i];
	if (k->nplaces == PLACES / 2)
		return NULL;
	k->nplaces++;
	p[i] = (struct kstore_place){ b->ip, b->size, b->name, 0, b->type, b->left_out };
	return &p[i];
}

static uint32_t store_make(struct kstore *k, const struct kstore_birth *b)
{
	struct kshare_object *o;
	uint32_t id = store_place(k);

	if (!id)
		return 0;
	o = kshare_object(k->s, id);
	*o = (struct kshare_object){
		.va = b->va, .size = b->size, .type = (uint8_t)b->type,
		.flags = b->left_out ? KSHARE_LEFT_OUT : KSHARE_LIVE,
		.pid = b->pid, .alloc_ip = b->ip, .alloc_time = ++k->s->clock, .name = b->name,
	};
	memcpy(o->comm, b->comm, sizeof(o->comm));
	return id;
}

static void store_note_birth(struct kstore *k, enum kshare_type type)
{
	k->s->count.allocs[type]++;
	k->s->count.objects++;
}

uint32_t kstore_new(struct kstore *k, const struct kstore_birth *b)
{
	struct kstore_place *p = k->s->by_site ? store_of_place(k, b) : NULL;
	uint32_t id = p ? p->id : 0;

	if (!id && (p || !k->s->by_site))
		id = store_make(k, b);
	if (p)
		p->id = id;
	if (!id)
		k->s->count.lost_objects++;
	else if (!b->left_out)
		store_note_birth(k, b->type);
	return id;
}

bool kstore_is_repeated(struct kstore *k, uint32_t id, const struct kstore_birth *b)
{
	struct kshare_object *o = kshare_object(k->s, id);

	if (!id || b->type != KSHARE_T_KMALLOC || o->type != KSHARE_T_KMALLOC || o->va != b->va ||
	    o->size != b->size || b->size <= UINT64_C(2) << k->s->kernel.page_shift)
		return false;
	o->alloc_ip = b->ip;
	return true;
}

void kstore_finish(struct kstore *k, uint32_t id, uint64_t ip)
{
	struct kshare_object *o = kshare_object(k->s, id);

	if (k->s->by_site)       /* it stands for others that live */
		return;
	o->free_time = ++k->s->clock;
	o->free_ip = ip;
	o->flags &= (uint8_t)~KSHARE_LIVE;
	if (k->goes)
		k->goes(id);
}

void kstore_let_go(struct kstore *k, uint32_t id)
{
	if (k->s->by_site)
		return;
	if (kshare_object(k->s, id)->flags & KSHARE_LEFT_OUT)
		store_give_back(k, id);
	else
		store_hand_over(k, id);
}

void kstore_end(struct kstore *k, uint32_t id, uint64_t ip)
{
	kstore_finish(k, id, ip);
	kstore_let_go(k, id);
}

/* ---- writing down what there is ---- */

bool kstore_part(struct kstore *k, uint32_t id)
{
	struct kshare_object *o = kshare_object(k->s, id), *p;
	uint32_t part;

	if (!o->edges)
		return true;
	part = store_place(k);
	if (!part)
		return false;
	if (k->goes)
		k->goes(id);
	p = kshare_object(k->s, part);
	*p = *o;
	p->flags |= KSHARE_PART;
	o->table = o->edges = o->bits = 0;
	o->first_use = o->last_use = 0;
	k->s->count.parts++;
	return store_hand_over(k, part);
}

bool kstore_spill(struct kstore *k)
{
	uint32_t n = k->fresh, done = 0, looked = 0;
	uint64_t before = k->s->count.edges_used;

	while (looked++ < n && done < SPILL_AT_ONCE) {
		struct kshare_object *o;

		k->hand = k->hand + 1 < n ? k->hand + 1 : 1;
		o = kshare_object(k->s, k->hand);
		if (!(o->flags & (KSHARE_LIVE | KSHARE_GENERAL)) || o->flags & KSHARE_PART ||
		    !o->edges)
			continue;
		if (!kstore_part(k, k->hand))
			return false;
		done++;
	}
	/* What was handed over before comes back as well, and nothing else does. */
	kstore_reclaim(k);
	while (k->s->count.edges_used >= before && store_on_their_way(k)) {
		if (!store_wait(k))
			return false;
		kstore_reclaim(k);
	}
	return k->s->count.edges_used < before;
}
