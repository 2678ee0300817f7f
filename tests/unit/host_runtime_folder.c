/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_runtime_folder.c - files that this user alone can have written. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/runtime_folder.h"

static char root[64], folder[128];

/* Valid until the next but one. */
static const char *path_of(const char *name)
{
	static char path[2][256];
	static unsigned turn;
	char *p = path[turn++ % 2];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void begin(void)
{
	snprintf(root, sizeof(root), "/tmp/atwalk-runtime.XXXXXX");
	CHECK(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/atwalk", root);
}

static void end(void)
{
	unlink(path_of("a"));
	rmdir(folder);
	rmdir(root);
}

/* Is the file "a" there, with this text? */
static bool has(const char *text)
{
	size_t len = 0;
	char *p = runtime_folder_read(folder, "a", 100, &len);
	bool same = p && len == strlen(text) && !memcmp(p, text, len);

	free(p);
	return same;
}

TEST(what_was_written_last_is_read)
{
	struct stat st;
	size_t len;

	begin();
	CHECK(!runtime_folder_read(folder, "a", 100, &len));
	runtime_folder_write(folder, "a", "first", 5);
	CHECK(has("first"));
	runtime_folder_write(folder, "a", "second", 6);
	CHECK(has("second"));
	CHECK(!stat(folder, &st) && (st.st_mode & 07777) == 0700);
	CHECK(!stat(path_of("a"), &st) && (st.st_mode & 07777) == 0600);
	/* Longer than asked for, and nothing. */
	CHECK(!runtime_folder_read(folder, "a", 5, &len));
	CHECK(!truncate(path_of("a"), 0));
	CHECK(!runtime_folder_read(folder, "a", 100, &len));
	end();
}

TEST(what_others_may_write_is_not_taken)
{
	begin();
	runtime_folder_write(folder, "a", "mine", 4);
	CHECK(has("mine"));
	CHECK(!chmod(path_of("a"), 0620));
	CHECK(!has("mine"));
	CHECK(!chmod(path_of("a"), 0600));
	CHECK(!chmod(folder, 0770));
	CHECK(!has("mine"));
	runtime_folder_write(folder, "a", "other", 5);
	CHECK(!chmod(folder, 0700));
	CHECK(has("mine"));
	if (!geteuid()) {
		CHECK(!chown(path_of("a"), 65534, 65534));
		CHECK(!has("mine"));
		CHECK(!chown(path_of("a"), 0, 0));
		CHECK(!chown(folder, 65534, 65534));
		CHECK(!has("mine"));
	}
	end();
}

TEST(links_are_not_followed)
{
	char other[160];

	begin();
	runtime_folder_write(folder, "a", "mine", 4);
	CHECK(!rename(path_of("a"), path_of("b")));
	CHECK(!symlink("b", path_of("a")));
	CHECK(!has("mine"));
	/* It is replaced, and what it leads to is not. */
	runtime_folder_write(folder, "a", "new", 3);
	CHECK(has("new"));
	CHECK(!rename(path_of("b"), path_of("a")));
	CHECK(has("mine"));
	snprintf(other, sizeof(other), "%s/real", root);
	CHECK(!rename(folder, other) && !symlink("real", folder));
	CHECK(!has("mine"));
	CHECK(!unlink(folder) && !rename(other, folder));
	end();
}

TEST(files_of_guests_that_have_ended_go)
{
	char name[64], gone[64] = "guest-4194303-1";

	begin();
	snprintf(name, sizeof(name), "guest-%ld-1", (long)getpid());
	runtime_folder_write(folder, gone, "x", 1);
	runtime_folder_write(folder, name, "x", 1);
	runtime_folder_write(folder, "a", "x", 1);
	CHECK(access(path_of(gone), F_OK) < 0);
	CHECK(!access(path_of(name), F_OK));
	unlink(path_of(name));
	end();
}

TEST(whose_it_is)
{
	char path[128];

	CHECK(!setenv("ATWALK_RUNTIME_DIR", "/a/b", 1));
	CHECK(runtime_folder_path(path, sizeof(path)));
	CHECK_STR(path, "/a/b");
	/* Nothing is kept. */
	CHECK(!setenv("ATWALK_RUNTIME_DIR", "", 1));
	CHECK(!runtime_folder_path(path, sizeof(path)));
	CHECK(!setenv("ATWALK_RUNTIME_DIR", "relative", 1));
	CHECK(!runtime_folder_path(path, sizeof(path)));
	CHECK(!unsetenv("ATWALK_RUNTIME_DIR"));
	CHECK(!setenv("XDG_RUNTIME_DIR", "/run/user/1", 1));
	CHECK(runtime_folder_path(path, sizeof(path)));
	CHECK_STR(path, geteuid() ? "/run/user/1/atwalk" : "/run/atwalk");
}
