/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_text.c - a row as one line of text. */
#include "checking.h"

#include "output/sink.h"

/* Columns that say which one a row is. */
static const char *const check_text_keys[] = {
	"pid", "task", "address", "end", "area", "fact", "name", "value",
};

static bool check_text_names(const struct atw_column *col, const union atw_value *v)
{
	if (col->type == ATW_T_TEXT && (!v->s || !*v->s))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(check_text_keys); i++)
		if (!col->hidden && !strcmp(col->key, check_text_keys[i]))
			return true;
	return false;
}

static void check_text_letters(struct buf *b, const struct atw_column *col, uint64_t u)
{
	for (size_t i = 0; i < col->names->n && col->names->letters[i]; i++)
		buf_char(b, u >> i & 1 ? col->names->letters[i] : '-');
}

static void check_text_flags(struct buf *b, const struct atw_column *col, uint64_t u)
{
	const char *word, *comma = "";
	char number[24];

	while (words_next(col, &u, number, &word)) {
		buf_printf(b, "%s%s", comma, word);
		comma = ",";
	}
}

static void check_text_quoted(struct buf *b, const char *s)
{
	const char *quote = *s && !strpbrk(s, " '\t") ? "" : "'";

	buf_printf(b, "%s%s%s", quote, s, quote);
}

static void check_text_value(struct buf *b, const struct atw_column *col,
			     const union atw_value *v)
{
	const struct atw_names *nm = col->names;

	switch (col->type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		buf_printf(b, "0x%" PRIx64, v->u);
		break;
	case ATW_T_TEXT:
		check_text_quoted(b, v->s ? v->s : "");
		break;
	case ATW_T_ENUM:
		if (v->u < nm->n && nm->name[v->u])
			buf_str(b, nm->name[v->u]);
		else
			buf_printf(b, "%" PRIu64, v->u);
		break;
	case ATW_T_LETTERS:
		check_text_letters(b, col, v->u);
		break;
	case ATW_T_FLAGS:
		check_text_flags(b, col, v->u);
		break;
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		buf_printf(b, "%" PRId64, (int64_t)v->u);
		break;
	case ATW_T_SECONDS:
		buf_printf(b, "%" PRIu64 ".%03u", v->u / 1000, (unsigned)(v->u % 1000));
		break;
	case ATW_T_LIST:
		buf_printf(b, "%zu", v->list->n);
		break;
	default:
		buf_printf(b, "%" PRIu64, v->u);
	}
}

void check_text(struct buf *ret, const struct atw_schema *sc, const struct atw_row *row,
		uint64_t columns)
{
	const char *blank = "";

	for (size_t i = 0; i < sc->ncols; i++) {
		if (!(row->have >> i & 1) ||
		    !(columns >> i & 1 || check_text_names(&sc->col[i], &row->v[i])))
			continue;
		buf_printf(ret, "%s%s=", blank, sc->col[i].key);
		check_text_value(ret, &sc->col[i], &row->v[i]);
		blank = " ";
	}
}
