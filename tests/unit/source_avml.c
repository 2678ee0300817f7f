// SPDX-License-Identifier: GPL-2.0-or-later
/* An AVML file is read as memory; damage is an error and never data. */
#include "test.h"
#include "unit/image.h"

#ifdef HAVE_SNAPPY
#include <snappy-c.h>
#endif

#include "format/avml.h"

/* One chunk of `len` bytes; packed if snappy is at hand and makes it smaller. */
static void put_chunk(struct image *im, const uint8_t *data, size_t len, bool pack)
{
	static struct crc32c c;
	size_t at = im->len, n = len;
	const void *body = data;
#ifdef HAVE_SNAPPY
	char *room = malloc(snappy_max_compressed_length(len));

	n = snappy_max_compressed_length(len);
	if (pack && snappy_compress((const char *)data, len, room, &n) == SNAPPY_OK)
		body = room;
	else
		n = len;
#endif
	crc32c_init(&c);
	put_le(im, at, 1, body == data);
	put_le(im, at + 1, 3, n + 4);
	put_le(im, at + 4, 4, crc32c_masked(&c, data, len));
	put(im, at + 8, body, n);
#ifdef HAVE_SNAPPY
	free(room);
#endif
	(void)pack;
}

/* A range of memory in chunks of 64 KiB, every third one unpacked. */
static void put_range(struct image *im, uint64_t start, const uint8_t *data, size_t len)
{
	size_t from = im->len + 32;

	lime_put(im, im->len, AVML_MAGIC, AVML_VERSION, start, start + len - 1);
	put(im, im->len, "\xff\6\0\0sNaPpY", 10);
	for (size_t off = 0, i = 0; off < len; off += 65536, i++)
		put_chunk(im, data + off, len - off < 65536 ? len - off : 65536,
			  i % 3 != 2);
	put_le(im, im->len, 8, im->len - from);
}

static uint8_t byte_of(size_t i)
{
	return (uint8_t)(i >> 12 ^ (i & 0x40 ? i : 7));
}

enum { FIRST = 700 * 1024, SECOND = 5 * 4096 };

static uint8_t *memory(void)
{
	uint8_t *m = malloc(FIRST + SECOND);

	for (size_t i = 0; i < FIRST + SECOND; i++)
		m[i] = byte_of(i);
	return m;
}

/* FIRST bytes at 1 MiB, SECOND bytes at 0x1000. */
static void whole(struct image *im)
{
	uint8_t *m = memory();

	put_range(im, 0x100000, m, FIRST);
	put_range(im, 0x1000, m + FIRST, SECOND);
	free(m);
}

TEST(reads_memory)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;
	struct atw_err err = { 0 };
	uint8_t *m = memory(), *got = malloc(FIRST + SECOND);
	char line[80];

	whole(&im);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "avml");
	CHECK(!s->ops->peek);
	CHECK_EQ(atw_read(s, ATW_PA(0x100000), got, FIRST + SECOND, &err), FIRST);
	CHECK(!memcmp(got, m, FIRST));
	CHECK_EQ(atw_read(s, ATW_PA(0x1000), got, FIRST + SECOND, &err), SECOND);
	CHECK(!memcmp(got, m + FIRST, SECOND));
	/* Across chunks, and up to the last byte. */
	for (size_t off = 65536 - 8; off + 16 <= FIRST; off += 65536) {
		CHECK_EQ(atw_read(s, ATW_PA(0x100000 + off), got, 16, &err), 16);
		CHECK(!memcmp(got, m + off, 16));
	}
	CHECK_EQ(atw_read(s, ATW_PA(0x100000 + FIRST - 1), got, 16, &err), 1);
	CHECK_EQ(got[0], m[FIRST - 1]);
	CHECK_EQ(atw_read(s, ATW_PA(0xfff), got, 16, &err), 0);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x2000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_DATA);
	CHECK_EQ(e.len, SECOND - 0x1000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x100000 + FIRST), &e), ATW_END);
	CHECK_EQ(atw_fact(s, "truncated", &(struct atw_blob){ 0 }), ATW_E_MISSING);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "AVML, snappy, 2 ranges, 12 chunks");
	atw_source_close(s);
	free(m);
	free(got);
	image_free(&im);
}

TEST(may_be_cut_anywhere)
{
	struct image im = { 0 };
	uint8_t *m = memory();
	size_t first_chunk = 0;

	whole(&im);
	/* Where the first chunk ends. */
	first_chunk = 32 + 10 + 4 + (size_t)(im.data[43] | im.data[44] << 8 | im.data[45] << 16);
	for (size_t len = 1; len < im.len; len += len < 60 || len > im.len - 40 ? 1 : 997) {
		struct atw_source *s = NULL;
		struct atw_err err = { 0 };
		struct atw_blob b;
		uint8_t got;
		int r = image_open(&im, len, &s, &err);

		if (len < first_chunk) {
			CHECK_EQ(r, len < 8 ? ATW_E_FORMAT : ATW_E_DAMAGED);
			continue;
		}
		CHECK_EQ(r, ATW_OK);
		CHECK_EQ(atw_fact(s, "truncated", &b), ATW_OK);
		CHECK_EQ(atw_read(s, ATW_PA(0x100000), &got, 1, &err), 1);
		CHECK_EQ(got, m[0]);
		atw_source_close(s);
	}
	free(m);
	image_free(&im);
}

TEST(a_wrong_checksum_is_an_error_and_not_an_answer)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t *m = calloc(1, 4096), got[16];

	lime_put(&im, 0, AVML_MAGIC, AVML_VERSION, 0, 4095);
	put(&im, 32, "\xff\6\0\0sNaPpY", 10);
	put_chunk(&im, m, 4096, false);
	put_le(&im, im.len, 8, im.len - 32);
	im.data[200] ^= 1;
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_OK);
	for (int again = 0; again < 2; again++) {
		CHECK_EQ(atw_read(s, ATW_PA(0), got, 16, &err), ATW_E_DAMAGED);
		CHECK(strstr(err.text, ": snappy chunk at 0x2a: checksum is wrong"));
		CHECK(!strncmp(err.text, im.path, strlen(im.path)));
	}
	atw_source_close(s);
	free(m);
	image_free(&im);
}

TEST(refuses_what_contradicts_itself)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t *m = calloc(1, 8192);

	lime_put(&im, 0, AVML_MAGIC, AVML_VERSION, 0, 4095);
	put_chunk(&im, m, 4096, false);
	put_le(&im, im.len, 8, 1234);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, ": range header at 0x0: length at 0x1028: says 0x4d2 bytes of snappy data, and there are 0x1008"));
	image_free(&im);

	lime_put(&im, 0, AVML_MAGIC, AVML_VERSION, 0, 4095);
	put_chunk(&im, m, 4097, false);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, ": range header at 0x0: snappy chunk at 0x20: goes past the end of its range"));
	image_free(&im);

	lime_put(&im, 0, AVML_MAGIC, 3, 0, 4095);
	put_chunk(&im, m, 4096, false);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_UNSUPPORTED);
	image_free(&im);
	free(m);
}

#ifdef HAVE_SNAPPY
TEST(a_packed_chunk_that_does_not_unpack_is_an_error)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t *m = memory(), got[16];

	put_range(&im, 0, m, 65536);
	im.data[32 + 10 + 8 + 5] = 0xff;
	im.data[32 + 10 + 8 + 6] = 0xff;
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_OK);
	CHECK_EQ(atw_read(s, ATW_PA(0), got, 16, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, ": snappy chunk at 0x2a: "));
	atw_source_close(s);
	free(m);
	image_free(&im);
}
#endif
