/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records.c - records of Intel HEX. */
#include "records.h"

#include <string.h>

/* Types of records. 03 and 05 have where a program starts. */
enum { HEX_DATA, HEX_END, HEX_SEGMENT, HEX_START_SEGMENT, HEX_LINEAR, HEX_START_LINEAR };
enum { HEX_SEGMENT_BYTES = 0x10000 };

static int records_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum record_result records_wrong(struct records *r, const char *why)
{
	r->why = why;
	return RECORD_WRONG;
}

/* Lines end with CR, LF or both, and may be empty. 0: there is no further one. */
static int records_find_line(struct records *r, const char **line, size_t *len, int *whole)
{
	size_t end;

	while (r->pos < r->len && (r->text[r->pos] == '\n' || r->text[r->pos] == '\r')) {
		int both = r->text[r->pos] == '\r' && r->pos + 1 < r->len &&
			   r->text[r->pos + 1] == '\n';

		r->line++;
		r->pos += 1 + (size_t)both;
	}
	for (end = r->pos; end < r->len && r->text[end] != '\n' && r->text[end] != '\r'; end++)
		;
	*line = r->text + r->pos;
	*len = end - r->pos;
	*whole = end < r->len;
	r->pos = end;
	return *len > 0;
}

/* All bytes of a record; the sum of them is 0. */
struct hex_record {
	uint8_t byte[RECORD_BYTES + 5];
	unsigned n, offset, type;
};

static enum record_result records_parse(struct records *r, const char *line, size_t len,
					int whole, struct hex_record *ret)
{
	uint8_t sum = 0;
	size_t n;

	if (line[0] != ':')
		return records_wrong(r, "it does not begin with a colon");
	if (len > 2 * sizeof(ret->byte) + 1)
		return records_wrong(r, "it is longer than any record");
	for (n = 0; 2 * n + 2 < len; n++) {
		int high = records_digit(line[1 + 2 * n]), low = records_digit(line[2 + 2 * n]);

		if (high < 0 || low < 0)
			return records_wrong(r, "it has something else than hexadecimal digits");
		ret->byte[n] = (uint8_t)(high << 4 | low);
		sum = (uint8_t)(sum + ret->byte[n]);
	}
	/* The last line may have been cut off. */
	if (!whole && (len % 2 == 0 || n < 5 || n < ret->byte[0] + 5u))
		return RECORD_CUT;
	if (len % 2 == 0 || n < 5 || n != ret->byte[0] + 5u)
		return records_wrong(r, "its length is not the one that it states");
	if (sum)
		return records_wrong(r, "its sum is wrong");
	ret->n = ret->byte[0];
	ret->offset = (unsigned)ret->byte[1] << 8 | ret->byte[2];
	ret->type = ret->byte[3];
	return RECORD_DATA;
}

/* Bytes that are left, up to where addresses wrap. */
static enum record_result records_take(struct records *r, unsigned offset, unsigned n)
{
	unsigned room = r->wraps ? HEX_SEGMENT_BYTES - offset : n;

	r->n = n < room ? n : room;
	r->rest = n - r->n;
	r->at = r->base + offset;
	return RECORD_DATA;
}

static enum record_result records_set_base(struct records *r, const struct hex_record *x)
{
	uint64_t base = (uint64_t)x->byte[4] << 8 | x->byte[5];

	if (x->n != 2)
		return records_wrong(r, "an address has two bytes");
	r->wraps = x->type == HEX_SEGMENT;
	r->base = base << (r->wraps ? 4 : 16);
	return RECORD_DATA;
}

/* Behind the end record, only line ends are accepted. */
static enum record_result records_end(struct records *r)
{
	const char *line;
	size_t len;
	int whole;

	if (!records_find_line(r, &line, &len, &whole))
		return RECORD_END;
	r->line++;
	return records_wrong(r, "it is behind the end record");
}

enum record_result records_next(struct records *r)
{
	struct hex_record x;
	const char *line;
	size_t len;
	int whole;

	if (r->rest) {
		memmove(r->byte, r->byte + r->n, r->rest);
		return records_take(r, 0, r->rest);
	}
	while (records_find_line(r, &line, &len, &whole)) {
		enum record_result got;

		r->line++;
		got = records_parse(r, line, len, whole, &x);
		r->pos += whole ? 1 + (r->text[r->pos] == '\r' && r->pos + 1 < r->len &&
				       r->text[r->pos + 1] == '\n') : 0;
		if (got != RECORD_DATA)
			return got;
		switch (x.type) {
		case HEX_DATA:
			if (!x.n)
				break;
			memcpy(r->byte, x.byte + 4, x.n);
			return records_take(r, x.offset, x.n);
		case HEX_END:
			return x.n ? records_wrong(r, "the end record has bytes") : records_end(r);
		case HEX_SEGMENT:
		case HEX_LINEAR:
			got = records_set_base(r, &x);
			if (got != RECORD_DATA)
				return got;
			break;
		case HEX_START_SEGMENT:
		case HEX_START_LINEAR:
			break;
		default:
			return records_wrong(r, "its type is unknown");
		}
	}
	return RECORD_CUT;
}
