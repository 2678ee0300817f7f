// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kallsyms_locate.c - search for the kallsyms tables in a kernel image.
 * scripts/kallsyms.c emits them consecutively, each at a multiple of 8:
 *
 *	up to 6.3  offsets base | addresses, num, names, markers, tokens, index
 *	since 6.4  num, names, markers, tokens, index, offsets base | addresses
 *	since 7.0  the same without a base, and at multiples of 4
 *
 * The token index is easy to recognise: 256 ascending numbers, each the offset of a
 * string in the bytes right before it. The search continues backwards from there. 6.2,
 * 6.3 and kernels with a backport have the table of names in sorted order, 3 bytes each,
 * between markers and tokens; since 6.4 it is the last table.
 */
#include "format/kallsyms.h"

#include "base/bytes.h"

enum {
	INDEX = 512,
	/*
	 * Limit of names decoded in total. The real tables need little more than one
	 * pass; crafted bytes that resemble tables could require any number.
	 */
	BUDGET = 1 << 24,
	/* Maximum of a name with its length; 256 of them are between two markers. */
	NAME = KALLSYMS_NAME + 2,
	SYMBOLS = 1 << 21,       /* limit of symbols for which the sorted table is
				  * searched */
};

struct image {
	struct atw_blob bytes;
	uint64_t va, anchor;
	uint32_t budget;
};

/* Tables, as offsets into the image. */
struct locate_parts {
	unsigned align;          /* alignment of each table: 8 or 4 */
	uint64_t num, names, markers, tokens, index;
	uint64_t order;          /* bytes of the sorted table, or 0 */
	uint32_t n, nmarkers;
};

static const char *locate_at(const struct image *im, uint64_t off)
{
	return (const char *)im->bytes.data + off;
}

static uint64_t locate_padded(const struct locate_parts *p, uint64_t len)
{
	return (len + p->align - 1) & -(uint64_t)p->align;
}

/* 256 ascending numbers, the first is 0. `off` has INDEX bytes. */
static bool locate_rises(const struct image *im, uint64_t off)
{
	const char *p = locate_at(im, off);

	if (get_le16(p))
		return false;
	for (unsigned i = 1; i < 256; i++)
		if (get_le16(p + i * 2) <= get_le16(p + i * 2 - 2))
			return false;
	return true;
}

enum { BLOCK = 64 };

/* Does some word of a block have the first two numbers of an index: 0, and another one? */
static bool locate_may_begin(const char *p)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	const words low = (words){ 0 } + htole32(0xffff);
	words any = { 0 };

	for (unsigned i = 0; i < BLOCK; i += sizeof(words)) {
		words v;

		memcpy(&v, p + i, sizeof(v));
		any |= (words)((v & low) == 0) & v;
	}
	return any[0] | any[1] | any[2] | any[3];
}

/* The next place of an index, at a multiple of 4 bytes from `off`; false: none. */
static bool locate_next_index(const struct image *im, uint64_t *off)
{
	while (*off + INDEX <= im->bytes.len) {
		uint64_t end = *off + BLOCK;

		if (!locate_may_begin(locate_at(im, *off)))
			*off = end;
		for (; *off < end && *off + INDEX <= im->bytes.len; *off += 4)
			if (locate_rises(im, *off))
				return true;
	}
	return false;
}

/* The strings are consecutive; single characters stand for themselves. */
static bool locate_are_tokens(const struct image *im, uint64_t tokens, uint64_t index)
{
	static const char own[] = "_stext";

	for (unsigned i = 1; i < 256; i++)
		if (*locate_at(im, tokens + get_le16(locate_at(im, index + i * 2)) - 1))
			return false;
	/* A token of one character that occurs in names must be that character. */
	for (unsigned i = 0; i < sizeof(own) - 1; i++) {
		uint64_t off = get_le16(locate_at(im, index + (uint8_t)own[i] * 2));

		if (*locate_at(im, tokens + off) != own[i] ||
		    *locate_at(im, tokens + off + 1))
			return false;
	}
	return true;
}

/* The token table that ends, except for padding, where the index begins. */
static bool locate_find_tokens(const struct image *im, struct locate_parts *p)
{
	uint64_t last = get_le16(locate_at(im, p->index + INDEX - 2)),
		 len = locate_padded(p, last + 1);

	for (; len <= last + KALLSYMS_NAME + p->align && len <= p->index;
	     len += p->align) {
		p->tokens = p->index - len;
		if (locate_are_tokens(im, p->tokens, p->index))
			return true;
	}
	return false;
}

/* Do the names fill the bytes before the markers, in agreement with them? */
static bool locate_are_names(struct image *im, const struct locate_parts *p,
			     bool long_names)
{
	struct atw_blob names = {locate_at(im, p->names), p->markers - p->names};
	size_t pos = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		size_t used, len;

		if (i % KALLSYMS_STEP == 0 &&
		    get_le32(locate_at(im, p->markers + (uint64_t)i / KALLSYMS_STEP *
								4)) != pos)
			return false;
		if (!im->budget)
			return false;
		im->budget--;
		len = kallsyms_length(names, pos, long_names, &used);
		if (!len)
			return false;
		pos += used + len;
	}
	return locate_padded(p, pos) == names.len;
}

/*
 * The names end where the markers begin; their length is not stored. But the last marker
 * is the offset of the last group of 256 names, and the number of names, which is nearly
 * known from the number of markers, precedes the first name.
 */
static bool locate_find_names(struct image *im, struct locate_parts *p)
{
	uint64_t last =
		get_le32(locate_at(im, p->markers + (uint64_t)(p->nmarkers - 1) * 4));
	uint64_t most = last + (uint64_t)KALLSYMS_STEP * NAME,
		 len = locate_padded(p, last + 2);

	for (; len <= most && len + p->align <= p->markers && im->budget;
	     len += p->align) {
		im->budget--;
		p->names = p->markers - len;
		p->num = p->names - p->align;
		p->n = get_le32(locate_at(im, p->num));
		if (!p->n || (p->n - 1) / KALLSYMS_STEP + 1 != p->nmarkers ||
		    (p->align == 8 && get_le32(locate_at(im, p->num + 4))) ||
		    (p->order && locate_padded(p, (uint64_t)p->n * 3) != p->order))
			continue;
		if (locate_are_names(im, p, true) || locate_are_names(im, p, false))
			return true;
	}
	return false;
}

/* Markers ascend from 0 to where the tokens begin, or 4 bytes before that. */
static bool locate_markers_before(struct image *im, struct locate_parts *p, uint64_t end)
{
	uint32_t above = UINT32_MAX;
	uint64_t off = end;

	while (off >= 4 && im->budget) {
		uint32_t v = get_le32(locate_at(im, off - 4));

		if (v >= above)
			return false;
		im->budget--;
		off -= 4;
		above = v;
		if (!v)
			break;
	}
	if (off == end || above || (im->va + off) % p->align)
		return false;
	p->order = 0;
	p->markers = off;
	p->nmarkers = (uint32_t)((end - off) / 4);
	return locate_find_names(im, p);
}

/* Checks p->nmarkers candidate markers; most positions fail at the first. */
static bool locate_markers_at(struct image *im, struct locate_parts *p)
{
	if (get_le32(locate_at(im, p->markers)))
		return false;
	for (uint32_t i = 1; i < p->nmarkers; i++) {
		const char *m = locate_at(im, p->markers + (uint64_t)i * 4);

		if (get_le32(m) <= get_le32(m - 4) || !im->budget)
			return false;
		im->budget--;
	}
	return locate_find_names(im, p);
}

/*
 * With the sorted table between markers and tokens. Its length yields the number of
 * symbols, with an error of up to two, and thereby the number of markers.
 */
static bool locate_markers_before_order(struct image *im, struct locate_parts *p)
{
	uint64_t len = p->align;

	for (; len <= (uint64_t)SYMBOLS * 3 && im->budget; len += p->align) {
		uint64_t few = (len - p->align) / 3 + 1, many = len / 3;

		for (uint64_t n = few; n <= many; n++) {
			uint32_t nmarkers = (uint32_t)((n - 1) / KALLSYMS_STEP + 1);
			uint64_t back = len + locate_padded(p, (uint64_t)nmarkers * 4);

			if (back > p->tokens)
				return false;
			if (n > few && nmarkers == p->nmarkers)
				continue;
			im->budget -= im->budget > 0;
			p->order = len;
			p->nmarkers = nmarkers;
			p->markers = p->tokens - back;
			if (locate_markers_at(im, p))
				return true;
		}
	}
	return false;
}

static bool locate_find_markers(struct image *im, struct locate_parts *p)
{
	if (locate_markers_before(im, p, p->tokens))
		return true;
	return p->align == 8 &&
	       ((p->tokens >= 4 && !get_le32(locate_at(im, p->tokens - 4)) &&
		 locate_markers_before(im, p, p->tokens - 4)) ||
		locate_markers_before_order(im, p));
}

/* `len` bytes of the image, or an empty blob. */
static struct atw_blob locate_part(const struct image *im, uint64_t off, uint64_t len)
{
	const void *p = blob_at(im->bytes, off, len);

	return (struct atw_blob){ p, p ? len : 0 };
}

/* Verify addresses at `off`, if they are inside of the image, with kallsyms_init(). */
static bool locate_try_addresses(const struct image *im, const struct locate_parts *p,
				 uint64_t off, bool absolute, const char *base,
				 struct kallsyms_tables *ret)
{
	struct kallsyms_tables t = {
		.names = locate_part(im, p->names, p->tokens - p->names),
		.tokens = locate_part(im, p->tokens, p->index - p->tokens),
		.index = locate_part(im, p->index, INDEX),
		.offsets = locate_part(im, off, (uint64_t)p->n * (absolute ? 8 : 4)),
		.absolute = absolute, .num = p->n, .has_base = base != NULL,
		.base = base ? get_le64(base) : 0,
		.offsets_va = im->va + off, .anchor = im->anchor,
	};
	struct kallsyms k;

	if (!t.offsets.data || kallsyms_init(&k, &t, NULL) < 0)
		return false;
	kallsyms_deinit(&k);
	*ret = t;
	return true;
}

static bool locate_find_addresses(const struct image *im, const struct locate_parts *p,
				  struct kallsyms_tables *ret)
{
	uint64_t narrow = locate_padded(p, (uint64_t)p->n * 4), wide = (uint64_t)p->n * 8;
	uint64_t behind = p->index + INDEX;
	const char *base = blob_at(im->bytes, behind + narrow, 8);

	if (p->align == 4)
		return locate_try_addresses(im, p, behind, false, NULL, ret);
	if (p->num >= narrow + 8 &&
	    locate_try_addresses(im, p, p->num - 8 - narrow, false,
				 locate_at(im, p->num - 8), ret))
		return true;
	if (p->num >= wide && locate_try_addresses(im, p, p->num - wide, true, NULL, ret))
		return true;
	/* Without a base first, because any value there would be accepted as the base. */
	return locate_try_addresses(im, p, behind, false, NULL, ret) ||
	       locate_try_addresses(im, p, behind, true, NULL, ret) ||
	       (base && locate_try_addresses(im, p, behind, false, base, ret));
}

int kallsyms_locate(struct atw_blob image, uint64_t va, uint64_t anchor,
		    struct kallsyms_tables *ret, struct atw_err *err)
{
	struct image im = { image, va, anchor, BUDGET };
	unsigned likely = 0;

	for (uint64_t off = -va & 3; locate_next_index(&im, &off); off += 4) {
		for (unsigned align = (va + off) % 8 ? 4 : 8; align >= 4; align -= 4) {
			struct locate_parts p = {.align = align, .index = off};

			if (!locate_find_tokens(&im, &p) || !locate_find_markers(&im, &p))
				continue;
			if (locate_find_addresses(&im, &p, ret))
				return ATW_OK;
			likely++;
		}
	}
	if (likely)
		return atw_err_set(err, ATW_E_MISSING,
				   "no table of symbols in 0x%zx bytes at 0x%llx: of %u that look like one, none has _stext at 0x%llx",
				   image.len, (unsigned long long)va, likely,
				   (unsigned long long)anchor);
	if (!im.budget)
		return atw_err_set(err, ATW_E_LIMIT,
				   "no table of symbols in 0x%zx bytes at 0x%llx before the search was given up",
				   image.len, (unsigned long long)va);
	return atw_err_set(err, ATW_E_MISSING,
			   "no table of symbols in 0x%zx bytes at 0x%llx",
			   image.len, (unsigned long long)va);
}
