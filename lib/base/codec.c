/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec.c - one small wrapper for each decompression library, and the table of them. */
#include "base/codec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/message.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZO
#include <lzo/lzo1x.h>
#endif
#ifdef HAVE_SNAPPY
#include <dlfcn.h>
#include <snappy-c.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

struct codec_io {
	const void *in;
	size_t inlen;
	void *out;
	size_t outcap;
	size_t outlen;
};

typedef int decompress_fn(struct codec_ctx *ctx, struct codec_io *io,
			  struct atw_err *err);

static __attribute__((unused)) int codec_damaged(struct atw_err *err, enum codec c,
						 const struct codec_io *io,
						 const char *why)
{
	return atw_err_set(err, ATW_E_DAMAGED,
			   "%zu bytes of %s data do not decompress: %s",
			   io->inlen, codec_name(c), message(why));
}

#ifdef HAVE_ZLIB
static int codec_zlib_decompress(struct codec_ctx *ctx, struct codec_io *io,
				 struct atw_err *err)
{
	z_stream *z = ctx->zlib;
	int rc;

	/* zlib counts in 32 bits, which is more than any caller needs. */
	if (io->inlen > UINT_MAX || io->outcap > UINT_MAX)
		return codec_damaged(err, CODEC_ZLIB, io, "too long");
	if (!z) {
		z = calloc(1, sizeof(*z));
		if (!z)
			return atw_err_nomem(err);
		rc = inflateInit(z);
		if (rc != Z_OK) {
			free(z);
			return atw_err_set(err, ATW_E_NOMEM,
					   "zlib does not start: %s", zError(rc));
		}
		ctx->zlib = z;
	} else if (inflateReset(z) != Z_OK) {
		return codec_damaged(err, CODEC_ZLIB, io, "zlib does not reset");
	}

	/* Old zlib lacks const here; it does not write to its input. */
	z->next_in = (Bytef *)(uintptr_t)io->in;
	z->avail_in = (uInt)io->inlen;
	z->next_out = io->out;
	z->avail_out = (uInt)io->outcap;
	rc = inflate(z, Z_FINISH);
	if (rc != Z_STREAM_END) {
		if (rc == Z_NEED_DICT)
			return codec_damaged(err, CODEC_ZLIB, io,
					     "it wants a dictionary");
		if (rc == Z_MEM_ERROR)
			return atw_err_nomem(err);
		if (rc == Z_OK || rc == Z_BUF_ERROR)
			return codec_damaged(err, CODEC_ZLIB, io,
					     z->avail_out
						     ? "it ends early"
						     : "it is longer than it may be");
		return codec_damaged(err, CODEC_ZLIB, io, z->msg ? z->msg : zError(rc));
	}
	if (z->avail_in)
		return codec_damaged(err, CODEC_ZLIB, io, "other bytes follow its end");
	io->outlen = io->outcap - z->avail_out;
	return 0;
}
#else
#define codec_zlib_decompress NULL
#endif

#ifdef HAVE_LZO
static const char *codec_lzo_why(int rc)
{
	switch (rc) {
	case LZO_E_INPUT_OVERRUN:
	case LZO_E_EOF_NOT_FOUND:
		return "it ends early";
	case LZO_E_OUTPUT_OVERRUN:
		return "it is longer than it may be";
	case LZO_E_LOOKBEHIND_OVERRUN:
		return N_("it refers to bytes before its start");
	case LZO_E_INPUT_NOT_CONSUMED:
		return "other bytes follow its end";
	default:
		return "corrupt";
	}
}

static int codec_lzo_decompress(struct codec_ctx *ctx, struct codec_io *io,
				struct atw_err *err)
{
	lzo_uint n = io->outcap;
	int rc;

	/* It only checks that header and library agree on sizes; it keeps no state. */
	if (lzo_init() != LZO_E_OK)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "the lzo2 library does not fit this build");
	rc = lzo1x_decompress_safe(io->in, io->inlen, io->out, &n, NULL);
	if (rc != LZO_E_OK)
		return codec_damaged(err, CODEC_LZO, io, codec_lzo_why(rc));
	io->outlen = n;
	return 0;
}
#else
#define codec_lzo_decompress NULL
#endif

#ifdef HAVE_SNAPPY
/*
 * The library is loaded when it is needed: it depends on the C++ library, and relocating that
 * takes a fifth of the time that the program needs to start.
 */
struct codec_snappy {
	void *lib;
	__typeof__(snappy_uncompressed_length) *length;
	__typeof__(snappy_uncompress) *uncompress;
};

static void codec_snappy_unload(struct codec_snappy *s)
{
	if (s && s->lib)
		dlclose(s->lib);
	free(s);
}

static int codec_snappy_load(struct codec_snappy **ret, struct atw_err *err)
{
	struct codec_snappy *s = calloc(1, sizeof(*s));

	if (!s)
		return atw_err_nomem(err);
#ifdef SNAPPY_LINKED
	s->length = snappy_uncompressed_length;
	s->uncompress = snappy_uncompress;
#else
	s->lib = dlopen("libsnappy.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (s->lib) {
		s->length = (__typeof__(s->length))dlsym(s->lib, "snappy_uncompressed_length");
		s->uncompress = (__typeof__(s->uncompress))dlsym(s->lib, "snappy_uncompress");
	}
#endif
	if (!s->length || !s->uncompress) {
		atw_err_set(err, ATW_E_UNSUPPORTED, "cannot decompress snappy: %s", dlerror());
		atw_err_hint(err, "install libsnappy1v5");
		codec_snappy_unload(s);
		return ATW_E_UNSUPPORTED;
	}
	*ret = s;
	return ATW_OK;
}

static int codec_snappy_decompress(struct codec_ctx *ctx, struct codec_io *io,
				   struct atw_err *err)
{
	size_t n;
	int rc = ctx->snappy ? ATW_OK : codec_snappy_load(&ctx->snappy, err);

	if (rc < 0)
		return rc;
	if (ctx->snappy->length(io->in, io->inlen, &n) != SNAPPY_OK)
		return codec_damaged(err, CODEC_SNAPPY, io,
				     "it does not start with a length");
	if (n > io->outcap)
		return codec_damaged(err, CODEC_SNAPPY, io,
				     "it is longer than it may be");
	n = io->outcap;
	if (ctx->snappy->uncompress(io->in, io->inlen, io->out, &n) != SNAPPY_OK)
		return codec_damaged(err, CODEC_SNAPPY, io, "corrupt");
	io->outlen = n;
	return 0;
}
#else
#define codec_snappy_decompress NULL
#endif

#ifdef HAVE_ZSTD
static int codec_zstd_decompress(struct codec_ctx *ctx, struct codec_io *io,
				 struct atw_err *err)
{
	size_t n;

	if (!ctx->zstd)
		ctx->zstd = ZSTD_createDCtx();
	if (!ctx->zstd)
		return atw_err_nomem(err);
	n = ZSTD_decompressDCtx(ctx->zstd, io->out, io->outcap, io->in, io->inlen);
	if (ZSTD_isError(n))
		return codec_damaged(err, CODEC_ZSTD, io, ZSTD_getErrorName(n));
	io->outlen = n;
	return 0;
}
#else
#define codec_zstd_decompress NULL
#endif

static const struct {
	const char *name;
	const char *package;     /* name of the package in Debian */
	decompress_fn *decompress;
} codecs[] = {
	[CODEC_ZLIB] = {"zlib", "zlib1g-dev", codec_zlib_decompress},
	[CODEC_LZO] = {"lzo", "liblzo2-dev", codec_lzo_decompress},
	[CODEC_SNAPPY] = {"snappy", "libsnappy-dev", codec_snappy_decompress},
	[CODEC_ZSTD] = {"zstd", "libzstd-dev", codec_zstd_decompress},
};

bool codec_have(enum codec codec)
{
	return (size_t)codec < ARRAY_SIZE(codecs) && codecs[codec].decompress;
}

const char *codec_name(enum codec codec)
{
	return (size_t)codec < ARRAY_SIZE(codecs) ? codecs[codec].name : "unknown";
}

void codec_ctx_deinit(struct codec_ctx *ctx)
{
#ifdef HAVE_ZLIB
	if (ctx->zlib)
		inflateEnd(ctx->zlib);
	free(ctx->zlib);
#endif
#ifdef HAVE_SNAPPY
	codec_snappy_unload(ctx->snappy);
#endif
#ifdef HAVE_ZSTD
	ZSTD_freeDCtx(ctx->zstd);
#endif
	free(ctx->packed);
	*ctx = (struct codec_ctx){ 0 };
}

int codec_decompress_ctx(struct codec_ctx *ctx, enum codec codec,
			 const void *in, size_t inlen,
			 void *out, size_t outcap, size_t *ret,
			 struct atw_err *err)
{
	struct codec_io io = {
		.in = in, .inlen = inlen, .out = out, .outcap = outcap,
	};
	struct codec_ctx once = { 0 }, *used = ctx ? ctx : &once;
	int rc;

	if ((size_t)codec >= ARRAY_SIZE(codecs))
		return atw_err_set(err, ATW_E_USAGE, "no compression number %d",
				   (int)codec);
	if (!codecs[codec].decompress) {
		atw_err_set(err, ATW_E_UNSUPPORTED,
			    "this build has no %s: install %s and build again",
			    codecs[codec].name, codecs[codec].package);
		return ATW_E_UNSUPPORTED;
	}
	/*
	 * The input is mapped from a file that other processes may change meanwhile. Some
	 * decoders read parts of it twice (snappy its length) and trust the first
	 * reading.
	 */
	if (!array_reserve(&used->packed, &used->packed_cap, inlen ? inlen : 1, 1)) {
		rc = atw_err_nomem(err);
	} else {
		memcpy(used->packed, in, inlen);
		io.in = used->packed;
		rc = codecs[codec].decompress(used, &io, err);
	}
	if (!ctx)
		codec_ctx_deinit(&once);
	if (rc == 0)
		*ret = io.outlen;
	return rc;
}

int codec_decompress(enum codec codec, const void *in, size_t inlen,
		     void *out, size_t outcap, size_t *ret,
		     struct atw_err *err)
{
	return codec_decompress_ctx(NULL, codec, in, inlen, out, outcap, ret, err);
}
