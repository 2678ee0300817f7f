/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_plugin.c - reports of plugins, made of the rows of a command. */
#include "common/plugins.h"
#include "report.h"

struct plugin_run {
	const struct plugin *plugin;
	const struct report *r;
	const struct plugin_report *report;
	void *state;
	bool begun;
	struct plugin_inputs inputs;
	int in[ATW_PLUGIN_COLUMNS];      /* columns of the command; -1: not there */
	const struct atw_schema *rows;
	struct row_batch batch;              /* the columns that it reads */
};

/* ---- rows ---- */

static int plugin_result(struct plugin_run *x, int r, const struct atw_err *why,
			 struct atw_err *err)
{
	struct atw_err e = *why;

	r = batch_result(r, x->plugin->name, &e);
	return atw_err_give(err, r, &e);
}

static int plugin_pass_batch(struct plugin_run *x, struct atw_err *err)
{
	const union atw_cell *in[ATW_PLUGIN_COLUMNS];
	const uint64_t *known[ATW_PLUGIN_COLUMNS];
	const struct atw_batch b = {
		.size = sizeof(b), .nrows = (uint32_t)x->batch.n, .in = in, .in_known = known,
	};
	struct atw_err why = { 0 };
	int r;

	if (!x->batch.n)
		return ATW_OK;
	for (size_t i = 0; i < x->report->in.n; i++) {
		in[i] = x->in[i] < 0 ? NULL : batch_cells(&x->batch, i);
		known[i] = x->in[i] < 0 ? NULL : batch_known(&x->batch, i);
	}
	r = plugin_result(x, x->report->of.rows(x->state, &b, &why), &why, err);
	batch_clear(&x->batch);
	return r;
}

/* `sc`: its rows, NULL: there are none. */
static int plugin_begin(struct plugin_run *x, const struct atw_schema *sc, struct atw_err *err)
{
	const struct report *r = x->r;
	struct atw_listing l = {
		.size = sizeof(l), .name = x->report->of.name,
		.flags = !r->here ? 0 : ATW_LISTING_RUNNING |
			 (report_has_own_pids(r->source, r->nsources) ? ATW_LISTING_PIDS : 0),
		.ninputs = sc ? (uint32_t)x->report->in.n : 0, .inputs = x->inputs.at,
	};
	struct atw_err why = { 0 };
	int status = ATW_OK;

	if (r->o->source.allow)
		l.flags |= ATW_LISTING_UNREADABLE;
	if (sc)
		batch_describe_inputs(&x->report->in, sc, x->in, &x->inputs);
	x->state = x->plugin->instance;
	if (x->report->of.begin)
		status = plugin_result(x, x->report->of.begin(x->plugin->instance, &l, &x->state, &why),
				       &why, err);
	x->begun = status == ATW_OK;
	return status;
}

static int plugin_tap_open(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	struct plugin_run *x = arg;
	int r = x->begun ? atw_err_set(err, ATW_E_UNSUPPORTED, "the command has several listings")
			 : batch_find_inputs(&x->report->in, sc, x->in, err);

	if (r < 0)
		return atw_err_wrap(err, "plugin %s", x->plugin->name);
	x->rows = sc;
	return batch_init(&x->batch, x->report->in.n, err) ?: plugin_begin(x, sc, err);
}

static int plugin_tap_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct plugin_run *x = arg;
	bool done = true;

	for (size_t i = 0; i < x->report->in.n; i++)
		if (x->in[i] >= 0)
			done &= batch_set(&x->batch, i, &x->rows->col[x->in[i]],
					  row->v[x->in[i]], row->have >> x->in[i] & 1);
	if (!done)
		return atw_err_nomem(err);
	batch_added(&x->batch);
	return x->batch.n == ROW_BATCH_ROWS ? plugin_pass_batch(x, err) : ATW_OK;
}

/* ---- the command ---- */

/* Those with rows about a SOURCE. */
static const struct command *const plugin_commands[] = {
	&cmd_pages, &cmd_map, &cmd_ps, &cmd_report, &cmd_info, &cmd_vms,
};

static const struct command *plugin_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(plugin_commands); i++)
		if (!strcmp(plugin_commands[i]->name, name))
			return plugin_commands[i];
	return NULL;
}

/* Reads its rows. Prints errors; 0 or an exit status. */
static int plugin_read(struct plugin_run *x, const struct report *r)
{
	const struct census_source_opts *o = &r->o->source;
	const struct atw_tap tap = { .open = plugin_tap_open, .row = plugin_tap_row, .arg = x };
	const char *const *from = x->report->of.from;
	const struct command *cmd = from ? plugin_command(from[0]) : NULL;
	struct command_args a = { 0 };
	struct buf asked = { 0 };
	struct atw_err err = { 0 };
	char pid[24];
	int status;

	if (!from)
		return EXIT_COMPLETE;
	if (!cmd) {
		atw_err_set(&err, ATW_E_DAMAGED, "plugin %s: report '%s' reads from '%.40s', which is not one of pages, map, ps, report, info and vms",
			    x->plugin->name, x->report->of.name, from[0]);
		return print_error(&err);
	}
	command_arg_common(&a, r->c);
	for (size_t i = 1; from[i]; i++)
		command_arg(&a, from[i]);
	snprintf(pid, sizeof(pid), "%" PRIu64, o->space.pid.u);
	command_arg_option(&a, "--pid", o->space.pid.given ? pid : NULL);
	command_arg_option(&a, "--task", o->space.task);
	command_arg_option(&a, "--kernel", o->space.kernel);
	if (o->allow)
		command_arg(&a, "--allow-unreadable");
	for (size_t i = 0; i < r->nsources; i++)
		command_arg(&a, r->source[i]);
	for (size_t i = 0; i < x->report->in.n; i++)
		buf_printf(&asked, "%s%s", i ? "," : "", x->report->in.v[i].name);
	if (a.failed || asked.failed)
		status = print_nomem();
	else
		status = command_tap(cmd, r->c, &tap, asked.data ? asked.data : "", a.n, a.v);
	command_args_deinit(&a);
	buf_deinit(&asked);
	return status;
}

/* ---- the report ---- */

/* Emits what it made of all rows. Prints errors. */
static int plugin_finish(struct plugin_run *x, struct atw_output *out, int status)
{
	struct atw_plugin_output to = { .out = out, .plugin = x->plugin, .report = x->report };
	struct atw_err err = { 0 }, why = { 0 };
	/* Of no rows, none were announced. */
	int r = (x->begun ? ATW_OK : plugin_begin(x, NULL, &err)) ?:
		plugin_pass_batch(x, &err) ?:
		plugin_result(x, x->report->of.finish(x->state, &to, &why), &why, &err) ?:
		atw_output_commit(out, &err);

	if (r < 0)
		return print_error(&err);
	return to.incomplete ? EXIT_PARTIAL : status;
}

/* A plugin that was named for its report need not have columns for its rows. */
static void plugin_annotators(const struct plugin_run *x, struct plugins *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nannotators; i++) {
		if (g->annotators[i].plugin == x->plugin->name)
			continue;
		g->annotators[n] = g->annotators[i];
		g->annotators[n++].lenient = true;
	}
	g->nannotators = n;
}

static int plugin_make(struct plugin_run *x, const struct report *r)
{
	struct atw_column col[ATW_PLUGIN_COLUMNS];
	struct atw_names names[ATW_PLUGIN_COLUMNS];
	const struct atw_schema sc = { x->report->of.name, col, x->report->out.n };
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = { 0 };
	int status;

	for (size_t i = 0; i < x->report->out.n; i++)
		col[i] = batch_column(&x->report->out.v[i], &names[i]);
	plugin_annotators(x, r->c->plugins);
	rows_opts(r->c, &oo);
	oo.ahead = oo.page_units = true;
	oo.limit = r->o->limit.u;
	if (atw_output_open(&oo, &sc, &out, &err) < 0)
		return print_error(&err);
	status = plugin_read(x, r);
	if (!status || status == EXIT_PARTIAL)
		status = plugin_finish(x, out, status);
	if (x->begun && x->report->of.end)
		x->report->of.end(x->state);
	batch_deinit(&x->batch);
	atw_output_close(out);
	return status;
}

/* Options that mean something for other reports. */
static const char *plugin_refused(const struct report *r, bool reads)
{
	const struct report_opts *o = r->o;
	const struct space_opts *space = &o->source.space;

	/* A command that is read from selects these. */
	if (!reads && (space->pid.given || space->task))
		return space->task ? "--task" : "--pid";

	return o->virtual ? "--virtual" : o->paper ? "--paper" : o->bare ? "--kernel-threads" :
	       o->watch	  ? "--watch"	: o->by	   ? "--by"    : NULL;
}

bool report_plugin_run(struct report *r, int argc, char **argv, int *ret)
{
	struct plugin_run x = { .r = r };
	const char *refused;

	x.report = plugins_report(r->c, argv[0], &x.plugin);
	if (!x.report)
		return false;
	refused = plugin_refused(r, x.report->of.from);
	r->source = argv + 1;
	r->nsources = (size_t)argc - 1;
	if (argc < 2)
		*ret = usage_error("report", "SOURCE is missing");
	else if (refused)
		*ret = usage_error("report", "%s cannot be used with report %s", refused, argv[0]);
	else if (r->o->limit.given && !r->o->limit.u)
		*ret = usage_error("report", "--limit must be at least 1");
	else if (r->c->format >= FORMAT_SVG)
		*ret = usage_error("report", "--format %s: report %s has no picture",
				   format_word(r->c), argv[0]);
	else
		*ret = check_output(r->c, argv[1]) ?: plugin_make(&x, r);
	return true;
}
