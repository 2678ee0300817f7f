/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture that is written reads back as the same records. */
#include "census_text.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>

static struct atw_err err;

/* What is read goes to a file in memory. Returns its descriptor. */
static int copy(const char *path, int level)
{
	struct census_writer *w = NULL;
	int fd = memfd_create("copy", MFD_CLOEXEC), r;

	r = census_writer_open(fd, level, &w, &err);
	if (r == ATW_OK) {
		struct census_sink to = census_writer_sink(w);

		r = census_read(path, NULL, &to, &err);
	}
	if (r == ATW_OK)
		r = census_writer_end(w, &err);
	census_writer_close(w);
	if (r == ATW_OK)
		return fd;
	close(fd);
	return -1;
}

/* All of a file; ends with a NUL. The caller frees it. */
static char *all(int fd, size_t *len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *s = malloc((size_t)size + 1);

	*len = s && pread(fd, s, (size_t)size, 0) == size ? (size_t)size : 0;
	if (s)
		s[*len] = '\0';
	return s;
}

/* In our form a copy of a copy is the first; what it is. The caller frees it. */
static char *copied(const char *path, int level)
{
	char name[64];
	size_t len, twice_len;
	char *once, *twice = NULL;
	int fd = copy(path, level), second;

	if (fd < 0)
		return strdup(err.text);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	second = copy(name, 0);
	close(fd);
	if (second < 0)
		return strdup(err.text);
	once = all(second, &len);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", second);
	fd = copy(name, 0);
	close(second);
	twice = fd < 0 ? NULL : all(fd, &twice_len);
	close(fd);
	if (!twice || len != twice_len || memcmp(once, twice, len))
		TEST_FAIL("%s: a copy of a copy is another", path);
	free(twice);
	return once;
}

TEST(all_kinds_again)
{
	static const char text[] = ALL_KINDS;
	char path[64], *s;
	int fd = text_file(text, sizeof(text) - 1, path);

	s = copied(path, 0);
	CHECK_STR(s, text);
	free(s);
#ifdef HAVE_ZSTD
	for (int level = 1; level < 20; level += 9) {
		s = copied(path, level);
		CHECK_STR(s, text);
		free(s);
	}
#endif
	close(fd);
}

TEST(the_figure_in_our_form)
{
	char *s = copied("tests/data/paper-figure1.txt", 0);
	static const char begin[] = FRONT
		"T: swapper, 0, 00000000, 0, 0, 0, 0, 0, 0, 39626\n"
		"T: init, 1, C018C0A0, 0, 392597, 160, 69857, 174569, 8771, 30193\n"
		"V: 0FE94000, 0FFB0FFF, 0011D000, 0005D000, 00000412, 00000075, /lib/\n"
		"P: 93, 0, 93, 0, 93\n"
		"M: 0FE94000=02876012, 22, 000420CC | 0FE95000=02849012, 22, 000420CC | ";

	CHECK(!strncmp(s, begin, sizeof(begin) - 1));
	CHECK(strstr(s, "| 0FFC7000=0225F7D2, 1, 000020C4 |\nV: 0FFC8000,"));
	CHECK(strstr(s, "\nL: 1, pages, 85 of 93 that are in memory are not recorded, start=FE94000, "
		     "last=FFB0FFF\nV: 0FFB1000,"));
	CHECK(strstr(s, "\nE: 26, 5, 7, 1\n"));
	free(s);
}

/* Lines of runs are long and not too long, however many there are. */
TEST(long_lines)
{
	struct census_writer *w = NULL;
	struct capture_run run = {
		.pages = 18446744073709551ull, .entry = UINT64_MAX, .count = UINT64_MAX,
		.flags = UINT64_MAX, .refs = UINT64_MAX, .order = UINT64_MAX,
		.folio = UINT64_MAX, .swap = { UINT64_MAX, UINT64_MAX },
		.state = CAPTURE_MIGRATION, .map = UINT64_MAX, .raw = UINT64_MAX,
		.same = UINT64_MAX, .noframe = UINT64_MAX,
	};
	struct capture_frames frames = { .pages = 3, .use = CAPTURE_HUGETLB };
	const struct capture_record task = { .letter = 'T', .t = { .name = { "a", 1 } } };
	const struct capture_record area = { .letter = 'V' };
	int fd = memfd_create("text", MFD_CLOEXEC);
	unsigned lines = 0, runs = 0, uses = 0;
	struct census_sink to;
	size_t len;
	char *text;

	CHECK_EQ(census_writer_open(fd, 0, &w, &err), ATW_OK);
	to = census_writer_sink(w);
	CHECK_EQ(to.record(to.arg, &task, &err), ATW_OK);
	CHECK_EQ(to.record(to.arg, &area, &err), ATW_OK);
	for (unsigned i = 0; i < 50000; i++) {
		run.va = i;
		run.has = i % 3 ? CAPTURE_M_REFS : UINT32_MAX;
		CHECK_EQ(to.run(to.arg, &run, &err), ATW_OK);
	}
	for (unsigned i = 0; i < 50000; i++) {
		frames.pa = i;
		CHECK_EQ(to.frames(to.arg, &frames, &err), ATW_OK);
	}
	CHECK_EQ(census_writer_end(w, &err), ATW_OK);
	census_writer_close(w);
	text = all(fd, &len);
	close(fd);
	for (char *s = text, *nl; (nl = strchr(s, '\n')); s = nl + 1, lines++) {
		const char *bar = s;

		*nl = '\0';
		if (*s != 'M' && *s != 'F')
			continue;
		/* All but the last ones reach some 4000 bytes. */
		CHECK(nl - s < 4500);
		CHECK(nl - s >= 4000 || nl[1] == 'F' || nl[1] == 'E');
		while ((bar = strchr(bar, '|'))) {
			runs += *s == 'M';
			uses += *s == 'F';
			bar++;
		}
	}
	CHECK_EQ(runs, 50000);
	CHECK_EQ(uses, 50000);
	snprintf(err.text, sizeof(err.text), "E: %u, 1, 1, 0", lines - 1);
	CHECK_STR(text + len - strlen(err.text) - 1, err.text);
	free(text);
}

/* The first and the last line come from the writer, whatever the producer. */
TEST(first_and_last)
{
	static const char text[] = TASK AREA "L: 1, a, b\n" FRONT "E: 9, 9, 9, 9\n";
	struct census_writer *w = NULL;
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct atw_blob rest = { text, sizeof(text) - 1 };
	struct capture_record rec;
	struct census_sink to;
	static char names[CAPTURE_LINE];
	size_t len;
	char *got;

	CHECK_EQ(census_writer_open(fd, 0, &w, &err), ATW_OK);
	to = census_writer_sink(w);
	while (rest.len) {
		const char *nl = memchr(rest.data, '\n', rest.len);
		size_t n = (size_t)(nl - (const char *)rest.data);

		CHECK_EQ(capture_parse((struct atw_blob){ rest.data, n }, false, names, &rec,
				       &err), ATW_OK);
		CHECK_EQ(to.record(to.arg, &rec, &err), ATW_OK);
		rest = (struct atw_blob){ nl + 1, rest.len - n - 1 };
	}
	CHECK_EQ(census_writer_end(w, &err), ATW_OK);
	census_writer_close(w);
	got = all(fd, &len);
	close(fd);
	CHECK_STR(got, FRONT "T: a, 7, 00000000, 0, 0, 0, 0, 0, 0, 0\n" AREA "L: 1, a, b\n"
		  "E: 4, 1, 1, 1\n");
	free(got);
}

TEST(a_name_too_long)
{
	static char name[20000];
	struct capture_record rec = { .letter = 'T', .t = { .name = { name, sizeof(name) } } };
	struct census_writer *w = NULL;
	struct census_sink to;
	int fd = memfd_create("text", MFD_CLOEXEC);

	CHECK_EQ(census_writer_open(fd, 0, &w, &err), ATW_OK);
	to = census_writer_sink(w);
	CHECK_EQ(to.record(to.arg, &rec, &err), ATW_E_LIMIT);
	CHECK_STR(err.text, "T: a line of more than 65536 bytes");
	rec.t.name.len = 3;
	CHECK_EQ(to.record(to.arg, &rec, &err), ATW_OK);
	census_writer_close(w);
	close(fd);
}

/* What a system call said is said at the end as well, and every time. */
static void refused(int fd, const char *says)
{
	const struct capture_record task = { .letter = 'T', .t = { .name = { "a", 1 } } };
	struct census_writer *w = NULL;
	struct census_sink to;
	int r = ATW_OK;

	CHECK_EQ(census_writer_open(fd, 0, &w, &err), ATW_OK);
	to = census_writer_sink(w);
	for (int i = 0; i < 100000 && r == ATW_OK; i++)
		r = to.record(to.arg, &task, &err);
	CHECK_EQ(r, ATW_E_IO);
	CHECK_STR(err.text, says);
	err.text[0] = '\0';
	CHECK_EQ(census_writer_end(w, &err), ATW_E_IO);
	CHECK_STR(err.text, says);
	census_writer_close(w);
}

TEST(errors_of_write)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), fd[2];
	struct census_writer *w = NULL;

	CHECK(full >= 0 && !pipe(fd));
	refused(full, "cannot write: No space left on device");
	/* With so little that it leaves at the end. */
	CHECK_EQ(census_writer_open(full, 0, &w, &err), ATW_OK);
	CHECK_EQ(census_writer_end(w, &err), ATW_E_IO);
	census_writer_close(w);
	close(full);
	signal(SIGPIPE, SIG_IGN);
	close(fd[0]);
	refused(fd[1], "cannot write: Broken pipe");
	close(fd[1]);
}

#ifndef HAVE_ZSTD
TEST(without_zstd)
{
	struct census_writer *w;

	CHECK_EQ(census_writer_open(1, 3, &w, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "this build has no zstd");
}
#endif
