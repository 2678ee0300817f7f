/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Program headers and build id of a mapped program are read from its first page. */
#include "format/elfsec.h"
#include "test.h"
#include "unit/image.h"

enum { LOAD = 1, NOTE = 4, RELRO = 0x6474e552, HEADS = 64 };

static void header(struct image *im, unsigned type, unsigned phnum)
{
	elf64(im, 62, phnum);
	put_le(im, 16, 2, type);
}

static void phdr(struct image *im, unsigned i, unsigned type, unsigned flags, uint64_t off,
		 uint64_t va, uint64_t filesz, uint64_t memsz)
{
	size_t at = HEADS + i * 56;

	put_le(im, at, 4, type);
	put_le(im, at + 4, 4, flags);
	put_le(im, at + 8, 8, off);
	put_le(im, at + 16, 8, va);
	put_le(im, at + 24, 8, va);
	put_le(im, at + 32, 8, filesz);
	put_le(im, at + 40, 8, memsz);
	put_le(im, at + 48, 8, 8);
}

TEST(headers_and_the_build_id)
{
	struct image im = { 0 };
	struct elfunit u;
	size_t n;

	header(&im, 3, 5);
	n = note(&im, 0x400, "XYZ", 3, "not this one....", 16);
	n = note(&im, n, "GNU", 3, "0123456789abcdef", 16) - 0x400;
	phdr(&im, 0, 6, 4, 64, 64, 280, 280);
	phdr(&im, 1, LOAD, 5, 0, 0x1000, 0x2000, 0x2000);
	phdr(&im, 2, LOAD, 6, 0x2000, 0x4000, 0x300, 0x9000);
	phdr(&im, 3, NOTE, 4, 0x400, 0x1400, n, n);
	phdr(&im, 4, RELRO, 4, 0x2000, 0x4000, 0x100, 0x100);
	CHECK_EQ(elfunit_parse(image_blob(&im), &u), ATW_OK);
	CHECK_EQ(u.loads, 3);
	CHECK(!u.cut);
	CHECK_EQ(u.load[0].va, 0x1000);
	CHECK_EQ(u.load[0].flags, CAPTURE_LOAD_READ | CAPTURE_LOAD_EXEC);
	CHECK_EQ(u.load[1].offset, 0x2000);
	CHECK_EQ(u.load[1].file_size, 0x300);
	CHECK_EQ(u.load[1].size, 0x9000);
	CHECK_EQ(u.load[1].flags, CAPTURE_LOAD_READ | CAPTURE_LOAD_WRITE);
	CHECK_EQ(u.load[2].flags, CAPTURE_LOAD_READ | CAPTURE_LOAD_RELRO);
	CHECK_EQ(u.build.len, 16);
	CHECK(!memcmp(u.build.b, "0123456789abcdef", 16));
	CHECK_EQ(u.notes_len, 0);
	image_free(&im);
}

TEST(notes_that_lie_elsewhere)
{
	struct image im = { 0 }, notes = { 0 };
	struct elfunit u;
	size_t n = note(&notes, 0, "GNU", 3, "01234567", 8);

	header(&im, 2, 1);
	phdr(&im, 0, NOTE, 4, 0x12345678, 0, n, n);
	CHECK_EQ(elfunit_parse(image_blob(&im), &u), ATW_OK);
	CHECK_EQ(u.build.len, 0);
	CHECK_EQ(u.notes, 0x12345678);
	CHECK_EQ(u.notes_len, n);
	elfunit_notes((struct atw_blob){ notes.data, n - 1 }, &u);
	CHECK_EQ(u.build.len, 0);
	elfunit_notes(image_blob(&notes), &u);
	CHECK_EQ(u.build.len, 8);
	/* The first one counts. */
	note(&notes, 0, "GNU", 3, "89012345", 8);
	elfunit_notes(image_blob(&notes), &u);
	CHECK(!memcmp(u.build.b, "01234567", 8));
	image_free(&im);
	image_free(&notes);
}

TEST(what_cannot_be)
{
	struct image im = { 0 };
	struct elfunit u;
	const char longest[CAPTURE_BUILD + 1] = "x";

	CHECK_EQ(elfunit_parse((struct atw_blob){ "", 0 }, &u), ATW_E_FORMAT);
	CHECK_EQ(elfunit_parse((struct atw_blob){ "#!/bin/sh\n", 10 }, &u), ATW_E_FORMAT);
	header(&im, 4, 0);               /* a core is nothing to be mapped */
	CHECK_EQ(elfunit_parse(image_blob(&im), &u), ATW_E_FORMAT);
	header(&im, 3, 3);
	note(&im, 0x400, "GNU", 3, longest, sizeof(longest));
	phdr(&im, 0, LOAD, 4, 0, UINT64_MAX - 10, 11, 12);
	phdr(&im, 1, LOAD, 4, UINT64_MAX, 0x1000, 2, 2);
	phdr(&im, 2, NOTE, 4, 0x400, 0, 60, 60);
	CHECK_EQ(elfunit_parse(image_blob(&im), &u), ATW_OK);
	CHECK_EQ(u.loads, 0);
	CHECK_EQ(u.build.len, 0);
	/* Headers that the first bytes do not have. */
	CHECK_EQ(elfunit_parse((struct atw_blob){ im.data, HEADS + 3 * 56 - 1 }, &u), ATW_E_FORMAT);
	image_free(&im);
}

TEST(more_of_them_than_any_linker_makes)
{
	struct image im = { 0 };
	struct elfunit u;

	header(&im, 3, ELFUNIT_LOADS + 1);
	for (unsigned i = 0; i <= ELFUNIT_LOADS; i++)
		phdr(&im, i, LOAD, 4, 0, i * 0x1000, 1, 1);
	CHECK_EQ(elfunit_parse(image_blob(&im), &u), ATW_OK);
	CHECK_EQ(u.loads, ELFUNIT_LOADS);
	CHECK(u.cut);
	image_free(&im);
}
