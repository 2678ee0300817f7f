/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_text.h - a model of lines that stand in a test. */
#pragma once

#include <string.h>

#include "kmap/lib/model.h"

/* NULL: a line or a record failed. */
static inline struct kmap_model *kmap_of_text(const char *text)
{
	const struct atw_blob b = { text, strlen(text) };
	struct kmap_record rec;
	struct kmap_reader rd;
	struct kmap_model *m;
	struct atw_err err;
	size_t pos = 0;
	int r;

	if (kmap_model_open(0, &m, &err) < 0)
		return NULL;
	kmap_init(&rd);
	while ((r = kmap_next(&rd, b, true, &pos, &rec, &err)) == ATW_OK)
		if ((r = kmap_model_record(m, &rec, &err)) < 0)
			break;
	if (rd.version == KMAP_COMPRESSED)
		m->compressed = true;
	if (r == ATW_END && kmap_model_end(m, &err) == ATW_OK)
		return m;
	kmap_model_close(m);
	return NULL;
}

static inline void kmap_text_close(struct kmap_model **m)
{
	kmap_model_close(*m);
}
#define _auto_model __attribute__((cleanup(kmap_text_close)))
/* In a TEST: the model of a text, until the test ends. */
#define MODEL(m, text) \
	_auto_model struct kmap_model *m = kmap_of_text(text); \
	CHECK(m)
