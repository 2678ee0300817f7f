/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kdump.c - kdump-compressed dumps, plain, flattened or split, as a source.
 *
 * Which pages there are, their bitmaps say; where one is, its descriptor says.
 * There is no peek: it would have to lend some pages and not others, as most
 * are compressed and those that are not lie among them.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/view.h"
#include "source/kdump_set.h"
#include "source/source.h"
#include "source/page_cache.h"
#include "source/page_ahead.h"

#define CACHE_BYTES (8u << 20)
enum { KDUMP_WINDOW = 64 };      /* pages of a long read that are announced together */

/* Of each thread that unpacks pages. */
struct kdump_unpacker {
	struct codec_ctx codec;
	void *packed;                    /* a compressed page, when in pieces */
};

struct kdump_source {
	struct kdump_set set;
	struct page_cache cache;
	struct kdump_unpacker own;
	struct page_ahead *ahead;        /* NULL: there are no other threads */
	struct kdump_facts facts;
};

/* ---- pages ---- */

/*
 * Find and check the descriptor of a stored page, and its bytes: *data points
 * at them in the file or, if they lie in pieces, into u->packed.
 */
static int kdump_find_page(struct kdump_unpacker *u, const struct kdump_file *f,
			   uint64_t pfn, struct kdump_desc *desc, bool *compressed,
			   enum codec *codec, const void **data, struct atw_err *err)
{
	uint64_t at = kdump_file_desc(f, pfn);
	char bytes[KDUMP_DESC_SIZE];
	int rc;

	if (!view_read(&f->view, at, bytes, sizeof(bytes)))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its descriptor at 0x%" PRIx64
				   " is past the end of the dump, 0x%" PRIx64,
				   at, f->view.size);
	rc = kdump_desc_parse(bytes, &f->h, desc, compressed, codec, err);
	if (rc < 0) {
		atw_err_wrap(err, "descriptor at 0x%" PRIx64, at);
		return rc;
	}
	*data = view_at(&f->view, desc->offset, desc->size);
	if (*data)
		return 0;
	/* kdump_desc_parse() lets pass what is at most twice a block. */
	if (!u->packed && !(u->packed = malloc(2 * (size_t)f->h.block_size)))
		return atw_err_nomem(err);
	if (!view_read(&f->view, desc->offset, u->packed, desc->size))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its %" PRIu32 " bytes at 0x%" PRIx64
				   " are past the end of the dump, 0x%" PRIx64,
				   desc->size, desc->offset, f->view.size);
	*data = u->packed;
	return 0;
}

/* Unpacks a page that was found to `page`. */
static int kdump_unpack(struct kdump_unpacker *u, const struct kdump_file *f,
			const struct kdump_desc *desc, enum codec codec, const void *data,
			void *page, struct atw_err *err)
{
	size_t len = 0;
	int rc = codec_decompress_ctx(&u->codec, codec, data, desc->size, page, f->h.block_size,
				      &len, err);

	if (rc < 0) {
		atw_err_wrap(err, "stored at 0x%" PRIx64, desc->offset);
		return rc;
	}
	if (len == f->h.block_size)
		return ATW_OK;
	return atw_err_set(err, ATW_E_DAMAGED,
			   "stored at 0x%" PRIx64 ": %" PRIu32
			   " bytes of %s data are %zu bytes of memory, not %" PRIu32,
			   desc->offset, desc->size, codec_name(codec), len, f->h.block_size);
}

/* The bytes of a stored page, good until the next call. */
static int kdump_get_page(struct kdump_source *k, const struct kdump_file *f,
			  uint64_t pfn, const void **ret, struct atw_err *err)
{
	const void *data = page_cache_find(&k->cache, pfn);
	struct kdump_desc desc;
	bool compressed;
	enum codec codec;
	void *page;
	int rc;

	if (data) {
		*ret = data;
		return 0;
	}
	page = k->ahead ? page_cache_claim(&k->cache, pfn) : NULL;
	if (!page || !page_ahead_take(k->ahead, pfn, page)) {
		rc = kdump_find_page(&k->own, f, pfn, &desc, &compressed, &codec, &data, err);
		if (rc == 0 && !compressed) {
			*ret = data;
			return 0;
		}
		if (!page)
			page = page_cache_claim(&k->cache, pfn);
		if (rc == 0)
			rc = kdump_unpack(&k->own, f, &desc, codec, data, page, err);
		if (rc < 0)
			return rc;
	}
	page_cache_commit(&k->cache, pfn);
	*ret = page;
	return 0;
}

/* ---- pages that threads unpack ---- */

static bool kdump_unpack_page(void *arg, void *state, uint64_t pfn, void *page)
{
	const struct kdump_source *k = arg;
	const struct kdump_span *span = kdump_set_span(&k->set, pfn);
	struct kdump_unpacker *u = state;
	struct kdump_desc desc;
	bool compressed;
	enum codec codec;
	const void *data;

	/* What is not compressed is read in place. */
	return kdump_find_page(u, span->file, pfn, &desc, &compressed, &codec, &data, NULL) == 0 &&
	       compressed && kdump_unpack(u, span->file, &desc, codec, data, page, NULL) == ATW_OK;
}

static void kdump_drop_unpacker(void *state)
{
	struct kdump_unpacker *u = state;

	codec_ctx_deinit(&u->codec);
	free(u->packed);
}

/* Are there pages to unpack? Those that are not compressed are read in place. */
static bool kdump_is_packed(const struct kdump_source *k)
{
	bool packed = false;

	for (size_t i = 0; i < k->set.nfiles; i++)
		packed |= k->set.files[i].h.status & KDUMP_COMPRESSED;
	return packed;
}

static void kdump_threads(struct atw_source *s, unsigned n)
{
	static const struct page_ahead_ops ops = {
		kdump_unpack_page, sizeof(struct kdump_unpacker), kdump_drop_unpacker,
	};
	struct kdump_source *k = s->impl;

	page_ahead_close(k->ahead);
	k->ahead = n && kdump_is_packed(k)
			   ? page_ahead_open(&ops, k, (size_t)1 << k->set.shift, n) : NULL;
}

/* Those that are stored, and were not unpacked lately. */
static bool kdump_ahead(struct atw_source *s, const uint64_t *pa, size_t n)
{
	struct kdump_source *k = s->impl;
	uint64_t want[64];
	size_t m = 0;

	for (size_t i = 0; k->ahead && i < n; i++) {
		uint64_t pfn = pa[i] >> k->set.shift;

		if (pfn < k->set.max_pfn && !page_cache_find(&k->cache, pfn) &&
		    kdump_span_kind(kdump_set_span(&k->set, pfn), pfn) == ATW_DATA)
			want[m++] = pfn;
		if (m == ARRAY_SIZE(want) || (m && i + 1 == n)) {
			page_ahead_want(k->ahead, want, m);
			m = 0;
		}
	}
	return k->ahead;
}

/* Of a long read, the pages that follow. */
static void kdump_announce(struct atw_source *s, uint64_t pfn, size_t pages)
{
	struct kdump_source *k = s->impl;
	uint64_t pa[KDUMP_WINDOW] = { 0 };
	size_t n = pages < KDUMP_WINDOW ? pages : KDUMP_WINDOW;

	for (size_t i = 0; i < n; i++)
		pa[i] = (pfn + i) << k->set.shift;
	kdump_ahead(s, pa, n);
}

/* ---- reads ---- */

static ssize_t kdump_read_pages(struct atw_source *s, atw_pa pa, void *buf, size_t len,
				struct atw_err *err)
{
	struct kdump_source *k = s->impl;
	const struct kdump_span *span = NULL;
	uint64_t pfn = pa.u >> k->set.shift;
	size_t size = (size_t)1 << k->set.shift, off = pa.u & (size - 1);
	size_t done = 0, n, pages = 0;
	const void *page = NULL;
	int rc;

	len = MIN(len, SSIZE_MAX);
	for (; done < len && pfn < k->set.max_pfn; pfn++, off = 0, done += n) {
		if (k->ahead && len - done > 2 * size && pages++ % (KDUMP_WINDOW / 2) == 0)
			kdump_announce(s, pfn, (len - done) / size);
		if (!span || pfn >= span->end)
			span = kdump_set_span(&k->set, pfn);
		if (kdump_span_kind(span, pfn) != ATW_DATA)
			break;
		rc = kdump_get_page(k, span->file, pfn, &page, err);
		if (rc < 0) {
			/* What came before is good; the next read will tell. */
			if (done)
				break;
			atw_err_wrap(err, "%s: page at 0x%" PRIx64 " (frame %" PRIu64 ")",
				     span->file->file.path, pfn << k->set.shift, pfn);
			return rc;
		}
		n = size - off < len - done ? size - off : len - done;
		memcpy((char *)buf + done, (const char *)page + off, n);
	}
	return (ssize_t)done;
}

static ssize_t kdump_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	struct kdump_source *k = s->impl;

	return page_cache_read(&k->cache, kdump_read_pages, s, pa, buf, len, err);
}

static int kdump_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	const struct kdump_source *k = s->impl;
	uint64_t pfn = pa.u >> k->set.shift, end = pfn;
	enum atw_extent_kind kind = ATW_NONE;

	/* Runs go on from one part of a split dump into the next. */
	while (end < k->set.max_pfn) {
		const struct kdump_span *span = kdump_set_span(&k->set, end);

		if (end == pfn)
			kind = kdump_span_kind(span, pfn);
		else if (kdump_span_kind(span, end) != kind)
			break;
		end = kdump_span_run(span, kind, end);
		if (end < span->end)
			break;
	}
	if (kind == ATW_NONE && end >= k->set.max_pfn)
		return ATW_END;
	*ret = (struct atw_extent){ pa, (end << k->set.shift) - pa.u, kind };
	return ATW_OK;
}

static int kdump_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	const struct kdump_source *k = s->impl;

	return kdump_facts_get(&k->facts, key, ret);
}

static void kdump_describe(struct atw_source *s, char *buf, size_t len)
{
	const struct kdump_source *k = s->impl;

	kdump_set_describe(&k->set, buf, len);
}

/* ---- opening ---- */

static int kdump_source_probe(struct atw_blob head, const char *path)
{
	struct view v;
	const void *p;
	int sure;

	if (!flattened_probe(head))
		return kdump_probe(head);
	/* What hides inside starts in the first record, as a rule. Anything
	 * but a kdump is still ours to refuse, in words that help. */
	if (flattened_open(head, &v, NULL) < 0)
		return 1;
	sure = view_run(&v, 0, &p) >= 8 ? kdump_probe((struct atw_blob){ p, 8 }) : 0;
	view_deinit(&v);
	return sure ? sure : 1;
}

static int kdump_open(struct atw_source *s, const struct atw_source_spec *spec,
		      struct atw_err *err)
{
	struct kdump_source *k = calloc(1, sizeof(*k));
	size_t block;
	int rc;

	if (!k)
		return atw_err_nomem(err);
	s->impl = k;
	rc = kdump_set_open(&k->set, spec, err) ?:
	     kdump_facts_init(&k->facts, &k->set, err);
	if (rc < 0)
		return rc;
	block = (size_t)1 << k->set.shift;
	if (!page_cache_init(&k->cache, block, CACHE_BYTES))
		return atw_err_nomem(err);
	return ATW_OK;
}

static void kdump_close(struct atw_source *s)
{
	struct kdump_source *k = s->impl;

	if (!k)
		return;
	page_ahead_close(k->ahead);
	page_cache_deinit(&k->cache);
	kdump_drop_unpacker(&k->own);
	kdump_facts_deinit(&k->facts);
	kdump_set_deinit(&k->set);
	free(k);
	s->impl = NULL;
}

const struct atw_source_ops source_kdump = {
	.name = "kdump",
	.help = "kdump-compressed, also flattened or split (makedumpfile, QEMU)",
	.probe = kdump_source_probe,
	.open = kdump_open,
	.close = kdump_close,
	.read = kdump_read,
	.extent = kdump_extent,
	.fact = kdump_fact,
	.describe = kdump_describe,
	.threads = kdump_threads,
	.ahead = kdump_ahead,
};
