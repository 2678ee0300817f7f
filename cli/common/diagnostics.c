/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diagnostics.c - errors and warnings on standard error. */
#include <stdarg.h>

#include "command.h"
#include "base/message.h"
#include "base/text.h"

int exit_status(int status)
{
	return status == ATW_E_USAGE ? EXIT_USAGE :
	       status == ATW_E_LIMIT ? EXIT_PARTIAL :
	       status == ATW_E_NONE  ? EXIT_NO : EXIT_SOURCE;
}

static unsigned diagnostics_silent;

void diagnostics_silence(bool silent)
{
	diagnostics_silent += silent ? 1 : -1U;
}

bool diagnostics_are_silent(void)
{
	return diagnostics_silent;
}

static void diagnostics_put(const char *s)
{
	if (!diagnostics_silent)
		fputs(s, stderr);
}

/* Names in files are untrusted: escape control characters for the terminal. */
static void diagnostics_put_text(const char *s)
{
	struct buf b = { 0 };

	text_plain(&b, s);
	diagnostics_put(b.failed ? _("out of memory") : b.data);
	diagnostics_put("\n");
	buf_deinit(&b);
}

/* The option for each parameter of the library, and its hint. */
static const struct {
	const char *option;
	const char *remedy;      /* if giving it would help */
	const char *query;       /* the same in a query, if that is not by an option */
} params[ATW_PARAMS] = {
	[ATW_PARAM_ROOT] = {
		"--root", N_("specify it with --root PHYS --paging MODE"),
	},
	[ATW_PARAM_PAGING] = { "--paging", NULL },
	[ATW_PARAM_PTE_EXT] = { "--pte-ext", NULL },
	[ATW_PARAM_CPU] = { "--cpu", NULL },
	[ATW_PARAM_KERNEL_FILE] = { "--kernel", N_("use --kernel System.map to add symbols") },
	[ATW_PARAM_FORMAT] = { "--format", NULL },
	[ATW_PARAM_COLUMNS] = { "--columns", NULL },
	[ATW_PARAM_FILTER] = { "--filter", NULL },
	[ATW_PARAM_SORT] = { "--sort", NULL },
	[ATW_PARAM_GROUP] = { "--group", NULL },
	[ATW_PARAM_SYMBOLS] = { "--symbols", NULL },
	[ATW_PARAM_LEVEL] = { "--level", NULL },
	[ATW_PARAM_CUT] = { "--cut", NULL },
	[ATW_PARAM_TOP] = { "--top", N_("--top N shows more") },
	[ATW_PARAM_CALLS] = { "--calls", N_("record them with kmap record --calls") },
	[ATW_PARAM_BARE] = { "--kernel-threads", N_("--kernel-threads lists them") },
	[ATW_PARAM_HOST] = { "--host", N_("--host NAME names the machine") },
	[ATW_PARAM_TIME] = { "--time", N_("--time SECONDS says when it was taken, in seconds since 1970") },
	[ATW_PARAM_PROCESS] = {
		"--pid", N_("use --pid N to select a process"), N_("add WHERE pid = N to the query"),
	},
	[ATW_PARAM_LAYOUT] = {
		"--layout", N_("specify it with --layout GPA:HVA:LEN,..."),
	},
};

static const struct opt_set *diagnostics_sets;
static size_t diagnostics_nsets;

void diagnostics_of_options(const struct opt_set *sets, size_t n)
{
	diagnostics_sets = sets;
	diagnostics_nsets = n;
}

/* Some remedies are options of other commands. */
static bool diagnostics_lacks(int param)
{
	return diagnostics_sets && (param == ATW_PARAM_ROOT || param == ATW_PARAM_KERNEL_FILE) &&
	       !options_have(diagnostics_sets, diagnostics_nsets, params[param].option + 2);
}

static bool diagnostics_queried, diagnostics_lacking;

void diagnostics_of_query(bool query)
{
	diagnostics_queried = query;
	if (query)
		diagnostics_lacking = false;
}

bool diagnostics_are_of_query(void)
{
	return diagnostics_queried;
}

bool diagnostics_query_lacks(void)
{
	return diagnostics_lacking;
}

const char *param_remedy(int param)
{
	bool known = param > ATW_PARAM_NONE && param < ATW_PARAMS;

	if (known && diagnostics_queried && params[param].query)
		return message(params[param].query);
	return known && params[param].remedy && !diagnostics_lacks(param) ? message(params[param].remedy) : "";
}

const char *error_hint(const struct atw_err *err)
{
	return err->hint[0] ? err->hint : param_remedy(err->remedy);
}

static const char *diagnostics_origin;
static char diagnostics_text[400];
static bool diagnostics_misuses;

void diagnostics_from(const char *origin)
{
	diagnostics_origin = origin;
	diagnostics_text[0] = '\0';
	diagnostics_misuses = false;
}

bool diagnostics_misused(void)
{
	return diagnostics_misuses;
}

const char *diagnostics_first(void)
{
	return diagnostics_text;
}

static void diagnostics_keep(const char *text)
{
	if (diagnostics_origin && !diagnostics_text[0])
		snprintf(diagnostics_text, sizeof(diagnostics_text), "%.399s", text);
}

static void diagnostics_put_origin(int status)
{
	diagnostics_put("atwalk: ");
	if (diagnostics_origin && status == ATW_E_USAGE) {
		diagnostics_put(diagnostics_origin);
		diagnostics_put(_(": "));
	}
}

/* Lines that were printed since diagnostics_once(true). */
static struct {
	bool on;
	char **v;
	size_t n, cap;
} diagnostics_lines;

void diagnostics_once(bool once)
{
	for (size_t i = 0; i < diagnostics_lines.n; i++)
		free(diagnostics_lines.v[i]);
	free(diagnostics_lines.v);
	memset(&diagnostics_lines, 0, sizeof(diagnostics_lines));
	diagnostics_lines.on = once;
}

/* A line that there is no memory to keep is printed again. */
static bool diagnostics_is_new(const char *text)
{
	enum { MOST = 256 };
	char *copy;

	if (!diagnostics_lines.on || diagnostics_silent)
		return true;
	for (size_t i = 0; i < diagnostics_lines.n; i++)
		if (!strcmp(diagnostics_lines.v[i], text))
			return false;
	if (diagnostics_lines.n < MOST &&
	    ARRAY_ROOM(diagnostics_lines.v, diagnostics_lines.n, diagnostics_lines.cap) &&
	    (copy = strdup(text)))
		diagnostics_lines.v[diagnostics_lines.n++] = copy;
	return true;
}

static char diagnostics_names[ATW_PARAMS][160];

void diagnostics_name(int param, const char *name)
{
	snprintf(diagnostics_names[param], sizeof(diagnostics_names[0]), "%s", name);
}

/* Was it printed? */
static bool diagnostics_put_error(const struct atw_err *err)
{
	diagnostics_keep(err->text);
	if (err->status != ATW_E_USAGE && !diagnostics_is_new(err->text))
		return false;
	diagnostics_put_origin(err->status);
	if (err->param > ATW_PARAM_NONE && err->param < ATW_PARAMS) {
		diagnostics_put(diagnostics_names[err->param][0] ? diagnostics_names[err->param]
								 : params[err->param].option);
		diagnostics_put(_(": "));
	}
	diagnostics_put_text(err->text);
	return true;
}

int print_error(const struct atw_err *err)
{
	const char *hint = error_hint(err);

	diagnostics_lacking |= diagnostics_queried && err->status == ATW_E_USAGE &&
			       err->remedy > ATW_PARAM_NONE && err->remedy < ATW_PARAMS &&
			       params[err->remedy].query;
	if (diagnostics_put_error(err) && *hint) {
		diagnostics_put("        ");
		diagnostics_put_text(hint);
	}
	return exit_status(err->status);
}

int print_nomem(void)
{
	struct atw_err err;

	atw_err_nomem(&err);
	return print_error(&err);
}

static void diagnostics_put_help(const char *command)
{
	char text[256];

	snprintf(text, sizeof(text), _("see: atwalk %s --help"), command);
	diagnostics_put("        ");
	diagnostics_put(text);
	diagnostics_put("\n");
}

int usage_error_of(const char *command, const struct atw_err *err)
{
	diagnostics_misuses = true;
	diagnostics_put_error(err);
	diagnostics_put_help(command);
	return EXIT_USAGE;
}

/* One line, with what the program is called in front. */
static void diagnostics_put_line(int status, const char *fmt, va_list ap)
{
	char text[sizeof(((struct atw_err *)0)->text)];
	int n = vsnprintf(text, sizeof(text), message(fmt), ap);

	if (n > 0 && (size_t)n >= sizeof(text))
		text[text_whole(text, sizeof(text) - 1)] = '\0';
	if (status != ATW_OK)
		diagnostics_keep(text);
	if (status != ATW_E_USAGE && !diagnostics_is_new(text))
		return;
	diagnostics_put_origin(status);
	diagnostics_put_text(text);
}

int usage_error(const char *command, const char *fmt, ...)
{
	va_list ap;

	diagnostics_misuses = true;
	va_start(ap, fmt);
	diagnostics_put_line(ATW_E_USAGE, fmt, ap);
	va_end(ap);
	diagnostics_put_help(command);
	return EXIT_USAGE;
}

void print_incomplete(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diagnostics_put_line(ATW_E_MISSING, fmt, ap);
	va_end(ap);
}

void print_warning(const struct common *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	diagnostics_put_line(ATW_OK, fmt, ap);
	va_end(ap);
}
