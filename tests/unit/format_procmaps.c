/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of /proc/PID/maps are parsed, whatever is in the name. */
#include "format/procmaps.h"
#include "test.h"

static int parse(const char *text, struct procmaps_area *ret)
{
	size_t pos = 0;

	return procmaps_next((struct atw_blob){ text, strlen(text) }, &pos, ret);
}

TEST(a_file)
{
	struct procmaps_area a;
	char name[64];

	CHECK_EQ(parse("55d0c8e00000-55d0c8e01000 r-xp 00001000 fe:1f 1234                       /bin/a b\n", &a), ATW_OK);
	CHECK_EQ(a.start, 0x55d0c8e00000);
	CHECK_EQ(a.end, 0x55d0c8e01000);
	CHECK(a.read && !a.write && a.exec && !a.shared);
	CHECK_EQ(a.offset, 0x1000);
	CHECK_EQ(a.major, 0xfe);
	CHECK_EQ(a.minor, 0x1f);
	CHECK_EQ(a.inode, 1234);
	procmaps_name(a.name, name, sizeof(name));
	CHECK_STR(name, "/bin/a b");
}

TEST(no_name)
{
	struct procmaps_area a;

	CHECK_EQ(parse("1000-2000 -w-s 00000000 00:00 0 \n", &a), ATW_OK);
	CHECK_EQ(a.name.len, 0);
	CHECK(!a.read && a.write && !a.exec && a.shared);
	CHECK_EQ(parse("1000-2000 -w-s 00000000 00:00 0", &a), ATW_OK);
}

TEST(a_newline_in_a_name)
{
	struct procmaps_area a;
	char name[64];

	CHECK_EQ(parse("1000-2000 r--p 00000000 00:01 7 /a\\012b\\01\n", &a), ATW_OK);
	procmaps_name(a.name, name, sizeof(name));
	CHECK_STR(name, "/a\nb\\01");
	procmaps_name(a.name, name, 4);
	CHECK_STR(name, "/a\n");
}

TEST(the_top_of_the_address_space)
{
	struct procmaps_area a;

	CHECK_EQ(parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]", &a), ATW_OK);
	CHECK_EQ(a.end, 0xffffffffff601000);
}

TEST(what_is_no_line)
{
	static const char *const bad[] = {
		"\n", " ", "1000", "1000-", "1000-2000", "1000-2000 r", "1000-2000 rwxp",
		"1000-2000 rwxq 0 0:0 0", "2000-1000 rwxp 0 0:0 0", "1000-1000 rwxp 0 0:0 0",
		"1000-2000 rwxp 0 0 0", "1000-2000 rwxp 0 0:0 x", "1000-2000 rwxp 0 0:0 ",
		"1000-2000 rwxp 0 100000000:0 0", "11111111111111111-2 rwxp 0 0:0 0",
	};
	struct procmaps_area a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], &a) != ATW_E_FORMAT)
			TEST_FAIL("'%s' is a line", bad[i]);
}

TEST(line_after_line)
{
	static const char text[] = "1000-2000 rwxp 0 0:0 0\nbad\n3000-4000 rwxp 0 0:0 0 x";
	struct atw_blob b = { text, sizeof(text) - 1 };
	struct procmaps_area a;
	size_t pos = 0;

	CHECK_EQ(procmaps_next(b, &pos, &a), ATW_OK);
	CHECK_EQ(procmaps_next(b, &pos, &a), ATW_E_FORMAT);
	CHECK_EQ(procmaps_next(b, &pos, &a), ATW_OK);
	CHECK_EQ(a.start, 0x3000);
	CHECK_EQ(procmaps_next(b, &pos, &a), ATW_END);
}
