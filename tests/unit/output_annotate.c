/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_annotate.c - columns that plugins add: to every row, in its place, in batches of any
 * size, with filters on either kind of column.
 */
#include "output/annotate.h"
#include "output_capture.h"

static const struct atw_column cols[] = {
	{ .key = "id", .type = ATW_T_COUNT },
	{ .key = "name", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "test", cols, 2 };

/* ---- an annotator: id doubled, unless it is not known, and the name in brackets ---- */

struct doubling {
	unsigned begun, ended;
	bool wrong, second;
	size_t rows, batches, fails_at;  /* fails_at: batches before that one; 0: none */
};

static int doubling_begin(void *instance, const struct atw_listing *l, void **ret,
			  struct atw_err *err)
{
	struct doubling *d = instance;

	d->begun++;
	d->wrong |= strcmp(l->name, "test") || l->ninputs != 2 ||
		    l->inputs[0]->type != ATW_COLUMN_COUNT || l->inputs[1]->type != ATW_COLUMN_TEXT;
	*ret = d;
	return ATW_OK;
}

static int doubling_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	static char texts[2][ATW_BATCH_ROWS][16];
	struct doubling *d = state;
	char (*text)[16] = texts[d->second];

	d->rows += b->nrows;
	if (d->fails_at && ++d->batches == d->fails_at)
		return atw_err_set(err, ATW_E_DAMAGED, "batch %zu", d->batches);
	for (uint32_t i = 0; i < b->nrows; i++) {
		d->wrong |= b->out_known[0][i / 64] >> i % 64 != 0;
		if (b->in_known[0][i / 64] >> i % 64 & 1) {
			b->out[0][i].u = 2 * b->in[0][i].u;
			b->out_known[0][i / 64] |= UINT64_C(1) << i % 64;
		}
		snprintf(text[i], sizeof(*text), "<%s>", b->in[1][i].s);
		b->out[1][i].s = text[i];
		b->out_known[1][i / 64] |= UINT64_C(1) << i % 64;
	}
	return ATW_OK;
}

static void doubling_end(void *state)
{
	struct doubling *d = state;

	d->ended++;
}

#define PLUGIN_COLUMN(n, t) { .size = sizeof(struct atw_plugin_column), .name = n, .type = t }
static struct annotator doubling(struct doubling *d)
{
	return (struct annotator){
		.plugin = "doubling", .instance = d,
		.of = { .begin = doubling_begin, .rows = doubling_rows, .end = doubling_end },
		.in = { .v = { PLUGIN_COLUMN("id", ATW_COLUMN_COUNT), PLUGIN_COLUMN("name", 0) }, .n = 2 },
		.out = { .v = { PLUGIN_COLUMN("twice", ATW_COLUMN_COUNT), PLUGIN_COLUMN("within", ATW_COLUMN_TEXT) },
			 .n = 2 },
	};
}

/* ---- few rows ---- */

static const union atw_value r0[] = { U(1), S("a") }, r1[] = { U(0), S("b") }, r2[] = { U(3), S("b") };
static const struct atw_row rows[] = { { r0, 3 }, { r1, 2 }, { r2, 3 } };

TEST(columns_are_added)
{
	struct doubling d = { 0 };
	const struct annotator a = doubling(&d);
	struct atw_output_opts o = { .format = "csv", .annotators = &a, .nannotators = 1 };

	CHECK_STR(capture(o, &schema, rows, 3), "id,name,twice,within\n1,a,2,<a>\n,b,,<b>\n3,b,6,<b>\n");
	o.columns = "within,id";
	o.sort = "twice:desc";
	CHECK_STR(capture(o, &schema, rows, 3), "within,id\n<b>,3\n<a>,1\n<b>,\n");
	o = (struct atw_output_opts){ .format = "csv", .group = "within", .annotators = &a,
				      .nannotators = 1 };
	CHECK_STR(capture(o, &schema, rows, 3), "within,count\n<a>,1\n<b>,2\n");
	CHECK_EQ(d.begun, 3);
	CHECK_EQ(d.ended, 3);
	CHECK(!d.wrong);
}

/* Rows that a filter on their own columns drops are not passed to a plugin. */
TEST(filters)
{
	struct doubling d = { 0 };
	const struct annotator a = doubling(&d);
	struct atw_output_opts o = { .format = "csv", .filter = "id=3", .annotators = &a, .nannotators = 1 };

	CHECK_STR(capture(o, &schema, rows, 3), "id,name,twice,within\n3,b,6,<b>\n");
	CHECK_EQ(d.rows, 1);
	o.filter = "twice<6 and name=a";
	CHECK_STR(capture(o, &schema, rows, 3), "id,name,twice,within\n1,a,2,<a>\n");
	CHECK_EQ(d.rows, 4);
	o.filter = "thrice=1";
	CHECK_STR(capture(o, &schema, rows, 3),
		  "error: filter: unknown column 'thrice'; known: id, name, twice, within");
	CHECK_EQ(d.begun, d.ended);
}

TEST(rows_without_what_is_read)
{
	static const struct atw_column other[] = { { .key = "id", .type = ATW_T_COUNT } };
	static const struct atw_schema sc = { "other", other, 1 };
	struct doubling d = { 0 };
	struct annotator a = doubling(&d);
	struct atw_output_opts o = { .format = "csv", .annotators = &a, .nannotators = 1 };

	CHECK_STR(capture(o, &sc, rows, 3),
		  "error: plugin doubling: it needs the column 'name', and rows of 'other' have none");
	a.lenient = true;
	CHECK_STR(capture(o, &sc, rows, 3), "id\n1\n\n3\n");
	CHECK_EQ(d.begun, 0);
}

/* A second one reads what the first one adds, and may not add it again. */
TEST(several)
{
	struct doubling d = { 0 }, e = { .second = true };
	struct annotator a[2] = { doubling(&d), doubling(&e) };
	struct atw_output_opts o = { .format = "csv", .annotators = a, .nannotators = 2,
				     .columns = "id,fourfold,around" };

	CHECK_STR(capture(o, &schema, rows, 3),
		  "error: plugin doubling: it adds the column 'twice', which rows of 'test' have already");
	CHECK_EQ(d.begun, d.ended);
	a[1].in.v[0].name = "twice";
	a[1].in.v[1].name = "within";
	a[1].out.v[0].name = "fourfold";
	a[1].out.v[1].name = "around";
	CHECK_STR(capture(o, &schema, rows, 3), "id,fourfold,around\n1,4,<<a>>\n,,<<b>>\n3,12,<<b>>\n");
}

/* ---- many rows ---- */

static struct atw_output *many_open(struct atw_output_opts o, const struct annotator *a, int *fd)
{
	struct atw_output *out = NULL;
	char path[32];

	*fd = memfd_create("capture", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	o.path = path;
	o.annotators = a;
	o.nannotators = 1;
	atw_output_open(&o, &schema, &out, NULL);
	return out;
}

static int many_put(struct atw_output *out, uint64_t id, struct atw_err *err)
{
	char name[16];
	union atw_value v[2] = { U(id), S(name) };
	const struct atw_row row = { v, 3 };

	/* A text is there until the call returns. */
	snprintf(name, sizeof(name), "n%u", (unsigned)(id / 7));
	return atw_output_row(out, &row, err);
}

TEST(batches)
{
	struct doubling d = { 0 };
	const struct annotator a = doubling(&d);
	struct atw_output *out;
	unsigned n = 0;
	char *at;
	int fd;

	out = many_open((struct atw_output_opts){ .format = "csv", .columns = "twice,within" }, &a, &fd);
	for (unsigned i = 0; i < 3000; i++)
		CHECK_EQ(many_put(out, i, NULL), ATW_OK);
	CHECK_EQ(atw_output_rows(out), 3000);
	CHECK(d.rows < 3000);            /* the last ones wait */
	CHECK_EQ(atw_output_commit(out, NULL), ATW_OK);
	CHECK_EQ(d.rows, 3000);
	CHECK(!d.wrong);
	atw_output_close(out);
	capture_read(fd);
	CHECK(!strncmp(capture_text, "twice,within\n", 13));
	for (at = strchr(capture_text, '\n'); at && at[1]; at = strchr(at + 1, '\n'), n++) {
		char line[48];

		snprintf(line, sizeof(line), "\n%u,<n%u>\n", 2 * n, n / 7);
		if (strncmp(at, line, strlen(line)) != 0)
			break;
	}
	CHECK_EQ(n, 3000);
	close(fd);
}

/* What is no row stays behind those before it, and is dropped with them. */
TEST(texts_between_rows)
{
	struct doubling d = { 0 };
	const struct annotator a = doubling(&d);
	struct atw_output *out;
	int fd;

	out = many_open((struct atw_output_opts){ .columns = "id,twice", .filter = "twice!=4" }, &a, &fd);
	for (unsigned i = 1; i <= 3; i++) {
		atw_output_heading(out, "heading %u", i);
		many_put(out, i, NULL);
		atw_output_text(out, "text %u\n", i);
		CHECK_EQ(atw_output_rows(out), i == 1 ? 1 : i - 1);
	}
	CHECK_EQ(atw_output_commit(out, NULL), ATW_OK);
	atw_output_close(out);
	capture_read(fd);
	CHECK_STR(capture_text, "      ID     TWICE\n\nheading 1\n       1         2\ntext 1\n"
				"\nheading 3\n       3         6\ntext 3\n");
	close(fd);
}

/* The failure of a plugin prevents the commit, whenever it comes. */
TEST(failures_of_plugins)
{
	for (size_t fails_at = 1; fails_at <= 3; fails_at++) {
		struct doubling d = { .fails_at = fails_at };
		const struct annotator a = doubling(&d);
		struct atw_err err = { 0 };
		struct atw_output *out;
		int fd, r = ATW_OK;

		out = many_open((struct atw_output_opts){ .format = "csv" }, &a, &fd);
		for (unsigned i = 0; i < 3000 && r == ATW_OK; i++)
			r = many_put(out, i, &err);
		CHECK_EQ(r, fails_at < 3 ? ATW_E_DAMAGED : ATW_OK);
		err = (struct atw_err){ 0 };
		CHECK_EQ(atw_output_commit(out, &err), ATW_E_DAMAGED);
		CHECK(strstr(err.text, "plugin doubling: batch "));
		atw_output_close(out);
		CHECK_EQ(d.ended, 1);
		close(fd);
	}
}
