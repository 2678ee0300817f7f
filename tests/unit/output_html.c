/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables and reports are written as HTML pages with the expected elements and text. */
#include <sys/mman.h>

#include "output_capture.h"

#include "plot/html_report.h"

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
"<thead><tr><th scope=\"col\" class=\"x\" title=\"where &quot;it&quot; is\">address</th>" \
"<th scope=\"col\" class=\"n\">size</th><th scope=\"col\" class=\"n\">count</th>" \
"<th scope=\"col\">state</th><th scope=\"col\" class=\"x\">rights</th>" \
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

/* The text between the title and the script. */
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
	/* The page loads nothing from elsewhere. */
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

/* ---- more rows than become elements ---- */

static const struct atw_column long_cols[] = {
	{ .key = "count", .type = ATW_T_COUNT }, { .key = "size", .type = ATW_T_BYTES },
	{ .key = "task", .type = ATW_T_TEXT }, { .key = "rights", .type = ATW_T_LETTERS, .names = &rights },
};
static const struct atw_schema long_schema = { "long", long_cols, NELEM(long_cols) };

/* A page of n rows in a file in memory. */
static int long_page(uint64_t n)
{
	static const char *const names[] = { "a&b", "a&b", "", "!", "=1", "=1", NULL, "</script>" };
	struct atw_output_opts o = { .format = "html" };
	struct atw_output *out = NULL;
	char path[32];
	int fd = memfd_create("page", MFD_CLOEXEC), rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	rc = atw_output_open(&o, &long_schema, &out, &capture_err);
	for (uint64_t i = 0; rc == ATW_OK && i < n; i++) {
		const union atw_value v[] = { { .u = i }, { .u = i % 3 << 12 },
					      { .s = names[i % 8] }, { .u = i & 4 } };

		rc = atw_output_row(out, &(struct atw_row){ v, i % 16 == 5 ? 13 : 15 },
				    &capture_err);
	}
	if (rc == ATW_OK)
		rc = atw_output_commit(out, &capture_err);
	atw_output_close(out);
	if (rc == ATW_OK)
		return fd;
	close(fd);
	return -1;
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

TEST(of_many_rows_the_first_are_elements)
{
	int fd = long_page(100);

	CHECK_EQ(times(capture_read(fd), "<tr><td"), 100);
	CHECK_EQ(times(capture_text, "<script"), 1);
	CHECK(!strstr(capture_text, "<noscript>"));
	close(fd);
	fd = long_page(101);
	CHECK_EQ(times(capture_read(fd), "<tr><td"), 100);
	CHECK(strstr(capture_text, "<td class=\"n\" data-v=\"99\">99</td>"));
	CHECK_EQ(times(capture_text, "<script"), 2);
	CHECK(strstr(capture_text, "</script>\n<noscript><p class=\"cut\">These are the first 100 of "
				   "101 rows. This page shows more of them with scripts enabled; "
				   "CSV and JSON output has all.</p></noscript>\n"));
	CHECK(!strstr(capture_text, "This page has the first"));
	close(fd);
}

/* The layout of rows as text, as html.c documents it. */
TEST(rows_as_text_are_blocks_of_columns)
{
	int fd = long_page(1025);
	const char *text = capture_read(fd);
	const char *data = strstr(text, "<script type=\"text/plain\" class=\"rows\">\n512\n0\t1\t2\t");
	const char *end = data ? strstr(data, "</script>") : NULL, *next;

	CHECK(data && end);
	if (!data || !end)
		return;
	/* Count, size, task, rights: one line per column. */
	CHECK(strstr(data, "\t511\n0 0B\t4096 4K\t8192 8K\t0 0B\t4096 4K\t!\t0 0B\t"));
	CHECK(strstr(data, "\na&amp;b\t\t=\t=!\t==1\t\t!\t&lt;/script&gt;\ta&amp;b\t\t="));
	CHECK(strstr(data, "\n----\t\t\t\t--x-\t\t\t\t----\t\t\t\t--x-"));
	next = strstr(data, "\n512\n512\t513\t");
	CHECK(next && next < end);
	/* Each block is complete: nothing refers to the block before. */
	next = next ? strstr(next, "\n1\n1024\n4096 4K\na&amp;b\n----\n</script>") : NULL;
	CHECK(next && next < end);
	CHECK_EQ(times(text, "class=\"rows\""), 1);
	close(fd);
}

TEST(rows_that_are_not_in_the_page_are_counted)
{
	int fd = long_page(100001);
	off_t all = lseek(fd, 0, SEEK_END);
	ssize_t n = pread(fd, capture_text, sizeof(capture_text) - 1,
			  all - (off_t)sizeof(capture_text) + 1);

	capture_text[n > 0 ? n : 0] = '\0';
	CHECK(strstr(capture_text, "\t99999\n"));
	CHECK(!strstr(capture_text, "\t100000"));
	CHECK(strstr(capture_text, "These are the first 100 of 100001 rows. "));
	CHECK(strstr(capture_text, "<p class=\"cut\">This page has the first 100000 of 100001 rows. "
				   "CSV and JSON output has all; a filter or another order chooses "
				   "others.</p>\n"));
	close(fd);
}

/* Script and style must not contain the end of CDATA or of their element. */
TEST(the_script_is_whole_for_every_parser)
{
	struct atw_output_opts o = { .format = "html" };
	const char *text = capture(o, &schema, rows, 1);
	const char *script = strstr(text, "<script>//<![CDATA[\n");
	const char *end = script ? strstr(script, "]]>") : NULL;

	CHECK(end && !strncmp(end, "]]></script>\n</body>", 20));
	CHECK_EQ(times(text, "</script"), 1);
	CHECK_EQ(times(text, "</style"), 1);
	CHECK(!strstr(text, "eval(") && !strstr(text, "innerHTML"));
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
	rc = html_open(path, "<Title>", &h, &capture_err);
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
		  "<h1>&lt;Title&gt;</h1>\n"
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
