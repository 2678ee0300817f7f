/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * avml.h - AVML's compressed form of LiME: range headers with their own magic
 * and version 2, each followed by a stream in snappy's framing format and then
 * by that stream's length in 8 bytes. Pure.
 *
 * AVML leaves out blocks of up to 16 MiB that are all zeroes, and what it left
 * out looks the same as what was never memory.
 */
#ifndef FORMAT_AVML_H
#define FORMAT_AVML_H

#include <atwalk/base.h>

enum {
	AVML_MAGIC = 0x4c4d5641,
	AVML_VERSION = 2,
	AVML_CHUNK_MAX = 65536,  /* bytes of memory a chunk may stand for */
};

/* One chunk of the stream that carries data. */
struct avml_chunk {
	uint64_t at;             /* of the chunk's header in the file */
	uint64_t data;           /* of its contents, checksum passed */
	uint32_t len;            /* of its contents */
	uint32_t raw;            /* bytes of memory it stands for */
	uint32_t sum;            /* masked CRC-32C of those */
	bool packed;             /* a snappy block; else the bytes themselves */
	uint64_t next;           /* where the next chunk starts */
};

/*
 * The first chunk at or after `off` that carries data. ATW_END when the end
 * of the file cuts it off.
 */
int avml_chunk(struct atw_blob file, uint64_t off, struct avml_chunk *ret,
	       struct atw_err *err);

/* CRC-32C by eight bytes at a time. The tables are the caller's to keep. */
struct crc32c {
	uint32_t table[8][256];
};

void crc32c_init(struct crc32c *c);
uint32_t crc32c(const struct crc32c *c, const void *data, size_t len);
/* The way the framing format stores it, section 3. */
uint32_t crc32c_masked(const struct crc32c *c, const void *data, size_t len);

#endif
