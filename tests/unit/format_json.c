// SPDX-License-Identifier: GPL-2.0-or-later
/* Members and elements of JSON values. */
#include "test.h"
#include "base/bytes.h"
#include "format/json.h"

TEST(members_of_an_object)
{
	struct atw_blob o = blob_of("{\"a\" : 1,\n \"b\\\"\": \"x}\\\"y\", \"c\": {\"a\": 2, \"d\": [3, \"]\"]}, \"e\": [] }");
	struct atw_blob v;

	CHECK_EQ(json_number(o, "a", 9), 1);
	CHECK(json_member(o, "b\\\"", &v) && blob_is(v, "x}\\\"y"));
	CHECK(json_member(o, "c", &v) && blob_is(v, "{\"a\": 2, \"d\": [3, \"]\"]}"));
	CHECK_EQ(json_number(v, "a", 9), 2);
	CHECK(json_member(o, "e", &v) && blob_is(v, "[]"));
	CHECK(!json_member(o, "d", &v));
	CHECK_EQ(json_number(o, "e", 9), 9);
}

TEST(elements_of_an_array)
{
	struct json_cursor c = json_open(blob_of("[ 1, {\"x\": [1,2]} , \"s\",true]"));
	struct atw_blob k, v;

	CHECK(json_next(&c, &k, &v) && blob_is(v, "1") && !k.len);
	CHECK(json_next(&c, &k, &v) && blob_is(v, "{\"x\": [1,2]}"));
	CHECK(json_next(&c, &k, &v) && blob_is(v, "s"));
	CHECK(json_next(&c, &k, &v) && blob_is(v, "true"));
	CHECK(!json_next(&c, &k, &v));
}

TEST(what_is_not_json)
{
	static const char *const texts[] = {
		"", "x", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\": [1", "{\"a\": \"", "{a: 1}", "\"a\"",
	};
	struct atw_blob v;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(!json_member(blob_of(texts[i]), "a", &v));
}
