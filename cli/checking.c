/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checking.c - listings that run for their rows, and policies over these. */
#include "checking.h"

#include <stdio.h>

#include "atwalk.h"
#include "base/bytes.h"
#include "base/message.h"
#include "record/schema.h"
#include "unknown.h"

enum { CHECKING_WORDS = 64, CHECKING_SHOWN = 3 };

static const char *const checking_options[CHECK_PASSED] = {
	[CHECK_PID] = "--pid",       [CHECK_TASK] = "--task",
	[CHECK_KERNEL] = "--kernel", [CHECK_ROOT] = "--root",
	[CHECK_PAGING] = "--paging", [CHECK_PTE_EXT] = "--pte-ext",
	[CHECK_CBIT] = "--cbit",
};

/* Commands that list rows of a SOURCE. */
static const char *const checking_listings[] = {
	"walk", "map", "info", "ps", "find", "rd", "search", "pages", "report",
};

/* One listing, and the policies over it. */
struct checking_listing {
	struct checking *k;
	const char *over;
	bool everything;          /* it is not limited to the process of --pid */
	struct atw_schema schema; /* of its rows: without columns until it began */
	unsigned page_shift;      /* of these */
	char origin[320];         /* FILE:LINE of what an error is about */
	bool wrong;               /* a policy is */
};

static bool checking_is_over(const struct check_result *r, const char *over,
			     bool everything)
{
	return r->policy->everything == everything &&
	       !strcmp(r->policy->over->value, over);
}

#define checking_each(r, l)                                                              \
	for (struct check_result *r = (l)->k->result;                                    \
	     r < (l)->k->result + (l)->k->policies->n; r++)                              \
		if (checking_is_over(r, (l)->over, (l)->everything))

/* ---- rows ---- */

/* Why, in front of which FILE:LINE is. */
static int checking_wrong(struct checking_listing *l, const struct config_entry *e,
			  struct atw_err *err)
{
	snprintf(l->origin, sizeof(l->origin), "%.255s:%d", e->file, e->line);
	l->wrong = true;
	err->param = ATW_PARAM_NONE;
	return err->status;
}

static int checking_column(struct check_result *r, const struct atw_schema *sc,
			   struct atw_err *err)
{
	const char *key = r->policy->column;

	r->column = key ? schema_named(sc, key, strlen(key)) : -1;
	if (key && r->column < 0)
		return schema_unknown(sc, ATW_PARAM_NONE, key, strlen(key), err);
	if (!key)
		return ATW_OK;
	switch (sc->col[r->column].type) {
	case ATW_T_BYTES:
	case ATW_T_COUNT:
	case ATW_T_PAGES:
		return ATW_OK;
	default:
		return atw_err_set(err, ATW_E_USAGE, "column '%s' has no sum", key);
	}
}

static int checking_prepare_overlap(struct check_result *r, const struct atw_schema *sc,
				    struct atw_err *err)
{
	if (!check_overlap_columns(sc, &r->at))
		return atw_err_set(err, ATW_E_USAGE,
				   "the rows have no physical addresses or no sizes");
	return filter_create(r->policy->right, sc, &r->right, err);
}

static int checking_prepare(struct checking_listing *l, struct check_result *r,
			    const struct atw_schema *sc, struct atw_err *err)
{
	const struct policy *p = r->policy;
	int rc = p->where ? filter_create(p->where, sc, &r->where, err) : ATW_OK;

	if (rc == ATW_OK)
		rc = checking_column(r, sc, err);
	if (rc == ATW_OK && p->rule == POLICY_OVERLAP)
		rc = checking_prepare_overlap(r, sc, err);
	if (rc < 0)
		return checking_wrong(l, p->rule_at, err);
	if (p->needs && filter_create(p->needs->value, sc, &r->needs, err) < 0)
		return checking_wrong(l, p->needs, err);
	if (p->unknown && filter_create(p->unknown->value, sc, &r->unknown, err) < 0)
		return checking_wrong(l, p->unknown, err);
	return ATW_OK;
}

static int checking_open(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	struct checking_listing *l = arg;

	if (l->schema.col)
		return atw_err_set(err, ATW_E_USAGE,
				   "the listing has more than one table");
	checking_each(r, l)
	{
		int rc = checking_prepare(l, r, sc, err);

		if (rc < 0)
			return rc;
	}
	l->schema = *sc;
	return ATW_OK;
}

static void checking_page(void *arg, unsigned page_shift)
{
	struct checking_listing *l = arg;

	l->page_shift = page_shift;
	checking_each(r, l) {
		struct filter *const filter[] = { r->where, r->right, r->needs, r->unknown };

		for (size_t i = 0; i < ARRAY_SIZE(filter); i++)
			if (filter[i])
				filter_page(filter[i], page_shift);
	}
}

/* The first rows that a policy does not allow are shown. */
static bool checking_shows(const struct check_result *r)
{
	return r->policy->rule == POLICY_FORBID || r->policy->rule == POLICY_AT_MOST;
}

/* What a row adds to the count. */
static uint64_t checking_part(const struct checking_listing *l, const struct check_result *r,
			      const struct atw_row *row)
{
	uint64_t v = r->column >= 0 ? row->v[r->column].u : 1;
	bool pages = r->column >= 0 && l->schema.col[r->column].type == ATW_T_PAGES;

	return shl_u64(v, pages && policy_in_bytes(r->policy) ? l->page_shift : 0);
}

static void checking_add(const struct checking_listing *l, struct check_result *r,
			 const struct atw_row *row)
{
	r->matched++;
	if (r->column >= 0 && !(row->have >> r->column & 1))
		r->undecided++;
	else
		sum_u64(&r->count, checking_part(l, r, row));
	if (!checking_shows(r) || r->shown == CHECKING_SHOWN)
		return;
	r->shown++;
	buf_str(&r->what, r->what.len ? "; " : "");
	check_text(&r->what, &l->schema, row, r->where ? filter_columns(r->where) : 0);
}

static bool checking_add_range(struct check_result *r, const struct atw_row *row)
{
	const struct filter *f[2] = {r->where, r->right};
	int added;

	for (int i = 0; i < 2; i++) {
		enum filter_verdict v = filter_decide(f[i], row);

		added = v == FILTER_YES ? check_overlap_add(&r->side[i], &r->at, row)
					: v == FILTER_NO;
		if (added < 0)
			return false;
		r->undecided += !added;
	}
	return true;
}

/* Rows that say themselves that it is not known: the first one is the reason. */
static void checking_add_unknown(struct check_result *r, const struct atw_schema *sc,
				 const struct atw_row *row)
{
	r->undecided++;
	if (!r->why.len)
		check_text(&r->why, sc, row, filter_columns(r->unknown));
}

static bool checking_take(const struct checking_listing *l, struct check_result *r,
			  const struct atw_row *row)
{
	enum filter_verdict v = FILTER_YES;

	if (r->needs && !r->needed)
		r->needed = filter_decide(r->needs, row) == FILTER_YES;
	if (r->unknown && filter_decide(r->unknown, row) == FILTER_YES)
		checking_add_unknown(r, &l->schema, row);
	if (r->right)
		return checking_add_range(r, row);
	if (r->where)
		v = filter_decide(r->where, row);
	if (v == FILTER_YES)
		checking_add(l, r, row);
	else if (v == FILTER_UNDECIDED)
		r->undecided++;
	return !r->what.failed && !r->why.failed;
}

static int checking_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct checking_listing *l = arg;

	checking_each(r, l)
	{
		if (!checking_take(l, r, row))
			return atw_err_nomem(err);
	}
	return ATW_OK;
}

/* ---- verdicts ---- */

static void checking_say(struct check_result *r, const char *text)
{
	r->what.len = 0;
	buf_str(&r->what, text);
}

/* The baseline's value and what is tolerated above it. */
static bool checking_baseline(const struct checking *k, struct check_result *r)
{
	const struct policy *p = r->policy;
	const struct config_entry *e =
		k->baseline ? config_find(k->baseline, p->name, "count") : NULL;
	uint64_t base;

	r->limited = false;
	if (!e || !num_dec(e->value, strlen(e->value), &base))
		return false;
	if (__builtin_add_overflow(base, policy_tolerated(p, base), &r->limit))
		r->limit = UINT64_MAX;
	r->limited = true;
	return true;
}

/* Does what was seen decide, whatever else there may be? `surer`: there is nothing else.
 */
static enum check_verdict checking_decide(const struct check_result *r, bool surer)
{
	switch (r->policy->rule) {
	case POLICY_REQUIRE:
	case POLICY_AT_LEAST:
		return r->count >= r->limit ? CHECK_OK
		       : surer              ? CHECK_VIOLATED
					    : CHECK_UNKNOWN;
	default:
		return r->count > r->limit ? CHECK_VIOLATED
		       : surer             ? CHECK_OK
					   : CHECK_UNKNOWN;
	}
}

static void checking_say_unknown(struct check_result *r, const char *why)
{
	char text[200];

	if (*why) {
		checking_say(r, why);
	} else if (r->why.len) {
		checking_say(r, r->why.data);
	} else if (r->undecided) {
		snprintf(text, sizeof(text), _("values are not known in %" PRIu64 " row%s"),
			 r->undecided, r->undecided == 1 ? "" : "s");
		checking_say(r, text);
	} else if (r->needs && !r->needed) {
		snprintf(text, sizeof(text), _("no row matches what is needed: %.150s"),
			 r->policy->needs->value);
		checking_say(r, text);
	}
}

static void checking_settle(struct checking *k, struct check_result *r, bool whole,
			    const char *why)
{
	bool surer = whole && !r->undecided && (!r->needs || r->needed);
	uint64_t more = checking_shows(r) ? r->matched - r->shown : 0;

	r->counted = true;
	r->known = surer;
	r->limited = true;
	r->limit = r->policy->limit;
	if (r->policy->rule == POLICY_TRACK && !checking_baseline(k, r)) {
		r->verdict = CHECK_UNKNOWN;
		checking_say_unknown(r, !surer ? why
					: k->baseline
						? _("not in the baseline: --update adds it")
						: _("no baseline is given"));
		return;
	}
	if (r->policy->rule == POLICY_OVERLAP)
		r->count = check_overlap(r->side, CHECKING_SHOWN, &r->what, &more);
	r->verdict = checking_decide(r, surer);
	if (r->verdict == CHECK_UNKNOWN)
		checking_say_unknown(r, whole ? "" : why);
	else if (r->verdict == CHECK_OK)
		r->what.len = 0;
	else if (r->policy->rule == POLICY_REQUIRE)
		checking_say(r, _("no row matches"));
	else if (more)
		buf_printf(&r->what, _("; and %" PRIu64 " more"), more);
}

static void checking_fail(struct check_result *r, const char *why)
{
	r->verdict = CHECK_UNKNOWN;
	r->limited = r->policy->rule != POLICY_TRACK;
	r->limit = r->policy->limit;
	checking_say(r, *why ? why : _("the listing failed"));
}

/* ---- listings ---- */

/* Words as a shell would have them, in a copy of the line. -1: too many; -2: a quote is
 * open. */
static int checking_split(char *s, char *word[CHECKING_WORDS])
{
	int n = 0;

	for (;;) {
		char *to, quote = '\0';

		s += strspn(s, " \t");
		if (!*s)
			return n;
		if (n == CHECKING_WORDS)
			return -1;
		word[n++] = to = s;
		for (; *s && (quote || (*s != ' ' && *s != '\t')); s++) {
			if (quote ? *s == quote : *s == '\'' || *s == '"')
				quote = quote ? '\0' : *s;
			else
				*to++ = *s;
		}
		if (quote)
			return -2;
		s += *s != '\0';
		*to = '\0';
	}
}

static const struct command *checking_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(checking_listings); i++)
		for (size_t k = 0; !strcmp(checking_listings[i], name) && command_at(k);
		     k++)
			if (!strcmp(command_at(k)->name, name))
				return command_at(k);
	return NULL;
}

static bool checking_says(char *const *word, int n, const char *option)
{
	size_t len = strlen(option);

	for (int i = 0; i < n; i++)
		if (!strncmp(word[i], option, len) &&
		    (!word[i][len] || word[i][len] == '='))
			return true;
	return false;
}

/* What `check` was given for its listings, behind what they say themselves. */
static void checking_pass(const struct checking_listing *l, const struct command *cmd,
			  char *const *word, int n, struct command_args *a)
{
	const struct checking *k = l->k;
	bool chosen = l->everything || checking_says(word, n, "--pid") ||
		      checking_says(word, n, "--task") || checking_says(word, n, "--cpu");

	command_arg(a, k->source);
	for (int i = 1; i < n; i++)
		command_arg(a, word[i]);
	for (size_t i = 0; i < CHECK_PASSED; i++) {
		if (!k->passed[i] || !command_takes(cmd, checking_options[i] + 2) ||
		    checking_says(word, n, checking_options[i]) ||
		    (i <= CHECK_TASK && chosen))
			continue;
		command_arg_option(a, checking_options[i], k->passed[i]);
	}
	command_arg_common(a, k->c);
}

/* Columns that any of its policies names. */
static void checking_asked(const struct checking_listing *l, struct buf *ret)
{
	buf_char(ret, ' ');
	checking_each(r, l)
		buf_printf(ret, "%s %s %s %s ", r->policy->rule_at->value,
			   r->policy->rule == POLICY_OVERLAP ? "physical size" : "",
			   r->policy->needs ? r->policy->needs->value : "",
			   r->policy->unknown ? r->policy->unknown->value : "");
}

static int checking_run_words(struct checking_listing *l, const struct command *cmd,
			      char *const *word, int n)
{
	const struct atw_tap tap = { checking_open, checking_row, l, checking_page };
	struct command_args args = {0};
	struct buf asked = {0};
	int status;

	checking_asked(l, &asked);
	checking_pass(l, cmd, word, n, &args);
	status = args.failed || asked.failed
			 ? print_nomem()
			 : command_tap(cmd, l->k->c, &tap, asked.data, args.n, args.v);
	buf_deinit(&asked);
	command_args_deinit(&args);
	return status;
}

static int checking_line_wrong(struct checking_listing *l, const struct config_entry *e,
			       const char *why, const char *known)
{
	l->wrong = true;
	diagnostics_from(NULL);
	return config_wrong(e, why, known);
}

static int checking_listing(struct checking_listing *l, const struct config_entry *e)
{
	static const char known[] =
		"walk, map, info, ps, find, rd, search, pages, report";
	char *word[CHECKING_WORDS], why[200];
	_auto_free char *copy = strdup(e->value);
	const struct command *cmd;
	int n;

	if (!copy)
		return print_nomem();
	n = checking_split(copy, word);
	if (n <= 0)
		return checking_line_wrong(l, e,
					   n == -2 ? _("a quote is not closed")
					   : n     ? _("the command line has too many words")
						   : _("expected a command"),
					   NULL);
	cmd = checking_command(word[0]);
	if (!cmd) {
		snprintf(why, sizeof(why), _("'%.64s' is no command that lists a SOURCE"),
			 word[0]);
		return checking_line_wrong(l, e, why, known);
	}
	if (checking_says(word, n, "--watch"))
		return checking_line_wrong(l, e, _("--watch cannot be used here"), NULL);
	return checking_run_words(l, cmd, word, n);
}

/* The listing of a policy, for all policies over it. */
static int checking_over(struct checking *k, const struct policy *p)
{
	const struct config_entry *e = p->over;
	struct checking_listing l = {
		.k = k, .over = e->value, .everything = p->everything, .page_shift = 12};
	char why[400];
	int status;

	snprintf(l.origin, sizeof(l.origin), "%.255s:%d", e->file, e->line);
	diagnostics_from(l.origin);
	status = checking_listing(&l, e);
	snprintf(why, sizeof(why), "%s", diagnostics_first());
	/* "specify a process" is about the source. */
	l.wrong |= status == EXIT_USAGE && diagnostics_misused();
	diagnostics_from(NULL);
	if (l.wrong)
		return EXIT_USAGE;
	checking_each(r, &l)
	{
		if (status == EXIT_SOURCE || status == EXIT_USAGE || !l.schema.col)
			checking_fail(r, why);
		else
			checking_settle(k, r, status != EXIT_PARTIAL, why);
		filter_destroy(r->where);
		filter_destroy(r->right);
		filter_destroy(r->needs);
		filter_destroy(r->unknown);
		r->where = r->right = r->needs = r->unknown = NULL;
	}
	return EXIT_COMPLETE;
}

int checking_run(struct checking *k)
{
	size_t n = k->policies->n;
	int status = EXIT_COMPLETE;

	k->result = calloc(n, sizeof(*k->result));
	if (!k->result)
		return print_nomem();
	for (size_t i = 0; i < n; i++)
		k->result[i].policy = &k->policies->v[i];
	for (size_t i = 0; i < n && !status; i++) {
		const struct policy *p = &k->policies->v[i];
		bool seen = false;

		for (size_t before = 0; before < i && !seen; before++)
			seen = checking_is_over(&k->result[before], p->over->value,
						p->everything);
		if (!seen)
			status = checking_over(k, p);
	}
	return status;
}

void checking_release(struct checking *k)
{
	for (size_t i = 0; k->result && i < k->policies->n; i++) {
		filter_destroy(k->result[i].where);
		filter_destroy(k->result[i].right);
		free(k->result[i].side[0].v);
		free(k->result[i].side[1].v);
		filter_destroy(k->result[i].needs);
		filter_destroy(k->result[i].unknown);
		buf_deinit(&k->result[i].what);
		buf_deinit(&k->result[i].why);
	}
	free(k->result);
	k->result = NULL;
}
