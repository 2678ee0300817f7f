/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace PROGRAM DUMP - lines of profiles a second: parsed by the library, and annotated by
 * the program, its start included.
 *
 * DUMP has a process 1. Addresses are random ones of its program, each page of which is met
 * many times; of the last row they are random ones of all its address space, so that each is
 * looked up anew.
 */
#include "child.h"
#include "measure.h"

#include <sys/mman.h>

#include "trace/reader.h"

enum { LINES = 200000, FIRST = 0x401000, BYTES = 0xa8000, TRACE_ROUNDS = 5 };

static const struct form {
	const char *name, *head, *line;  /* of the line: %llx is the address */
} forms[] = {
	{ "lackey", "==1== Lackey, an example Valgrind tool\n", " L %08llx,8\n" },
	{ "csv", "pid,addr\n", "1,0x%llx\n" },
	{ "dynamorio", "",
	  "      1      1:           1 read         8 byte(s) @ 0x%016llx by PC 0x0000000000402680\n" },
	{ "perf", "",
	  "            init     1/1     [002]   546.882384:      10000 cpu/mem-loads,ldlat=30/P: %16llx     10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A                5     401010 main+0x10 (/init)\n" },
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

static uint64_t trace_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return *seed >> 17;
}

/* A file of lines; its path is valid as long as this process. */
static void trace_make(const struct form *f, uint64_t first, uint64_t bytes, char path[64])
{
	int fd = memfd_create("trace", 0);
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");
	uint64_t seed = 1;

	if (!out)
		err(1, "memfd_create");
	fputs(f->head, out);
	for (int i = 0; i < LINES; i++)
		fprintf(out, f->line, (unsigned long long)(first + trace_random(&seed) % bytes));
	if (fclose(out))
		err(1, "trace");
	snprintf(path, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
}

static double trace_parse_all(const char *path)
{
	struct trace_reader *r;
	struct atw_err e = { 0 };
	struct trace_ref ref;
	struct atw_blob line;
	uint64_t n = 0;
	double begun = now_ns();

	need(trace_reader_open(path, NULL, NULL, &r, &e), &e);
	while (trace_reader_next(r, &ref, &line, &e) == ATW_OK)
		n += ref.has & TRACE_HAS_ADDRESS ? 1 : 0;
	trace_reader_close(r);
	if (n != LINES)
		errx(1, "%" PRIu64 " lines of %d", n, LINES);
	return now_ns() - begun;
}

/* CPU time of the program. */
static double trace_annotate(const char *program, const char *dump, const char *path)
{
	const char *const argv[] = {
		program, "annotate", "--format", "csv", dump, path, NULL,
	};
	int null = child_null();
	struct rusage u = child_end(child_run(argv, -1, null, -1), "annotate");

	close(null);
	return child_cpu(&u) * 1e6;
}

static void trace_row(const char *name, double *ns)
{
	double mid = median(ns, TRACE_ROUNDS);

	row(name, LINES / mid * 1e6, LINES / ns[0] * 1e6, 0, 0);
}

int main(int argc, char **argv)
{
	char path[FORMS + 1][64], name[64];
	double ns[TRACE_ROUNDS];

	if (argc != 3)
		errx(2, "usage: trace PROGRAM DUMP");
	for (int f = 0; f < FORMS; f++)
		trace_make(&forms[f], FIRST, BYTES, path[f]);
	trace_make(&forms[1], 4096, UINT64_C(1) << 46, path[FORMS]);
	heading("lines of a trace, thousands a second", "");
	for (int f = 0; f < FORMS; f++) {
		for (int r = 0; r < TRACE_ROUNDS; r++)
			ns[r] = trace_parse_all(path[f]);
		snprintf(name, sizeof(name), "parse %s", forms[f].name);
		trace_row(name, ns);
	}
	for (int f = 0; f <= FORMS; f++) {
		for (int r = 0; r < TRACE_ROUNDS; r++)
			ns[r] = trace_annotate(argv[1], argv[2], path[f]);
		snprintf(name, sizeof(name), "atwalk annotate --format csv, %s",
			 f < FORMS ? forms[f].name : "a new page each");
		trace_row(name, ns);
	}
	return 0;
}
