// SPDX-License-Identifier: GPL-2.0-or-later
/* source.c - calls of a source, with defaults for operations that its kind lacks. */
#include <stdlib.h>

#include "source/source.h"

#include "base/bytes.h"

ssize_t atw_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
		 struct atw_err *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n;

		/* There is nothing above the last address. */
		if (done && pa.u + done < pa.u)
			break;
		n = s->ops->read(s, ATW_PA(pa.u + done), (char *)buf + done,
				 len - done, err);
		/*
		 * Also after some bytes: a short answer means a hole follows,
		 * and a failure is not one.
		 */
		if (n < 0)
			return n;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

void atw_read_many(struct atw_source *s, struct atw_piece *piece, size_t n,
		   struct atw_err *err)
{
	if (s->ops->read_many) {
		s->ops->read_many(s, piece, n, err);
		return;
	}
	for (size_t i = 0; i < n; i++)
		piece[i].got = atw_read(s, piece[i].pa, piece[i].buf, piece[i].len, err);
}

void *atw_buffer_open(struct atw_source *s, size_t len)
{
	void *own = s->ops->buffer_open ? s->ops->buffer_open(s, len) : NULL;

	return own ? own : malloc(len);
}

void atw_buffer_close(struct atw_source *s, void *buf)
{
	if (!s->ops->buffer_close || !s->ops->buffer_close(s, buf))
		free(buf);
}

void atw_source_mapped(struct atw_source *s, atw_pa pa, atw_va va, uint64_t len)
{
	if (s->ops->mapped)
		s->ops->mapped(s, pa, va, len);
}

int atw_source_mm_of(struct atw_source *s, uint64_t pid, uint64_t *ret,
		     struct atw_err *err)
{
	return s->ops->mm_of ? s->ops->mm_of(s, pid, ret, err) : ATW_END;
}

bool atw_source_direct(struct atw_source *s, uint64_t va, struct atw_direct *ret)
{
	return s->ops->direct && s->ops->direct(s, va, ret);
}

size_t atw_source_list(struct atw_source *s, const struct atw_chain *l)
{
	return s->ops->list ? s->ops->list(s, l) : 0;
}

int atw_extent_at(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	return s ? s->ops->extent(s, pa, ret) : ATW_E_USAGE;
}

int atw_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	return s && s->ops->fact ? s->ops->fact(s, key, ret) : ATW_E_MISSING;
}

int source_fact_of(const struct source_fact *v, size_t n, const char *key, struct atw_blob *ret)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].len && !strcmp(v[i].key, key)) {
			*ret = (struct atw_blob){ v[i].data, v[i].len };
			return ATW_OK;
		}
	return ATW_E_MISSING;
}

int atw_fact_u64(struct atw_source *s, const char *key, uint64_t *ret)
{
	struct atw_blob b;
	uint64_t v = 0;
	int r = atw_fact(s, key, &b);

	if (r < 0)
		return r;
	if (!b.len || b.len > sizeof(v))
		return ATW_E_USAGE;      /* a text, not a number */
	memcpy(&v, b.data, b.len);
	*ret = v;
	return ATW_OK;
}

void atw_source_close(struct atw_source *s)
{
	while (s) {
		struct atw_source *below = s->below;

		if (s->ops->close)
			s->ops->close(s);
		free(s);
		s = below;
	}
}

static const struct atw_source_ops *source_lowest(const struct atw_source *s)
{
	while (s && s->below)
		s = s->below;
	return s ? s->ops : NULL;
}

bool atw_source_is_live(const struct atw_source *s)
{
	const struct atw_source_ops *ops = source_lowest(s);

	return ops && ops->live;
}

bool atw_source_is_here(const struct atw_source *s)
{
	const struct atw_source_ops *ops = source_lowest(s);

	return ops && ops->here;
}

int atw_source_outside(struct atw_source *s, atw_pa pa, uint32_t *pid, uint64_t *va)
{
	while (s->below)
		s = s->below;
	return s->ops->outside ? s->ops->outside(s, pa, pid, va) : ATW_E_UNSUPPORTED;
}

int atw_source_inside(struct atw_source *s, uint64_t va, atw_pa *ret, uint64_t *ret_len)
{
	while (s->below)
		s = s->below;
	return s->ops->inside ? s->ops->inside(s, va, ret, ret_len) : ATW_E_UNSUPPORTED;
}

void atw_source_threads(struct atw_source *s, unsigned n)
{
	if (s->ops->threads)
		s->ops->threads(s, n);
}

bool atw_source_ahead(struct atw_source *s, const uint64_t *pa, size_t n)
{
	return s->ops->ahead && s->ops->ahead(s, pa, n);
}
