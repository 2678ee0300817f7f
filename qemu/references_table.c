/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references_table.c - threads, instructions and entries of the plugin that counts
 * references.
 *
 * An entry is found by a hash table of its thread. Only new threads, new chunks of
 * entries and translation take the lock.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "qemu/references.h"

__thread struct refs_thread *refs_self;

/* What a thread that has ended left over. */
struct refs_rest {
	struct references_entry *next, *end;
	struct refs_rest *below;
};

static struct {
	pthread_mutex_t lock;
	pthread_key_t key;
	struct refs_rest *rest;
	uint32_t *site;                  /* hash table of numbers of instructions */
	size_t sites;
} refs_table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Not a place that counts: where no entry was counted last. */
static struct references_entry refs_none = { .site = UINT32_MAX };

void refs_lock(void)
{
	pthread_mutex_lock(&refs_table.lock);
}

void refs_unlock(void)
{
	pthread_mutex_unlock(&refs_table.lock);
}

static uint64_t references_table_mix(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 32;
}

/* ---- ranges ---- */

void refs_ranges_init(void)
{
	struct references_share *s = refs.s;
	uint64_t low = s->nranges ? UINT64_MAX : 0, last = s->nranges ? 0 : UINT64_MAX;

	for (uint32_t i = 0; i < s->nranges; i++) {
		uint64_t by = s->range[i].in_file ? s->load : 0;

		s->range[i].start += by;
		s->range[i].end += by;
		s->range[i].in_file = false;
		low = s->range[i].start < low ? s->range[i].start : low;
		last = s->range[i].end - 1 > last ? s->range[i].end - 1 : last;
	}
	refs.low = low;
	refs.last = last;
}

/* Entries have no ranges: the program that reads them compares each slot. */
bool refs_in_range(uint64_t va, uint64_t size)
{
	return va <= refs.last && va + size - 1 >= refs.low;
}

/* ---- instructions ---- */

static size_t references_table_site_slot(const uint32_t *table, size_t size, uint64_t ip)
{
	size_t i = (size_t)references_table_mix(ip) & (size - 1);

	while (table[i] && refs.s->site[table[i]] != ip)
		i = (i + 1) & (size - 1);
	return i;
}

static bool references_table_grow_sites(uint32_t n)
{
	size_t size = refs_table.sites ? 2 * refs_table.sites : 1 << 14;
	uint32_t *table;

	if (2 * (size_t)n < refs_table.sites)
		return true;
	table = calloc(size, sizeof(*table));
	if (!table)
		return false;
	for (uint32_t i = 1; i < n; i++)
		table[references_table_site_slot(table, size, refs.s->site[i])] = i;
	free(refs_table.site);
	refs_table.site = table;
	refs_table.sites = size;
	return true;
}

uint32_t refs_site(uint64_t ip)
{
	uint32_t n = atomic_load(&refs.s->nsites);
	size_t i;

	if (n >= REFERENCES_SITES || !references_table_grow_sites(n))
		return 0;
	i = references_table_site_slot(refs_table.site, refs_table.sites, ip);
	if (refs_table.site[i])
		return refs_table.site[i];
	refs.s->site[n] = ip;
	refs_table.site[i] = n;
	atomic_store(&refs.s->nsites, n + 1);
	return n;
}

/* ---- threads ---- */

/* The thread ends: its entries stay, those not used are the next thread's. */
static void references_table_end(void *arg)
{
	struct refs_thread *t = arg;
	struct refs_rest *rest = malloc(sizeof(*rest));

	refs_self = NULL;
	if (rest) {
		rest->next = t->next;
		rest->end = t->end;
		refs_lock();
		rest->below = refs_table.rest;
		refs_table.rest = rest;
		refs_unlock();
	}
	free(t->slot);
	free(t);
}

struct refs_thread *refs_thread_begin(void)
{
	uint32_t number = atomic_fetch_add(&refs.s->nthreads, 1);
	struct refs_thread *t = number < REFERENCES_THREADS ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	for (size_t i = 0; i < REFS_LAST; i++)
		t->last[i] = &refs_none;
	t->number = number;
	refs.s->tid[number] = (uint32_t)syscall(__NR_gettid);
	pthread_setspecific(refs_table.key, t);
	refs_self = t;
	return t;
}

/*
 * A child process is not recorded: its copies of the counts are its own. A child that
 * cannot have such copies must not run, because it would write to those of its parent.
 */
static void references_table_child(void)
{
	atomic_fetch_add(&refs.s->children, 1);
	if (mmap(refs.s, refs.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, refs.fd, 0) ==
	    MAP_FAILED)
		abort();
	refs_unlock();
}

int refs_init(void)
{
	atomic_store(&refs.s->nsites, 1);
	if (pthread_key_create(&refs_table.key, references_table_end) ||
	    pthread_atfork(refs_lock, refs_unlock, references_table_child))
		return -1;
	return 0;
}

/* ---- entries ---- */

static struct references_entry *references_table_new_entry(struct refs_thread *t)
{
	struct references_share *s = refs.s;

	if (t->next == t->end) {
		struct refs_rest *rest;

		refs_lock();
		while ((rest = refs_table.rest) && t->next == t->end) {
			refs_table.rest = rest->below;
			t->next = rest->next;
			t->end = rest->end;
			free(rest);
		}
		refs_unlock();
	}
	if (t->next == t->end) {
		uint64_t chunk = atomic_load(&s->nchunks);

		chunk = chunk < s->nchunks_max ? atomic_fetch_add(&s->nchunks, 1) : chunk;
		if (chunk >= s->nchunks_max)
			return NULL;
		t->next = s->entry + chunk * REFERENCES_CHUNK;
		t->end = t->next + REFERENCES_CHUNK;
	}
	return t->next++;
}

static uint64_t references_table_hash(uint64_t block, uint32_t site, uint32_t info, bool is_wide)
{
	return references_table_mix((block ^ (uint64_t)is_wide << 63) * UINT64_C(0xd6e8feb86659fd93) +
				    ((uint64_t)info << 32 | site));
}

static uint64_t references_table_rehash(uint64_t slot)
{
	const struct references_entry *e = &refs.s->entry[(uint32_t)slot - 1];

	return references_table_hash(e->block, e->site, e->info, e->is_wide);
}

/* Zeroed; large ones in large pages, because each lookup would miss the TLB. */
static uint64_t *references_table_slots(size_t size)
{
	size_t large = 2 << 20, bytes = size * sizeof(uint64_t);
	uint64_t *slot;

	if (bytes < large)
		return calloc(size, sizeof(*slot));
	slot = aligned_alloc(large, bytes);
	if (slot) {
		madvise(slot, bytes, MADV_HUGEPAGE);
		memset(slot, 0, bytes);
	}
	return slot;
}

static bool references_table_grow(struct refs_thread *t)
{
	size_t size = t->slots ? 2 * t->slots : 256;
	uint64_t *slot;

	if (2 * t->n < t->slots)
		return true;
	slot = references_table_slots(size);
	if (!slot)
		return false;
	for (size_t i = 0; i < t->slots; i++) {
		size_t at;

		if (!t->slot[i])
			continue;
		at = (size_t)references_table_rehash(t->slot[i]);
		for (at &= size - 1; slot[at]; at = (at + 1) & (size - 1))
			;
		slot[at] = t->slot[i];
	}
	free(t->slot);
	t->slot = slot;
	t->slots = size;
	return true;
}

static struct references_entry *references_table_get(struct refs_thread *t,
						     const struct refs_key *key,
						     uint64_t block, bool is_wide)
{
	uint64_t hash = references_table_hash(block, key->site, key->info, is_wide);
	uint64_t tag = hash & ~UINT64_C(0xffffffff);
	struct references_entry *e;
	size_t at;

	if (!references_table_grow(t))
		return NULL;
	for (at = hash & (t->slots - 1); t->slot[at]; at = (at + 1) & (t->slots - 1)) {
		if ((t->slot[at] & ~UINT64_C(0xffffffff)) != tag)
			continue;
		e = &refs.s->entry[(uint32_t)t->slot[at] - 1];
		if (e->block == block && e->site == key->site && e->info == key->info &&
		    e->is_wide == is_wide)
			return e;
	}
	e = references_table_new_entry(t);
	if (!e)
		return NULL;
	e->block = block;
	e->site = key->site;
	e->info = key->info;
	e->shift = key->shift;
	e->kind = key->kind;
	e->is_wide = is_wide;
	e->thread = t->number;
	t->slot[at] = tag | (uint64_t)(e - refs.s->entry + 1);
	t->n++;
	return e;
}

/* An address that is not aligned is in slot 0 of a block of its own. */
static uint64_t references_table_block(const struct refs_key *key, uint64_t slots)
{
	bool aligned = !(key->va & ((UINT64_C(1) << key->shift) - 1));

	return aligned ? key->va & ~((slots << key->shift) - 1) : key->va;
}

static bool references_table_widen(struct refs_thread *t, const struct refs_key *key)
{
	uint64_t block = references_table_block(key, REFERENCES_WIDE_SLOTS);
	struct references_entry *e = references_table_get(t, key, block, true);

	if (e)
		e->wide[(key->va - block) >> key->shift] += UINT8_MAX + 1;
	return e;
}

void refs_count(struct refs_thread *t, const struct refs_key *key)
{
	uint64_t block = references_table_block(key, REFERENCES_SLOTS);
	struct references_entry *e = references_table_get(t, key, block, false);
	uint8_t *count = e ? &e->count[(key->va - block) >> key->shift] : NULL;

	if (!e || (*count == UINT8_MAX && !references_table_widen(t, key))) {
		atomic_fetch_add(&refs.s->lost, 1);
		return;
	}
	/* At most 255, and then 0: the 256 are in the wide entry. */
	++*count;
	*refs_last(t, key->site, key->info, key->va) = e;
}
