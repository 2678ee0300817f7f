/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every codec restores what it packed, and refuses input that is not its own. */
#include "test.h"

#include "base/codec.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZO
#include <lzo/lzo1x.h>
#endif
#ifdef HAVE_SNAPPY
#include <snappy-c.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define PAGE 4096

static const enum codec all[] = { CODEC_ZLIB, CODEC_LZO, CODEC_SNAPPY, CODEC_ZSTD };

/* Half text, half noise: compressible, with literals and matches. */
static void make_page(uint8_t *p)
{
	uint32_t x = 12345;

	for (size_t i = 0; i < PAGE; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = i % 1024 < 512 ? (uint8_t)"page tables "[i % 12] : (uint8_t)(x >> 24);
	}
}

/* A malloc of exactly the compressed bytes; NULL: the library is absent. */
static uint8_t *pack(enum codec c, const void *src, size_t len, size_t *ret)
{
	static uint8_t buf[2 * PAGE];
	size_t n = 0;
	uint8_t *p;

	(void)src;
	(void)len;
	switch (c) {
#ifdef HAVE_ZLIB
	case CODEC_ZLIB: {
		uLongf z = sizeof(buf);

		n = compress2(buf, &z, src, len, 6) == Z_OK ? z : 0;
		break;
	}
#endif
#ifdef HAVE_LZO
	case CODEC_LZO: {
		static uint8_t work[LZO1X_1_MEM_COMPRESS] __attribute__((aligned(16)));
		lzo_uint z = sizeof(buf);

		n = lzo1x_1_compress(src, len, buf, &z, work) == LZO_E_OK ? z : 0;
		break;
	}
#endif
#ifdef HAVE_SNAPPY
	case CODEC_SNAPPY:
		n = sizeof(buf);
		if (snappy_compress(src, len, (char *)buf, &n) != SNAPPY_OK)
			n = 0;
		break;
#endif
#ifdef HAVE_ZSTD
	case CODEC_ZSTD:
		n = ZSTD_compress(buf, sizeof(buf), src, len, 3);
		break;
#endif
	default:
		break;
	}
	if (!n)
		return NULL;
	p = malloc(n);
	memcpy(p, buf, n);
	*ret = n;
	return p;
}

TEST(names)
{
	CHECK_STR(codec_name(CODEC_ZLIB), "zlib");
	CHECK_STR(codec_name(CODEC_LZO), "lzo");
	CHECK_STR(codec_name(CODEC_SNAPPY), "snappy");
	CHECK_STR(codec_name(CODEC_ZSTD), "zstd");
	CHECK_STR(codec_name((enum codec)17), "unknown");
	CHECK(!codec_have((enum codec)17));
}

TEST(round_trip)
{
	uint8_t page[PAGE], out[PAGE];
	struct codec_ctx ctx = { 0 };
	struct atw_err err;

	make_page(page);
	for (size_t i = 0; i < 4; i++) {
		size_t len, n = 0;
		uint8_t *p = pack(all[i], page, PAGE, &len);

		if (!p)
			continue;
		CHECK(len < PAGE);
		/* Once alone, and twice with the state that stays. */
		for (int turn = 0; turn < 3; turn++) {
			memset(out, 0, PAGE);
			n = 0;
			CHECK_EQ(codec_decompress_ctx(turn ? &ctx : NULL, all[i], p, len,
						      out, PAGE, &n, &err), 0);
			CHECK_EQ(n, PAGE);
			CHECK(!memcmp(out, page, PAGE));
		}
		free(p);
	}
	codec_ctx_deinit(&ctx);
	codec_ctx_deinit(&ctx);
}

TEST(shorter_than_the_room)
{
	uint8_t page[PAGE], out[PAGE];

	make_page(page);
	for (size_t i = 0; i < 4; i++) {
		size_t len, n = 0;
		uint8_t *p = pack(all[i], page, 1000, &len);

		if (!p)
			continue;
		CHECK_EQ(codec_decompress(all[i], p, len, out, PAGE, &n, NULL), 0);
		CHECK_EQ(n, 1000);
		free(p);
	}
}

TEST(cut_off_anywhere)
{
	uint8_t page[PAGE], out[PAGE];
	struct codec_ctx ctx = { 0 };

	make_page(page);
	for (size_t i = 0; i < 4; i++) {
		size_t len, n;
		uint8_t *p = pack(all[i], page, PAGE, &len);

		for (size_t cut = 0; p && cut < len; cut++) {
			struct atw_err err = { 0 };
			uint8_t *part = malloc(cut ? cut : 1);
			int rc;

			memcpy(part, p, cut);
			n = 4711;
			rc = codec_decompress_ctx(&ctx, all[i], part, cut, out, PAGE,
						  &n, &err);
			free(part);
			/* zstd takes nothing at all for a stream of nothing. */
			if (!cut && all[i] == CODEC_ZSTD && rc == 0) {
				CHECK_EQ(n, 0);
				continue;
			}
			CHECK_EQ(rc, ATW_E_DAMAGED);
			CHECK_EQ(err.status, ATW_E_DAMAGED);
			CHECK_EQ(n, 4711);
			CHECK(strstr(err.text, codec_name(all[i])));
		}
		free(p);
	}
	codec_ctx_deinit(&ctx);
}

TEST(more_than_the_room)
{
	uint8_t page[PAGE], *out = malloc(PAGE - 1);

	make_page(page);
	for (size_t i = 0; i < 4; i++) {
		struct atw_err err = { 0 };
		size_t len, n = 0;
		uint8_t *p = pack(all[i], page, PAGE, &len);

		if (!p)
			continue;
		CHECK_EQ(codec_decompress(all[i], p, len, out, PAGE - 1, &n, &err),
			 ATW_E_DAMAGED);
		CHECK_EQ(codec_decompress(all[i], p, len, out, 0, &n, &err),
			 ATW_E_DAMAGED);
		free(p);
	}
	free(out);
}

/* Nothing is written past the end, and the state survives every failure. */
TEST(every_byte_flipped)
{
	uint8_t page[PAGE], *out = malloc(PAGE);
	struct codec_ctx ctx = { 0 };

	make_page(page);
	for (size_t i = 0; i < 4; i++) {
		size_t len, n;
		uint8_t *p = pack(all[i], page, PAGE, &len);

		for (size_t at = 0; p && at < len; at++) {
			p[at] ^= 0x5a;
			n = 0;
			if (codec_decompress_ctx(&ctx, all[i], p, len, out, PAGE,
						 &n, NULL) == 0)
				CHECK(n <= PAGE);
			p[at] ^= 0x5a;
		}
		if (!p)
			continue;
		CHECK_EQ(codec_decompress_ctx(&ctx, all[i], p, len, out, PAGE, &n, NULL), 0);
		CHECK(!memcmp(out, page, PAGE));
		free(p);
	}
	codec_ctx_deinit(&ctx);
	free(out);
}

TEST(bytes_after_the_end)
{
	uint8_t page[PAGE], out[PAGE];

	make_page(page);
	for (size_t i = 0; i < 4; i++) {
		size_t len, n = 0;
		uint8_t *p = pack(all[i], page, PAGE, &len);

		if (!p)
			continue;
		p = realloc(p, len + 3);
		memcpy(p + len, "abc", 3);
		CHECK_EQ(codec_decompress(all[i], p, len + 3, out, PAGE, &n, NULL),
			 ATW_E_DAMAGED);
		free(p);
	}
}

TEST(a_library_that_is_absent)
{
	struct atw_err err = { 0 };
	bool any = false;
	uint8_t out[16];
	size_t n;

	for (size_t i = 0; i < 4; i++) {
		if (codec_have(all[i]))
			continue;
		any = true;
		CHECK_EQ(codec_decompress(all[i], "x", 1, out, 16, &n, &err),
			 ATW_E_UNSUPPORTED);
		CHECK(strstr(err.text, "this build has no "));
		CHECK(strstr(err.text, "and build again"));
	}
	if (!any)
		SKIP("all four libraries are here");
}
