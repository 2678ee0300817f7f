/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_check.c - policies over a source: those of files, or those that are installed. */
#include <stdio.h>

#include "atwalk.h"
#include "check_baseline.h"
#include "check_looks.h"
#include "check_report.h"
#include "common/language.h"
#include "host/host.h"

struct check_opts {
	const char *passed[CHECK_PASSED];
	enum check_report report;
	const char *baseline;
	bool update, children;
	const char *at;
};

static const struct opt_choice check_reports[] = {
	{"junit", CHECK_JUNIT},
	{"github", CHECK_GITHUB},
	{NULL, 0},
};

#define CHECK_PASS(name, which, arg, help)                                               \
	{                                                                                \
		0, name, OPT_TEXT, offsetof(struct check_opts, passed[which]), arg,      \
			help, NULL                                                       \
	}
#define CHECK_OPTIONS                                                                    \
	{0,                                                                              \
	 "report",                                                                       \
	 OPT_CHOICE,                                                                     \
	 offsetof(struct check_opts, report),                                            \
	 "FORMAT",                                                                       \
	 "write a report for a CI system instead of rows",                               \
	 check_reports},                                                                 \
		CHECK_PASS(                                                              \
			"kernel", CHECK_KERNEL, "FILE",                                  \
			"read missing symbols and types from FILE (vmlinux, System.map or BTF)"),   \
		CHECK_PASS("root", CHECK_ROOT, "PHYS",                                   \
			   "use the root table at physical address PHYS"),                        \
		CHECK_PASS("paging", CHECK_PAGING, "MODE",                               \
			   "use paging mode MODE; `atwalk info --paging-modes` lists them"),  \
		CHECK_PASS("pte-ext", CHECK_PTE_EXT, "LIST",                             \
			   "enable extensions of the paging mode: lpa2, thead, svrsw60t59b, ipa=N"),   \
		CHECK_PASS("cbit", CHECK_CBIT, "BIT",                                    \
			   "mask entry bit BIT, which marks encrypted memory (SME, SEV, TDX)")

static const struct opt options[] = {
	{0, "baseline", OPT_TEXT, offsetof(struct check_opts, baseline), "FILE",
	 "compare the counts of rules 'track' with those in FILE", NULL},
	{0, "update", OPT_FLAG, offsetof(struct check_opts, update), NULL,
	 "write the counts to the file of --baseline", NULL},
	{0, "at", OPT_TEXT, offsetof(struct check_opts, at), "WHEN,...",
	 "check COMMAND at its exit (default), at peaks of its memory (peak), or when it is "
	 "sent SIGUSR1 or SIGUSR2 (usr1, usr2)",
	 NULL},
	{0, "children", OPT_FLAG, offsetof(struct check_opts, children), NULL,
	 "check the processes that COMMAND starts as well, each by itself", NULL},
	CHECK_PASS("pid", CHECK_PID, "N", "check process N where a listing names none"),
	CHECK_PASS("task", CHECK_TASK, "NAME", "check the process called NAME, likewise"),
	CHECK_OPTIONS,
	{0},
};
static const struct opt check_audit_options[] = {CHECK_OPTIONS, {0}};

enum {
	K_POLICY,
	K_VERDICT,
	K_SEVERITY,
	K_COUNT,
	K_LIMIT,
	K_AT,
	K_TASK,
	K_PID,
	K_LOOKS,
	K_RULE,
	K_OVER,
	K_BECAUSE,
	K_WHERE,
	K_WHAT,
	K_COLUMNS,
};

static const struct atw_names check_verdicts = {
	.n = 3,
	.name =
		(const char *const[]){
			[CHECK_OK] = "ok",
			[CHECK_VIOLATED] = "violated",
			[CHECK_UNKNOWN] = "unknown",
		},
};
static const struct atw_names check_severities = {
	.n = 2,
	.name = (const char *const[]){"error", "warning"},
};

static const struct atw_column check_columns[K_COLUMNS] = {
	[K_POLICY] = {.key = "policy",
		      .type = ATW_T_TEXT,
		      .width = 20,
		      .help = "name of the policy"},
	[K_VERDICT] = {.key = "verdict",
		       .type = ATW_T_ENUM,
		       .names = &check_verdicts,
		       .help = "ok, violated or unknown"},
	[K_SEVERITY] = {.key = "severity",
			.type = ATW_T_ENUM, .names = &check_severities, .hidden = true,
			.help = "error, or warning: no exit status"},
	[K_COUNT] = {.key = "count",
		     .type = ATW_T_COUNT,
		     .help = "rows that match, or the sum of a column over them"},
	[K_LIMIT] = {.key = "limit",
		     .type = ATW_T_COUNT,
		     .help = "the most or the least that is allowed"},
	[K_AT] = {.key = "at",
		  .type = ATW_T_TEXT,
		  .hidden = true,
		  .help = "moment of the look at COMMAND that decides"},
	[K_TASK] = {.key = "task",
		    .type = ATW_T_TEXT,
		    .hidden = true,
		    .help = "name of the process that was looked at then"},
	[K_PID] = {.key = "pid",
		   .type = ATW_T_COUNT,
		   .hidden = true,
		   .help = "its PID"},
	[K_LOOKS] = {.key = "looks",
		     .type = ATW_T_COUNT,
		     .hidden = true,
		     .help = "number of looks at COMMAND"},
	[K_RULE] = {.key = "rule",
		    .type = ATW_T_TEXT,
		    .hidden = true,
		    .help = "the rule"},
	[K_OVER] = {.key = "over",
		    .type = ATW_T_TEXT,
		    .hidden = true,
		    .help = "the listing"},
	[K_BECAUSE] = {.key = "because",
		       .type = ATW_T_TEXT,
		       .hidden = true,
		       .help = "the reason for the policy"},
	[K_WHERE] = {.key = "where",
		     .type = ATW_T_TEXT,
		     .width = 20,
		     .help = "file and line of the rule"},
	[K_WHAT] = {.key = "what",
		    .type = ATW_T_TEXT,
		    .help = "the first rows that violate it, or why it is not known"},
};
static const struct atw_schema check_schema = {"check", check_columns, K_COLUMNS};

/* ---- results ---- */

static int check_put(struct atw_output *out, const struct check_result *r,
		     struct atw_err *err)
{
	const struct policy *p = r->policy;
	struct buf rule = {0};
	char where[320];
	union atw_value v[K_COLUMNS] = {
		[K_POLICY].s = p->name,
		[K_VERDICT].u = r->verdict,
		[K_SEVERITY].u = p->warning,
		[K_COUNT].u = r->count,
		[K_LIMIT].u = r->limit,
		[K_AT].s = r->moment,
		[K_TASK].s = r->task,
		[K_PID].u = r->pid,
		[K_LOOKS].u = r->looks,
		[K_OVER].s = p->over->value,
		[K_BECAUSE].s = p->because ? p->because->value : NULL,
		[K_WHERE].s = where,
		[K_WHAT].s = r->what.len ? r->what.data : "",
	};
	struct atw_row row = {v, (1u << K_COLUMNS) - 1};
	int rc;

	check_rule(&rule, p);
	v[K_RULE].s = rule.data;
	snprintf(where, sizeof(where), "%.255s:%d", p->rule_at->file, p->rule_at->line);
	row.have &=
		~((r->counted ? 0 : 1u << K_COUNT) | (r->limited ? 0 : 1u << K_LIMIT) |
		  (p->because ? 0 : 1u << K_BECAUSE) |
		  (r->moment ? 0 : 1u << K_AT | 1u << K_TASK | 1u << K_PID | 1u << K_LOOKS));
	rc = rule.failed ? atw_err_nomem(err) : atw_output_row(out, &row, err);
	buf_deinit(&rule);
	return rc;
}

/* Rows about a program have the moment of the look. */
static int check_show(const struct checking *k)
{
	struct atw_column columns[K_COLUMNS];
	const struct atw_schema looks = {check_schema.name, columns, K_COLUMNS};
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = {0};
	int r;

	output_opts(k->c, NULL, &oo);
	oo.ahead = true;
	memcpy(columns, check_columns, sizeof(columns));
	columns[K_AT].hidden = columns[K_TASK].hidden = !k->runs;
	/* A warning that is violated does not fail: what is one has to be seen. */
	for (size_t i = 0; i < k->policies->n; i++)
		columns[K_SEVERITY].hidden &= !k->policies->v[i].warning;
	r = atw_output_open(&oo, &looks, &out, &err);
	for (size_t i = 0; i < k->policies->n && r == ATW_OK; i++)
		r = check_put(out, &k->result[i], &err);
	return output_end(out, r, EXIT_COMPLETE, &err);
}

static int check_status(const struct checking *k)
{
	size_t violated = 0, unknown = 0;

	for (size_t i = 0; i < k->policies->n; i++) {
		const struct check_result *r = &k->result[i];

		violated += !r->policy->warning && r->verdict == CHECK_VIOLATED;
		unknown += !r->policy->warning && r->verdict == CHECK_UNKNOWN;
	}
	if (unknown)
		print_incomplete("%s: %zu of %zu policies cannot be decided", k->source,
			      unknown, k->policies->n);
	return violated ? EXIT_NO : unknown ? EXIT_PARTIAL : EXIT_COMPLETE;
}

/* ---- the command ---- */

/* What is known now. */
static int check_answer(struct checking *k, const struct check_opts *o,
			const char *command)
{
	int status = EXIT_COMPLETE;

	if (o->update)
		status = check_baseline_write(k, o->baseline);
	if (!status)
		status = o->report ? check_report_write(k, command, o->report)
				   : check_show(k);
	return status ? status : check_status(k);
}

static int check_once(struct checking *k, const struct check_opts *o, const char *command)
{
	int status = checking_run(k);

	return status ? status : check_answer(k, o, command);
}

/* What was typed about rows suits them, before anything is read. */
static int check_rows(const struct common *c)
{
	struct atw_output_opts oo;
	struct atw_err err = {0};

	output_opts(c, NULL, &oo);
	return atw_output_check(&oo, &check_schema, &err) < 0 ? print_error(&err)
							      : EXIT_COMPLETE;
}

static int check_source(const struct common *c, const char *name)
{
	struct session s = {0};
	int status = session_open(c, name, &s);

	if (!status)
		session_close(&s);
	return status;
}

/* A look that did not come makes the answer incomplete, and no worse answer better. */
static int check_running(struct checking *k, const struct check_opts *o, char **argv)
{
	struct check_command x = {.children = o->children};
	int answer, status = check_looks_moments(o->at ? o->at : "exit", &x.at);

	if (!status)
		status = check_looks_run(k, &x, argv);
	if (k->result && (!status || status == EXIT_PARTIAL)) {
		answer = check_answer(k, o, "check");
		status = answer ? answer : status;
	}
	return check_command_end(&x, status);
}

struct check_what {
	const char *command;
	char *const *file; /* none: the security policies */
	size_t n;
	const char *source;
	char **run; /* the program to run; NULL: none */
};

static int check_all(const struct common *c, const struct check_opts *o,
		     const struct check_what *w)
{
	struct policies policies = {0};
	struct config baseline = {0};
	struct checking k = {
		.c = c, .source = w->source, .runs = w->run, .policies = &policies};
	int status;

	/* A report says why in the same words on every machine. */
	language_plain(language_is_plain() || o->report);
	memcpy(k.passed, o->passed, sizeof(k.passed));
	diagnostics_once(true);
	status = w->n ? policies_read(&policies, w->file, w->n)
		      : policies_read_installed(&policies, "security");
	if (!status && o->baseline)
		status = check_baseline_read(&baseline, o->baseline, o->update);
	k.baseline = o->baseline ? &baseline : NULL;
	if (!status)
		status = check_rows(c);
	if (!status)
		status = check_source(c, w->source);
	if (!status && w->run)
		status = check_running(&k, o, w->run);
	else if (!status)
		status = check_once(&k, o, w->command);
	diagnostics_once(false);
	checking_release(&k);
	config_release(&baseline);
	policies_release(&policies);
	return status;
}

static int check_options(const char *command, const struct common *c,
			 const struct check_opts *o)
{
	if (o->update && !o->baseline)
		return usage_error(command, "--update needs --baseline FILE");
	if (o->report && (c->format || c->columns || c->filter || c->sort || c->group))
		return usage_error(command,
				      "--report cannot be used with options about rows");
	return EXIT_COMPLETE;
}

/* In a PID namespace only /proc has the numbers that fork(2) returns. */
static const char *check_own_source(void)
{
	return host_first_pid_namespace() ? "live" : "live:pagemap";
}

static int check_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct check_opts *o = opts;
	const bool runs = c->behind > 0;
	int n = c->behind < 0 ? argc - 1 : argc - c->behind;
	struct check_what w = {.command = "check", .file = argv, .n = (size_t)n};
	int status = check_options("check", c, o);

	if (status)
		return status;
	if (!c->behind)
		return usage_error("check", "COMMAND is missing");
	if ((o->at || o->children) && !runs)
		return usage_error("check", "--%s needs COMMAND",
				   o->at ? "at" : "children");
	if (o->at && check_looks_moments(o->at, &(unsigned){0}))
		return EXIT_USAGE;
	if (n < 1)
		return usage_error("check", argc == 1 && c->behind < 0
						       ? "SOURCE is missing"
						       : "POLICY is missing");
	if (runs && (o->passed[CHECK_PID] || o->passed[CHECK_TASK]))
		return usage_error("check",
				      "--pid and --task cannot be used with COMMAND");
	w.run = runs ? argv + n : NULL;
	w.source = runs ? check_own_source() : argv[n];
	return check_all(c, o, &w);
}

static int check_audit(const struct common *c, void *opts, int argc, char **argv)
{
	const struct check_opts *o = opts;
	int status = check_options("audit", c, o);

	if (status)
		return status;
	if (argc != 1)
		return usage_error("audit", argc ? "more than one SOURCE"
						    : "SOURCE is missing");
	return check_all(c, o,
			 &(struct check_what){.command = "audit", .source = argv[0]});
}

const struct command cmd_check = {
	.name = "check",
	.args = "POLICY... SOURCE | POLICY... -- COMMAND [ARGUMENT...]",
	.summary = "check policies about mappings, pages and memory use",
	.about =
		"Evaluates the policies in the files POLICY over the rows of listings and reports of\n"
		"SOURCE. A POLICY without a slash may be an installed one: security, memory. With\n"
		"COMMAND, that program is run, and checked when it is about to end.\n"
		"Exit status 1: a policy is violated; 4: one cannot be decided, and none is violated.",
	.common = (OPT_COMMON_LISTING & ~(unsigned)(OPT_COMMON_UNITS | OPT_COMMON_PLUGINS)) |
		  OPT_COMMON_PLUGIN_SOURCES | OPT_COMMON_SENTENCES,
	.options = options,
	.opts_size = sizeof(struct check_opts),
	.run = check_run,
};

const struct command cmd_audit = {
	.name = "audit",
	.args = "SOURCE",
	.summary = "check the security policies that come with atwalk",
	.about =
		"Evaluates the installed policies 'security': writable and executable memory,\n"
		"kernel memory that user mode can access, protections of the CPU that are off.\n"
		"Exit status 1: a policy is violated; 4: one cannot be decided, and none is violated.",
	.common = (OPT_COMMON_LISTING & ~(unsigned)(OPT_COMMON_UNITS | OPT_COMMON_PLUGINS)) |
		  OPT_COMMON_PLUGIN_SOURCES | OPT_COMMON_SENTENCES,
	.options = check_audit_options,
	.opts_size = sizeof(struct check_opts),
	.run = check_audit,
};
