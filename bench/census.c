/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census BUILD - captures: what writing and reading their text costs, and what all
 * of a large machine does, which mkcapture makes up while it is read.
 *
 * Writing and reading are CPU time of the one thread, of runs as mkcapture has them.
 * The large ones are by the wall clock, the maker of the text included, which takes
 * its share where there is one core only; and the most memory that the reader had.
 */
#include "child.h"
#include "measure.h"

#include "census/census.h"

enum { KEPT = 1 << 18, TIMES = 16, ARGS = 8 };

/* 1 TiB, 5000 processes, 100 million runs. */
static const char *const large[ARGS] = { "-m", "1T", "-p", "5000", "-r", "100000000" };
static const char *const small[ARGS] = { "-m", "16G", "-p", "100", "-r", "2000000" };

/*
 * One pass over all of the large machine: a program of BUILD that reads standard
 * input, or without `argv` no more than the reading.
 */
struct pass {
	const char *name;
	const char *argv[ARGS];
	double seconds, mib;     /* targets; 0: none is set */
};

static const struct pass passes[] = {
	{ "read, and nothing done with it", { NULL }, 60, 64 },
	{ "report basic, units and totals, in one pass",
	  { "atwalk", "report", "-q", "basic,units,totals", "-", "--format", "csv" }, 60, 1536 },
};

/* ---- the sink of the stream ---- */

struct taken {
	uint64_t runs, pages, kept;
	struct capture_run *run;         /* the first KEPT of them; NULL: none */
};

static int on_record(void *arg, const struct capture_record *rec, struct atw_err *e)
{
	return ATW_OK;
}

static int on_run(void *arg, const struct capture_run *run, struct atw_err *e)
{
	struct taken *t = arg;

	if (t->run && t->kept < KEPT)
		t->run[t->kept++] = *run;
	t->runs++;
	t->pages += run->pages;
	return ATW_OK;
}

static int on_frames(void *arg, const struct capture_frames *run, struct atw_err *e)
{
	return ATW_OK;
}

static void take(const char *path, struct taken *t)
{
	const struct census_sink to = {
		.record = on_record, .run = on_run, .frames = on_frames, .arg = t,
	};
	struct atw_err e;

	need(census_read(path, NULL, &to, &e), &e);
}

/* ---- the maker ---- */

static pid_t start(const char *build, const char *name, const char *const *args, int in,
		   int out)
{
	char path[4096];
	const char *argv[ARGS + 2] = { path };

	snprintf(path, sizeof(path), "%s/%s", build, name);
	for (size_t i = 0; i < ARGS && args[i]; i++)
		argv[i + 1] = args[i];
	return child_run(argv, in, out, -1);
}

/* ---- the text ---- */

static void text(const char *build)
{
	char path[] = "/tmp/atwalk-bench-XXXXXX";
	int file = mkstemp(path), null = child_null();
	struct taken t = { .run = calloc(KEPT, sizeof(*t.run)) }, again = { 0 };
	struct census_writer *w;
	struct census_sink to;
	double spent, mb = 0;
	struct atw_err e;
	off_t size;

	if (file < 0 || !t.run)
		err(1, "%s", path);
	child_end(start(build, "tests/tools/mkcapture", small, -1, file), "mkcapture");
	size = lseek(file, 0, SEEK_END);
	take(path, &t);

	heading("a capture's text, of a core", NULL);
	need(census_writer_open(null, 0, &w, &e), &e);
	to = census_writer_sink(w);
	spent = now_ns();
	for (int i = 0; i < TIMES; i++)
		for (uint64_t k = 0; k < t.kept; k++)
			need(to.run(to.arg, &t.run[k], &e), &e);
	spent = now_ns() - spent;
	census_writer_close(w);
	for (uint64_t k = 0; k < t.kept; k++) {
		char one[512];

		mb += (double)capture_write_run(&t.run[k], one, sizeof(one));
	}
	least("writing, MB/s", mb * TIMES * 1e3 / spent, 200);
	figure("writing, ns a run", spent / (TIMES * (double)t.kept), 0);

	spent = now_ns();
	take(path, &again);
	spent = now_ns() - spent;
	if (again.pages != t.pages)
		errx(1, "%s: read twice, it is not the same", path);
	least("reading, MB/s", (double)size * 1e3 / spent, 200);
	figure("reading, ns a run", spent / (double)again.runs, 0);
	unlink(path);
	close(file);
	close(null);
	free(t.run);
}

/* ---- a large machine ---- */

static void one_pass(const char *build, const struct pass *p)
{
	int null = child_null(), fd[2];
	double began = wall_ms();
	pid_t maker, reader;
	char row[80];
	long kib;

	child_pipe(fd);
	maker = start(build, "tests/tools/mkcapture", large, -1, fd[1]);
	close(fd[1]);
	if (p->argv[0]) {
		reader = start(build, p->argv[0], p->argv + 1, fd[0], null);
	} else {
		reader = child_fork();
		if (!reader) {
			struct taken t = { 0 };

			if (dup2(fd[0], 0) < 0)
				err(1, "pipe");
			take("-", &t);
			_exit(t.runs != 100000000);
		}
	}
	close(fd[0]);
	kib = child_end(reader, p->name).ru_maxrss;
	child_end(maker, "mkcapture");
	close(null);
	snprintf(row, sizeof(row), "%s, s", p->name);
	figure(row, (wall_ms() - began) / 1e3, p->seconds);
	snprintf(row, sizeof(row), "%s, MiB", p->name);
	figure(row, (double)kib / 1024, p->mib);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: census BUILD");
	text(argv[1]);
	heading("1 TiB, 5,000 processes, 100 million runs", NULL);
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
		one_pass(argv[1], &passes[i]);
	return 0;
}
