/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marked bytes agree with an array of one flag a byte. */
#include "extract/own.h"

#include "random.h"
#include "test.h"

enum { SPAN = 16 * MARK_PAGE };

/* What is left of bytes that are all set, once what is not marked is cleared. */
static bool agrees(struct byte_marks *m, const bool *want, uint64_t base)
{
	uint64_t total = 0, pages = 0;
	uint8_t page[MARK_PAGE];

	marks_sort(m);
	for (size_t i = 0; i < m->n; i++) {
		uint64_t at = (m->v[i].nr << MARK_SHIFT) - base;
		unsigned from = random_any() % MARK_PAGE;

		if (i && m->v[i].nr <= m->v[i - 1].nr)
			return false;
		memset(page, 0xff, sizeof(page));
		mark_clear(&m->v[i], from, page + from, MARK_PAGE - from);
		for (unsigned k = from; k < MARK_PAGE; k++)
			if ((page[k] == 0xff) != want[at + k] || (page[k] && page[k] != 0xff))
				return false;
	}
	for (unsigned i = 0; i < SPAN; i++)
		total += want[i];
	for (unsigned i = 0; i < SPAN; i += MARK_PAGE)
		pages += memchr(want + i, true, MARK_PAGE) != NULL;
	return total == marks_bytes(m) && pages == m->n;
}

TEST(pieces_of_every_size)
{
	const uint64_t base = UINT64_C(0xfffffffffff0000);
	static bool want[SPAN];

	for (unsigned round = 0; round < 60; round++) {
		struct byte_marks m = {0};

		memset(want, 0, sizeof(want));
		for (unsigned i = 0; i < round; i++) {
			unsigned at = random_any() % SPAN, len;

			len = random_any() % (i % 3 ? 40 : 3 * MARK_PAGE);
			if (i % 5 == 0)
				at &= ~(unsigned)(MARK_PAGE - 1);
			if (len > SPAN - at)
				len = SPAN - at;
			marks_add(&m, base + at, len);
			memset(want + at, true, len);
		}
		CHECK(!m.failed);
		CHECK(agrees(&m, want, base));
		marks_deinit(&m);
	}
}

TEST(many_pages_far_apart)
{
	struct byte_marks m = {0};

	for (uint64_t i = 0; i < 20000; i++)
		marks_add(&m, i * 0x123457000 + 5, 3);
	CHECK(!m.failed);
	CHECK_EQ(m.n, 20000);
	marks_sort(&m);
	for (uint64_t i = 0; i < 20000; i++)
		CHECK_EQ(m.v[i].nr, i * 0x123457);
	CHECK_EQ(marks_bytes(&m), 60000);
	marks_deinit(&m);
}

TEST(the_last_byte_there_is)
{
	struct byte_marks m = {0};

	marks_add(&m, UINT64_MAX, 1);
	marks_add(&m, 0, 0);
	CHECK_EQ(m.n, 1);
	CHECK_EQ(m.v[0].nr, UINT64_MAX >> MARK_SHIFT);
	CHECK_EQ(marks_bytes(&m), 1);
	marks_deinit(&m);
}
