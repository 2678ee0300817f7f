/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_report.c - results of policies for CI systems: JUnit XML, annotations of GitHub.
 */
#include "check_report.h"

#include "base/io.h"
#include "output/outfile.h"

void check_rule(struct buf *ret, const struct policy *p)
{
	buf_printf(ret, "%s = %s", p->rule_at->key, p->rule_at->value);
}

static const char *check_report_unit(const struct check_result *r)
{
	if (r->policy->rule == POLICY_OVERLAP)
		return " bytes";
	return r->policy->column ? "" : r->count == 1 ? " row" : " rows";
}

/* "forbid = writable and executable: 2 rows: address=...": one line for people. */
static void check_report_sentence(struct buf *b, const struct check_result *r)
{
	const struct policy *p = r->policy;

	buf_printf(b, "%s: ", p->over->value);
	check_rule(b, p);
	if (r->counted)
		buf_printf(b, ": %" PRIu64 "%s", r->count, check_report_unit(r));
	if (r->moment)
		buf_printf(b, " at %s of %s", r->moment, r->task);
	if (r->what.len)
		buf_printf(b, ": %s", r->what.data);
	if (p->because)
		buf_printf(b, " (%s)", p->because->value);
}

/* ---- JUnit ---- */

static void check_report_xml(struct buf *b, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			buf_str(b, "&amp;");
			break;
		case '<':
			buf_str(b, "&lt;");
			break;
		case '>':
			buf_str(b, "&gt;");
			break;
		case '"':
			buf_str(b, "&quot;");
			break;
		default:
			/* XML 1.0 has no other control characters, and UTF-8 is not
			 * assumed. */
			buf_char(b, (unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e
					    ? '?'
					    : *s);
		}
	}
}

static void check_report_attribute(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, " %s=\"", name);
	check_report_xml(b, value);
	buf_char(b, '"');
}

static bool check_report_fails(const struct check_result *r)
{
	return r->verdict == CHECK_VIOLATED && !r->policy->warning;
}

static void check_report_case(struct buf *b, const struct check_result *r)
{
	struct buf why = {0};
	bool fails = check_report_fails(r), ok = r->verdict == CHECK_OK;

	check_report_sentence(&why, r);
	b->failed |= why.failed;
	buf_str(b, "    <testcase");
	check_report_attribute(b, "classname", r->policy->rule_at->file);
	check_report_attribute(b, "name", r->policy->name);
	buf_str(b, ok ? "/>\n" : ">\n");
	if (fails) {
		buf_str(b, "      <failure");
		check_report_attribute(b, "type", "violated");
		check_report_attribute(b, "message", why.failed ? "" : why.data);
		buf_str(b, "/>\n");
	} else if (r->verdict == CHECK_UNKNOWN) {
		buf_str(b, "      <skipped");
		check_report_attribute(b, "message", why.failed ? "" : why.data);
		buf_str(b, "/>\n");
	} else if (!ok) {
		buf_str(b, "      <system-out>warning: ");
		check_report_xml(b, why.failed ? "" : why.data);
		buf_str(b, "</system-out>\n");
	}
	if (!ok)
		buf_str(b, "    </testcase>\n");
	buf_deinit(&why);
}

static void check_report_junit(struct buf *b, const struct checking *k,
			       const char *command)
{
	size_t fails = 0, unknown = 0;

	for (size_t i = 0; i < k->policies->n; i++) {
		fails += check_report_fails(&k->result[i]);
		unknown += k->result[i].verdict == CHECK_UNKNOWN;
	}
	buf_str(b,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
	buf_printf(b, " name=\"atwalk %s ", command);
	check_report_xml(b, k->source);
	buf_printf(b, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
		   k->policies->n, fails, unknown);
	for (size_t i = 0; i < k->policies->n; i++)
		check_report_case(b, &k->result[i]);
	buf_str(b, "  </testsuite>\n</testsuites>\n");
}

/* ---- GitHub ---- */

/* Workflow commands: values escape more than messages do. */
static void check_report_command(struct buf *b, const char *s, bool value)
{
	for (; *s; s++)
		if (*s == '%' || *s == '\n' || *s == '\r' ||
		    (value && (*s == ':' || *s == ',')))
			buf_printf(b, "%%%02X", (unsigned char)*s);
		else
			buf_char(b, *s);
}

static void check_report_github(struct buf *b, const struct checking *k)
{
	for (size_t i = 0; i < k->policies->n; i++) {
		const struct check_result *r = &k->result[i];
		struct buf why = {0};

		if (r->verdict == CHECK_OK)
			continue;
		check_report_sentence(&why, r);
		b->failed |= why.failed;
		buf_printf(b, "::%s file=", check_report_fails(r) ? "error" : "warning");
		check_report_command(b, r->policy->rule_at->file, true);
		buf_printf(b, ",line=%d,title=", r->policy->rule_at->line);
		check_report_command(b, r->policy->name, true);
		buf_str(b,
			r->verdict == CHECK_UNKNOWN ? "::not known: " : "::violated: ");
		check_report_command(b, why.failed ? "" : why.data, false);
		buf_char(b, '\n');
		buf_deinit(&why);
	}
}

int check_report_write(const struct checking *k, const char *command,
		       enum check_report as)
{
	struct outfile f = {.fd = -1};
	struct atw_err err = {0};
	struct buf b = {0};
	int r;

	if (as == CHECK_JUNIT)
		check_report_junit(&b, k, command);
	else
		check_report_github(&b, k);
	r = b.failed ? atw_err_nomem(&err) : outfile_open(k->c->output, &f, &err);
	if (r == ATW_OK && io_write(f.fd, b.data ? b.data : "", b.len) < b.len)
		r = atw_err_set(&err, ATW_E_IO, "%s: cannot write: %s", outfile_name(&f),
				strerror(errno));
	if (r == ATW_OK)
		r = outfile_commit(&f, &err);
	outfile_close(&f);
	buf_deinit(&b);
	return r < 0 ? print_error(&err) : EXIT_COMPLETE;
}
