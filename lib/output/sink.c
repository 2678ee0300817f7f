/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink.c - creation of sinks, and formatting of values. */
#include "output/sink.h"

#include "base/cleanup.h"
#include "base/num.h"

static size_t sink_forms_of(const struct atw_column *c)
{
	return c->type == ATW_T_FLAGS ? FORMS_OF_FLAGS : 1;
}

int sink_init(struct atw_sink *k, const struct atw_sink_ops *ops,
	      const struct atw_schema *sc, struct writer *w,
	      struct atw_err *err)
{
	struct cell *cell = calloc(sc->ncols + 1, sizeof(*cell));

	if (!cell)
		return atw_err_nomem(err);
	*k = (struct atw_sink){ .ops = ops, .w = w, .sc = sc, .cell = cell };
	for (size_t i = 0; i < sc->ncols; i++) {
		size_t n = sink_forms_of(&sc->col[i]);

		cell[i].col = &sc->col[i];
		cell[i].type = sc->col[i].type;
		cell[i].last = i + 1 == sc->ncols;
		cell[i].hash_shift = n > 1 ? 64 - (unsigned)__builtin_ctzll(n) : 64;
		cell[i].forms = cell[i].form = calloc(n, sizeof(struct form));
		if (!cell[i].forms) {
			sink_deinit(k);
			return atw_err_nomem(err);
		}
	}
	return ATW_OK;
}

void sink_deinit(struct atw_sink *k)
{
	if (k->ops && k->ops->drop)
		k->ops->drop(k);
	for (size_t i = 0; k->cell && i < k->sc->ncols; i++) {
		buf_deinit(&k->cell[i].lead);
		buf_deinit(&k->cell[i].raw);
		for (size_t f = 0; k->cell[i].forms && f < sink_forms_of(&k->sc->col[i]);
		     f++)
			buf_deinit(&k->cell[i].forms[f].text);
		free(k->cell[i].forms);
	}
	free(k->cell);
	*k = (struct atw_sink){ 0 };
}

bool cell_has_text(struct cell *c, const char *s)
{
	struct form *f = c->form;

	if (f->known && !strcmp(c->raw.data, s))
		return true;
	f->text.len = 0;
	c->raw.len = 0;
	buf_str(&c->raw, s);
	f->known = !c->raw.failed;
	return false;
}

static char *sink_put_pages(char *p, uint64_t u, unsigned shift)
{
	uint64_t part = u & (((uint64_t)1 << shift) - 1);
	unsigned cents = (unsigned)(part * 100 >> shift);

	p = put_dec(p, u >> shift);
	if (!part)
		return p;
	/* A size that is not a multiple of the page size is shown exactly. */
	if (!cents)
		cents = 1;
	*p++ = '.';
	*p++ = (char)('0' + cents / 10);
	*p++ = (char)('0' + cents % 10);
	return p;
}

static char *sink_bytes(const struct atw_sink *k, char *p, uint64_t u)
{
	switch (k->units) {
	case ATW_UNITS_HUMAN:
		return p + strlen(num_human(u, p));
	case ATW_UNITS_PAGES:
		return sink_put_pages(p, u, k->page_shift);
	default:
		return put_dec(p, u);
	}
}

static char *sink_pages(const struct atw_sink *k, char *p, uint64_t u)
{
	if (!k->page_units || k->units == ATW_UNITS_PAGES)
		return put_dec(p, u);
	/* A number of pages whose size in bytes exceeds 64 bits is shown with a "p". */
	if (u > UINT64_MAX >> k->page_shift) {
		p = put_dec(p, u);
		*p++ = 'p';
		return p;
	}
	return sink_bytes(k, p, u << k->page_shift);
}

/* A change has a sign; zero has none. */
static char *sink_change(const struct atw_sink *k, enum atw_type type, char *p, uint64_t u)
{
	if (u)
		*p++ = u >> 63 ? '-' : '+';
	if (u >> 63)
		u = -u;
	return u && type == ATW_T_CHANGE_BYTES ? sink_bytes(k, p, u) : put_dec(p, u);
}

char *sink_plain_number(const struct atw_sink *k, enum atw_type type, char *p,
			const union atw_value *v)
{
	if (type == ATW_T_BYTES)
		return sink_bytes(k, p, v->u);
	if (type == ATW_T_PAGES)
		return sink_pages(k, p, v->u);
	if (type == ATW_T_CHANGE || type == ATW_T_CHANGE_BYTES)
		return sink_change(k, type, p, v->u);
	return sink_exact(type, p, v);
}

static const char *sink_name_of(const struct atw_names *nm, uint64_t i)
{
	return nm && nm->name && i < nm->n ? nm->name[i] : NULL;
}

bool words_next(const struct atw_column *c, uint64_t *left, char number[24],
		const char **ret)
{
	uint64_t nameless = 0;

	for (uint64_t u = *left; u; u &= u - 1) {
		const char *name = sink_name_of(c->names, (unsigned)__builtin_ctzll(u));

		if (name) {
			*left &= ~(u & -u);
			*ret = name;
			return true;
		}
		nameless |= u & -u;
	}
	if (!nameless)
		return false;
	*put_hex_short(number, nameless) = '\0';
	*left = 0;
	*ret = number;
	return true;
}

static void sink_letters_text(struct buf *b, const char *letters, uint64_t u)
{
	char number[24];
	size_t i;

	for (i = 0; letters && letters[i] && i < 64; i++)
		buf_char(b, u >> i & 1 ? letters[i] : '-');
	/* Bits without a letter follow as a number: "rw-u+0x100". */
	if (i < 64 && u >> i) {
		if (i)
			buf_char(b, '+');
		*put_hex_short(number, u >> i << i) = '\0';
		buf_str(b, number);
	}
}

const char *cell_words(struct cell *c, uint64_t u)
{
	const struct atw_names *nm = c->col->names;
	struct buf *b = &c->raw;
	const char *word;
	char number[24];

	b->len = 0;
	buf_add(b, "", 0);
	switch (c->col->type) {
	case ATW_T_LETTERS:
		sink_letters_text(b, nm ? nm->letters : NULL, u);
		break;
	case ATW_T_ENUM:
		word = sink_name_of(nm, u);
		if (!word) {
			*put_hex_short(number, u) = '\0';
			word = number;
		}
		buf_str(b, word);
		break;
	default:
		while (words_next(c->col, &u, number, &word)) {
			if (b->len)
				buf_char(b, ',');
			buf_str(b, word);
		}
		break;
	}
	/* A failure of the buffer is detected when the text is written. */
	c->form->text.failed |= b->failed;
	return b->data ? b->data : "";
}
