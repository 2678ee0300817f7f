/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects that are allocated and freed in the shared memory of a recorder are written out
 * once each, and none is lost.
 */
#include "kmap/lib/store.h"

#include "test.h"

enum { OBJECTS = 3 * KSHARE_QUEUE, MANY = OBJECTS - 1 };       /* 0 is none */

static struct room {
	struct kshare *s;
	struct kstore k;
	bool works;              /* the writer */
	unsigned asked, lost;
} at;

/* The writer's side: finished objects are written and their slots returned. */
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
	struct kshare_layout l = { .max_objects = OBJECTS, .max_sites = 1, .max_names = 64,
				   .max_edges = 64 };

	l.objects = (sizeof(struct kshare) + 63) & ~UINT64_C(63);
	l.edges = l.objects + OBJECTS * sizeof(struct kshare_object);
	l.sites = l.names = l.edges + 64 * sizeof(struct kshare_edge);
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

/* A test with a room of its own. */
#define IN_ROOM(id) \
	static void id##_in(void); \
	TEST(id) { begin(); id##_in(); end(); } \
	static void id##_in(void)

static unsigned allocate(unsigned n)
{
	struct kstore_birth b = { .va = 0x1000, .size = 8, .type = KSHARE_T_KMALLOC };
	unsigned got = 0;

	while (n--)
		got += kstore_new(&at.k, &b) != 0;
	return got;
}

/* Only above two pages: below that, a repeated allocation means a missed free. */
IN_ROOM(a_repeated_allocation_has_the_site_of_the_caller)
{
	struct kstore_birth b = { .va = 0x4000, .size = 16384, .ip = 0x10, .type = KSHARE_T_KMALLOC };
	uint32_t id;

	at.s->kernel.page_shift = 12;
	id = kstore_new(&at.k, &b);
	b.ip = 0x20;
	CHECK(!kstore_is_repeated(&at.k, 0, &b));
	CHECK(kstore_is_repeated(&at.k, id, &b));
	CHECK_EQ(kshare_object(at.s, id)->alloc_ip, 0x20);
	CHECK_EQ(at.s->count.objects, 1);
	b.size = 16376;
	CHECK(!kstore_is_repeated(&at.k, id, &b));
	b = (struct kstore_birth){ .va = 0x4000, .size = 8192, .type = KSHARE_T_KMALLOC };
	CHECK(!kstore_is_repeated(&at.k, kstore_new(&at.k, &b), &b));
	b = (struct kstore_birth){ .va = 0x4000, .size = 16384, .type = KSHARE_T_PAGES };
	CHECK(!kstore_is_repeated(&at.k, kstore_new(&at.k, &b), &b));
}

IN_ROOM(a_renamed_thread_is_another_task)
{
	char comm[KSHARE_COMM] = "sh";
	int32_t renamed;

	CHECK_EQ(kstore_task_of(&at.k, 7), 7);
	CHECK_EQ(kstore_task(&at.k, 7, comm), 7);
	memcpy(comm, "sh\0rest", 8);
	CHECK_EQ(kstore_task(&at.k, 7, comm), 7);
	CHECK_EQ(at.s->ntasks, 1);
	memcpy(comm, "tar", 4);
	renamed = kstore_task(&at.k, 7, comm);
	CHECK(renamed != 7);
	CHECK_EQ(kshare_pid(renamed), 7);
	CHECK_EQ(kshare_generation(renamed), 1);
	CHECK_EQ(kstore_task_of(&at.k, 7), renamed);
	CHECK_EQ(kstore_task(&at.k, 8, comm), 8);
	CHECK_EQ(at.s->ntasks, 3);
	CHECK_EQ(at.s->task[1].task_id, renamed);
	CHECK_STR(at.s->task[1].comm, "tar");
	/* Without a thread, or with an invalid number, there is no name. */
	CHECK_EQ(kstore_task(&at.k, -1, comm), -1);
	CHECK_EQ(kshare_pid(-1), -1);
	CHECK_EQ(kshare_pid(kstore_task(&at.k, INT32_MAX, comm)), KSHARE_PID);
	CHECK_EQ(at.s->ntasks, 3);
	/* Names are limited by the table, and a thread never gets the name of another. */
	for (unsigned i = 0; i < 600; i++) {
		snprintf(comm, sizeof(comm), "name-%u", i);
		CHECK_EQ(kshare_pid(kstore_task(&at.k, 7, comm)), 7);
	}
	CHECK_EQ(kshare_generation(kstore_task_of(&at.k, 7)), 254);
	for (int32_t i = 100; i < 70000; i++)
		CHECK_EQ(kshare_pid(kstore_task(&at.k, i, comm)), i);
	CHECK_EQ(at.s->ntasks, KSHARE_TASKS);
}

/* Frees without allocations in between do not search the returned objects. */
IN_ROOM(frees_in_a_row_lose_no_room)
{
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
}

IN_ROOM(frees_in_a_row_wait_for_the_writer)
{
	CHECK_EQ(allocate(MANY), MANY);
	for (uint32_t id = 1; id <= MANY; id++)
		kstore_end(&at.k, id, 0x20);
	CHECK_EQ(at.asked, MANY - KSHARE_QUEUE);
	write_down(MANY);
	CHECK_EQ(at.lost, 0);
	CHECK_EQ(allocate(MANY), MANY);
}

/* Counts have 32 bits; without room for another part they must not wrap around. */
IN_ROOM(without_room_for_a_part_further_accesses_are_lost_and_counted)
{
	struct kshare_edge *e;

	CHECK_EQ(allocate(MANY), MANY);
	e = kstore_edge_for(&at.k, 1, 5, 7, 1, 1);
	CHECK(e != NULL);
	e->reads = UINT32_MAX - 2;
	e->writes = UINT32_MAX;
	CHECK(kstore_edge_for(&at.k, 1, 5, 7, 0, 2) == e);
	CHECK(kstore_edge_for(&at.k, 1, 5, 7, 0, 3) == NULL);
	CHECK_EQ(at.s->count.lost_accesses, 1);
	CHECK(kstore_edge_for(&at.k, 1, 5, 7, 1, 0) == NULL);
	CHECK_EQ(at.s->count.lost_accesses, 2);
	CHECK_EQ(e->reads, UINT32_MAX - 2);
	CHECK_EQ(e->writes, UINT32_MAX);
	/* With room, a new part begins and the full one is written. */
	kstore_end(&at.k, 2, 0x20);
	write_down(1);
	e = kstore_edge_for(&at.k, 1, 5, 7, 1, 0);
	CHECK(e != NULL);
	CHECK_EQ(e->writes, 0);
	CHECK_EQ(at.s->count.parts, 1);
	CHECK_EQ(at.s->count.lost_accesses, 2);
}

/* The other process may have written any value to the shared memory. */
IN_ROOM(a_table_of_invalid_size_is_not_reused)
{
	uint64_t used;

	CHECK_EQ(allocate(1), 1);
	CHECK(kstore_edge(&at.k, 1, 5, 7) != NULL);
	used = at.s->count.edges_used;
	kstore_edge_free(&at.k, 1, KSTORE_CLASSES);
	kstore_edge_free(&at.k, 1, 255);
	CHECK_EQ(at.s->count.edges_used, used);
}

/* Before the kernel is found the address of --site is unknown. */
IN_ROOM(with_a_selection_other_objects_do_not_count)
{
	CHECK_EQ(allocate(3), 3);
	kshare_object(at.s, 2)->flags = KSHARE_GENERAL;
	kshare_object(at.s, 3)->type = KSHARE_T_GLOBAL;
	CHECK(kstore_counts(&at.k, 1) && kstore_counts(&at.k, 2) && kstore_counts(&at.k, 3));
	at.s->only_some = 1;
	CHECK(kstore_counts(&at.k, 1) && !kstore_counts(&at.k, 2) && !kstore_counts(&at.k, 3));
}

/* Small tables fragment the memory when a larger one is needed. */
IN_ROOM(fragments_are_joined_once_all_objects_are_written)
{
	CHECK_EQ(allocate(15), 15);
	for (uint32_t id = 1; id <= 15; id++)
		for (uint32_t site = 1; site <= 3; site++)
			CHECK(kstore_edge(&at.k, id, site, 7) != NULL);
	CHECK_EQ(at.s->count.edges_used, 60);
	CHECK(kstore_edge(&at.k, 15, 4, 7) != NULL);
	CHECK_EQ(kshare_object(at.s, 15)->bits, 3);
	CHECK_EQ(at.s->count.lost_accesses, 0);
	CHECK_EQ(at.s->count.parts, 15);
	CHECK_EQ(at.s->count.edges_used, 8);
	CHECK_EQ(at.asked, 15);
}

static struct { unsigned n; uint32_t from[8], to[8]; } follows;

static void follow(uint32_t site, uint32_t from, uint32_t to)
{
	follows.from[site] = from;
	follows.to[site] = to;
	follows.n++;
}

/* moved() is called with the old and the new place of an edge, and counts are at the new one. */
IN_ROOM(edges_that_move_are_followed)
{
	uint32_t was[4];

	follows.n = 0;
	at.k.moved = follow;
	CHECK_EQ(allocate(1), 1);
	for (uint32_t site = 1; site <= 3; site++) {
		struct kshare_edge *e = kstore_edge(&at.k, 1, site, 7);

		e->reads = site;
		was[site] = (uint32_t)(e - kshare_edge(at.s, 0));
		/* The smallest tables begin with a line of the cache. */
		CHECK_EQ(was[site] / 4, 1);
	}
	CHECK_EQ(follows.n, 0);
	CHECK(kstore_edge(&at.k, 1, 4, 7) != NULL);
	CHECK_EQ(follows.n, 3);
	for (uint32_t site = 1; site <= 3; site++) {
		CHECK_EQ(follows.from[site], was[site]);
		CHECK_EQ(kshare_edge(at.s, follows.to[site])->reads, site);
		CHECK_EQ(kshare_edge(at.s, follows.to[site])->site, site);
		CHECK(kstore_edge(&at.k, 1, site, 7) == kshare_edge(at.s, follows.to[site]));
	}
}

IN_ROOM(a_request_that_can_never_succeed_does_not_wait)
{
	CHECK_EQ(allocate(1), 1);
	at.k.fresh_edge = 64;
	at.s->count.edges_used = 63;
	CHECK(kstore_edge(&at.k, 1, 5, 7) == NULL);
	CHECK_EQ(at.s->count.lost_accesses, 1);
	CHECK_EQ(at.asked, 0);
}

/*
 * Objects outside of the sample are tracked, so that accesses to them are not attributed
 * to the memory around them.
 */
IN_ROOM(objects_outside_of_a_sample_do_not_count)
{
	struct kstore_birth b = { .va = 0x1000, .size = 8, .type = KSHARE_T_KMALLOC };
	uint32_t id[4];

	at.s->sample = 2;
	for (unsigned i = 0; i < 4; i++) {
		b.left_out = !kstore_sampled(&at.k);
		CHECK_EQ(b.left_out, i % 2 == 0);
		id[i] = kstore_new(&at.k, &b);
		CHECK_EQ(kstore_counts(&at.k, id[i]), i % 2 == 1);
	}
	CHECK_EQ(at.s->count.objects, 2);
	CHECK_EQ(at.s->count.allocs[KSHARE_T_KMALLOC], 2);
	for (unsigned i = 0; i < 4; i++)
		kstore_end(&at.k, id[i], 0x20);
	/* The others are queued for the writer. */
	CHECK_EQ(at.s->count.objects_used, 2);
	CHECK_EQ(atomic_load(&at.s->done.head), 2);
	CHECK_EQ(at.s->done.id[0], id[1]);
	CHECK_EQ(at.s->done.id[1], id[3]);
	CHECK_EQ(kstore_new(&at.k, &b), id[2]);
}

IN_ROOM(a_site_has_objects_inside_and_outside_of_a_sample)
{
	struct kstore_birth b = { .va = 0x1000, .size = 8, .type = KSHARE_T_KMALLOC }, out = b;
	uint32_t id, other;

	at.s->by_site = 1;
	out.left_out = true;
	id = kstore_new(&at.k, &b);
	other = kstore_new(&at.k, &out);
	CHECK(other != id);
	CHECK_EQ(kstore_new(&at.k, &b), id);
	CHECK_EQ(kstore_new(&at.k, &out), other);
	CHECK(kstore_counts(&at.k, id) && !kstore_counts(&at.k, other));
	CHECK_EQ(at.s->count.objects, 2);
}

IN_ROOM(without_room_an_object_is_lost_and_counted)
{
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
}

static void name_it(uint32_t id)
{
	kshare_object(at.s, id)->name = 7;
}

/* What is learned of an object as it is about to be written is in all that is written of it. */
IN_ROOM(a_part_has_what_is_known_by_then)
{
	struct kstore_birth b = { .va = 0x1000, .size = 8, .type = KSHARE_T_KMALLOC };
	uint32_t id = kstore_new(&at.k, &b), part;

	at.k.goes = name_it;
	CHECK(kstore_edge(&at.k, id, 1, 1));
	CHECK(kstore_part(&at.k, id));
	part = kshare_take(&at.s->done);
	CHECK(part && part != id);
	CHECK(kshare_object(at.s, part)->flags & KSHARE_PART);
	CHECK_EQ(kshare_object(at.s, part)->name, 7);
}
