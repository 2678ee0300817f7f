/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec.h - the compressions used by dumps, each an optional library.
 *
 * The input is not trusted: output is bounded by `outcap`, and input that cannot be
 * decompressed is an error, never a short or zero-filled result.
 */
#pragma once

#include <atwalk/base.h>

enum codec {
	CODEC_ZLIB,
	CODEC_LZO,               /* LZO1X */
	CODEC_SNAPPY,            /* one raw block; the caller handles frames */
	CODEC_ZSTD,
};

/* Was this build linked with the library? */
bool codec_have(enum codec codec);
const char *codec_name(enum codec codec);

/*
 * State of the decoders that is reused for the next page: without it zlib and zstd
 * allocate and free 50 to 150 KiB for every page of a dump. A zeroed struct is a valid
 * start; the state is allocated on first use. A context may only be used by one thread at
 * a time.
 */
struct codec_ctx {
	void *zlib;
	void *zstd;
	struct codec_snappy *snappy;
	void *packed;            /* a copy of the input, see codec.c */
	size_t packed_cap;
};

void codec_ctx_deinit(struct codec_ctx *ctx);

/*
 * Decompress all of `in` into at most `outcap` bytes; *ret is how many it were. `ctx` may
 * be NULL for a single use. ATW_E_DAMAGED: the input is not valid for this codec or needs
 * more than `outcap`; the contents of `out` are undefined then. ATW_E_UNSUPPORTED: this
 * build lacks the library.
 */
int codec_decompress_ctx(struct codec_ctx *ctx, enum codec codec,
			 const void *in, size_t inlen,
			 void *out, size_t outcap, size_t *ret,
			 struct atw_err *err);
int codec_decompress(enum codec codec, const void *in, size_t inlen,
		     void *out, size_t outcap, size_t *ret,
		     struct atw_err *err);
