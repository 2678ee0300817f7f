/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references.c - records the memory references of a command, without the program atwalk:
 *
 *	references [-r START-END]... [-f START-END]... [-l LIMIT] [-p PERIOD] [-P PLUGIN]
 *	           [-m MEMORY] [-q] [-o FILE] BACKEND COMMAND...
 *
 * -r: addresses in memory, hexadecimal; -f: in the program's file. The recording goes to
 * FILE, or else to standard output; -q: only its head and end. The exit status is that
 * of the command, or 100: there is no recording; 77: the recorder is not available here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/references.h"

struct dump {
	struct trace_recording rec;
	bool quiet;
	FILE *out;
	uint64_t refs;
};

static int put_head(void *arg, const struct trace_recording *rec, struct atw_err *err)
{
	struct dump *d = arg;
	char text[RECORDING_HEAD];
	size_t n = recording_write_head(rec, text, sizeof(text));

	(void)err;
	fwrite(text, 1, n, d->out);
	return ATW_OK;
}

static int put_ref(void *arg, const struct trace_ref *ref, struct atw_err *err)
{
	struct dump *d = arg;
	char text[RECORDING_ROW];

	(void)err;
	d->refs += ref->count;
	if (!d->quiet)
		fwrite(text, 1, recording_write(&d->rec, ref, text, sizeof(text)), d->out);
	return ATW_OK;
}

static void add_range(struct references_options *o, struct references_range *range, size_t max,
		      const char *text, bool in_file)
{
	char *end;

	if (o->nranges == max)
		exit(100);
	range += o->nranges++;
	range->start = strtoull(text, &end, 16);
	range->end = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
	range->in_file = in_file;
	if (*end || range->end <= range->start) {
		fprintf(stderr, "references: '%s' is not a range\n", text);
		exit(100);
	}
}

int main(int argc, char **argv)
{
	static struct references_range range[256];
	struct references_options o = { .range = range };
	struct dump d = { .out = stdout };
	struct references_sink sink = { put_head, put_ref, &d };
	const struct references_backend *b;
	struct trace_recording rec = { .scale = 0 };
	struct atw_err err = { 0 };
	char text[RECORDING_HEAD];
	int c, r, status = 0;

	while ((c = getopt(argc, argv, "+r:f:l:p:P:m:qo:")) != -1)
		switch (c) {
		case 'r': case 'f': add_range(&o, range, 256, optarg, c == 'f'); break;
		case 'l': o.limit = strtoull(optarg, NULL, 10); break;
		case 'p': o.period = strtoull(optarg, NULL, 10); break;
		case 'm': o.memory = strtoull(optarg, NULL, 10); break;
		case 'P': o.plugin = optarg; break;
		case 'q': d.quiet = true; break;
		case 'o': d.out = fopen(optarg, "we"); break;
		default: return 100;
		}
	if (argc - optind < 2 || !d.out)
		return 100;
	r = references_find(argv[optind], &b, &err);
	if (r == ATW_OK && (r = b->probe(&o, &err)) < 0) {
		fprintf(stderr, "references: %s\n", err.text);
		return 77;
	}
	if (r == ATW_OK)
		r = b->run(argv + optind + 1, &o, &sink, &rec, &status, &err);
	if (r < 0) {
		fprintf(stderr, "references: %s\n", err.text);
		return 100;
	}
	rec.rows = d.rec.rows;
	fwrite(text, 1, recording_write_end(&rec, text, sizeof(text)), d.out);
	fprintf(stderr, "%llu references\n", (unsigned long long)d.refs);
	if (fclose(d.out))
		return 100;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
