/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References are added up by cache line, and lines get a verdict. */
#include "trace/lines.h"

#include "test.h"

static struct lines *open_lines(uint32_t size)
{
	struct lines *l = NULL;

	if (lines_open(&(struct lines_opts){.line = size}, &l, NULL) < 0)
		abort();
	return l;
}

/* `count` references of a thread. */
static void add(struct lines *l, uint32_t tid, enum trace_kind kind, uint64_t address,
		uint32_t size, uint64_t count)
{
	const struct trace_ref r = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | (tid ? TRACE_HAS_TID : 0),
		.kind = kind,
		.address = address,
		.size = size,
		.tid = tid,
		.count = count,
	};

	if (lines_add(l, &r, NULL) < 0)
		abort();
}

/* The only line. */
static struct lines_line only(struct lines *l)
{
	struct lines_line line = {0};

	if (lines_sort(l, NULL) < 0 || !lines_get(l, 0, &line))
		abort();
	return line;
}

/* More threads than are searched one by one: each is one thread, and has its own counts. */
TEST(lines_of_very_many_threads)
{
	enum { THREADS = 30000 };
	struct lines *l = open_lines(0);
	struct lines_line line;

	add(l, 7, TRACE_KIND_WRITE, 0x40, 8, 1);
	for (unsigned round = 0; round < 3; round++)
		for (uint32_t t = 1; t <= THREADS; t++) {
			add(l, t, TRACE_KIND_WRITE, 0x1000 + t % 8 * 8, 8, 1);
			if (t <= 40)
				add(l, t, TRACE_KIND_READ, 0x2000, 8, 1);
		}
	CHECK_EQ(lines_sort(l, NULL), ATW_OK);
	CHECK(lines_get(l, 1, &line));
	CHECK_EQ(line.threads, THREADS);
	CHECK_EQ(line.counts.writes, 3 * THREADS);
	CHECK_EQ(line.verdict, LINES_TRUE_SHARED);
	CHECK(lines_get(l, 2, &line));
	CHECK_EQ(line.threads, 40);
	CHECK_EQ(line.verdict, LINES_READ_SHARED);
	lines_close(l);

	/* A word for each of 20 threads, of which one has most references. */
	l = open_lines(256);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t t = 0; t < 20; t++)
			add(l, t + 1, TRACE_KIND_WRITE, 0x1000 + t * 8, 8, t ? 100 : 5000);
	line = only(l);
	CHECK_EQ(line.threads, 20);
	CHECK_EQ(line.verdict, LINES_FALSE_SHARED);
	add(l, 20, TRACE_KIND_READ, 0x1000, 8, 1000);
	line = only(l);
	CHECK_EQ(line.threads, 20);
	CHECK_EQ(line.verdict, LINES_TRUE_SHARED);
	lines_close(l);
}

TEST(sums_that_overflow)
{
	struct lines *l = open_lines(0);

	add(l, 1, TRACE_KIND_READ, 0x1000, 8, UINT64_MAX);
	CHECK(!lines_sum(l)->overflow);
	add(l, 1, TRACE_KIND_READ, 0x2000, 8, 1);
	CHECK(lines_sum(l)->overflow);
	CHECK_EQ(lines_sum(l)->refs, UINT64_MAX);
	lines_close(l);
}

TEST(verdicts)
{
	struct lines *l = open_lines(0);
	struct lines_line line;

	add(l, 1, TRACE_KIND_READ, 0x1000, 8, 5);
	add(l, 1, TRACE_KIND_WRITE, 0x1008, 8, 2);
	line = only(l);
	CHECK_EQ(line.verdict, LINES_PRIVATE);
	CHECK_EQ(line.counts.refs, 7);
	CHECK_EQ(line.counts.reads, 5);
	CHECK_EQ(line.counts.writes, 2);
	CHECK_STR(line.touched, "rw......");
	/* Another thread reads what nobody writes. */
	add(l, 2, TRACE_KIND_READ, 0x1000, 8, 1);
	line = only(l);
	CHECK_EQ(line.verdict, LINES_FALSE_SHARED);
	CHECK_EQ(line.threads, 2);
	/* One byte of what is written. */
	add(l, 3, TRACE_KIND_READ, 0x100f, 1, 1);
	line = only(l);
	CHECK_EQ(line.verdict, LINES_TRUE_SHARED);
	CHECK_STR(line.touched, "rb......");
	lines_close(l);

	l = open_lines(64);
	add(l, 1, TRACE_KIND_READ, 0x1000, 8, 1);
	add(l, 2, TRACE_KIND_FETCH, 0x1000, 4, 1);
	CHECK_EQ(only(l).verdict, LINES_READ_SHARED);
	/* It may be a write. */
	add(l, 2, TRACE_KIND_UNKNOWN, 0x1010, 4, 1);
	line = only(l);
	CHECK_EQ(line.verdict, LINES_UNDECIDED);
	CHECK_STR(line.touched, "r.?.....");
	lines_close(l);
}

TEST(a_thread_that_begins_or_ends_does_not_share)
{
	struct lines *l = open_lines(64);

	/* Two counters; the first thread clears both, and reads them at the end. */
	add(l, 1, TRACE_KIND_WRITE, 0x1000, 8, 1);
	add(l, 1, TRACE_KIND_WRITE, 0x1008, 8, 1);
	add(l, 2, TRACE_KIND_BOTH, 0x1000, 8, 300);
	add(l, 3, TRACE_KIND_WRITE, 0x1008, 8, 200);
	add(l, 1, TRACE_KIND_READ, 0x1000, 8, 1);
	add(l, 1, TRACE_KIND_READ, 0x1008, 8, 1);
	CHECK_EQ(only(l).verdict, LINES_FALSE_SHARED);
	/* Of 204 references of others, 20 are to bytes of two threads; then 21 of 205. */
	add(l, 2, TRACE_KIND_READ, 0x1008, 8, 16);
	CHECK_EQ(only(l).verdict, LINES_FALSE_SHARED);
	add(l, 3, TRACE_KIND_READ, 0x1000, 8, 1);
	CHECK_EQ(only(l).verdict, LINES_TRUE_SHARED);
	lines_close(l);
}

TEST(without_threads_sharing_is_undecided)
{
	struct lines *l = open_lines(64);
	struct lines_line line;

	add(l, 0, TRACE_KIND_BOTH, 0x1030, 8, 4);
	line = only(l);
	CHECK_EQ(line.verdict, LINES_UNDECIDED);
	CHECK(!line.has_threads);
	CHECK_EQ(line.counts.refs, 4);
	CHECK_EQ(line.counts.reads, 4);
	CHECK_EQ(line.counts.writes, 4);
	CHECK_STR(line.touched, "......b.");
	CHECK_EQ(lines_sum(l)->threadless, 4);
	/* A byte that two known threads share is shared all the same. */
	add(l, 1, TRACE_KIND_WRITE, 0x1000, 8, 1);
	add(l, 2, TRACE_KIND_WRITE, 0x1000, 8, 1);
	line = only(l);
	CHECK_EQ(line.verdict, LINES_TRUE_SHARED);
	CHECK(!line.has_threads);
	lines_close(l);
}

TEST(rounded_addresses_leave_sharing_undecided)
{
	struct lines *l = open_lines(64);
	struct lines_line line;

	lines_set_rounded(l);
	add(l, 1, TRACE_KIND_READ, 0x1000, 64, 1);
	line = only(l);
	CHECK_EQ(line.verdict, LINES_PRIVATE);
	CHECK(!line.touched);
	add(l, 2, TRACE_KIND_READ, 0x1000, 64, 1);
	CHECK_EQ(only(l).verdict, LINES_READ_SHARED);
	add(l, 2, TRACE_KIND_WRITE, 0x1000, 64, 1);
	CHECK_EQ(only(l).verdict, LINES_UNDECIDED);
	lines_close(l);
}

TEST(a_hot_word_beside_cold_ones)
{
	struct lines *l = open_lines(64);

	add(l, 1, TRACE_KIND_READ, 0x1000, 8, 970);
	add(l, 1, TRACE_KIND_READ, 0x1008, 8, 10);
	add(l, 1, TRACE_KIND_READ, 0x1010, 8, 10);
	CHECK_EQ(only(l).verdict, LINES_PRIVATE);
	add(l, 1, TRACE_KIND_READ, 0x1038, 8, 10);
	CHECK_EQ(only(l).verdict, LINES_HOT_COLD);
	add(l, 2, TRACE_KIND_READ, 0x1038, 8, 1);
	CHECK_EQ(only(l).verdict, LINES_HOT_COLD);
	/* Harmful sharing is the worse of the two. */
	add(l, 2, TRACE_KIND_WRITE, 0x1020, 8, 1);
	CHECK_EQ(only(l).verdict, LINES_FALSE_SHARED);
	lines_close(l);
	/* Nine tenths of few references are no such thing. */
	l = open_lines(64);
	for (uint64_t i = 0; i < 4; i++)
		add(l, 1, TRACE_KIND_READ, 0x1000 + 8 * i, 8, i ? 1 : 6);
	CHECK_EQ(only(l).verdict, LINES_PRIVATE);
	lines_close(l);
}

TEST(references_over_the_border_of_lines)
{
	struct lines *l = open_lines(64);
	struct lines_line line;

	add(l, 1, TRACE_KIND_WRITE, 0x103c, 8, 3);
	CHECK_EQ(lines_sort(l, NULL), ATW_OK);
	CHECK(lines_get(l, 0, &line));
	CHECK_EQ(line.address, 0x1000);
	CHECK_EQ(line.counts.writes, 3);
	CHECK_EQ(line.crossing, 3);
	CHECK_STR(line.touched, ".......w");
	CHECK(lines_get(l, 1, &line));
	CHECK_EQ(line.address, 0x1040);
	CHECK_EQ(line.crossing, 0);
	CHECK_STR(line.touched, "w.......");
	CHECK(!lines_get(l, 2, &line));
	CHECK_EQ(lines_sum(l)->refs, 3);
	CHECK_EQ(lines_sum(l)->crossing, 3);
	CHECK_EQ(lines_find(l, 0, 0x1001), 1);
	CHECK_EQ(lines_find(l, 0, 0x2000), 2);
	lines_close(l);
	/* Behind the last address there is nothing. */
	l = open_lines(16);
	add(l, 1, TRACE_KIND_READ, UINT64_MAX - 3, 8, 1);
	line = only(l);
	CHECK_EQ(line.address, UINT64_MAX - 15);
	CHECK_STR(line.touched, ".r");
	CHECK(!lines_get(l, 1, &line));
	lines_close(l);
}

TEST(sizes_of_lines_and_references)
{
	static const uint32_t bad[] = {1, 8, 48, 65, 8192, UINT32_MAX};
	struct trace_ref r = {.has = TRACE_HAS_ADDRESS, .address = 0x1003, .count = 2};
	struct atw_err err;
	struct lines_part part;
	struct lines *l;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(lines_open(&(struct lines_opts){.line = bad[i]}, &l, &err),
			 ATW_E_USAGE);
		CHECK(strstr(err.text, "expected a power of two from 16 to 4096"));
	}
	l = open_lines(4096);
	/* Without a size: its aligned word. */
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(only(l).parts, 1);
	CHECK(lines_part(l, 0, &part));
	CHECK_EQ(part.offset, 3);
	CHECK_EQ(part.size, 5);
	CHECK_EQ(part.counts.unknown, 2);
	r.has |= TRACE_HAS_SIZE;
	r.size = LINES_REFERENCE + 1;
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(lines_sum(l)->implausible, 2);
	r.size = LINES_REFERENCE;
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(lines_sum(l)->lines, 17);
	r.has = TRACE_HAS_PHYSICAL;
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(lines_sum(l)->addressless, 2);
	CHECK_EQ(lines_sum(l)->refs, 8);
	lines_close(l);
}

TEST(members_of_a_line)
{
	struct lines *l = open_lines(64);
	struct trace_ref r = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID | TRACE_HAS_IP,
		.kind = TRACE_KIND_WRITE,
		.address = 0x2010,
		.size = 8,
		.ip = 0x400000,
		.count = 1,
	};
	struct lines_part p;

	for (r.tid = 1; r.tid < 4; r.tid++)
		CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	r.ip = 0x3fffff;
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	r.size = 4;
	r.kind = TRACE_KIND_READ;
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(only(l).parts, 3);
	CHECK(lines_part(l, 0, &p));
	CHECK_EQ(p.size, 4);
	CHECK_EQ(p.counts.reads, 1);
	CHECK(lines_part(l, 1, &p));
	CHECK_EQ(p.ip, 0x3fffff);
	CHECK_EQ(p.threads, 1);
	CHECK(lines_part(l, 2, &p));
	CHECK_EQ(p.offset, 0x10);
	CHECK_EQ(p.ip, 0x400000);
	CHECK_EQ(p.counts.writes, 3);
	CHECK(p.has_threads);
	CHECK_EQ(p.threads, 3);
	CHECK(!lines_part(l, 3, &p));
	for (r.tid = 10; r.tid < 100; r.tid++)
		CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(only(l).threads, 94);
	CHECK(lines_part(l, 0, &p));
	CHECK_EQ(p.threads, 91);
	/* One that is not known. */
	r.has &= ~(uint32_t)TRACE_HAS_TID;
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(only(l).parts, 3);
	CHECK(lines_part(l, 0, &p));
	CHECK(!p.has_threads);
	CHECK_EQ(p.counts.reads, 92);
	lines_close(l);
}

TEST(processes_have_lines_of_their_own)
{
	struct lines *l = open_lines(64);
	struct trace_ref r = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_PID | TRACE_HAS_TID | TRACE_HAS_PHYSICAL,
		.kind = TRACE_KIND_WRITE,
		.physical = 0x12345,
		.count = 1,
	};
	struct lines_line line;

	for (uint32_t pid = 2; pid; pid--) {
		r.pid = r.tid = pid;
		r.address = 0x1005;
		CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
		r.address = UINT64_C(0xffff888000000000);
		CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	}
	CHECK_EQ(lines_sort(l, NULL), ATW_OK);
	CHECK(lines_get(l, 0, &line));
	CHECK_EQ(line.address, UINT64_C(0xffff888000000000));
	CHECK_EQ(line.verdict, LINES_TRUE_SHARED);
	CHECK(!line.has_pid);
	CHECK(lines_get(l, 1, &line));
	CHECK_EQ(line.pid, 1);
	CHECK_EQ(line.verdict, LINES_PRIVATE);
	CHECK(line.has_physical);
	CHECK_EQ(line.physical, 0x12340);
	CHECK_EQ(lines_find(l, 2, 0x1000), 2);
	/* The page was moved meanwhile. */
	r.pid = 1;
	r.address = 0x1005;
	r.physical = 0x99945;
	CHECK_EQ(lines_add(l, &r, NULL), ATW_OK);
	CHECK_EQ(lines_sort(l, NULL), ATW_OK);
	CHECK(lines_get(l, 1, &line));
	CHECK(!line.has_physical);
	lines_close(l);
}

TEST(what_is_beyond_the_limits_is_counted)
{
	const struct lines_opts o = {
		.most_lines = 2,
		.most_parts = 3,
		.most_masks = 3 * 3 * sizeof(uint64_t),
	};
	struct lines_line line;
	struct lines *l;

	CHECK_EQ(lines_open(&o, &l, NULL), ATW_OK);
	add(l, 1, TRACE_KIND_READ, 0x1000, 8, 1);
	add(l, 1, TRACE_KIND_READ, 0x2000, 8, 1);
	add(l, 1, TRACE_KIND_READ, 0x3000, 8, 7);
	CHECK_EQ(lines_sum(l)->left_out, 7);
	CHECK_EQ(lines_sum(l)->lines, 2);
	add(l, 2, TRACE_KIND_READ, 0x1008, 8, 1);
	add(l, 3, TRACE_KIND_WRITE, 0x1010, 8, 5);
	CHECK_EQ(lines_sum(l)->unmasked, 5);
	CHECK_EQ(lines_sum(l)->unlisted, 5);
	CHECK_EQ(lines_sort(l, NULL), ATW_OK);
	CHECK(lines_get(l, 0, &line));
	CHECK_EQ(line.verdict, LINES_UNDECIDED);
	CHECK_EQ(line.counts.refs, 7);
	CHECK(!line.has_threads);
	lines_close(l);
	/* Sums end at the largest number. */
	l = open_lines(64);
	add(l, 1, TRACE_KIND_READ, 0x1000, 8, UINT64_MAX);
	add(l, 1, TRACE_KIND_READ, 0x1000, 8, 2);
	CHECK_EQ(only(l).counts.reads, UINT64_MAX);
	lines_close(l);
}
