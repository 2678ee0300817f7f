/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture is read as lines, and the lines of one task are read again, plain and packed.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pack.h"
#include "target/captured.h"
#include "test.h"

enum { TASKS = 3000 };

static char text[1 << 20];

/* 3000 tasks, a line each and one of an area; one of them behind a line too long. */
static size_t write_text(void)
{
	size_t n = (size_t)snprintf(text, sizeof(text), "H: atwalk-capture, 1\nR: 00000000, 00FFFFFF, RAM\n");

	for (int i = 0; i < TASKS; i++) {
		if (i == TASKS / 2) {
			memset(text + n, 'x', CAPTURE_LINE + 5);
			n += CAPTURE_LINE + 5;
			text[n++] = '\n';
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "T: task, %d, 00000001, 0, 0, 0, 0, 0, 0, 0\n"
				      "V: 00001000, 00001FFF, 00001000, 00000000, -, -, n%d\n", i, i);
	}
	return n + (size_t)snprintf(text + n, sizeof(text) - n, "E: %d, %d, %d, 0\n",
				    3 + 2 * TASKS, TASKS, TASKS);
}

/* -1: this build cannot pack. */
static void file_of(int level, int *ret)
{
	int fd = memfd_create("capture", MFD_CLOEXEC);
	struct atw_err err = { 0 };
	struct pack *p;
	size_t n = write_text();

	CHECK(fd >= 0);
	if (pack_open(fd, level, &p, &err) == ATW_E_UNSUPPORTED) {
		close(fd);
		return;
	}
	CHECK_EQ(pack_write(p, text, n, &err), ATW_OK);
	CHECK_EQ(pack_end(p, &err), ATW_OK);
	pack_close(p);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	*ret = fd;
}

static void read_all(int level)
{
	static struct capture_mark mark[TASKS];
	struct capture_stream *s = NULL;
	struct capture_record rec;
	struct atw_err err = { 0 };
	uint64_t lines = 0;
	int fd = -1, r, n = 0, faults = 0;

	file_of(level, &fd);
	if (fd < 0)
		return;
	CHECK_EQ(capture_stream_open(fd, &s, &err), ATW_OK);
	while ((r = capture_stream_next(s, &rec)) != ATW_END) {
		CHECK(!s->fatal);
		faults += r < 0;
		if (r == ATW_OK && rec.letter == 'T' && n < TASKS)
			mark[n++] = s->mark;
	}
	lines = s->rd.line;
	CHECK_EQ(n, TASKS);
	CHECK_EQ(faults, 1);
	CHECK_EQ(lines, 4 + 2 * TASKS);
	/* Forward and back, within what is in memory and beyond. */
	for (int i = 0, at = 0; i < 200; i++, at = (at * 7 + 1501) % TASKS) {
		CHECK_EQ(capture_stream_seek(s, &mark[at], &err), ATW_OK);
		CHECK_EQ(capture_stream_next(s, &rec), ATW_OK);
		CHECK_EQ(rec.letter, 'T');
		CHECK_EQ(rec.t.pid, at);
		CHECK_EQ(s->rd.line, mark[at].line + 1);
		CHECK_EQ(capture_stream_next(s, &rec), ATW_OK);
		CHECK_EQ(rec.letter, 'V');
	}
	/* To the end from there, which is whole if the counts were not wrong before. */
	CHECK_EQ(capture_stream_seek(s, &mark[TASKS - 1], &err), ATW_OK);
	for (n = 0; (r = capture_stream_next(s, &rec)) == ATW_OK; n++)
		;
	CHECK_EQ(n, 2);
	CHECK_EQ(s->rd.line, lines);
	/* A task that is read again is not one more. */
	CHECK_EQ(s->rd.tasks, TASKS);
	capture_stream_close(s);
	close(fd);
}

TEST(plain)
{
	read_all(0);
}

TEST(packed)
{
	read_all(3);
}

TEST(what_is_none)
{
	struct capture_stream *s = NULL;
	struct atw_err err = { 0 };
	int fd = memfd_create("none", MFD_CLOEXEC);

	CHECK_EQ(capture_stream_open(fd, &s, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "is empty");
	CHECK_EQ(write(fd, "nothing\n", 8), 8);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(capture_stream_open(fd, &s, &err), ATW_E_FORMAT);
	CHECK(strstr(err.text, "not a capture"));
	CHECK(!s);
	close(fd);
}
