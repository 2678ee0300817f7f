/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AVML: snappy's framing, its checksum, and the file as a source. */
#include "format/avml.h"
#include "source.h"

/* CRC-32C a bit at a time, to hold the fast one against. */
static uint32_t slow_crc(const uint8_t *p, size_t len)
{
	uint32_t c = ~0u;

	while (len--) {
		c ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
	}
	return ~c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct crc32c crc;
	struct atw_blob file = { data, len };
	struct avml_chunk c;
	uint64_t off = 0;
	size_t some = len < 300 ? len : 300;
	int r = ATW_OK;

	if (!crc.table[0][1])
		crc32c_init(&crc);
	FUZZ_CHECK(crc32c(&crc, data, some) == slow_crc(data, some), "checksum");
	/* From every beginning, for the streams lie behind headers. */
	for (size_t start = 0; start < len && start < 64; start++) {
		struct atw_err err = { 0 };

		for (off = start; (r = avml_chunk(file, off, &c, &err)) == ATW_OK;) {
			FUZZ_CHECK(c.next > off && c.next <= len, "a chunk of no end");
			FUZZ_CHECK(c.raw && c.raw <= AVML_CHUNK_MAX, "%u bytes", c.raw);
			touch(data + c.data, c.len);
			off = c.next;
		}
		check_err(r, &err);
	}
	check_file("avml", data, len);
	return 0;
}
