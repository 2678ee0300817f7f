/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test.h - one small program a source file under test.
 *
 *	TEST(name) { CHECK(cond); CHECK_EQ(got, want); CHECK_STR(got, want); }
 *
 * The header brings main(): it runs every TEST of the file, prints one line
 * each, and closes with "N passed, N failed, N skipped".
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

static struct test *test_first, **test_tail = &test_first;
static unsigned test_failures;   /* of the running test */
static bool test_skipped;

#define TEST(id) \
	static void id(void); \
	static struct test test_##id = { #id, id, NULL }; \
	__attribute__((constructor)) static void test_reg_##id(void) \
	{ *test_tail = &test_##id; test_tail = &test_##id.next; } \
	static void id(void)

#define TEST_FAIL(...) do { \
	fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
	fprintf(stderr, __VA_ARGS__); fputc('\n', stderr); \
	test_failures++; \
} while (0)

/* A failed check ends the test: what follows would only repeat the news. */
#define CHECK(cond) do { \
	if (!(cond)) { TEST_FAIL("%s is false", #cond); return; } \
} while (0)

#define CHECK_EQ(got, want) do { \
	uint64_t g_ = (uint64_t)(got), w_ = (uint64_t)(want); \
	if (g_ != w_) { \
		TEST_FAIL("%s is 0x%" PRIx64 ", not 0x%" PRIx64, #got, g_, w_); \
		return; \
	} \
} while (0)

#define CHECK_STR(got, want) do { \
	const char *g_ = (got), *w_ = (want); \
	if (!g_ || strcmp(g_, w_)) { \
		TEST_FAIL("%s is \"%s\", not \"%s\"", #got, g_ ? g_ : "(null)", w_); \
		return; \
	} \
} while (0)

/* ATW_E_USAGE, and a sentence in `err`. */
#define REFUSED(call) do { \
	err = (struct atw_err){ 0 }; \
	CHECK_EQ(call, ATW_E_USAGE); \
	CHECK_EQ(err.status, ATW_E_USAGE); \
	CHECK(err.text[0]); \
} while (0)

#define SKIP(why) do { \
	printf("skip - %s\n", why); test_skipped = true; return; \
} while (0)

int main(int argc, char **argv)
{
	unsigned passed = 0, failed = 0, skipped = 0;

	for (struct test *t = test_first; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		test_failures = 0;
		test_skipped = false;
		t->run();
		if (test_failures) {
			failed++;
			printf("not ok - %s\n", t->name);
		} else if (test_skipped) {
			skipped++;
		} else {
			passed++;
			printf("ok - %s\n", t->name);
		}
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0;
}
