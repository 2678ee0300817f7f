/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ihex_records.c - records of Intel HEX: addresses of both kinds, line ends, damage. */
#include "plugins/ihex/records.c"

#include "test.h"

/* "at+bytes" of all data, and how it ended: E, C, or the line and W. */
static const char *parsed(const char *text)
{
	static char ret[400];
	struct records r = { .text = text, .len = strlen(text) };
	enum record_result got;
	size_t at = 0;

	*ret = '\0';
	while ((got = records_next(&r)) == RECORD_DATA) {
		at += (size_t)snprintf(ret + at, sizeof(ret) - at, "%llx+",
				       (unsigned long long)r.at);
		for (unsigned i = 0; i < r.n; i++)
			at += (size_t)snprintf(ret + at, sizeof(ret) - at, "%02x", r.byte[i]);
		at += (size_t)snprintf(ret + at, sizeof(ret) - at, " ");
	}
	if (got == RECORD_WRONG)
		snprintf(ret + at, sizeof(ret) - at, "%lu %s", r.line, r.why);
	else
		snprintf(ret + at, sizeof(ret) - at, "%c", got == RECORD_END ? 'E' : 'C');
	return ret;
}

#define END ":00000001FF\n"

TEST(examples_of_the_specification)
{
	CHECK_STR(parsed(":02001000010AE3\n" END), "10+010a E");
	/* Extended linear address FFFF, and a segment of 1200. */
	CHECK_STR(parsed(":02000004FFFFFC\n:0100000055AA\n" END), "ffff0000+55 E");
	CHECK_STR(parsed(":020000021200EA\n:0100000055AA\n" END), "12000+55 E");
	/* Where a program starts is no memory. */
	CHECK_STR(parsed(":0400000300003800C1\n:04000005000000CD2A\n" END), "E");
}

TEST(addresses_wrap_in_a_segment_and_not_in_linear_mode)
{
	CHECK_STR(parsed(":04FFFE0001020304F5\n" END), "fffe+01020304 E");
	CHECK_STR(parsed(":020000021000EC\n:04FFFE0001020304F5\n" END),
		  "1fffe+0102 10000+0304 E");
	CHECK_STR(parsed(":020000021000EC\n:020000040001F9\n:04FFFE0001020304F5\n" END),
		  "1fffe+01020304 E");
}

TEST(line_ends_and_empty_lines)
{
	CHECK_STR(parsed("\n\r\n:02001000010AE3\r\n\r\r:0100000055AA\r:00000001ff\n\n"),
		  "10+010a 0+55 E");
	CHECK_STR(parsed(":02001000010AE3\r\n:0G\r\n"), "10+010a 2 it has something else than hexadecimal digits");
	CHECK_STR(parsed("\r\n\n:02001000010AE3\n\nx\n"), "10+010a 5 it does not begin with a colon");
}

TEST(cut_off_anywhere)
{
	static const char text[] = ":02001000010AE3\n" END;
	char part[sizeof(text)];

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		snprintf(part, sizeof(part), "%.*s", (int)n, text);
		/* The last line needs no line end. */
		CHECK_STR(parsed(part), n < 15 ? "C" : n < sizeof(text) - 2 ? "10+010a C" : "10+010a E");
	}
}

TEST(damage)
{
	CHECK_STR(parsed(":02001000010AE4\n"), "1 its sum is wrong");
	CHECK_STR(parsed(":02001000010AE300\n"), "1 its length is not the one that it states");
	CHECK_STR(parsed(":0200100001\n"), "1 its length is not the one that it states");
	CHECK_STR(parsed(":\n"), "1 its length is not the one that it states");
	CHECK_STR(parsed(":00000006FA\n"), "1 its type is unknown");
	CHECK_STR(parsed(":0100000455A6\n"), "1 an address has two bytes");
	CHECK_STR(parsed(":0100000155A9\n"), "1 the end record has bytes");
	CHECK_STR(parsed(END "x"), "2 it is behind the end record");
	CHECK_STR(parsed(""), "C");
	CHECK_STR(parsed(":0000000000\n" END), "E");
}

TEST(no_line_is_longer_than_a_record)
{
	char text[2 * (RECORD_BYTES + 6) + 3];

	memset(text, '0', sizeof(text));
	text[0] = ':';
	text[sizeof(text) - 2] = '\n';
	text[sizeof(text) - 1] = '\0';
	CHECK_STR(parsed(text), "1 it is longer than any record");
}
