// SPDX-License-Identifier: GPL-2.0-or-later
/* wrap.c - operations that a wrapper passes on unchanged to the source below it. */
#include "source/wrap.h"

#include <stdlib.h>

struct atw_source *wrap_new(const struct atw_source_ops *ops,
			    struct atw_source *below, size_t size,
			    struct atw_err *err)
{
	struct atw_source *s = calloc(1, sizeof(*s));
	void *impl = calloc(1, size);

	if (!s || !impl) {
		free(s);
		free(impl);
		atw_err_nomem(err);
		return NULL;
	}
	*s = (struct atw_source){ ops, impl, below };
	return s;
}

void wrap_close(struct atw_source *s)
{
	free(s->impl);
	s->impl = NULL;
}

int wrap_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	return atw_extent_at(s->below, pa, ret);
}

int wrap_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	return atw_fact(s->below, key, ret);
}

void wrap_describe(struct atw_source *s, char *buf, size_t len)
{
	if (s->below->ops->describe)
		s->below->ops->describe(s->below, buf, len);
	else if (len)
		buf[0] = '\0';
}

void *wrap_buffer_open(struct atw_source *s, size_t len)
{
	return atw_buffer_open(s->below, len);
}

bool wrap_buffer_close(struct atw_source *s, void *buf)
{
	atw_buffer_close(s->below, buf);
	return true;
}

void wrap_mapped(struct atw_source *s, atw_pa pa, atw_va va, uint64_t len)
{
	atw_source_mapped(s->below, pa, va, len);
}

int wrap_mm_of(struct atw_source *s, uint64_t pid, uint64_t *ret, struct atw_err *err)
{
	return atw_source_mm_of(s->below, pid, ret, err);
}

void wrap_threads(struct atw_source *s, unsigned n)
{
	atw_source_threads(s->below, n);
}

bool wrap_ahead(struct atw_source *s, const uint64_t *pa, size_t n)
{
	return atw_source_ahead(s->below, pa, n);
}
