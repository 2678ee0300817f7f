/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.c - plugins for tests/cli/plugins.sh: right ones, and by -D each one that is wrong in
 * some way. With OLD, include/atwalk/plugin.h has shorter structs.
 */
#include <stdio.h>

#include <atwalk/plugin.h>

#define COLUMN(n, t, ...) \
	{ .size = sizeof(struct atw_plugin_column), .name = n, .type = t, __VA_ARGS__ }

static const struct atw_host *host;

/* ---- an annotator ---- */

static const char *const words[] = { "even", "odd" };

static const struct atw_plugin_column pid = COLUMN("pid", ATW_COLUMN_COUNT);
static const struct atw_plugin_column task = COLUMN("task", ATW_COLUMN_TEXT,
						    .flags = ATW_INPUT_OPTIONAL);
static const struct atw_plugin_column absent = COLUMN("no_such", 0, .flags = ATW_INPUT_OPTIONAL);
static const struct atw_plugin_column twice = COLUMN(
#ifdef SAME_NAME
	"pid",
#else
	"twice",
#endif
	ATW_COLUMN_COUNT, .help = "the pid, doubled");
static const struct atw_plugin_column parity = COLUMN("parity", ATW_COLUMN_ENUM, .help = "of the pid",
						      .names = words, .nnames = 2);
static const struct atw_plugin_column name = COLUMN("named", ATW_COLUMN_TEXT, .help = "the task",
#ifndef OLD
						    .hidden = 1
#endif
);
static const struct atw_plugin_column *const inputs[] = { &pid, &task, &absent, NULL };
static const struct atw_plugin_column *const columns[] = { &twice, &parity, &name, NULL };

static char texts[ATW_BATCH_ROWS][32];

static int rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
#ifdef FAILS
	return host->error(err, ATW_E_DAMAGED, "row %d is not to its liking", 1);
#endif
#ifdef FAILS_SILENTLY
	return 5;
#endif
	if (b->in[2])
		return host->error(err, ATW_E_DAMAGED, "there is a column 'no_such'");
	for (uint32_t i = 0; i < b->nrows; i++) {
		uint64_t bit = (uint64_t)1 << i % 64;

		/* Odd ones have no parity: that is n/a. */
		if (!(b->in_known[0][i / 64] & bit))
			continue;
		b->out[0][i].u = 2 * b->in[0][i].u;
		b->out_known[0][i / 64] |= bit;
		b->out[1][i].u = b->in[0][i].u & 1 ? 7 : 0;
		b->out_known[1][i / 64] |= bit;
		if (!b->in[1] || !(b->in_known[1][i / 64] & bit))
			continue;
		snprintf(texts[i], sizeof(texts[i]), "<%s>", b->in[1][i].s);
		b->out[2][i].s = texts[i];
		b->out_known[2][i / 64] |= bit;
	}
	return ATW_OK;
}

static const struct atw_annotator annotator_of = {
	.size = sizeof(annotator_of), .inputs = inputs, .columns = columns,
#ifndef LACKS_ROWS
	.rows = rows,
#endif
};

static const struct atw_annotator *annotator(void *instance)
{
	return &annotator_of;
}

/* ---- a report ---- */

struct sums {
	uint64_t rows, known, sum;
};
static struct sums sums;

static const struct atw_plugin_column number = COLUMN("rows", ATW_COLUMN_COUNT, .help = "number of rows");
static const struct atw_plugin_column sum = COLUMN("sum", ATW_COLUMN_COUNT, .help = "sum of the pids");
static const struct atw_plugin_column *const report_columns[] = { &number, &sum, NULL };
static const struct atw_plugin_column *const report_inputs[] = { &pid, NULL };
static const char *const from[] = {
#ifdef FROM_NOTHING
	"kmap",
#else
	"ps",
#endif
	NULL
};

static int report_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	for (uint32_t i = 0; i < b->nrows; i++) {
		sums.rows++;
		if (b->in_known[0][i / 64] >> i % 64 & 1)
			sums.sum += b->in[0][i].u;
	}
	return ATW_OK;
}

static int report_finish(void *state, struct atw_plugin_output *out, struct atw_err *err)
{
	const union atw_cell cell[] = { { .u = sums.rows }, { .u = sums.sum } };

	host->note(out, "a note about %d", 42);
#ifdef LACKS_ROWS_OF_SOME
	host->incomplete(out, "some are missing");
#endif
	return host->row(out, cell, sums.sum == 0 ? 1 : 3, err);
}

static const struct atw_plugin_report report_of = {
	.size = sizeof(report_of), .name = "pids", .help = "sum of the pids", .from = from,
	.inputs = report_inputs, .columns = report_columns, .rows = report_rows,
	.finish = report_finish,
};

#ifndef OLD
static const struct atw_plugin_report *report(void *instance, uint32_t i)
{
	return i ? NULL : &report_of;
}
#endif

/* ---- the plugin ---- */

#ifdef UNDEFINED
extern int defined_nowhere(void);
#endif

static int start(const struct atw_host *h, const char *options, void **ret, struct atw_err *err)
{
	host = h;
#ifdef UNDEFINED
	return defined_nowhere();
#endif
	if (!ATW_HAS_MEMBER(h, incomplete) || h->abi != ATW_PLUGIN_ABI)
		return h->error(err, ATW_E_UNSUPPORTED, "this atwalk is too old");
	if (options)
		return h->error(err, ATW_E_USAGE, "it has no option '%s'", options);
	return ATW_OK;
}

#ifdef RUNS_EARLY
__attribute__((constructor)) static void early(void)
{
	puts("loaded");
}
#endif

#ifdef NO_NOTE
extern ATW_API const struct atw_plugin atwalk_plugin;
const struct atw_plugin atwalk_plugin = {
	.size = sizeof(atwalk_plugin), .abi = ATW_PLUGIN_ABI, .start = start,
};
#else
ATW_PLUGIN("test", "1.5", ATW_PLUGIN_ANNOTATOR | ATW_PLUGIN_REPORT, "for tests",
#ifndef LACKS_START
	   .start = start,
#endif
#ifdef NEWER
	   .more = NEWER,
#endif
#ifndef OLD
	   .report = report,
#endif
	   .annotator = annotator);
#endif
