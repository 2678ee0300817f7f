/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_write.c - writer of lines of atwalk-capture(5), version 1. */
#include "base/digits.h"
#include "format/capture_fields.h"

/* Upper-case hexadecimal, as in the LPMA format. */
static void capture_write_hex(struct line *l, uint64_t v, int width)
{
	line_hex(l, v, width, 'A');
}

/*
 * Commas and bars separate fields, blanks at the ends are stripped, and non-ASCII may be
 * altered in transfer: these are escaped in octal, and so are names that are literally
 * "NULL" or "-".
 */
static void capture_write_name(struct line *l, struct atw_blob b)
{
	const uint8_t *s = b.data;
	bool word;

	if (!s) {
		line_text(l, "NULL");
		return;
	}
	word = b.len == 4 && !memcmp(s, "NULL", 4);
	for (size_t i = 0; i < b.len; i++) {
		bool edge = i == 0 || i == b.len - 1;
		char tmp[8];

		if (s[i] < 0x20 || s[i] >= 0x7f || s[i] == ',' || s[i] == '|' ||
		    s[i] == '\\' || (s[i] == ' ' && edge) || (word && !i)) {
			snprintf(tmp, sizeof(tmp), "\\%03o", (unsigned)s[i]);
			line_put(l, tmp, 4);
		} else {
			line_put(l, s + i, 1);
		}
	}
}

static void capture_write_value(struct line *l, const struct capture_field *f,
				const void *part)
{
	const char *at = (const char *)part + f->at;

	switch (f->type) {
	case CAPTURE_HEX8:
	case CAPTURE_HEX:
		capture_write_hex(l, *(const uint64_t *)at,
				  f->type == CAPTURE_HEX8 ? 8 : 1);
		break;
	case CAPTURE_DEC:
		line_dec(l, *(const uint64_t *)at);
		break;
	case CAPTURE_NAME:
		capture_write_name(l, *(const struct atw_blob *)at);
		break;
	case CAPTURE_PAIR: {
		const struct capture_pair *p = (const void *)at;

		capture_write_hex(l, p->a, 1);
		line_text(l, ":");
		capture_write_hex(l, p->b, 1);
		break;
	}
	case CAPTURE_BYTES: {
		const struct capture_bytes *b = (const void *)at;

		for (size_t i = 0; i < b->len && i < CAPTURE_BUILD; i++)
			capture_write_hex(l, b->b[i], 2);
		break;
	}
	case CAPTURE_WORD: {
		uint64_t v = *(const uint64_t *)at;

		line_text(l, capture_states[v < CAPTURE_STATES ? v : CAPTURE_PLAIN]);
		break;
	}
	case CAPTURE_USE: {
		uint64_t v = *(const uint64_t *)at;

		line_text(l, capture_uses[v < CAPTURE_USES ? v : CAPTURE_UNKNOWN]);
		break;
	}
	case CAPTURE_HOST: {
		uint64_t v = *(const uint64_t *)at;

		line_text(l, capture_hosts[v < CAPTURE_HOSTS ? v : CAPTURE_HOST_UNKNOWN]);
		break;
	}
	case CAPTURE_LOADS: {
		const struct atw_blob *b = (const void *)at;

		line_put(l, b->data, b->len);
		break;
	}
	}
}

static void capture_write_fields(struct line *l, const struct capture_form *form,
				 unsigned first, uint32_t has, const void *part)
{
	for (unsigned i = first; i < form->all; i++) {
		const struct capture_field *f = &form->field[i];
		bool there = !f->has || (has & f->has);

		if (i >= form->fields && !there)
			continue;
		if (i)
			line_text(l, ", ");
		if (i >= form->fields) {
			line_text(l, f->name);
			line_text(l, "=");
		}
		if (there)
			capture_write_value(l, f, part);
		else
			line_text(l, "-");
	}
}

size_t capture_write(const struct capture_record *rec, char *buf, size_t len)
{
	struct line l = { buf, buf + (len < CAPTURE_LINE ? len : CAPTURE_LINE), false };
	const struct capture_form *form = capture_form(rec->letter);

	if (!form)
		return 0;
	line_put(&l, &rec->letter, 1);
	line_text(&l, ":");
	if (form->letter == 'M' || form->letter == 'F') {
		line_put(&l, rec->m.data, rec->m.len);
	} else {
		line_text(&l, " ");
		capture_write_fields(&l, form, 0, rec->has, &rec->h);
	}
	line_text(&l, "\n");
	return l.full ? 0 : (size_t)(l.s - buf);
}

/* " ADDRESS*PAGES=", of at most CAPTURE_BEGIN bytes. Returns its end. */
enum { CAPTURE_BEGIN = 1 + 16 + 1 + 20 + 1 };
static char *capture_write_begin(char *at, uint64_t address, uint64_t pages)
{
	*at++ = ' ';
	at = put_hex_digits(at, address, 8, 'A');
	if (pages != 1) {
		struct line l = { at, at + 1 + 20, false };

		line_put(&l, "*", 1);
		line_dec(&l, pages);
		at = l.s;
	}
	*at++ = '=';
	return at;
}

/* A run, at most. */
enum { CAPTURE_LIKE = CAPTURE_BEGIN + 16 + CAPTURE_TAIL };

size_t capture_write_like(const struct capture_run *run, struct capture_tail *t, char *buf,
			  size_t len)
{
	char *at = buf;

	if (len < CAPTURE_LIKE) {
		char own[CAPTURE_LIKE];
		size_t n = capture_write_like(run, t, own, sizeof(own));

		n = n <= len ? n : 0;
		memcpy(buf, own, n);
		return n;
	}
	if (!t->len || !capture_run_tail_same(&t->of, run)) {
		struct line tail = { t->text, t->text + sizeof(t->text), false };

		capture_write_fields(&tail, &capture_run_form, 1, run->has, run);
		line_text(&tail, " |");
		t->of = *run;
		t->len = tail.full ? 0 : (size_t)(tail.s - t->text);
		if (!t->len)
			return 0;
	}
	at = put_hex_digits(capture_write_begin(at, run->va, run->pages), run->entry, 8, 'A');
	/* A constant length lets the compiler inline the copy. */
	memcpy(at, t->text, CAPTURE_TAIL_USUAL);
	if (t->len > CAPTURE_TAIL_USUAL)
		memcpy(at, t->text, t->len);
	return (size_t)(at + t->len - buf);
}

size_t capture_write_run(const struct capture_run *run, char *buf, size_t len)
{
	struct capture_tail t = { .len = 0 };

	return capture_write_like(run, &t, buf, len);
}

size_t capture_write_frames(const struct capture_frames *run, char *buf, size_t len)
{
	struct line l = { buf, buf + len, false };
	const struct capture_frames_fields f = { run->use, run->host, run->node, run->clean };
	char begin[CAPTURE_BEGIN];

	line_put(&l, begin, (size_t)(capture_write_begin(begin, run->pa, run->pages) - begin));
	capture_write_fields(&l, &capture_frames_form, 0,
			     run->has | (run->host ? CAPTURE_F_HOST : 0), &f);
	line_text(&l, " |");
	return l.full ? 0 : (size_t)(l.s - buf);
}
