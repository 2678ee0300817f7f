/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replies of QEMU's monitor: as QEMU 7.2 and 10.0 sent them, and others. */
#include "format/qmp.h"
#include "test.h"

#define BLOB(text) ((struct atw_blob){text, strlen(text)})

static bool is(struct atw_blob b, const char *s)
{
	return b.len == strlen(s) && (!b.len || !memcmp(b.data, s, b.len));
}

TEST(lines)
{
	static const struct {
		const char *line;
		enum qmp_kind kind;
		const char *value;
	} cases[] = {
		{"{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r", QMP_GREETING,
		 "{\"version\": {}, \"capabilities\": [\"oob\"]}"},
		{"{\"return\": {}}\r", QMP_RETURN, "{}"},
		{"{\"return\": \"a\\r\\n\"}", QMP_RETURN, "a\\r\\n"},
		{"{\"timestamp\": {\"seconds\": 1}, \"event\": \"STOP\"}", QMP_EVENT, "STOP"},
		{"{\"error\": {\"class\": \"CommandNotFound\", \"desc\": \"no such\"}}", QMP_ERROR,
		 "no such"},
		{"{\"error\": 7}", QMP_ERROR, ""},
		{"{}", QMP_NONE, NULL}, {"", QMP_NONE, NULL}, {"[1]", QMP_NONE, NULL},
		{"QEMU 7.2.0 monitor - type 'help'", QMP_NONE, NULL},
		{"{\"return\": {", QMP_NONE, NULL}, {"{\"return\": \"", QMP_NONE, NULL},
	};
	struct atw_blob value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(qmp_line(BLOB(cases[i].line), &value), cases[i].kind);
		CHECK(!cases[i].value || is(value, cases[i].value));
	}
}

TEST(texts)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"", ""}, {"a\\r\\nb", "a\r\nb"}, {"\\\"\\\\\\/\\t", "\"\\/\t"},
		{"\\u0041\\u00e4\\u0000", "A??"}, {"\\u12", "?12"}, {"\\", "\\"},
		{"\xc3\xa4", "??"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = {0};

		qmp_text(BLOB(cases[i].from), &b);
		CHECK_STR(b.data ? b.data : "", cases[i].to);
		buf_deinit(&b);
	}
}

TEST(sections)
{
	static const char mtree[] =
		"FlatView #0\r\n AS \"I/O\", root: io\r\n Root memory region: io\r\n"
		"  0000000000000000-0000000000000007 (prio 0, ram): io\r\n\r\n"
		"FlatView #1\r\n AS \"cpu-memory-0\", root: system\r\n"
		" AS \"memory\", root: system\r\n Root memory region: system\r\n"
		"  0000000000000000-000000000009ffff (prio 0, ram): pc.ram KVM\r\n"
		"  00000000000a0000-00000000000bffff (prio 1, i/o): vga-lowmem\r\n"
		"  00000000000c0000-00000000000cafff (prio 1, rom): pc.ram @00000000000c0000 KVM\r\n"
		"  0000000000100000-0000000007ffffff (prio -1, ram): a b) @x @0000000000100000\r\n"
		"  0000000100000000-0000000100ffffff (prio 0, nv-ram): nv\r\n"
		"  0000000200000000-0000000100ffffff (prio 0, ram): backwards\r\n"
		"  0000000000000000-ffffffffffffffff (prio 0, ram): everything\r\n"
		"  000000020000000-00000000200ffffff (prio 0, ram): short\r\n"
		"  0000000300000000-0000000300000fff (prio 0, romd): flash\r\n"
		"  0000000300000000-0000000300000fff (prio 0, ramd): vfio\r\n"
		"  0000000300000000-0000000300000fff (ram): no priority\r\n\r\n"
		"FlatView #2\r\n AS \"x\", root: x\r\n Root memory region: x\r\n"
		"  0000000000000000-0000000000000007 (prio 0, ram): other\r\n\r\n";
	static const struct {
		uint64_t gpa, len, offset;
		const char *block;
		bool read_only;
	} want[] = {
		{0, 0xa0000, 0, "pc.ram", false},
		{0xc0000, 0xb000, 0xc0000, "pc.ram", true},
		{0x100000, 0x7f00000, 0x100000, "a b) @x", false},
		{0x100000000, 0x1000000, 0, "nv", false},
	};
	struct atw_blob s;
	struct qmp_section q;
	size_t pos = 0;

	CHECK(qmp_find_memory(BLOB(mtree), &s));
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK_EQ(qmp_next_section(s, &pos, &q), ATW_OK);
		CHECK_EQ(q.gpa, want[i].gpa);
		CHECK_EQ(q.len, want[i].len);
		CHECK_EQ(q.offset, want[i].offset);
		CHECK(is(q.block, want[i].block));
		CHECK_EQ(q.read_only, want[i].read_only);
	}
	CHECK_EQ(qmp_next_section(s, &pos, &q), ATW_END);
	CHECK(!qmp_find_memory(BLOB(""), &s));
	CHECK(!qmp_find_memory(BLOB("FlatView #0\n AS \"memory\", root: system\n"), &s));
	CHECK(!qmp_find_memory(BLOB(" AS \"memory\", root: system\nFlatView #0\n"
				    " Root memory region: system\n"), &s));
	/* Cut off: what is there */
	CHECK(qmp_find_memory((struct atw_blob){mtree, 260}, &s));
}

TEST(backends_and_addresses)
{
	static const char memdevs[] = "[{\"share\": false, \"host-nodes\": [], \"id\": \"n1\"}, "
				      "{\"id\": \"pc.ram\", \"size\": 1}, {\"size\": 1}]";
	uint64_t at = 7;

	CHECK(qmp_has_backend(BLOB(memdevs), BLOB("n1")));
	CHECK(qmp_has_backend(BLOB(memdevs), BLOB("pc.ram")));
	CHECK(!qmp_has_backend(BLOB(memdevs), BLOB("pc.bios")));
	CHECK(!qmp_has_backend(BLOB(memdevs), BLOB("")));
	CHECK(!qmp_has_backend(BLOB("[]"), BLOB("n1")));
	CHECK(qmp_host_address(BLOB("Host virtual address for 0x8000000 (n1) is 0x7f6d5bc00000\r\n"),
			       0x8000000, &at));
	CHECK_EQ(at, UINT64_C(0x7f6d5bc00000));
	CHECK(qmp_host_address(BLOB("Host virtual address for 0x0 (a) is 0x1) is 0x2000"), 0, &at));
	CHECK_EQ(at, 0x2000);
	CHECK(!qmp_host_address(BLOB("Host virtual address for 0x1000 (n1) is 0x7f6d5bc00000"), 0, &at));
	CHECK(!qmp_host_address(BLOB("Memory at address 0xa0000 is not RAM"), 0xa0000, &at));
	CHECK(!qmp_host_address(BLOB("Host virtual address for 0x0 (n1) is 0x"), 0, &at));
	CHECK(!qmp_host_address(BLOB("Host virtual address for 0x0 (n1"), 0, &at));
	CHECK(!qmp_host_address(BLOB(""), 0, &at));
	CHECK_EQ(at, 0x2000);
}
