/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * avml.h - AVML's compressed variant of LiME: range headers with their own magic and
 * version 2, each followed by a stream in snappy's framing format and by the length of
 * that stream in 8 bytes. Pure.
 *
 * AVML omits blocks of up to 16 MiB that are all zeroes; they cannot be distinguished
 * from addresses without memory.
 */
#pragma once

#include <atwalk/base.h>

enum {
	AVML_MAGIC = 0x4c4d5641,
	AVML_VERSION = 2,
	AVML_CHUNK_MAX = 65536,  /* bytes of memory in one chunk at most */
};

/* A chunk of the stream that contains data. */
struct avml_chunk {
	uint64_t at;             /* of the chunk's header in the file */
	uint64_t data;           /* of its contents, behind the checksum */
	uint32_t len;            /* of its contents */
	uint32_t raw;            /* uncompressed length */
	uint32_t sum;            /* masked CRC-32C of the uncompressed bytes */
	bool packed;             /* a snappy block; else uncompressed */
	uint64_t next;           /* where the next chunk starts */
};

/* The first chunk at or after `off` that contains data. ATW_END if it is truncated. */
int avml_chunk(struct atw_blob file, uint64_t off, struct avml_chunk *ret,
	       struct atw_err *err);

/* CRC-32C, slicing by eight. The caller keeps the tables. */
struct crc32c {
	uint32_t table[8][256];
};

void crc32c_init(struct crc32c *c);
uint32_t crc32c(const struct crc32c *c, const void *data, size_t len);
/* Masked as the framing format stores it, section 3. */
uint32_t crc32c_masked(const struct crc32c *c, const void *data, size_t len);

/* ---- lime ---- */

/*
 * The LiME format: ranges of memory, each preceded by a header of 32 bytes { u32
 * magic, u32 version, u64 first, u64 last (inclusive), u64 0 }. AVML has another magic
 * and version in the same header. Pure.
 */

enum {
	LIME_HEADER = 32,
	LIME_MAGIC = 0x4c694d45,
	LIME_VERSION = 1,
};

struct lime_range {
	uint64_t at;             /* of the header in the file */
	uint64_t start, len;     /* physical memory, bytes */
	uint64_t data;           /* offset in the file of what follows the header */
};

/*
 * The header at `off`. ATW_END at the end of the file, or if the header is truncated:
 * `off` is below the length then. The data may be truncated as well, which the caller
 * must check.
 */
int lime_header(struct atw_blob file, uint64_t off, uint32_t magic,
		uint32_t version, struct lime_range *ret, struct atw_err *err);
