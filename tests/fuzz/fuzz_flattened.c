/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flattened form. A second reader writes the records one after the other
 * into a buffer, as makedumpfile -R does; the view must read like that.
 */
#include "format/view.h"
#include "fuzz.h"

enum { IMAGE = 1 << 14 };        /* of larger files only the beginning */

static uint8_t image[IMAGE], written[IMAGE];

/* One past the last byte of any record. */
static uint64_t write_records(const uint8_t *data, size_t len)
{
	uint64_t end = 0;

	memset(image, 0, sizeof(image));
	memset(written, 0, sizeof(written));
	for (size_t at = FLATTENED_HEADER_SIZE; at + 16 <= len;) {
		uint64_t off = get_be64(data + at), n = get_be64(data + at + 8);

		if (off == UINT64_MAX)
			break;
		at += 16;
		n = n < len - at ? n : len - at;
		if (n && off + n > end)
			end = off + n;
		for (uint64_t i = 0; i < n && off + i < IMAGE; i++) {
			image[off + i] = data[at + i];
			written[off + i] = 1;
		}
		at += n;
	}
	return end;
}

static void compare(const struct view *v)
{
	uint8_t buf[512];
	const void *p;

	for (uint64_t off = 0; off < IMAGE && off < v->size; off++) {
		uint64_t run = view_run(v, off, &p);

		FUZZ_CHECK(!run == !written[off], "byte 0x%" PRIx64, off);
		if (!run)
			continue;
		for (uint64_t i = 0; i < run && off + i < IMAGE; i++)
			FUZZ_CHECK(((const uint8_t *)p)[i] == image[off + i],
				   "byte 0x%" PRIx64, off + i);
		off += run > 1 ? run - 1 : 0;
	}
	for (uint64_t off = 0; off < IMAGE - sizeof(buf) && off < v->size; off += 4099) {
		uint64_t n = v->size - off < sizeof(buf) ? v->size - off : sizeof(buf);

		FUZZ_CHECK(view_read_padded(v, off, buf, n) &&
			   !memcmp(buf, image + off, n),
			   "padded read at 0x%" PRIx64, off);
		FUZZ_CHECK(view_read(v, off, buf, n) == !memchr(written + off, 0, n),
			   "read at 0x%" PRIx64, off);
	}
	FUZZ_CHECK(!view_read_padded(v, v->size, buf, 1), "there is more past the end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct atw_blob file = { data, len }, blob;
	struct atw_err err = { 0 };
	void *owned = NULL;
	struct view v;
	int r = flattened_open(file, &v, &err);

	check_err(r, &err);
	if (r < 0)
		return 0;
	FUZZ_CHECK(v.size == write_records(data, len), "it ends at 0x%" PRIx64, v.size);
	for (size_t i = 0; i < v.npieces; i++) {
		const struct view_piece *p = &v.pieces[i];

		FUZZ_CHECK(p->len && p->at + p->len <= len, "piece %zu", i);
		FUZZ_CHECK(!i || p->start >= p[-1].start + p[-1].len, "piece %zu", i);
	}
	compare(&v);
	if (view_blob(&v, 1, v.size - 1, &owned, &blob) == ATW_OK)
		touch(blob.data, blob.len);
	free(owned);
	view_deinit(&v);
	return 0;
}
