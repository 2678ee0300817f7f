/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every frame gets its own word of /proc/kpageflags and /proc/kpagecount. */
#include "host/frame_words.h"

#include <sys/mman.h>
#include <unistd.h>

#include "random.h"
#include "test.h"

enum { FILE_FRAMES = 100000 };

static struct frames work;
static uint64_t pfn[FRAMES_MAX], got[FRAMES_MAX];

static uint64_t value(uint64_t frame)
{
	return frame * 0x9e3779b97f4a7c15 + 1;
}

/* A file with a word for each frame, as /proc/kpageflags. */
static int make_file(void)
{
	int fd = memfd_create("frames", MFD_CLOEXEC);

	for (uint64_t i = 0; i < FILE_FRAMES; i++) {
		uint64_t v = value(i);

		if (write(fd, &v, 8) != 8)
			return -1;
	}
	return fd;
}

/* In the order of a caller that searches for runs. */
static void sort(size_t n)
{
	frames_clear(&work);
	for (size_t i = 0, len; i < n; i += len) {
		size_t down = 0;

		for (len = 1; i + len < n && len < FRAMES_RUN && pfn[i] != UINT64_MAX &&
		     pfn[i + len] == pfn[i] + len; len++)
			;
		for (; len == 1 + down && i + len < n && down < FRAMES_RUN - 1 &&
		     pfn[i] != UINT64_MAX && pfn[i] >= len && pfn[i + len] == pfn[i] - len; len++)
			down++;
		if (down)
			frames_add_down(&work, pfn[i] - down, i + down, len);
		else if (pfn[i] != UINT64_MAX)
			frames_add(&work, pfn[i], i, len);
	}
	frames_sort(&work);
}

static bool all_right(int fd, size_t n)
{
	struct atw_err err = { 0 };

	for (size_t i = 0; i < n; i++)
		got[i] = 42;
	sort(n);
	if (frames_read(&work, fd, "file", UINT64_MAX, got, &err) != ATW_OK)
		return false;
	for (size_t i = 0; i < n; i++)
		if (got[i] != (pfn[i] == UINT64_MAX ? 42 :
			       pfn[i] < FILE_FRAMES ? value(pfn[i]) : UINT64_MAX))
			return false;
	return true;
}

TEST(every_frame_has_its_own_word)
{
	int fd = make_file();

	CHECK(fd >= 0);
	for (unsigned round = 0; round < 20; round++) {
		size_t n = random_any() % (FRAMES_MAX + 1);
		uint64_t range = round % 3 ? FILE_FRAMES : 50;

		for (size_t i = 0; i < n; i++)
			pfn[i] = random_any() % 16 ? random_any() % range : UINT64_MAX;
		CHECK(all_right(fd, n));
		for (size_t i = 0; i < n; i++)
			pfn[i] = i;
		CHECK(all_right(fd, n));
		for (size_t i = 0; i < n; i++)
			pfn[i] = n - i;
		CHECK(all_right(fd, n));
		/* Runs, and some of them on top of each other. */
		for (size_t i = 0; i < n; i++)
			pfn[i] = i && random_any() % 100 ? pfn[i - 1] + 1
							 : random_any() % FILE_FRAMES;
		CHECK(all_right(fd, n));
		/* As a kernel gives them out. */
		for (size_t i = 0; i < n; i++)
			pfn[i] = i && pfn[i - 1] && random_any() % 100
					 ? pfn[i - 1] - 1
					 : random_any() % FILE_FRAMES;
		CHECK(all_right(fd, n));
	}
	close(fd);
}

TEST(behind_the_end_of_the_file_is_none)
{
	int fd = make_file();

	CHECK(fd >= 0);
	pfn[0] = FILE_FRAMES - 1;
	pfn[1] = FILE_FRAMES;
	pfn[2] = FILE_FRAMES + 3;
	pfn[3] = (uint64_t)1 << 40;
	pfn[4] = ((uint64_t)1 << 48) - 1;
	pfn[5] = 0;
	CHECK(all_right(fd, 6));
	close(fd);
}

TEST(no_frames_at_all)
{
	CHECK(all_right(-1, 0));
	pfn[0] = UINT64_MAX;
	CHECK(all_right(-1, 1));
}

TEST(a_file_that_cannot_be_read)
{
	struct atw_err err = { 0 };

	pfn[0] = 1;
	sort(1);
	CHECK_EQ(frames_read(&work, -1, "/proc/x", 0, got, &err), ATW_E_IO);
	CHECK(strstr(err.text, "/proc/x: "));
}
