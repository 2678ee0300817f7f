/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof.c - rows as a profile for pprof: perftools.profiles.Profile of profile.proto,
 * packed by gzip where this build has zlib.
 *
 * A row is a sample. Its column `stack` has the frames, "root;...;leaf"; pss, uss, rss and
 * swap are the values; file and build are the mapping of the last two frames; unit is a
 * frame below all others, and a label. Other columns are labels. A value that is n/a in
 * any row is no sample type: pprof has only numbers, and n/a is not 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/pack.h"
#include "base/table.h"
#include "output/sink.h"
#include "output/varint.h"
#include "record/schema.h"

/* profile.proto */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRINGS = 6, PROFILE_COMMENT = 13, PROFILE_DEFAULT = 14,
	TYPE_TYPE = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3,
	MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_BUILD = 6, MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1, FUNCTION_NAME = 2,
};
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

/* Sample types, in the order of preference as the default. */
static const char *const kinds[] = { "pss", "uss", "rss", "swap" };
enum { KINDS = ARRAY_SIZE(kinds) };

struct pprof_row {
	size_t locations, labels, end;   /* in pprof.rows */
	uint64_t value[KINDS];
};

struct pprof {
	/* Columns; -1: it is not among those of the rows. */
	int stack, file, build, unit, kind[KINDS];
	bool unknown[KINDS];             /* n/a in some row */
	struct buf strings, text, rows;  /* strings: with a NUL behind each */
	size_t nstrings;
	struct table by_text;            /* offset in strings << 32 | 1 + index */
	/* By what they consist of: their number. That of a function is its name's. */
	struct table mappings, locations, functions;
	struct buf tables;               /* mappings, locations, functions, as in the file */
	uint64_t nmappings, nlocations, nfunctions;
	struct pprof_row *row;
	size_t n, cap;
};

/* ---- protobuf ---- */

static void pprof_number(struct buf *b, unsigned field, uint64_t v)
{
	put_varint(b, field << 3 | WIRE_NUMBER);
	put_varint(b, v);
}

static void pprof_bytes(struct buf *b, unsigned field, const void *data, size_t len)
{
	put_varint(b, field << 3 | WIRE_BYTES);
	put_varint(b, len);
	buf_add(b, len ? data : "", len);
}

static void pprof_message(struct buf *b, unsigned field, const struct buf *m)
{
	pprof_bytes(b, field, m->data, m->len);
	b->failed |= m->failed;
}

/* ---- strings, functions, mappings, locations ---- */

/* The index of a text, a new one if needed. false: no memory. */
static bool pprof_string(struct pprof *p, const char *s, size_t len, uint64_t *ret)
{
	const uint64_t key = hash_bytes(0, s, len);
	const struct table_slot *at = NULL;

	while ((at = table_next(&p->by_text, key, at))) {
		const char *there = p->strings.data + (uint32_t)(at->value >> 32);

		if (strlen(there) == len && !memcmp(there, s, len)) {
			*ret = (uint32_t)at->value - 1;
			return true;
		}
	}
	*ret = p->nstrings;
	return p->strings.len <= UINT32_MAX && p->nstrings < UINT32_MAX - 1 &&
	       table_add(&p->by_text, key, (uint64_t)p->strings.len << 32 | ++p->nstrings) &&
	       (buf_keep(&p->strings, s, len), !p->strings.failed);
}

static bool pprof_text(struct pprof *p, const char *s, uint64_t *ret)
{
	p->text.len = 0;
	text_utf8(&p->text, s);
	return !p->text.failed && pprof_string(p, p->text.data ? p->text.data : "", p->text.len, ret);
}

/* The number of a pair in a table; *fresh: it is a new one. false: no memory. */
static bool pprof_pair(struct table *t, uint64_t a, uint64_t b, uint64_t *n, uint64_t *ret,
		       bool *fresh)
{
	struct table_slot *s = table_get(t, a << 32 | b);

	if (!s)
		return false;
	*fresh = !s->value;
	if (*fresh)
		table_set(t, s, ++*n);
	*ret = s->value;
	return true;
}

static bool pprof_mapping(struct pprof *p, uint64_t file, uint64_t build, uint64_t *ret)
{
	struct buf m = { 0 };
	bool fresh, done = pprof_pair(&p->mappings, file, build, &p->nmappings, ret, &fresh);

	if (done && fresh) {
		pprof_number(&m, MAPPING_ID, *ret);
		pprof_number(&m, MAPPING_FILE, file);
		pprof_number(&m, MAPPING_BUILD, build);
		pprof_number(&m, MAPPING_HAS_FUNCTIONS, 1);
		pprof_message(&p->tables, PROFILE_MAPPING, &m);
	}
	buf_deinit(&m);
	return done;
}

static bool pprof_function(struct pprof *p, uint64_t name)
{
	struct buf m = { 0 };
	bool fresh;
	uint64_t n;

	if (!pprof_pair(&p->functions, name, 0, &p->nfunctions, &n, &fresh))
		return false;
	if (fresh) {
		pprof_number(&m, FUNCTION_ID, name);
		pprof_number(&m, FUNCTION_NAME, name);
		pprof_message(&p->tables, PROFILE_FUNCTION, &m);
	}
	buf_deinit(&m);
	return true;
}

/* A frame: a function in a mapping or in none (0). */
static bool pprof_location(struct pprof *p, uint64_t name, uint64_t mapping, uint64_t *ret)
{
	struct buf m = { 0 }, line = { 0 };
	bool fresh = false, done = pprof_function(p, name) &&
		pprof_pair(&p->locations, name, mapping, &p->nlocations, ret, &fresh);

	if (done && fresh) {
		pprof_number(&line, LINE_FUNCTION, name);
		pprof_number(&m, LOCATION_ID, *ret);
		if (mapping)
			pprof_number(&m, LOCATION_MAPPING, mapping);
		pprof_message(&m, LOCATION_LINE, &line);
		pprof_message(&p->tables, PROFILE_LOCATION, &m);
	}
	buf_deinit(&m);
	buf_deinit(&line);
	return done;
}

/* ---- rows ---- */

static const char *pprof_cell(const struct atw_row *row, int i)
{
	return i >= 0 && row_has(row, (size_t)i) ? row->v[i].s : NULL;
}

/* Frames from the leaf on, as pprof has them. */
static bool pprof_frames(struct pprof *p, const struct atw_row *row)
{
	const char *stack = pprof_cell(row, p->stack), *file = pprof_cell(row, p->file);
	const char *build = pprof_cell(row, p->build), *unit = pprof_cell(row, p->unit);
	uint64_t name, mapping = 0, file_name = 0, build_name = 0, location;
	size_t end = stack ? strlen(stack) : 0;

	if (file && (!pprof_text(p, file, &file_name) ||
		     !pprof_text(p, build ? build : "", &build_name) ||
		     !pprof_mapping(p, file_name, build_name, &mapping)))
		return false;
	for (unsigned depth = 0; end; depth++) {
		const char *from = memrchr(stack, ';', end);
		char *frame;

		from = from ? from + 1 : stack;
		frame = strndup(from, end - (size_t)(from - stack));
		if (!frame || !pprof_text(p, frame, &name)) {
			free(frame);
			return false;
		}
		free(frame);
		if (!pprof_location(p, name, depth < 2 ? mapping : 0, &location))
			return false;
		put_varint(&p->rows, location);
		end = from > stack ? (size_t)(from - stack) - 1 : 0;
	}
	if (unit) {
		if (!pprof_text(p, unit, &name) || !pprof_location(p, name, 0, &location))
			return false;
		put_varint(&p->rows, location);
	}
	return true;
}

static bool pprof_is_label(const struct pprof *p, int i)
{
	bool other = i == p->stack || i == p->file || i == p->build;

	for (unsigned k = 0; k < KINDS; k++)
		other |= i == p->kind[k];
	return !other;
}

static bool pprof_label(struct atw_sink *k, const struct atw_row *row, size_t i)
{
	struct pprof *p = k->own;
	struct buf m = { 0 };
	uint64_t key = 0, text = 0;
	bool done = pprof_text(p, k->sc->col[i].key, &key);

	if (done)
		pprof_number(&m, LABEL_KEY, key);
	switch (k->sc->col[i].type) {
	case ATW_T_TEXT:
		done = done && pprof_text(p, row->v[i].s ? row->v[i].s : "", &text);
		pprof_number(&m, LABEL_STR, text);
		break;
	case ATW_T_ENUM:
	case ATW_T_FLAGS:
	case ATW_T_LETTERS:
		done = done && pprof_text(p, cell_words(&k->cell[i], row->v[i].u), &text);
		pprof_number(&m, LABEL_STR, text);
		break;
	default:
		pprof_number(&m, LABEL_NUM, row->v[i].u);
	}
	if (done)
		pprof_message(&p->rows, SAMPLE_LABEL, &m);
	buf_deinit(&m);
	return done;
}

static int pprof_row(struct atw_sink *k, const struct atw_row *row, struct atw_err *err)
{
	struct pprof *p = k->own;
	struct pprof_row r = { .locations = p->rows.len };
	bool done;

	if (!ARRAY_ROOM(p->row, p->n, p->cap) || !pprof_frames(p, row))
		return atw_err_nomem(err);
	r.labels = p->rows.len;
	done = true;
	for (size_t i = 0; i < k->sc->ncols && done; i++)
		if (row_has(row, i) && pprof_is_label(p, (int)i))
			done = pprof_label(k, row, i);
	r.end = p->rows.len;
	for (unsigned i = 0; i < KINDS; i++) {
		if (p->kind[i] < 0)
			continue;
		p->unknown[i] |= !row_has(row, (size_t)p->kind[i]);
		r.value[i] = row->v[p->kind[i]].u;
	}
	p->row[p->n++] = r;
	return done && !p->rows.failed ? ATW_OK : atw_err_nomem(err);
}

/* ---- the file ---- */

static void pprof_add_samples(const struct pprof *p, struct buf *to)
{
	struct buf m = { 0 }, values = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		const struct pprof_row *r = &p->row[i];

		m.len = values.len = 0;
		pprof_bytes(&m, SAMPLE_LOCATION, p->rows.data + r->locations, r->labels - r->locations);
		for (unsigned k = 0; k < KINDS; k++)
			if (p->kind[k] >= 0 && !p->unknown[k])
				put_varint(&values, r->value[k]);
		pprof_message(&m, SAMPLE_VALUE, &values);
		buf_add(&m, p->rows.data + r->labels, r->end - r->labels);
		pprof_message(to, PROFILE_SAMPLE, &m);
	}
	buf_deinit(&m);
	buf_deinit(&values);
}

/* The types, the one that is shown first, and those that are missing. */
static bool pprof_add_types(struct pprof *p, struct buf *to)
{
	uint64_t unit, name, first = 0;
	char text[80];

	if (!pprof_text(p, "bytes", &unit))
		return false;
	for (unsigned k = 0; k < KINDS; k++) {
		struct buf m = { 0 };

		if (p->kind[k] < 0)
			continue;
		snprintf(text, sizeof(text), "%s is not known of every stack, and so left out", kinds[k]);
		if (!pprof_text(p, p->unknown[k] ? text : kinds[k], &name))
			return false;
		if (p->unknown[k]) {
			pprof_number(to, PROFILE_COMMENT, name);
			continue;
		}
		first = first ? first : name;
		pprof_number(&m, TYPE_TYPE, name);
		pprof_number(&m, TYPE_UNIT, unit);
		pprof_message(to, PROFILE_SAMPLE_TYPE, &m);
		buf_deinit(&m);
	}
	if (first)
		pprof_number(to, PROFILE_DEFAULT, first);
	return true;
}

static void pprof_add_strings(const struct pprof *p, struct buf *to)
{
	const char *s = p->strings.data, *end = s + p->strings.len;

	for (; s < end; s += strlen(s) + 1)
		pprof_bytes(to, PROFILE_STRINGS, s, strlen(s));
}

static int pprof_end(struct atw_sink *k, struct atw_err *err)
{
	struct pprof *p = k->own;
	struct buf file = { 0 }, packed = { 0 };
	int r = ATW_OK;

	if (!pprof_add_types(p, &file))
		r = atw_err_nomem(err);
	pprof_add_samples(p, &file);
	buf_add(&file, p->tables.data ? p->tables.data : "", p->tables.len);
	pprof_add_strings(p, &file);
	if (r == ATW_OK && (file.failed || p->tables.failed))
		r = atw_err_nomem(err);
	if (r == ATW_OK && pack_have_gzip())
		r = pack_gzip(file.data, file.len, &packed, err);
	if (r == ATW_OK)
		writer_buf(k->w, packed.len ? &packed : &file);
	buf_deinit(&file);
	buf_deinit(&packed);
	return r;
}

static int pprof_column(const struct atw_schema *sc, const char *key)
{
	return schema_find(sc, key, strlen(key));
}

static int pprof_begin(struct atw_sink *k, const struct atw_schema *sc, struct atw_err *err)
{
	struct pprof *p = calloc(1, sizeof(*p));
	uint64_t none;

	k->own = p;
	if (!p || !pprof_string(p, "", 0, &none))
		return atw_err_nomem(err);
	p->stack = pprof_column(sc, "stack");
	p->file = pprof_column(sc, "file");
	p->build = pprof_column(sc, "build");
	p->unit = pprof_column(sc, "unit");
	for (unsigned i = 0; i < KINDS; i++)
		p->kind[i] = pprof_column(sc, kinds[i]);
	if (p->stack >= 0)
		return ATW_OK;
	return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_FORMAT,
				 "a profile for pprof needs a column 'stack', as report stacks has");
}

static void pprof_drop(struct atw_sink *k)
{
	struct pprof *p = k->own;

	if (!p)
		return;
	buf_deinit(&p->strings);
	buf_deinit(&p->text);
	buf_deinit(&p->rows);
	buf_deinit(&p->tables);
	table_deinit(&p->by_text);
	table_deinit(&p->mappings);
	table_deinit(&p->locations);
	table_deinit(&p->functions);
	free(p->row);
	free(p);
	k->own = NULL;
}

const struct atw_sink_ops sink_pprof = {
	.name = "pprof",
	.help = "a profile for pprof",
	.binary = true,
	.begin = pprof_begin,
	.row = pprof_row,
	.end = pprof_end,
	.drop = pprof_drop,
};
