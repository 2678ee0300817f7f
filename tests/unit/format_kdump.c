/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers of kdump-compressed dumps of all layouts and versions are parsed, and false
 * ones refused.
 */
#include "kdump_image.h"

#include "format/kdump.h"

static struct view direct(const struct image *m)
{
	return view_direct((struct atw_blob){ m->p, m->len });
}

TEST(every_layout_and_version)
{
	for (enum abi abi = ABI_64; abi <= ABI_32_PADDED; abi++) {
		for (unsigned version = 0; version <= 6; version++) {
			struct image m = { .abi = abi, .version = version,
				.frames = "dde.d..d", .release = "6.1.0",
				.machine = "x86_64", .vmcoreinfo = "OSRELEASE=6.1.0\n",
				.notes = "0123456789abcdef", .notes_len = 16,
				.split = true, .start = 2, .end = 5, .status = 1 };
			struct kdump_header h;
			struct atw_err err = { 0 };
			struct view v;

			image_make(&m);
			v = direct(&m);
			if (kdump_parse(&v, &h, &err) < 0)
				TEST_FAIL("abi %d, version %u: %s", abi, version, err.text);
			CHECK_EQ(h.version, version);
			CHECK_EQ(h.bits, abi == ABI_64 ? 64 : 32);
			CHECK_STR(h.sysname, "Linux");
			CHECK_STR(h.nodename, "host");
			CHECK_STR(h.release, "6.1.0");
			CHECK_STR(h.machine, "x86_64");
			CHECK_EQ(h.block_size, 4096);
			CHECK_EQ(h.block_shift, 12);
			CHECK_EQ(h.status, 1);
			CHECK_EQ(h.nr_cpus, 3);
			CHECK_EQ(h.max_pfn, 8);
			CHECK_EQ(h.phys_base, 0x1000000);
			CHECK_EQ(h.dump_level, version >= 1 ? 31 : 0);
			CHECK_EQ(h.split, version >= 2);
			CHECK_EQ(h.start_pfn, version >= 2 ? 2 : 0);
			CHECK_EQ(h.end_pfn, version >= 2 ? 5 : 8);
			CHECK_EQ(h.vmcoreinfo.off, version >= 3 ? 4096 + 104 : 0);
			CHECK_EQ(h.vmcoreinfo.len, version >= 3 ? 16 : 0);
			CHECK_EQ(h.notes.off, version >= 4 ? 8192 : 0);
			CHECK_EQ(h.notes.len, version >= 4 ? 16 : 0);
			CHECK_EQ(h.bitmap1, m.bitmap1);
			CHECK_EQ(h.bitmap2, m.bitmap2);
			CHECK_EQ(h.bitmap_len, 1);
			CHECK_EQ(h.descs, m.descs);
			free(m.p);
		}
	}
}

TEST(one_bitmap_only)
{
	struct image m = { .version = 6, .frames = "ddd", .one_bitmap = true };
	struct kdump_header h;
	struct view v;

	image_make(&m);
	v = direct(&m);
	CHECK_EQ(kdump_parse(&v, &h, NULL), 0);
	CHECK_EQ(h.bitmap1, m.bitmap1);
	CHECK_EQ(h.bitmap2, m.bitmap1);
	CHECK_EQ(h.descs, m.bitmap1 + 4096);
	free(m.p);
}

TEST(diskdump_has_no_sub_header_of_ours)
{
	struct image m = { .version = 1, .frames = "ddd", .signature = "DISKDUMP" };
	struct kdump_header h;
	struct view v;

	image_make(&m);
	memset(m.p + m.sub, 0xff, BLOCK);
	v = direct(&m);
	CHECK_EQ(kdump_parse(&v, &h, NULL), 0);
	CHECK(h.diskdump);
	CHECK_EQ(h.split, false);
	CHECK_EQ(h.phys_base, 0);
	CHECK_EQ(h.end_pfn, 3);
	free(m.p);
}

TEST(utsname_without_room_for_its_end)
{
	struct image m = { .version = 6, .frames = "d" };
	struct kdump_header h;
	struct view v;

	image_make(&m);
	memset(m.p + 12, 'x', 6 * 65);
	v = direct(&m);
	CHECK_EQ(kdump_parse(&v, &h, NULL), 0);
	CHECK_EQ(strlen(h.release), 65);
	CHECK_EQ(strlen(h.machine), 65);
	free(m.p);
}

/* Exactly so many bytes in memory: a sanitizer sees any read past them. */
TEST(cut_off_anywhere)
{
	for (enum abi abi = ABI_64; abi <= ABI_32_PADDED; abi++) {
		struct image m = { .abi = abi, .version = 6, .frames = "dd.de",
			.vmcoreinfo = "OSRELEASE=1\n" };
		size_t need;

		image_make(&m);
		need = m.bitmap2 + 1;
		for (size_t len = 0; len < need + 20; len++) {
			struct atw_err err = { 0 };
			uint8_t *part = malloc(len ? len : 1);
			struct kdump_header h;
			struct view v;
			int rc;

			/* Around what matters; in between it is padding. */
			if (len > 1000 && len % BLOCK > 200 && len % BLOCK < BLOCK - 5)
				len += BLOCK - 5 - len % BLOCK;
			part = realloc(part, len ? len : 1);
			memcpy(part, m.p, len);
			v = view_direct((struct atw_blob){ part, len });
			rc = kdump_parse(&v, &h, &err);
			free(part);
			if (len >= need) {
				CHECK_EQ(rc, 0);
				continue;
			}
			CHECK_EQ(rc, len < 8 ? ATW_E_FORMAT : ATW_E_DAMAGED);
			CHECK_EQ(err.status, rc);
			CHECK(err.text[0]);
			if (len >= m.bitmap1)
				CHECK(strstr(err.text, " bytes short, inside its bitmaps"));
		}
		free(m.p);
	}
}

struct lie {
	size_t off, size;
	uint64_t value;
	const char *says;
};

TEST(hostile_headers)
{
	static const struct lie lies[] = {
		{ 8, 4, 7, "header version 7 is not known" },
		{ 8, 4, UINT32_MAX, "header version 4294967295 is not known" },
		{ 8, 4, 0x06000000, "from a big-endian machine" },
		{ 428, 4, 0, "block size, 0, is not" },
		{ 428, 4, 4095, "block size, 4095, is not" },
		{ 428, 4, 512, "block size, 512, is not" },
		{ 428, 4, 1u << 21, "block size, 2097152, is not" },
		{ 428, 4, 1u << 31, "block size, 2147483648, is not" },
		{ 428, 4, 1u << 20, "block size, 1048576, is not" },
		{ 428, 4, 1u << 16, "bytes short, inside its sub header" },
		{ 432, 4, 0, "sub header size, 0 blocks" },
		{ 432, 4, 1000, "bytes short, inside its bitmaps" },
		{ 432, 4, UINT32_MAX, "sub header size, 4294967295 blocks" },
		{ 436, 4, 0, "a dump without bitmaps" },
		{ 436, 4, 1000, "bytes short, inside its bitmaps" },
		{ 436, 4, UINT32_MAX, "bytes short, inside its bitmaps" },
		{ 440, 4, 9, "disagree: 9 frames and 8" },
		{ 4096 + 96, 8, 1ull << 40, "disagree: 8 frames and 1099511627776" },
		{ 4096 + 32, 8, 100, "vmcoreinfo, 12 bytes at 0x64, is not inside" },
		{ 4096 + 32, 8, UINT64_MAX, "is not inside the file" },
		{ 4096 + 40, 8, UINT64_MAX, "is not inside the file" },
		{ 4096 + 48, 8, UINT64_MAX - 3, "notes, 4 bytes at 0xfffffffffffffffc, are not" },
		{ 4096 + 56, 8, 1ull << 63, "are not inside the file" },
		{ 4096 + 80, 8, 100, "frames 100 to 6 of 8" },
		{ 4096 + 88, 8, 1, "frames 2 to 1 of 8" },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct image m = { .version = 6, .frames = "dd.de..d",
			.vmcoreinfo = "OSRELEASE=1\n", .notes = "note", .notes_len = 4,
			.split = true, .start = 2, .end = 6 };
		struct atw_err err = { 0 };
		struct kdump_header h;
		struct view v;
		int rc;

		image_make(&m);
		put_le(m.p + lies[i].off, lies[i].value, lies[i].size);
		v = direct(&m);
		rc = kdump_parse(&v, &h, &err);
		if (rc >= 0 || !strstr(err.text, lies[i].says))
			TEST_FAIL("lie %zu: %d \"%s\"", i, rc, err.text);
		free(m.p);
	}
}

/* Both numbers of frames lie alike: caught by the bitmaps or by arithmetic. */
TEST(hostile_frames)
{
	static const struct { uint64_t max; const char *says; } lies[] = {
		{ 0, "a machine without memory" },
		{ 2 * 4096 * 8 + 1, "bitmaps of 2 blocks are too small for 65537 frames" },
		{ UINT64_MAX, "more than 2^64 bytes" },
		{ 1ull << 52, "more than 2^64 bytes" },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct image m = { .version = 6, .frames = "d" };
		struct atw_err err = { 0 };
		struct kdump_header h;
		struct view v;

		image_make(&m);
		put_le(m.p + 440, lies[i].max < UINT32_MAX ? lies[i].max : UINT32_MAX, 4);
		put_le(m.p + 4096 + 96, lies[i].max, 8);
		v = direct(&m);
		CHECK_EQ(kdump_parse(&v, &h, &err), ATW_E_DAMAGED);
		if (!strstr(err.text, lies[i].says))
			TEST_FAIL("lie %zu: \"%s\"", i, err.text);
		free(m.p);
	}
}

/* Flattened, a few bytes can claim to span exabytes. */
TEST(hostile_span)
{
	struct image m = { .version = 6, .frames = "d" };
	struct atw_err err = { 0 };
	struct view_piece pieces[2] = { { 0, 4096 * 2, 0 }, { INT64_MAX - 1, 1, 0 } };
	struct kdump_header h;
	struct view v;

	image_make(&m);
	put_le(m.p + 436, UINT32_MAX, 4);
	put_le(m.p + 440, UINT32_MAX, 4);
	put_le(m.p + 4096 + 96, 1ull << 45, 8);
	v = (struct view){ .file = { m.p, m.len }, .pieces = pieces, .npieces = 2,
			   .size = INT64_MAX };
	CHECK_EQ(kdump_parse(&v, &h, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "bitmaps of 4398046511104 bytes are more than the file holds");
	free(m.p);
}

TEST(more_than_32_bits_of_frames)
{
	struct image m = { .version = 6, .frames = "d" };
	struct kdump_header h;
	struct view v;
	uint64_t max = (1ull << 32) + 5, blocks = (1 << 17) + 1;

	image_make(&m);
	m.len = (3 + 2 * blocks) * BLOCK;
	m.p = realloc(m.p, m.len);
	memset(m.p + m.bitmap1, 0, m.len - m.bitmap1);
	put_le(m.p + 436, 2 * blocks, 4);
	put_le(m.p + 440, UINT32_MAX, 4);
	put_le(m.p + 4096 + 96, max, 8);
	v = direct(&m);
	CHECK_EQ(kdump_parse(&v, &h, NULL), 0);
	CHECK_EQ(h.max_pfn, max);
	CHECK_EQ(h.bitmap_len, (max + 7) / 8);
	CHECK_EQ(h.bitmap2, (3 + blocks) * BLOCK);
	free(m.p);
}

TEST(not_ours)
{
	struct atw_err err = { 0 };
	struct kdump_header h;
	struct view v = view_direct((struct atw_blob){ "KDUMPxxxyyyy", 12 });

	CHECK_EQ(kdump_probe(v.file), 0);
	CHECK_EQ(kdump_parse(&v, &h, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "does not start like a kdump-compressed dump");
	CHECK_EQ(kdump_probe((struct atw_blob){ "KDUMP   ", 8 }), 100);
	CHECK_EQ(kdump_probe((struct atw_blob){ "DISKDUMP", 8 }), 100);
	CHECK_EQ(kdump_probe((struct atw_blob){ "KDUMP  ", 7 }), 0);
}

TEST(descriptors)
{
	static const struct {
		uint64_t offset;
		uint32_t size, flags, status;
		int rc;
		const char *says;
	} cases[] = {
		{ 9000, 4096, 0, 0, 0, NULL },
		{ 9000, 1, 1, 0, 0, NULL },
		{ 9000, 8192, 0x20, 0, 0, NULL },
		{ 0, 4096, 0, 0, ATW_E_DAMAGED, "it was never written" },
		{ 0, 0, 0, KDUMP_INCOMPLETE, ATW_E_DAMAGED,
		  "it was never written: the dump is incomplete" },
		{ 9000, 4095, 0, 0, ATW_E_DAMAGED,
		  "its size, 4095 bytes, is not that of an uncompressed page" },
		{ 9000, 0, 2, 0, ATW_E_DAMAGED,
		  "its size, 0 bytes, is not that of a compressed page" },
		{ 9000, 8193, 4, 0, ATW_E_DAMAGED,
		  "its size, 8193 bytes, is not that of a compressed page" },
		{ 9000, 100, 3, 0, ATW_E_DAMAGED, "its flags, 0x3, name no compression" },
		{ 9000, 100, 8, 0, ATW_E_DAMAGED, "its flags, 0x8, name no compression" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kdump_header h = { .block_size = 4096, .status = cases[i].status };
		struct atw_err err = { 0 };
		struct kdump_desc d;
		uint8_t bytes[KDUMP_DESC_SIZE] = { 0 };
		enum codec codec;
		bool compressed;

		put_le(bytes, cases[i].offset, 8);
		put_le(bytes + 8, cases[i].size, 4);
		put_le(bytes + 12, cases[i].flags, 4);
		CHECK_EQ(kdump_desc_parse(bytes, &h, &d, &compressed, &codec, &err),
			 cases[i].rc);
		if (cases[i].rc) {
			CHECK_STR(err.text, cases[i].says);
			continue;
		}
		CHECK_EQ(d.offset, cases[i].offset);
		CHECK_EQ(d.size, cases[i].size);
		CHECK_EQ(compressed, cases[i].flags != 0);
		if (compressed)
			CHECK_EQ(codec, cases[i].flags == 1 ? CODEC_ZLIB : CODEC_ZSTD);
	}
}
