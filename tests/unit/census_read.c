/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture is read record by record from files, pipes and zstd, and every fault is
 * reported.
 */
#include "census_text.h"
#include "test.h"

static struct atw_err err;

static int read_string(const char *s, struct totals *h)
{
	*h = (struct totals){ 0 };
	return read_text(s, strlen(s), h, &err);
}

/* ---- complete captures ---- */

TEST(the_figure)
{
	struct totals h = { 0 };

	CHECK_EQ(read_capture("tests/data/paper-figure1.txt", &h, &err), ATW_OK);
	CHECK_EQ(h.faults, 0);
	CHECK_STR(h.letters, "TTVPVPVPVPTTTVPVPVP");
	CHECK_EQ(h.runs, 25);
	CHECK_EQ(h.pages, 25);
	CHECK_EQ(h.incomplete, 1);
}

TEST(all_kinds)
{
	struct totals h;

	CHECK_EQ(read_string(ALL_KINDS, &h), ATW_OK);
	CHECK_STR(h.fault, "");
	CHECK_STR(h.letters, "HHRRSUTVPVTLE");
	CHECK_EQ(h.runs, 4);
	CHECK_EQ(h.pages, 516);
	CHECK_EQ(h.incomplete, 1);   /* its own L: line */
	CHECK_EQ(h.frames, 159 + 1 + 1310719);
}

/* Longer than the read buffer, so that lines cross its end. */
TEST(longer_than_a_buffer)
{
	enum { RUNS = 40000 };
	char *text = malloc(RUNS * 80), path[64];
	struct totals h = { 0 };
	size_t n;
	int fd;

	CHECK(text);
	n = (size_t)sprintf(text, FRONT TASK "V: 0, FFFFFFFF, 100000000, 0, 0, 0, NULL");
	for (unsigned i = 0; i < RUNS; i++)
		n += (size_t)sprintf(text + n, "%s %X*%u=%X, 1, 0, refs=3 |",
				     i % 150 ? "" : "\nM:", i * 0x4000, 1 + i % 4, i * 0x4000 + 2);
	n += (size_t)sprintf(text + n, "\nE: %u, 1, 1, 0\n", 3 + (RUNS + 149) / 150);
	CHECK_EQ(read_text(text, n, &h, &err), ATW_OK);
	CHECK_STR(h.fault, "");
	CHECK_EQ(h.runs, RUNS);
	CHECK_EQ(h.pages, RUNS / 4 * 10);

	fd = packed_file(text, n, path);
	free(text);
	if (fd < 0)
		SKIP("no zstd");
	h = (struct totals){ 0 };
	CHECK_EQ(read_capture(path, &h, &err), ATW_OK);
	close(fd);
	CHECK_STR(h.fault, "");
	CHECK_EQ(h.runs, RUNS);
	CHECK_EQ(h.pages, RUNS / 4 * 10);
}

/* Many blocks, some with bytes that are no text, some with a line that is longer than one. */
TEST(threads_find_what_one_finds)
{
	enum { RUNS = 60000, LONG = 2 << 20 };
	char *text = malloc(RUNS * 90 + LONG), path[64];
	size_t n;
	int fd;

	CHECK(text);
	n = (size_t)sprintf(text, FRONT TASK "V: 0, FFFFFFFF, 100000000, 0, 0, 0, NULL");
	for (unsigned i = 0; i < RUNS; i++) {
		if (i % 7500 == 0)
			n += (size_t)sprintf(text + n, "\nH: odd, \x01\x02");
		n += (size_t)sprintf(text + n, "%s %X*%u=%X, 1, 0, refs=3 |",
				     i % 150 ? "" : "\nM:", i * 0x4000, 1 + i % 4, i * 0x4000 + 2);
	}
	n += (size_t)sprintf(text + n, "\nH: long, ");
	memset(text + n, 'x', LONG);
	n += LONG;
	n += (size_t)sprintf(text + n, "\nE: 1, 1, 1, 0");
	fd = text_file(text, n, path);
	free(text);
	for (unsigned threads = 1; threads <= 20; threads += 2) {
		struct totals one = { 0 }, many = { 0 };
		int r = read_capture(path, &one, &err);

		CHECK_EQ(read_capture_by(threads, path, &many, &err), r);
		/* The last line has no end, so there is no E: line either. */
		CHECK_EQ(one.faults, 8 + 1 + 2);
		CHECK_EQ(one.runs, RUNS);
		CHECK(!memcmp(&one, &many, sizeof(one)));
	}
	close(fd);
}

/* "-" is standard input, here a pipe that brings a few bytes at a time. */
TEST(a_pipe)
{
	static const char text[] = ALL_KINDS;
	struct totals h = { 0 };
	int fd[2], in = dup(0), r;
	pid_t pid;

	CHECK(in >= 0 && !pipe(fd));
	pid = fork();
	if (!pid) {
		for (size_t i = 0, n; i < sizeof(text) - 1; i += n) {
			n = sizeof(text) - 1 - i < 3 ? sizeof(text) - 1 - i : 3;
			if (write(fd[1], text + i, n) < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(fd[1]);
	dup2(fd[0], 0);
	close(fd[0]);
	r = read_capture("-", &h, &err);
	dup2(in, 0);
	close(in);
	CHECK_EQ(r, ATW_OK);
	CHECK_STR(h.fault, "");
	CHECK_STR(h.letters, "HHRRSUTVPVTLE");
}

/* ---- damaged captures ---- */

TEST(no_capture)
{
	static const char *const all[] = {
		"", "is empty",
		"\177ELF\2\1\1", "not a capture: its first line is neither \"H: atwalk-capture, 1\" "
		"nor a T: line of the paper's form",
		"T: a, 1\n" TASK, "not a capture: its first line is neither \"H: atwalk-capture, 1\" "
		"nor a T: line of the paper's form",
	};
	static char noise[200000];
	struct totals h = { 0 };
	uint64_t s = 1;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i += 2) {
		CHECK_EQ(read_string(all[i], &h), ATW_E_FORMAT);
		CHECK(!strncmp(err.text, "/proc/self/fd/", 14));
		CHECK_STR(strstr(err.text, ": ") + 2, all[i + 1]);
		CHECK_EQ(h.records + h.faults, 0);
	}
	for (size_t i = 0; i < sizeof(noise); i++) {
		s = s * 6364136223846793005 + 1442695040888963407;
		noise[i] = (char)(s >> 56);
	}
	CHECK_EQ(read_text(noise, sizeof(noise), &h, &err), ATW_E_FORMAT);
	CHECK_EQ(read_capture("/tmp", &h, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "/tmp: is a directory");
	CHECK_EQ(read_capture("tests/data/no such file", &h, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "tests/data/no such file: No such file or directory");
	CHECK_EQ(read_string("H: atwalk-capture, 2\n" TASK, &h), ATW_E_UNSUPPORTED);
	CHECK_STR(strstr(err.text, ": ") + 2,
		  "line 1: version 2, and this program reads version 1");
	CHECK_EQ(h.records + h.faults, 0);
}

/* Truncation at any byte is reported, and all records before it are delivered. */
TEST(cut_off)
{
	static const char text[] = ALL_KINDS;
	struct totals h, before = { 0 };

	for (size_t n = sizeof("H: atwalk-capture,"); n < sizeof(text) - 1; n++) {
		h = (struct totals){ 0 };
		CHECK_EQ(read_text(text, n, &h, &err), ATW_OK);
		CHECK(h.faults);
		CHECK(h.records >= before.records && h.pages >= before.pages);
		CHECK(!strncmp(h.letters, "HHRRSUTVPVTLE", h.records));
		before = h;
	}
	h = (struct totals){ 0 };
	CHECK_EQ(read_text(text, sizeof(text) - 2, &h, &err), ATW_OK);
	CHECK_STR(strstr(h.fault, ": ") + 2, "line 16: cut off in the middle");
	CHECK_STR(strstr(h.last_fault, ": ") + 2, "no E: line: cut off behind line 16");
}

TEST(wrong_lines)
{
	struct totals h;

	CHECK_EQ(read_string(FRONT TASK AREA "M: 1000=0, 1, 0 | 9000=0, 1, 0 | 2000=0, 1, 0 |\n"
			     "V: 2000, 2FFF, 1000, 0, 0, 0, NULL\nM: 2000=0, 1, 0 |\n" TASK
			     "E: 7, 2, 1, 0\n", &h), ATW_OK);
	CHECK_EQ(h.faults, 3);
	CHECK_STR(strstr(h.fault, ": ") + 2,
		  "line 4: M: 9000: 1 pages: not within the area, 1000 to 4FFF");
	CHECK_STR(strstr(h.last_fault, ": ") + 2, "line 6: M: of no area, for no V: line that "
		  "could be read is before it");
	CHECK_EQ(h.runs, 2);
	CHECK_STR(h.letters, "HTVTE");
}

/* Of very many errors the first are reported, and then the number of the rest. */
TEST(very_many_wrong_lines)
{
	static char text[200000];
	size_t n = (size_t)sprintf(text, FRONT TASK);
	struct totals h;

	for (int i = 0; i < 10000; i++)
		n += (size_t)sprintf(text + n, "M: a |\n");
	sprintf(text + n, "E: 10002, 1, 0, 0\n");
	CHECK_EQ(read_string(text, &h), ATW_OK);
	CHECK_EQ(h.faults, 21);
	CHECK_STR(strstr(h.last_fault, ": ") + 2, "9980 more lines or runs are wrong");
	CHECK_STR(h.letters, "HTE");
	/* Truncation is reported in addition. */
	text[n] = '\0';
	CHECK_EQ(read_string(text, &h), ATW_OK);
	CHECK_EQ(h.faults, 22);
	CHECK_STR(strstr(h.last_fault, ": ") + 2,
		  "no E: line: cut off behind line 10002, in process 7");
}

TEST(without_a_callback_the_first_fault_is_an_error)
{
	static const char text[] = FRONT TASK "V: 1\n" TASK "E: 4, 2, 0, 0\n";
	struct totals h = { 0 };
	const struct census_sink to = {
		.record = add_record, .run = add_run,
		.frames = add_frames, .arg = &h,
	};
	char path[64];
	int fd = text_file(text, sizeof(text) - 1, path);

	CHECK_EQ(census_read(path, NULL, &to, &err), ATW_E_FORMAT);
	CHECK_STR(strstr(err.text, ": ") + 2, "line 3: V: 1 fields, there must be 7");
	CHECK_STR(h.letters, "HT");
	close(fd);
}

/* An error of the sink is returned as it is, without the name of the file. */
TEST(refused)
{
	static const char text[] = ALL_KINDS;
	struct totals h = { .refuse = true };

	CHECK_EQ(read_text(text, sizeof(text) - 1, &h, &err), ATW_E_IO);
	CHECK_STR(err.text, "no more");
	CHECK_STR(h.letters, "HHRRSUTVP");
}

/* One record per area: a page too few, no pages at all, the end of a truncated file. */
TEST(areas_with_missing_pages_are_reported)
{
	struct totals h;

	CHECK_EQ(read_string(FRONT TASK "V: 1000, 4FFF, 4000, 3000, -, 3, NULL\n"
			     "M: 1000*2=1012, 1, - |\nE: 4, 1, 1, 0\n", &h), ATW_OK);
	CHECK_EQ(h.incomplete, 1);
	CHECK_EQ(read_string(FRONT TASK "V: 1000, 4FFF, 4000, 2000, -, 3, NULL\n"
			     "M: 1000*2=1012, 1, - |\nE: 4, 1, 1, 0\n", &h), ATW_OK);
	CHECK_EQ(h.incomplete, 0);
	CHECK_EQ(read_string(FRONT TASK "V: 1000, 4FFF, 4000, 0, -, 3, NULL\n"
			     "V: 8000, 8FFF, 1000, 0, -, 3, NULL\nP: 0, 0, 0, 0, 0\n"
			     "V: FFFFFFFFFF600000, FFFFFFFFFF600FFF, 1000, 0, -, 3, [vsyscall]\n"
			     "E: 6, 1, 3, 0\n", &h), ATW_OK);
	CHECK_EQ(h.incomplete, 1);
	CHECK_EQ(read_string(FRONT TASK "L: 0, pages, why, start=1000, last=1FFF\n"
			     "V: 1000, 1FFF, 1000, 0, -, 3, NULL\nE: 4, 1, 1, 1\n", &h), ATW_OK);
	CHECK_EQ(h.incomplete, 1);
	CHECK_EQ(read_string(FRONT TASK "V: 1000, 4FFF, 4000, 2000, -, 3, NULL\n", &h), ATW_OK);
	CHECK_EQ(h.incomplete, 1);
	CHECK_EQ(h.faults, 1);
}

/* A run that the sink rejects is reported by its line; the reading continues. */
TEST(too_much)
{
	static const char text[] = ALL_KINDS;
	struct totals h = { .too_much = true };

	CHECK_EQ(read_text(text, sizeof(text) - 1, &h, &err), ATW_OK);
	CHECK_STR(h.letters, "HHRRSUTVPVTLE");
	CHECK(strstr(h.fault, ": line 10: too much"));
}

/* ---- compressed ---- */

TEST(compressed)
{
	static const char text[] = ALL_KINDS;
	char path[64], copy[64], data[4096];
	int fd = packed_file(text, sizeof(text) - 1, path), other;
	struct totals h = { 0 };
	ssize_t n;

	if (fd < 0)
		SKIP("no zstd");
	CHECK_EQ(read_capture(path, &h, &err), ATW_OK);
	CHECK_STR(h.fault, "");
	CHECK_STR(h.letters, "HHRRSUTVPVTLE");
	n = pread(fd, data, sizeof(data), 0);
	close(fd);
	CHECK(n > 100 && n < (ssize_t)sizeof(data));

	/* Truncated after each byte: an error, or a fault about the missing end. */
	for (ssize_t k = 4; k < n; k++) {
		int r;

		h = (struct totals){ 0 };
		r = read_text(data, (size_t)k, &h, &err);
		CHECK(r == ATW_E_DAMAGED || (r == ATW_OK && h.faults));
		if (r == ATW_OK)
			snprintf(err.text, sizeof(err.text), "%s", h.fault);
		snprintf(copy, sizeof(copy), "packed by zstd, and cut off behind byte %zd", k);
		CHECK_STR(strstr(err.text, ": ") + 2, copy);
	}
	/* A flipped bit is detected, or the decompressed text is the same. */
	for (ssize_t k = 4; k < n; k++) {
		int r;

		data[k] ^= 1;
		h = (struct totals){ 0 };
		r = read_text(data, (size_t)n, &h, &err);
		data[k] ^= 1;
		CHECK(r < 0 || h.faults || (h.records == 13 && h.pages == 516));
	}
	/* Other data after the compressed frame. */
	memcpy(data + n, "rubbish", 7);
	other = text_file(data, (size_t)n + 7, copy);
	h = (struct totals){ 0 };
	CHECK_EQ(read_capture(copy, &h, &err), ATW_OK);
	CHECK_EQ(h.faults, 1);
	CHECK(strstr(h.fault, "packed by zstd, and damaged behind byte"));
	CHECK_STR(h.letters, "HHRRSUTVPVTLE");
	close(other);
}

#ifndef HAVE_ZSTD
TEST(without_zstd)
{
	struct totals h;

	CHECK_EQ(read_string("\x28\xb5\x2f\xfd....", &h), ATW_E_UNSUPPORTED);
	CHECK_STR(strstr(err.text, ": ") + 2, "packed by zstd, which this build lacks");
}
#endif

/* ---- a generated machine ---- */

enum { FRAMES = 17 << 18 };      /* 16 GiB and the hole below 4 GiB */

struct machine {
	uint64_t tasks, areas, runs, present, swapped, large, pid, mm, ram;
	uint64_t here, own, swap;        /* of the process */
	double pss;
	const char *said;                /* the expected text */
	uint8_t mapped[FRAMES], refs[FRAMES];    /* as counted, as recorded */
};

/* The next line of the generator describes the process that was read last. */
static int process_ends(struct machine *m, struct atw_err *e)
{
	char line[128];
	size_t n;

	if (!m->mm)
		return ATW_OK;
	n = (size_t)snprintf(line, sizeof(line), "process %" PRIu64 " %" PRIu64 " %" PRIu64
			     " %" PRIu64 " %.3f\n", m->pid, m->here, m->own, m->swap, m->pss);
	m->mm = m->here = m->own = m->swap = 0;
	m->pss = 0;
	if (strncmp(m->said, line, n))
		return atw_err_set(e, ATW_E_DAMAGED, "%.60s is %s", m->said, line);
	m->said += n;
	return ATW_OK;
}

static int count_record(void *arg, const struct capture_record *rec, struct atw_err *e)
{
	struct machine *m = arg;

	m->tasks += rec->letter == 'T';
	m->areas += rec->letter == 'V';
	if (rec->letter == 'E')
		return process_ends(m, e);
	/* A thread is of the process before it. */
	if (rec->letter != 'T' || (rec->t.mm == m->mm && m->mm))
		return ATW_OK;
	if (process_ends(m, e) != ATW_OK)
		return e->status;
	m->pid = rec->t.pid;
	m->mm = rec->t.mm;
	return ATW_OK;
}

static int count_run(void *arg, const struct capture_run *run, struct atw_err *e)
{
	struct machine *m = arg;

	m->runs++;
	m->large += run->order ? run->pages : 0;
	if (run->has & CAPTURE_M_SWAP) {
		m->swap += run->pages;
		m->swapped += run->pages;
		return ATW_OK;
	}
	if (run->entry / 4096 + run->pages > FRAMES)
		return atw_err_set(e, ATW_E_DAMAGED, "frame %" PRIx64, run->entry);
	for (uint64_t i = 0; i < run->pages; i++) {
		m->mapped[run->entry / 4096 + i]++;
		m->refs[run->entry / 4096 + i] = (uint8_t)run->refs;
	}
	m->present += run->pages;
	m->here += run->pages;
	m->own += run->refs == 1 ? run->pages : 0;
	m->pss += (double)run->pages / (double)run->refs;
	return ATW_OK;
}

static int count_frames(void *arg, const struct capture_frames *run, struct atw_err *e)
{
	struct machine *m = arg;

	(void)e;
	m->ram += run->pages;
	return ATW_OK;
}

static FILE *mkcapture(const char *options)
{
	const char *build = getenv("O") ? getenv("O") : "build";
	char command[300];

	snprintf(command, sizeof(command), "%s/tests/tools/mkcapture", build);
	if (access(command, X_OK))
		return NULL;
	snprintf(command, sizeof(command), "%s/tests/tools/mkcapture %s", build, options);
	return popen(command, "r");
}

/* What the generator writes and what is read agree to the page. */
TEST(a_generated_capture_reads_back)
{
	static char said[65536], line[256];
	static struct machine m;
	const struct census_sink to = {
		.record = count_record, .run = count_run,
		.frames = count_frames, .arg = &m,
	};
	FILE *f = mkcapture("-x -m 16G -p 37 -r 50000 -s 5");
	uint64_t frames = 0;
	char path[64];
	int r;

	if (!f)
		SKIP("mkcapture is not built");
	r = fread(said, 1, sizeof(said) - 1, f) > 1000;
	CHECK(r & !pclose(f));
	f = mkcapture("-f -m 16G -p 37 -r 50000 -s 5");
	CHECK(f);
	m.said = said;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	r = census_read(path, NULL, &to, &err);
	pclose(f);
	CHECK_STR(r == ATW_OK ? "" : err.text, "");
	for (size_t i = 0; i < FRAMES; i++) {
		CHECK_EQ(m.mapped[i], m.refs[i]);
		frames += !!m.mapped[i];
	}
	CHECK_EQ(m.ram, 16 * 262144 - 97);
	CHECK_EQ(m.runs, 50000);
	CHECK(m.swapped && m.large);
	snprintf(line, sizeof(line), "\nall %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %"
		 PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", m.ram, m.tasks, m.areas,
		 m.runs, m.present, frames, m.swapped, m.large);
	CHECK(strstr(m.said, "\nunit /usr/lib/l0.so "));
	CHECK_STR(strstr(m.said, "\nall "), line);
}
