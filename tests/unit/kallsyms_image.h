/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms_image.h - a kernel's tables of symbols, written as the kernels of
 * several times wrote them, for tests and for fuzzers to begin with.
 */
#pragma once

#include "format/kallsyms.h"
#include "unit/image.h"

struct made_symbol {
	uint64_t address;
	const char *text;        /* the type, and behind it the name */
};

struct made_how {
	enum kallsyms_form form;
	bool short_names;        /* lengths of one byte only */
	bool late;               /* addresses behind the tokens: since 6.4 */
	bool order;              /* seqs_of_names before the tokens: 6.2, 6.3 */
	unsigned align;          /* 4 since 7.0; 0: 8 */
};

struct made {
	struct image im;
	uint64_t va;             /* of the image's first byte */
	size_t names, markers, tokens, index, offsets, end;
	uint32_t num;
	struct made_how how;
	uint64_t base;
};

enum { MADE_VA = 0x81800000 };

/* Codes that no name uses as they are stand for these; others for nothing. */
static const char *const made_tokens[] = {
	"_st", "ext", "Tfn", "fn_", "init", "d__", "A", "_", "T__x64_",
};

static inline const char *made_token(unsigned code, char buf[2])
{
	unsigned n = sizeof(made_tokens) / sizeof(made_tokens[0]);

	if (code >= 1 && code <= n)
		return made_tokens[code - 1];
	buf[0] = code > ' ' && code < 0x7f ? (char)code : '\0';
	buf[1] = '\0';
	return buf;
}

static inline size_t made_pack(const char *s, uint8_t *to)
{
	size_t n = 0;

	while (*s) {
		unsigned best = (uint8_t)*s;
		size_t len = 1;
		char buf[2];

		for (unsigned c = 1; c < 32; c++) {
			const char *t = made_token(c, buf);

			if (strlen(t) > len && !strncmp(s, t, strlen(t))) {
				best = c;
				len = strlen(t);
			}
		}
		to[n++] = (uint8_t)best;
		s += len;
	}
	return n;
}

static inline size_t made_align(struct made *m)
{
	while (m->im.len % (m->how.align ? m->how.align : 8))
		put_le(&m->im, m->im.len, 1, 0);
	return m->im.len;
}

static inline void made_addresses(struct made *m, const struct made_symbol *sym)
{
	m->offsets = made_align(m);
	for (uint32_t i = 0; i < m->num; i++) {
		uint64_t a = sym[i].address, v = a - m->base;

		if (m->how.form == KALLSYMS_ABSOLUTE) {
			put_le(&m->im, m->im.len, 8, a);
			continue;
		}
		if (m->how.form == KALLSYMS_PERCPU)
			v = a < m->base ? a : m->base - 1 - a;
		if (m->how.form == KALLSYMS_PLACE)
			v = a - (m->va + m->im.len);
		put_le(&m->im, m->im.len, 4, v);
	}
	if (m->how.form == KALLSYMS_RELATIVE || m->how.form == KALLSYMS_PERCPU)
		put_le(&m->im, made_align(m), 8, m->base);
}

static inline void made_names(struct made *m, const struct made_symbol *sym)
{
	uint32_t *marks = calloc(m->num / 256 + 1, 4);
	uint8_t packed[2048];

	if (!marks)
		abort();
	put_le(&m->im, made_align(m), 4, m->num);
	m->names = made_align(m);
	for (uint32_t i = 0; i < m->num; i++) {
		size_t n = made_pack(sym[i].text, packed);

		if (i % 256 == 0)
			marks[i / 256] = (uint32_t)(m->im.len - m->names);
		if (m->how.short_names || n < 0x80)
			put_le(&m->im, m->im.len, 1, n);
		else
			put_le(&m->im, m->im.len, 2, (n & 0x7f) | 0x80 | n >> 7 << 8);
		put(&m->im, m->im.len, packed, n);
	}
	m->markers = made_align(m);
	put(&m->im, m->markers, marks, (size_t)(m->num + 255) / 256 * 4);
	free(marks);
	if (m->how.order)
		fill(&m->im, made_align(m), (size_t)m->num * 3, 0x11);
}

/* The symbols, by address, after `before` bytes that are something else. */
static inline void made_init(struct made *m, struct made_how how,
			     const struct made_symbol *sym, uint32_t n, size_t before)
{
	size_t at[256];
	char buf[2];

	*m = (struct made){ .how = how, .num = n, .va = 0xffffffff00000000 | MADE_VA };
	m->base = 0xffffffff81000000;
	if (before)
		fill(&m->im, 0, before, 0x5a);
	if (!how.late)
		made_addresses(m, sym);
	made_names(m, sym);
	m->tokens = made_align(m);
	for (unsigned i = 0; i < 256; i++) {
		const char *t = made_token(i, buf);

		at[i] = m->im.len - m->tokens;
		put(&m->im, m->im.len, t, strlen(t) + 1);
	}
	m->index = made_align(m);
	for (unsigned i = 0; i < 256; i++)
		put_le(&m->im, m->im.len, 2, at[i]);
	if (how.late)
		made_addresses(m, sym);
	m->end = m->im.len;
	/* Something follows: a kernel does not end with its symbols. */
	fill(&m->im, m->end, 64, 0x5a);
}

static inline struct atw_blob made_part(const struct made *m, size_t from, size_t to)
{
	return (struct atw_blob){ m->im.data + from, to - from };
}

static inline struct kallsyms_tables made_tables(const struct made *m)
{
	bool absolute = m->how.form == KALLSYMS_ABSOLUTE;

	return (struct kallsyms_tables){
		.names = made_part(m, m->names, m->tokens),
		.tokens = made_part(m, m->tokens, m->index),
		.index = made_part(m, m->index, m->index + 512),
		.offsets = made_part(m, m->offsets,
				     m->offsets + m->num * (absolute ? 8u : 4u)),
		.absolute = absolute,
		.num = m->num,
		.has_base = !absolute && m->how.form != KALLSYMS_PLACE,
		.base = m->base,
		.offsets_va = m->va + m->offsets,
		.anchor = 0xffffffff81000000,
	};
}
