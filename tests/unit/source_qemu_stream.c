// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests saved by QEMU: every record of the stream, and what must not be believed. */
#include "test.h"
#include "unit/stream_image.h"

static int page_byte(struct atw_source *s, uint64_t pa)
{
	uint8_t buf[4096];

	if (atw_read(s, ATW_PA(pa), buf, sizeof(buf), NULL) != sizeof(buf))
		return -1;
	for (size_t i = 1; i < sizeof(buf); i++)
		if (buf[i] != buf[0])
			return -2;
	return buf[0];
}

static uint64_t number(struct atw_source *s, const char *key)
{
	uint64_t n = 0xdead;

	return atw_fact_u64(s, key, &n) == ATW_OK ? n : 0xdead;
}

/* Opens it, and expects this sentence. */
static void refused(struct image *im, int status, const char *why)
{
	struct atw_source *s = NULL;
	struct atw_err err = {0};

	CHECK_EQ(image_open(im, im->len, &s, &err), status);
	CHECK(strstr(err.text, why));
	if (!strstr(err.text, why))
		fprintf(stderr, "%s\n", err.text);
	atw_source_close(s);
	image_free(im);
}

TEST(the_last_copy_of_a_page_counts)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_extent e;
	struct atw_blob b;
	char line[128];

	stream_sample(&im);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_STR(s->ops->name, "qemu-stream");
	CHECK_EQ(page_byte(s, 0), 'a');
	CHECK_EQ(page_byte(s, 0x1000), 0);
	CHECK_EQ(page_byte(s, 0x2000), 'c');
	CHECK_EQ(page_byte(s, 0x3000), 'd');
	CHECK_EQ(page_byte(s, 0x4000), 0x5a);
	CHECK_EQ(page_byte(s, 0x5000), -1);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x1000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_ZERO);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x2000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_DATA);
	CHECK_EQ(e.len, 0x3000);
	/* The stream is whole, so the guest did not want these saved. */
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x5000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_EXCLUDED);
	CHECK_EQ(e.len, 0xb000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x10000), &e), ATW_END);
	CHECK_EQ(atw_fact(s, "truncated", &b), ATW_E_MISSING);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "QEMU stream, pc-q35-7.2, RAM of 64K, compressed pages");
	atw_source_close(s);
	image_free(&im);
}

TEST(registers_of_the_cpus_are_facts)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_blob b;

	stream_sample(&im);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(number(s, "cpus"), 2);
	CHECK_EQ(number(s, "cpu0.cr3"), 0x1234000);
	CHECK_EQ(number(s, "cpu1.cr3"), 0x5678000);
	CHECK_EQ(number(s, "cpu1.cr0"), 0x80050033);
	CHECK_EQ(number(s, "cpu1.efer"), 0xd00);
	CHECK_EQ(number(s, "cpu2.cr3"), 0xdead);
	CHECK_EQ(number(s, "cpu0.cr4"), 0xdead);
	CHECK_EQ(number(s, "cpu0.satp"), 0xdead);
	CHECK_EQ(atw_fact(s, "machine", &b), ATW_OK);
	CHECK(b.len == 6 && !memcmp(b.data, "x86_64", 6));
	atw_source_close(s);
	image_free(&im);
}

/* A footer with another number: the description does not fit the sections. */
TEST(cpus_that_do_not_fit_their_description_are_none)
{
	struct image im = {0};
	struct atw_source *s;

	stream_sample(&im);
	for (size_t i = 0; i + 5 < im.len; i++)
		if (!memcmp(im.data + i, "\x7e\0\0\0\x0a", 5))
			im.data[i + 4] = 11;
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(number(s, "cpus"), 0xdead);
	CHECK_EQ(page_byte(s, 0x2000), 'c');
	atw_source_close(s);
	image_free(&im);
}

/* The third record of page 2 is the last of the RAM. */
TEST(may_be_cut_anywhere)
{
	struct image im = {0};
	struct atw_blob b;

	stream_sample(&im);
	for (size_t len = 8; len < im.len; len += len < 300 ? 1 : 61) {
		struct atw_source *s = NULL;
		struct atw_err err = {0};
		int r = image_open(&im, len, &s, &err);

		CHECK(r == ATW_OK || r == ATW_E_DAMAGED);
		if (r == ATW_OK) {
			int byte = page_byte(s, 0x2000);
			bool cut = atw_fact(s, "truncated", &b) == ATW_OK;

			CHECK_EQ(page_byte(s, 0), 'a');
			CHECK(cut ? byte == 'x' || byte == 0 || byte == -1 || byte == 'c'
				  : byte == 'c');
			CHECK(!cut || page_byte(s, 0x5000) == -1);
		}
		atw_source_close(s);
	}
	image_free(&im);
}

TEST(mapped_ram)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_extent e;

	stream_mapped_sample(&im, 0);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(page_byte(s, 0x40000000), 0);
	CHECK_EQ(page_byte(s, 0x40001000), 'b');
	CHECK_EQ(page_byte(s, 0x40002000), 0);
	CHECK_EQ(page_byte(s, 0x40003000), 'd');
	CHECK_EQ(page_byte(s, 0x40004000), -1);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0x40000000);
	atw_source_close(s);
	/* Not finished: what the bitmap does not have is not zero. */
	CHECK_EQ(image_open(&im, 0x6000, &s, NULL), ATW_OK);
	CHECK_EQ(page_byte(s, 0x40001000), 'b');
	CHECK_EQ(page_byte(s, 0x40002000), -1);
	atw_source_close(s);
	image_free(&im);
}

TEST(mapped_ram_with_places_that_overlap)
{
	struct image im = {0};

	stream_mapped_sample(&im, 0);
	for (size_t i = 0; i + 8 < 0x1000; i++)
		if (!memcmp(im.data + i, "\0\0\0\0\0\0\x20\0", 8))
			im.data[i + 6] = 0x10;
	refused(&im, ATW_E_DAMAGED, "the places of mapped-ram overlap");
}

/* Above 2816 MiB, q35 has RAM from 2 GiB on at 4 GiB. */
TEST(the_machine_makes_addresses)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_extent e;

	stream_begin(&im, "pc-q35-9.2+pve1");
	stream_ram(&im, 0xc0000000);
	stream_block(&im, "pc.ram", 0xc0000000);
	stream_foot(&im);
	stream_part(&im, 3);
	stream_bytes(&im, "pc.ram", 0x7ffff000, 'l');
	stream_bytes(&im, NULL, 0x80000000, 'h');
	stream_foot(&im);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(page_byte(s, 0x7ffff000), 'l');
	CHECK_EQ(page_byte(s, 0x80000000), -1);
	CHECK_EQ(page_byte(s, 0x100000000), 'h');
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x7ffff000), &e), ATW_OK);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x80000000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0x80000000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x13ffff000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_EXCLUDED);
	CHECK_EQ(e.len, 0x1000);
	atw_source_close(s);
	image_free(&im);
}

/* A stream of one block and one record. */
static void one_record(struct image *im, const char *machine, const char *block,
		       uint64_t at, unsigned flags)
{
	stream_begin(im, machine);
	stream_ram(im, 0x4000);
	stream_block(im, block, 0x4000);
	stream_page(im, block, at, flags);
	fill(im, im->len, 4096, 1);
}

TEST(records_that_are_refused)
{
	struct image im = {0};

	one_record(&im, "pc", "pc.ram", 0, S_XBZRLE);
	refused(&im, ATW_E_UNSUPPORTED, "is stored as its difference (XBZRLE)");
	one_record(&im, "pc", "pc.ram", 0, S_HOOK);
	refused(&im, ATW_E_DAMAGED, "it is of a migration by RDMA");
	one_record(&im, "pc", "pc.ram", 0, 0x800);
	refused(&im, ATW_E_DAMAGED, "its flags are not known");
	one_record(&im, "pc", "pc.ram", 0x4000, S_PAGE);
	refused(&im, ATW_E_DAMAGED, "a page behind the end of its block");
	one_record(&im, "pc", "pc.ram", 0, S_ZLIB);
	refused(&im, ATW_E_DAMAGED, "not a size of a compressed page");
	one_record(&im, "pc", "pc.bios", 0, S_PAGE);
	refused(&im, ATW_E_UNSUPPORTED, "none of its 1 blocks of memory is known to be RAM");
	one_record(&im, "xenfv", "pc.ram", 0, S_PAGE);
	refused(&im, ATW_E_UNSUPPORTED, "where the machine 'xenfv' of QEMU has its RAM");
	one_record(&im, "pc", "pc.ram", 0, S_PAGE);
	im.data[7] = 2;
	refused(&im, ATW_E_UNSUPPORTED, "migration stream of version 2, and only version 3");
	stream_begin(&im, "pc");
	stream_capability(&im, "x-ignore-shared");
	stream_ram(&im, 0x4000);
	stream_block(&im, "m", 0x4000);
	be(&im, 8, 0);
	refused(&im, ATW_E_UNSUPPORTED, "which x-ignore-shared leaves out");
	stream_begin(&im, "pc");
	stream_ram(&im, 0x4000);
	stream_block(&im, "pc.ram", 0x8000);
	refused(&im, ATW_E_DAMAGED, "the blocks are larger than their sum");
	stream_begin(&im, "pc");
	be(&im, 1, 0x33);
	refused(&im, ATW_E_DAMAGED, "section at 0xf: type 0x33 is not known");
}

/* virtio-mem saves a section of its own before the RAM. */
TEST(sections_of_devices_before_the_ram_are_skipped)
{
	struct image im = {0};
	struct atw_source *s;

	stream_begin(&im, "virt");
	be(&im, 1, 4);
	be(&im, 4, 77);
	word(&im, "virtio-mem-early");
	be(&im, 4, 0);
	be(&im, 4, 1);
	put(&im, im.len, "\x7e\0\0\0\x4c#data\x7e", 11);
	put(&im, im.len, "\x7e\0\0\0\x4d", 5);
	stream_ram(&im, 0x4000);
	stream_block(&im, "riscv_virt_board.ram", 0x4000);
	stream_bytes(&im, "riscv_virt_board.ram", 0x1000, 'v');
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(page_byte(s, 0x80001000), 'v');
	CHECK_EQ(page_byte(s, 0x80000000), -1);
	atw_source_close(s);
	image_free(&im);
}

TEST(a_compressed_page_that_is_damaged)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_err err = {0};
	uint8_t buf[16];

	stream_begin(&im, "pc");
	stream_ram(&im, 0x4000);
	stream_block(&im, "pc.ram", 0x4000);
	stream_zlib(&im, "pc.ram", 0, 'z');
	im.data[im.len - 1] ^= 1;
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(atw_read(s, ATW_PA(0), buf, sizeof(buf), &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "compressed page at 0x"));
	atw_source_close(s);
	image_free(&im);
}

static void sample_is_whole(struct atw_source *s)
{
	CHECK_EQ(page_byte(s, 0), 'a');
	CHECK_EQ(page_byte(s, 0x1000), 0);
	CHECK_EQ(page_byte(s, 0x2000), 'c');
	CHECK_EQ(page_byte(s, 0x3000), 'd');
	CHECK_EQ(page_byte(s, 0x4000), 0x5a);
	CHECK_EQ(number(s, "cpu1.cr3"), 0x5678000);
}

TEST(behind_the_header_of_libvirt)
{
	struct image im = {0};
	struct atw_source *s;
	char line[128];

	libvirt_put(&im, 0, 300);
	stream_sample(&im);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_STR(s->ops->name, "libvirt");
	sample_is_whole(s);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "saved by libvirt, pc-q35-7.2, RAM of 64K, compressed pages");
	atw_source_close(s);
	/* The other byte order, and not finished. */
	for (size_t i = 16; i < 36; i += 4) {
		uint32_t v;

		memcpy(&v, im.data + i, 4);
		v = __builtin_bswap32(v);
		memcpy(im.data + i, &v, 4);
	}
	memcpy(im.data + 12, "Part", 4);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	sample_is_whole(s);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "saved by libvirt, unfinished, pc-q35-7.2, RAM of 64K, compressed pages");
	atw_source_close(s);
	image_free(&im);
}

/* Sparse: QEMU wrote the file from a block of it on. */
TEST(behind_the_header_of_libvirt_with_mapped_ram)
{
	struct image im = {0};
	struct atw_source *s;

	stream_mapped_sample(&im, 512);
	libvirt_put(&im, 6, 300);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(page_byte(s, 0x40001000), 'b');
	CHECK_EQ(page_byte(s, 0x40002000), 0);
	atw_source_close(s);
	image_free(&im);
}

TEST(in_a_snapshot_of_a_disk)
{
	struct image stream = {0}, im = {0};
	struct atw_source *s;
	struct atw_err err = {0};
	char text[128], line[128];

	stream_sample(&stream);
	qcow2_wrap(&im, &stream);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_STR(s->ops->name, "qcow2");
	sample_is_whole(s);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "snapshot boot, pc-q35-7.2, RAM of 64K, compressed pages");
	atw_source_close(s);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "boot", "7", "bo" };

		snprintf(text, sizeof(text), "qcow2:%s@%s", im.path, names[i]);
		s = NULL;
		CHECK_EQ(atw_source_open(text, NULL, 0, &s, &err), i < 2 ? ATW_OK : ATW_E_USAGE);
		atw_source_close(s);
	}
	CHECK(strstr(err.text, ": has no snapshot 'bo' of a guest"));
	CHECK(strstr(err.hint, "choose one with qcow2:PATH@SNAPSHOT: boot"));
	image_free(&stream);
	image_free(&im);
}

TEST(a_snapshot_may_be_cut_anywhere)
{
	struct image stream = {0}, im = {0};

	stream_sample(&stream);
	qcow2_wrap(&im, &stream);
	for (size_t len = 4; len < im.len; len += len < 600 ? 3 : 997) {
		struct atw_source *s = NULL;
		struct atw_err err = {0};

		CHECK(image_open(&im, len, &s, &err) < 0);
		CHECK(err.text[0]);
		atw_source_close(s);
	}
	image_free(&stream);
	image_free(&im);
}
