// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * avml.c - source of AVML files: LiME ranges, each a stream of snappy chunks of up to
 * 64 KiB.
 *
 * All chunks of the file, unpacked and put end to end, make one long stream.
 * A range of memory is a piece of that stream, so the extent table holds
 * positions in it, and the chunk that has a position is found by bisection.
 * Only headers are looked at when the file is opened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/codec.h"
#include "base/message.h"
#include "base/sorted.h"
#include "format/avml.h"
#include "source/extents.h"
#include "source/source.h"
#include "source/mapped.h"
#include "source/page_cache.h"

enum { CACHE = 16 << 20 };       /* bytes of unpacked chunks */

struct index {
	uint64_t pos;            /* in the stream */
	uint64_t at;             /* of the chunk's header in the file */
};

struct avml {
	struct mapped m;         /* offsets of its map are positions in the stream */
	struct index *index;
	size_t nchunks, cap;
	uint64_t pos;            /* the stream's length */
	struct page_cache cache; /* by number of chunk */
	struct crc32c crc;
	bool short_file;
	unsigned blocks;
};

static int avml_probe(struct atw_blob head, const char *path)
{
	const uint8_t *p = blob_at(head, 0, 8);

	return p && get_le32(p) == AVML_MAGIC ? 100 : 0;
}

static int avml_index_chunk(struct avml *a, const struct avml_chunk *c,
			    struct atw_err *err)
{
	if (c->packed && !codec_have(CODEC_SNAPPY)) {
		atw_err_set(err, ATW_E_UNSUPPORTED,
			    "snappy chunk at 0x%" PRIx64 ": this build cannot unpack snappy",
			    c->at);
		atw_err_hint(err, "install libsnappy's development files and rebuild");
		return ATW_E_UNSUPPORTED;
	}
	if (!ARRAY_ROOM(a->index, a->nchunks, a->cap))
		return atw_err_nomem(err);
	a->index[a->nchunks++] = (struct index){ a->pos, c->at };
	a->pos += c->raw;
	return ATW_OK;
}

/*
 * Index the chunks of one range and check the length behind them. Sets
 * a->short_file when the file ends before all of it was seen.
 */
static int avml_index_range(struct avml *a, const struct lime_range *range,
			    uint64_t *next, struct atw_err *err)
{
	uint64_t off = range->data, start = a->pos;
	const uint8_t *trailer;
	struct avml_chunk c;
	int r;

	while (a->pos - start < range->len) {
		r = avml_chunk(a->m.file.map, off, &c, err);
		if (r < 0)
			return r;
		if (r == ATW_END) {
			a->short_file = true;
			break;
		}
		if (c.raw > range->len - (a->pos - start))
			return atw_err_set(err, ATW_E_DAMAGED,
				"snappy chunk at 0x%" PRIx64 ": goes past the end of its range",
				c.at);
		r = avml_index_chunk(a, &c, err);
		if (r < 0)
			return r;
		off = c.next;
	}
	r = extents_add(&a->m.map, range->start, a->pos - start, start, ATW_DATA, err);
	if (r < 0 || a->short_file)
		return r;

	trailer = blob_at(a->m.file.map, off, 8);
	if (!trailer) {
		a->short_file = true;
		return ATW_OK;
	}
	if (get_le64(trailer) != off - range->data)
		return atw_err_set(err, ATW_E_DAMAGED,
			"length at 0x%" PRIx64 ": says 0x%" PRIx64 " bytes of snappy data, and there are 0x%" PRIx64,
			off, get_le64(trailer), off - range->data);
	*next = off + 8;
	return ATW_OK;
}

static int avml_index_file(struct avml *a, struct atw_err *err)
{
	uint64_t off = 0;
	struct lime_range range;
	int r;

	while (off < a->m.file.map.len && !a->short_file) {
		r = lime_header(a->m.file.map, off, AVML_MAGIC, AVML_VERSION,
				&range, err);
		if (r < 0)
			return r;
		if (r == ATW_END) {
			a->short_file = true;
			break;
		}
		r = avml_index_range(a, &range, &off, err);
		if (r < 0) {
			atw_err_wrap(err, "range header at 0x%" PRIx64, range.at);
			return r;
		}
		a->blocks++;
	}
	if (!a->nchunks)
		return atw_err_set(err, ATW_E_DAMAGED,
			"range header at 0x0: the file ends (0x%zx bytes) before any memory",
			a->m.file.map.len);
	if (a->short_file)
		snprintf(a->m.truncated, sizeof(a->m.truncated),
			 _("ends in the middle of a range of memory (at 0x%zx); is it still being written?"),
			 a->m.file.map.len);
	return extents_build(&a->m.map, err);
}

static int avml_open(struct atw_source *s, const struct atw_source_spec *spec,
		     struct atw_err *err)
{
	struct avml *a;
	int r = mapped_open(s, spec, sizeof(*a), err);

	if (r < 0)
		return r;
	a = s->impl;
	crc32c_init(&a->crc);
	r = avml_index_file(a, err);
	if (r < 0)
		return r;
	if (!page_cache_init(&a->cache, AVML_CHUNK_MAX, CACHE))
		return atw_err_nomem(err);
	return ATW_OK;
}

static void avml_close(struct atw_source *s)
{
	struct avml *a = s->impl;

	if (a) {
		page_cache_deinit(&a->cache);
		free(a->index);
	}
	mapped_close(s);
}

/* The chunk that holds a position in the stream. */
static size_t avml_chunk_at(const struct avml *a, uint64_t pos)
{
	size_t n = SORTED_UP_TO(a->index, a->nchunks, pos, pos);

	return n ? n - 1 : 0;
}

static uint64_t avml_chunk_end(const struct avml *a, size_t chunk)
{
	return chunk + 1 < a->nchunks ? a->index[chunk + 1].pos : a->pos;
}

static int avml_unpack(struct avml *a, size_t chunk, void *out, struct atw_err *err)
{
	const uint8_t *in;
	struct avml_chunk c;
	size_t len;
	int r = avml_chunk(a->m.file.map, a->index[chunk].at, &c, err);

	/* It parsed when the file was opened; files can change. */
	if (r != ATW_OK)
		return atw_err_set(err, ATW_E_IO, "the file has changed while it was read");
	in = (const uint8_t *)a->m.file.map.data + c.data;
	len = c.len;
	if (c.packed)
		r = codec_decompress(CODEC_SNAPPY, in, c.len, out,
				     AVML_CHUNK_MAX, &len, err);
	else
		memcpy(out, in, c.len);
	if (r < 0) {
		atw_err_wrap(err, "snappy chunk at 0x%" PRIx64, c.at);
		return r;
	}
	if (len != avml_chunk_end(a, chunk) - a->index[chunk].pos)
		return atw_err_set(err, ATW_E_DAMAGED,
			"snappy chunk at 0x%" PRIx64 ": unpacks to %zu bytes, not %u",
			c.at, len, c.raw);
	if (crc32c_masked(&a->crc, out, len) != c.sum)
		return atw_err_set(err, ATW_E_DAMAGED,
			"snappy chunk at 0x%" PRIx64 ": checksum is wrong", c.at);
	return ATW_OK;
}

/* The bytes of a chunk, good until the next call. */
static int avml_chunk_get(struct avml *a, size_t chunk, const uint8_t **ret,
			  struct atw_err *err)
{
	void *room;
	int r;

	*ret = page_cache_find(&a->cache, chunk);
	if (*ret)
		return ATW_OK;
	room = page_cache_claim(&a->cache, chunk);
	r = avml_unpack(a, chunk, room, err);
	if (r < 0)
		return r;
	page_cache_commit(&a->cache, chunk);
	*ret = room;
	return ATW_OK;
}

static ssize_t avml_read_chunks(struct atw_source *s, atw_pa pa, void *buf, size_t len,
				struct atw_err *err)
{
	struct avml *a = s->impl;
	size_t done = 0;

	while (done < len) {
		uint64_t at = pa.u + done, pos, n;
		const struct extent *e = extents_find(&a->m.map, at);
		const uint8_t *bytes = NULL;
		size_t chunk;
		int r;

		if (!e)
			break;
		pos = e->off + (at - e->start);
		chunk = avml_chunk_at(a, pos);
		r = avml_chunk_get(a, chunk, &bytes, err);
		if (r < 0) {
			atw_err_wrap(err, "%s", a->m.file.path);
			return r;
		}
		/* An extent may go on in another chunk, a chunk in another extent. */
		n = avml_chunk_end(a, chunk) - pos;
		if (n > e->len - (at - e->start))
			n = e->len - (at - e->start);
		if (n > len - done)
			n = len - done;
		memcpy((char *)buf + done, bytes + (pos - a->index[chunk].pos), n);
		done += n;
	}
	return (ssize_t)done;
}

static ssize_t avml_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			 struct atw_err *err)
{
	struct avml *a = s->impl;

	return page_cache_read(&a->cache, avml_read_chunks, s, pa, buf, len, err);
}

static int avml_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct avml *a = s->impl;

	return extents_extent(&a->m.map, pa, ret);
}

/* "truncated", as in mapped.h. */
static int avml_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct avml *a = s->impl;

	if (strcmp(key, "truncated") || !a->m.truncated[0])
		return ATW_E_MISSING;
	*ret = (struct atw_blob){ a->m.truncated, strlen(a->m.truncated) };
	return ATW_OK;
}

static void avml_describe(struct atw_source *s, char *buf, size_t len)
{
	struct avml *a = s->impl;

	snprintf(buf, len, "AVML, snappy, %u range%s, %zu chunks", a->blocks,
		 a->blocks == 1 ? "" : "s", a->nchunks);
}

/* No peek: what is unpacked makes room for other chunks later. */
const struct atw_source_ops source_avml = {
	.name = "avml",
	.help = "AVML: LiME ranges compressed with snappy",
	.probe = avml_probe,
	.open = avml_open,
	.close = avml_close,
	.read = avml_read,
	.extent = avml_extent,
	.fact = avml_fact,
	.describe = avml_describe,
};
