/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report `growth` computes slopes exactly, to the byte. */
#include "report_feed.h"

static void look(struct feed *f, const char *begun)
{
	if (begun)
		feed_header(f, "begun", begun);
}

struct part {
	enum census_class class;
	uint64_t pages, swapped;
};

static void process(struct feed *f, const char *name, uint64_t pid, uint64_t start,
		    const struct part *part, size_t n)
{
	const struct capture_task t = {.name = blob_of(name), .pid = pid, .start = start};
	const struct census_process p = { .task = &t, .name = name, .pid = pid,
					  .task_has = start ? CAPTURE_T_START : 0 };

	feed_event(f, (struct census_event){ .what = CENSUS_ON_PROCESS, .process = &p });
	for (size_t i = 0; i < n; i++) {
		const struct census_area a = { .process = &p, .class = part[i].class };
		const struct census_pages none = { .area = &a, .pages = 1000 };
		const struct census_pages in = { .area = &a, .pages = part[i].pages, .present = true };
		const struct census_pages zero = { .area = &a, .pages = 500, .present = true, .zero = true };
		const struct census_pages out = { .area = &a, .pages = part[i].swapped, .swapped = true };

		feed_event(f, (struct census_event){ .what = CENSUS_ON_PAGES, .pages = &none });
		feed_event(f, (struct census_event){ .what = CENSUS_ON_PAGES, .pages = &in });
		feed_event(f, (struct census_event){ .what = CENSUS_ON_PAGES, .pages = &zero });
		feed_event(f, (struct census_event){ .what = CENSUS_ON_PAGES, .pages = &out });
	}
	feed_event(f, (struct census_event){ .what = CENSUS_ON_PROCESS_END, .process = &p });
}

/* The heap: 10, 14, 15, 21 pages at 0, 1, 3 and 4 seconds. */
TEST(slopes_to_the_byte)
{
	static const char *const begun[] = { "100.5", "101.500", "103.5", "104.5" };
	static const uint64_t heap[] = { 10, 14, 15, 21 }, data[] = { 7, 7, 7, 7 },
		stack[] = { 9, 8, 9, 5 }, anon[] = { 0, 0, 4, 4 };
	struct feed f = feed_open("growth");

	for (unsigned i = 0; i < 4; i++) {
		const struct part leaky[] = {
			{ CENSUS_HEAP, heap[i] - (i == 3 ? 6 : 0), i == 3 ? 6 : 0 },
			{ CENSUS_DATA, data[i], 0 }, { CENSUS_STACK, stack[i], 0 },
			{ CENSUS_ANON, anon[i], 0 },
		};
		const struct part text = { CENSUS_TEXT, 10 + i, 0 };

		look(&f, begun[i]);
		process(&f, "leaky", 7, 70, leaky, 4);
		process(&f, "still", 8, 80, leaky + 1, 1);
		process(&f, "reader", 9, 90, &text, 1);
		feed_end(&f);
	}
	/*
	 * n 4, sum t 8, t^2 26; y of heap 60, t*y 143 pages: (4*143 - 8*60) / (104 - 64) =
	 * 2.3 pages a second. Stack: y 31, t*y 55: -0.7. Anon: y 8, t*y 28: 1.2. Text: y
	 * 46, t*y 99: 0.7.
	 */
	CHECK_STR(feed_finish(&f),
		  "pid=7 task=leaky class=heap looks=4 first=40960 last=86016 change=+45056 rate=+9421 suspect=leak,\n"
		  "pid=7 task=leaky class=anon looks=4 first=0 last=16384 change=+16384 rate=+4915 suspect=\n"
		  "pid=9 task=reader class=text looks=4 first=40960 last=53248 change=+12288 rate=+2867 suspect=\n"
		  "pid=7 task=leaky class=stack looks=4 first=36864 last=20480 change=-16384 rate=-2867 suspect=\n"
		  "# suspected leak: process 7 (leaky): heap grew from each of 4 looks to the next, by 44K, 9.2K a second\n");
	feed_close(&f);
}

/* A reused PID is another process; a process that ended keeps its last value. */
TEST(reused_pids_are_separate_processes)
{
	struct feed f = feed_open("growth");

	for (uint64_t i = 0; i < 3; i++) {
		const struct part heap = { CENSUS_HEAP, 10 + i, 0 };

		look(&f, i == 0 ? "0" : i == 1 ? "10" : "20");
		process(&f, i ? "new" : "old", 5, i ? 500 : 50, &heap, 1);
		if (i < 2)
			process(&f, "ends", 6, 60, &heap, 1);
		if (i != 1)
			process(&f, "away", 7, 0, &heap, 1);
		process(&f, "twice", 8, 0, &heap, 1);
		process(&f, "twice", 8, 0, &heap, 1);
		feed_end(&f);
	}
	CHECK_STR(feed_finish(&f),
		  "pid=7 task=away class=heap looks=2 first=40960 last=49152 change=+8192 rate=+410 suspect=\n"
		  "pid=8 task=twice class=heap looks=3 first=40960 last=49152 change=+8192 rate=+410 suspect=\n"
		  "pid=6 task=ends class=heap looks=2 first=40960 last=45056 change=+4096 rate=+410 suspect=\n"
		  "pid=5 task=new class=heap looks=2 first=45056 last=49152 change=+4096 rate=+410 suspect=\n"
		  "# no leak is suspected\n");
	feed_close(&f);
}

TEST(snapshots_without_a_rate)
{
	const struct part a = { CENSUS_ANON, 1, 0 }, b = { CENSUS_ANON, 2, 0 };
	struct feed f = feed_open("growth");

	look(&f, "1");
	process(&f, "one", 1, 1, &a, 1);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "# growth needs two looks: give two or more captures, in order\n");
	feed_close(&f);
	/* The snapshots are not in chronological order. */
	f = feed_open("growth");
	look(&f, "9");
	process(&f, "one", 1, 1, &a, 1);
	feed_end(&f);
	look(&f, "8");
	process(&f, "one", 1, 1, &b, 1);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "! -1 was taken before the one in front of it: looks are given in their order\n");
	feed_close(&f);
	f = feed_open("growth");
	for (unsigned i = 0; i < 3; i++) {
		look(&f, NULL);
		process(&f, "one", 1, 1, i == 1 ? &a : &b, 1);
		feed_end(&f);
	}
	CHECK_STR(feed_finish(&f),
		  "pid=1 task=one class=anon looks=3 first=8192 last=8192 change=+0 suspect=\n"
		  "# no leak is suspected\n");
	feed_close(&f);
}

/* A change is reported without timestamps, too. */
TEST(only_what_changed)
{
	static const char *const begun[][3] = {
		{ "1", "2", "3" }, { "1", "1", "1" }, { NULL, NULL, NULL },
	};

	for (unsigned way = 0; way < 3; way++) {
		struct feed f = feed_open("growth");

		for (unsigned i = 0; i < 3; i++) {
			const struct part part[] = {
				{ CENSUS_HEAP, 5, 0 }, { CENSUS_DATA, i == 1 ? 6 : 5, 0 },
			};

			look(&f, begun[way][i]);
			process(&f, "one", 1, 1, part, 2);
			feed_end(&f);
		}
		CHECK_STR(feed_finish(&f),
			  way ? "pid=1 task=one class=data looks=3 first=20480 last=20480 change=+0 suspect=\n"
				"# no leak is suspected\n"
			      : "pid=1 task=one class=data looks=3 first=20480 last=20480 change=+0 rate=+0 suspect=\n"
				"# no leak is suspected\n");
		feed_close(&f);
	}
}

/* Collecting takes memory: the collecting process has no row and is never suspected. */
TEST(the_collecting_process_is_left_out)
{
	struct feed f = feed_open_with("growth", &(struct census_report_opts){ .self = 3 });

	for (uint64_t i = 0; i < 3; i++) {
		const struct part heap = { CENSUS_HEAP, 5 + 8 * i, 0 };

		look(&f, i == 0 ? "0" : i == 1 ? "1" : "2");
		process(&f, "atwalk", 3, 30, &heap, 1);
		process(&f, "atwalk", 4, 40, &heap, 1);
		feed_end(&f);
	}
	CHECK_STR(feed_finish(&f),
		  "pid=4 task=atwalk class=heap looks=3 first=20480 last=86016 change=+65536 rate=+32768 suspect=leak,\n"
		  "# suspected leak: process 4 (atwalk): heap grew from each of 3 looks to the next, by 64K, 32K a second\n"
		  "# process 3 (atwalk) is left out: it is the collector\n");
	feed_close(&f);
}

/* 28 KiB are no leak, and 32 KiB are. */
TEST(a_few_pages_are_no_leak)
{
	struct feed f = feed_open("growth");
	const char *said;

	for (uint64_t i = 0; i < 3; i++) {
		const struct part few = { CENSUS_HEAP, 5 + (i > 1 ? 7 : i), 0 };
		const struct part more = { CENSUS_HEAP, 5 + (i > 1 ? 8 : i), 0 };

		look(&f, i == 0 ? "0" : i == 1 ? "1" : "2");
		process(&f, "few", 3, 30, &few, 1);
		process(&f, "more", 4, 40, &more, 1);
		feed_end(&f);
	}
	said = feed_finish(&f);
	CHECK(strstr(said, "task=few class=heap looks=3 first=20480 last=49152 change=+28672"));
	CHECK(strstr(said, "suspected leak: process 4 (more): heap"));
	CHECK(!strstr(said, "(few)"));
	feed_close(&f);
}

/* Each capture identifies the process that wrote it. */
TEST(the_collector_of_a_capture_is_left_out)
{
	struct feed f = feed_open("growth");

	for (uint64_t i = 0; i < 3; i++) {
		const struct part heap = { CENSUS_HEAP, 5 + 8 * i, 0 };

		look(&f, i == 0 ? "0" : i == 1 ? "1" : "2");
		if (i < 2)
			feed_header(&f, "collector", i ? "9" : "8");
		process(&f, "a", 7, 70, &heap, 1);
		process(&f, "b", 8, 80, &heap, 1);
		process(&f, "c", 9, 90, &heap, 1);
		feed_end(&f);
	}
	CHECK_STR(feed_finish(&f),
		  "pid=7 task=a class=heap looks=3 first=20480 last=86016 change=+65536 rate=+32768 suspect=leak,\n"
		  "pid=9 task=c class=heap looks=2 first=20480 last=86016 change=+65536 rate=+32768 suspect=\n"
		  "pid=8 task=b class=heap looks=2 first=53248 last=86016 change=+32768 rate=+32768 suspect=\n"
		  "# suspected leak: process 7 (a): heap grew from each of 3 looks to the next, by 64K, 32K a second\n"
		  "# process 9 (c) is left out: it is the collector\n");
	feed_close(&f);
}

/* The largest numbers that a file can hold cause no overflow. */
TEST(huge_numbers)
{
	const struct part huge = { CENSUS_HEAP, UINT64_MAX, UINT64_MAX };
	const struct part none = { CENSUS_HEAP, 0, 0 };
	struct feed f = feed_open("growth");

	for (unsigned i = 0; i < 4; i++) {
		look(&f, i == 0 ? "0" : i == 1 ? "1099511627" : i == 2 ? "1099511627.775" :
			 "18446744073709550");
		process(&f, "huge", UINT64_MAX, UINT64_MAX, i & 1 ? &huge : &none, 1);
		feed_end(&f);
	}
	CHECK_STR(feed_finish(&f),
		  "pid=18446744073709551615 task=huge class=heap looks=4 first=0 last=4503599627370496 change=+4503599627370496 suspect=\n"
		  "# no leak is suspected\n");
	feed_close(&f);
}
