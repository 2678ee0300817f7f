/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report `thrash` derives faults and pressure from one snapshot to the next. */
#include "report_feed.h"

/* tgid 0: not recorded; start 0: likewise. */
static void task(struct feed *f, const char *name, uint64_t pid, uint64_t tgid, uint64_t start,
		 uint64_t minor, uint64_t major)
{
	const struct capture_task t = { .name = blob_of(name), .pid = pid, .tgid = tgid,
					.start = start, .minor = minor, .major = major };

	feed_event(f, (struct census_event){
		.what = CENSUS_ON_TASK, .task = &t,
		.task_has = CAPTURE_T_FAULTS | (tgid ? CAPTURE_T_TGID : 0) |
			    (start ? CAPTURE_T_START : 0) });
}

/* A snapshot with these values of the machine's counters. */
static void look(struct feed *f, const char *begun, const char *faults, const char *major,
		 const char *file, const char *some, const char *full)
{
	if (begun)
		feed_header(f, "begun", begun);
	feed_header(f, "vmstat.pgfault", faults);
	feed_header(f, "vmstat.pgmajfault", major);
	feed_header(f, "vmstat.pswpin", "7");
	feed_header(f, "vmstat.pswpout", "8");
	if (file) {
		feed_header(f, "vmstat.workingset_refault_anon", "100");
		feed_header(f, "vmstat.workingset_refault_file", file);
	}
	if (some) {
		feed_header(f, "pressure.some.total", some);
		feed_header(f, "pressure.full.total", full);
		feed_header(f, "pressure.some.avg10", "12.34");
		feed_header(f, "pressure.full.avg10", "0.09");
	}
}

TEST(the_thrashing_process_is_named)
{
	struct feed f = feed_open("thrash");

	look(&f, "1000.0", "5000", "300", "1000", "1000000", "500000");
	task(&f, "sleeper", 10, 10, 5, 100, 3);
	task(&f, "grinder", 20, 20, 6, 900, 200);
	task(&f, "grinder", 21, 20, 6, 77, 77);          /* its thread: counted above */
	task(&f, "gone", 30, 30, 7, 50, 50);
	feed_end(&f);
	look(&f, "1002.500", "7500", "2800", "9000", "2000000", "1000000");
	task(&f, "sleeper", 10, 10, 5, 100, 3);
	task(&f, "grinder", 20, 20, 6, 1000, 2650);
	task(&f, "fresh", 30, 30, 99, 40, 20);           /* a reused PID */
	task(&f, "busy", 40, 40, 98, 60, 20);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "look=2 seconds=2.500 task=(all) minor=0 major=2500 major_rate=1000.000 "
		  "refaults=8000 refault_rate=3200.000 swapin=0 swapout=0 some=0.400 full=0.200 "
		  "some10=0.123 full10=0.000\n"
		  "look=2 seconds=2.500 pid=20 task=grinder minor=100 major=2450 major_rate=980.000\n"
		  "look=2 pid=40 task=busy minor=60 major=20\n"
		  "look=2 pid=30 task=fresh minor=40 major=20\n"
		  "# thrashing: from look 1 to look 2 for 20.0% of the time all tasks waited for memory (10% is thrashing)\n"
		  "# most major faults: process 20 (grinder), 2450 of 2490 of the processes that are there at the end; "
		  "the kernel counted 10 more, such as those of processes that ended\n");
	feed_close(&f);
}

TEST(a_machine_at_rest)
{
	struct feed f = feed_open("thrash");

	look(&f, "50", "100", "10", "5", "10", "5");
	task(&f, "a", 1, 1, 1, 10, 1);
	feed_end(&f);
	look(&f, "60", "200", "10", "5", "200010", "50005");
	task(&f, "a", 1, 1, 1, 15, 1);
	feed_end(&f);
	look(&f, "70", "300", "12", "9", "300010", "60005");
	task(&f, "a", 1, 1, 1, 15, 3);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "look=2 seconds=10.000 task=(all) minor=100 major=0 major_rate=0.000 refaults=0 "
		  "refault_rate=0.000 swapin=0 swapout=0 some=0.020 full=0.005 some10=0.123 full10=0.000\n"
		  "look=2 seconds=10.000 pid=1 task=a minor=5 major=0 major_rate=0.000\n"
		  "look=3 seconds=10.000 task=(all) minor=98 major=2 major_rate=0.200 refaults=4 "
		  "refault_rate=0.400 swapin=0 swapout=0 some=0.010 full=0.001 some10=0.123 full10=0.000\n"
		  "look=3 seconds=10.000 pid=1 task=a minor=0 major=2 major_rate=0.200\n"
		  "# not thrashing: from look 1 to look 2 for 2.0% of the time some task waited for memory (20% is thrashing), which is the worst\n"
		  "# no process that is there had a major fault\n");
	feed_close(&f);
}

/* Of equal zeroes none is the worst. */
TEST(no_pressure_at_all)
{
	struct feed f = feed_open("thrash");
	const char *said;

	for (unsigned i = 0; i < 3; i++) {
		look(&f, i == 0 ? "50" : i == 1 ? "60" : "70", "100", "10", "5", "10", "5");
		feed_end(&f);
	}
	said = feed_finish(&f);
	CHECK(strstr(said, "# not thrashing: from look 1 to look 2 for 0.0%"));
	CHECK(!strstr(said, "worst"));
	feed_close(&f);
}

/* Pages of files that were never active count as no pressure. */
TEST(other_measures)
{
	struct feed f = feed_open("thrash");
	const char *said;

	look(&f, "10", "100", "10", "0", "0", "0");
	feed_end(&f);
	look(&f, "12", "9000", "9010", "2400", "20000", "20000");
	feed_end(&f);
	said = feed_finish(&f);
	CHECK(strstr(said, "refaults=2400 refault_rate=1200.000"));
	CHECK(strstr(said, "some=0.010 full=0.010"));
	CHECK(strstr(said, "# thrashing: from look 1 to look 2 1200 times a second a task waited for a page that had been reclaimed shortly before (1000 is thrashing)\n"));
	feed_close(&f);
	/* Files that are read again and again; pressure is not recorded. */
	f = feed_open("thrash");
	look(&f, "10", "100", "10", "0", NULL, NULL);
	feed_end(&f);
	look(&f, "12", "9000", "30", "9000000", NULL, NULL);
	feed_end(&f);
	said = feed_finish(&f);
	CHECK(!strstr(said, "some="));
	CHECK(strstr(said, "# not thrashing: from look 1 to look 2 10 times a second "));
	feed_close(&f);
	/* The measure of the LPMA paper. */
	f = feed_open("thrash");
	feed_header(&f, "begun", "10");
	task(&f, "slow", 9, 0, 0, 0, 100);
	feed_end(&f);
	feed_header(&f, "begun", "20");
	task(&f, "slow", 9, 0, 0, 0, 9100);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "look=2 seconds=10.000 task=(all) minor=0 major=9000 major_rate=900.000\n"
		  "look=2 seconds=10.000 pid=9 task=slow minor=0 major=9000 major_rate=900.000\n"
		  "# not thrashing: from look 1 to look 2 900 major faults a second (1000 is thrashing; refaults are not recorded)\n"
		  "# most major faults: process 9 (slow), 9000 of 9000 that processes had\n");
	feed_close(&f);
}

TEST(one_look)
{
	struct feed f = feed_open("thrash");

	look(&f, "10", "100", "10", "0", "5", "5");
	task(&f, "init", 1, 0, 0, 392597, 160);
	task(&f, "none", 2, 0, 0, 0, 0);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "look=1 pid=1 task=init minor=392597 major=160\n"
		  "# rates need two looks: these are all faults since each process began\n"
		  "# most major faults: process 1 (init), 160 of 160 that processes had since they began\n");
	feed_close(&f);
}

TEST(counters_that_go_back_and_no_times)
{
	struct feed f = feed_open("thrash");

	look(&f, NULL, "100", "10", "5", "10", "5");
	task(&f, "a", 1, 0, 0, 50, 50);
	task(&f, "b", 2, 0, 0, 50, 50);
	feed_end(&f);
	look(&f, NULL, "90", "20", "6", "9", "6");
	task(&f, "a", 1, 0, 0, 60, 10);          /* another one */
	task(&f, "b", 2, 0, 0, 50, 53);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "look=2 task=(all) major=10 refaults=1 swapin=0 swapout=0 some10=0.123 full10=0.000\n"
		  "look=2 pid=2 task=b minor=0 major=3\n"
		  "# cannot detect thrashing: vmstat counters or the times of the looks are missing\n"
		  "# most major faults: process 2 (b), 3 of 3 of the processes that are there at the end; "
		  "the kernel counted 7 more, such as those of processes that ended\n");
	feed_close(&f);
}

/* LPMA captures have no H: lines: neither counters nor timestamps. */
TEST(counters_of_tasks_alone)
{
	struct feed f = feed_open("thrash");

	task(&f, "init", 1, 0, 0, 392597, 160);
	task(&f, "tiny_sys", 19, 0, 0, 14, 7);
	feed_end(&f);
	task(&f, "init", 1, 0, 0, 392600, 161);
	task(&f, "tiny_sys", 19, 0, 0, 20, 48);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "look=2 task=(all) minor=9 major=42\n"
		  "look=2 pid=19 task=tiny_sys minor=6 major=41\n"
		  "look=2 pid=1 task=init minor=3 major=1\n"
		  "# cannot detect thrashing: the times of the looks are not known; from look 1 to look 2 processes had 42 major faults and 9 others\n"
		  "# most major faults: process 19 (tiny_sys), 41 of 42 that processes had\n");
	feed_close(&f);
	/* One snapshot lacks them, so the difference is unknown. */
	f = feed_open("thrash");
	task(&f, "init", 1, 0, 0, 392597, 160);
	feed_end(&f);
	feed_end(&f);
	CHECK(strstr(feed_finish(&f), "look=2 task=(all)\n"));
	feed_close(&f);
}

TEST(without_counters_there_is_no_verdict)
{
	struct feed f = feed_open("thrash");

	for (unsigned i = 0; i < 2; i++) {
		feed_header(&f, "begun", i ? "20" : "10");
		feed_end(&f);
	}
	CHECK_STR(feed_finish(&f),
		  "look=2 seconds=10.000 task=(all)\n"
		  "# cannot detect thrashing: vmstat counters or the times of the looks are missing\n"
		  "# faults of processes are not recorded\n");
	feed_close(&f);
}
