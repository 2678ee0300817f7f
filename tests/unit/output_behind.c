// SPDX-License-Identifier: GPL-2.0-or-later
/* output_behind.c - rows that a thread formats: the same bytes, and the same failures. */
#include <stdlib.h>
#include <sys/stat.h>

#include "output_capture.h"

static const char *const flag_names[] = { "large", "dirty", "global" };
static const struct atw_names flags = { NELEM(flag_names), flag_names, NULL };
static const struct atw_column cols[] = {
	{ .key = "name", .type = ATW_T_TEXT, .width = 6 },
	{ .key = "n", .type = ATW_T_COUNT, .width = 3, .sum = true },
	{ .key = "address", .type = ATW_T_VA },
	{ .key = "flags", .type = ATW_T_FLAGS, .names = &flags },
	{ .key = "note", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "test", cols, NELEM(cols) };

enum { ROWS = 30000 };

/* Texts are gone after the call: each row is written over the one before. */
static int put_row(struct atw_output *out, uint64_t i, struct atw_err *err)
{
	static char name[24], note[64];
	union atw_value v[] = { S(name), U(i * i), U(i << 12), U(i & 7), S(i % 11 ? note : NULL) };
	const struct atw_row row = { v, 31 - (i % 7 ? 0 : 2) };

	snprintf(name, sizeof(name), "task %d", (int)(i / 100));
	snprintf(note, sizeof(note), "%.*s", (int)(i % 60),
		 "0123456789012345678901234567890123456789012345678901234567890");
	if (i % 1000 == 3)
		atw_output_heading(out, "above %d", (int)i);
	return atw_output_row(out, &row, err);
}

/* All of it, and what it says if it fails. */
static char *all(struct atw_output_opts o, unsigned threads, struct atw_err *err)
{
	struct atw_output *out = NULL;
	char path[32], *text;
	int fd = memfd_create("behind", MFD_CLOEXEC);
	off_t n;
	int rc;

	*err = (struct atw_err){ 0 };
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = o.path ? o.path : path;
	o.threads = threads;
	rc = atw_output_open(&o, &schema, &out, err);
	for (uint64_t i = 0; rc == ATW_OK && i < ROWS; i++) {
		rc = put_row(out, i, err);
		if (rc == ATW_OK && i % 2300 == 0)
			rc = atw_output_text(out, "below %d\n", (int)i);
		if (rc == ATW_OK && o.sumless && i % 9500 == 0)
			rc = atw_output_flush(out, err);
		if (i == 20000)
			atw_output_page(out, 16);
	}
	atw_output_note(out, "a note\n");
	if (rc == ATW_OK)
		rc = atw_output_commit(out, err);
	atw_output_close(out);
	n = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)n + 1);
	if (pread(fd, text, (size_t)n, 0) != n)
		abort();
	close(fd);
	return text;
}

static void alike(struct atw_output_opts o)
{
	struct atw_err one, two;
	char *a = all(o, 0, &one), *b = all(o, 1, &two);

	CHECK(strlen(a) > 1000);
	CHECK(!strcmp(a, b));
	CHECK_STR(two.text, one.text);
	free(a);
	free(b);
}
#define ALIKE(...) alike((struct atw_output_opts){ __VA_ARGS__ })

TEST(every_format_is_the_same)
{
	const struct atw_sink_ops *ops;

	for (size_t i = 0; (ops = atw_sink_kind(i)); i++) {
		if (ops->binary)         /* no text */
			continue;
		ALIKE(.format = ops->name);
		ALIKE(.format = ops->name, .ahead = true);
		ALIKE(.format = ops->name, .columns = "note,name,address");
	}
}

TEST(limits_flushes_and_orders_are_the_same)
{
	ALIKE(.limit = 23333);
	ALIKE(.limit = 1024, .format = "csv");
	ALIKE(.limit = 700, .sumless = true);
	ALIKE(.limit = 700, .sumless = true, .ahead = true);
	ALIKE(.sumless = true, .format = "jsonl");
	ALIKE(.sort = "n:desc");
	ALIKE(.sort = "note,address:desc", .format = "json", .limit = 4000);
	ALIKE(.group = "name");
	ALIKE(.filter = "n>1000000 and flags=dirty", .units = ATW_UNITS_PAGES);
}

TEST(a_full_disk_is_reported)
{
	struct atw_err err;

	if (access("/dev/full", W_OK) < 0)
		SKIP("no /dev/full");
	free(all((struct atw_output_opts){ .path = "/dev/full", .format = "csv" }, 1, &err));
	CHECK_EQ(err.status, ATW_E_IO);
	CHECK_STR(err.text, "/dev/full: cannot write: No space left on device");
}

TEST(an_output_may_be_given_up)
{
	struct atw_output *out = NULL;
	char path[] = "/tmp/atwalk-behind.XXXXXX";
	struct stat st;
	struct atw_output_opts o = { .path = path, .format = "csv", .threads = 1 };

	close(mkstemp(path));
	CHECK_EQ(atw_output_open(&o, &schema, &out, NULL), ATW_OK);
	for (uint64_t i = 0; i < 20000; i++)
		CHECK_EQ(put_row(out, i, NULL), ATW_OK);
	atw_output_close(out);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_size, 0);         /* as it was */
	CHECK_EQ(unlink(path), 0);
}
