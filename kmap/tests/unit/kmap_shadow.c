/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of a guest belong to the object that was put there last, whichever way others
 * ended, and instructions forget what is no longer theirs. Parts of the recorder, without QEMU.
 */
#include "kmap/qemu/recorder.h"

#include "kmap/qemu/kinds.c"
#include "kmap/qemu/shadow.c"
#include "kmap/qemu/small.c"

#include "test.h"

enum { OBJECTS = 64, EDGES = 64, NAMES = 64, PAGE = 4096, RAM = 64 * PAGE };
#define DIRECT UINT64_C(0xffff888000000000)

struct recorder rec;
static uint8_t ram[RAM];
static uint32_t forgotten[OBJECTS];      /* times that instructions forgot an object */
static const uint32_t depth;

/* ---- what the rest of the recorder does ---- */

void access_forget(uint32_t object)
{
	forgotten[object]++;
}

void access_forget_all(void)
{
}

void task_name(const struct vcpu *c, char ret[KSHARE_COMM])
{
	(void)c;
	memset(ret, 0, KSHARE_COMM);
}

void give_up(const char *why)
{
	(void)why;
	CHECK(!"gave up");
}

static bool no_writer(void *arg)
{
	(void)arg;
	return false;
}

static void begin(uint32_t sample)
{
	struct kshare_layout l = { .max_objects = OBJECTS, .max_sites = 1, .max_names = NAMES,
				   .max_edges = EDGES };
	struct kshare *s;

	l.objects = (sizeof(struct kshare) + 63) & ~UINT64_C(63);
	l.edges = l.objects + OBJECTS * sizeof(struct kshare_object);
	l.sites = l.names = l.edges + EDGES * sizeof(struct kshare_edge);
	l.size = (l.names + NAMES + 63) & ~UINT64_C(63);
	s = aligned_alloc(64, l.size);
	memset(s, 0, l.size);
	memset(forgotten, 0, sizeof(forgotten));
	memset(early, 0, sizeof(early));
	s->at = l;
	/* Names of regions are objects, too. */
	s->nobjects = KSHARE_UFO_USER + 1;
	s->names_used = 1;
	s->sample = sample;
	s->gate = KSHARE_OBJECTS;
	s->nrams = 1;
	s->ram[0] = (struct kshare_ram){ .len = RAM };
	s->kernel.direct = DIRECT;
	s->kernel.page_shift = 12;
	rec = (struct recorder){ .s = s, .ram = ram, .ram_size = RAM,
				 .covered = calloc(OBJECTS, 1) };
	rec.cpu[0].depth = &depth;
	CHECK_EQ(kstore_init(&rec.store, s, no_writer, NULL), 0);
	CHECK_EQ(shadow_ram(), 0);
}

static void end(void)
{
	munmap(rec.fine, RAM / 8 * 4);
	munmap(rec.frame, RAM / PAGE * 4);
	kstore_free(&rec.store);
	free(rec.covered);
	free(rec.s);
}

static void early_new(uint64_t va, uint64_t size)
{
	object_early(&rec.cpu[0], va, size, 1);
}

/* Of a sample, an object that is left out has its number for itself no longer than it lives. */
TEST(what_memblock_frees_is_nothings)
{
	for (uint32_t sample = 1; sample <= 1000; sample += 999) {
		const uint64_t va = DIRECT + 2 * PAGE;

		begin(sample);
		early_new(va - 16, 3 * PAGE + 32);
		CHECK(shadow_find(va) > KSHARE_UFO_USER);
		object_early_free(va - 16, 3 * PAGE + 32, 2);
		for (uint64_t at = va - 64; at < va + 4 * PAGE; at += 8)
			CHECK_EQ(shadow_find(at), KSHARE_UFO_HEAP);
		end();
	}
}

TEST(what_memblock_frees_in_part_lives_on)
{
	const uint64_t va = DIRECT + 2 * PAGE;
	uint32_t id;

	begin(1);
	early_new(va, 3 * PAGE);
	id = shadow_find(va);
	object_early_free(va, PAGE, 2);
	CHECK_EQ(shadow_find(va), KSHARE_UFO_HEAP);
	CHECK_EQ(shadow_find(va + PAGE - 8), KSHARE_UFO_HEAP);
	CHECK_EQ(shadow_find(va + PAGE), id);
	CHECK(kshare_object(rec.s, id)->flags & KSHARE_LIVE);
	object_early_free(va + PAGE, 2 * PAGE, 2);
	CHECK_EQ(shadow_find(va + 2 * PAGE), KSHARE_UFO_HEAP);
	end();
}

/* Words of several objects are remembered at once, and forgotten where another comes over them. */
TEST(words_that_are_remembered_are_forgotten)
{
	const uint64_t one = DIRECT + 2 * PAGE, two = DIRECT + 8 * PAGE;
	uint32_t a, b, len;
	uint64_t first;

	begin(1);
	early_new(one, 2 * PAGE);
	early_new(two, 2 * PAGE);
	a = shadow_find(one);
	b = shadow_find(two);
	CHECK(shadow_alike(a, one + 512, &first, &len));
	CHECK(first <= one + 512 && one + 512 < first + len);
	CHECK(shadow_alike(b, two + 512, &first, &len));
	CHECK_EQ(forgotten[a] + forgotten[b], 0);
	/* A whole page: what is remembered is in the middle of it. */
	early_new(one, PAGE);
	CHECK_EQ(forgotten[a], 1);
	CHECK_EQ(forgotten[b], 0);
	/* Words: those beside what is remembered are no matter. */
	early_new(two + PAGE, 64);
	CHECK_EQ(forgotten[b], 0);
	early_new(two + 512, 64);
	CHECK_EQ(forgotten[b], 1);
	end();
}

TEST(words_of_per_cpu_objects_are_remembered)
{
	const uint64_t area = DIRECT + 4 * PAGE, va = area + 256;
	uint64_t first;
	uint32_t id, len;

	begin(1);
	early_new(area, PAGE);
	object_percpu(&rec.cpu[0], va, 36, 1);
	id = shadow_find(va + 8);
	CHECK_EQ(kshare_object(rec.s, id)->type, KSHARE_T_PERCPU);
	CHECK(shadow_alike(id, va + 8, &first, &len));
	CHECK_EQ(first, va);
	CHECK_EQ(len, 40);
	/* The later of two that share a word has it. */
	object_percpu(&rec.cpu[0], va + 36, 4, 1);
	CHECK(forgotten[id] > 0);
	CHECK_EQ(shadow_find(va + 8), id);
	CHECK(shadow_find(va + 32) != id);
	CHECK(!shadow_alike(id, va + 8, &first, &len));
	end();
}

/* What is between two regions is one range, as long as nothing is mapped there. */
TEST(gaps_between_regions_are_ranges)
{
	const uint64_t low = UINT64_C(0xffffc90000000000), high = UINT64_C(0xffffc90040100000);
	uint64_t first;
	uint32_t len;

	begin(1);
	rec.s->kernel.nregions = 2;
	rec.s->kernel.region[0] = (struct kshare_region){ low, low + 0xfffff, KSHARE_UFO_USER + 1, 0 };
	rec.s->kernel.region[1] = (struct kshare_region){ high, high + 0xfffff, KSHARE_UFO_USER + 1, 0 };
	kshare_object(rec.s, KSHARE_UFO_NONE)->type = KSHARE_UFO_NONE;
	kshare_object(rec.s, KSHARE_UFO_NONE)->flags = KSHARE_GENERAL;
	CHECK_EQ(shadow_find(low + 0x200000), KSHARE_UFO_NONE);
	CHECK(shadow_span(KSHARE_UFO_NONE, low + 0x200000, &first, &len));
	CHECK_EQ(first, low + 0x100000);
	CHECK_EQ(first + len - 1, low + 0x3fffffff);
	CHECK(shadow_span(KSHARE_UFO_NONE, high - 8, &first, &len));
	CHECK_EQ(first, low + 0x40000000);
	CHECK_EQ(first + len, high);
	shadow_set_mapped(low + 0x300000, PAGE, KSHARE_UFO_USER + 2);
	CHECK_EQ(forgotten[KSHARE_UFO_NONE], 1);
	CHECK(!shadow_span(KSHARE_UFO_NONE, low + 0x200000, &first, &len));
	end();
	free(mapped);
	mapped = NULL;
	mapped_room = nmapped = 0;
}
