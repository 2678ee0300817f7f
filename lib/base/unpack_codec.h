/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack_codec.h - streams of optional decompression libraries, for unpack.c. */
#pragma once

#include <atwalk/base.h>

enum { UNPACK_MAGIC = 10 };      /* bytes that tell them apart */

struct unpack_step {
	void *out;
	size_t outlen, made;
	const void *in;
	size_t inlen, used;
	const char *why;         /* of a failure */
};

struct unpack_codec {
	const char *name;
	const char *tool;        /* that unpacks a file: "zstd -d" */
	const char *package;     /* Debian's, for building */
	const char *magic;
	size_t magic_len;
	/* All NULL: this build lacks it. */
	void *(*start)(void);    /* NULL: no memory */
	/*
	 * Decompress what fits. 1: inside of a frame; 0: at the end of one, and another one
	 * may follow; < 0: it cannot be decompressed.
	 */
	int (*step)(void *state, struct unpack_step *io);
	void (*restart)(void *state);
	void (*end)(void *state);
};

/* By the first bytes; NULL: none of them. */
const struct unpack_codec *unpack_codec_of(struct atw_blob head);
int unpack_codec_absent(const struct unpack_codec *c, struct atw_err *err);
