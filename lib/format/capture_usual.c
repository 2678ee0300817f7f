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

/* Skips the text if it comes next. */
static bool capture_usual_text(struct capture_usual_cursor *c, const char *text, size_t len)
{
	if ((size_t)(c->end - c->s) < len || memcmp(c->s, text, len))
		return false;
	c->s += len;
	return true;
}
#define NEXT(c, text) capture_usual_text(c, text, sizeof(text) - 1)

/* "key=value" behind a comma; a repeated key is left to the general parser. */
static bool capture_usual_keyed(struct capture_usual_cursor *c, struct capture_run *run)
{
	uint32_t has = 0;
	bool ok;

	if (NEXT(c, "refs=")) {
		has = CAPTURE_M_REFS;
		ok = capture_usual_dec(c, &run->refs);
	} else if (NEXT(c, "order=")) {
		has = CAPTURE_M_ORDER;
		ok = capture_usual_dec(c, &run->order);
	} else if (NEXT(c, "folio=")) {
		has = CAPTURE_M_FOLIO;
		ok = capture_usual_dec(c, &run->folio);
	} else if (NEXT(c, "swap=")) {
		has = CAPTURE_M_SWAP;
		ok = capture_usual_hex(c, &run->swap.a) && NEXT(c, ":") &&
		     capture_usual_hex(c, &run->swap.b);
	} else if (NEXT(c, "map=")) {
		has = CAPTURE_M_MAP;
		ok = capture_usual_hex(c, &run->map);
	} else if (NEXT(c, "raw=")) {
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
	if (!NEXT(&c, " ") || !capture_usual_hex(&c, &run.va) ||
	    (NEXT(&c, "*") && !capture_usual_dec(&c, &run.pages)) ||
	    !NEXT(&c, "=") || !capture_usual_hex(&c, &run.entry) ||
	    !NEXT(&c, ", "))
		return false;
	if (!NEXT(&c, "-")) {
		run.has = CAPTURE_M_COUNT;
		if (!capture_usual_dec(&c, &run.count))
			return false;
	}
	if (!NEXT(&c, ", "))
		return false;
	if (!NEXT(&c, "-")) {
		run.has |= CAPTURE_M_FLAGS;
		if (!capture_usual_hex(&c, &run.flags))
			return false;
	}
	while (NEXT(&c, ", "))
		if (!capture_usual_keyed(&c, &run))
			return false;
	if (!NEXT(&c, " |"))
		return false;
	*ret = run;
	*text = (struct atw_blob){ c.s, (size_t)(c.end - c.s) };
	return true;
}
