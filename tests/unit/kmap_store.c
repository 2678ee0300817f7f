/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects come and go in a recorder's memory, and who writes them down is made here. */
#include "kmap/store.h"

#include "test.h"

enum { OBJECTS = 3 * KSHARE_QUEUE, MANY = OBJECTS - 1 };       /* 0 is none */

static struct room {
	struct kshare *s;
	struct kstore k;
	bool works;              /* who writes down */
	unsigned asked, lost;
} at;

/* As the program does: what was handed over is written, and given back. */
static void write_down(unsigned max)
{
	uint32_t id;

	while (max-- && (id = kshare_take(&at.s->done)))
		at.lost += !kshare_put(&at.s->back, id);
}

static bool wait(void *arg)
{
	(void)arg;
	at.asked++;
	if (at.works)
		write_down(1);
	return at.works;
}

static void begin(void)
{
	struct kshare_layout l = { .max_objects = OBJECTS, .max_sites = 1, .max_names = 64 };

	l.objects = (sizeof(struct kshare) + 63) & ~UINT64_C(63);
	l.edges = l.sites = l.names = l.objects + OBJECTS * sizeof(struct kshare_object);
	l.size = (l.names + 64 + 63) & ~UINT64_C(63);
	at = (struct room){ .s = aligned_alloc(64, l.size), .works = true };
	memset(at.s, 0, l.size);
	at.s->at = l;
	at.s->nobjects = 1;
	if (kstore_init(&at.k, at.s, wait, NULL) < 0)
		abort();
}

static void end(void)
{
	kstore_free(&at.k);
	free(at.s);
}

static unsigned allocate(unsigned n)
{
	struct kstore_birth b = { .va = 0x1000, .size = 8, .type = KSHARE_T_KMALLOC };
	unsigned got = 0;

	while (n--)
		got += kstore_new(&at.k, &b) != 0;
	return got;
}

/* Nobody allocates between them, so nothing that came back is looked for. */
TEST(frees_in_a_row_lose_no_room)
{
	begin();
	CHECK_EQ(allocate(MANY), MANY);
	for (uint32_t id = 1; id <= MANY; id++) {
		kstore_end(&at.k, id, 0x20);
		if (id % 1024 == 0)
			write_down(1024);
	}
	write_down(MANY);
	CHECK_EQ(at.lost, 0);
	CHECK_EQ(allocate(MANY), MANY);
	CHECK_EQ(at.s->count.lost_objects, 0);
	CHECK_EQ(at.s->count.objects_used, MANY);
	end();
}

TEST(frees_in_a_row_wait_for_who_writes)
{
	begin();
	CHECK_EQ(allocate(MANY), MANY);
	for (uint32_t id = 1; id <= MANY; id++)
		kstore_end(&at.k, id, 0x20);
	CHECK_EQ(at.asked, MANY - KSHARE_QUEUE);
	write_down(MANY);
	CHECK_EQ(at.lost, 0);
	CHECK_EQ(allocate(MANY), MANY);
	end();
}

TEST(without_room_an_object_is_lost_and_counted)
{
	begin();
	CHECK_EQ(allocate(MANY + 3), MANY);
	CHECK_EQ(at.s->count.lost_objects, 3);
	CHECK_EQ(at.asked, 0);
	kstore_end(&at.k, 7, 0x20);
	at.works = false;
	CHECK_EQ(allocate(1), 0);
	CHECK_EQ(at.asked, 1);
	at.works = true;
	CHECK_EQ(allocate(2), 1);
	CHECK_EQ(at.s->count.lost_objects, 5);
	end();
}
