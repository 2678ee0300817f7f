/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare.c - comparisons of a filter expression as instructions, by column type. */
#include "record/program.h"

#include <string.h>

#include "base/message.h"
#include "base/nearest.h"
#include "base/num.h"
#include "record/schema.h"

static struct insn compare_range(uint8_t col, uint64_t a, uint64_t b, bool want)
{
	return (struct insn){ .op = OP_RANGE, .col = col, .want = want, .a = a, .b = b };
}

static struct insn compare_any(uint8_t col, uint64_t mask, bool want)
{
	return (struct insn){ .op = OP_ANY, .col = col, .want = want, .a = mask };
}

/* "'foo' at character 7": the prefix of every message about a value. */
static int compare_bad_value(const struct compare *c, const char *what,
			     struct atw_err *err)
{
	return lex_error(err, "'%.*s' at character %zu is not %s",
			 (int)(c->len < 64 ? c->len : 64), c->value, c->value_at + 1,
			 message(what));
}

static int compare_bad_op(const struct compare *c, const char *takes, struct atw_err *err)
{
	return lex_error(err, "'%s' takes %s, not '%s' at character %zu", c->col->key,
			 message(takes), tok_text(c->op), c->op_at + 1);
}

/* Pages are counted; "20M" of them, or "0B", are bytes, as tables show them. */
static uint8_t compare_shift(const struct compare *c)
{
	enum { USUAL = 12 };             /* program_page() knows better */
	uint64_t v;

	return c->col->type == ATW_T_PAGES && !num_any(c->value, c->len, &v) ? USUAL : 0;
}

/* The empty interval: no value lies in it. */
#define NONE 1, 0

/* "2", "0.25", as thousandths. */
static bool compare_seconds(const char *s, size_t len, uint64_t *ret)
{
	const char *dot = memchr(s, '.', len);
	size_t whole = dot ? (size_t)(dot - s) : len, rest = dot ? len - whole - 1 : 0;
	uint64_t v, part = 0;

	if (!num_dec(s, whole, &v) || v > UINT64_MAX / 1000 - 1 || rest > 3 ||
	    (dot && !num_dec(dot + 1, rest, &part)))
		return false;
	for (; rest < 3; rest++)
		part *= 10;
	*ret = v * 1000 + part;
	return true;
}

static bool compare_value(const struct compare *c, uint64_t *ret)
{
	switch (c->col->type) {
	case ATW_T_BYTES:
	case ATW_T_COUNT:
	case ATW_T_PAGES:
	case ATW_T_LIST:
		return num_size_decimal(c->value, c->len, ret);
	case ATW_T_SECONDS:
		return compare_seconds(c->value, c->len, ret);
	default:
		return num_hex(c->value, c->len, ret);
	}
}

static const char *compare_what_value(const struct compare *c)
{
	return c->col->type == ATW_T_BYTES || c->col->type == ATW_T_COUNT ||
	       c->col->type == ATW_T_PAGES || c->col->type == ATW_T_LIST || c->col->sizes
		? N_("a number (4096, 0x1000, 4K, 1.5M)") :
		c->col->type == ATW_T_SECONDS ? N_("seconds (2, 0.25)") : N_("a hexadecimal number");
}

/* lo..hi; an interval across 0 is the complement of the values outside of it. */
static struct insn compare_signed_range(uint8_t col, int64_t lo, int64_t hi, bool want)
{
	return (lo < 0) == (hi < 0)
		       ? compare_range(col, (uint64_t)lo, (uint64_t)hi, want)
		       : compare_range(col, (uint64_t)hi + 1, (uint64_t)lo - 1, !want);
}

/* The values for which the comparison with v holds; false: there are none. */
static bool compare_interval(enum tok op, uint64_t v, uint64_t *lo, uint64_t *hi)
{
	*lo = op == TOK_LT || op == TOK_LE ? 0 : v;
	*hi = op == TOK_GT || op == TOK_GE ? UINT64_MAX : v;
	*lo += op == TOK_GT;
	*hi -= op == TOK_LT;
	return op == TOK_LT ? v > 0 : op != TOK_GT || v < UINT64_MAX;
}

static int compare_change(const struct compare *c, struct program *p, struct atw_err *err)
{
	const uint64_t bias = (uint64_t)1 << 63;
	bool sign = c->len && strchr("+-", *c->value);
	uint64_t u, lo, hi;

	if (c->op == TOK_HAS)
		return compare_bad_op(c, "= != < <= > >=", err);
	if (!num_size_decimal(c->value + sign, c->len - sign, &u) || u > INT64_MAX)
		return compare_bad_value(c, "a number (4096, -4K, +2M)", err);
	/* With the bias, numbers are in the order of their signed values. */
	if (!compare_interval(c->op, (sign && *c->value == '-' ? -u : u) ^ bias, &lo,
			      &hi))
		program_add(p, compare_range(c->index, NONE, true));
	else
		program_add(p,
			    compare_signed_range(c->index, (int64_t)(lo ^ bias),
						 (int64_t)(hi ^ bias), c->op != TOK_NE));
	return ATW_OK;
}

static struct insn compare_insn(const struct compare *c, uint64_t v)
{
	uint64_t lo, hi;

	return compare_interval(c->op, v, &lo, &hi)
		       ? compare_range(c->index, lo, hi, c->op != TOK_NE)
		       : compare_range(c->index, NONE, true);
}

static int compare_number(const struct compare *c, struct program *p, struct atw_err *err)
{
	struct insn in;
	uint64_t v;

	if (c->op == TOK_HAS)
		return compare_bad_op(c, "= != < <= > >=", err);
	if (!compare_value(c, &v))
		return compare_bad_value(c, compare_what_value(c), err);
	in = compare_insn(c, v);
	in.shift = compare_shift(c);
	program_add(p, in);
	return ATW_OK;
}

/* A list is compared by its length. */
static int compare_length(const struct compare *c, struct program *p, struct atw_err *err)
{
	size_t from = p->n;
	int r = compare_number(c, p, err);

	for (; from < p->n; from++)
		if (p->insn[from].op == OP_RANGE)
			p->insn[from].op = OP_LENGTH;
	return r;
}

/*
 * Of a column of texts some of which are sizes: is it compared with one? 0x... may be equal to
 * an address.
 */
static bool compare_with_size(const struct compare *c, uint64_t *ret)
{
	bool equal = c->op == TOK_EQ || c->op == TOK_NE, hex = c->len > 1 && c->value[1] == 'x';

	return c->col->sizes && c->op != TOK_HAS && !(equal && hex) &&
	       num_size_decimal(c->value, c->len, ret);
}

static int compare_text(const struct compare *c, struct program *p, struct atw_err *err)
{
	uint64_t size;
	struct insn in = { .op = c->op == TOK_HAS ? OP_HAS : OP_TEXT,
			   .col = c->index, .want = c->op != TOK_NE };

	if (compare_with_size(c, &size)) {
		in = compare_insn(c, size);
		in.op = OP_SIZE;
		program_add(p, in);
		return ATW_OK;
	}
	if (c->op != TOK_EQ && c->op != TOK_NE && c->op != TOK_HAS)
		return c->col->sizes ? compare_bad_value(c, compare_what_value(c), err)
				     : compare_bad_op(c, "= != ~", err);
	in.s = intern_text(&p->texts, c->value, c->len);
	if (!in.s)
		p->failed = true;
	program_add(p, in);
	return ATW_OK;
}

/*
 * A table may contain a word more than once: the same flag is another bit in another
 * level of the page tables. Any of the bits may be set.
 */
bool compare_word(struct program *p, const struct atw_column *col,
		  uint8_t index, const char *word, size_t len, bool want)
{
	const struct atw_names *nm = col->names;
	size_t start = p->n;
	uint64_t mask = 0;
	bool found = false;

	for (size_t i = 0; i < nm->n; i++) {
		if (!names_is(nm, i, word, len))
			continue;
		if (col->type != ATW_T_ENUM) {
			mask |= i < 64 ? (uint64_t)1 << i : 0;
			continue;
		}
		if (found)
			program_jump(p, want);
		program_add(p, compare_range(index, i, i, want));
		found = true;
	}
	program_close(p, start);
	/* Neither comparison holds for n/a: no number lies in 1..0. */
	if (mask)
		program_add(p, mask & ~col->unknown
				       ? compare_any(index, mask & ~col->unknown, want)
				       : compare_range(index, 1, 0, true));
	return found || mask;
}

/* "rw-u", as a cell shows it: exactly these letters. */
static bool compare_letters_exact(const char *letters, const char *s, size_t len,
				  uint64_t *ret)
{
	uint64_t v = 0;

	if (len != strlen(letters) || len > 64)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == letters[i])
			v |= (uint64_t)1 << i;
		else if (s[i] != '-')
			return false;
	}
	*ret = v;
	return true;
}

/* "wx": at least these letters. */
static bool compare_letters_some(struct program *p, const struct compare *c, bool want)
{
	const char *letters = c->col->names->letters;

	for (size_t i = 0; i < c->len; i++)
		if (!strchr(letters, c->value[i]))
			return false;
	for (size_t i = 0; i < c->len; i++) {
		size_t bit = (size_t)(strchr(letters, c->value[i]) - letters);

		if (i)
			program_jump(p, !want);
		program_add(p, compare_any(c->index, (uint64_t)1 << (bit & 63), want));
	}
	return c->len != 0;
}

/* "dirty,0x400": all of these bits. Stops at an unknown name. */
static bool compare_flags_all(struct program *p, const struct compare *c, bool want)
{
	const char *s = c->value, *end = s + c->len;

	for (;;) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		size_t len = (size_t)((comma ? comma : end) - s);
		uint64_t bits;

		if (len > 2 && s[0] == '0' && num_any(s, len, &bits)) {
			if (!bits)
				program_add(p, compare_range(c->index, 0, 0, want));
			/* All bits of a number must be set. */
			for (bool first = true; bits; bits &= bits - 1) {
				if (!first)
					program_jump(p, !want);
				program_add(p, compare_any(c->index, bits & -bits, want));
				first = false;
			}
		} else if (!compare_word(p, c->col, c->index, s, len, want)) {
			return false;
		}
		if (!comma)
			return true;
		program_jump(p, !want);
		s = comma + 1;
	}
}

static int compare_unknown_word(const struct compare *c, struct atw_err *err)
{
	const struct atw_names *nm = c->col->names;
	struct nearest near = { .word = c->value, .len = c->len };
	struct buf known = { 0 };
	int rc;

	for (size_t i = 0; nm && i < nm->n; i++)
		if (names_first(nm, i)) {
			list_add(&known, 0, nm->name[i]);
			nearest_try(&near, nm->name[i]);
		}
	rc = lex_error(err, "'%.*s' at character %zu is no word of '%s'; known: %s",
		       (int)(c->len < 64 ? c->len : 64), c->value, c->value_at + 1,
		       c->col->key, known.data ? known.data : "none");
	if (near.name)
		atw_err_hint(err, "did you mean '%s'?", near.name);
	buf_deinit(&known);
	return rc;
}

static int compare_words(const struct compare *c, struct program *p, struct atw_err *err)
{
	const struct atw_names *nm = c->col->names;
	bool want = c->op == TOK_EQ;
	size_t start = p->n;
	uint64_t v;

	if (c->op != TOK_EQ && c->op != TOK_NE)
		return compare_bad_op(c, "= !=", err);
	if (!nm)
		return compare_unknown_word(c, err);
	if (compare_word(p, c->col, c->index, c->value, c->len, want))
		return ATW_OK;
	switch (c->col->type) {
	case ATW_T_ENUM:
		if (c->len < 3 || c->value[0] != '0' || !num_any(c->value, c->len, &v))
			return compare_unknown_word(c, err);
		program_add(p, compare_range(c->index, v, v, want));
		break;
	case ATW_T_LETTERS:
		if (nm->letters &&
		    compare_letters_exact(nm->letters, c->value, c->len, &v))
			program_add(p, compare_range(c->index, v, v, want));
		else if (!nm->letters || !compare_letters_some(p, c, want))
			return compare_unknown_word(c, err);
		break;
	default:
		/* The text of an empty set. */
		if (c->len == 1 && c->value[0] == '-')
			program_add(p, compare_range(c->index, 0, 0, want));
		else if (!compare_flags_all(p, c, want))
			return compare_unknown_word(c, err);
		break;
	}
	program_close(p, start);
	return ATW_OK;
}

int compare_compile(const struct compare *c, struct program *p, struct atw_err *err)
{
	switch (c->col->type) {
	case ATW_T_TEXT:
		return compare_text(c, p, err);
	case ATW_T_ENUM:
	case ATW_T_FLAGS:
	case ATW_T_LETTERS:
		return compare_words(c, p, err);
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		return compare_change(c, p, err);
	case ATW_T_LIST:
		return compare_length(c, p, err);
	default:
		return compare_number(c, p, err);
	}
}
