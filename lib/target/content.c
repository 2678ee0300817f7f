/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content.c - bytes of a range of virtual or physical addresses. */
#include "target/content.h"

#include <stdlib.h>

#include "target/places.h"

enum {
	CONTENT_COPIED =
		256 << 10, /* bytes of a piece that is copied: stays in the cache */
	CONTENT_BORROWED = 1 << 20, /* of one that is read where it lies */
};

struct content {
	struct atw_source *mem;
	struct places *places;     /* NULL: physical */
	struct content_piece now;  /* what is left of a mapped, or the physical, range */
	bool have;
	uint64_t repeats; /* bytes behind `now` that map its memory again */
	struct atw_err err;
	uint8_t *buf;
};

int content_open(struct target *t, const struct mmu_space *space, uint64_t first,
		 uint64_t last, bool absent, struct content **ret, struct atw_err *err)
{
	struct content *c = calloc(1, sizeof(*c));
	int r = ATW_OK;

	if (!c)
		return atw_err_nomem(err);
	*c = (struct content){
		.mem = space ? space->mem : t->source,
	};
	c->buf = malloc(CONTENT_COPIED);
	if (!c->buf)
		r = atw_err_nomem(err);
	if (r == ATW_OK && space)
		r = places_open_tables(t, space, first, last, absent, &c->places, err);
	if (r == ATW_OK && !space) {
		c->have = true;
		c->now = (struct content_piece){
			.at = first, .pa = first, .have_pa = true,
			.len = last - first + 1, .state = PAGE_PRESENT,
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

/* One page that is mapped over and over: its bytes are returned once. */
static void content_split_repeats(struct content *c, uint64_t page)
{
	uint64_t len = page - (c->now.pa & (page - 1));

	if (c->now.len && c->now.len <= len)
		return;
	c->repeats = c->now.len - len;
	c->now.len = len;
}

/* The next range that is asked for. */
static int content_next_range(struct content *c, struct atw_err *err)
{
	struct place_range p;
	int r = places_next(c->places, &p, err);

	if (r != ATW_OK)
		return r;
	c->now = (struct content_piece){
		.at = p.at, .len = p.len, .state = p.state, .repeat = p.repeat,
		.pa = p.pa, .have_pa = p.have_pa,
	};
	/* Access faults, but the page is there. */
	if (p.state == PAGE_PROTNONE)
		c->now.state = PAGE_PRESENT;
	c->have = true;
	if (p.same)
		content_split_repeats(c, p.same);
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

	if (!c->have && !c->places)
		return ATW_END;
	if (!c->have && c->repeats) {
		*ret = (struct content_piece){
			.at = c->now.at, .len = c->repeats, .state = PAGE_PRESENT,
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
	places_close(c->places);
	free(c->buf);
	free(c);
}
