/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of tasks and of the machine are read from /proc; hidden ones are unknown. */
#include "target/info.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "host/nodes.h"
#include "test.h"

/* ---- /proc/PID/stat ---- */

#define TO_22 "13715 (a (b) c) S 13714 1 1 0 -1 4194560 16492 1885601 3 602 17 18 19 20 20 0 4 0 3653709 "
#define TO_52 "7999488 1024 18446744073709551615 94664372068352 94664372857757 140725604943616 0 0 0 " \
	"65536 4 65538 1 0 0 17 1 0 0 0 0 0 94664373091056 94664373139300 94665288425472 1 2 3 4 0\n"

TEST(a_task_as_proc_tells_it)
{
	struct task_about a;

	CHECK_EQ(about_stat(blob_of(TO_22 TO_52), &a), ATW_OK);
	CHECK_STR(a.name, "a (b) c");
	CHECK_EQ(a.t.name.len, 7);
	CHECK_EQ(a.t.pid, 13715);
	CHECK_EQ(a.t.ppid, 13714);
	CHECK_EQ(a.t.minor, 16492);
	CHECK_EQ(a.t.child_minor, 1885601);
	CHECK_EQ(a.t.major, 3);
	CHECK_EQ(a.t.child_major, 602);
	CHECK_EQ(a.t.user, 17);
	CHECK_EQ(a.t.system, 18);
	CHECK_EQ(a.t.threads, 4);
	CHECK_EQ(a.t.start, 3653709);
	CHECK_EQ(a.t.code.a, 94664372068352);
	CHECK_EQ(a.t.code.b, 94664372857757);
	CHECK_EQ(a.t.stack, 140725604943616);
	CHECK_EQ(a.t.cpu, 1);
	CHECK_EQ(a.t.data.b, 94664373139300);
	CHECK_EQ(a.t.brk.a, 94665288425472);
	CHECK_EQ(a.has, CAPTURE_T_TGID | CAPTURE_T_PPID | CAPTURE_T_START | CAPTURE_T_CODE |
		 CAPTURE_T_DATA | CAPTURE_T_STACK | CAPTURE_T_THREADS | CAPTURE_T_CPU |
		 CAPTURE_T_FAULTS | CAPTURE_T_TIMES | CAPTURE_T_KTHREAD);
	CHECK(!a.t.kthread);
}

TEST(what_is_hidden_is_not_known)
{
	struct task_about a;

	/* Without permission to trace the process, the file shows 1 and 0. */
	CHECK_EQ(about_stat(blob_of(TO_22 "0 0 0 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0"), &a),
		 ATW_OK);
	CHECK(!(a.has & (CAPTURE_T_CODE | CAPTURE_T_DATA | CAPTURE_T_STACK)));
	CHECK_EQ(a.t.brk.a, 0);
	/* Kernels of long ago end there. */
	CHECK_EQ(about_stat(blob_of(TO_22), &a), ATW_OK);
	CHECK(!(a.has & (CAPTURE_T_CODE | CAPTURE_T_CPU)));
}

TEST(no_line_of_stat)
{
	static const char *const bad[] = {
		"", "1", "(a) S 1", "x (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
		"1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18", ")(", "1 )(",
	};
	struct task_about a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (about_stat(blob_of(bad[i]), &a) != ATW_E_FORMAT)
			TEST_FAIL("'%s' is one", bad[i]);
}

/* ---- /proc/PID/cgroup ---- */

TEST(the_group_that_pays_for_its_memory)
{
	char name[64];

	CHECK(about_cgroup(blob_of("0::/user.slice/a\n"), name, sizeof(name)));
	CHECK_STR(name, "/user.slice/a");
	CHECK(about_cgroup(blob_of("9:cpu,cpuacct:/x\n4:memory:/m\n0::/u\n"), name,
			   sizeof(name)));
	CHECK_STR(name, "/m");
	CHECK(about_cgroup(blob_of("0::/u\n3:hugetlb,memory,pids:/m:2"), name,
			   sizeof(name)));
	CHECK_STR(name, "/m:2");
	CHECK(about_cgroup(blob_of("0::/\n7:memoryless,xmemory:/m\n"), name,
			   sizeof(name)));
	CHECK_STR(name, "/");
	CHECK(!about_cgroup(blob_of("4:pids:/a\n1:name=systemd:/b\n"), name,
			    sizeof(name)));
	CHECK(!about_cgroup(blob_of(""), name, sizeof(name)));
	CHECK(!about_cgroup(blob_of("no colon\n"), name, sizeof(name)));
	CHECK(!about_cgroup(blob_of("0::/longer\n"), name, 7));
	CHECK(about_cgroup(blob_of("0::/fits\n"), name, 6));
}

/* ---- ranges of RAM and their nodes ---- */

static int on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	char line[256];

	(void)err;
	buf_add(arg, line, capture_write(rec, line, sizeof(line)));
	return ATW_OK;
}

/*
 * Node 0 up to 1M, then an unknown node, then node 1 from 3M on in ranges of 1M. Zones DMA and
 * Normal meet at 4M; what two zones span is of no known one.
 */
static void place_of(void *arg, uint64_t pa, struct about_place *ret, uint64_t *last)
{
	uint64_t end = pa | 0xfffff;

	if (end < *last)
		*last = end;
	ret->node = pa >= 0x300000;
	ret->has_node = pa < 0x100000 || pa >= 0x300000;
	about_zone(arg, 12, pa, ret, last);
}

TEST(ranges_are_cut_where_a_node_or_a_zone_ends)
{
	struct zone_span span[] = {
		{ 1, 0x100, 0, "DMA" }, { 0x100, 0x400, 0, "DMA" }, { 0x300, 0x400, 1, "DMA" },
		{ 0x400, 0x700, 1, "Normal" }, { 0x480, 0x490, 1, "Movable" },
	};
	struct zone_spans zones = { .v = span, .n = ARRAY_SIZE(span) };
	struct extents x = { 0 };
	struct buf text = { 0 };
	const struct about_to to = { on_record, &text, NULL };

	CHECK_EQ(extents_add(&x, 0x1000, 0x4ff000, 0, ATW_DATA, NULL), ATW_OK);
	CHECK_EQ(extents_add(&x, 0x600000, 0x800, 0, ATW_DATA, NULL), ATW_OK);
	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK_EQ(about_ram(&to, &x, place_of, &zones, NULL), ATW_OK);
	CHECK_STR(text.data,
		  "R: 00001000, 000FFFFF, System RAM, node=0, zone=DMA\n"
		  "R: 00100000, 002FFFFF, System RAM, zone=DMA\n"
		  "R: 00300000, 003FFFFF, System RAM, node=1, zone=DMA\n"
		  "R: 00400000, 0047FFFF, System RAM, node=1, zone=Normal\n"
		  "R: 00480000, 0048FFFF, System RAM, node=1\n"
		  "R: 00490000, 004FFFFF, System RAM, node=1, zone=Normal\n"
		  "R: 00600000, 006007FF, System RAM, node=1, zone=Normal\n");
	buf_deinit(&text);
	extents_deinit(&x);
}

/* ---- ourselves ---- */

TEST(ourselves)
{
	static struct task_about a;
	char exe[4096] = "";
	struct atw_err err = { 0 };

	CHECK_EQ(about_proc((uint32_t)getpid(), (uint32_t)getpid(), 0, &a, NULL), ATW_OK);
	CHECK_EQ(a.t.ppid, getppid());
	CHECK_EQ(a.t.threads, 1);
	CHECK_EQ(a.t.uid, getuid());
	CHECK(a.has & CAPTURE_T_EXE && readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	CHECK_STR(a.exe, exe);
	/* Under valgrind it is the program's that runs us. */
	CHECK(a.t.code.a && a.t.code.a < a.t.code.b && a.t.brk.a <= a.t.brk.b);
	CHECK_EQ(about_proc(4194305, 4194305, 0, &a, &err), ATW_E_MISSING);
}
