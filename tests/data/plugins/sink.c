/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.c - a format for tests/cli/plugin-sink.sh: a line for each column, one for each batch
 * with the sum of the first column, and one at the end. By -D, one that is wrong in some way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/plugin.h>

static const struct atw_host *host;

struct table {
	struct atw_plugin_stream *to;
	unsigned long rows, batches;
};

static int put(struct table *t, struct atw_err *err, const char *text)
{
	return host->write(t->to, text, strlen(text), err);
}

static int begin(void *instance, const struct atw_listing *l, struct atw_plugin_stream *to,
		 void **ret, struct atw_err *err)
{
	struct table *t = calloc(1, sizeof(*t));
	char line[200];
	int r = ATW_OK;

	t->to = to;
#ifdef FAILS_AT_ONCE
	free(t);
	return host->error(err, ATW_E_UNSUPPORTED, "%s is not to its liking", l->name);
#endif
	for (uint32_t i = 0; i < l->ninputs && r == ATW_OK; i++) {
		const struct atw_plugin_column *c = l->inputs[i];

		snprintf(line, sizeof(line), "%s %u %s %s\n", c->name, c->type,
			 c->unit ? c->unit : "-", c->letters ? c->letters : "-");
		r = put(t, err, line);
	}
	*ret = t;
	return r;
}

static int rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct table *t = state;
	char line[100];
	uint64_t sum = 0;

	t->batches++;
#ifdef FAILS_LATER
	if (t->batches == FAILS_LATER)
		return host->error(err, ATW_E_DAMAGED, "batch %lu is not to its liking", t->batches);
#endif
#ifdef FAILS_SILENTLY
	return -1000;
#endif
	if (b->out || b->out_known)
		return host->error(err, ATW_E_DAMAGED, "there is room for columns");
#ifdef LARGE
	/* More than any buffer, in one piece. */
	{
		static char large[1 << 20];

		memset(large, 'x', sizeof(large));
		return host->write(t->to, large, sizeof(large), err);
	}
#endif
#ifdef IGNORES
	for (int i = 0; i < 1000; i++)
		put(t, err, "a line that is longer than nothing\n");
	return ATW_OK;
#endif
	for (uint32_t i = 0; i < b->nrows; i++)
		if (b->in_known[0][i / 64] >> i % 64 & 1)
			sum += b->in[0][i].u;
	t->rows += b->nrows;
	snprintf(line, sizeof(line), "%u rows, sum %llu\n", b->nrows, (unsigned long long)sum);
	return put(t, err, line);
}

static int finish(void *state, struct atw_err *err)
{
	struct table *t = state;
	char line[100];

#ifdef FAILS_AT_THE_END
	return host->error(err, ATW_E_DAMAGED, "%lu rows are not to its liking", t->rows);
#endif
	snprintf(line, sizeof(line), "%lu rows in %lu batches\n", t->rows, t->batches);
	return put(t, err, line);
}

static void end(void *state)
{
	free(state);
}

#ifndef FORMAT
#define FORMAT "lines"
#endif

static const struct atw_plugin_sink sink_of = {
	.size = sizeof(sink_of), .name = FORMAT, .help = "lines for tests",
#ifdef FLAGS
	.flags = FLAGS,
#endif
	.begin = begin,
#ifndef LACKS_ROWS
	.rows = rows,
#endif
	.finish = finish, .end = end,
};

static const struct atw_plugin_sink *sink(void *instance, uint32_t i)
{
#ifdef TWICE
	return i < 2 ? &sink_of : NULL;
#endif
	return i ? NULL : &sink_of;
}

static int start(const struct atw_host *h, const char *options, void **ret, struct atw_err *err)
{
	host = h;
	return ATW_OK;
}

#ifndef NOTED
#define NOTED FORMAT
#endif

ATW_PLUGIN_WITH("lines", "1", ATW_PLUGIN_SINK, "for tests", NOTED, "", "",
		.start = start, .sink = sink);
