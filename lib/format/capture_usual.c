/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_usual.c - fast parser of runs in the form in which most are written. */
#include "base/digits.h"
#include "format/capture_fields.h"

struct capture_usual_cursor {
	const char *s, *end;
};

static bool capture_usual_hex(struct capture_usual_cursor *c, uint64_t *ret)
{
	return scan_hex(&c->s, c->end, ret);
}

static bool capture_usual_dec(struct capture_usual_cursor *c, uint64_t *ret)
{
	return scan_dec(&c->s, c->end, ret);
}

static bool capture_usual_one(struct capture_usual_cursor *c, char what)
{
	if (c->s == c->end || *c->s != what)
		return false;
	c->s++;
	return true;
}

static bool capture_usual_comma(struct capture_usual_cursor *c)
{
	if (c->end - c->s < 2 || c->s[0] != ',' || c->s[1] != ' ')
		return false;
	c->s += 2;
	return true;
}

static bool capture_usual_key(struct capture_usual_cursor *c, const char *name,
			      size_t len)
{
	if ((size_t)(c->end - c->s) < len || memcmp(c->s, name, len))
		return false;
	c->s += len;
	return true;
}
#define KEY(c, name) capture_usual_key(c, name "=", sizeof(name))

/* "key=value" behind a comma; a repeated key is left to the general parser. */
static bool capture_usual_keyed(struct capture_usual_cursor *c, struct capture_run *run)
{
	uint32_t has = 0;
	bool ok;

	if (KEY(c, "refs")) {
		has = CAPTURE_M_REFS;
		ok = capture_usual_dec(c, &run->refs);
	} else if (KEY(c, "order")) {
		has = CAPTURE_M_ORDER;
		ok = capture_usual_dec(c, &run->order);
	} else if (KEY(c, "folio")) {
		has = CAPTURE_M_FOLIO;
		ok = capture_usual_dec(c, &run->folio);
	} else if (KEY(c, "swap")) {
		has = CAPTURE_M_SWAP;
		ok = capture_usual_hex(c, &run->swap.a) && capture_usual_one(c, ':') &&
		     capture_usual_hex(c, &run->swap.b);
	} else if (KEY(c, "map")) {
		has = CAPTURE_M_MAP;
		ok = capture_usual_hex(c, &run->map);
	} else if (KEY(c, "raw")) {
		has = CAPTURE_M_RAW;
		ok = capture_usual_hex(c, &run->raw);
	} else {
		return false;
	}
	ok = ok && !(run->has & has);
	run->has |= has;
	return ok;
}

bool capture_parse_usual(struct atw_blob *text, struct capture_run *ret)
{
	struct capture_usual_cursor c = {text->data,
					 (const char *)text->data + text->len};
	struct capture_run run;

	memset(&run, 0, sizeof(run));
	run.pages = 1;
	if (!capture_usual_one(&c, ' ') || !capture_usual_hex(&c, &run.va) ||
	    (capture_usual_one(&c, '*') && !capture_usual_dec(&c, &run.pages)) ||
	    !capture_usual_one(&c, '=') || !capture_usual_hex(&c, &run.entry) ||
	    !capture_usual_comma(&c))
		return false;
	if (!capture_usual_one(&c, '-')) {
		run.has = CAPTURE_M_COUNT;
		if (!capture_usual_dec(&c, &run.count))
			return false;
	}
	if (!capture_usual_comma(&c))
		return false;
	if (!capture_usual_one(&c, '-')) {
		run.has |= CAPTURE_M_FLAGS;
		if (!capture_usual_hex(&c, &run.flags))
			return false;
	}
	while (capture_usual_comma(&c))
		if (!capture_usual_keyed(&c, &run))
			return false;
	if (!capture_usual_one(&c, ' ') || !capture_usual_one(&c, '|'))
		return false;
	*ret = run;
	*text = (struct atw_blob){ c.s, (size_t)(c.end - c.s) };
	return true;
}
