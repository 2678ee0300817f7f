/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_paper.c - writer of the LPMA format (Movall et al.) for fields that fit into
 * it.
 */
#include "format/capture_fields.h"

static const void *capture_paper_field_at(const void *part, const struct capture_field *f)
{
	return (const char *)part + f->at;
}

static uint64_t capture_paper_number_at(const void *part, const struct capture_field *f)
{
	uint64_t v;

	memcpy(&v, capture_paper_field_at(part, f), sizeof(v));
	return v;
}

/*
 * The name ends at the end of the line and surrounding blanks are ignored, so a name with
 * these would be parsed as another one.
 */
static bool capture_paper_name_fits(struct atw_blob name)
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

static enum capture_fit capture_paper_fits(const struct capture_form *form,
					   const void *part, uint32_t has,
					   const char **field)
{
	for (unsigned i = 0; i < form->fields; i++) {
		const struct capture_field *f = &form->field[i];

		*field = f->name;
		if (f->has && !(has & f->has))
			return CAPTURE_UNKNOWN_FIELD;
		if (f->type == CAPTURE_NAME) {
			const struct atw_blob *name = capture_paper_field_at(part, f);

			if (!capture_paper_name_fits(*name))
				return CAPTURE_ODD_NAME;
		} else if (capture_paper_number_at(part, f) > UINT32_MAX) {
			return CAPTURE_TOO_LARGE;
		}
	}
	return CAPTURE_FITS;
}

enum capture_fit capture_paper_fit(const struct capture_record *rec, const char **field)
{
	return capture_paper_fits(capture_form(rec->letter), &rec->h, rec->has, field);
}

enum capture_fit capture_paper_run_fit(const struct capture_run *run, const char **field)
{
	*field = "address";
	if (run->va > UINT32_MAX)
		return CAPTURE_TOO_LARGE;
	return capture_paper_fits(&capture_run_form, run, run->has, field);
}

static size_t capture_paper_put(const struct capture_form *form, const void *part,
				char *buf, size_t len)
{
	size_t at = 0;

	for (unsigned i = 0; i < form->fields; i++) {
		const struct capture_field *f = &form->field[i];
		const char *gap = i ? ", " : "";
		int n;

		if (f->type == CAPTURE_NAME) {
			const struct atw_blob *name = capture_paper_field_at(part, f);

			n = snprintf(buf + at, len - at, "%s%.*s", gap,
				     name->data ? (int)name->len : 4,
				     name->data ? (const char *)name->data : "NULL");
		} else if (f->type == CAPTURE_DEC) {
			n = snprintf(buf + at, len - at, "%s%" PRIu64, gap,
				     capture_paper_number_at(part, f));
		} else {
			/* The figure has its only pointer in lower case. */
			n = snprintf(buf + at, len - at,
				     form->letter == 'T' ? "%s%08" PRIx64
							 : "%s%08" PRIX64,
				     gap, capture_paper_number_at(part, f));
		}
		if (n < 0 || (size_t)n >= len - at)
			return 0;
		at += (size_t)n;
	}
	return at;
}

size_t capture_write_paper(const struct capture_record *rec, char *buf, size_t len)
{
	size_t n;

	if (len < 5)
		return 0;
	buf[0] = rec->letter;
	buf[1] = ':';
	buf[2] = ' ';
	n = capture_paper_put(capture_form(rec->letter), &rec->h, buf + 3, len - 4);
	if (!n)
		return 0;
	buf[n + 3] = '\n';
	return n + 4;
}

size_t capture_write_paper_run(const struct capture_run *run, char *buf, size_t len)
{
	int n = snprintf(buf, len, "%08" PRIX64 "=", run->va);
	size_t rest;

	if (n < 0 || (size_t)n + 3 > len)
		return 0;
	rest = capture_paper_put(&capture_run_form, run, buf + n, len - (size_t)n - 2);
	if (!rest)
		return 0;
	buf[(size_t)n + rest] = ' ';
	buf[(size_t)n + rest + 1] = '|';
	return (size_t)n + rest + 2;
}
