/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files are identified by device and inode, and
 * copies are joined by build id or shared frames.
 */
#include "base/bytes.h"
#include "census/unit.h"
#include "test.h"

static struct units units;

/* The file of an area; minor 0: device and inode are missing. */
static struct unit *of(const char *name, uint64_t minor, uint64_t inode, const char *build)
{
	struct capture_area v = {
		.name = blob_of(name), .dev = {8, minor}, .inode = inode};
	uint32_t has = minor ? CAPTURE_V_DEV | CAPTURE_V_INODE : 0;
	struct unit *u = NULL;

	if (build) {
		has |= CAPTURE_V_BUILD;
		v.build.len = strlen(build);
		memcpy(v.build.b, build, v.build.len);
	}
	if (!units_of(&units, &v, has, &u))
		TEST_FAIL("no memory");
	return u;
}

TEST(what_identifies_a_file)
{
	struct unit *a = of("/lib/a", 1, 7, NULL);

	CHECK(a && a->u.keyed && a->u.number == 0);
	CHECK(of("/lib/other-name", 1, 7, NULL) == a);
	CHECK(of("/lib/a", 1, 8, NULL) != a);
	CHECK(of("/lib/a", 2, 7, NULL) != a);
	CHECK(of("/lib/a", 1, 7, NULL) == a);
	/* By name, where nothing else is known; that is not the same file. */
	CHECK(of("/lib/a", 0, 0, NULL) != a);
	CHECK(of("/lib/a", 0, 0, NULL) == of("/lib/a", 0, 0, NULL));
	CHECK(of("/lib/a", 1, 0, NULL) == of("/lib/a", 0, 0, NULL));
	CHECK(!of(NULL, 0, 0, NULL) && !of("[heap]", 0, 0, NULL) && !of("", 0, 0, NULL));
	CHECK_EQ(units.n, 4);
	units_deinit(&units);
}

TEST(kinds)
{
	static const struct {
		const char *name;
		enum unit_kind kind;
		const char *shown;
		bool deleted;
	} all[] = {
		{ "/bin/a", UNIT_FILE, "/bin/a", false },
		{ "/bin/a (deleted)", UNIT_FILE, "/bin/a", true },
		{ " (deleted)", UNIT_FILE, " (deleted)", false },
		{ "/memfd:x (deleted)", UNIT_MEMFD, "/memfd:x", false },
		{ "/SYSV00000001 (deleted)", UNIT_SYSV, "/SYSV00000001", false },
		{ "/SYSV00000001", UNIT_FILE, "/SYSV00000001", false },
		{ "/dev/zero (deleted)", UNIT_ZERO, "/dev/zero", false },
		{ "/dev/shm/a (deleted)", UNIT_TMPFS, "/dev/shm/a", false },
		{ "/dev/hugepages/a", UNIT_FILE, "/dev/hugepages/a", false },
		{ "/anon_hugepage (deleted)", UNIT_HUGE, "/anon_hugepage", false },
		{ "/dev/mem", UNIT_DEVICE, "/dev/mem", false },
		{ "/dmabuf:x", UNIT_DEVICE, "/dmabuf:x", false },
		{ "anon_inode:[perf_event]", UNIT_OTHER, "anon_inode:[perf_event]", false },
		{ "socket:[5]", UNIT_OTHER, "socket:[5]", false },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct unit *u = of(all[i].name, 1, 100 + i, NULL);

		CHECK_EQ(u->kind, all[i].kind);
		CHECK_STR(u->u.name, all[i].shown);
		CHECK_EQ(u->u.deleted, all[i].deleted);
	}
	/* Numbers of SysV's own may be those of a file of the same kernel mount. */
	CHECK(of("/memfd:x (deleted)", 1, 50, NULL) != of("/SYSV00000001 (deleted)", 1, 50, NULL));
	units_deinit(&units);
}

/* Deleted while processes were looked at: it is one file, and gone. */
TEST(deleted_meanwhile)
{
	struct unit *u = of("/lib/a", 1, 7, NULL);

	CHECK(!u->u.deleted);
	CHECK(of("/lib/a (deleted)", 1, 7, NULL) == u);
	CHECK(u->u.deleted);
	CHECK_STR(u->u.name, "/lib/a");
	units_deinit(&units);
}

TEST(equal_builds)
{
	struct unit *a = of("/x/a", 1, 1, "build"), *b = of("/y/a", 2, 9, "build");
	struct unit *gone = of("/x/a (deleted)", 1, 2, "build");
	struct unit *also = of("/z/a (deleted)", 3, 2, "build"), *c = of("/x/c", 1, 3, "other");

	CHECK(a != b && unit_root(b) == a && unit_root(a) == a);
	CHECK(census_unit_root(&b->u) == &a->u && !census_unit_root(NULL));
	/* Its successor is another, and so is its memory. */
	CHECK(unit_root(gone) == gone && unit_root(also) == gone);
	CHECK(unit_root(c) == c);
	units_deinit(&units);
}

TEST(equal_frames)
{
	struct unit *a = of("/x/a", 1, 1, NULL), *b = of("/y/a", 2, 9, NULL);
	struct unit *c = of("/y/c", 2, 10, NULL), *m = of("/memfd:x (deleted)", 3, 1, NULL);

	CHECK(units_frame(&units, a, 0x1000) && units_frame(&units, c, 0x2000));
	CHECK(units_frame(&units, b, 0x1000) && units_frame(&units, m, 0x1000));
	CHECK(unit_root(b) == a && unit_root(c) == c && unit_root(m) == m);
	/* One frame is enough: another one later is of a file that was replaced. */
	CHECK(units_frame(&units, c, 0x1000));
	CHECK(unit_root(c) == c);
	units_deinit(&units);
}

/* Both ways at once, whatever order: one file, the first that was met. */
TEST(chains_of_copies)
{
	struct unit *a = of("/a", 1, 1, NULL), *b = of("/b", 1, 2, "one"), *c = of("/c", 1, 3, "one");

	CHECK(unit_root(c) == b);
	CHECK(units_frame(&units, c, 0x1000) && units_frame(&units, a, 0x1000));
	CHECK(unit_root(a) == a && unit_root(b) == a && unit_root(c) == a);
	c->u.code = true;
	units_deinit(&units);
}

TEST(program_headers)
{
	struct capture_file f = {
		.dev = { 8, 1 }, .inode = 1, .name = blob_of("/a"),
		.loads = blob_of("0:1000:2000:3000:5|6DB0:7DB0:1250:3300:C"),
	};
	struct unit *u = units_add(&units, &f, CAPTURE_U_LOADS);

	CHECK(u && u->nloads == 2);
	CHECK_EQ(u->load[0].va, 0x1000);
	CHECK_EQ(u->load[1].flags, CAPTURE_LOAD_RELRO | CAPTURE_LOAD_READ);
	CHECK(of("/a", 1, 1, NULL) == u);
	/* A repeated line adds nothing. */
	CHECK(units_add(&units, &f, CAPTURE_U_LOADS) == u && u->nloads == 2);
	units_deinit(&units);
}

/* More than any table begins with. */
TEST(many)
{
	char name[32];

	for (unsigned i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "/lib/%u", i);
		CHECK_EQ(of(name, 1 + i % 3, 1 + i, i % 2 ? name : NULL)->u.number, i);
		units_frame(&units, units.v[i], (uint64_t)i << 12);
	}
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "/lib/%u", i);
		CHECK_EQ(of(name, 1 + i % 3, 1 + i, NULL)->u.number, i);
		CHECK(unit_root(units.v[i]) == units.v[i]);
	}
	units_deinit(&units);
	CHECK(!units.n);
}
