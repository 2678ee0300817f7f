// SPDX-License-Identifier: GPL-2.0-or-later
/* table.c - columns of values with a bit for each that is known. */
#include <stdlib.h>
#include <string.h>

#include "table.h"

size_t table_width(const struct table_column *column)
{
	return column->kind == TABLE_TEXT ? sizeof(int32_t) : sizeof(uint64_t);
}

struct table_column *table_add_column(struct table *table, const char *name,
				      enum table_kind kind)
{
	struct table_column *grown, *column;

	grown = realloc(table->column, (table->ncolumns + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	table->column = grown;
	column = &grown[table->ncolumns];
	*column = (struct table_column){ .name = strdup(name), .kind = kind };
	if (!column->name)
		return NULL;
	table->ncolumns++;
	return column;
}

struct table *table_create(struct module *module, const struct table_head *head, size_t n)
{
	allocfunc alloc = PyType_GetSlot(module->table, Py_tp_alloc);
	struct table *table = (struct table *)alloc(module->table, 0);

	for (size_t i = 0; table && i < n; i++) {
		struct table_column *column = table_add_column(table, head[i].name, head[i].kind);

		if (!column) {
			Py_DECREF(table);
			PyErr_NoMemory();
			return NULL;
		}
		if (head[i].words)
			column->words = *head[i].words;
	}
	return table;
}

static bool table_grow(struct table *table, size_t rows)
{
	size_t room = table->room ? table->room : 256;

	while (room < rows)
		room *= 2;
	for (size_t i = 0; i < table->ncolumns; i++) {
		struct table_column *column = &table->column[i];
		size_t width = table_width(column);
		void *data = realloc(column->data, room * width);
		uint8_t *valid;

		if (!data)
			return false;
		column->data = data;
		valid = realloc(column->valid, room / 8);
		if (!valid)
			return false;
		column->valid = valid;
		memset((char *)data + table->room * width, 0, (room - table->room) * width);
		memset(valid + table->room / 8, 0, (room - table->room) / 8);
	}
	table->room = room;
	return true;
}

bool table_add_rows(struct table *table, size_t n)
{
	if (table->failed || n > SIZE_MAX / 32 - table->rows ||
	    (table->rows + n > table->room && !table_grow(table, table->rows + n))) {
		table->failed = true;
		return false;
	}
	table->rows += n;
	for (size_t i = 0; i < table->ncolumns; i++)
		table->column[i].nulls += n;
	return true;
}

static void table_mark(struct table_column *column, size_t row)
{
	uint8_t bit = (uint8_t)(1 << (row & 7));

	if (!(column->valid[row / 8] & bit))
		column->nulls--;
	column->valid[row / 8] |= bit;
}

void table_set_at(struct table *table, size_t row, size_t i, uint64_t value)
{
	struct table_column *column = &table->column[i];

	if (column->kind == TABLE_TEXT)
		((int32_t *)column->data)[row] = (int32_t)value;
	else
		((uint64_t *)column->data)[row] = value;
	table_mark(column, row);
}

/* Bytes at once, and the bits at both ends alone. */
static void table_mark_run(struct table_column *column, size_t row, size_t n)
{
	for (; n && row & 7; row++, n--)
		table_mark(column, row);
	for (size_t whole = n / 8; whole; whole--, row += 8, n -= 8) {
		column->nulls -= (size_t)(8 - __builtin_popcount(column->valid[row / 8]));
		column->valid[row / 8] = 0xff;
	}
	for (; n; row++, n--)
		table_mark(column, row);
}

void table_fill(struct table *table, size_t row, size_t n, size_t i, uint64_t value,
		uint64_t step)
{
	struct table_column *column = &table->column[i];

	if (column->kind == TABLE_TEXT)
		for (size_t j = 0; j < n; j++)
			((int32_t *)column->data)[row + j] = (int32_t)value;
	else
		for (size_t j = 0; j < n; j++)
			((uint64_t *)column->data)[row + j] = value + j * step;
	table_mark_run(column, row, n);
}

void table_copy(struct table *table, size_t row, size_t n, size_t i, const void *words)
{
	struct table_column *column = &table->column[i];

	memcpy((uint64_t *)column->data + row, words, n * sizeof(uint64_t));
	table_mark_run(column, row, n);
}

void table_set(struct table *table, size_t i, uint64_t value)
{
	table_set_at(table, table->rows - 1, i, value);
}

/* Length of the UTF-8 character at s, or 0 (RFC 3629). */
static size_t table_utf8(const unsigned char *s, size_t n)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = 2 + (s[0] >= 0xe0) + (s[0] >= 0xf0);
	if (n < len)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	if (s[0] == 0xed)
		high = 0x9f;
	if (s[0] == 0xf0)
		low = 0x90;
	if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

/* Names may have any bytes, and Arrow's texts may not: others become \xNN. */
static char *table_clean(const char *text, size_t len, size_t *ret)
{
	static const char digit[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)text;
	char *clean = malloc(4 * len + 1);
	size_t out = 0;

	for (size_t i = 0, n; clean && i < len; i += n) {
		n = table_utf8(s + i, len - i);
		if (n) {
			memcpy(clean + out, s + i, n);
			out += n;
			continue;
		}
		clean[out++] = '\\';
		clean[out++] = 'x';
		clean[out++] = digit[s[i] >> 4];
		clean[out++] = digit[s[i] & 15];
		n = 1;
	}
	if (clean)
		clean[out] = 0;
	*ret = out;
	return clean;
}

static size_t table_hash(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3;
	return (size_t)(h ^ h >> 29);
}

static int32_t *table_slot(struct table_column *column, const char *text, size_t len)
{
	size_t i = table_hash(text, len) & (column->nslots - 1);

	for (;; i = (i + 1) & (column->nslots - 1)) {
		int32_t at = column->slot[i];

		if (!at || (column->text[at - 1].len == len &&
			    !memcmp(column->text[at - 1].bytes, text, len)))
			return &column->slot[i];
	}
}

static bool table_more_slots(struct table_column *column)
{
	size_t n = column->nslots ? 2 * column->nslots : 64;
	int32_t *slot = calloc(n, sizeof(*slot));

	if (!slot)
		return false;
	free(column->slot);
	column->slot = slot;
	column->nslots = n;
	for (size_t i = 0; i < column->ntext; i++)
		*table_slot(column, column->text[i].bytes, column->text[i].len) =
			(int32_t)(i + 1);
	return true;
}

/* Takes over the bytes. */
static int32_t table_keep(struct table_column *column, char *bytes, size_t len)
{
	int32_t *slot;

	if (2 * column->ntext >= column->nslots && !table_more_slots(column))
		goto nomem;
	slot = table_slot(column, bytes, len);
	if (*slot) {
		free(bytes);
		return *slot - 1;
	}
	if (column->ntext == INT32_MAX - 1)
		goto nomem;
	if (column->ntext == column->text_room) {
		size_t room = column->text_room ? 2 * column->text_room : 16;
		struct table_text *text = realloc(column->text, room * sizeof(*text));

		if (!text)
			goto nomem;
		column->text = text;
		column->text_room = room;
	}
	column->text[column->ntext++] = (struct table_text){ bytes, len };
	*slot = (int32_t)column->ntext;
	return *slot - 1;
nomem:
	free(bytes);
	return -1;
}

int32_t table_intern(struct table *table, size_t i, const char *text, size_t len)
{
	size_t n;
	char *clean = table_clean(text, len, &n);
	int32_t at = clean ? table_keep(&table->column[i], clean, n) : -1;

	if (at < 0)
		table->failed = true;
	return at;
}

void table_set_text(struct table *table, size_t i, const char *text)
{
	int32_t at = table_intern(table, i, text, strlen(text));

	if (at >= 0)
		table_set(table, i, (uint64_t)at);
}
