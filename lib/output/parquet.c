/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parquet.c - rows as an Apache Parquet file: columns in row groups, compressed by zstd where
 * this build has it, n/a as null (parquet-format 2.x, data pages of version 1).
 *
 * Texts and words are stored by dictionary. A row group is in memory until it is full.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/pack.h"
#include "base/table.h"
#include "base/version.h"
#include "output/sink.h"
#include "output/thrift.h"

enum {
	GROUP_ROWS = 128 << 10,
	GROUP_TEXT = 64 << 20,   /* bytes of a dictionary that end a group */
	LEVEL = 3,               /* of zstd */
};

/* parquet.thrift */
enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { REPETITION_OPTIONAL = 1 };
enum { CONVERTED_UTF8 = 0, CONVERTED_TIMESTAMP_MICROS = 10, CONVERTED_UINT_64 = 14 };
enum { LOGICAL_STRING = 1, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10 };
enum { UNIT_MICROS = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { COMPRESSION_NONE = 0, COMPRESSION_ZSTD = 6 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

static const char magic[] = "PAR1";

/* A text of a dictionary. */
struct parquet_word {
	size_t at, len;          /* in parquet_column.words */
};

struct parquet_column {
	enum atw_type type;
	uint8_t *there;          /* a bit each row: not n/a */
	uint64_t *value;         /* of those that are there: a number, or an index in word[] */
	size_t n;
	/* The dictionary of this row group, in the form of its page. */
	struct buf words;
	struct parquet_word *word;
	size_t nwords, words_cap;
	struct table by_text;
	/* Adjacent rows mostly have the same words. */
	bool known;
	uint64_t last, last_index;
};

struct parquet {
	struct parquet_column *column;
	size_t ncols;
	size_t rows;             /* of this group */
	uint64_t all_rows, at;   /* rows and bytes that are written */
	struct buf groups;       /* metadata of groups that are written */
	size_t ngroups;
	bool full;               /* a dictionary is */
	struct buf text, page, packed, head;
};

/* A column of a row group, as far as it is written. */
struct parquet_chunk {
	const struct parquet_column *c;
	const char *key;
	uint64_t dictionary_at, data_at;         /* 0: there is no dictionary */
	uint64_t plain, stored;  /* bytes of pages with their heads */
};

static bool parquet_is_text(enum atw_type type)
{
	return type == ATW_T_ENUM || type == ATW_T_FLAGS || type == ATW_T_LETTERS ||
	       type == ATW_T_TEXT;
}

/*
 * Addresses of any kind and raw words, so that they compare and join with each other. Amounts
 * have a sign: many readers of Parquet have no other numbers (Iceberg, Delta).
 */
static bool parquet_is_unsigned(enum atw_type type)
{
	return type == ATW_T_VA || type == ATW_T_PA || type == ATW_T_HEX;
}

static int parquet_type(enum atw_type type)
{
	if (parquet_is_text(type))
		return TYPE_BYTE_ARRAY;
	return type == ATW_T_SECONDS ? TYPE_DOUBLE : TYPE_INT64;
}

/* ---- values ---- */

/* The index of a text in the dictionary. false: no memory. */
static bool parquet_find_word(struct parquet_column *c, const char *s, size_t len,
			      uint64_t *ret)
{
	const uint64_t key = hash_bytes(0, s, len);
	const struct table_slot *at = NULL;
	uint32_t head = (uint32_t)len;

	while ((at = table_next(&c->by_text, key, at))) {
		const struct parquet_word *w = &c->word[at->value - 1];

		if (w->len == len && !memcmp(c->words.data + w->at, s, len)) {
			*ret = at->value - 1;
			return true;
		}
	}
	if (!ARRAY_ROOM(c->word, c->nwords, c->words_cap) ||
	    !table_add(&c->by_text, key, c->nwords + 1))
		return false;
	buf_add(&c->words, &head, sizeof(head));
	c->word[c->nwords] = (struct parquet_word){ c->words.len, len };
	buf_add(&c->words, s, len);
	*ret = c->nwords++;
	return !c->words.failed;
}

static bool parquet_put_text(struct parquet *p, struct parquet_column *c, const char *s)
{
	uint64_t index;

	p->text.len = 0;
	text_utf8(&p->text, s);
	if (p->text.failed ||
	    !parquet_find_word(c, p->text.data ? p->text.data : "", p->text.len, &index))
		return false;
	c->value[c->n++] = index;
	return true;
}

static bool parquet_put_words(struct parquet_column *c, struct cell *cell, uint64_t u)
{
	if (!c->known || c->last != u) {
		const char *words = cell_words(cell, u);

		if (!parquet_find_word(c, words, strlen(words), &c->last_index))
			return false;
		c->last = u;
		c->known = true;
	}
	c->value[c->n++] = c->last_index;
	return true;
}

static uint64_t parquet_number(enum atw_type type, const union atw_value *v)
{
	double seconds;
	uint64_t bits;

	if (type == ATW_T_LIST)
		return v->list->n;
	if (type != ATW_T_SECONDS)
		return v->u;
	seconds = (double)v->u / 1000;
	memcpy(&bits, &seconds, sizeof(bits));
	return bits;
}

static bool parquet_put_value(struct parquet *p, struct parquet_column *c, struct cell *cell,
			      const union atw_value *v)
{
	c->there[p->rows / 8] |= (uint8_t)(1u << p->rows % 8);
	if (c->type == ATW_T_TEXT)
		return parquet_put_text(p, c, v->s);
	if (parquet_is_text(c->type))
		return parquet_put_words(c, cell, v->u);
	c->value[c->n++] = parquet_number(c->type, v);
	return true;
}

/* ---- pages ---- */

/* One run of bit-packed values, the lowest bit first: groups of 8, the last one padded. */
static void parquet_pack_bits(struct buf *b, const uint64_t *v, size_t n, unsigned width)
{
	uint64_t word = 0;
	unsigned bits = 0;

	put_varint(b, (uint64_t)(n + 7) / 8 << 1 | 1);
	for (size_t i = 0; i < (n + 7) / 8 * 8; i++) {
		word |= (i < n ? v[i] : 0) << bits;
		bits += width;
		for (; bits >= 8; bits -= 8, word >>= 8)
			buf_char(b, (char)word);
	}
}

/* Which rows are not n/a: its length, then one run of equal levels or of bits. */
static void parquet_add_levels(struct buf *b, const struct parquet_column *c, size_t rows)
{
	size_t at = b->len;
	uint32_t len = 0;

	buf_add(b, &len, sizeof(len));
	if (c->n == rows || !c->n) {
		put_varint(b, (uint64_t)rows << 1);
		buf_char(b, c->n != 0);
	} else {
		put_varint(b, (uint64_t)(rows + 7) / 8 << 1 | 1);
		buf_add(b, c->there, (rows + 7) / 8);
	}
	len = (uint32_t)(b->len - at - sizeof(len));
	if (!b->failed)
		memcpy(b->data + at, &len, sizeof(len));
}

static void parquet_add_values(struct buf *b, const struct parquet_column *c)
{
	unsigned width = 1;

	if (!c->nwords) {
		buf_add(b, c->value, c->n * sizeof(*c->value));
		return;
	}
	while (c->nwords > (size_t)1 << width)
		width++;
	buf_char(b, (char)width);
	parquet_pack_bits(b, c->value, c->n, width);
}

static void parquet_add_page_head(struct buf *b, int kind, size_t plain, size_t stored,
				  size_t values, bool dictionary)
{
	struct thrift head = { .b = b }, of;

	thrift_put_i32(&head, 1, kind);
	thrift_put_i32(&head, 2, (int32_t)plain);
	thrift_put_i32(&head, 3, (int32_t)stored);
	of = thrift_struct(&head, kind == PAGE_DATA ? 5 : 7);
	thrift_put_i32(&of, 1, (int32_t)values);
	if (kind == PAGE_DATA) {
		thrift_put_i32(&of, 2, dictionary ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN);
		thrift_put_i32(&of, 3, ENCODING_RLE);
		thrift_put_i32(&of, 4, ENCODING_RLE);
	} else {
		thrift_put_i32(&of, 2, ENCODING_PLAIN);
	}
	thrift_stop(&of);
	thrift_stop(&head);
}

static int parquet_write_page(struct atw_sink *k, struct parquet_chunk *chunk, int kind,
			      const struct buf *page, size_t values, struct atw_err *err)
{
	struct parquet *p = k->own;
	const struct buf *body = page;
	bool dictionary = chunk->dictionary_at;
	int rc = ATW_OK;

	if (pack_have()) {
		p->packed.len = 0;
		rc = pack_block(LEVEL, page->data, page->len, &p->packed, err);
		body = &p->packed;
	}
	if (rc < 0)
		return rc;
	p->head.len = 0;
	parquet_add_page_head(&p->head, kind, page->len, body->len, values, dictionary);
	if (p->head.failed || page->failed)
		return atw_err_nomem(err);
	writer_put(k->w, p->head.data, p->head.len);
	writer_put(k->w, body->data, body->len);
	p->at += p->head.len + body->len;
	chunk->plain += p->head.len + page->len;
	chunk->stored += p->head.len + body->len;
	return ATW_OK;
}

/* ---- row groups ---- */

static void parquet_add_chunk(struct parquet *p, const struct parquet_chunk *chunk)
{
	const bool dictionary = chunk->dictionary_at;
	struct thrift column = { .b = &p->groups }, meta;

	thrift_put_i64(&column, 2, dictionary ? chunk->dictionary_at : chunk->data_at);
	meta = thrift_struct(&column, 3);
	thrift_put_i32(&meta, 1, parquet_type(chunk->c->type));
	thrift_list(&meta, 2, THRIFT_I32, dictionary ? 3 : 2);
	thrift_zigzag(meta.b, ENCODING_PLAIN);
	thrift_zigzag(meta.b, ENCODING_RLE);
	if (dictionary)
		thrift_zigzag(meta.b, ENCODING_RLE_DICTIONARY);
	thrift_list(&meta, 3, THRIFT_BINARY, 1);
	thrift_text(meta.b, chunk->key);
	thrift_put_i32(&meta, 4, pack_have() ? COMPRESSION_ZSTD : COMPRESSION_NONE);
	thrift_put_i64(&meta, 5, p->rows);
	thrift_put_i64(&meta, 6, chunk->plain);
	thrift_put_i64(&meta, 7, chunk->stored);
	thrift_put_i64(&meta, 9, chunk->data_at);
	if (dictionary)
		thrift_put_i64(&meta, 11, chunk->dictionary_at);
	thrift_stop(&meta);
	thrift_stop(&column);
}

static int parquet_write_column(struct atw_sink *k, size_t i, uint64_t *plain,
				struct atw_err *err)
{
	struct parquet *p = k->own;
	struct parquet_column *c = &p->column[i];
	struct parquet_chunk chunk = { .c = c, .key = k->sc->col[i].key };
	int rc = ATW_OK;

	/* A column that is n/a everywhere has none. */
	if (c->nwords) {
		chunk.dictionary_at = p->at;
		rc = parquet_write_page(k, &chunk, PAGE_DICTIONARY, &c->words, c->nwords, err);
	}
	p->page.len = 0;
	parquet_add_levels(&p->page, c, p->rows);
	parquet_add_values(&p->page, c);
	chunk.data_at = p->at;
	if (rc == ATW_OK)
		rc = parquet_write_page(k, &chunk, PAGE_DATA, &p->page, p->rows, err);
	parquet_add_chunk(p, &chunk);
	*plain += chunk.plain;
	return rc;
}

static void parquet_empty(struct parquet *p)
{
	for (size_t i = 0; i < p->ncols; i++) {
		struct parquet_column *c = &p->column[i];

		memset(c->there, 0, (p->rows + 7) / 8);
		c->n = c->nwords = c->words.len = 0;
		c->known = false;
		table_clear(&c->by_text);
	}
	p->rows = 0;
	p->full = false;
}

static int parquet_write_group(struct atw_sink *k, struct atw_err *err)
{
	struct parquet *p = k->own;
	struct thrift group = { .b = &p->groups };
	uint64_t plain = 0;
	int rc = ATW_OK;

	if (!p->rows)
		return ATW_OK;
	thrift_list(&group, 1, THRIFT_STRUCT, p->ncols);
	for (size_t i = 0; i < p->ncols && rc == ATW_OK; i++)
		rc = parquet_write_column(k, i, &plain, err);
	thrift_put_i64(&group, 2, plain);
	thrift_put_i64(&group, 3, p->rows);
	thrift_stop(&group);
	p->ngroups++;
	p->all_rows += p->rows;
	parquet_empty(p);
	return rc == ATW_OK && p->groups.failed ? atw_err_nomem(err) : rc;
}

/* ---- the file ---- */

static void parquet_add_column(struct buf *b, const struct atw_column *col)
{
	struct thrift e = { .b = b }, logical, of, unit, micros;

	thrift_put_i32(&e, 1, parquet_type(col->type));
	thrift_put_i32(&e, 3, REPETITION_OPTIONAL);
	thrift_put_text(&e, 4, col->key);
	if (parquet_is_text(col->type)) {
		thrift_put_i32(&e, 6, CONVERTED_UTF8);
		logical = thrift_struct(&e, 10);
		of = thrift_struct(&logical, LOGICAL_STRING);
		thrift_stop(&of);
		thrift_stop(&logical);
	} else if (parquet_is_unsigned(col->type)) {
		thrift_put_i32(&e, 6, CONVERTED_UINT_64);
		logical = thrift_struct(&e, 10);
		of = thrift_struct(&logical, LOGICAL_INTEGER);
		thrift_field(&of, 1, THRIFT_I8);
		buf_char(b, 64);
		thrift_put_bool(&of, 2, false);
		thrift_stop(&of);
		thrift_stop(&logical);
	} else if (col->type == ATW_T_TIME) {
		thrift_put_i32(&e, 6, CONVERTED_TIMESTAMP_MICROS);
		logical = thrift_struct(&e, 10);
		of = thrift_struct(&logical, LOGICAL_TIMESTAMP);
		thrift_put_bool(&of, 1, true);   /* UTC */
		unit = thrift_struct(&of, 2);
		micros = thrift_struct(&unit, UNIT_MICROS);
		thrift_stop(&micros);
		thrift_stop(&unit);
		thrift_stop(&of);
		thrift_stop(&logical);
	}
	thrift_stop(&e);
}

static void parquet_add_schema(struct buf *b, const struct atw_schema *sc)
{
	struct thrift root = { .b = b };

	thrift_put_text(&root, 4, sc->name && *sc->name ? sc->name : "rows");
	thrift_put_i32(&root, 5, (int32_t)sc->ncols);
	thrift_stop(&root);
	for (size_t i = 0; i < sc->ncols; i++)
		parquet_add_column(b, &sc->col[i]);
}

static int parquet_begin(struct atw_sink *k, const struct atw_schema *sc, struct atw_err *err)
{
	struct parquet *p = calloc(1, sizeof(*p));

	if (!p)
		return atw_err_nomem(err);
	k->own = p;
	p->column = calloc(sc->ncols, sizeof(*p->column));
	p->ncols = p->column ? sc->ncols : 0;
	for (size_t i = 0; i < p->ncols; i++) {
		struct parquet_column *c = &p->column[i];

		c->type = sc->col[i].type;
		c->there = calloc(GROUP_ROWS / 8, 1);
		c->value = malloc(GROUP_ROWS * sizeof(*c->value));
		if (!c->there || !c->value)
			return atw_err_nomem(err);
	}
	writer_str(k->w, magic);
	p->at = strlen(magic);
	return p->column ? ATW_OK : atw_err_nomem(err);
}

/* A count of 2^63 or more would be read back as a negative one. */
static int parquet_check(const struct atw_column *col, const union atw_value *v,
			 struct atw_err *err)
{
	switch (col->type) {
	case ATW_T_BYTES:
	case ATW_T_COUNT:
	case ATW_T_PAGES:
	case ATW_T_TIME:
		break;
	default:
		return ATW_OK;
	}
	if (!(v->u >> 63))
		return ATW_OK;
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "column %s: %" PRIu64 " does not fit a signed number of 64 bits",
			   col->key, v->u);
}

static int parquet_row(struct atw_sink *k, const struct atw_row *row, struct atw_err *err)
{
	struct parquet *p = k->own;
	int rc;

	for (size_t i = 0; i < p->ncols; i++) {
		struct parquet_column *c = &p->column[i];

		if (!row_has(row, i) || (c->type == ATW_T_TEXT && !row->v[i].s))
			continue;
		rc = parquet_check(k->cell[i].col, &row->v[i], err);
		if (rc < 0)
			return rc;
		if (!parquet_put_value(p, c, &k->cell[i], &row->v[i]))
			return atw_err_nomem(err);
		p->full |= c->words.len > GROUP_TEXT;
	}
	p->rows++;
	return p->rows == GROUP_ROWS || p->full ? parquet_write_group(k, err) : ATW_OK;
}

static int parquet_end(struct atw_sink *k, struct atw_err *err)
{
	struct parquet *p = k->own;
	struct buf foot = { 0 };
	struct thrift file = { .b = &foot };
	uint32_t len;
	int rc = parquet_write_group(k, err);

	if (rc < 0)
		return rc;
	thrift_put_i32(&file, 1, 2);
	thrift_list(&file, 2, THRIFT_STRUCT, p->ncols + 1);
	parquet_add_schema(&foot, k->sc);
	thrift_put_i64(&file, 3, p->all_rows);
	thrift_list(&file, 4, THRIFT_STRUCT, p->ngroups);
	buf_add(&foot, p->groups.data ? p->groups.data : "", p->groups.len);
	/* Readers look for "NAME version NUMBER". */
	thrift_put_text(&file, 6, "atwalk version " ATWALK_VERSION);
	thrift_stop(&file);
	len = (uint32_t)foot.len;
	buf_add(&foot, &len, sizeof(len));
	buf_str(&foot, magic);
	writer_buf(k->w, &foot);
	buf_deinit(&foot);
	return ATW_OK;
}

static void parquet_drop(struct atw_sink *k)
{
	struct parquet *p = k->own;

	for (size_t i = 0; p && i < p->ncols; i++) {
		free(p->column[i].there);
		free(p->column[i].value);
		free(p->column[i].word);
		buf_deinit(&p->column[i].words);
		table_deinit(&p->column[i].by_text);
	}
	if (!p)
		return;
	free(p->column);
	buf_deinit(&p->groups);
	buf_deinit(&p->text);
	buf_deinit(&p->page);
	buf_deinit(&p->packed);
	buf_deinit(&p->head);
	free(p);
	k->own = NULL;
}

const struct atw_sink_ops sink_parquet = {
	.name = "parquet",
	.help = "an Apache Parquet file",
	.binary = true,
	.begin = parquet_begin,
	.row = parquet_row,
	.end = parquet_end,
	.drop = parquet_drop,
};
