// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * avml.c - parser of AVML's compressed format. Sources: src/image.rs of
 * github.com/microsoft/avml; for the stream snappy's framing_format.txt, revision of
 * 2013-10-25.
 */
#include "format/avml.h"

#include <inttypes.h>

#include "base/bytes.h"

enum {
	CHUNK_HEADER = 4,        /* type, then 24 bits of length */
	CHUNK_PACKED = 0x00,
	CHUNK_PLAIN = 0x01,
	CHUNK_SKIPPABLE = 0x80,  /* this type and above, 0xfe (padding) included */
	CHUNK_STREAM = 0xff,
	CHUNK_SUM = 4,
};

/*
 * The uncompressed length at the start of a raw snappy block: a varint, 7 bits per byte,
 * lowest first.
 */
static bool avml_block_length(const uint8_t *p, size_t len, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 5 && i < len; i++) {
		v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (!(p[i] & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static int avml_data_chunk(const uint8_t *body, uint32_t len, struct avml_chunk *c,
			   struct atw_err *err)
{
	uint64_t raw;

	if (len < CHUNK_SUM)
		return atw_err_set(err, ATW_E_DAMAGED,
			"snappy chunk at 0x%" PRIx64 ": %u bytes leave no room for a checksum",
			c->at, len);
	c->sum = get_le32(body);
	c->data = c->at + CHUNK_HEADER + CHUNK_SUM;
	c->len = len - CHUNK_SUM;
	raw = c->len;
	if (c->packed && !avml_block_length(body + CHUNK_SUM, c->len, &raw))
		return atw_err_set(err, ATW_E_DAMAGED,
			"snappy chunk at 0x%" PRIx64 ": has no uncompressed length",
			c->at);
	if (!raw || raw > AVML_CHUNK_MAX)
		return atw_err_set(err, ATW_E_DAMAGED,
			"snappy chunk at 0x%" PRIx64 ": unpacks to %" PRIu64 " bytes; 1 to %d are allowed",
			c->at, raw, AVML_CHUNK_MAX);
	c->raw = (uint32_t)raw;
	return ATW_OK;
}

int avml_chunk(struct atw_blob file, uint64_t off, struct avml_chunk *ret,
	       struct atw_err *err)
{
	for (;;) {
		const uint8_t *p = blob_at(file, off, CHUNK_HEADER);
		const uint8_t *body;
		struct avml_chunk c = { .at = off };
		uint32_t len;

		if (!p)
			return ATW_END;
		len = get_le32(p) >> 8;
		body = blob_at(file, off + CHUNK_HEADER, len);
		if (p[0] != CHUNK_PACKED && p[0] != CHUNK_PLAIN && p[0] < CHUNK_SKIPPABLE)
			return atw_err_set(err, ATW_E_DAMAGED,
				"snappy chunk at 0x%" PRIx64 ": type 0x%02x is not defined",
				off, p[0]);
		if (p[0] == CHUNK_STREAM && (len != 6 || (body && memcmp(body, "sNaPpY", 6))))
			return atw_err_set(err, ATW_E_DAMAGED,
				"snappy chunk at 0x%" PRIx64 ": not the mark a stream starts with",
				off);
		if (!body)
			return ATW_END;
		c.next = off + CHUNK_HEADER + len;
		if (p[0] < CHUNK_SKIPPABLE) {
			int r;

			c.packed = p[0] == CHUNK_PACKED;
			r = avml_data_chunk(body, len, &c, err);
			if (r < 0)
				return r;
			*ret = c;
			return ATW_OK;
		}
		off = c.next;
	}
}

void crc32c_init(struct crc32c *c)
{
	for (unsigned i = 0; i < 256; i++) {
		uint32_t v = i;

		for (unsigned bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? 0x82f63b78 : 0);
		c->table[0][i] = v;
	}
	/* table[k] is table[0] advanced over k zero bytes. */
	for (unsigned k = 1; k < 8; k++)
		for (unsigned i = 0; i < 256; i++) {
			uint32_t v = c->table[k - 1][i];

			c->table[k][i] = v >> 8 ^ c->table[0][v & 0xff];
		}
}

uint32_t crc32c(const struct crc32c *c, const void *data, size_t len)
{
	const uint32_t (*t)[256] = c->table;
	const uint8_t *p = data;
	uint32_t crc = ~0u;

	for (; len >= 8; p += 8, len -= 8) {
		uint32_t lo = get_le32(p) ^ crc, hi = get_le32(p + 4);

		crc = t[7][lo & 0xff] ^ t[6][lo >> 8 & 0xff] ^
		      t[5][lo >> 16 & 0xff] ^ t[4][lo >> 24] ^
		      t[3][hi & 0xff] ^ t[2][hi >> 8 & 0xff] ^
		      t[1][hi >> 16 & 0xff] ^ t[0][hi >> 24];
	}
	while (len--)
		crc = crc >> 8 ^ t[0][(crc ^ *p++) & 0xff];
	return ~crc;
}

uint32_t crc32c_masked(const struct crc32c *c, const void *data, size_t len)
{
	uint32_t crc = crc32c(c, data, len);

	return (crc >> 15 | crc << 17) + 0xa282ead8;
}

/* ---- range headers ---- */

int lime_header(struct atw_blob file, uint64_t off, uint32_t magic,
		uint32_t version, struct lime_range *ret, struct atw_err *err)
{
	const uint8_t *p = blob_at(file, off, LIME_HEADER);
	uint64_t first, last;

	if (!p)
		return ATW_END;
	if (get_le32(p) != magic)
		return atw_err_set(err, ATW_E_DAMAGED,
			"range header at 0x%" PRIx64 ": magic is 0x%08x, not 0x%08x",
			off, get_le32(p), magic);
	if (get_le32(p + 4) != version)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
			"range header at 0x%" PRIx64 ": version is %u, and only %u is known",
			off, get_le32(p + 4), version);
	first = get_le64(p + 8);
	last = get_le64(p + 16);
	/* A range of all 2^64 bytes, or one that ends there, is invalid. */
	if (last < first || last == UINT64_MAX)
		return atw_err_set(err, ATW_E_DAMAGED,
			"range header at 0x%" PRIx64 ": 0x%" PRIx64 "-0x%" PRIx64 " is not a range of memory",
			off, first, last);
	*ret = (struct lime_range){
		.at = off, .start = first, .len = last - first + 1,
		.data = off + LIME_HEADER,
	};
	return ATW_OK;
}
