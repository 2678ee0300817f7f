/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of numbers and words are formatted exactly, and
 * a full buffer is reported as full.
 */
#include "test.h"

#include "base/digits.h"
#include "random.h"

enum { ROOM = 40, MARK = 0x5a };

static char text[ROOM + 1];

/* Room for `len` bytes; what is behind them has a mark. */
static struct line room(size_t len)
{
	memset(text, MARK, sizeof(text));
	return (struct line){ text, text + len, false };
}

/* What was put, and nothing behind the room. */
static const char *got(const struct line *l)
{
	for (const char *s = l->end; s < text + sizeof(text); s++)
		if (*s != MARK)
			return "more than was lent";
	if (l->s > l->end)
		return "behind its end";
	*l->s = '\0';
	return text;
}

static const char *hex(size_t len, uint64_t v, int width, char ten)
{
	struct line l = room(len);

	line_hex(&l, v, width, ten);
	return l.full ? "full" : got(&l);
}

TEST(one_after_the_other)
{
	struct line l = room(ROOM);

	line_text(&l, "a");
	line_put(&l, "bcd", 2);
	line_put(&l, NULL, 0);
	line_text(&l, "");
	line_dec(&l, 0);
	line_text(&l, ",");
	line_signed(&l, -7);
	line_hex(&l, 0x1f, 1, 'a');
	line_hex(&l, 0x1f, 4, 'A');
	CHECK(!l.full);
	CHECK_STR(got(&l), "abc0,-71f001F");
}

TEST(numbers)
{
	uint64_t seed = 3;

	for (int i = 0; i < 100000; i++) {
		uint64_t v = i ? random_next(&seed) >> (i & 63) : 0;
		int width = 1 + (int)random_below(&seed, 16);
		char want[24];
		struct line l = room(ROOM);

		line_dec(&l, v);
		snprintf(want, sizeof(want), "%" PRIu64, v);
		CHECK_STR(got(&l), want);
		l = room(ROOM);
		line_signed(&l, (int64_t)v);
		snprintf(want, sizeof(want), "%" PRId64, (int64_t)v);
		CHECK_STR(got(&l), want);
		snprintf(want, sizeof(want), "%0*" PRIx64, width, v);
		CHECK_STR(hex(ROOM, v, width, 'a'), want);
		/* With no room for more than itself, and with too little. */
		CHECK_STR(hex(strlen(want), v, width, 'a'), want);
		CHECK_STR(hex(strlen(want) - 1, v, width, 'a'), "full");
		snprintf(want, sizeof(want), "%0*" PRIX64, width, v);
		CHECK_STR(hex(ROOM, v, width, 'A'), want);
	}
	CHECK_STR(hex(16, UINT64_MAX, 1, 'A'), "FFFFFFFFFFFFFFFF");
	CHECK_STR(hex(16, 0, 1, 'a'), "0");
	CHECK_STR(hex(16, 0, 16, 'a'), "0000000000000000");
	CHECK_STR(hex(16, 0x100000000, 8, 'a'), "100000000");
}

TEST(the_ends_of_signed_numbers)
{
	struct line l = room(ROOM);

	line_signed(&l, INT64_MIN);
	line_signed(&l, INT64_MAX);
	CHECK_STR(got(&l), "-92233720368547758089223372036854775807");
}

/* What came before stays, and nothing comes after: a part of a line is none. */
TEST(full_is_full)
{
	struct line l = room(4);

	line_text(&l, "abc");
	line_text(&l, "de");
	CHECK(l.full);
	line_text(&l, "f");
	line_dec(&l, 1);
	line_signed(&l, -1);
	line_hex(&l, 1, 1, 'a');
	CHECK(l.full);
	CHECK_STR(got(&l), "abc");
	l = room(3);
	line_text(&l, "abc");
	CHECK(!l.full);
	line_put(&l, NULL, 0);
	CHECK(!l.full);
	CHECK_STR(got(&l), "abc");
	l = room(0);
	line_text(&l, "");
	CHECK(!l.full);
	line_dec(&l, 0);
	CHECK(l.full);
}
