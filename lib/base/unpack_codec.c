// SPDX-License-Identifier: GPL-2.0-or-later
/* unpack_codec.c - each library's stream, and the table of them. */
#include "base/unpack_codec.h"

#include <limits.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/unpack.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

static void *unpack_zstd_start(void)
{
	return ZSTD_createDStream();
}

static int unpack_zstd_step(void *state, struct unpack_step *io)
{
	ZSTD_outBuffer out = { io->out, io->outlen, 0 };
	ZSTD_inBuffer in = { io->in, io->inlen, 0 };
	size_t r = ZSTD_decompressStream(state, &out, &in);

	if (ZSTD_isError(r)) {
		io->why = ZSTD_getErrorName(r);
		return -1;
	}
	io->made = out.pos;
	io->used = in.pos;
	return r != 0;
}

static void unpack_zstd_restart(void *state)
{
	ZSTD_DCtx_reset(state, ZSTD_reset_session_only);
}

static void unpack_zstd_end(void *state)
{
	ZSTD_freeDStream(state);
}
#define UNPACK_ZSTD \
	unpack_zstd_start, unpack_zstd_step, unpack_zstd_restart, unpack_zstd_end
#else
#define UNPACK_ZSTD NULL, NULL, NULL, NULL
#endif

#ifdef HAVE_ZLIB
#include <zlib.h>

enum { UNPACK_GZIP_ONLY = 16 + MAX_WBITS };

static void *unpack_gzip_start(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, UNPACK_GZIP_ONLY) != Z_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

static int unpack_gzip_step(void *state, struct unpack_step *io)
{
	z_stream *z = state;
	uInt in = io->inlen > UINT_MAX ? UINT_MAX : (uInt)io->inlen;
	uInt out = io->outlen > UINT_MAX ? UINT_MAX : (uInt)io->outlen;
	int r;

	/* Old zlib lacks const here; it does not write to its input. */
	z->next_in = (Bytef *)(uintptr_t)io->in;
	z->avail_in = in;
	z->next_out = io->out;
	z->avail_out = out;
	r = inflate(z, Z_NO_FLUSH);
	io->used = in - z->avail_in;
	io->made = out - z->avail_out;
	if (r == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 0 : -1;
	if (r == Z_OK || r == Z_BUF_ERROR)
		return 1;
	io->why = z->msg ? z->msg : zError(r);
	return -1;
}

static void unpack_gzip_restart(void *state)
{
	inflateReset(state);
}

static void unpack_gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}
#define UNPACK_GZIP \
	unpack_gzip_start, unpack_gzip_step, unpack_gzip_restart, unpack_gzip_end
#else
#define UNPACK_GZIP NULL, NULL, NULL, NULL
#endif

#ifdef HAVE_LZMA
#include <lzma.h>

/* xz -9 needs 65 MiB. */
#define UNPACK_XZ_MEMORY (UINT64_C(1) << 30)

static bool unpack_xz_init(lzma_stream *z)
{
	return lzma_stream_decoder(z, UNPACK_XZ_MEMORY, 0) == LZMA_OK;
}

static void *unpack_xz_start(void)
{
	lzma_stream *z = calloc(1, sizeof(*z));

	if (z && !unpack_xz_init(z)) {
		free(z);
		z = NULL;
	}
	return z;
}

static int unpack_xz_step(void *state, struct unpack_step *io)
{
	lzma_stream *z = state;
	lzma_ret r;

	z->next_in = io->in;
	z->avail_in = io->inlen;
	z->next_out = io->out;
	z->avail_out = io->outlen;
	r = lzma_code(z, LZMA_RUN);
	io->used = io->inlen - z->avail_in;
	io->made = io->outlen - z->avail_out;
	if (r == LZMA_STREAM_END)
		return unpack_xz_init(z) ? 0 : -1;
	if (r == LZMA_OK || r == LZMA_BUF_ERROR)
		return 1;
	io->why = r == LZMA_MEMLIMIT_ERROR ? _("it needs more than 1 GiB of memory") :
		  r == LZMA_OPTIONS_ERROR  ? _("it has options that are not supported") :
					     "corrupt";
	return -1;
}

static void unpack_xz_restart(void *state)
{
	unpack_xz_init(state);
}

static void unpack_xz_end(void *state)
{
	lzma_end(state);
	free(state);
}
#define UNPACK_XZ unpack_xz_start, unpack_xz_step, unpack_xz_restart, unpack_xz_end
#else
#define UNPACK_XZ NULL, NULL, NULL, NULL
#endif

#ifdef HAVE_LZ4
#include <lz4frame.h>

static void *unpack_lz4_start(void)
{
	LZ4F_dctx *c = NULL;

	return LZ4F_isError(LZ4F_createDecompressionContext(&c, LZ4F_VERSION)) ? NULL : c;
}

static int unpack_lz4_step(void *state, struct unpack_step *io)
{
	size_t r;

	io->made = io->outlen;
	io->used = io->inlen;
	r = LZ4F_decompress(state, io->out, &io->made, io->in, &io->used, NULL);
	if (LZ4F_isError(r)) {
		io->why = LZ4F_getErrorName(r);
		return -1;
	}
	return r != 0;
}

static void unpack_lz4_restart(void *state)
{
	LZ4F_resetDecompressionContext(state);
}

static void unpack_lz4_end(void *state)
{
	LZ4F_freeDecompressionContext(state);
}
#define UNPACK_LZ4 unpack_lz4_start, unpack_lz4_step, unpack_lz4_restart, unpack_lz4_end
#else
#define UNPACK_LZ4 NULL, NULL, NULL, NULL
#endif

#ifdef HAVE_BZIP2
#include <bzlib.h>

static void *unpack_bzip2_start(void)
{
	bz_stream *z = calloc(1, sizeof(*z));

	if (z && BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

static int unpack_bzip2_again(bz_stream *z)
{
	BZ2_bzDecompressEnd(z);
	*z = (bz_stream){ 0 };
	return BZ2_bzDecompressInit(z, 0, 0) == BZ_OK ? 0 : -1;
}

static int unpack_bzip2_step(void *state, struct unpack_step *io)
{
	bz_stream *z = state;
	unsigned in = io->inlen > UINT_MAX ? UINT_MAX : (unsigned)io->inlen;
	unsigned out = io->outlen > UINT_MAX ? UINT_MAX : (unsigned)io->outlen;
	int r;

	/* bzlib.h lacks const; the library does not write to its input. */
	z->next_in = (char *)(uintptr_t)io->in;
	z->avail_in = in;
	z->next_out = io->out;
	z->avail_out = out;
	r = BZ2_bzDecompress(z);
	io->used = in - z->avail_in;
	io->made = out - z->avail_out;
	if (r == BZ_STREAM_END)
		return unpack_bzip2_again(z);
	if (r == BZ_OK)
		return 1;
	io->why = "corrupt";
	return -1;
}

static void unpack_bzip2_restart(void *state)
{
	unpack_bzip2_again(state);
}

static void unpack_bzip2_end(void *state)
{
	BZ2_bzDecompressEnd(state);
	free(state);
}
#define UNPACK_BZIP2 \
	unpack_bzip2_start, unpack_bzip2_step, unpack_bzip2_restart, unpack_bzip2_end
#else
#define UNPACK_BZIP2 NULL, NULL, NULL, NULL
#endif

static const struct unpack_codec unpack_codecs[] = {
	{ "zstd", "zstd -d", "libzstd-dev", "\x28\xb5\x2f\xfd", 4, UNPACK_ZSTD },
	{ "gzip", "gunzip", "zlib1g-dev", "\x1f\x8b\x08", 3, UNPACK_GZIP },
	{ "xz", "unxz", "liblzma-dev", "\xfd" "7zXZ\0", 6, UNPACK_XZ },
	{ "lz4", "lz4 -d", "liblz4-dev", "\x04\x22\x4d\x18", 4, UNPACK_LZ4 },
	{ "bzip2", "bunzip2", "libbz2-dev", "BZh91AY&SY", 10, UNPACK_BZIP2 },
	/* A container of its own; nothing but lzop reads it. */
	{ "lzop", "lzop -d", NULL, "\x89LZO\0\r\n\x1a\n", 9, NULL, NULL, NULL, NULL },
};

const struct unpack_codec *unpack_codec_of(struct atw_blob head)
{
	for (size_t i = 0; i < ARRAY_SIZE(unpack_codecs); i++) {
		const struct unpack_codec *c = &unpack_codecs[i];
		const char *p = blob_at(head, 0, c->magic_len);

		/* bzip2's fourth byte is the size of its blocks. */
		if (p && !memcmp(p, c->magic, 3) &&
		    (c->magic_len < 4 || !memcmp(p + 4, c->magic + 4, c->magic_len - 4)) &&
		    (c->magic_len < 4 || p[3] == c->magic[3] || c->magic_len == 10))
			return c;
	}
	return NULL;
}

const char *unpack_name(struct atw_blob head)
{
	const struct unpack_codec *c = unpack_codec_of(head);

	return c ? c->name : NULL;
}

int unpack_codec_absent(const struct unpack_codec *c, struct atw_err *err)
{
	if (!c->package) {
		atw_err_set(err, ATW_E_UNSUPPORTED, "packed by %s, which is not supported",
			    c->name);
		atw_err_hint(err, "unpack it with %s", c->tool);
		return ATW_E_UNSUPPORTED;
	}
	atw_err_set(err, ATW_E_UNSUPPORTED, "packed by %s, which this build lacks", c->name);
	atw_err_hint(err, "unpack it with %s, or install %s and build again", c->tool,
		     c->package);
	return ATW_E_UNSUPPORTED;
}
