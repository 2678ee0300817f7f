// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * columns.c - rows of separated fields with a head, as of spreadsheets and data frames.
 *
 * Fields may be quoted as in RFC 4180, but a row is one line. Addresses may have 0x. If
 * they do not, they are hexadecimal if any of the first rows has a letter, else decimal,
 * as programs write columns of integers; the decision holds for the whole file.
 */
#include <inttypes.h>
#include <strings.h>

#include "trace/parsers.h"
#include "trace/words.h"

enum trace_column {
	TRACE_COLUMN_NONE,
	TRACE_COLUMN_ADDRESS,
	TRACE_COLUMN_PHYSICAL,
	TRACE_COLUMN_IP,
	TRACE_COLUMN_SIZE,
	TRACE_COLUMN_PID,
	TRACE_COLUMN_TID,
	TRACE_COLUMN_CPU,
	TRACE_COLUMN_TIME,
	TRACE_COLUMN_WEIGHT,
	TRACE_COLUMN_SOURCE,
	TRACE_COLUMN_PAGE_SIZE,
	TRACE_COLUMN_KIND,
	TRACE_COLUMN_COUNT,
	TRACE_COLUMN_TASK,
	TRACE_COLUMN_SYMBOL,
};

/* In lower case; blanks, dots and hyphens count as underscores. */
static const struct {
	const char *name;
	enum trace_column column;
} columns_names[] = {
	{ "address", TRACE_COLUMN_ADDRESS },
	{ "addr", TRACE_COLUMN_ADDRESS },
	{ "va", TRACE_COLUMN_ADDRESS },
	{ "vaddr", TRACE_COLUMN_ADDRESS },
	{ "virtual", TRACE_COLUMN_ADDRESS },
	{ "virtual_address", TRACE_COLUMN_ADDRESS },
	{ "data_address", TRACE_COLUMN_ADDRESS },
	{ "data_addr", TRACE_COLUMN_ADDRESS },
	{ "daddr", TRACE_COLUMN_ADDRESS },
	{ "linear_address", TRACE_COLUMN_ADDRESS },
	{ "mem_addr", TRACE_COLUMN_ADDRESS },
	{ "memory_address", TRACE_COLUMN_ADDRESS },
	{ "fault_address", TRACE_COLUMN_ADDRESS },
	{ "ptr", TRACE_COLUMN_ADDRESS },
	{ "pointer", TRACE_COLUMN_ADDRESS },
	{ "physical", TRACE_COLUMN_PHYSICAL },
	{ "physical_address", TRACE_COLUMN_PHYSICAL },
	{ "phys_addr", TRACE_COLUMN_PHYSICAL },
	{ "phys", TRACE_COLUMN_PHYSICAL },
	{ "paddr", TRACE_COLUMN_PHYSICAL },
	{ "pa", TRACE_COLUMN_PHYSICAL },
	{ "ip", TRACE_COLUMN_IP },
	{ "pc", TRACE_COLUMN_IP },
	{ "rip", TRACE_COLUMN_IP },
	{ "code", TRACE_COLUMN_IP },
	{ "code_address", TRACE_COLUMN_IP },
	{ "instruction", TRACE_COLUMN_IP },
	{ "size", TRACE_COLUMN_SIZE },
	{ "bytes", TRACE_COLUMN_SIZE },
	{ "access_size", TRACE_COLUMN_SIZE },
	{ "pid", TRACE_COLUMN_PID },
	{ "tgid", TRACE_COLUMN_PID },
	{ "process", TRACE_COLUMN_PID },
	{ "process_id", TRACE_COLUMN_PID },
	{ "tid", TRACE_COLUMN_TID },
	{ "thread", TRACE_COLUMN_TID },
	{ "thread_id", TRACE_COLUMN_TID },
	{ "cpu", TRACE_COLUMN_CPU },
	{ "core", TRACE_COLUMN_CPU },
	{ "time", TRACE_COLUMN_TIME },
	{ "seconds", TRACE_COLUMN_TIME },
	{ "weight", TRACE_COLUMN_WEIGHT },
	{ "latency", TRACE_COLUMN_WEIGHT },
	{ "cycles", TRACE_COLUMN_WEIGHT },
	{ "local_weight", TRACE_COLUMN_WEIGHT },
	{ "data_src", TRACE_COLUMN_SOURCE },
	{ "data_source", TRACE_COLUMN_SOURCE },
	{ "page_size", TRACE_COLUMN_PAGE_SIZE },
	{ "data_page_size", TRACE_COLUMN_PAGE_SIZE },
	{ "kind", TRACE_COLUMN_KIND },
	{ "type", TRACE_COLUMN_KIND },
	{ "op", TRACE_COLUMN_KIND },
	{ "operation", TRACE_COLUMN_KIND },
	{ "access", TRACE_COLUMN_KIND },
	{ "access_type", TRACE_COLUMN_KIND },
	{ "rw", TRACE_COLUMN_KIND },
	{ "count", TRACE_COLUMN_COUNT },
	{ "samples", TRACE_COLUMN_COUNT },
	{ "hits", TRACE_COLUMN_COUNT },
	{ "misses", TRACE_COLUMN_COUNT },
	{ "period", TRACE_COLUMN_COUNT },
	{ "refs", TRACE_COLUMN_COUNT },
	{ "task", TRACE_COLUMN_TASK },
	{ "comm", TRACE_COLUMN_TASK },
	{ "command", TRACE_COLUMN_TASK },
	{ "symbol", TRACE_COLUMN_SYMBOL },
	{ "sym", TRACE_COLUMN_SYMBOL },
	{ "function", TRACE_COLUMN_SYMBOL },
};

static const struct {
	const char *name;
	enum trace_kind kind;
} columns_kinds[] = {
	{ "r", TRACE_KIND_READ },      { "read", TRACE_KIND_READ },
	{ "l", TRACE_KIND_READ },      { "load", TRACE_KIND_READ },
	{ "w", TRACE_KIND_WRITE },     { "write", TRACE_KIND_WRITE },
	{ "s", TRACE_KIND_WRITE },     { "store", TRACE_KIND_WRITE },
	{ "m", TRACE_KIND_BOTH },      { "rw", TRACE_KIND_BOTH },
	{ "modify", TRACE_KIND_BOTH }, { "x", TRACE_KIND_FETCH },
	{ "exec", TRACE_KIND_FETCH },  { "fetch", TRACE_KIND_FETCH },
	{ "i", TRACE_KIND_FETCH },     { "ifetch", TRACE_KIND_FETCH },
};

/* ---- one row ---- */

struct columns_row {
	const char *at, *end;    /* at: NULL behind the last field */
	char separator;
};

/* The next field, without quotes and blanks around it. false: there is none. */
static bool columns_next(struct columns_row *row, struct atw_blob *ret)
{
	const char *s = row->at, *to;
	struct atw_blob b;

	if (!s)
		return false;
	while (s < row->end && *s == ' ')
		s++;
	if (s < row->end && *s == '"') {
		/* A quote in quotes is doubled; names of columns and numbers have none. */
		for (to = ++s; to < row->end; to++) {
			if (*to != '"')
				continue;
			if (to + 1 < row->end && to[1] == '"')
				to++;
			else
				break;
		}
		*ret = (struct atw_blob){ s, (size_t)(to - s) };
		to = to < row->end ? memchr(to, row->separator, (size_t)(row->end - to)) : NULL;
	} else {
		to = s < row->end ? memchr(s, row->separator, (size_t)(row->end - s)) : NULL;
		b = (struct atw_blob){ s, (size_t)((to ? to : row->end) - s) };
		*ret = words_trim(b);
	}
	row->at = to ? to + 1 : NULL;
	return true;
}

static struct columns_row columns_row_of(struct atw_blob line, char separator)
{
	const char *s = line.data;

	return (struct columns_row){ s, s + line.len, separator };
}

static bool columns_same(struct atw_blob field, const char *name)
{
	const char *s = field.data;

	if (field.len != strlen(name))
		return false;
	for (size_t i = 0; i < field.len; i++) {
		char c = s[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		else if (c == ' ' || c == '-' || c == '.')
			c = '_';
		if (c != name[i])
			return false;
	}
	return true;
}

static enum trace_column columns_named(struct atw_blob field)
{
	for (size_t i = 0; i < sizeof(columns_names) / sizeof(columns_names[0]); i++)
		if (columns_same(field, columns_names[i].name))
			return columns_names[i].column;
	return TRACE_COLUMN_NONE;
}

static bool columns_comment(struct atw_blob line)
{
	line = words_trim(line);
	return !line.len || *(const char *)line.data == '#';
}

/* ---- the head ---- */

static const char columns_separators[] = { '\t', ',', ';' };

/* Names that are known, with this separator. */
static unsigned columns_known(struct atw_blob line, char separator)
{
	struct columns_row row = columns_row_of(line, separator);
	struct atw_blob field;
	unsigned known = 0;

	for (unsigned i = 0; i < TRACE_COLUMNS && columns_next(&row, &field); i++)
		known += columns_named(field) != TRACE_COLUMN_NONE;
	return known;
}

/* The separator that occurs most often; of a single column, a comma. */
static char columns_separator(struct atw_blob line)
{
	const char *s = line.data;
	size_t most = 0;
	char ret = ',';

	for (size_t i = 0; i < sizeof(columns_separators); i++) {
		size_t n = 0;

		for (size_t j = 0; j < line.len; j++)
			n += s[j] == columns_separators[i];
		if (n > most) {
			most = n;
			ret = columns_separators[i];
		}
	}
	return ret;
}

static const struct atw_blob *columns_head(const struct atw_blob *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!columns_comment(line[i]))
			return &line[i];
	return NULL;
}

bool columns_detect(const struct atw_blob *line, size_t n)
{
	const struct atw_blob *head = columns_head(line, n);

	return head && columns_known(*head, columns_separator(*head));
}

static int columns_find(struct trace_parser *p, const struct trace_options *opts,
			struct atw_blob head, struct atw_err *err)
{
	struct columns_row row = columns_row_of(head, p->separator);
	bool address = false;
	struct atw_blob field;

	for (; columns_next(&row, &field); p->columns++) {
		enum trace_column c;

		if (p->columns == TRACE_COLUMNS)
			return atw_err_set(err, ATW_E_LIMIT,
					   "the head has more than %d columns", TRACE_COLUMNS);
		c = columns_named(field);
		if (opts->address) {
			bool named = field.len == strlen(opts->address) &&
				     !strncasecmp(field.data, opts->address, field.len);

			/* Other columns that look like addresses are not wanted. */
			c = named ? TRACE_COLUMN_ADDRESS
				  : c == TRACE_COLUMN_ADDRESS ? TRACE_COLUMN_NONE : c;
		}
		/* Of two columns for the same, the first one. */
		if (c && memchr(p->column, (int)c, p->columns))
			c = TRACE_COLUMN_NONE;
		address = address || c == TRACE_COLUMN_ADDRESS;
		p->column[p->columns] = (uint8_t)c;
	}
	if (address)
		return ATW_OK;
	if (opts->address)
		return atw_err_set(err, ATW_E_USAGE, "the head has no column '%.60s'",
				   opts->address);
	return atw_err_set(err, ATW_E_MISSING,
			   "the head has no column with a common name of addresses, such as address or addr");
}

/* Is the number of this address hexadecimal without a doubt? */
static bool columns_letters(struct atw_blob field)
{
	uint64_t v;

	return !words_begins(field, "0x") && !words_begins(field, "0X") &&
	       !words_digits(field) && field.len && num_hex(field.data, field.len, &v);
}

int columns_init(struct trace_parser *p, const struct trace_options *opts,
		 const struct atw_blob *line, size_t n, struct atw_err *err)
{
	const struct atw_blob *head = columns_head(line, n);
	int r;

	if (!head)
		return atw_err_set(err, ATW_E_MISSING, "there is no head with names of columns");
	p->separator = columns_separator(*head);
	r = columns_find(p, opts, *head, err);
	p->decimal = true;
	for (const struct atw_blob *l = head + 1; r == ATW_OK && l < line + n; l++) {
		struct columns_row row = columns_row_of(*l, p->separator);
		struct atw_blob field;

		for (unsigned i = 0; i < p->columns && columns_next(&row, &field); i++)
			if ((p->column[i] == TRACE_COLUMN_ADDRESS ||
			     p->column[i] == TRACE_COLUMN_IP ||
			     p->column[i] == TRACE_COLUMN_PHYSICAL) && columns_letters(field))
				p->decimal = false;
	}
	return r;
}

/* ---- rows ---- */

static int columns_address(const struct trace_parser *p, struct atw_blob f, uint64_t *ret,
			   struct atw_err *err)
{
	if (p->decimal ? num_any(f.data, f.len, ret) : num_hex(f.data, f.len, ret))
		return ATW_OK;
	return words_bad(p, f, p->decimal ? "an address: decimal or with 0x"
					  : "a hexadecimal address", err);
}

static int columns_number(const struct trace_parser *p, struct atw_blob f, const char *what,
			  uint64_t *ret, struct atw_err *err)
{
	return num_any(f.data, f.len, ret) ? ATW_OK : words_bad(p, f, what, err);
}

static int columns_size(const struct trace_parser *p, struct atw_blob f, uint64_t *ret,
			struct atw_err *err)
{
	return num_size(f.data, f.len, ret) ? ATW_OK : words_bad(p, f, "a size", err);
}

static enum trace_kind columns_kind(struct atw_blob f)
{
	for (size_t i = 0; i < sizeof(columns_kinds) / sizeof(columns_kinds[0]); i++)
		if (columns_same(f, columns_kinds[i].name))
			return columns_kinds[i].kind;
	return TRACE_KIND_UNKNOWN;
}

static int columns_field(const struct trace_parser *p, enum trace_column c,
			 struct atw_blob f, struct trace_ref *ret, struct atw_err *err)
{
	uint64_t v = 0;
	uint32_t has = 0;
	int r = ATW_OK;

	switch (c) {
	case TRACE_COLUMN_NONE:
		break;
	case TRACE_COLUMN_ADDRESS:
		has = TRACE_HAS_ADDRESS;
		r = columns_address(p, f, &ret->address, err);
		break;
	case TRACE_COLUMN_PHYSICAL:
		has = TRACE_HAS_PHYSICAL;
		r = columns_address(p, f, &ret->physical, err);
		break;
	case TRACE_COLUMN_IP:
		has = TRACE_HAS_IP;
		r = columns_address(p, f, &ret->ip, err);
		break;
	case TRACE_COLUMN_SIZE:
		has = TRACE_HAS_SIZE;
		r = columns_size(p, f, &v, err);
		if (r == ATW_OK && v > UINT32_MAX)
			r = words_bad(p, f, "a size", err);
		ret->size = (uint32_t)v;
		break;
	case TRACE_COLUMN_PID:
		has = TRACE_HAS_PID;
		r = words_to_u32(p, f, "the number of a process", &ret->pid, err);
		break;
	case TRACE_COLUMN_TID:
		has = TRACE_HAS_TID;
		r = words_to_u32(p, f, "the number of a thread", &ret->tid, err);
		break;
	case TRACE_COLUMN_CPU:
		has = TRACE_HAS_CPU;
		r = words_to_u32(p, f, "the number of a CPU", &ret->cpu, err);
		break;
	case TRACE_COLUMN_TIME:
		has = TRACE_HAS_TIME;
		r = words_to_time(p, f, &ret->time, err);
		break;
	case TRACE_COLUMN_WEIGHT:
		has = TRACE_HAS_WEIGHT;
		r = columns_number(p, f, "a weight", &ret->weight, err);
		break;
	case TRACE_COLUMN_SOURCE:
		has = TRACE_HAS_SOURCE;
		r = columns_number(p, f, "a data source", &ret->source, err);
		break;
	case TRACE_COLUMN_PAGE_SIZE:
		has = TRACE_HAS_PAGE_SIZE;
		r = columns_size(p, f, &ret->page_size, err);
		break;
	case TRACE_COLUMN_KIND:
		ret->kind = columns_kind(f);
		break;
	case TRACE_COLUMN_COUNT:
		r = columns_number(p, f, "a count", &ret->count, err);
		break;
	case TRACE_COLUMN_TASK:
		ret->task = f;
		break;
	case TRACE_COLUMN_SYMBOL:
		ret->symbol = f;
		break;
	}
	if (r == ATW_OK)
		ret->has |= has;
	return r;
}

int columns_parse(struct trace_parser *p, struct atw_blob line, struct trace_ref *ret,
		  struct atw_err *err)
{
	struct columns_row row = columns_row_of(line, p->separator);
	struct atw_blob field;
	unsigned i;

	if (columns_comment(line))
		return ATW_END;
	if (!p->head) {
		p->head = true;
		return ATW_END;
	}
	for (i = 0; i < p->columns && columns_next(&row, &field); i++) {
		int r;

		/* An empty field and these words stand for an unknown value. */
		if (!field.len || columns_same(field, "n/a") || columns_same(field, "null") ||
		    columns_same(field, "nan"))
			continue;
		r = columns_field(p, p->column[i], field, ret, err);
		if (r < 0)
			return r;
	}
	/* A row that stands for no reference: programs write such ones, too. */
	if (i == p->columns)
		return ret->count ? ATW_OK : ATW_END;
	return atw_err_set(err, ATW_E_FORMAT, "line %" PRIu64 " has %u of %u fields", p->line,
			   i, p->columns);
}
