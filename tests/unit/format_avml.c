// SPDX-License-Identifier: GPL-2.0-or-later
/* AVML chunks and their CRC-32C are parsed, and malformed ones are refused. */
#include "test.h"
#include "unit/image.h"

#include "format/avml.h"

static uint32_t crc(const void *data, size_t len)
{
	static struct crc32c c;

	crc32c_init(&c);
	return crc32c(&c, data, len);
}

TEST(crc32c_matches_rfc_3720)
{
	uint8_t b[32];

	CHECK_EQ(crc("", 0), 0);
	CHECK_EQ(crc("123456789", 9), 0xe3069283);
	memset(b, 0, 32);
	CHECK_EQ(crc(b, 32), 0x8a9136aa);
	memset(b, 0xff, 32);
	CHECK_EQ(crc(b, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		b[i] = (uint8_t)i;
	CHECK_EQ(crc(b, 32), 0x46dd794e);
}

TEST(crc32c_is_masked_as_the_format_says)
{
	static struct crc32c c;

	crc32c_init(&c);
	/* rotate right by 15, add 0xa282ead8 */
	CHECK_EQ(crc32c_masked(&c, "", 0), 0xa282ead8);
	CHECK_EQ(crc32c_masked(&c, "123456789", 9),
		 (uint32_t)((0xe3069283u >> 15 | 0xe3069283u << 17) + 0xa282ead8u));
}

static void chunk(struct image *im, unsigned type, const void *body, size_t len)
{
	size_t at = im->len;

	put_le(im, at, 1, type);
	put_le(im, at + 1, 3, len);
	put(im, at + 4, body, len);
}

TEST(finds_chunks_that_carry_data)
{
	struct image im = { 0 };
	struct avml_chunk c;

	chunk(&im, 0xff, "sNaPpY", 6);
	chunk(&im, 0xfe, "padding", 7);
	chunk(&im, 0x80, "?", 1);
	chunk(&im, 0x01, "\1\2\3\4bytes", 9);
	chunk(&im, 0x00, "\5\6\7\0\x80\x80\4 etc", 11);  /* 65536 unpacked */
	CHECK_EQ(avml_chunk(image_blob(&im), 0, &c, NULL), ATW_OK);
	CHECK_EQ(c.at, 10 + 11 + 5);
	CHECK(!c.packed);
	CHECK_EQ(c.sum, 0x04030201);
	CHECK_EQ(c.len, 5);
	CHECK_EQ(c.raw, 5);
	CHECK_EQ(c.data, c.at + 8);
	CHECK(!memcmp(im.data + c.data, "bytes", 5));
	CHECK_EQ(c.next, c.at + 13);
	CHECK_EQ(avml_chunk(image_blob(&im), c.next, &c, NULL), ATW_OK);
	CHECK(c.packed);
	CHECK_EQ(c.raw, 65536);
	CHECK_EQ(c.len, 7);
	CHECK_EQ(c.next, im.len);
	CHECK_EQ(avml_chunk(image_blob(&im), c.next, &c, NULL), ATW_END);
	/* Cut anywhere within the last one. */
	while (--im.len > c.at)
		CHECK_EQ(avml_chunk(image_blob(&im), c.at, &c, NULL), ATW_END);
	image_free(&im);
}

static int one(unsigned type, const void *body, size_t len, struct atw_err *err)
{
	struct image im = { 0 };
	struct avml_chunk c;
	int r;

	chunk(&im, type, body, len);
	r = avml_chunk(image_blob(&im), 0, &c, err);
	image_free(&im);
	return r;
}

TEST(refuses_what_cannot_be)
{
	struct atw_err err = { 0 };

	CHECK_EQ(one(0x02, "abcd", 4, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "snappy chunk at 0x0: type 0x02 is not defined");
	CHECK_EQ(one(0xff, "sNaPpX", 6, &err), ATW_E_DAMAGED);
	CHECK_EQ(one(0x00, "abc", 3, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "snappy chunk at 0x0: 3 bytes leave no room for a checksum");
	/* No length, one that never ends, one too large, none at all. */
	CHECK_EQ(one(0x00, "abcd", 4, &err), ATW_E_DAMAGED);
	CHECK_EQ(one(0x00, "abcd\xff\xff\xff\xff\xff\xff", 10, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "snappy chunk at 0x0: has no uncompressed length");
	CHECK_EQ(one(0x00, "abcd\x81\x80\4", 7, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "snappy chunk at 0x0: unpacks to 65537 bytes; 1 to 65536 are allowed");
	CHECK_EQ(one(0x01, "abcd", 4, &err), ATW_E_DAMAGED);
}
