/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.c - from the options about rows to an output, and its end. */

#include "command.h"
#include "plugins.h"
#include "host/host.h"
#include "record/schema.h"

static bool rows_mentions(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = text; s && (s = strstr(s, word)); s++)
		if ((s == text || !strchr("abcdefghijklmnopqrstuvwxyz_", s[-1])) &&
		    !strchr("abcdefghijklmnopqrstuvwxyz_", s[n] ? s[n] : ' '))
			return true;
	return false;
}

static bool rows_is_mentioned(const struct common *c, const char *column)
{
	return rows_mentions(c->asked, column) || rows_mentions(c->inputs, column) || rows_mentions(c->columns, column) || rows_mentions(c->filter, column) ||
	       rows_mentions(c->sort, column) || rows_mentions(c->group, column);
}

bool asks_for(const struct common *c, const char *column)
{
	char change[32];                 /* of --watch */
	const char *other;
	bool is = rows_is_mentioned(c, column);

	for (size_t i = 0; !is && (other = schema_other_name(column, i)); i++)
		is = rows_is_mentioned(c, other);
	snprintf(change, sizeof(change), "d_%s", column);
	return is || rows_is_mentioned(c, change);
}

/* Without --color, only a terminal gets colors. */
static bool rows_is_colored(const struct common *c)
{
	switch (c->color) {
	case COLOR_ALWAYS:
		return true;
	case COLOR_NEVER:
		return false;
	case COLOR_AUTO:
		break;
	}
	return !c->output && isatty(STDOUT_FILENO);
}

bool threads_to_use(const struct common *c, unsigned *ret, struct atw_err *err)
{
	enum { MOST = 64 };
	uint64_t n = host_cpus_allowed();

	if (c->jobs && (!num_dec(c->jobs, strlen(c->jobs), &n) || !n))
		atw_err_set(err, ATW_E_USAGE, "--jobs: '%.40s' is not a number of CPUs", c->jobs);
	*ret = n < MOST ? (unsigned)n - 1 : MOST - 1;
	return !err->status;
}

void rows_opts(const struct common *c, struct atw_output_opts *ret)
{
	static const enum atw_units units[] = {
		[UNITS_USUAL] = ATW_UNITS_HUMAN, [UNITS_HUMAN] = ATW_UNITS_HUMAN,
		[UNITS_BYTES] = ATW_UNITS_BYTES, [UNITS_PAGES] = ATW_UNITS_PAGES,
	};
	struct atw_err unknown = { 0 };          /* reported when the source is opened */
	unsigned threads;

	threads_to_use(c, &threads, &unknown);
	*ret = (struct atw_output_opts){
		.format = format_word(c),
		.sink = c->sink,
		.path = c->output,
		.columns = c->columns,
		.filter = c->filter,
		.sort = c->sort,
		.group = c->group,
		.units = units[c->units],
		.page_shift = 12,
		.color = rows_is_colored(c),
		.threads = threads,
		.tap = c->tap,
		.sum = c->sum,
		.annotators = c->plugins ? c->plugins->annotators : NULL,
		.nannotators = c->plugins ? c->plugins->nannotators : 0,
	};
}

int output_end(struct atw_output *out, int r, int status, struct atw_err *err)
{
	if (r == ATW_E_LIMIT) {
		status = print_error(err);
		r = ATW_OK;
	}
	if (r == ATW_OK)
		r = atw_output_commit(out, err);
	if (r < 0)
		status = print_error(err);
	atw_output_close(out);
	return status;
}
