/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_write.c - lines of atwalk-capture(5), version 1. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/capture_fields.h"

/* What does not fit any more leaves `full` set, and is asked about once. */
struct out {
	char *s, *end;
	bool full;
};

static void put(struct out *o, const void *data, size_t len)
{
	if (o->full || len > (size_t)(o->end - o->s)) {
		o->full = true;
		return;
	}
	if (len)
		memcpy(o->s, data, len);
	o->s += len;
}

static void puts_(struct out *o, const char *s)
{
	put(o, s, strlen(s));
}

/* Eight hexadecimal digits, the first one lowest. */
static uint64_t eight_digits(uint32_t v)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t t = v;

	t = (t | t << 16) & 0x0000ffff0000ffff;
	t = (t | t << 8) & 0x00ff00ff00ff00ff;
	t = (t | t << 4) & 0x0f * ones;
	t += 0x30 * ones + (((t + 6 * ones) >> 4) & ones) * ('A' - '9' - 1);
	return __builtin_bswap64(t);
}

/* By hand, for there are very many runs. */
static void hex(struct out *o, uint64_t v, int width)
{
	uint64_t high = eight_digits((uint32_t)(v >> 32)), low = eight_digits((uint32_t)v);
	int n = v ? (67 - __builtin_clzll(v)) / 4 : 1;
	char tmp[16], *to = o->end - o->s >= 16 && !o->full ? o->s : tmp;

	n = n < width ? width : n;
	if (n > 8) {
		high >>= 8 * (16 - n);
		memcpy(to, &high, 8);
		memcpy(to + n - 8, &low, 8);
	} else {
		low >>= 8 * (8 - n);
		memcpy(to, &low, 8);
	}
	/* Straight to its place, if what is behind the number may be written over. */
	if (to == tmp)
		put(o, tmp, (size_t)n);
	else
		o->s += n;
}

static void dec(struct out *o, uint64_t v)
{
	char tmp[20], *s = tmp + sizeof(tmp);

	do {
		*--s = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put(o, s, (size_t)(tmp + sizeof(tmp) - s));
}

/*
 * Commas and bars part fields, blanks at the ends are taken off, and a line of
 * ASCII survives any mail: those become octal, as does a name that is "NULL" or
 * "-" indeed.
 */
static void name(struct out *o, struct atw_blob b)
{
	const uint8_t *s = b.data;
	bool word;

	if (!s) {
		puts_(o, "NULL");
		return;
	}
	word = b.len == 4 && !memcmp(s, "NULL", 4);
	for (size_t i = 0; i < b.len; i++) {
		bool edge = i == 0 || i == b.len - 1;
		char tmp[8];

		if (s[i] < 0x20 || s[i] >= 0x7f || s[i] == ',' || s[i] == '|' ||
		    s[i] == '\\' || (s[i] == ' ' && edge) || (word && !i)) {
			snprintf(tmp, sizeof(tmp), "\\%03o", (unsigned)s[i]);
			put(o, tmp, 4);
		} else {
			put(o, s + i, 1);
		}
	}
}

static void value(struct out *o, const struct capture_field *f, const void *part)
{
	const char *at = (const char *)part + f->at;

	switch (f->type) {
	case CAPTURE_HEX8:
	case CAPTURE_HEX:
		hex(o, *(const uint64_t *)at, f->type == CAPTURE_HEX8 ? 8 : 1);
		break;
	case CAPTURE_DEC:
		dec(o, *(const uint64_t *)at);
		break;
	case CAPTURE_NAME:
		name(o, *(const struct atw_blob *)at);
		break;
	case CAPTURE_PAIR: {
		const struct capture_pair *p = (const void *)at;

		hex(o, p->a, 1);
		puts_(o, ":");
		hex(o, p->b, 1);
		break;
	}
	case CAPTURE_BYTES: {
		const struct capture_bytes *b = (const void *)at;

		for (size_t i = 0; i < b->len && i < CAPTURE_BUILD; i++)
			hex(o, b->b[i], 2);
		break;
	}
	case CAPTURE_WORD: {
		uint64_t v = *(const uint64_t *)at;

		puts_(o, capture_states[v < CAPTURE_STATES ? v : CAPTURE_PLAIN]);
		break;
	}
	case CAPTURE_USE: {
		uint64_t v = *(const uint64_t *)at;

		puts_(o, capture_uses[v < CAPTURE_USES ? v : CAPTURE_UNKNOWN]);
		break;
	}
	case CAPTURE_LOADS: {
		const struct atw_blob *b = (const void *)at;

		put(o, b->data, b->len);
		break;
	}
	}
}

static void fields(struct out *o, const struct capture_form *form, unsigned first,
		   uint32_t has, const void *part)
{
	for (unsigned i = first; i < form->all; i++) {
		const struct capture_field *f = &form->field[i];
		bool there = !f->has || (has & f->has);

		if (i >= form->fields && !there)
			continue;
		if (i)
			puts_(o, ", ");
		if (i >= form->fields) {
			puts_(o, f->name);
			puts_(o, "=");
		}
		if (there)
			value(o, f, part);
		else
			puts_(o, "-");
	}
}

size_t capture_write(const struct capture_record *rec, char *buf, size_t len)
{
	struct out o = { buf, buf + (len < CAPTURE_LINE ? len : CAPTURE_LINE), false };
	const struct capture_form *form = capture_form(rec->letter);

	if (!form)
		return 0;
	put(&o, &rec->letter, 1);
	puts_(&o, ":");
	if (form->letter == 'M' || form->letter == 'F') {
		put(&o, rec->m.data, rec->m.len);
	} else {
		puts_(&o, " ");
		fields(&o, form, 0, rec->has, &rec->h);
	}
	puts_(&o, "\n");
	return o.full ? 0 : (size_t)(o.s - buf);
}

/* " ADDRESS*PAGES=" */
static void begin(struct out *o, uint64_t address, uint64_t pages)
{
	put(o, " ", 1);
	hex(o, address, 8);
	if (pages != 1) {
		put(o, "*", 1);
		dec(o, pages);
	}
	put(o, "=", 1);
}

/* All members from `count` on are numbers, with nothing between them. */
static bool has_tail(const struct capture_tail *t, const struct capture_run *run)
{
	const size_t from = offsetof(struct capture_run, count);

	return t->len && t->of.has == run->has &&
	       !memcmp((const char *)&t->of + from, (const char *)run + from, sizeof(*run) - from);
}

size_t capture_write_like(const struct capture_run *run, struct capture_tail *t, char *buf,
			  size_t len)
{
	struct out o = { buf, buf + len, false };

	if (!has_tail(t, run)) {
		struct out tail = { t->text, t->text + sizeof(t->text), false };

		fields(&tail, &capture_run_form, 1, run->has, run);
		puts_(&tail, " |");
		t->of = *run;
		t->len = tail.full ? 0 : (size_t)(tail.s - t->text);
		if (!t->len)
			return 0;
	}
	begin(&o, run->va, run->pages);
	hex(&o, run->entry, 8);
	/* A length that is known beforehand is no call. */
	if (!o.full && t->len <= CAPTURE_TAIL_USUAL && o.end - o.s >= CAPTURE_TAIL_USUAL) {
		memcpy(o.s, t->text, CAPTURE_TAIL_USUAL);
		o.s += t->len;
	} else {
		put(&o, t->text, t->len);
	}
	return o.full ? 0 : (size_t)(o.s - buf);
}

size_t capture_write_run(const struct capture_run *run, char *buf, size_t len)
{
	struct capture_tail t = { .len = 0 };

	return capture_write_like(run, &t, buf, len);
}

size_t capture_write_frames(const struct capture_frames *run, char *buf, size_t len)
{
	struct out o = { buf, buf + len, false };
	uint64_t use = run->use;

	begin(&o, run->pa, run->pages);
	fields(&o, &capture_frames_form, 0, 0, &use);
	puts_(&o, " |");
	return o.full ? 0 : (size_t)(o.s - buf);
}
