/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs that were parsed before their turn are those that are parsed in it. */
#include "base/cleanup.h"
#include "format/capture.h"
#include "random.h"
#include "test.h"

enum { WORDS = 4096, TEXT = 8192, ROUNDS = 4000 };

/* What a reader finds in a text. */
struct found {
	size_t n;
	uint64_t hash, errors;
	uint64_t like, wrong;            /* runs like the one before, and that are not */
};

/* Is the one run like the other, as `like` means it? */
static bool is_like(const struct capture_run *a, const struct capture_run *b)
{
	return capture_run_tail_same(a, b) && !((a->entry ^ b->entry) & CAPTURE_ENTRY_BITS);
}

static void take(struct found *f, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		f->hash = (f->hash ^ p[i]) * UINT64_C(0x100000001b3);
	f->n++;
}

static struct found read_all(struct atw_blob text, const uint64_t *words, size_t n)
{
	static struct capture_reader c;
	struct capture_record rec;
	struct capture_run run, last;
	bool any = false;
	struct found f = { 0 };
	struct atw_err err = { 0 };
	size_t at = 0;
	int r;

	capture_init(&c);
	c.parsed = (struct capture_parsed){
		.text = text.data, .next = words, .end = words + n,
		.checked = words ? capture_text_ahead(text) : 0,
	};
	while ((r = capture_next(&c, text, true, &at, &rec, &err)) != ATW_END) {
		if (r != ATW_OK)
			take(&f, err.text, strlen(err.text));
		f.errors += r != ATW_OK;
		if (r != ATW_OK || rec.letter != 'M')
			continue;
		while ((r = capture_run(&c, &rec.m, &run, &err)) != ATW_END) {
			if (r == ATW_OK && run.like) {
				f.wrong += !any || !is_like(&run, &last);
				run.like = false;
				f.like++;
			}
			if (r == ATW_OK) {
				take(&f, &run, sizeof(run));
				last = run;
				any = true;
			} else
				take(&f, err.text, strlen(err.text));
			f.errors += r != ATW_OK;
		}
	}
	return f;
}

static const char start[] =
	"H: atwalk-capture, 1\nH: page, 4096\nR: 00000000, FFFFFFFF, System RAM\n"
	"S: 0, 1000, 3, /dev/vda2\nT: a, 1, 10, 0, 0, 0, 0, 0, 0, 0, tgid=1\n"
	"V: 00010000, 0FFFFFFF, 0FFF0000, 00001000, -, 00000071, NULL\n";

/* An M: line, mostly of the usual form. */
static size_t put_line(char *to, uint64_t *seed, uint64_t *va)
{
	static const char *const tails[] = {
		"", ", refs=2", ", refs=2, map=140", ", order=9, folio=9, refs=1", ", swap=0:1F",
		", state=zero, same=1", ", raw=8000000000000025", ", noframe=1", ", map=1, refs=3",
		", map=1, map=2", ", state=guard",
	};
	char *p = to + sprintf(to, "M:");
	size_t n = random_below(seed, 12);

	for (size_t i = 0; i < n; i++) {
		uint64_t pages = 1 + random_below(seed, 3);
		const char *tail = tails[random_below(seed, ARRAY_SIZE(tails))];
		bool swap = strstr(tail, "swap") || strstr(tail, "guard");

		*va += random_below(seed, 2) * 4096;
		p += sprintf(p, " %08llX", (unsigned long long)*va);
		if (pages > 1)
			p += sprintf(p, "*%llu", (unsigned long long)pages);
		p += sprintf(p, "=%08llX, ", swap ? 0 : (unsigned long long)(random_below(seed, 1 << 19) << 12 | 0x412));
		p += random_below(seed, 4) ? sprintf(p, "%u, ", (unsigned)random_below(seed, 3)) : sprintf(p, "-, ");
		if (random_below(seed, 4))
			p += sprintf(p, "%X", random_below(seed, 4) ? 0x86cu : (unsigned)random_below(seed, 1 << 16));
		else
			p += sprintf(p, "-");
		p += sprintf(p, "%s |", tail);
		*va += pages * 4096;
	}
	return (size_t)(p + sprintf(p, "\n") - to);
}

TEST(parsed_ahead_or_not)
{
	static char text[TEXT];
	static uint64_t words[WORDS];
	uint64_t seed = 1;
	size_t parsed = 0, errors = 0, like = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t va = 0x10000;
		size_t len = sizeof(start) - 1, n, most;
		struct found plain, ahead;

		memcpy(text, start, len);
		while (len < TEXT - 2048)
			len += put_line(text + len, &seed, &va);
		/* Half of them are damaged. */
		for (size_t k = random_below(&seed, 2) * random_below(&seed, 20); k; k--)
			text[random_below(&seed, len)] = "|\n M:*=,-0F\r\xff\0x"[random_below(&seed, 14)];
		most = random_below(&seed, 3) ? WORDS : random_below(&seed, WORDS);
		n = capture_parse_ahead((struct atw_blob){ text, len }, words, most);
		CHECK(n <= most);
		parsed += n;
		plain = read_all((struct atw_blob){ text, len }, NULL, 0);
		ahead = read_all((struct atw_blob){ text, len }, words, n);
		CHECK_EQ(ahead.n, plain.n);
		CHECK_EQ(ahead.hash, plain.hash);
		CHECK_EQ(plain.like, 0);
		errors += plain.errors;
		like += ahead.like;
		CHECK_EQ(ahead.wrong, 0);
	}
	CHECK(like > ROUNDS / 4);
	CHECK(parsed > ROUNDS * 100);
	CHECK(errors > ROUNDS);
}

TEST(runs_like_the_one_before)
{
	static const char text[] =
		"H: atwalk-capture, 1\nT: a, 1, 10, 0, 0, 0, 0, 0, 0, 0, tgid=1\n"
		"V: 00010000, 0FFFFFFF, 0FFF0000, 00001000, -, 00000071, NULL\n"
		"M: 00010000=00100412, 2, 6C, refs=2 | 00012000*3=00200412, 2, 6C, refs=2 |"
		/* Other rights; a run that is refused, and one like it; another count. */
		" 00020000=00300402, 2, 6C, refs=2 | 00001000=00300402, 9, 6C, refs=2 |"
		" 00021000=00301402, 9, 6C, refs=2 | 00022000=00500402, 9, 6C, refs=2 |"
		" 00023000=00600402, 9, 6C |\n"
		/* Another line. */
		"M: 00024000=00700402, 9, 6C | 00025000=00900402, 9, 6C |\n";
	static const bool like[] = { false, true, false, false, true, false, false, true };
	static struct capture_reader c;
	struct capture_record rec;
	struct capture_run run;
	struct atw_err err;
	uint64_t words[128];
	size_t at = 0, n = 0, bad = 0;
	int r;

	capture_init(&c);
	c.parsed = (struct capture_parsed){
		.text = text, .next = words,
		.end = words + capture_parse_ahead((struct atw_blob){ text, sizeof(text) - 1 }, words, 128),
	};
	while ((r = capture_next(&c, (struct atw_blob){ text, sizeof(text) - 1 }, true, &at, &rec,
				 &err)) == ATW_OK) {
		if (rec.letter != 'M')
			continue;
		while ((r = capture_run(&c, &rec.m, &run, &err)) != ATW_END) {
			bad += r != ATW_OK;
			if (r == ATW_OK && n < ARRAY_SIZE(like))
				CHECK_EQ(run.like, like[n]);
			n += r == ATW_OK;
		}
	}
	CHECK_EQ(n, ARRAY_SIZE(like));
	CHECK_EQ(bad, 1);
}

/* What is like the run before is found where that was put, and nowhere else. */
TEST(runs_that_are_put_elsewhere)
{
	static const char text[] =
		"M: 00010000=00100412, 2, 6C | 00012000=00200412, 2, 6C | 00014000=00300412, 2, 6C |\n";
	struct atw_blob all = { text, sizeof(text) - 1 }, runs = { text + 2, sizeof(text) - 4 };
	static struct capture_reader c;
	struct capture_run run[3];
	struct atw_err err;
	uint64_t words[64];

	capture_init(&c);
	c.area_start = 0x10000;
	c.area_last = 0xfffff;
	c.parsed = (struct capture_parsed){
		.text = text, .next = words, .end = words + capture_parse_ahead(all, words, 64),
	};
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(capture_run(&c, &runs, &run[i], &err), ATW_OK);
		CHECK(!run[i].like);
		CHECK_EQ(run[i].count, 2);
		CHECK_EQ(run[i].entry, 0x100412 + i * 0x100000);
	}
}

TEST(what_is_known_to_be_text)
{
	static const char text[] = "H: one\nT: a\tb\nM: \x7f\nE: \n";

	CHECK_EQ(capture_text_ahead((struct atw_blob){ text, sizeof(text) - 1 }), 14);
	CHECK_EQ(capture_text_ahead((struct atw_blob){ text, 14 }), 14);
	CHECK_EQ(capture_text_ahead((struct atw_blob){ text, 13 }), 7);
	CHECK_EQ(capture_text_ahead((struct atw_blob){ "\xc3\xa4\n", 3 }), 0);
	CHECK_EQ(capture_text_ahead((struct atw_blob){ "", 0 }), 0);
}

TEST(what_is_parsed_ahead)
{
	static const char line[] = "M: 00010000*2=00100412, 2, 6C, refs=2 | 00012000=00200412, -, - |\n";
	static char large[CAPTURE_PARSED_TEXT];
	uint64_t words[64];

	/* A word of its place; va, entry, pages, count, flags, refs; and one with less. */
	CHECK_EQ(capture_parse_ahead((struct atw_blob){ line, sizeof(line) - 1 }, words, 64), 7 + 4);
	CHECK_EQ(words[1], 0x10000);
	CHECK_EQ(words[2], 0x100412);
	CHECK_EQ(words[3], 2);
	CHECK_EQ(words[8], 0x12000);
	/* A line without an end, and a text that is too long for the packed places. */
	CHECK_EQ(capture_parse_ahead((struct atw_blob){ line, sizeof(line) - 2 }, words, 64), 0);
	memset(large, '\n', sizeof(large));
	memcpy(large, line, sizeof(line) - 1);
	CHECK_EQ(capture_parse_ahead((struct atw_blob){ large, sizeof(large) }, words, 64), 0);
	CHECK_EQ(capture_parse_ahead((struct atw_blob){ large, sizeof(large) - 1 }, words, 64), 11);
	CHECK_EQ(capture_parse_ahead((struct atw_blob){ "", 0 }, words, 64), 0);
	CHECK_EQ(capture_parse_ahead((struct atw_blob){ line, sizeof(line) - 1 }, words, 3), 0);
}
