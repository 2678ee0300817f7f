/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns are found and chosen by name, and near misses are suggested. */
#include "test.h"

#include "base/nearest.h"
#include "record/schema.h"

static const struct atw_column cols[] = {
	{ .key = "address", .type = ATW_T_VA },
	{ .key = "size", .type = ATW_T_BYTES },
	{ .key = "entry", .type = ATW_T_HEX, .hidden = true },
	{ .key = "task", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "test", cols, 4 };
static struct atw_err err;

/* "0 1 3", or the error. */
static const char *choose(const char *list)
{
	static char text[64];
	struct columns cs;
	size_t n = 0;

	if (schema_choose(&schema, ATW_PARAM_COLUMNS, list, &cs, &err) < 0)
		return err.param == ATW_PARAM_COLUMNS ? err.text : "of another parameter";
	text[0] = '\0';
	for (size_t i = 0; i < cs.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d",
				      i ? " " : "", cs.at[i]);
	return text;
}

TEST(find)
{
	CHECK_EQ(schema_find(&schema, "size", 4), 1);
	CHECK_EQ(schema_find(&schema, "sizes", 4), 1);
	CHECK_EQ(schema_find(&schema, "siz", 3), -1);
	CHECK_EQ(schema_find(&schema, "", 0), -1);
}

TEST(other_names)
{
	static const struct atw_column two[] = {
		{ .key = "mapped", .type = ATW_T_BYTES }, { .key = "resident", .type = ATW_T_BYTES },
	};
	const struct atw_schema both = { "both", two, 2 };
	struct columns cs;

	CHECK_EQ(schema_named(&schema, "size", 4), 1);
	CHECK_EQ(schema_named(&schema, "len", 3), 1);
	CHECK_EQ(schema_named(&schema, "pte", 3), 2);
	CHECK_EQ(schema_named(&schema, "comm", 4), 3);
	CHECK_EQ(schema_named(&schema, "rss", 3), -1);
	CHECK_EQ(schema_find(&schema, "comm", 4), -1);
	CHECK_STR(choose("comm,addr"), "3 0");
	CHECK_STR(choose("comm,task"), "column 'task' is named twice");
	CHECK_EQ(schema_named(&both, "resident", 8), 1);
	CHECK_EQ(schema_named(&both, "mapped", 6), 0);
	CHECK_EQ(schema_named(&both, "rss", 3), -1);
	CHECK_EQ(schema_choose(&both, ATW_PARAM_COLUMNS, "rss", &cs, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "unknown column 'rss'; known: mapped, resident");
	CHECK_STR(err.hint, "did you mean 'mapped' or 'resident'?");
	CHECK_STR(schema_other_name("resident", 0), "rss");
	CHECK_STR(schema_other_name("rss", 0), "resident");
	CHECK_STR(schema_other_name("rss", 1), "mapped");
	CHECK(!schema_other_name("rss", 2));
	CHECK(!schema_other_name("nothing", 0));
}

TEST(choices)
{
	CHECK_STR(choose(NULL), "0 1 3");
	CHECK_STR(choose(""), "0 1 3");
	CHECK_STR(choose("task,address"), "3 0");
	CHECK_STR(choose("entry"), "2");
	CHECK_STR(choose("+entry"), "0 1 2 3");
	CHECK_STR(choose("+size,entry"), "0 1 2 3");
}

TEST(wrong_choices)
{
	CHECK_STR(choose("address,sise"), "unknown column 'sise'; "
		  "known: address, size, entry, task");
	CHECK_STR(err.hint, "did you mean 'size'?");
	CHECK_STR(choose("address,"), "unknown column ''; "
		  "known: address, size, entry, task");
	CHECK_STR(choose("+"), "unknown column ''; "
		  "known: address, size, entry, task");
	CHECK_STR(choose("size,size"), "column 'size' is named twice");
	CHECK_STR(choose("address, size"), "unknown column ' size'; "
		  "known: address, size, entry, task");
}

TEST(nothing_to_show)
{
	const struct atw_column hidden[] = { { .key = "a", .hidden = true } };
	const struct atw_schema sc = { "none", hidden, 1 };
	struct columns cs;

	CHECK_EQ(schema_choose(&sc, ATW_PARAM_COLUMNS, NULL, &cs, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "schema 'none' has no columns to show");
}

static const char *nearest(const char *word)
{
	static const char *const names[] = {
		"address", "size", "writable", "LRU", "dirty", "soft-dirty",
	};
	struct nearest n = { .word = word, .len = strlen(word) };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		nearest_try(&n, names[i]);
	return n.name ? n.name : "";
}

TEST(nearest_names)
{
	CHECK_STR(nearest("wirtable"), "writable");
	CHECK_STR(nearest("writeable"), "writable");
	CHECK_STR(nearest("sized"), "size");
	CHECK_STR(nearest("isze"), "size");
	CHECK_STR(nearest("lru"), "LRU");
	CHECK_STR(nearest("softdirty"), "soft-dirty");
	CHECK_STR(nearest("physical"), "");
	CHECK_STR(nearest("x"), "");
	CHECK_STR(nearest(""), "");
	CHECK_STR(nearest("a-word-that-is-far-too-long-to-be-a-name-of-ours"), "");
}
