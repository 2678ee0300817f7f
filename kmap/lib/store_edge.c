/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_edge.c - counts of the accesses to an object: one open hash table for each
 * object, by instruction and task.
 *
 * Tables are pieces of one pool, of powers of two, and go to a list of their size when
 * they are free. A large one may then not be had of small ones, until all have been
 * written down. None grows beyond TABLE_MAX: what it has is written down then, so that
 * what lives for ever does not grow for ever.
 */
#include "kmap/lib/store.h"

enum { BITS_MIN = 2, BITS_MAX = KSTORE_CLASSES - 1 };

static void edge_note_use(struct kstore *k, int64_t more)
{
	struct kshare_counts *c = &k->s->count;

	c->edges_used += (uint64_t)more;
	if (c->edges_used > c->edges_peak)
		c->edges_peak = c->edges_used;
}

static uint32_t edge_take(struct kstore *k, unsigned bits)
{
	uint32_t at = k->freed[bits];

	if (at) {
		k->freed[bits] = kshare_edge(k->s, at)->writes;
	} else if (k->s->at.max_edges - k->fresh_edge >= 1u << bits) {
		at = k->fresh_edge;
		k->fresh_edge += 1u << bits;
	} else {
		for (unsigned b = bits + 1; b < KSTORE_CLASSES && !at; b++) {
			if (!k->freed[b])
				continue;
			/* The halves of a larger one that are not needed. */
			at = k->freed[b];
			k->freed[b] = kshare_edge(k->s, at)->writes;
			while (b-- > bits) {
				kshare_edge(k->s, at + (1u << b))->writes = k->freed[b];
				k->freed[b] = at + (1u << b);
			}
		}
		if (!at)
			return 0;
	}
	memset(kshare_edge(k->s, at), 0, sizeof(struct kshare_edge) << bits);
	edge_note_use(k, 1ll << bits);
	return at;
}

void kstore_edge_free(struct kstore *k, uint32_t table, unsigned bits)
{
	/* Others may write there, too: what cannot be is not had again. */
	if (!table || bits > BITS_MAX)
		return;
	kshare_edge(k->s, table)->writes = k->freed[bits];
	k->freed[bits] = table;
	edge_note_use(k, -(1ll << bits));
}

/* Pieces are not put together again: but when all came back they are one. */
static void edge_begin_again(struct kstore *k)
{
	if (k->s->count.edges_used)
		return;
	memset(k->freed, 0, sizeof(k->freed));
	k->fresh_edge = KSTORE_FIRST_EDGE;
}

/* Room for a table: what was written down, or what now will be. */
static uint32_t edge_make(struct kstore *k, unsigned bits)
{
	uint32_t at;

	while (!(at = edge_take(k, bits))) {
		kstore_reclaim(k);
		edge_begin_again(k);
		if ((at = edge_take(k, bits)) || !kstore_spill(k))
			break;
	}
	return at;
}

static struct kshare_edge *edge_slot_of(struct kshare_edge *table, unsigned bits,
					uint32_t site, int32_t pid)
{
	uint32_t mask = (1u << bits) - 1;
	uint32_t i = ((site * 0x9e3779b1u) ^ ((uint32_t)pid * 0x85ebca77u)) >> (32 - bits);

	while (table[i].site && (table[i].site != site || table[i].pid != pid))
		i = (i + 1) & mask;
	return &table[i];
}

/* Its table becomes one that has room for another. */
static bool edge_grow(struct kstore *k, uint32_t id)
{
	struct kshare_object *o = kshare_object(k->s, id);
	unsigned bits = o->table ? o->bits + 1u : BITS_MIN;
	uint32_t table;

	if (bits > BITS_MAX) {
		if (!kstore_part(k, id))
			return false;
		bits = BITS_MIN;
	}
	table = edge_make(k, bits);
	if (!table)
		return false;
	/* Making room may have written down what this one had. */
	for (uint32_t i = 0; o->table && i < 1u << o->bits; i++) {
		const struct kshare_edge *e = kshare_edge(k->s, o->table + i);
		struct kshare_edge *to;

		if (!e->site)
			continue;
		to = edge_slot_of(kshare_edge(k->s, table), bits, e->site, e->pid);
		*to = *e;
		if (k->moved)
			k->moved(e->site, o->table + i, (uint32_t)(to - kshare_edge(k->s, 0)));
	}
	kstore_edge_free(k, o->table, o->bits);
	o->table = table;
	o->bits = (uint8_t)bits;
	return true;
}

struct kshare_edge *kstore_edge(struct kstore *k, uint32_t object, uint32_t site, int32_t pid)
{
	struct kshare_object *o = kshare_object(k->s, object);
	struct kshare_edge *e = NULL;

	if (o->table) {
		e = edge_slot_of(kshare_edge(k->s, o->table), o->bits, site, pid);
		if (e->site)
			return e;
	}
	if (!o->table || o->edges + 1 > (3u << o->bits) / 4) {
		if (!edge_grow(k, object)) {
			k->s->count.lost_accesses++;
			return NULL;
		}
		e = edge_slot_of(kshare_edge(k->s, o->table), o->bits, site, pid);
	}
	e->site = site;
	e->pid = pid;
	o->edges++;
	return e;
}

/* Counts are of 32 bits: before one is full, all are written down. */
struct kshare_edge *kstore_edge_for(struct kstore *k, uint32_t object, uint32_t site, int32_t pid,
				    uint32_t writes, uint32_t reads)
{
	struct kshare_edge *e = kstore_edge(k, object, site, pid);

	if (!e || (e->reads <= UINT32_MAX - reads && e->writes <= UINT32_MAX - writes))
		return e;
	if (kstore_part(k, object))
		return kstore_edge(k, object, site, pid);
	k->s->count.lost_accesses++;
	return NULL;
}

void kstore_line(struct kstore *k, uint32_t object, uint64_t va, uint32_t writes, uint32_t reads)
{
	const struct kshare_object *o = kshare_object(k->s, object);
	struct kshare_edge *e;

	if (!(k->s->detail & KSHARE_LINES) || o->flags & KSHARE_GENERAL)
		return;
	e = kstore_edge_for(k, object, KSHARE_LINE, (int32_t)((va - o->va) >> 6), writes, reads);
	if (!e)
		return;
	e->writes += writes;
	e->reads += reads;
}
