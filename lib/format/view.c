/* SPDX-License-Identifier: GPL-2.0-or-later */
/* view.c - random access to files that may be flattened. */
#include "format/view.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/sorted.h"

void view_deinit(struct view *v)
{
	free(v->owned);
	*v = (struct view){ 0 };
}

/* The first piece that ends after `off`, or npieces. */
static size_t view_find_piece(const struct view *v, uint64_t off)
{
	size_t i = SORTED_UP_TO(v->pieces, v->npieces, start, off);
	const struct view_piece *p = i ? &v->pieces[i - 1] : NULL;

	return p && p->start + p->len > off ? i - 1 : i;
}

uint64_t view_run(const struct view *v, uint64_t off, const void **ret)
{
	const struct view_piece *p;
	size_t i;

	if (off >= v->size)
		return 0;
	if (!v->pieces) {
		*ret = (const char *)v->file.data + off;
		return v->size - off;
	}
	i = view_find_piece(v, off);
	if (i == v->npieces || v->pieces[i].start > off)
		return 0;
	p = &v->pieces[i];
	*ret = (const char *)v->file.data + p->at + (off - p->start);
	return p->len - (off - p->start);
}

uint64_t view_gap(const struct view *v, uint64_t off)
{
	size_t i = v->pieces ? view_find_piece(v, off) : v->npieces;

	if (i < v->npieces)
		return v->pieces[i].start - off;
	return off < v->size ? v->size - off : 0;
}

const void *view_at(const struct view *v, uint64_t off, uint64_t len)
{
	const void *p;

	return view_run(v, off, &p) >= len && len ? p : NULL;
}

static bool view_copy(const struct view *v, uint64_t off, char *buf, size_t len,
		      bool padded)
{
	const void *p = NULL;
	uint64_t n;

	if (off > v->size || len > v->size - off)
		return false;
	while (len) {
		n = view_run(v, off, &p);
		if (n && p) {
			n = n < len ? n : len;
			memcpy(buf, p, (size_t)n);
		} else {
			if (!padded)
				return false;
			n = view_gap(v, off);
			n = n < len ? n : len;
			memset(buf, 0, (size_t)n);
		}
		buf += n;
		off += n;
		len -= (size_t)n;
	}
	return true;
}

bool view_read(const struct view *v, uint64_t off, void *buf, size_t len)
{
	return view_copy(v, off, buf, len, false);
}

bool view_read_padded(const struct view *v, uint64_t off, void *buf, size_t len)
{
	return view_copy(v, off, buf, len, true);
}

int view_blob(const struct view *v, uint64_t off, uint64_t len, void **owned,
	      struct atw_blob *ret)
{
	const void *p = view_at(v, off, len);
	void *copied;

	if (!p) {
		/* A small flattened file may claim any size. */
		if (!len || len > v->file.len)
			return ATW_E_DAMAGED;
		copied = malloc((size_t)len);
		if (!copied)
			return ATW_E_NOMEM;
		if (!view_read_padded(v, off, copied, (size_t)len)) {
			free(copied);
			return ATW_E_DAMAGED;
		}
		p = *owned = copied;
	}
	*ret = (struct atw_blob){ p, (size_t)len };
	return ATW_OK;
}
