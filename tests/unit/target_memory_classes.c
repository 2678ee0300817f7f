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

void memmap_soon_frames(struct atw_memmap *m, const uint64_t *pa, uint32_t n)
{
	(void)m;
	announced = pa[0] >> 12;
	soon += n;
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

static look_run run(uint64_t pfn, uint64_t n, uint64_t class)
{
	return pfn | (n - 1) << LOOK_PFN_BITS | class << LOOK_ORDER_AT;
}

struct listing {
	struct walk_provider w;
	struct memory_pages c;
	struct page_run r;
	uint64_t pa[16];
};

static struct listing *begin(look_run *v, size_t n)
{
	struct listing *l = calloc(1, sizeof(*l));

	if (!l)
		abort();
	l->c.w = &l->w;
	l->w.running = l->w.p.every = l->w.p.counted = l->w.look.keep = true;
	l->w.p.page_shift = 12;
	l->w.p.counts.dense = FRAMES;
	l->w.look.run = v;
	l->w.look.n = n;
	l->r = (struct page_run){ .slot = 4096, .pa = l->pa };
	memset(pages_read, 0, sizeof(pages_read));
	highest = 0;
	return l;
}

static void end(struct listing *l)
{
	memory_classes_drop(&l->w);
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
	look_run v[] = {
		run(FRAMES - 3000, 2999, 0), run(8, 4, 0), run(100, 1, 0), run(8, 4, 0),
		run(FRAMES - 1, 9, 0), run(200, 1, 9), run(4, 500, 0),
	};
	const uint64_t pfn[] = { 100, 9, 8, 11, FRAMES - 1, 3, FRAMES + 5 };
	struct listing *l = begin(v, sizeof(v) / sizeof(v[0]));
	struct frame_facts f = { 0 };

	list(l, pfn, 7);
	for (uint32_t i = 0; i < 5; i++) {
		CHECK(memory_classes_facts(&l->c, &l->r, i, &f));
		CHECK_EQ(f.have, FACT_FLAGS | FACT_COUNT | FACT_ORDER);
		CHECK_EQ(f.page.flags, kpf(KPF_ANON));
		CHECK_EQ(f.page.count, count_of(pfn[i]));
		CHECK_EQ(f.page.order, pfn[i] / 4 % 2);
		CHECK_EQ(f.page.pfn, pfn[i]);
		CHECK_EQ(f.alike, i == 1 ? 2 : i == 2 ? 1 : 0);
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

TEST(what_has_no_class_is_looked_up)
{
	look_run v[] = { run(36, 12, 0) };
	const uint64_t pfn[] = { 39, FREE, ALONE, LOST, UNUSED, 44 };
	struct listing *l = begin(v, 1);
	struct frame_facts f;

	list(l, pfn, 6);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_EQ(memory_classes_facts(&l->c, &l->r, i, &f), i == 0 || i == 2 || i == 5);
	/* Those in a row are announced together, once. */
	CHECK(!memory_classes_look_ahead(&l->c, &l->r, 3));
	l->c.cur.q.brief = true;
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
