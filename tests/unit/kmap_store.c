/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that come and go, in memory that is made here. */
#include "kmap/store.h"

#include <stdlib.h>
#include <string.h>

#include "kmap/introduce.h"
#include "test.h"

enum { OBJECTS = 4 * KSHARE_QUEUE, EDGES = 64, SITES = 16, NAMES = 64 };

static struct kshare *made(void)
{
	struct kshare_layout l = { .max_objects = OBJECTS, .max_edges = EDGES,
				   .max_sites = SITES, .max_names = NAMES };
	struct kshare *s;

	l.objects = (sizeof(struct kshare) + 63) & ~UINT64_C(63);
	l.edges = l.objects + (uint64_t)OBJECTS * sizeof(struct kshare_object);
	l.sites = l.edges + EDGES * sizeof(struct kshare_edge);
	l.names = l.sites + SITES * sizeof(uint64_t);
	l.size = (l.names + NAMES + 63) & ~UINT64_C(63);
	s = aligned_alloc(64, l.size);
	memset(s, 0, l.size);
	s->at = l;
	kmap_introduce_nobody(s);
	return s;
}

/* As if it had been written; false: nothing was, and nobody is to wait for it. */
static bool write_all(void *arg)
{
	struct kshare *s = arg;
	uint32_t id, n = 0;

	for (; (id = kshare_take(&s->done)); n++)
		kshare_put(&s->back, id);
	return n;
}

/* Nothing begins meanwhile, and so nobody asks for what came back. */
TEST(whatever_ends_comes_back)
{
	static const struct kstore_birth b = { .va = 8, .size = 8, .type = KSHARE_T_KMALLOC };
	static uint32_t id[OBJECTS];
	struct kshare *s = made();
	struct kstore k;
	uint32_t n = 0;

	CHECK_EQ(kstore_init(&k, s, write_all, s), 0);
	while ((id[n] = kstore_new(&k, &b)))
		n++;
	CHECK(n > 3 * KSHARE_QUEUE);
	CHECK_EQ(s->count.lost_objects, 1);
	for (uint32_t i = 0; i < n; i++) {
		kstore_end(&k, id[i], 1);
		if (i % 100 == 99)
			write_all(s);
	}
	write_all(s);
	for (uint32_t i = 0; i < n; i++)
		CHECK(kstore_new(&k, &b) != 0);
	CHECK_EQ(s->count.lost_objects, 1);
	kstore_free(&k);
	free(s);
}
