/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns are found wherever a comparison byte by byte finds them, and nowhere else. */
#include "test.h"

#include "base/pattern.h"
#include "random.h"

enum { ROOM = 3000 };

static uint8_t data[ROOM];

static bool matches(const struct pattern *p, uint64_t at, size_t i, size_t len)
{
	uint64_t word = 0;

	if (i + p->len > len)
		return false;
	if (p->kind == PATTERN_WORDS && p->lo == 1 && !p->bits)
		return false;
	if (p->kind == PATTERN_WORDS) {
		memcpy(&word, data + i, p->len);
		return !((at + i) % p->len) && (word & p->bits) >= p->lo &&
		       (word & p->bits) - p->lo <= p->span;
	}
	for (unsigned k = 0; k < p->len; k++)
		if ((data[i + k] & p->mask[k]) != p->byte[k])
			return false;
	return true;
}

/* How often it is found; -1: somewhere the two disagree. */
static int compare(const struct pattern *p, uint64_t at, size_t len)
{
	size_t from = 0;
	int n = 0;

	for (size_t i = 0; i <= len; i++) {
		size_t found = pattern_find(p, at, data, len, i), want = i;

		while (want < len && !matches(p, at, want, len))
			want++;
		if (found != (want < len ? want : SIZE_MAX))
			return -1;
	}
	while ((from = pattern_find(p, at, data, len, from)) != SIZE_MAX) {
		n++;
		from++;
	}
	return n;
}

/* Few different bytes, so that much nearly matches. */
static void fill_data(uint64_t seed, unsigned kinds)
{
	for (size_t i = 0; i < ROOM; i++)
		data[i] = (uint8_t)random_below(&seed, kinds);
}

TEST(bytes_and_wildcards)
{
	struct pattern p;

	fill_data(1, 3);
	CHECK_EQ(pattern_hex(&p, "0102", NULL), ATW_OK);
	CHECK(compare(&p, 0, ROOM) > 100);
	CHECK_EQ(pattern_hex(&p, "01 ?2 00", NULL), ATW_OK);
	CHECK(compare(&p, 0, ROOM) > 30);
	CHECK_EQ(pattern_hex(&p, "????0101", NULL), ATW_OK);
	CHECK(compare(&p, 0, ROOM) > 30);
	CHECK_EQ(pattern_hex(&p, "0? 01 ?? 02 01 00", NULL), ATW_OK);
	CHECK(compare(&p, 0, ROOM) > 0);
	CHECK_EQ(pattern_hex(&p, "0?", NULL), ATW_OK);
	CHECK_EQ(compare(&p, 0, ROOM), ROOM);
	CHECK_EQ(pattern_hex(&p, "03", NULL), ATW_OK);
	CHECK_EQ(compare(&p, 0, ROOM), 0);
	/* One that is longer than what there is. */
	CHECK_EQ(compare(&p, 0, 0), 0);
}

TEST(text_in_either_case)
{
	struct pattern p;

	memcpy(data, "abAB@`[{AbaB", 12);
	CHECK_EQ(pattern_text(&p, "ab", true, NULL), ATW_OK);
	CHECK_EQ(compare(&p, 0, 12), 4);
	CHECK_EQ(pattern_text(&p, "ab", false, NULL), ATW_OK);
	CHECK_EQ(compare(&p, 0, 12), 1);
	/* Characters that are no letters differ from others in the same bit. */
	CHECK_EQ(pattern_text(&p, "@", true, NULL), ATW_OK);
	CHECK_EQ(compare(&p, 0, 12), 1);
	CHECK_EQ(pattern_text(&p, "[", true, NULL), ATW_OK);
	CHECK_EQ(compare(&p, 0, 12), 1);
}

TEST(words_of_every_width_and_alignment)
{
	static const unsigned width[] = {1, 2, 4, 8};
	struct pattern p;

	fill_data(7, 2);
	for (unsigned w = 0; w < 4; w++)
		for (uint64_t at = 0x1000; at < 0x1009; at++) {
			CHECK_EQ(pattern_word(&p, "1", width[w], NULL), ATW_OK);
			CHECK(compare(&p, at, ROOM) >= 0);
			CHECK_EQ(pattern_word(&p, "0/1", width[w], NULL), ATW_OK);
			CHECK(compare(&p, at, ROOM) > 100);
			pattern_range(&p, 1, 0x100, width[w]);
			CHECK(compare(&p, at, ROOM) >= 0);
		}
	pattern_range(&p, 0, UINT64_MAX, 8);
	CHECK_EQ(compare(&p, 0, ROOM), ROOM / 8);
	pattern_range(&p, UINT64_MAX, UINT64_MAX, 8);
	CHECK_EQ(compare(&p, 0, ROOM), 0);
	pattern_range(&p, 0x100, 0x200, 1);
	CHECK_EQ(compare(&p, 0, ROOM), 0);
}

TEST(patterns_that_match_zeroes)
{
	struct pattern p;

	CHECK_EQ(pattern_hex(&p, "00?0", NULL), ATW_OK);
	CHECK(pattern_is_zero(&p));
	CHECK_EQ(pattern_hex(&p, "0001", NULL), ATW_OK);
	CHECK(!pattern_is_zero(&p));
	CHECK_EQ(pattern_word(&p, "0", 4, NULL), ATW_OK);
	CHECK(pattern_is_zero(&p));
	pattern_range(&p, 1, 5, 8);
	CHECK(!pattern_is_zero(&p));
	pattern_range(&p, 0, 5, 8);
	CHECK(pattern_is_zero(&p));
}

TEST(what_is_no_pattern)
{
	char text[2 * PATTERN_MOST + 3];
	struct pattern p;

	CHECK_EQ(pattern_hex(&p, "", NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_hex(&p, "1", NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_hex(&p, "1 2", NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_hex(&p, "??", NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_hex(&p, "0g", NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_text(&p, "", false, NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_word(&p, "100", 1, NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_word(&p, "1/", 8, NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_word(&p, "1/0", 8, NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_word(&p, "0/0", 8, NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_word(&p, "2/1", 8, NULL), ATW_E_USAGE);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_EQ(pattern_hex(&p, text, NULL), ATW_E_USAGE);
	CHECK_EQ(pattern_text(&p, text, false, NULL), ATW_E_USAGE);
	text[2 * PATTERN_MOST] = '\0';
	CHECK_EQ(pattern_hex(&p, text, NULL), ATW_OK);
	CHECK_EQ(p.len, PATTERN_MOST);
}
