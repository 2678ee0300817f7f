/* SPDX-License-Identifier: GPL-2.0-or-later */
/* paced.c - wrapper that counts the reads of a source and limits their rate. */

#include "source/wrap.h"

struct paced {
	struct pace *pace;
};

static ssize_t paced_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	struct pace *p = ((struct paced *)s->impl)->pace;
	size_t part = pace_slice(p, len);
	ssize_t n;

	/* Slices end where words do, wherever the first one begins. */
	if (part < len)
		part -= (size_t)(pa.u % PACE_WORDS);
	pace_wait(p);
	n = s->below->ops->read(s->below, pa, buf, part, err);
	pace_done(p, &p->memory, n > 0 ? (uint64_t)n : 0);
	return n;
}

/* Pieces that are a slice together, all at once. */
static void paced_some(struct atw_source *s, struct pace *p, struct atw_piece *piece, size_t n,
		      struct atw_err *err)
{
	uint64_t bytes = 0;

	pace_wait(p);
	atw_read_many(s->below, piece, n, err);
	for (size_t i = 0; i < n; i++)
		bytes += piece[i].got > 0 ? (uint64_t)piece[i].got : 0;
	pace_done(p, &p->memory, bytes);
}

static void paced_many(struct atw_source *s, struct atw_piece *piece, size_t n,
		       struct atw_err *err)
{
	struct pace *p = ((struct paced *)s->impl)->pace;

	for (size_t i = 0, end; i < n; i = end) {
		size_t len = piece[i].len, most = pace_slice(p, SIZE_MAX);

		if (len > most) {        /* alone, and in slices */
			piece[i].got = atw_read(s, piece[i].pa, piece[i].buf, len, err);
			end = i + 1;
			continue;
		}
		for (end = i + 1; end < n && piece[end].len <= most - len; end++)
			len += piece[end].len;
		paced_some(s, p, piece + i, end - i, err);
	}
}

static bool paced_direct(struct atw_source *s, uint64_t va, struct atw_direct *ret)
{
	return atw_source_direct(s->below, va, ret);
}

static size_t paced_list(struct atw_source *s, const struct atw_chain *l)
{
	struct pace *p = ((struct paced *)s->impl)->pace;
	size_t n;

	if (pace_slice(p, l->max * l->len) < l->max * l->len)
		return 0;
	pace_wait(p);
	n = atw_source_list(s->below, l);
	pace_done(p, &p->memory, n * l->len);
	return n;
}

static const struct atw_source_ops paced_ops = {
	WRAP_OPS,
	.name = "pace",
	.help = "counts reads, and reads slowly",
	.close = wrap_close,
	.read = paced_read,
	.read_many = paced_many,
	.direct = paced_direct,
	.list = paced_list,
};

int paced_source(struct atw_source *below, struct pace *p, struct atw_source **ret,
		struct atw_err *err)
{
	struct atw_source *s = wrap_new(&paced_ops, below, sizeof(struct paced), err);

	if (!s)
		return ATW_E_NOMEM;
	((struct paced *)s->impl)->pace = p;
	*ret = s;
	return ATW_OK;
}
