/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/counts.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"

void trace_counts_deinit(struct trace_counts *c)
{
	free(c->v);
	table_deinit(&c->at);
	*c = (struct trace_counts){ 0 };
}

static bool trace_counts_same(const struct trace_count *a, const struct trace_count *b)
{
	return a->address == b->address && a->ip == b->ip && a->size == b->size &&
	       a->tid == b->tid && a->has == b->has && a->kind == b->kind;
}

static struct trace_count trace_counts_key(const struct trace_ref *ref, uint64_t *hash)
{
	const uint32_t kept = TRACE_HAS_ADDRESS | TRACE_HAS_IP | TRACE_HAS_SIZE | TRACE_HAS_TID;

	*hash = hash_two(hash_two(ref->address, ref->ip),
			 (uint64_t)ref->tid << 32 | ref->size << 8 | (uint64_t)ref->kind);
	return (struct trace_count){
		.address = ref->address, .ip = ref->ip, .count = ref->count, .size = ref->size,
		.tid = ref->tid, .has = (uint16_t)(ref->has & kept), .kind = (uint8_t)ref->kind,
	};
}

static struct trace_count *trace_counts_find(const struct trace_counts *c,
					     const struct trace_count *key, uint64_t hash)
{
	for (struct table_slot *s = NULL; (s = table_next(&c->at, hash, s)); )
		if (trace_counts_same(&c->v[s->value - 1], key))
			return &c->v[s->value - 1];
	return NULL;
}

bool trace_counts_add(struct trace_counts *c, const struct trace_ref *ref)
{
	uint64_t hash;
	struct trace_count new = trace_counts_key(ref, &hash);
	struct trace_count *old = trace_counts_find(c, &new, hash);

	if (old) {
		sum_u64(&old->count, new.count);
		return true;
	}
	if (!array_reserve((void **)&c->v, &c->room, c->n + 1, sizeof(*c->v)) ||
	    !table_add(&c->at, hash, c->n + 1))
		return false;
	c->v[c->n++] = new;
	return true;
}

uint64_t trace_counts_of(const struct trace_counts *c, const struct trace_ref *ref)
{
	uint64_t hash;
	struct trace_count key = trace_counts_key(ref, &hash);
	const struct trace_count *v = trace_counts_find(c, &key, hash);

	return v ? v->count : 0;
}

struct trace_ref trace_counts_get(const struct trace_counts *c, size_t i)
{
	const struct trace_count *v = &c->v[i];

	return (struct trace_ref){
		.has = v->has, .kind = (enum trace_kind)v->kind, .address = v->address, .ip = v->ip,
		.count = v->count, .size = v->size, .tid = v->tid,
	};
}
