/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content.c - bytes of a range of virtual or physical addresses. */
#include "target/content.h"

#include <stdlib.h>

enum {
	CONTENT_COPIED =
		256 << 10, /* bytes of a piece that is copied: stays in the cache */
	CONTENT_BORROWED = 1 << 20, /* of one that is read where it lies */
};

#define CONTENT_NO_PA UINT64_MAX

struct content {
	struct target *target;
	const struct mmu_space *space;
	struct atw_source *mem;
	struct mmu_ranges *ranges; /* NULL: physical */
	struct content_piece now;  /* what is left of a mapped, or the physical, range */
	bool have;
	uint64_t repeats; /* bytes behind `now` that map its memory again */
	uint64_t first, last;
	struct atw_err err;
	uint8_t *buf;
};

int content_open(struct target *t, const struct mmu_space *space, uint64_t first,
		 uint64_t last, bool absent, struct content **ret, struct atw_err *err)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first),
		.last = ATW_VA(last),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT),
		.flags = absent ? 0 : MMU_WALK_SOFT,
	};
	struct content *c = calloc(1, sizeof(*c));
	int r = ATW_OK;

	if (!c)
		return atw_err_nomem(err);
	*c = (struct content){
		.target = t,
		.space = space,
		.mem = space ? space->mem : t->source,
		.first = first,
		.last = last,
	};
	c->buf = malloc(CONTENT_COPIED);
	if (!c->buf)
		r = atw_err_nomem(err);
	if (r == ATW_OK && space)
		r = mmu_ranges_open(space, &o, MMU_SPLIT_PHYSICAL, &c->ranges, err);
	if (r == ATW_OK && !space) {
		c->have = true;
		c->now = (struct content_piece){
			.at = first,
			.pa = first,
			.have_pa = true,
			.len = last - first + 1,
			.state = PAGE_PRESENT,
		};
	}
	if (r < 0) {
		content_close(c);
		return r;
	}
	*ret = c;
	return ATW_OK;
}

/* ---- ranges of page tables ---- */

static void content_clip(const struct content *c, struct content_piece *p)
{
	/* A length of 0 is 2^64; differences of unsigned numbers take that in. */
	uint64_t last = p->at + (p->len - 1);
	uint64_t skip = p->at < c->first ? c->first - p->at : 0;

	if (last > c->last)
		last = c->last;
	p->at += skip;
	p->pa += skip;
	p->len = last - p->at + 1;
}

/* One page that is mapped over and over: its bytes are returned once. */
static void content_split_repeats(struct content *c, const struct mmu_range *g)
{
	uint64_t page = g->page ? g->page : 4096;
	uint64_t in = (c->now.at - g->va.u) % page, len = page - in;

	c->now.pa = g->pa.u + in;
	if (c->now.len && c->now.len <= len)
		return;
	c->repeats = c->now.len - len;
	c->now.len = len;
}

static uint8_t content_state(struct content *c, const struct mmu_range *g, uint64_t *pa)
{
	static const uint8_t lost[] = {
		[ATW_LOST] = PAGE_LOST,
		[ATW_LOST_EXCLUDED] = PAGE_EXCLUDED,
		[ATW_LOST_DAMAGED] = PAGE_DAMAGED,
		[ATW_LOST_UNSTABLE] = PAGE_UNSTABLE,
	};
	struct atw_soft_word w;

	if (g->loss)
		return lost[g->loss];
	if (g->kind == ATW_LEAF) {
		*pa = g->pa.u;
		return PAGE_PRESENT;
	}
	if (g->kind == ATW_BAD)
		return PAGE_BAD;
	w = atw_soft_decode_at(target_soft(c->target), &c->space->paging, g->va, g->level,
			       g->word);
	if (w.what != ATW_SOFT_PROTNONE)
		return (uint8_t)provider_soft_state(w.what);
	/* Access faults, but the page is there. */
	*pa = w.pa.u;
	return PAGE_PRESENT;
}

/* The next range that is asked for. */
static int content_next_range(struct content *c, struct atw_err *err)
{
	struct mmu_range g;
	uint64_t pa = CONTENT_NO_PA;
	uint8_t state;
	int r;

	do {
		r = mmu_ranges_next(c->ranges, &g, err);
		if (r != ATW_OK)
			return r;
	} while (g.va.u > c->last || g.va.u + (g.size - 1) < c->first);
	state = content_state(c, &g, &pa);
	c->now = (struct content_piece){
		.at = g.va.u,
		.len = g.size,
		.state = state,
		.repeat = g.repeat_of && !g.loss,
		.pa = pa,
		.have_pa = pa != CONTENT_NO_PA,
	};
	content_clip(c, &c->now);
	c->have = true;
	if (g.kind == ATW_LEAF && !g.loss && g.same_pa)
		content_split_repeats(c, &g);
	return ATW_OK;
}

/* ---- bytes ---- */

static void content_take(struct content *c, struct content_piece *ret, uint64_t len)
{
	*ret = c->now;
	ret->len = len;
	c->now.at += len;
	c->now.pa += len;
	c->now.len -= len;
	c->have = c->now.len;
}

/* Bytes that the source has: those that it lends, or a copy. */
static ssize_t content_read(struct content *c, uint64_t len, const uint8_t **ret)
{
	const struct atw_source_ops *ops = c->mem->ops;
	const void *lent = NULL;
	ssize_t n;

	if (ops->peek) {
		n = ops->peek(c->mem, ATW_PA(c->now.pa),
			      len < CONTENT_BORROWED ? (size_t)len : CONTENT_BORROWED,
			      &lent, &c->err);
		if (n > 0) {
			*ret = lent;
			return n;
		}
	}
	*ret = c->buf;
	return atw_read(c->mem, ATW_PA(c->now.pa), c->buf,
			len < CONTENT_COPIED ? (size_t)len : CONTENT_COPIED, &c->err);
}

/* How far the extent of `pa` goes, and of which kind it is. */
static enum atw_extent_kind content_extent(struct content *c, uint64_t most,
					   uint64_t *ret_len)
{
	struct atw_extent e;

	*ret_len = most;
	if (atw_extent_at(c->mem, ATW_PA(c->now.pa), &e) != ATW_OK)
		return ATW_NONE;
	if (e.start.u > c->now.pa) {
		if (e.start.u - c->now.pa < most)
			*ret_len = e.start.u - c->now.pa;
		return ATW_NONE;
	}
	if (e.len && e.start.u + e.len - c->now.pa < most)
		*ret_len = e.start.u + e.len - c->now.pa;
	return e.kind;
}

static void content_bytes(struct content *c, struct content_piece *ret)
{
	/* 2^64 bytes: of a physical range of everything. */
	uint64_t most = c->now.len ? c->now.len : UINT64_MAX, len;
	enum atw_extent_kind kind = content_extent(c, most, &len);
	const uint8_t *data = NULL;
	ssize_t n;

	if (kind == ATW_ZERO) {
		content_take(c, ret, len);
		ret->zero = true;
		return;
	}
	if (kind != ATW_DATA) {
		content_take(c, ret, len);
		ret->state = kind == ATW_EXCLUDED ? PAGE_EXCLUDED : PAGE_LOST;
		return;
	}
	n = content_read(c, len, &data);
	if (n > 0) {
		content_take(c, ret, (uint64_t)n);
		ret->data = data;
		return;
	}
	/* One page of it: those behind it may be good. */
	len = len < 4096 - (c->now.pa & 4095) ? len : 4096 - (c->now.pa & 4095);
	content_take(c, ret, len);
	ret->state = n < 0 ? PAGE_DAMAGED : PAGE_LOST;
}

int content_next(struct content *c, struct content_piece *ret, struct atw_err *err)
{
	int r = ATW_OK;

	if (!c->have && !c->ranges)
		return ATW_END;
	if (!c->have && c->repeats) {
		*ret = (struct content_piece){
			.at = c->now.at,
			.len = c->repeats,
			.state = PAGE_PRESENT,
			.repeat = true,
		};
		c->repeats = 0;
		return ATW_OK;
	}
	if (!c->have)
		r = content_next_range(c, err);
	if (r != ATW_OK)
		return r;
	if (c->now.state == PAGE_PRESENT && !c->now.repeat)
		content_bytes(c, ret);
	else
		content_take(c, ret, c->now.len);
	return ATW_OK;
}

const struct atw_err *content_error(const struct content *c)
{
	return &c->err;
}

void content_close(struct content *c)
{
	if (!c)
		return;
	mmu_ranges_close(c->ranges);
	free(c->buf);
	free(c);
}
