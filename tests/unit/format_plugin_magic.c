/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_plugin_magic.c - recognition of files of a plugin's sources by their first bytes. */
#include "format/plugin_magic.h"
#include "test.h"

static bool fits(const char *magic, const char *source, const char *head, size_t len)
{
	return plugin_magic_matches(magic, source, (struct atw_blob){ head, len });
}

TEST(bytes_at_an_offset_with_digits_that_do_not_matter)
{
	CHECK(fits("a@0=6162", "a", "abc", 3));
	CHECK(fits("a@1=6263", "a", "abc", 3));
	CHECK(fits("a@0=6?62", "a", "obc", 3));
	CHECK(fits("a@0=??62", "a", "?bc", 3));
	CHECK(fits("a@0=?1", "a", "qbc", 3));
	CHECK(!fits("a@0=6162", "a", "acb", 3));
	CHECK(!fits("a@0=6?62", "a", "pbc", 3));
	CHECK(!fits("", "a", "abc", 3));
}

TEST(each_element_is_tried_and_only_those_of_the_source)
{
	CHECK(fits("a@0=70 b@0=61 a@2=63", "a", "abc", 3));
	CHECK(fits("a@0=70 b@0=61", "b", "abc", 3));
	CHECK(!fits("a@0=70 b@0=61", "a", "abc", 3));
	CHECK(!fits("ab@0=61", "a", "abc", 3));
}

TEST(a_file_that_is_too_short)
{
	CHECK(!fits("a@0=61626364", "a", "abc", 3));
	CHECK(!fits("a@3=61", "a", "abc", 3));
	CHECK(!fits("a@65535=61", "a", "abc", 3));
	CHECK(!fits("a@0=61", "a", NULL, 0));
}

TEST(what_is_valid)
{
	CHECK(plugin_magic_is_valid("", ""));
	CHECK(plugin_magic_is_valid("a@0=61", "a"));
	CHECK(plugin_magic_is_valid("a@0=61 b-c@65535=?1", "b-c,a"));
	CHECK(!plugin_magic_is_valid("a@0=61", "b"));
	CHECK(!plugin_magic_is_valid("a@0=61", ""));
	CHECK(!plugin_magic_is_valid("a@0=????", "a"));
	CHECK(!plugin_magic_is_valid("a@65536=61", "a"));
	CHECK(!plugin_magic_is_valid("a@=61", "a"));
	CHECK(!plugin_magic_is_valid("a@0=616", "a"));
	CHECK(!plugin_magic_is_valid("a@0=6g", "a"));
	CHECK(!plugin_magic_is_valid("a@0", "a"));
	CHECK(!plugin_magic_is_valid("a=61", "a"));
}
