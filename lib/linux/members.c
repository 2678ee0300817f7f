// SPDX-License-Identifier: GPL-2.0-or-later
/* members.c - reads of struct members. */
#include "linux/kernel.h"

int member_at(const struct members *v, uint64_t base, enum need_member id,
	    uint64_t *ret, struct atw_err *err)
{
	if (!member_have(v, id))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "this kernel has no member %s",
				   needs_at(v->n, id).names);
	*ret = base + v->n->member[id];
	return ATW_OK;
}

uint32_t members_span(const struct members *v, const enum need_member *id, size_t n,
		      uint32_t *ret_first)
{
	uint32_t first = UINT32_MAX, end = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t at = v->n->member[id[i]], width = v->n->width[id[i]];

		if (at == NEED_NONE)
			continue;
		first = at < first ? at : first;
		end = at + (width ? width : 8) > end ? at + (width ? width : 8) : end;
	}
	*ret_first = first;
	return first < end ? end - first : 0;
}

void members_soon(const struct members *v, uint64_t base, const enum need_member *id, size_t n)
{
	uint32_t first, len = members_span(v, id, n, &first);

	if (len && v->ahead)
		kmem_ahead_add(v->ahead, base + first, len);
}

void members_hold(const struct members *v, uint64_t base, const enum need_member *id, size_t n)
{
	uint32_t first, len = members_span(v, id, n, &first);

	if (len && !(v->ahead && kmem_ahead_hold(v->ahead, base + first, len)))
		kmem_hold(v->m, base + first, len);
}

/* A struct atw_err is large: it is not cleared for each of very many members. */
static int members_not_there(const struct members *v, uint64_t at, unsigned width,
			    struct atw_err *err)
{
	struct atw_err why = { .status = ATW_E_MISSING };

	kmem_peek(v->m, at, width, &why);
	return atw_err_set(err, why.status, "%s", why.text);
}

int member_get(const struct members *v, uint64_t base, enum need_member id,
	     uint64_t *ret, struct atw_err *err)
{
	unsigned width = v->n->width[id] ? v->n->width[id] : 8;
	const void *p;
	uint64_t at = 0;
	int r = member_at(v, base, id, &at, err);

	if (r < 0)
		return r;
	p = kmem_peek(v->m, at, width, NULL);
	if (!p)
		return members_not_there(v, at, width, err);
	*ret = width == 1 ? *(const unsigned char *)p : width == 2 ? get_le16(p) :
	       width == 4 ? get_le32(p) : get_le64(p);
	if (v->n->bits[id])
		*ret = *ret >> v->n->low[id] & (~UINT64_C(0) >> (64 - v->n->bits[id]));
	return ATW_OK;
}
