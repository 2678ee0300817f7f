/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last bytes read of a source are recorded, whether it changes or holds still. */
#include "extract/own.h"

#include "memory.h"
#include "test.h"

struct both {
	struct memory *m;
	struct atw_source *record, *replay;
};

static void both_open(struct both *b)
{
	b->m = mem_new();
	memset(mem_at(b->m, 0x10000)->bytes, 'a', MEM_PAGE);
	memset(mem_at(b->m, 0x11000)->bytes, 'b', MEM_PAGE);
	CHECK_EQ(record_open(&b->m->s, &b->record, NULL), ATW_OK);
	CHECK_EQ(record_replay(b->record, &b->replay, NULL), ATW_OK);
}

static void both_close(struct both *b)
{
	atw_source_close(b->replay);
	record_close(b->record);
	mem_free(b->m);
}

TEST(what_was_read_last_is_what_is_there)
{
	struct both b;
	char buf[16] = "";

	both_open(&b);
	CHECK_EQ(atw_read(b.record, ATW_PA(0x10ffe), buf, 4, NULL), 4);
	CHECK(!memcmp(buf, "aabb", 4));
	memset(mem_at(b.m, 0x10000)->bytes, 'c', MEM_PAGE);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10ffe), buf, 4, NULL), 4);
	CHECK(!memcmp(buf, "aabb", 4));
	CHECK_EQ(atw_read(b.record, ATW_PA(0x10fff), buf, 1, NULL), 1);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10ffe), buf, 4, NULL), 4);
	CHECK(!memcmp(buf, "acbb", 4));
	record_put(b.record, 0x10ffe, "xy", 2);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10ffe), buf, 4, NULL), 4);
	CHECK(!memcmp(buf, "xybb", 4));
	both_close(&b);
}

TEST(what_was_not_read_is_not_there_or_is_read_or_zero)
{
	struct atw_extent e;
	struct both b;
	char buf[16] = "";

	both_open(&b);
	CHECK_EQ(atw_read(b.record, ATW_PA(0x10008), buf, 8, NULL), 8);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10000), buf, 16, NULL), 0);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10008), buf, 16, NULL), 8);
	CHECK_EQ(atw_extent_at(b.replay, ATW_PA(0), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_EXCLUDED);
	CHECK_EQ(e.len, 0x10000);
	CHECK_EQ(atw_extent_at(b.replay, ATW_PA(0x10000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_DATA);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(atw_extent_at(b.replay, ATW_PA(0x11000), &e), ATW_END);

	record_missing(b.replay, RECORD_ZERO);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10000), buf, 16, NULL), 16);
	CHECK(!memcmp(buf, "\0\0\0\0\0\0\0\0aaaaaaaa", 16));
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x11000), buf, 16, NULL), 0);

	record_missing(b.replay, RECORD_FILL);
	memset(mem_at(b.m, 0x10000)->bytes, 'c', MEM_PAGE);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10004), buf, 16, NULL), 16);
	CHECK(!memcmp(buf, "ccccaaaaaaaacccc", 16));
	memset(mem_at(b.m, 0x10000)->bytes, 'd', MEM_PAGE);
	CHECK_EQ(atw_read(b.replay, ATW_PA(0x10004), buf, 16, NULL), 16);
	CHECK(!memcmp(buf, "ccccaaaaaaaacccc", 16));
	both_close(&b);
}

TEST(marks_keep_what_was_read)
{
	struct byte_marks m = {0};
	struct both b;
	char page[MEM_PAGE];

	both_open(&b);
	CHECK_EQ(atw_read(b.record, ATW_PA(0x10000), page, MEM_PAGE, NULL), MEM_PAGE);
	CHECK_EQ(atw_read(b.record, ATW_PA(0x11010), page, 8, NULL), 8);
	marks_add(&m, 0x10000, 0x2000);
	marks_add(&m, 0x20000, 8);
	marks_sort(&m);
	record_trim(b.record, &m);
	CHECK_EQ(m.n, 2);
	CHECK_EQ(marks_bytes(&m), MEM_PAGE + 8);
	CHECK(!m.v[0].bytes && m.v[1].bytes);
	marks_deinit(&m);
	both_close(&b);
}
