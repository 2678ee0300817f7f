/* SPDX-License-Identifier: GPL-2.0-or-later */
/* intern.c - hash set of texts. */
#include "record/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

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
	free(in->slot);
	*in = (struct intern){ 0 };
}

static size_t intern_hash_text(const char *s, size_t len)
{
	return (size_t)hash_bytes(0, s, len);
}

static bool intern_grow(struct intern *in)
{
	size_t nslots = in->nslots ? in->nslots * 2 : 64;
	const char **slot = calloc(nslots, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; i < in->nslots; i++) {
		const char *s = in->slot[i];
		size_t at;

		if (!s)
			continue;
		at = intern_hash_text(s, strlen(s)) & (nslots - 1);
		while (slot[at])
			at = (at + 1) & (nslots - 1);
		slot[at] = s;
	}
	free(in->slot);
	in->slot = slot;
	in->nslots = nslots;
	return true;
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
	const char *kept;
	size_t at;

	/* At most half full, which keeps probe sequences short. */
	if (in->n >= in->nslots / 2 && !intern_grow(in))
		return NULL;
	at = intern_hash_text(s, len) & (in->nslots - 1);
	for (; in->slot[at]; at = (at + 1) & (in->nslots - 1))
		if (!strncmp(in->slot[at], s, len) && !in->slot[at][len])
			return in->slot[at];
	kept = intern_store(in, s, len);
	if (!kept)
		return NULL;
	in->slot[at] = kept;
	in->n++;
	return kept;
}
