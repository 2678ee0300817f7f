/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_image.h - migration streams of QEMU, written record by record. */
#pragma once

#include "unit/image.h"

enum stream_flags {
	S_ZERO = 2, S_SIZE = 4, S_PAGE = 8, S_EOS = 16, S_CONTINUE = 32, S_XBZRLE = 64,
	S_HOOK = 128, S_ZLIB = 256, S_FLUSH = 512,
};

/* `n` bytes of a number, big-endian, at the end. */
static inline void be(struct image *im, unsigned n, uint64_t v)
{
	v = __builtin_bswap64(v) >> (64 - 8 * n);
	put(im, im->len, &v, n);
}

/* A byte of length, and the text. */
static inline void word(struct image *im, const char *s)
{
	be(im, 1, strlen(s));
	put(im, im->len, s, strlen(s));
}

static inline void stream_begin(struct image *im, const char *machine)
{
	put(im, im->len, "QEVM\0\0\0\3", 8);
	be(im, 1, 7);
	be(im, 4, strlen(machine));
	put(im, im->len, machine, strlen(machine));
}

/* Of the configuration. */
static inline void stream_capability(struct image *im, const char *name)
{
	be(im, 1, 5);
	word(im, "configuration/capabilities");
	be(im, 4, 1);
	be(im, 4, 1);
	word(im, name);
}

/* The section, up to its list of blocks, which have `total` bytes. */
static inline void stream_ram(struct image *im, uint64_t total)
{
	be(im, 1, 1);
	be(im, 4, 2);
	word(im, "ram");
	be(im, 4, 0);
	be(im, 4, 4);
	be(im, 8, total | S_SIZE);
}

static inline void stream_block(struct image *im, const char *name, uint64_t len)
{
	word(im, name);
	be(im, 8, len);
}

static inline void stream_foot(struct image *im)
{
	be(im, 8, S_EOS);
	be(im, 1, 0x7e);
	be(im, 4, 2);
}

/* The next section of the RAM: 2 or, at its end, 3. */
static inline void stream_part(struct image *im, unsigned type)
{
	be(im, 1, type);
	be(im, 4, 2);
}

/* name NULL: of the block of the last page. */
static inline void stream_page(struct image *im, const char *name, uint64_t at, unsigned flags)
{
	be(im, 8, at | flags | (name ? 0 : S_CONTINUE));
	if (name)
		word(im, name);
}

static inline void stream_bytes(struct image *im, const char *name, uint64_t at, int byte)
{
	stream_page(im, name, at, S_PAGE);
	fill(im, im->len, 4096, byte);
}

/* zlib, one block that is stored. */
static inline void stream_zlib(struct image *im, const char *name, uint64_t at, int byte)
{
	uint32_t a = 1, b = 0;

	for (int i = 0; i < 4096; i++) {
		a = (a + (uint8_t)byte) % 65521;
		b = (b + a) % 65521;
	}
	stream_page(im, name, at, S_ZLIB);
	be(im, 4, 2 + 5 + 4096 + 4);
	put(im, im->len, "\x78\x01\x01\x00\x10\xff\xef", 7);
	fill(im, im->len, 4096, byte);
	be(im, 4, b << 16 | a);
}

/* Section 9: CPU `n` of x86 with CR3; then the description of `cpus` of them. */
static inline void stream_cpu(struct image *im, unsigned n, uint64_t cr3)
{
	be(im, 1, 4);
	be(im, 4, 9 + n);
	word(im, "cpu");
	be(im, 4, n);
	be(im, 4, 12);
	put(im, im->len, NULL, 16 * 8);
	be(im, 8, 0x80050033);           /* CR0 */
	be(im, 8, cr3);
	be(im, 8, 0xd00);                /* EFER */
	be(im, 1, 5);
	word(im, "cpu/extra");
	be(im, 4, 1);
	be(im, 2, 0x1234);
	be(im, 1, 0x7e);
	be(im, 4, 9 + n);
}

static inline void stream_describe(struct image *im, unsigned cpus)
{
	char text[2048] = "{\"page_size\": 4096, \"devices\": [{\"name\": \"timer\", \"fields\": []}";

	for (unsigned i = 0; i < cpus; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 ", {\"name\": \"cpu\", \"instance_id\": %u, \"vmsd_name\": \"cpu\", \"version\": 12, "
			 "\"fields\": [{\"name\": \"env.regs\", \"array_len\": 16, \"type\": \"uint64\", \"size\": 8}, "
			 "{\"name\": \"env.cr[0]\", \"type\": \"uint64\", \"size\": 8}, "
			 "{\"name\": \"env.cr[3]\", \"type\": \"uint64\", \"size\": 8}, "
			 "{\"name\": \"env.efer\", \"type\": \"uint64\", \"size\": 8}], "
			 "\"subsections\": [{\"vmsd_name\": \"cpu/extra\", \"version\": 1, \"fields\": "
			 "[{\"name\": \"x\", \"type\": \"uint16\", \"size\": 2}]}]}", i);
	strcat(text, "]}");
	be(im, 1, 0);
	be(im, 1, 6);
	be(im, 4, strlen(text));
	put(im, im->len, text, strlen(text));
}

/*
 * A guest of 64 KiB with two CPUs: pages 0 'a', 1 zero, 2 sent three times ('x', zero, then
 * 'c'), 3 compressed 'd', 4 all 0x5a, 5 to 15 never sent. The ROM is of no interest.
 */
static inline void stream_sample(struct image *im)
{
	stream_begin(im, "pc-q35-7.2");
	stream_ram(im, 0x11000);
	stream_block(im, "pc.ram", 0x10000);
	stream_block(im, "pc.rom", 0x1000);
	stream_foot(im);
	stream_part(im, 2);
	stream_bytes(im, "pc.ram", 0, 'a');
	stream_page(im, NULL, 0x1000, S_ZERO);
	be(im, 1, 0);
	stream_bytes(im, NULL, 0x2000, 'x');
	stream_foot(im);
	stream_part(im, 2);
	stream_zlib(im, NULL, 0x3000, 'd');
	stream_bytes(im, "pc.rom", 0, 'r');
	stream_page(im, "pc.ram", 0x2000, S_ZERO);
	be(im, 1, 0);
	stream_foot(im);
	stream_part(im, 3);
	be(im, 8, S_FLUSH);
	stream_page(im, NULL, 0x4000, S_ZERO);
	be(im, 1, 0x5a);
	stream_bytes(im, NULL, 0x2000, 'c');
	stream_foot(im);
	stream_cpu(im, 0, 0x1234000);
	stream_cpu(im, 1, 0x5678000);
	stream_describe(im, 2);
}

/* mapped-ram at `start` of the file: pages 1 'b' and 3 'd' of four; the others are zero. */
static inline void stream_mapped_sample(struct image *im, size_t start)
{
	fill(im, 0, start, 0);
	stream_begin(im, "virt-9.0");
	stream_capability(im, "mapped-ram");
	stream_ram(im, 0x4000);
	stream_block(im, "mach-virt.ram", 0x4000);
	be(im, 4, 1);
	be(im, 8, 0x1000);
	be(im, 8, 0x1000);
	be(im, 8, 0x2000);
	put_le(im, 0x1000, 8, 0xa);
	fill(im, 0x2000, 0x4000, 's');   /* stale, but for what follows */
	fill(im, 0x3000, 0x1000, 'b');
	fill(im, 0x5000, 0x1000, 'd');
	stream_foot(im);
	stream_part(im, 3);
	stream_foot(im);
	be(im, 1, 0);
}

/* The header that libvirt puts before it: raw (0), sparse (6). */
static inline void libvirt_put(struct image *im, unsigned packing, size_t len)
{
	put(im, 0, "LibvirtQemudSave", 16);
	put_le(im, 16, 4, 2);
	put_le(im, 20, 4, len - 92);
	put_le(im, 24, 4, 1);
	put_le(im, 28, 4, packing);
	put(im, 92, "<domain/>", 10);
	put(im, len - 1, NULL, 1);
}

/* A snapshot at the end of an image with clusters of 512 bytes; returns where it is. */
static inline size_t qcow2_snapshot_put(struct image *im, const char *name, uint64_t l1,
					unsigned l1_len, uint64_t state)
{
	size_t at = im->len;

	be(im, 8, l1);
	be(im, 4, l1_len);
	be(im, 2, 1);
	be(im, 2, strlen(name));
	put(im, im->len, NULL, 20);
	be(im, 4, 16);
	be(im, 8, state);
	be(im, 8, 1024);
	put(im, im->len, "7", 1);
	put(im, im->len, name, strlen(name));
	put(im, im->len, NULL, -im->len & 7);
	return at;
}

/*
 * A disk of 1 KiB and a snapshot with this stream as its state. Its clusters are in reverse
 * order, so that no two are neighbours.
 */
static inline void qcow2_wrap(struct image *im, const struct image *stream)
{
	size_t n = (stream->len + 511) / 512, l1_len = 1 + (n + 63) / 64, first, l1 = 512, l2 = 1024;

	put(im, 0, "QFI\xfb\0\0\0\2", 8);
	put(im, 20, "\0\0\0\x9", 4);
	put(im, 24, "\0\0\0\0\0\0\4\0", 8);
	first = l2 + 512 * (l1_len - 1);
	fill(im, 72, first + n * 512 - 72, 0);
	for (size_t i = 0; i < l1_len - 1; i++) {
		uint64_t at = __builtin_bswap64(l2 + 512 * i);

		put(im, l1 + 8 + 8 * i, &at, 8);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t at = first + 512 * (n - 1 - i), entry = __builtin_bswap64(at);
		size_t len = stream->len - 512 * i;

		put(im, l2 + 8 * i, &entry, 8);
		put(im, at, stream->data + 512 * i, len < 512 ? len : 512);
	}
	put(im, 60, "\0\0\0\1", 4);
	first = __builtin_bswap64(qcow2_snapshot_put(im, "boot", l1, (unsigned)l1_len, stream->len));
	put(im, 64, &first, 8);
}
