/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces are read from files and pipes, in pieces of any size. */
#include "trace/reader.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

static struct atw_err err;

static struct trace_reader *reader_of(const char *text, size_t len)
{
	struct trace_reader *r = NULL;
	char path[64];
	int fd = memfd_create("trace", 0);

	err = (struct atw_err){ 0 };
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace_reader_open(path, NULL, NULL, &r, &err);
	close(fd);
	return r;
}

TEST(lines_and_an_end_without_a_line_end)
{
	static const char text[] = "pid,addr\n1,0x10\n\n1,0x20\r\n1,x\n1,0x30";
	struct trace_reader *r = reader_of(text, sizeof(text) - 1);
	struct trace_ref ref;
	struct atw_blob line;

	CHECK(r);
	CHECK_STR(trace_reader_format(r)->name, "csv");
	CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_OK);
	CHECK_EQ(ref.address, 0x10);
	CHECK_EQ(trace_reader_lines(r), 2);
	CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_OK);
	CHECK_EQ(ref.address, 0x20);
	CHECK_EQ(trace_reader_lines(r), 4);
	CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 5: 'x' is not an address: decimal or with 0x");
	CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_OK);
	CHECK_EQ(ref.address, 0x30);
	CHECK_EQ(line.len, 6);
	CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_END);
	CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_END);
	trace_reader_close(r);
}

/* More than the reader's buffer, with lines across its borders and one longer than it. */
TEST(many_lines_and_a_very_long_one)
{
	enum { LINES = 60000, LONG = 700000 };
	size_t cap = LINES * 24 + LONG + 2, len = 0;
	char *text = malloc(cap);
	struct trace_reader *r;
	struct trace_ref ref;
	struct atw_blob line;

	CHECK(text);
	for (unsigned i = 0; i < LINES; i++) {
		len += (size_t)sprintf(text + len, " L %08x,%u\n", i * 8, i % 64);
		if (i == LINES / 2) {
			memset(text + len, 'L', LONG);
			len += LONG;
			text[len++] = '\n';
		}
	}
	r = reader_of(text, len);
	CHECK(r);
	for (unsigned i = 0; i < LINES; i++) {
		CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_OK);
		CHECK_EQ(ref.address, i * 8);
		CHECK_EQ(ref.size, i % 64);
		if (i == LINES / 2) {
			CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_E_LIMIT);
			CHECK_STR(err.text, "line 30002 has 700000 bytes, more than 16384");
		}
	}
	CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_END);
	CHECK_EQ(trace_reader_lines(r), LINES + 1);
	trace_reader_close(r);
	free(text);
}

struct reader_pipe {
	const char *text;
	size_t len, step;
	int fd;
};

static void *reader_feed(void *arg)
{
	struct reader_pipe *p = arg;

	for (size_t at = 0; at < p->len; at += p->step) {
		size_t n = p->len - at < p->step ? p->len - at : p->step;

		if (write(p->fd, p->text + at, n) != (ssize_t)n)
			abort();
	}
	close(p->fd);
	return NULL;
}

/* What is detected does not depend on how much a pipe delivers at once. */
TEST(a_pipe_in_small_pieces)
{
	static const char text[] = "addr\n1000\n2000\n7fff\n";

	for (size_t step = 1; step < sizeof(text); step++) {
		struct reader_pipe p = { text, sizeof(text) - 1, step, -1 };
		struct trace_reader *r = NULL;
		struct trace_ref ref;
		struct atw_blob line;
		pthread_t thread;
		char path[64];
		int fd[2];

		CHECK(!pipe(fd));
		p.fd = fd[1];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
		CHECK(!pthread_create(&thread, NULL, reader_feed, &p));
		CHECK_EQ(trace_reader_open(path, NULL, NULL, &r, &err), ATW_OK);
		CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_OK);
		CHECK_EQ(ref.address, 0x1000);
		CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_OK);
		CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_OK);
		CHECK_EQ(ref.address, 0x7fff);
		CHECK_EQ(trace_reader_next(r, &ref, &line, &err), ATW_END);
		pthread_join(thread, NULL);
		trace_reader_close(r);
		close(fd[0]);
	}
}

/* The limit of a line is given, also where the line is longer than what is read at once. */
TEST(a_first_line_that_is_too_long)
{
	enum { LONG = 300000 };
	char *text = malloc(LONG + 8);

	CHECK(text);
	memset(text, '7', LONG);
	strcpy(text + LONG, "\n10,8\n");
	CHECK(!reader_of(text, LONG + 6));
	CHECK_EQ(err.status, ATW_E_FORMAT);
	CHECK(strstr(err.text, "line 1 has more than 16384 bytes"));
	text[5] = '\0';
	CHECK(!reader_of(text, LONG + 6));
	CHECK(strstr(err.text, "is not text: it has bytes that are 0"));
	free(text);
}

TEST(what_is_no_trace)
{
	CHECK(!reader_of("", 0));
	CHECK_EQ(err.status, ATW_E_MISSING);
	CHECK(strstr(err.text, "it contains no line"));
	CHECK(!reader_of("ab\0cd\n", 6));
	CHECK(strstr(err.text, "is not text: it has bytes that are 0"));
	CHECK(!reader_of("Dear reader\n", 12));
	CHECK(strstr(err.text, "the first lines have no known format"));
	CHECK_EQ(trace_reader_open("/nonexistent", NULL, NULL, &(struct trace_reader *){ NULL }, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "cannot open '/nonexistent': No such file or directory");
}
