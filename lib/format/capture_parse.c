/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_parse.c - parser of single lines of atwalk-capture(5). */
#include "base/num.h"
#include "format/capture_fields.h"

/* The unparsed rest of a line. */
struct parse_text {
	const char *s, *end;
};

struct parse_parser {
	const struct capture_form *form;
	bool paper;
	char *names;                 /* buffer for the next name */
	struct atw_err *err;
};

/* Quote a part of the file in a message: shortened, without control characters. */
struct quote {
	char s[48];
};

static struct quote parse_quote(struct parse_text t)
{
	struct quote q;
	size_t n = 0, max = sizeof(q.s) - 8;

	for (; t.s < t.end && n < max; t.s++)
		q.s[n++] = *t.s >= 0x20 && *t.s < 0x7f ? *t.s : '?';
	if (t.s < t.end)
		n += (size_t)snprintf(q.s + n, 4, "...");
	q.s[n] = '\0';
	return q;
}

static bool parse_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct parse_text parse_trim(struct parse_text t)
{
	while (t.s < t.end && parse_blank(*t.s))
		t.s++;
	while (t.s < t.end && parse_blank(t.end[-1]))
		t.end--;
	return t;
}

/* The text before the next `stop`, which is consumed; all of it if there is none. */
static struct parse_text parse_take(struct parse_text *t, char stop)
{
	const char *e = t->s < t->end ? memchr(t->s, stop, (size_t)(t->end - t->s)) : NULL;
	struct parse_text got = {t->s, e ? e : t->end};

	t->s = e ? e + 1 : t->end;
	return parse_trim(got);
}

static bool parse_equal(struct parse_text t, const char *s)
{
	return (size_t)(t.end - t.s) == strlen(s) && !memcmp(t.s, s, strlen(s));
}

static int parse_number(struct parse_parser *p, const char *what,
			struct parse_text t, bool hex, uint64_t *ret)
{
	size_t n = (size_t)(t.end - t.s), i = 0;
	uint64_t v = 0;

	while (i < n && ((t.s[i] >= '0' && t.s[i] <= '9') ||
			 (hex && ((t.s[i] | 32) >= 'a' && (t.s[i] | 32) <= 'f'))))
		i++;
	if (!n || i < n)
		return atw_err_set(p->err, ATW_E_FORMAT, "%c: %s: '%s' is no %s number",
				   p->form->letter, what, parse_quote(t).s,
				   hex ? "hexadecimal" : "decimal");
	if (!(hex ? num_hex : num_dec)(t.s, n, &v))
		return atw_err_set(p->err, ATW_E_FORMAT,
				   "%c: %s: %s needs more than 64 bits", p->form->letter,
				   what, parse_quote(t).s);
	if (p->paper && v > UINT32_MAX)
		return atw_err_set(p->err, ATW_E_FORMAT,
				   "%c: %s: %s needs more than 32 bits, "
				   "and no H: line identifies the current format",
				   p->form->letter, what, parse_quote(t).s);
	*ret = v;
	return ATW_OK;
}

static int parse_name(struct parse_parser *p, const char *what,
		      struct parse_text t, struct atw_blob *ret)
{
	char *to = p->names;

	/* Runs have no names, so their parser has no buffer for any. */
	if (!to)
		return atw_err_set(p->err, ATW_E_USAGE, "%c: %s: no room for names",
				   p->form->letter, what);
	if (parse_equal(t, "NULL")) {
		*ret = (struct atw_blob){ NULL, 0 };
		return ATW_OK;
	}
	for (const char *s = t.s; s < t.end;) {
		unsigned v = 0, n = 0;

		if (*s != '\\' || p->paper) {
			*to++ = *s++;
			continue;
		}
		for (s++; n < 3 && s < t.end && *s >= '0' && *s <= '7'; n++)
			v = v * 8 + (unsigned)(*s++ - '0');
		if (n < 3 || v > 255)
			return atw_err_set(p->err, ATW_E_FORMAT,
					   "%c: %s: in '%s' a backslash "
					   "without three octal digits, up to 377",
					   p->form->letter, what, parse_quote(t).s);
		/* A NUL would truncate the name for consumers that use C strings. */
		if (!v)
			to = mempcpy(to, s - 4, 4);
		else
			*to++ = (char)v;
	}
	*ret = (struct atw_blob){ p->names, (size_t)(to - p->names) };
	p->names = to;
	return ATW_OK;
}

static int parse_pair(struct parse_parser *p, const char *what,
		      struct parse_text t, struct capture_pair *ret)
{
	struct parse_text whole = t, a;
	struct capture_pair v;
	int r;

	if (t.s == t.end || !memchr(t.s, ':', (size_t)(t.end - t.s)))
		return atw_err_set(p->err, ATW_E_FORMAT, "%c: %s: '%s' is not A:B",
				   p->form->letter, what, parse_quote(whole).s);
	a = parse_take(&t, ':');
	r = parse_number(p, what, a, true, &v.a) ?:
	    parse_number(p, what, t, true, &v.b);
	if (r == ATW_OK)
		*ret = v;
	return r;
}

static int parse_bytes(struct parse_parser *p, const char *what,
		       struct parse_text t, struct capture_bytes *ret)
{
	size_t n = (size_t)(t.end - t.s);
	struct capture_bytes v = { .len = n / 2 };

	if (n % 2 || n > 2 * CAPTURE_BUILD)
		return atw_err_set(p->err, ATW_E_FORMAT,
				   "%c: %s: %zu digits, not two for each of up to %d bytes",
				   p->form->letter, what, n, CAPTURE_BUILD);
	for (size_t i = 0; i < n; i += 2) {
		uint64_t b;
		int r = parse_number(p, what, (struct parse_text){t.s + i, t.s + i + 2},
				     true, &b);

		if (r != ATW_OK)
			return r;
		v.b[i / 2] = (uint8_t)b;
	}
	*ret = v;
	return ATW_OK;
}

static int parse_word(struct parse_parser *p, const char *what, struct parse_text t,
		      const char *const *words, unsigned n, uint64_t *ret)
{
	for (unsigned i = 0; i < n; i++)
		if (parse_equal(t, words[i])) {
			*ret = i;
			return ATW_OK;
		}
	return atw_err_set(p->err, ATW_E_FORMAT, "%c: %s: '%s' is none that is known",
			   p->form->letter, what, parse_quote(t).s);
}

static int parse_loads(struct parse_parser *p, const char *what,
		       struct parse_text t, struct atw_blob *ret)
{
	struct atw_blob rest = { t.s, (size_t)(t.end - t.s) }, all = { p->names, rest.len };
	struct capture_load load;
	unsigned n = 0;
	int r;

	/*
	 * Every area of the file is compared with each of them, so their number is
	 * limited.
	 */
	while ((r = capture_load(&rest, &load, p->err)) == ATW_OK && n++ < CAPTURE_LOAD_MOST)
		;
	if (r == ATW_OK)
		r = atw_err_set(p->err, ATW_E_FORMAT, "more than %d", CAPTURE_LOAD_MOST);
	if (r < 0)
		return atw_err_wrap(p->err, "%c: %s", p->form->letter, what), r;
	if (all.len)
		memcpy(p->names, t.s, all.len);
	p->names += all.len;
	*ret = all;
	return ATW_OK;
}

static int parse_value(struct parse_parser *p, const struct capture_field *f,
		       struct parse_text t, void *part)
{
	void *at = (char *)part + f->at;

	switch (f->type) {
	case CAPTURE_NAME:
		return parse_name(p, f->name, t, at);
	case CAPTURE_PAIR:
		return parse_pair(p, f->name, t, at);
	case CAPTURE_BYTES:
		return parse_bytes(p, f->name, t, at);
	case CAPTURE_WORD:
		return parse_word(p, f->name, t, capture_states, CAPTURE_STATES, at);
	case CAPTURE_USE:
		return parse_word(p, f->name, t, capture_uses, CAPTURE_USES, at);
	case CAPTURE_HOST:
		return parse_word(p, f->name, t, capture_hosts, CAPTURE_HOSTS, at);
	case CAPTURE_LOADS:
		return parse_loads(p, f->name, t, at);
	default:
		return parse_number(p, f->name, t, f->type != CAPTURE_DEC, at);
	}
}

/* "key=value". Unknown keys are skipped: later versions may add some. */
static int parse_keyed(struct parse_parser *p,
		       struct parse_text t, void *part, uint32_t *has)
{
	struct parse_text whole = t, key;

	key = parse_take(&t, '=');
	if (key.s == key.end || key.end == whole.end)
		return atw_err_set(p->err, ATW_E_FORMAT,
				   "%c: '%s' behind %u fields is no "
				   "KEY=VALUE",
				   p->form->letter, parse_quote(whole).s,
				   p->form->fields);
	for (unsigned i = p->form->fields; i < p->form->all; i++) {
		const struct capture_field *f = &p->form->field[i];

		if (!parse_equal(key, f->name))
			continue;
		if (*has & f->has)
			return atw_err_set(p->err, ATW_E_FORMAT, "%c: %s= twice",
					   p->form->letter, f->name);
		*has |= f->has;
		return parse_value(p, f, parse_trim(t), part);
	}
	return ATW_OK;
}

/*
 * Names in the LPMA format are not escaped. A task's name ends where the numeric fields
 * begin; an area's extends to the end of the line.
 */
static struct parse_text parse_place(struct parse_parser *p, unsigned i,
				     struct parse_text *t)
{
	struct parse_text got = *t;

	if (p->paper && p->form->letter == 'T' && i == 0) {
		unsigned commas = p->form->fields - 1;
		const char *e = t->end;

		while (e > t->s && commas)
			commas -= *--e == ',';
		if (!commas) {
			t->s = e + 1;
			return parse_trim((struct parse_text){got.s, e});
		}
	}
	if (p->paper && p->form->letter == 'V' && i == p->form->fields - 1) {
		t->s = t->end;
		return parse_trim(got);
	}
	return parse_take(t, ',');
}

static int parse_fields(struct parse_parser *p,
			struct parse_text t, void *part, uint32_t *has)
{
	uint32_t got = 0, lacks = 0;
	bool more = true;
	int r;

	for (unsigned i = 0; i < p->form->fields; i++) {
		const struct capture_field *f = &p->form->field[i];
		struct parse_text one;

		if (!more)
			return atw_err_set(p->err, ATW_E_FORMAT,
					   "%c: %u fields, there must be %u",
					   p->form->letter, i, p->form->fields);
		one = parse_place(p, i, &t);
		/* A comma was consumed, so another field follows, even if it is empty. */
		more = t.s > one.end && t.s[-1] == ',';
		if (f->has && !p->paper && parse_equal(one, "-")) {
			lacks |= f->has;
			continue;
		}
		r = parse_value(p, f, one, part);
		if (r != ATW_OK)
			return r;
		got |= f->has;
	}
	/* Some fields must be present together or not at all. */
	if (got & lacks)
		return atw_err_set(p->err, ATW_E_FORMAT, "%c: '-' for some of the fields that "
				   "are known together", p->form->letter);
	while (more) {
		struct parse_text one = parse_take(&t, ',');

		more = t.s > one.end && t.s[-1] == ',';
		if (p->paper)
			return atw_err_set(p->err, ATW_E_FORMAT,
					   "%c: '%s' behind %u fields", p->form->letter,
					   parse_quote(one).s, p->form->fields);
		r = parse_keyed(p, one, part, &got);
		if (r != ATW_OK)
			return r;
	}
	*has = got;
	return ATW_OK;
}

/* The length of a prefix that is certainly printable: a fast path for long lines. */
static size_t parse_plain_bytes(const char *s, size_t len)
{
	const uint64_t ones = 0x0101010101010101;
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		uint64_t v = get_le64(s + i);

		/*
		 * Detects bytes below blank or above 0x7e in parallel, by their top bits.
		 */
		if (((v - 0x20 * ones) | (v + ones) | v) & 0x80 * ones)
			break;
	}
	return i;
}

int capture_parse_bytes(struct atw_blob line, bool paper, struct atw_err *err)
{
	const char *s = line.data, *end = s + line.len;

	for (s += parse_plain_bytes(s, line.len); s < end; s++)
		if (!parse_blank(*s) &&
		    ((uint8_t)*s < 0x20 || *s == 0x7f || (!paper && (uint8_t)*s > 0x7f)))
			return atw_err_set(err, ATW_E_FORMAT, "byte %zu is 0x%02x: no text",
					   (size_t)(s - (const char *)line.data) + 1,
					   (unsigned)(uint8_t)*s);
	return ATW_OK;
}

size_t capture_text_ahead(struct atw_blob text)
{
	const char *start = text.data, *s = start, *end = s + text.len, *nl;

	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl || capture_parse_bytes((struct atw_blob){ s, (size_t)(nl - s) }, false,
					       NULL) != ATW_OK)
			break;
	}
	return (size_t)(s - start);
}

int capture_parse_line(struct atw_blob line, bool paper, char *names,
		       struct capture_record *ret, struct atw_err *err)
{
	struct parse_text t = {line.data, (const char *)line.data + line.len};
	struct parse_parser p = {.paper = paper, .names = names, .err = err};
	struct capture_record rec;
	int r;

	memset(&rec, 0, sizeof(rec));
	if (line.len < 2 || t.s[1] != ':')
		return atw_err_set(err, ATW_E_FORMAT,
				   "'%s' does not begin with a letter "
				   "and a colon",
				   parse_quote(t).s);
	rec.letter = *t.s;
	p.form = capture_form(rec.letter);
	if (!p.form || (paper && !strchr("TVPM", rec.letter)))
		return atw_err_set(err, ATW_E_FORMAT, "'%s' is no line of %s",
				   parse_quote((struct parse_text){t.s, t.s + 2}).s,
				   paper ? "the paper's form, and no H: line came first"
					 : "version 1");
	t.s += 2;
	/* Both formats have the same runs. */
	if (rec.letter == 'M' || rec.letter == 'F') {
		rec.m = (struct atw_blob){ t.s, (size_t)(t.end - t.s) };
	} else {
		r = parse_fields(&p, t, &rec.h, &rec.has);
		if (r != ATW_OK)
			return r;
	}
	*ret = rec;
	return ATW_OK;
}

int capture_parse(struct atw_blob line, bool paper, char *names,
		  struct capture_record *ret, struct atw_err *err)
{
	return capture_parse_bytes(line, paper, err) ?:
	       capture_parse_line(line, paper, names, ret, err);
}

/* "ADDRESS*PAGES=", the prefix of a run; without a number it is one page. */
static int parse_many(struct parse_parser *p, struct parse_text *t,
		      const char *like, uint64_t *address, uint64_t *pages)
{
	struct parse_text whole = *t, first;
	uint64_t n = 1;
	bool star;
	int r;

	if (t->s == t->end || !memchr(t->s, '=', (size_t)(t->end - t->s)))
		return atw_err_set(p->err, ATW_E_FORMAT, "%c: '%s' is not %s",
				   p->form->letter, parse_quote(whole).s, like);
	first = parse_take(t, '=');
	star = !p->paper && first.s < first.end &&
	       memchr(first.s, '*', (size_t)(first.end - first.s));
	r = parse_number(p, "address", star ? parse_take(&first, '*') : first, true,
			 address);
	if (r == ATW_OK && star)
		r = parse_number(p, "pages", first, false, &n);
	*pages = n;
	return r;
}

int capture_parse_run(struct atw_blob text, bool paper, struct capture_run *ret,
		      struct atw_err *err)
{
	struct parse_text t = {text.data, (const char *)text.data + text.len};
	struct parse_parser p = {
		.form = &capture_run_form, .paper = paper, .err = err};
	struct capture_run run;
	int r;

	memset(&run, 0, sizeof(run));
	t = parse_trim(t);
	r = parse_many(&p, &t, "VA=ENTRY, COUNT, FLAGS", &run.va, &run.pages) ?:
	    parse_fields(&p, t, &run, &run.has);
	if (r == ATW_OK)
		*ret = run;
	return r;
}

int capture_parse_frames(struct atw_blob text, struct capture_frames *ret,
			 struct atw_err *err)
{
	struct parse_text t = {text.data, (const char *)text.data + text.len};
	struct parse_parser p = {.form = &capture_frames_form, .err = err};
	struct capture_frames run = { .pages = 0 };
	struct capture_frames_fields f = { 0 };
	uint32_t has;
	int r;

	t = parse_trim(t);
	r = parse_many(&p, &t, "PA=USE", &run.pa, &run.pages) ?:
	    parse_fields(&p, t, &f, &has);
	if (r != ATW_OK)
		return r;
	run.use = (enum capture_use)f.use;
	run.host = (enum capture_host)f.host;
	/* A number that no node can have is not known. */
	run.has = has & (CAPTURE_F_CLEAN | (f.node <= UINT32_MAX ? CAPTURE_F_NODE : 0));
	run.node = run.has & CAPTURE_F_NODE ? (uint32_t)f.node : 0;
	run.clean = f.clean;
	*ret = run;
	return ATW_OK;
}
