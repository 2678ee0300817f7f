/* SPDX-License-Identifier: GPL-2.0-or-later */
/* btf_image.h - types made by hand: a BTF blob, element by element. */
#pragma once

#include <string.h>

#include "format/btf.h"
#include "unit/image.h"

struct maker {
	struct image types, strings, blob;
	uint32_t last;           /* id of the last type */
};

static inline uint32_t text(struct maker *m, const char *s)
{
	size_t at = m->strings.len ? m->strings.len : 1;

	if (!*s)
		return 0;
	put(&m->strings, at, s, strlen(s) + 1);
	return (uint32_t)at;
}

static inline void word(struct maker *m, uint32_t v)
{
	put_le(&m->types, m->types.len, 4, v);
}

/* What every type begins with; returns its id. */
static inline uint32_t type(struct maker *m, unsigned kind, const char *name,
		     unsigned vlen, uint32_t size)
{
	word(m, text(m, name));
	word(m, (uint32_t)kind << 24 | vlen);
	word(m, size);
	return ++m->last;
}

static inline void member(struct maker *m, const char *name, uint32_t type_id, uint32_t bit)
{
	word(m, text(m, name));
	word(m, type_id);
	word(m, bit);
}

static inline struct atw_blob finish(struct maker *m)
{
	text(m, "end");
	m->blob.len = 0;
	put_le(&m->blob, 0, 2, 0xeb9f);
	put_le(&m->blob, 2, 1, 1);
	put_le(&m->blob, 4, 4, 24);
	put_le(&m->blob, 8, 4, 0);
	put_le(&m->blob, 12, 4, m->types.len);
	put_le(&m->blob, 16, 4, m->types.len);
	put_le(&m->blob, 20, 4, m->strings.len);
	put(&m->blob, 24, m->types.data, m->types.len);
	put(&m->blob, m->blob.len, m->strings.data, m->strings.len);
	return image_blob(&m->blob);
}

static inline void maker_free(struct maker *m)
{
	image_free(&m->types);
	image_free(&m->strings);
	image_free(&m->blob);
}
