/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - a source made of pages in memory, for tests that build their own
 * page tables. Pages that were never written to are a hole.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "source/source.h"

enum { MEM_PAGE = 4096, MEM_MAX = 4096 };

struct mem_page {
	uint64_t pa;
	enum atw_extent_kind kind;       /* DATA, EXCLUDED; NONE: reads fail */
	unsigned char bytes[MEM_PAGE];
};

/* `s` comes first: a pointer to it is a pointer to the struct. */
struct memory {
	struct atw_source s;
	struct mem_page *page[MEM_MAX];  /* sorted by pa */
	size_t n;
	uint64_t reads;
};

static inline size_t mem_find(const struct memory *m, uint64_t pa)
{
	size_t i = 0;

	while (i < m->n && m->page[i]->pa < pa)
		i++;
	return i;
}

static inline struct mem_page *mem_at(struct memory *m, uint64_t pa)
{
	size_t i;

	pa &= ~(uint64_t)(MEM_PAGE - 1);
	i = mem_find(m, pa);
	if (i < m->n && m->page[i]->pa == pa)
		return m->page[i];
	if (m->n == MEM_MAX)
		abort();
	memmove(&m->page[i + 1], &m->page[i], (m->n - i) * sizeof(m->page[0]));
	m->page[i] = calloc(1, sizeof(struct mem_page));
	m->page[i]->pa = pa;
	m->n++;
	return m->page[i];
}

static inline void mem_put(struct memory *m, uint64_t pa, const void *p, size_t len)
{
	memcpy(mem_at(m, pa)->bytes + (pa & (MEM_PAGE - 1)), p, len);
}

static inline void mem_put64(struct memory *m, uint64_t pa, uint64_t word)
{
	mem_put(m, pa, &word, 8);
}

static inline void mem_kind(struct memory *m, uint64_t pa, uint64_t len,
			    enum atw_extent_kind kind)
{
	for (uint64_t p = pa; p < pa + len; p += MEM_PAGE)
		mem_at(m, p)->kind = kind;
}

static inline ssize_t mem_read(struct atw_source *s, atw_pa pa, void *buf,
			       size_t len, struct atw_err *err)
{
	struct memory *m = (struct memory *)s;
	uint64_t base = pa.u & ~(uint64_t)(MEM_PAGE - 1);
	size_t i = mem_find(m, base), off = pa.u - base;

	m->reads++;
	if (i == m->n || m->page[i]->pa != base || m->page[i]->kind == ATW_EXCLUDED)
		return 0;
	if (m->page[i]->kind == ATW_NONE)
		return atw_err_set(err, ATW_E_DAMAGED, "page 0x%llx is broken",
				   (unsigned long long)base);
	if (len > MEM_PAGE - off)
		len = MEM_PAGE - off;
	memcpy(buf, m->page[i]->bytes + off, len);
	return (ssize_t)len;
}

static inline int mem_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct memory *m = (struct memory *)s;
	uint64_t base = pa.u & ~(uint64_t)(MEM_PAGE - 1);
	size_t i = mem_find(m, base);

	if (i == m->n)
		return ATW_END;
	if (m->page[i]->pa != base)
		*ret = (struct atw_extent){ pa, m->page[i]->pa - pa.u, ATW_NONE };
	else
		*ret = (struct atw_extent){ pa, base + MEM_PAGE - pa.u,
			m->page[i]->kind == ATW_NONE ? ATW_DATA : m->page[i]->kind };
	return ATW_OK;
}

static inline int mem_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	(void)s; (void)key; (void)ret;
	return ATW_E_MISSING;
}

static inline void mem_close(struct atw_source *s)
{
	struct memory *m = (struct memory *)s;

	for (size_t i = 0; i < m->n; i++)
		free(m->page[i]);
	m->n = 0;
}

static const struct atw_source_ops mem_ops = {
	.name = "memory", .help = "pages of a test",
	.close = mem_close, .read = mem_read, .extent = mem_extent, .fact = mem_fact,
};

static inline struct memory *mem_new(void)
{
	struct memory *m = calloc(1, sizeof(*m));

	m->s.ops = &mem_ops;
	return m;
}

static inline void mem_free(struct memory *m)
{
	mem_close(&m->s);
	free(m);
}
