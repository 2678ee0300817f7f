/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_paper.c - writer of the LPMA format (Movall et al.) for fields that fit into
 * it.
 */
#include "base/digits.h"
#include "format/capture_fields.h"

static const void *paper_field_at(const void *part, const struct capture_field *f)
{
	return (const char *)part + f->at;
}

static uint64_t paper_number_at(const void *part, const struct capture_field *f)
{
	uint64_t v;

	memcpy(&v, paper_field_at(part, f), sizeof(v));
	return v;
}

/*
 * The name ends at the end of the line and surrounding blanks are ignored, so a name with
 * these would be parsed as another one.
 */
static bool paper_name_fits(struct atw_blob name)
{
	const char *s = name.data;

	if (!s || !name.len)
		return true;
	if (blob_is(name, "NULL") || s[0] == ' ' || s[name.len - 1] == ' ')
		return false;
	for (size_t i = 0; i < name.len; i++)
		if ((uint8_t)s[i] < 0x20 || s[i] == 0x7f)
			return false;
	return true;
}

static enum capture_fit paper_fits(const struct capture_form *form, const void *part,
				   uint32_t has, const char **field)
{
	for (unsigned i = 0; i < form->fields; i++) {
		const struct capture_field *f = &form->field[i];

		*field = f->name;
		if (f->has && !(has & f->has))
			return CAPTURE_UNKNOWN_FIELD;
		if (f->type == CAPTURE_NAME) {
			const struct atw_blob *name = paper_field_at(part, f);

			if (!paper_name_fits(*name))
				return CAPTURE_ODD_NAME;
		} else if (paper_number_at(part, f) > UINT32_MAX) {
			return CAPTURE_TOO_LARGE;
		}
	}
	return CAPTURE_FITS;
}

enum capture_fit capture_paper_fit(const struct capture_record *rec, const char **field)
{
	return paper_fits(capture_form(rec->letter), &rec->h, rec->has, field);
}

enum capture_fit capture_paper_run_fit(const struct capture_run *run, const char **field)
{
	*field = "address";
	if (run->va > UINT32_MAX)
		return CAPTURE_TOO_LARGE;
	return paper_fits(&capture_run_form, run, run->has, field);
}

static void paper_put(struct line *l, const struct capture_form *form, const void *part)
{
	for (unsigned i = 0; i < form->fields; i++) {
		const struct capture_field *f = &form->field[i];
		const struct atw_blob *name = paper_field_at(part, f);

		line_text(l, i ? ", " : "");
		if (f->type == CAPTURE_NAME && name->data)
			line_put(l, name->data, name->len);
		else if (f->type == CAPTURE_NAME)
			line_text(l, "NULL");
		else if (f->type == CAPTURE_DEC)
			line_dec(l, paper_number_at(part, f));
		else
			/* The figure has its only pointer in lower case. */
			line_hex(l, paper_number_at(part, f), 8,
				 form->letter == 'T' ? 'a' : 'A');
	}
}

size_t capture_write_paper(const struct capture_record *rec, char *buf, size_t len)
{
	struct line l = { buf, buf + len, false };

	line_put(&l, &rec->letter, 1);
	line_text(&l, ": ");
	paper_put(&l, capture_form(rec->letter), &rec->h);
	line_text(&l, "\n");
	return l.full ? 0 : (size_t)(l.s - buf);
}

size_t capture_write_paper_run(const struct capture_run *run, char *buf, size_t len)
{
	struct line l = { buf, buf + len, false };

	line_hex(&l, run->va, 8, 'A');
	line_text(&l, "=");
	paper_put(&l, &capture_run_form, run);
	line_text(&l, " |");
	return l.full ? 0 : (size_t)(l.s - buf);
}
