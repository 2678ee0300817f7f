/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A target has a source of memory exactly if it has memory, whatever the SOURCE is. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "target/target.h"
#include "test.h"

#define DUMP "tests/data/x86_64-tasks.kdump"

static const char *const part[] = { "x" };
static const struct atw_source_spec given = { .parts = part, .nparts = 1 };

static const char text[] =
	"H: atwalk-capture, 1\nH: release, 6.1.0-test\nH: machine, riscv64\n"
	"R: 00000000, 00FFFFFF, RAM\n"
	"T: task, 7, 00000001, 0, 0, 0, 0, 0, 0, 0\n"
	"V: 00001000, 00001FFF, 00001000, 00000000, -, -, n\n"
	"E: 6, 1, 1, 0\n";

static void check_capture(const char *name)
{
	char line[64] = "", path[64];
	struct atw_err err = { 0 };
	struct target *t = NULL;

	CHECK_EQ(target_open(name, NULL, NULL, &t, &err), ATW_OK);
	CHECK(!t->source);
	CHECK_STR(target_format(t), "capture");
	target_describe_format(t, line, sizeof(line));
	CHECK_STR(line, "capture, version 1");
	CHECK_STR(t->release, "6.1.0-test");
	CHECK_STR(t->machine, "riscv64");
	CHECK_EQ(t->caps, TARGET_TASKS | TARGET_PAGES | TARGET_RMAP);
	CHECK_EQ(target_need(t, TARGET_MEMORY, "this", &err), ATW_E_UNSUPPORTED);
	snprintf(path, sizeof(path), "%s", target_capture_path(t));
	CHECK_EQ(access(path, R_OK), 0);
	CHECK_EQ(target_attach(t, NULL, NULL, &err), ATW_OK);
	CHECK(!t->defective);
	target_close(t);
	CHECK(access(path, R_OK) < 0);
}

TEST(captures_of_files_and_pipes)
{
	int fd = memfd_create("capture", MFD_CLOEXEC), ends[2];
	char name[64], forced[80];
	struct atw_err err = { 0 };
	struct target *t = NULL;

	CHECK_EQ(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	snprintf(forced, sizeof(forced), "capture:%s", name);
	check_capture(name);
	check_capture(forced);
	CHECK_EQ(target_open(name, &given, NULL, &t, &err), ATW_E_USAGE);
	CHECK(strstr(err.text, ": a capture is one file"));
	close(fd);
	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(write(ends[1], text, sizeof(text) - 1), sizeof(text) - 1);
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	check_capture(name);
	close(ends[0]);
}

TEST(a_dump_is_none)
{
	struct atw_err err = { 0 };
	struct target *t = NULL;

	CHECK_EQ(target_open("capture:" DUMP, NULL, NULL, &t, &err), ATW_E_FORMAT);
	CHECK(!strncmp(err.text, DUMP ": not a capture: ", sizeof(DUMP) + 16));
	CHECK_EQ(target_open("capture:/nonexistent/x", NULL, NULL, &t, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "/nonexistent/x: No such file or directory");
	CHECK(!t);
	CHECK_EQ(target_open(DUMP, NULL, NULL, &t, &err), ATW_OK);
	CHECK(t->source);
	CHECK(!target_capture_path(t));
	CHECK_STR(target_format(t), "kdump");
	CHECK(target_has(t, TARGET_MEMORY | TARGET_TABLES));
	CHECK(!target_has(t, TARGET_RUNNING));
	target_close(t);
}

TEST(proc_needs_no_memory)
{
	struct atw_err err = { 0 };
	struct target *t = NULL;
	struct utsname u;

	uname(&u);
	CHECK_EQ(target_open("live:pagemap", &given, NULL, &t, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "live: a running kernel has no further parts");
	CHECK_EQ(target_open("live:pagemap", NULL, NULL, &t, &err), ATW_OK);
	CHECK(!t->source);
	CHECK(!target_fell_back(t, &err));
	CHECK_STR(target_format(t), "live");
	CHECK_STR(t->release, u.release);
	CHECK_EQ(t->cpus, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK(target_has(t, TARGET_RUNNING | TARGET_PAGES));
	CHECK_EQ(target_need(t, TARGET_MEMORY, "this", &err), ATW_E_UNSUPPORTED);
	target_close(t);
}

/* `live` has memory, or the reason why it has none. */
TEST(live_falls_back_with_a_reason)
{
	struct atw_err err = { 0 };
	struct target *t = NULL;

	CHECK_EQ(target_open("live", NULL, NULL, &t, &err), ATW_OK);
	if (t->source) {
		CHECK(target_has(t, TARGET_RUNNING | TARGET_MEMORY));
		CHECK(!target_fell_back(t, &err));
	} else {
		CHECK(target_fell_back(t, &err));
		CHECK_EQ(err.status, ATW_E_PERM);
		CHECK(*err.text && strncmp(err.text, "live: ", 6) != 0);
		CHECK_EQ(target_need(t, TARGET_MEMORY, "this", &err), ATW_E_PERM);
	}
	target_close(t);
	CHECK_EQ(target_open("live:magic", NULL, NULL, &t, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "live: 'magic' is no way to read the running kernel");
}
