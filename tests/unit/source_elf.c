// SPDX-License-Identifier: GPL-2.0-or-later
/* An ELF core is read as memory; what it lacks is excluded, and damage is reported. */
#include "test.h"
#include "unit/image.h"

enum { LOAD = 1, NOTE = 4 };

static uint8_t at(struct atw_source *s, uint64_t pa)
{
	uint8_t b = 0xee;

	return atw_read(s, ATW_PA(pa), &b, 1, NULL) == 1 ? b : 0xee;
}

static const char *fact(struct atw_source *s, const char *key)
{
	static char text[256];
	struct atw_blob b;

	if (atw_fact(s, key, &b) != ATW_OK)
		return NULL;
	snprintf(text, sizeof(text), "%.*s", (int)b.len, (const char *)b.data);
	return text;
}

/* The image's first `len` bytes, opened. */
/* Two ranges of memory, unsorted, and the notes of two CPUs. */
static void whole(struct image *im)
{
	static const char info[] = "OSRELEASE=6.1.0\nPAGESIZE=4096\n";
	size_t end;

	elf64(im, 62, 3);
	end = note(im, 0x100, "CORE", 1, "first CPU", 9);
	end = note(im, end, "CORE", 1, "second", 6);
	end = qemu_note(im, end, 0x1000);
	end = qemu_note(im, end, 0x2000);
	end = note(im, end, "VMCOREINFO", 0, info, sizeof(info));
	phdr64(im, 64, NOTE, 0x100, 0, end - 0x100, 0);
	phdr64(im, 64 + 56, LOAD, 0x2000, 0x100000, 0x1000, 0x3000);
	phdr64(im, 64 + 112, LOAD, 0x1000, 0, 0x1000, 0x1000);
	fill(im, 0x1000, 0x1000, 'a');
	fill(im, 0x2000, 0x1000, 'b');
}

TEST(reads_memory)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t buf[0x2000];
	const void *p;
	char line[80];

	whole(&im);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "elf");
	CHECK_EQ(at(s, 0), 'a');
	CHECK_EQ(at(s, 0xfff), 'a');
	CHECK_EQ(at(s, 0x1000), 0xee);
	CHECK_EQ(at(s, 0x100000), 'b');
	CHECK_EQ(at(s, 0x101000), 0xee);
	CHECK_EQ(atw_read(s, ATW_PA(0xff0), buf, sizeof(buf), &err), 0x10);
	CHECK_EQ(atw_read(s, ATW_PA(0x100000), buf, 0, &err), 0);
	CHECK_EQ(atw_read(s, ATW_PA(UINT64_MAX), buf, sizeof(buf), &err), 0);
	CHECK_EQ(s->ops->peek(s, ATW_PA(0x100800), 0x2000, &p, &err), 0x800);
	CHECK_EQ(*(const char *)p, 'b');
	CHECK_EQ(s->ops->peek(s, ATW_PA(0x101000), 8, &p, &err), 0);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "ELF64 core, x86_64, 2 memory segments");
	atw_source_close(s);
	image_free(&im);
}

TEST(what_the_file_lacks_of_a_segment_is_excluded)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;

	whole(&im);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x1000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0xff000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x100000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_DATA);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x101000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_EXCLUDED);
	CHECK_EQ(e.len, 0x2000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x103000), &e), ATW_END);
	atw_source_close(s);
	image_free(&im);
}

TEST(tells_what_the_notes_say)
{
	struct image im = { 0 };
	struct atw_source *s;
	uint64_t v;

	whole(&im);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(atw_fact_u64(s, "cpus", &v), ATW_OK);
	CHECK_EQ(v, 2);
	CHECK_STR(fact(s, "machine"), "x86_64");
	CHECK_EQ(atw_fact_u64(s, "cpu0.cr0", &v), ATW_OK);
	CHECK_EQ(v, 0x1000);
	CHECK_EQ(atw_fact_u64(s, "cpu1.cr3", &v), ATW_OK);
	CHECK_EQ(v, 0x2003);
	CHECK_EQ(atw_fact_u64(s, "cpu1.cr4", &v), ATW_OK);
	CHECK_EQ(v, 0x2004);
	CHECK_STR(fact(s, "cpu0.prstatus"), "first CPU");
	CHECK_STR(fact(s, "cpu1.prstatus"), "second");
	CHECK_STR(fact(s, "vmcoreinfo"), "OSRELEASE=6.1.0\nPAGESIZE=4096\n");
	CHECK_STR(fact(s, "release"), "6.1.0");
	CHECK_EQ(atw_fact_u64(s, "release", &v), ATW_OK);       /* 5 bytes: it cannot know */
	CHECK_EQ(atw_fact_u64(s, "vmcoreinfo", &v), ATW_E_USAGE);
	{
		static const char *const none[] = {
			"cpu2.cr3", "cpu0.cr1", "cpu0.cr5", "cpu0.cr33", "cpu.cr3",
			"cpu0", "cpux.cr3", "cpu0.", "", "damaged", "truncated",
		};
		struct atw_blob b;

		for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
			CHECK_EQ(atw_fact(s, none[i], &b), ATW_E_MISSING);
	}
	atw_source_close(s);
	image_free(&im);
}

TEST(a_damaged_note_is_told_and_memory_still_read)
{
	struct image im = { 0 };
	struct atw_source *s;
	uint64_t v;

	whole(&im);
	put_le(&im, 0x100 + 12 + 8 + 12 + 4, 4, 0x10000);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_STR(fact(s, "damaged"),
		  "note at 0x120: name of 0x5 and contents of 0x10000 bytes run past the end of the notes; CPU registers and VMCOREINFO may be lost");
	CHECK_EQ(atw_fact_u64(s, "cpus", &v), ATW_OK);
	CHECK_EQ(v, 1);
	CHECK_EQ(at(s, 0), 'a');
	atw_source_close(s);
	image_free(&im);
}

/* Every length: complete, in part with a word about it, or refused with one. */
TEST(may_be_cut_anywhere)
{
	struct image im = { 0 };

	whole(&im);
	for (size_t len = 1; len <= im.len; len += len < 0xc00 ? 1 : 0x200) {
		struct atw_err err = { 0 };
		struct atw_source *s = NULL;
		int r = image_open(&im, len, &s, &err);

		if (len <= 0x1000) {
			CHECK_EQ(r, len < 4 ? ATW_E_FORMAT : ATW_E_DAMAGED);
			CHECK(!s);
			CHECK(strstr(err.text, im.path) == err.text);
			continue;
		}
		CHECK_EQ(r, ATW_OK);
		CHECK(!!fact(s, "truncated") == (len < im.len));
		CHECK_EQ(at(s, len - 1 < 0x2000 ? len - 1 - 0x1000 : 0x100000 + len - 1 - 0x2000),
			 len - 1 < 0x2000 ? 'a' : 'b');
		atw_source_close(s);
	}
	image_free(&im);
}

TEST(says_how_much_is_missing)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;

	whole(&im);
	CHECK_EQ(image_open(&im, 0x2345, &s, NULL), ATW_OK);
	CHECK_STR(fact(s, "truncated"), "ends 3259 bytes short; is it still being written?");
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x100000), &e), ATW_OK);
	CHECK_EQ(e.len, 0x345);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x100345), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0xcbb);
	atw_source_close(s);
	image_free(&im);
}

/* An ELF file with one segment. */
static int open_one(uint64_t off, uint64_t paddr, uint64_t filesz,
		    uint64_t memsz, struct atw_err *err, struct atw_extent *e)
{
	struct image im = { 0 };
	struct atw_source *s;
	int r;

	elf64(&im, 62, 1);
	phdr64(&im, 64, LOAD, off, paddr, filesz, memsz);
	fill(&im, 0x1000, 0x1000, 'x');
	r = image_open(&im, im.len, &s, err);
	if (r == ATW_OK) {
		r = atw_extent_at(s, ATW_PA(paddr), e);
		atw_source_close(s);
	} else if (err) {
		/* Drop the file's name: it differs from run to run. */
		memmove(err->text, err->text + strlen(im.path) + 2,
			strlen(err->text) - strlen(im.path) - 1);
	}
	image_free(&im);
	return r;
}

TEST(sizes_that_do_not_fit)
{
	struct atw_extent e;
	struct atw_err err = { 0 };

	CHECK_EQ(open_one(0x1000, 0, 0x1000, 0x1000, &err, &e), ATW_OK);
	CHECK_EQ(open_one(0x3000, 0, 0x1000, 0x1000, &err, &e), ATW_E_DAMAGED);
	CHECK_STR(err.text, "program header 0 at 0x40: offset 0x3000 + size 0x1000 is past the end of the file (0x2000 bytes)");
	CHECK_EQ(open_one(UINT64_MAX - 1, 0, 0x1000, 0x1000, &err, &e), ATW_E_DAMAGED);
	CHECK_STR(err.text, "program header 0 at 0x40: offset 0xfffffffffffffffe + size 0x1000 does not fit 64 bits");
	CHECK_EQ(open_one(0x1000, UINT64_MAX - 0x10, 0x1000, 0x1000, &err, &e), ATW_E_DAMAGED);
	CHECK_STR(err.text, "program header 0 at 0x40: memory at 0xffffffffffffffef: 0x1000 bytes reach past the last 64-bit address");
	CHECK_EQ(open_one(0x1000, 0x1000, 0x1000, UINT64_MAX, &err, &e), ATW_E_DAMAGED);
	CHECK_STR(err.text, "program header 0 at 0x40: address 0x1000 + size 0xffffffffffffffff does not fit 64 bits");
	/* Huge, and cut to what there is. */
	CHECK_EQ(open_one(0x1800, 0x1000, UINT64_MAX - 0x1800, 1, &err, &e), ATW_OK);
	CHECK_EQ(e.len, 0x800);
	/* p_memsz too small: the bytes are there all the same. */
	CHECK_EQ(open_one(0x1000, 0x1000, 0x1000, 0, &err, &e), ATW_OK);
	CHECK_EQ(e.len, 0x1000);
	/* Nowhere in physical memory. */
	CHECK_EQ(open_one(0x1000, UINT64_MAX, 0x1000, 0x1000, &err, &e), ATW_E_DAMAGED);
	CHECK_STR(err.text, "has 1 memory segments and no byte of any");
	/* All filtered. */
	CHECK_EQ(open_one(UINT64_MAX, 0, 0, 0x1000, &err, &e), ATW_E_DAMAGED);
}

TEST(refuses_elf_files_that_are_no_dumps)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };

	whole(&im);
	put_le(&im, 16, 2, 2);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_FORMAT);
	CHECK(strstr(err.text, ": is an ELF file, but not a core dump (e_type is 2)"));
	CHECK_STR(err.hint, "the source is a dump of memory, not the program that ran in it");
	put_le(&im, 16, 2, 4);
	put_le(&im, 64 + 56, 4, 6);
	put_le(&im, 64 + 112, 4, 6);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, ": has 3 program headers and none of them is memory (PT_LOAD)"));
	image_free(&im);
}

/* QEMU's `paging` dumps: the same memory, once for each place it is mapped. */
TEST(sixty_five_thousand_headers_of_the_same_memory)
{
	enum { N = 65745, PAGES = 256, DATA = 0x400000 };
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;

	elf64(&im, 62, 0);
	put_le(&im, 52, 2, 8);
	put_le(&im, 56, 2, 0xffff);
	put_le(&im, 32, 8, 128);
	put_le(&im, 40, 8, 64);          /* section header 0 */
	put(&im, DATA, NULL, PAGES * 0x1000);
	put_le(&im, 64 + 44, 4, N);
	for (unsigned i = 0; i < N; i++) {
		uint64_t page = i * 7u % PAGES;

		phdr64(&im, 128 + (size_t)i * 56, LOAD, DATA + page * 0x1000,
		       0x80000000 + page * 0x1000, 0x1000, 0x1000);
	}
	for (unsigned i = 0; i < PAGES; i++)
		im.data[DATA + i * 0x1000] = (uint8_t)i;
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x80000000), &e), ATW_OK);
	CHECK_EQ(e.len, PAGES * 0x1000);
	for (unsigned i = 0; i < PAGES; i++)
		CHECK_EQ(at(s, 0x80000000 + i * 0x1000), i);
	atw_source_close(s);
	image_free(&im);
}

TEST(is_never_a_part_of_a_set)
{
	const char *parts[] = { "second" };
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };

	whole(&im);
	CHECK_EQ(atw_source_open(image_save(&im, im.len), parts, 1, &s, &err), ATW_E_USAGE);
	CHECK(strstr(err.text, "only kdump-compressed dumps are split"));
	image_free(&im);
}

/* The image in makedumpfile's flattened form, its pieces back to front. */
static void flatten(const struct image *im, struct image *ret)
{
	static const char magic[] = "makedumpfile";
	uint64_t be[2];
	size_t at = 4096, piece = 0x700;

	put(ret, 0, magic, sizeof(magic));
	be[0] = be[1] = __builtin_bswap64(1);            /* type, version */
	put(ret, 16, be, sizeof(be));
	for (size_t off = (im->len - 1) / piece * piece;; off -= piece) {
		size_t n = im->len - off < piece ? im->len - off : piece;

		be[0] = __builtin_bswap64(off);
		be[1] = __builtin_bswap64(n);
		put(ret, at, be, sizeof(be));
		put(ret, at + 16, im->data + off, n);
		at += 16 + n;
		if (!off)
			break;
	}
	be[0] = be[1] = UINT64_MAX;
	put(ret, at, be, sizeof(be));
}

TEST(flattened_reads_like_the_file_it_was)
{
	struct image im = { 0 }, flat = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t buf[0x1000];
	char line[80];

	whole(&im);
	flatten(&im, &flat);
	CHECK_EQ(image_open(&flat, flat.len, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "elf");
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "ELF64 core, flattened, x86_64, 2 memory segments");
	CHECK_EQ(atw_read(s, ATW_PA(0), buf, sizeof(buf), &err), 0x1000);
	for (size_t i = 0; i < sizeof(buf); i++)
		CHECK_EQ(buf[i], 'a');
	CHECK_EQ(at(s, 0x100fff), 'b');
	CHECK_EQ(at(s, 0x101000), 0xee);
	CHECK_STR(fact(s, "release"), "6.1.0");
	CHECK_STR(fact(s, "cpu1.prstatus"), "second");
	CHECK(!fact(s, "truncated"));
	atw_source_close(s);
	image_free(&im);
	image_free(&flat);
}

/*
 * The segment begins in the middle of a page of the file: a page of memory that
 * begins with data is data as a whole.
 */
TEST(large_holes_are_zeroes)
{
	enum { HOLE = 4 << 20 };
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;
	uint8_t b[16];
	FILE *f;

	elf64(&im, 62, 2);
	phdr64(&im, 64, LOAD, 0x1200, 0x100000, HOLE, HOLE);
	phdr64(&im, 64 + 56, LOAD, 0x1200 + HOLE, 0x10000000, 0x1000, 0x1000);
	fill(&im, 0x1200, 0x10000, 'a');
	image_save(&im, im.len);
	f = fopen(im.path, "r+");
	CHECK(f && !fseek(f, 0x1200 + HOLE, SEEK_SET) && fputc('e', f) == 'e' &&
	      !fseek(f, 0x1200 + HOLE + 0xfff, SEEK_SET) && fputc('f', f) == 'f');
	fclose(f);
	CHECK_EQ(atw_source_open(im.path, NULL, 0, &s, NULL), ATW_OK);
	CHECK_EQ(at(s, 0x10ffff), 'a');
	CHECK_EQ(atw_read(s, ATW_PA(0x200000), b, sizeof(b), NULL), 16);
	CHECK_EQ(b[0] | b[15], 0);
	CHECK_EQ(at(s, 0x10000000), 'e');
	CHECK_EQ(at(s, 0x10000fff), 'f');
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x100000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_DATA);
	if (e.len == HOLE) {
		SKIP("this file system has no holes");
	} else {
		/* The file's page with the last 0x200 bytes ends at 0x110e00. */
		CHECK_EQ(e.len, 0x11000);
		CHECK_EQ(atw_extent_at(s, ATW_PA(0x111000), &e), ATW_OK);
		CHECK_EQ(e.kind, ATW_ZERO);
		/* The next data begins 0x200 bytes before the segment's end. */
		CHECK_EQ(e.len, HOLE - 0x11000 - 0x1000);
		CHECK_EQ(atw_extent_at(s, ATW_PA(0x100000 + HOLE - 0x1000), &e), ATW_OK);
		CHECK_EQ(e.kind, ATW_DATA);
		CHECK_EQ(e.len, 0x1000);
	}
	atw_source_close(s);
	image_free(&im);
}
