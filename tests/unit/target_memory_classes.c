/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of mapped frames are read once, in order of the frames, however often and in
 * whatever order processes map them.
 */
#include <stdlib.h>

#include "linux/kpf.h"
#include "linux/memmap.h"
#include "target/memory_vmas.h"

#include "test.h"

enum { FRAMES = 1 << 14, FREE = 40, ALONE = 41, LOST = 42, UNUSED = 43 };

static unsigned pages_read[FRAMES];
static uint64_t soon, highest, announced;

/* Four pages in a row are alike. */
static uint64_t count_of(uint64_t pfn)
{
	return pfn / 4 % 100 + 1;
}

int atw_memmap_page(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret, struct atw_err *err)
{
	(void)m, (void)err;
	if (pfn >= FRAMES)
		abort();
	pages_read[pfn]++;
	*ret = (struct lnx_page){
		.pfn = pfn, .flags = pfn == FREE ? kpf(KPF_BUDDY) : kpf(KPF_ANON),
		.count = count_of(pfn), .refcount = pfn == UNUSED ? 0 : 1, .order = (uint8_t)(pfn / 4 % 2), .have_order = true,
	};
	return pfn == LOST ? ATW_E_MISSING : ATW_OK;
}

bool memmap_like(struct atw_memmap *m, const struct lnx_page *page, struct page_like *ret)
{
	(void)m, (void)ret;
	return page->pfn != ALONE;
}

uint64_t memmap_same(struct atw_memmap *m, const struct page_like *like, uint64_t pfn, uint64_t n)
{
	uint64_t left = pfn % 4 ? 4 - pfn % 4 : 0;

	(void)m, (void)like;
	return left < n ? left : n;
}

uint32_t memmap_soon_frames(struct atw_memmap *m, const uint64_t *pa, uint32_t n)
{
	(void)m;
	announced = pa[0] >> 12;
	soon += n;
	return n;
}

void memmap_anew(struct atw_memmap *m)
{
	(void)m;
	soon = 0;
}

/* In ascending order, and no more at once than there is room for. */
void memmap_soon_run(struct atw_memmap *m, uint64_t pfn, uint64_t n)
{
	(void)m;
	soon += n;
	if (pfn < highest || soon > 4096)
		abort();
	highest = pfn + n;
}

/* Mappings, as a look counts them. */
struct run {
	uint64_t pfn, n;
	unsigned order;
};

static bool meet(struct soles *s, struct counts *c, uint64_t pfn)
{
	uint16_t *note = soles_meet(s, pfn);

	if (*note)
		return soles_add(s, c, pfn, note);
	*note = 1;
	return true;
}

struct listing {
	struct walk_provider w;
	struct memory_pages c;
	struct page_run r;
	uint64_t pa[16];
};

static struct listing *begin(const struct run *v, size_t n)
{
	struct listing *l = calloc(1, sizeof(*l));
	struct counts *counts = l ? &l->w.p.counts : NULL;
	struct soles *s = l ? &l->w.look.soles : NULL;

	if (!l || !counts_make_dense(counts, FRAMES, false) || !soles_init(s, FRAMES, 1))
		abort();
	for (size_t i = 0; i < n; i++) {
		if (v[i].order && !counts_add(counts, v[i].pfn, 1u << v[i].order))
			abort();
		for (uint64_t k = 0; !v[i].order && k < v[i].n; k++)
			if (!meet(s, counts, v[i].pfn + k))
				abort();
	}
	l->c.w = &l->w;
	l->w.running = l->w.p.every = l->w.p.counted = true;
	l->w.p.page_shift = 12;
	l->r = (struct page_run){ .slot = 4096, .pa = l->pa };
	memset(pages_read, 0, sizeof(pages_read));
	highest = 0;
	return l;
}

static void end(struct listing *l)
{
	memory_classes_drop(&l->w);
	soles_deinit(&l->w.look.soles);
	counts_deinit(&l->w.p.counts);
	free(l);
}

/* The next run of the listing, of these frames. */
static void list(struct listing *l, const uint64_t *pfn, uint32_t n)
{
	l->r.count = n;
	l->c.alike = l->c.alike_end = 0;
	for (uint32_t i = 0; i < n; i++)
		l->pa[i] = pfn[i] << 12;
}

TEST(each_frame_is_read_once)
{
	const struct run v[] = {
		{ FRAMES - 3000, 2999, 0 }, { 8, 4, 0 }, { 100, 1, 0 }, { 8, 3, 0 },
		{ FRAMES - 1, 1, 0 }, { 512, 1, 9 }, { 4, 500, 0 },
	};
	const uint64_t pfn[] = { 100, 9, 8, 11, FRAMES - 1, 3, FRAMES + 5 };
	const uint64_t refs[] = { 2, 3, 3, 2, 1 };
	struct listing *l = begin(v, sizeof(v) / sizeof(v[0]));
	struct frame_facts f = { 0 };

	list(l, pfn, 7);
	for (uint32_t i = 0; i < 5; i++) {
		CHECK(memory_classes_facts(&l->c, &l->r, i, &f));
		CHECK_EQ(f.have, FACT_FLAGS | FACT_COUNT | FACT_ORDER | FACT_MAPPED);
		CHECK_EQ(f.mapped, refs[i]);
		CHECK_EQ(f.page.flags, kpf(KPF_ANON));
		CHECK_EQ(f.page.count, count_of(pfn[i]));
		CHECK_EQ(f.page.order, pfn[i] / 4 % 2);
		CHECK_EQ(f.page.pfn, pfn[i]);
		/* Frame 11 is mapped less often than the three before it. */
		CHECK_EQ(f.alike, i == 1 ? 1 : 0);
	}
	/* Not mapped when mappings were counted, or beyond all memory. */
	CHECK(!memory_classes_facts(&l->c, &l->r, 5, &f));
	CHECK(!memory_classes_facts(&l->c, &l->r, 6, &f));
	/* One for each four that are alike. */
	for (unsigned i = 0; i < FRAMES; i += 4)
		CHECK(pages_read[i] + pages_read[i + 1] + pages_read[i + 2] + pages_read[i + 3] <= 1 ||
		      i == FREE);
	CHECK_EQ(pages_read[3], 0);
	end(l);
}

TEST(a_frame_that_is_mapped_too_often_for_a_word_is_looked_up)
{
	const struct run v[] = { { 50, 2, 0 } };
	const uint64_t pfn[] = { 50, 51 };
	struct listing *l = begin(v, 1);
	struct frame_facts f;

	for (unsigned i = 0; i < 2 * UINT16_MAX; i++)
		CHECK(meet(&l->w.look.soles, &l->w.p.counts, 50));
	for (unsigned i = 1; i < 5000; i++)
		CHECK(meet(&l->w.look.soles, &l->w.p.counts, 51));
	list(l, pfn, 2);
	CHECK(!memory_classes_facts(&l->c, &l->r, 0, &f));
	CHECK(memory_classes_facts(&l->c, &l->r, 1, &f));
	CHECK_EQ(f.mapped, 5000);
	end(l);
}

TEST(what_has_no_class_is_looked_up)
{
	const struct run v[] = { { 36, 12, 0 } };
	const uint64_t pfn[] = { 39, FREE, ALONE, LOST, UNUSED, 44 };
	struct listing *l = begin(v, 1);
	struct frame_facts f;

	list(l, pfn, 6);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_EQ(memory_classes_facts(&l->c, &l->r, i, &f), i == 0 || i == 2 || i == 5);
	/* Those in a row are announced together, once. */
	CHECK(!memory_classes_look_ahead(&l->c, &l->r, 3));
	l->w.p.brief = true;
	CHECK(memory_classes_look_ahead(&l->c, &l->r, 3));
	CHECK_EQ(soon, 2);
	CHECK_EQ(announced, LOST);
	CHECK(memory_classes_look_ahead(&l->c, &l->r, 4));
	CHECK_EQ(soon, 2);
	/* Large pages are. */
	l->r.slot = 2 << 20;
	CHECK(!memory_classes_facts(&l->c, &l->r, 0, &f));
	/* A new look has new facts. */
	l->r.slot = 4096;
	memory_classes_drop(&l->w);
	highest = 0;
	CHECK(memory_classes_facts(&l->c, &l->r, 0, &f));
	CHECK_EQ(pages_read[36], 2);
	/* Of few processes, only what is asked for is read. */
	memory_classes_drop(&l->w);
	l->w.p.every = false;
	CHECK(!memory_classes_facts(&l->c, &l->r, 0, &f));
	CHECK_EQ(pages_read[36], 2);
	end(l);
}
