/* SPDX-License-Identifier: GPL-2.0-or-later */
/* intern.c - hash set of texts. */
#include "record/intern.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 65536

struct intern_chunk {
	struct intern_chunk *next;
	size_t used, cap;
	char data[];
};

void intern_deinit(struct intern *in)
{
	while (in->chunks) {
		struct intern_chunk *next = in->chunks->next;

		free(in->chunks);
		in->chunks = next;
	}
	table_deinit(&in->table);
	*in = (struct intern){ 0 };
}

static char *intern_store(struct intern *in, const char *s, size_t len)
{
	struct intern_chunk *c = in->chunks;
	char *p;

	if (!c || c->cap - c->used <= len) {
		size_t cap = len < CHUNK ? CHUNK : len + 1;

		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		*c = (struct intern_chunk){ .next = in->chunks, .cap = cap };
		in->chunks = c;
	}
	p = c->data + c->used;
	if (len)
		memcpy(p, s, len);
	p[len] = '\0';
	c->used += len + 1;
	return p;
}

const char *intern_text(struct intern *in, const char *s, size_t len)
{
	const uint64_t key = hash_bytes(0, s, len);
	const struct table_slot *at = NULL;
	const char *kept;

	while ((at = table_next(&in->table, key, at))) {
		kept = table_ptr(at->value);
		if (!strncmp(kept, s, len) && !kept[len])
			return kept;
	}
	kept = intern_store(in, s, len);
	return kept && table_add(&in->table, key, (uintptr_t)kept) ? kept : NULL;
}
