/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references_watch.c - exact counts of the references to a few words, by the hardware
 * breakpoints of perf_event_open(2), while the program runs at its own speed.
 *
 * One breakpoint of a word counts writes and another one both. An instruction that reads
 * and writes hits each of them once, and is therefore counted as a write.
 */
#include <stdlib.h>
#include <unistd.h>

#include "host/live_exec.h"
#include "host/live_watch.h"
#include "host/references_backends.h"
#include "host/references_program.h"
#include "trace/counts.h"

struct watch_run {
	struct live_watch *w;
	struct live_exec *exec;
	unsigned words, n;               /* that can be watched, and are */
	uint64_t at[LIVE_WORDS];
	struct trace_counts counts;      /* KIND_WRITE, and KIND_BOTH: reads and writes */
};

static int watch_probe(const struct references_options *o, struct atw_err *err)
{
	struct live_watch *w = NULL;
	unsigned words;
	int r = live_watch_open(&w, getpid(), &words, err);

	live_watch_close(w);
	return r;
}

/* Words that the ranges have a byte of. */
static int watch_place(struct watch_run *x, const struct references_range *v, size_t n,
		       struct atw_err *err)
{
	for (size_t i = 0; i < n; i++)
		for (uint64_t at = v[i].start & ~(uint64_t)(LIVE_WORD - 1); at < v[i].end; at += LIVE_WORD) {
			unsigned k = 0;

			while (k < x->n && x->at[k] != at)
				k++;
			if (k < x->n)
				continue;
			if (x->n == x->words)
				return atw_err_set(err, ATW_E_LIMIT,
						   "cannot watch more than %u words of %d bytes at once",
						   x->words, LIVE_WORD);
			x->at[x->n++] = at;
		}
	for (unsigned k = 0; k < x->n; k++) {
		int r = live_watch_set(x->w, k, x->at[k], LIVE_WORD, err);

		if (r < 0)
			return r;
	}
	return ATW_OK;
}

static int watch_drain(void *arg, struct atw_err *err)
{
	struct watch_run *x = arg;
	struct live_hit hit;

	while (live_watch_next(x->w, &hit)) {
		struct trace_ref ref = {
			.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID | TRACE_HAS_IP,
			.kind = hit.write ? TRACE_KIND_WRITE : TRACE_KIND_BOTH,
			.address = x->at[hit.word], .size = LIVE_WORD, .tid = hit.pid, .count = 1,
			.ip = hit.ip,
		};

#ifdef __x86_64__
		/* That of the next instruction: any byte of the one before names its code. */
		ref.ip--;
#endif
		if (!trace_counts_add(&x->counts, &ref))
			return atw_err_nomem(err);
	}
	return ATW_OK;
}

static int watch_emit(const struct watch_run *x, const struct references_sink *sink,
		      const struct trace_recording *rec, struct atw_err *err)
{
	int r = sink->head(sink->arg, rec, err);

	for (size_t i = 0; i < x->counts.n && r >= 0; i++) {
		struct trace_ref ref = trace_counts_get(&x->counts, i), write = ref;

		if (ref.kind == TRACE_KIND_BOTH) {
			uint64_t writes;

			write.kind = TRACE_KIND_WRITE;
			writes = trace_counts_of(&x->counts, &write);
			ref.kind = TRACE_KIND_READ;
			ref.count = ref.count > writes ? ref.count - writes : 0;
		}
		if (ref.count)
			r = sink->ref(sink->arg, &ref, err);
	}
	return r < 0 ? r : ATW_OK;
}

static int watch_record(struct watch_run *x, pid_t pid, const struct references_options *o,
			struct references_range *range, struct trace_recording *rec, int *status,
			struct atw_err *err)
{
	int r = references_ranges(o, rec, range, err) ?:
		live_exec_open(&x->exec, pid, err) ?:
		live_watch_open(&x->w, pid, &x->words, err) ?:
		watch_place(x, range, o->nranges, err) ?:
		references_program_follow(pid, x->exec, watch_drain, x, rec, status, err);

	if (r < 0)
		references_program_kill(pid, status);
	else
		rec->lost = live_watch_lost(x->w);
	return r;
}

static int watch_run(char *const argv[], const struct references_options *o,
		     const struct references_sink *sink, struct trace_recording *rec, int *status,
		     struct atw_err *err)
{
	struct watch_run x = { .n = 0 };
	struct references_program *p = malloc(sizeof(*p));
	struct references_range *range = calloc(o->nranges + 1, sizeof(*range));
	pid_t pid;
	int r = p && range ? ATW_OK : atw_err_nomem(err);

	*rec = (struct trace_recording){ .backend = "watch", .scale = 1 };
	if (r == ATW_OK && !o->nranges)
		r = atw_err_set(err, ATW_E_USAGE, "cannot watch all of memory: a range is missing");
	if (r == ATW_OK)
		r = references_program_find(argv[0], p, err) ?:
		    references_program_start(p, argv, rec, &pid, err) ?:
		    watch_record(&x, pid, o, range, rec, status, err) ?:
		    watch_emit(&x, sink, rec, err);
	live_watch_close(x.w);
	live_exec_close(x.exec);
	trace_counts_deinit(&x.counts);
	free(range);
	free(p);
	return r;
}

const struct references_backend references_watch = {
	.name = "watch",
	.gives = "exact counts of instructions that access a few words of a program",
	.needs = "hardware breakpoints",
	.needs_range = true,
	.probe = watch_probe,
	.run = watch_run,
};
