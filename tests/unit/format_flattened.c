/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index of flattened files agrees with writing the records out in turn. */
#include "test.h"

#include "format/view.h"

#define SPACE 4096              /* offsets the tests use */

struct writer {
	uint8_t *p;
	size_t len;
	/* What a file would be that the records are written to. */
	uint8_t bytes[SPACE];
	bool there[SPACE];
	size_t end;
};

static void put_be64(uint8_t *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> (56 - 8 * i));
}

static void start(struct writer *w)
{
	memset(w, 0, sizeof(*w));
	w->p = calloc(1, FLATTENED_HEADER_SIZE);
	w->len = FLATTENED_HEADER_SIZE;
	strcpy((char *)w->p, "makedumpfile");
	put_be64(w->p + 16, 1);
	put_be64(w->p + 24, 1);
}

static void head(struct writer *w, uint64_t off, uint64_t len)
{
	w->p = realloc(w->p, w->len + 16);
	put_be64(w->p + w->len, off);
	put_be64(w->p + w->len + 8, len);
	w->len += 16;
}

static void record(struct writer *w, size_t off, size_t len, uint8_t fill)
{
	head(w, off, len);
	w->p = realloc(w->p, w->len + len);
	for (size_t i = 0; i < len; i++) {
		w->p[w->len + i] = (uint8_t)(fill + i);
		w->bytes[off + i] = (uint8_t)(fill + i);
		w->there[off + i] = true;
	}
	w->len += len;
	if (len && off + len > w->end)
		w->end = off + len;
}

static struct atw_blob blob(const struct writer *w)
{
	return (struct atw_blob){ w->p, w->len };
}

/* Is the view byte for byte what writing the records in turn makes? */
static bool same(const struct writer *w, const struct view *v)
{
	uint8_t all[SPACE], b;

	if (v->size != w->end || !view_read_padded(v, 0, all, w->end) ||
	    memcmp(all, w->bytes, w->end))
		return false;
	for (size_t i = 0; i < w->end; i++) {
		if (view_read(v, i, &b, 1) != w->there[i])
			return false;
		if (w->there[i] && b != w->bytes[i])
			return false;
	}
	for (size_t i = 1; i < v->npieces; i++)
		if (v->pieces[i - 1].start + v->pieces[i - 1].len > v->pieces[i].start)
			return false;
	return true;
}

TEST(in_order)
{
	struct writer w;
	struct view v;
	const void *p;

	start(&w);
	record(&w, 0, 100, 1);
	record(&w, 100, 50, 7);
	record(&w, 200, 8, 9);
	head(&w, UINT64_MAX, UINT64_MAX);
	CHECK_EQ(flattened_open(blob(&w), &v, NULL), 0);
	CHECK(same(&w, &v));
	CHECK(view_flattened(&v));
	CHECK_EQ(v.unfinished, false);
	CHECK_EQ(v.missing, 0);
	CHECK_EQ(v.npieces, 3);
	CHECK_EQ(view_run(&v, 0, &p), 100);
	CHECK_EQ(view_run(&v, 99, &p), 1);
	CHECK_EQ(view_run(&v, 120, &p), 30);
	CHECK_EQ(view_run(&v, 150, &p), 0);
	CHECK_EQ(view_run(&v, 207, &p), 1);
	CHECK_EQ(view_run(&v, 208, &p), 0);
	CHECK_EQ(view_run(&v, UINT64_MAX, &p), 0);
	CHECK(view_at(&v, 90, 10));
	CHECK(!view_at(&v, 90, 11));             /* in two pieces */
	CHECK(!view_at(&v, 90, 0));
	view_deinit(&v);
	free(w.p);
}

TEST(out_of_order)
{
	struct writer w;
	struct view v;

	start(&w);
	record(&w, 3000, 10, 1);
	record(&w, 0, 10, 2);
	record(&w, 1000, 10, 3);
	record(&w, 500, 500, 4);
	head(&w, UINT64_MAX, UINT64_MAX);
	CHECK_EQ(flattened_open(blob(&w), &v, NULL), 0);
	CHECK(same(&w, &v));
	view_deinit(&v);
	free(w.p);
}

TEST(the_later_record_wins)
{
	struct writer w;
	struct view v;

	start(&w);
	record(&w, 0, 1000, 1);
	record(&w, 10, 10, 100);         /* inside */
	record(&w, 15, 20, 200);         /* across the end of that */
	record(&w, 990, 20, 50);         /* across the end of the first */
	record(&w, 0, 3, 77);            /* at its start */
	record(&w, 500, 0, 0);           /* nothing at all */
	head(&w, UINT64_MAX, UINT64_MAX);
	CHECK_EQ(flattened_open(blob(&w), &v, NULL), 0);
	CHECK(same(&w, &v));
	view_deinit(&v);
	free(w.p);
}

TEST(random_records)
{
	uint32_t x = 7;

	for (int round = 0; round < 300; round++) {
		struct writer w;
		struct view v;
		int n = 1 + round % 40;

		start(&w);
		for (int i = 0; i < n; i++) {
			size_t off, len;

			x = x * 1664525u + 1013904223u;
			off = (x >> 8) % 2000;
			x = x * 1664525u + 1013904223u;
			len = 1 + (x >> 8) % (round % 2 ? 1000 : 60);
			record(&w, off, len, (uint8_t)(x >> 16));
		}
		head(&w, UINT64_MAX, UINT64_MAX);
		CHECK_EQ(flattened_open(blob(&w), &v, NULL), 0);
		CHECK(same(&w, &v));
		view_deinit(&v);
		free(w.p);
	}
}

/* Cut off anywhere, what is there still reads and the rest is known missing. */
TEST(cut_off_anywhere)
{
	struct writer w;
	size_t first = FLATTENED_HEADER_SIZE + 16;

	start(&w);
	record(&w, 100, 200, 1);
	record(&w, 0, 50, 2);
	head(&w, UINT64_MAX, UINT64_MAX);
	for (size_t len = 0; len <= w.len; len++) {
		struct atw_err err = { 0 };
		uint8_t *part = malloc(len ? len : 1);
		struct view v;
		uint8_t b;
		int rc;

		memcpy(part, w.p, len);
		rc = flattened_open((struct atw_blob){ part, len }, &v, &err);
		if (len <= first) {
			CHECK_EQ(rc, len < 13 ? ATW_E_FORMAT : ATW_E_DAMAGED);
			CHECK(err.text[0]);
		} else {
			CHECK_EQ(rc, 0);
			CHECK_EQ(v.unfinished, len < w.len);
			if (len < first + 200) {
				CHECK_EQ(v.missing, first + 200 - len);
				CHECK_EQ(v.size, 100 + len - first);
			}
			CHECK(view_read(&v, 100, &b, 1));
			CHECK_EQ(b, 1);
			CHECK(!view_read(&v, v.size, &b, 1));
			view_deinit(&v);
		}
		free(part);
	}
	free(w.p);
}

TEST(hostile_records)
{
	static const struct { uint64_t off, len; } bad[] = {
		{ UINT64_MAX - 1, 1 }, { UINT64_MAX - 1, 100 }, { INT64_MAX, 1 },
		{ 0, UINT64_MAX }, { 0, (uint64_t)INT64_MAX + 1 },
		{ 5, (uint64_t)INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct atw_err err = { 0 };
		struct writer w;
		struct view v;

		start(&w);
		record(&w, 0, 8, 1);
		head(&w, bad[i].off, bad[i].len);
		CHECK_EQ(flattened_open(blob(&w), &v, &err), ATW_E_DAMAGED);
		CHECK(strstr(err.text, "record at 0x1018 is for"));
		free(w.p);
	}
}

TEST(other_kinds)
{
	struct atw_err err = { 0 };
	struct writer w;
	struct view v;

	start(&w);
	put_be64(w.p + 24, 2);
	CHECK_EQ(flattened_open(blob(&w), &v, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "flattened form type 1 version 2 is not known, "
		  "only type 1 version 1");
	put_be64(w.p + 24, 1);
	CHECK_EQ(flattened_open(blob(&w), &v, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "the flattened dump holds no bytes after its header");
	/* "makedumpfile.txt" is a text file, not a dump. */
	w.p[12] = '.';
	CHECK(!flattened_probe(blob(&w)));
	free(w.p);
}

TEST(a_plain_file)
{
	struct view v;
	const void *p;
	char buf[4];

	CHECK_EQ(view_open((struct atw_blob){ "abcdef", 6 }, &v, NULL), 0);
	CHECK(!view_flattened(&v));
	CHECK_EQ(view_run(&v, 2, &p), 4);
	CHECK(view_read(&v, 2, buf, 4));
	CHECK(!memcmp(buf, "cdef", 4));
	CHECK(!view_read(&v, 3, buf, 4));
	CHECK(!view_read_padded(&v, 3, buf, 4));
	CHECK(!view_read(&v, UINT64_MAX, buf, 4));
	CHECK(!view_at(&v, 6, 1));
	view_deinit(&v);
}
