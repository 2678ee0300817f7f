/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output_html.c - tables and reports as pages: every byte that matters of them. */
#include <sys/mman.h>

#include "output_capture.h"

#include "output/html_report.h"

static const char *const states[] = { "a<b", "swap" };
static const struct atw_names state_names = { 2, states, NULL };
static const struct atw_names rights = { 4, NULL, "rwxu" };

static const struct atw_column cols[] = {
	{ .key = "address", .type = ATW_T_VA, .help = "where \"it\" is" },
	{ .key = "size", .type = ATW_T_BYTES },
	{ .key = "count", .type = ATW_T_COUNT },
	{ .key = "state", .type = ATW_T_ENUM, .names = &state_names },
	{ .key = "rights", .type = ATW_T_LETTERS, .names = &rights },
	{ .key = "more", .type = ATW_T_CHANGE_BYTES },
	{ .key = "time", .type = ATW_T_SECONDS },
	{ .key = "task", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "te<st", cols, NELEM(cols) };

static const union atw_value page[] = {
	U(0x1000), U(4096), U(7), U(0), U(5), U(-UINT64_C(8192)), U(1500),
	S("</script><script>alert(1)</script>"),
};
static const struct atw_row rows[] = { { page, 0xff }, { page, 0 } };

#define TABLE \
"<div class=\"scroll\"><table>\n" \
"<thead><tr><th scope=\"col\" title=\"where &quot;it&quot; is\">address</th>" \
"<th scope=\"col\" class=\"n\">size</th><th scope=\"col\" class=\"n\">count</th>" \
"<th scope=\"col\">state</th><th scope=\"col\">rights</th>" \
"<th scope=\"col\" class=\"n\">more</th><th scope=\"col\" class=\"n\">time</th>" \
"<th scope=\"col\">task</th></tr></thead>\n<tbody>\n" \
"<tr><td class=\"x\">0x0000000000001000</td><td class=\"n\" data-v=\"4096\">4K</td>" \
"<td class=\"n\" data-v=\"7\">7</td><td>a&lt;b</td><td class=\"x\">r-x-</td>" \
"<td class=\"n\" data-v=\"-8192\">-8K</td><td class=\"n\" data-v=\"1.500\">1.500</td>" \
"<td>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</td></tr>\n" \
"<tr><td class=\"na\">n/a</td><td class=\"n na\">n/a</td><td class=\"n na\">n/a</td>" \
"<td class=\"na\">n/a</td><td class=\"na\">n/a</td><td class=\"n na\">n/a</td>" \
"<td class=\"n na\">n/a</td><td class=\"na\">n/a</td></tr>\n" \
"</tbody></table></div>\n"

/* What stands between the title and the script. */
static const char *body(const char *text)
{
	char *from = strstr(text, "</style>\n</head>\n<body>\n"), *to = strstr(text, "<script>//<![");

	if (!from || !to)
		return text;
	*to = '\0';
	return from + strlen("</style>\n</head>\n<body>\n");
}

TEST(a_table_is_a_page)
{
	struct atw_output_opts o = { .format = "html" };
	const char *text = capture(o, &schema, rows, 2);

	CHECK(!strncmp(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n", 40));
	CHECK(strstr(text, "<title>atwalk te&lt;st</title>"));
	CHECK(strstr(text, "//]]></script>\n</body>\n</html>\n"));
	/* Nothing is asked of anybody. */
	CHECK(strstr(text, "content=\"default-src 'none'; "));
	CHECK(!strstr(text, "http:") && !strstr(text, "https:") && !strstr(text, "url("));
	CHECK(!strstr(text, "@import") && !strstr(text, " src=") && !strstr(text, "fetch"));
	CHECK_STR(body(text), "<h1>atwalk te&lt;st</h1>\n" TABLE);
}

TEST(notes_stand_below_the_table)
{
	struct atw_output_opts o = { .format = "html", .columns = "count" };

	CHECK_STR(body(capture_note(o, &schema, rows, 1, "1 row\n\tof <one>\033 & more")),
		  "<h1>atwalk te&lt;st</h1>\n<div class=\"scroll\"><table>\n"
		  "<thead><tr><th scope=\"col\" class=\"n\">count</th></tr></thead>\n<tbody>\n"
		  "<tr><td class=\"n\" data-v=\"7\">7</td></tr>\n</tbody></table></div>\n"
		  "<pre class=\"notes\">1 row\n\tof &lt;one&gt;\\x1b &amp; more\n</pre>\n");
}

TEST(units_change_what_is_shown_and_not_what_is_sorted)
{
	struct atw_output_opts o = { .format = "html", .columns = "size",
				     .units = ATW_UNITS_PAGES };

	CHECK(strstr(capture(o, &schema, rows, 1), "<td class=\"n\" data-v=\"4096\">1</td>"));
}

/* A report of two sections, into a file in memory; its text. */
static const char *report(void)
{
	struct atw_output *out = NULL;
	struct html *h = NULL;
	struct scene s;
	char path[32];
	int fd = memfd_create("report", MFD_CLOEXEC);
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	scene_init(&s, 10, 10);
	scene_text(&s, 1, 9, SCENE_START, 8, 0, SCENE_INK, "</svg>");
	rc = html_open(path, "<Who>", &h, &capture_err);
	if (rc == ATW_OK) {
		html_section(h, "one", "First & last", NULL);
		rc = html_picture(h, &s, &capture_err);
	}
	if (rc == ATW_OK)
		rc = html_table(h, &(struct atw_output_opts){ .format = "csv", .sort = "size" },
				&schema, &out, &capture_err);
	for (size_t i = 0; rc == ATW_OK && i < 2; i++)
		rc = atw_output_row(out, &rows[i], &capture_err);
	if (rc == ATW_OK)
		rc = atw_output_commit(out, &capture_err);
	atw_output_close(out);
	if (rc == ATW_OK) {
		html_section(h, "two", "Second", "with <text>");
		html_text(h, "  [..1#  ]  \n<\xff>\n");
		rc = html_commit(h, &capture_err);
	}
	html_close(h);
	scene_deinit(&s);
	if (rc == ATW_OK)
		capture_read(fd);
	else
		snprintf(capture_text, sizeof(capture_text), "error: %s", capture_err.text);
	close(fd);
	return capture_text;
}

TEST(a_report_has_sections)
{
	CHECK_STR(body(report()),
		  "<h1>&lt;Who&gt;</h1>\n"
		  "<section id=\"one\">\n<h2>First &amp; last</h2>\n"
		  "<svg class=\"picture\" width=\"10\" height=\"10\" viewBox=\"0 0 10 10\" "
		  "font-family=\"sans-serif\" fill=\"#1a1a1a\" stroke-linecap=\"round\" role=\"img\">\n"
		  "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
		  "<text x=\"1\" y=\"9\" font-size=\"8\">&lt;/svg&gt;</text>\n</svg>\n"
		  TABLE "</section>\n"
		  "<section id=\"two\">\n<h2>Second</h2>\n<p>with &lt;text&gt;</p>\n"
		  "<pre>  [..1#  ]\n&lt;\\xff&gt;\n</pre>\n</section>\n");
}

TEST(a_report_that_is_not_finished_leaves_no_file)
{
	struct html *h = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/output_html.%ld", (long)getpid());
	CHECK_EQ(html_open(path, "x", &h, &capture_err), ATW_OK);
	html_section(h, "one", "One", NULL);
	html_close(h);
	CHECK(access(path, F_OK) < 0);
	CHECK_EQ(html_open("/dev/full", "x", &h, &capture_err), ATW_OK);
	CHECK_EQ(html_commit(h, &capture_err), ATW_E_IO);
	CHECK_STR(capture_err.text, "/dev/full: cannot write: No space left on device");
	html_close(h);
	html_close(NULL);
}

TEST(a_scene_that_failed_is_no_picture)
{
	struct html *h = NULL;
	struct scene s;

	CHECK_EQ(html_open("/dev/null", "x", &h, &capture_err), ATW_OK);
	scene_init(&s, 10, 10);
	scene_group(&s, "open", NULL, 0);
	CHECK_EQ(html_picture(h, &s, &capture_err), ATW_E_USAGE);
	scene_deinit(&s);
	html_close(h);
}
