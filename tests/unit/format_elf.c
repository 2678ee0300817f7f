// SPDX-License-Identifier: GPL-2.0-or-later
/* ELF headers, notes and QEMU CPU states are parsed within the bounds of the file. */
#include "test.h"
#include "unit/image.h"

#include "format/elf.h"

TEST(reads_headers_of_class_64)
{
	struct image im = { 0 };
	struct elf e;
	struct elf_phdr ph;

	elf64(&im, 62, 2);
	phdr64(&im, 64 + 56, 1, 0x1000, 0x123456000, 0x2000, 0x3000);
	CHECK_EQ(elf_parse(image_blob(&im), &e, NULL), ATW_OK);
	CHECK(e.is64);
	CHECK_EQ(e.type, 4);
	CHECK_EQ(e.machine, 62);
	CHECK_STR(elf_machine_name(&e), "x86_64");
	CHECK_EQ(e.phnum, 2);
	ph = elf_phdr(&e, 1);
	CHECK_EQ(ph.at, 120);
	CHECK_EQ(ph.type, ELF_PT_LOAD);
	CHECK_EQ(ph.offset, 0x1000);
	CHECK_EQ(ph.paddr, 0x123456000);
	CHECK_EQ(ph.filesz, 0x2000);
	CHECK_EQ(ph.memsz, 0x3000);
	image_free(&im);
}

TEST(reads_headers_of_class_32)
{
	struct image im = { 0 };
	struct elf e;
	struct elf_phdr ph;

	put(&im, 0, "\177ELF\1\1\1", 7);
	put_le(&im, 16, 2, 4);
	put_le(&im, 18, 2, 40);
	put_le(&im, 28, 4, 52);
	put_le(&im, 42, 2, 32);
	put_le(&im, 44, 2, 1);
	put_le(&im, 52, 4, 1);
	put_le(&im, 56, 4, 0x100);
	put_le(&im, 64, 4, 0xc0000000);
	put_le(&im, 68, 4, 0x10);
	put_le(&im, 72, 4, 0x20);
	put_le(&im, 76, 8, 7);
	CHECK_EQ(elf_parse(image_blob(&im), &e, NULL), ATW_OK);
	CHECK(!e.is64);
	CHECK_STR(elf_machine_name(&e), "arm");
	ph = elf_phdr(&e, 0);
	CHECK_EQ(ph.offset, 0x100);
	CHECK_EQ(ph.paddr, 0xc0000000);
	CHECK_EQ(ph.filesz, 0x10);
	CHECK_EQ(ph.memsz, 0x20);
	CHECK_EQ(ph.flags, 7);
	image_free(&im);
}

TEST(ignores_the_header_size_qemu_gets_wrong)
{
	struct image im = { 0 };
	struct elf e;

	elf64(&im, 183, 1);
	put_le(&im, 52, 2, 8);
	CHECK_EQ(elf_parse(image_blob(&im), &e, NULL), ATW_OK);
	CHECK_EQ(e.phnum, 1);
	image_free(&im);
}

TEST(counts_past_16_bits)
{
	struct image im = { 0 };
	struct atw_err err = { 0 };
	struct elf e;
	size_t shoff = 64 + 70000 * 56;

	elf64(&im, 62, 0);
	put_le(&im, 56, 2, 0xffff);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "ELF header: e_phnum is 0xffff (see section header 0), but there are no section headers");
	put_le(&im, 40, 8, shoff);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "section header 0 at 0x3bd0c0, which counts the program headers, is past the end of the file (0x40 bytes)");
	put(&im, shoff, NULL, 64);
	put_le(&im, shoff + 44, 4, 70000);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_OK);
	CHECK_EQ(e.phnum, 70000);
	CHECK_EQ(elf_phdr(&e, 69999).at, 64 + 69999 * 56);
	put_le(&im, shoff + 44, 4, 0xffffffff);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_E_DAMAGED);
	image_free(&im);
}

TEST(is_whole_or_says_why_at_every_length)
{
	struct image im = { 0 };
	size_t whole = 64 + 3 * 56;
	struct elf e;

	elf64(&im, 62, 3);
	CHECK_EQ(im.len, whole);
	for (size_t len = 0; len <= whole; len++) {
		/* On the heap and no larger, so that a byte too far is caught. */
		uint8_t *copy = malloc(len + !len);
		struct atw_err err = { 0 };
		int r;

		memcpy(copy, im.data, len);
		r = elf_parse((struct atw_blob){ copy, len }, &e, &err);
		free(copy);
		CHECK_EQ(r, len < 4 ? ATW_E_FORMAT : len < whole ? ATW_E_DAMAGED : ATW_OK);
		CHECK(r == ATW_OK || err.text[0]);
	}
	image_free(&im);
}

TEST(refuses_what_cannot_be)
{
	struct image im = { 0 };
	struct atw_err err = { 0 };
	struct elf e;

	elf64(&im, 62, 1);
	put_le(&im, 32, 8, UINT64_MAX - 8);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "program headers at 0xfffffffffffffff7 (1 of 56 bytes) run past the end of the file (0x78 bytes)");
	put_le(&im, 32, 8, 64);
	put_le(&im, 54, 2, 55);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_E_DAMAGED);
	put_le(&im, 54, 2, 56);
	put_le(&im, 5, 1, 2);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_E_UNSUPPORTED);
	put_le(&im, 5, 1, 1);
	put_le(&im, 4, 1, 3);
	CHECK_EQ(elf_parse(image_blob(&im), &e, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "ELF header: class 3, byte order 1: there is no such ELF file");
	image_free(&im);
}

/* One program header, and notes behind it. */
static struct elf_notes notes_of(struct image *im, size_t end, struct elf *e)
{
	struct elf_phdr ph;

	phdr64(im, 64, ELF_PT_NOTE, 120, 0, end - 120, 0);
	elf_parse(image_blob(im), e, NULL);
	ph = elf_phdr(e, 0);
	return elf_notes(e, &ph);
}

TEST(goes_over_notes)
{
	struct image im = { 0 };
	struct elf_notes it;
	struct elf_note n;
	struct elf e;
	size_t end;

	elf64(&im, 62, 1);
	end = note(&im, 120, "CORE", 1, "abcde", 5);
	end = qemu_note(&im, end, 0x1000);
	end = note(&im, end, "VMCOREINFO", 0, "OSRELEASE=6\n", 12);
	put(&im, end, NULL, 20);         /* room that was not used */
	it = notes_of(&im, end + 20, &e);

	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_OK);
	CHECK_EQ(n.at, 120);
	CHECK(elf_note_is(&n, "CORE", 1));
	CHECK(!elf_note_is(&n, "CORE", 2));
	CHECK(!elf_note_is(&n, "COR", 1));
	CHECK_EQ(n.desc.len, 5);
	CHECK(!memcmp(n.desc.data, "abcde", 5));
	CHECK(!elf_qemu_cr(&n, 3));

	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_OK);
	CHECK_EQ(n.at, 120 + 12 + 8 + 8);
	CHECK(elf_note_is(&n, "QEMU", 0));
	CHECK_EQ(*(const uint8_t *)elf_qemu_cr(&n, 0), 0);
	CHECK_EQ(*(const uint8_t *)elf_qemu_cr(&n, 3), 3);
	CHECK_EQ(*(const uint8_t *)elf_qemu_cr(&n, 4), 4);
	CHECK(!elf_qemu_cr(&n, 1));
	CHECK(!elf_qemu_cr(&n, 5));

	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_OK);
	CHECK(elf_note_is(&n, "VMCOREINFO", 0));
	CHECK_EQ(n.desc.len, 12);
	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_END);
	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_END);
	image_free(&im);
}

TEST(stops_at_notes_that_reach_too_far)
{
	static const uint32_t sizes[][2] = {
		{ 5, 0x100 }, { 0x100, 5 }, { 0xffffffff, 0xffffffff },
		{ 0xffffffff, 0 }, { 0, 0xfffffffd },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct image im = { 0 };
		struct atw_err err = { 0 };
		struct elf_notes it;
		struct elf_note n;
		struct elf e;
		size_t end;

		elf64(&im, 62, 1);
		end = note(&im, 120, "CORE", 1, "abcd", 4);
		put_le(&im, 120, 4, sizes[i][0]);
		put_le(&im, 124, 4, sizes[i][1]);
		it = notes_of(&im, end, &e);
		CHECK_EQ(elf_notes_next(&it, &n, &err), ATW_E_DAMAGED);
		CHECK(!strncmp(err.text, "note at 0x78: name of", 21));
		image_free(&im);
	}
}

TEST(notes_are_bounded_by_the_file)
{
	struct image im = { 0 };
	struct elf_notes it;
	struct elf_note n;
	struct elf e;
	size_t end;

	elf64(&im, 62, 1);
	end = note(&im, 120, "CORE", 1, "abcd", 4);
	it = notes_of(&im, end + 0x1000, &e);
	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_OK);
	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_END);
	/* All of it behind the end. */
	phdr64(&im, 64, ELF_PT_NOTE, UINT64_MAX, 0, UINT64_MAX, 0);
	{
		struct elf_phdr ph = elf_phdr(&e, 0);

		it = elf_notes(&e, &ph);
	}
	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_END);
	image_free(&im);
}

TEST(qemu_notes_of_other_layouts_are_not_read)
{
	struct image im = { 0 };
	struct elf_notes it;
	struct elf_note n;
	struct elf e;
	size_t end;

	elf64(&im, 62, 1);
	end = qemu_note(&im, 120, 0x1000);
	put_le(&im, 120 + 20, 4, 2);     /* version */
	it = notes_of(&im, end, &e);
	CHECK_EQ(elf_notes_next(&it, &n, NULL), ATW_OK);
	CHECK(!elf_qemu_cr(&n, 3));
	put_le(&im, 120 + 20, 4, 1);
	CHECK(elf_qemu_cr(&n, 3));
	n.desc.len = 431;
	CHECK(!elf_qemu_cr(&n, 3));
	image_free(&im);
}
