/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec.h - the compressions dumps use, each an optional library.
 *
 * What comes in is never trusted: output is bounded by `outcap`, and input
 * that does not decompress is an error, never a short or zero-filled answer.
 */
#ifndef BASE_CODEC_H
#define BASE_CODEC_H

#include <atwalk/base.h>

enum codec {
	CODEC_ZLIB,
	CODEC_LZO,               /* LZO1X */
	CODEC_SNAPPY,            /* one raw block; frames are the caller's */
	CODEC_ZSTD,
};

/* Was this build linked with the library? */
bool codec_have(enum codec codec);
const char *codec_name(enum codec codec);

/*
 * The decoders' state, kept from one page to the next: without it zlib and
 * zstd allocate and free some 50 to 150 KiB for every page of a dump. All
 * zeroes is a valid start; the state is allocated on first use. A context is
 * for one thread at a time.
 */
struct codec_ctx {
	void *zlib;
	void *zstd;
	void *packed;            /* a copy of the input, see codec.c */
	size_t packed_cap;
};

void codec_ctx_deinit(struct codec_ctx *ctx);

/*
 * Decompress all of `in` into at most `outcap` bytes and tell how many it
 * were. `ctx` may be NULL for a single use. ATW_E_DAMAGED: the input is not
 * what the codec writes, or needs more than `outcap`; `out` then holds
 * rubbish. ATW_E_UNSUPPORTED: this build lacks the library.
 */
int codec_decompress_ctx(struct codec_ctx *ctx, enum codec codec,
			 const void *in, size_t inlen,
			 void *out, size_t outcap, size_t *ret,
			 struct atw_err *err);
int codec_decompress(enum codec codec, const void *in, size_t inlen,
		     void *out, size_t outcap, size_t *ret,
		     struct atw_err *err);

#endif
