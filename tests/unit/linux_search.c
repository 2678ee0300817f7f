/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A search of memory finds every match, also across pages and holes, and is bounded. */
#include "linux/kernel.h"
#include "linux/search.h"

#include "memory.h"
#include "test.h"

struct places {
	uint64_t at[8];
	unsigned n, stop_at;
};

static int note(void *arg, atw_pa at, struct search *s)
{
	struct places *p = arg;

	(void)s;
	if (p->n < 8)
		p->at[p->n] = at.u;
	return ++p->n == p->stop_at ? 7 : 0;
}

/* Pages 0x1000 to 0x3fff, a hole, 0x8000. */
static struct memory *memory(void)
{
	struct memory *m = mem_new();

	for (uint64_t pa = 0x1000; pa < 0x4000; pa += 0x1000)
		mem_at(m, pa);
	mem_at(m, 0x8000);
	return m;
}

TEST(finds_every_place)
{
	struct memory *m = memory();
	struct places p = { 0 };

	mem_put(m, 0x1008, "needle00", 8);
	mem_put(m, 0x3ff8, "needle00", 8);
	mem_put(m, 0x8000, "needle00", 8);
	for (unsigned align = 1; align <= 8; align = align == 1 ? 4 : align * 2) {
		p.n = 0;
		CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, align, note, &p), 0);
		CHECK_EQ(p.n, 3);
		CHECK_EQ(p.at[0], 0x1008);
		CHECK_EQ(p.at[1], 0x3ff8);
		CHECK_EQ(p.at[2], 0x8000);
	}
	mem_free(m);
}

/* Wherever it is among others that begin as it does; bytes are compared many at once. */
TEST(finds_it_at_every_multiple)
{
	struct memory *m = memory();

	for (uint64_t at = 0x1000; at <= 0x1200; at += 4)
		mem_put(m, at, "need", 4);
	for (unsigned align = 4; align <= 8; align *= 2)
		for (uint64_t at = 0x1000; at <= 0x1100; at += 4) {
			struct places p = { 0 };

			mem_put(m, at, "needle00", 8);
			CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, align, note, &p), 0);
			CHECK_EQ(p.n, at % align ? 0 : 1);
			CHECK_EQ(p.at[0], at % align ? 0 : at);
			mem_put(m, at, "needneed", 8);
		}
	mem_free(m);
}

TEST(finds_what_crosses_pages_that_come_piecewise)
{
	struct memory *m = memory();
	struct places p = { 0 };

	mem_put(m, 0x1ffc, "need", 4);
	mem_put(m, 0x2000, "le00", 4);
	CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, 4, note, &p), 0);
	CHECK_EQ(p.n, 1);
	CHECK_EQ(p.at[0], 0x1ffc);
	/* Not at a multiple of 8. */
	p.n = 0;
	CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, 8, note, &p), 0);
	CHECK_EQ(p.n, 0);
	mem_free(m);
}

TEST(not_across_a_hole)
{
	struct memory *m = memory();
	struct places p = { 0 };

	mem_put(m, 0x3ffc, "need", 4);
	mem_put(m, 0x8000, "le00", 4);
	CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, 1, note, &p), 0);
	CHECK_EQ(p.n, 0);
	mem_free(m);
}

TEST(goes_on_behind_what_cannot_be_read)
{
	struct memory *m = memory();
	struct places p = { 0 };

	mem_kind(m, 0x2000, 0x1000, ATW_NONE);   /* there, and broken */
	mem_put(m, 0x3000, "needle00", 8);
	CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, 8, note, &p), 0);
	CHECK_EQ(p.n, 1);
	mem_free(m);
}

TEST(ends_when_told)
{
	struct memory *m = memory();
	struct places p = { .stop_at = 1 };

	mem_put(m, 0x1000, "needle00needle00", 16);
	CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, 8, note, &p), 7);
	CHECK_EQ(p.n, 1);
	mem_free(m);
}

TEST(memory_full_of_it_is_bounded)
{
	struct memory *m = mem_new();
	struct places p = { 0 };

	for (uint64_t pa = 0; pa < 64 * MEM_PAGE; pa += MEM_PAGE)
		memset(mem_at(m, pa)->bytes, 'x', MEM_PAGE);
	CHECK_EQ(search_memory(&m->s, NULL, "xxxxxxxx", 8, 8, note, &p), ATW_E_LIMIT);
	CHECK(p.n <= 10000);
	mem_free(m);
}

/* Places that begin as BTF does, more than are tried: nothing ran out of memory. */
TEST(types_in_memory_full_of_their_beginnings)
{
	struct memory *m = mem_new();
	struct atw_kernel k = { .mem = &m->s, .own = { .mem = &m->s,
				.paging = *atw_paging_find("x86_64-4") } };
	const struct btf *types = NULL;
	struct atw_err err = { 0 };

	for (uint64_t pa = 0; pa < 64 * MEM_PAGE; pa += 8)
		memcpy(mem_at(m, pa & -(uint64_t)MEM_PAGE)->bytes + pa % MEM_PAGE, search_types,
		       sizeof(search_types));
	CHECK_EQ(kernel_btf(&k, &types, &err), ATW_E_LIMIT);
	CHECK_STR(err.text, "no types of the kernel were found (BTF): too much in memory begins like them");
	CHECK(!types);
	kernel_types_close(k.types);
	kernel_symbols_close(k.symbols);
	kmem_close(k.kmem);
	mem_free(m);
}

/* ---- a running machine ---- */

static int live_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	static const uint64_t start = 0x2000, len = 0x1000;

	(void)s;
	if (strncmp(key, "image.", 6))
		return ATW_E_MISSING;
	*ret = (struct atw_blob){ strcmp(key, "image.len") ? &start : &len, 8 };
	return ATW_OK;
}

TEST(of_a_running_machine_the_image_alone)
{
	struct memory *m = memory();
	struct atw_source_ops ops = *m->s.ops;
	struct atw_kernel k = { .mem = &m->s };
	struct places p = { 0 };

	ops.live = ops.here = true;
	m->s.ops = &ops;
	mem_put(m, 0x1ff8, "needle00", 8);
	mem_put(m, 0x2ff8, "needle00", 8);
	mem_put(m, 0x3000, "needle00", 8);
	/* It does not say where the image is. */
	CHECK_EQ(search_kernel(&k, "needle00", 8, 8, note, &p), 0);
	CHECK_EQ(p.n, 0);
	CHECK_EQ(m->reads, 0);
	ops.fact = live_fact;
	CHECK_EQ(search_kernel(&k, "needle00", 8, 8, note, &p), 0);
	CHECK_EQ(p.n, 1);
	CHECK_EQ(p.at[0], 0x2ff8);
	CHECK_EQ(search_memory(&m->s, NULL, "needle00", 8, 8, note, &p), 0);
	CHECK_EQ(p.n, 1);
	mem_free(m);
}

/* ---- progress ---- */

struct seen {
	struct memory *m;
	uint64_t done[8], all;
	unsigned n;
};

static void on_progress(void *arg, uint64_t done, uint64_t all)
{
	struct seen *x = arg;

	if (x->n < 8)
		x->done[x->n] = done;
	x->n++;
	x->all = all;
}

/* A search inside of a search is a part of it. */
static int search_inside(void *arg, atw_pa at, struct search *s)
{
	struct meter *meter = arg;
	struct seen *x = meter->arg;
	struct places p = { 0 };

	(void)at;
	(void)s;
	return search_memory(&x->m->s, meter, "other000", 8, 8, note, &p);
}

TEST(progress_begins_with_nothing_and_ends_with_all)
{
	struct memory *m = memory();
	struct seen x = { .m = m };
	struct meter meter = { .fn = on_progress, .arg = &x };
	struct places p = { .stop_at = 1 };

	mem_put(m, 0x2000, "needle00", 8);
	CHECK_EQ(search_memory(&m->s, &meter, "needle00", 8, 8, search_inside, &meter), 0);
	CHECK_EQ(x.all, 0x4000);
	CHECK_EQ(x.n, 3);
	CHECK_EQ(x.done[0], 0);
	CHECK_EQ(x.done[1], 0x3000);
	CHECK_EQ(x.done[2], 0x4000);
	/* One that ends early is done all the same. */
	x.n = 0;
	CHECK_EQ(search_memory(&m->s, &meter, "needle00", 8, 8, note, &p), 7);
	CHECK_EQ(x.n, 3);
	CHECK_EQ(x.done[2], 0x4000);
	mem_free(m);
}
