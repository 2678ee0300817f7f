/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_live_types.c - members of the running kernel that are kept for the next command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/live_types.h"
#include "test.h"

static char folder[64], path[96];

static void begin(void)
{
	snprintf(folder, sizeof(folder), "/tmp/atwalk-types-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/here", folder);
}

static void end(void)
{
	unlink(path);
	rmdir(folder);
}

TEST(members_are_found_once)
{
	struct live_types t = { 0 }, again = { 0 };
	struct atw_err err = { 0 };

	begin();
	if (live_types_find(&t, folder, "here", &err) < 0) {
		end();
		SKIP(err.text);
	}
	CHECK(!t.recalled && t.read);
	CHECK(t.of_tasks.task_mm && t.of_tasks.mm_pgd && t.of_tasks.task_tgid);
	/* Nothing is kept before it has proved right. */
	CHECK(access(path, F_OK) < 0);
	live_types_keep(&t, folder, "here");

	CHECK_EQ(live_types_find(&again, folder, "here", &err), ATW_OK);
	CHECK(again.recalled && !again.read);
	CHECK(!memcmp(&again.of_tasks, &t.of_tasks, sizeof(t.of_tasks)));
	CHECK_EQ(again.pptrs, t.pptrs);
	/* All types are there once they are asked for. */
	CHECK_EQ(live_types_read(&again, &err), ATW_OK);
	CHECK_EQ(again.btf.n, t.btf.n);
	live_types_close(&again);
	live_types_close(&t);
	end();
}

TEST(a_file_that_proves_wrong_is_replaced)
{
	struct live_types t = { 0 }, wrong = { 0 };
	struct atw_err err = { 0 };
	uint32_t mm;

	begin();
	if (live_types_find(&t, NULL, "here", &err) < 0) {
		end();
		SKIP(err.text);
	}
	mm = t.of_tasks.task_mm;
	/* Whole, and of another kernel. */
	t.of_tasks.task_mm = mm + 8;
	live_types_keep(&t, folder, "here");
	live_types_close(&t);

	CHECK_EQ(live_types_find(&wrong, folder, "here", &err), ATW_OK);
	CHECK(wrong.recalled);
	CHECK_EQ(wrong.of_tasks.task_mm, mm + 8);
	CHECK_EQ(live_types_find_again(&wrong, &err), ATW_OK);
	CHECK(!wrong.recalled);
	CHECK_EQ(wrong.of_tasks.task_mm, mm);
	live_types_keep(&wrong, folder, "here");
	live_types_close(&wrong);

	CHECK_EQ(live_types_find(&t, folder, "here", &err), ATW_OK);
	CHECK(t.recalled);
	CHECK_EQ(t.of_tasks.task_mm, mm);
	live_types_close(&t);
	end();
}
