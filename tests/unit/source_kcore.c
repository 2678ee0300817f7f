// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/kcore is read as a source, on files made by hand: this machine may have none. The
 * real one is read in the guests of tests/vm.
 */
#include "test.h"

#include <sys/utsname.h>

#include "source/live_kcore.h"
#include "unit/image.h"

enum { TEXT = 1, RAM, VMALLOC, HIGH, SEGMENTS };
enum { AT_NOTES = EHDR64 + (SEGMENTS + 1) * PHDR64 };

enum { OFFSET = 8, VADDR = 16, PADDR = 24, FILESZ = 32 };

static const char info[] = "OSRELEASE=6.12.0\nPAGESIZE=4096\nSYMBOL(_stext)=ffffffff81000100\n";

/*
 * RAM 0x1000-0x4000 and 0x100000-0x102000; the image is a part of the first, and
 * its segment, which is the first one, has other bytes.
 */
static void whole(struct image *im, size_t padding)
{
	size_t at = AT_NOTES, data;

	elf64(im, 62, SEGMENTS);
	if (padding) {
		char *big = calloc(1, padding);

		at = note(im, at, "CORE", 4, big, padding);
		free(big);
	}
	at = note(im, at, "VMCOREINFO", 0, info, sizeof(info) - 1);
	phdr64(im, EHDR64, 4, AT_NOTES, 0, at - AT_NOTES, 0);
	data = (at + 4095) & ~(size_t)4095;
	phdr64(im, EHDR64 + RAM * PHDR64, 1, data, 0x1000, 0x3000, 0x3000);
	phdr64(im, EHDR64 + TEXT * PHDR64, 1, data + 0x8000, 0x2000, 0x1000, 0x1000);
	phdr64(im, EHDR64 + VMALLOC * PHDR64, 1, UINT64_C(1) << 46, UINT64_MAX,
	       UINT64_C(1) << 45, UINT64_C(1) << 45);
	phdr64(im, EHDR64 + HIGH * PHDR64, 1, data + 0x4000, 0x100000, 0x2000, 0x2000);
	fill(im, data, 0x1000, 'a');
	fill(im, data + 0x1000, 0x1000, 'b');
	fill(im, data + 0x2000, 0x1000, 'c');
	fill(im, data + 0x4000, 0x2000, 'd');
	put_le(im, EHDR64 + TEXT * PHDR64 + VADDR, 8, UINT64_C(0xffffffff81000000));
	fill(im, data + 0x8000, 0x1000, 'x');
}

/* A segment of `im` with another number in it. */
static void set(struct image *im, int segment, size_t member, uint64_t v)
{
	put_le(im, EHDR64 + (size_t)segment * PHDR64 + member, 8, v);
}

static struct atw_source *open_image(struct image *im, size_t len,
				     const struct extents *ram, struct atw_err *err)
{
	struct atw_source *s = calloc(1, sizeof(*s));

	if (live_kcore_open_file(s, image_save(im, len), ram, err) == ATW_OK)
		return s;
	if (s->impl || s->ops)
		TEST_FAIL("%s", "a source that was not opened was changed");
	free(s);
	return NULL;
}

TEST(reads_ram_and_nothing_else)
{
	struct image im = { 0 };
	struct atw_source *s;
	uint8_t buf[0x4000];
	char text[128];

	whole(&im, 0);
	s = open_image(&im, im.len, NULL, NULL);
	CHECK(s && atw_source_is_live(s));
	CHECK_EQ(atw_read(s, ATW_PA(0x1000), buf, sizeof(buf), NULL), 0x3000);
	CHECK_EQ(buf[0], 'a');
	CHECK_EQ(buf[0x1000], 'b');
	CHECK_EQ(buf[0x2fff], 'c');
	CHECK_EQ(atw_read(s, ATW_PA(0x101ffe), buf, 16, NULL), 2);
	CHECK_EQ(buf[1], 'd');
	CHECK_EQ(atw_read(s, ATW_PA(0), buf, 16, NULL), 0);
	CHECK_EQ(atw_read(s, ATW_PA(0x4000), buf, 16, NULL), 0);
	CHECK_EQ(atw_read(s, ATW_PA(UINT64_MAX), buf, 1, NULL), 0);
	s->ops->describe(s, text, sizeof(text));
	CHECK_STR(text, "running kernel, read through /proc/kcore, 3 segments of RAM");
	atw_source_close(s);
	image_free(&im);
}

/* The second page of the first piece of RAM is the image's, and not mapped but there. */
TEST(what_of_the_image_is_nowhere_else_is_read_there)
{
	size_t data = (AT_NOTES + 12 + 12 + sizeof(info) + 4095) & ~(size_t)4095;
	struct image im = { 0 };
	struct atw_source *s;
	uint8_t buf[0x3000];

	whole(&im, 0);
	fill(&im, data + 0x1000, 0x1000, 0);
	put_le(&im, data + 0x8800, 8, 0);
	fill(&im, data + 0x2000, 0x1000, 0);
	s = open_image(&im, im.len, NULL, NULL);
	CHECK(s);
	CHECK_EQ(atw_read(s, ATW_PA(0x1000), buf, sizeof(buf), NULL), 0x3000);
	CHECK_EQ(buf[0xfff], 'a');
	CHECK_EQ(buf[0x1000], 'x');
	CHECK_EQ(buf[0x1800], 0);
	CHECK_EQ(buf[0x1808], 'x');
	CHECK_EQ(buf[0x1fff], 'x');
	/* Behind the image zeroes are zeroes. */
	CHECK_EQ(buf[0x2000], 0);
	CHECK_EQ(atw_read(s, ATW_PA(0x2ffe), buf, 4, NULL), 4);
	CHECK_EQ(buf[0], 'x');
	CHECK_EQ(buf[1], 'x');
	CHECK_EQ(buf[2], 0);
	/* A word of zeroes is looked at as well, and may be right. */
	CHECK_EQ(atw_read(s, ATW_PA(0x2800), buf, 8, NULL), 8);
	CHECK_EQ(buf[0], 0);
	atw_source_close(s);
	image_free(&im);
}

TEST(what_is_ram_limits_what_is_read)
{
	struct extents ram = { 0 };
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;
	struct atw_err err = { 0 };
	uint8_t buf[0x4000];

	extents_add(&ram, 0x1800, 0x1000, 0, ATW_DATA, NULL);
	extents_add(&ram, 0x101000, 0x10000, 0, ATW_DATA, NULL);
	extents_add(&ram, UINT64_MAX - 0xfff, 0x1000, 0, ATW_DATA, NULL);
	CHECK_EQ(extents_build(&ram, NULL), ATW_OK);
	whole(&im, 0);
	s = open_image(&im, im.len, &ram, NULL);
	CHECK(s);
	CHECK_EQ(atw_read(s, ATW_PA(0x1000), buf, 16, NULL), 0);
	CHECK_EQ(atw_read(s, ATW_PA(0x1800), buf, sizeof(buf), NULL), 0x1000);
	CHECK_EQ(buf[0x7ff], 'a');
	CHECK_EQ(buf[0x800], 'b');
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x2800), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0x101000 - 0x2800);
	CHECK_EQ(atw_read(s, ATW_PA(0x101000), buf, sizeof(buf), NULL), 0x1000);
	atw_source_close(s);
	extents_deinit(&ram);
	extents_add(&ram, 0x200000, 0x1000, 0, ATW_DATA, NULL);
	CHECK_EQ(extents_build(&ram, NULL), ATW_OK);
	CHECK(!open_image(&im, im.len, &ram, &err));
	CHECK_STR(err.text, "/proc/kcore: has 3 segments and no RAM in any");
	extents_deinit(&ram);
	image_free(&im);
}

TEST(tells_facts)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_blob b;
	struct utsname u;
	uint64_t cpus, at;

	uname(&u);
	/* The notes alone are longer than what is read first. */
	whole(&im, 20000);
	s = open_image(&im, im.len, NULL, NULL);
	CHECK(s);
	CHECK_EQ(atw_fact(s, "vmcoreinfo", &b), ATW_OK);
	CHECK(b.len == sizeof(info) - 1 && !memcmp(b.data, info, b.len));
	CHECK_EQ(atw_fact(s, "machine", &b), ATW_OK);
	CHECK(b.len == strlen(u.machine) && !memcmp(b.data, u.machine, b.len));
	CHECK_EQ(atw_fact(s, "release", &b), ATW_OK);
	CHECK_EQ(b.len, strlen(u.release));
	CHECK_EQ(atw_fact_u64(s, "image.start", &at), ATW_OK);
	CHECK_EQ(at, 0x2000);
	CHECK_EQ(atw_fact_u64(s, "image.len", &at), ATW_OK);
	CHECK_EQ(at, 0x1000);
	CHECK_EQ(atw_fact_u64(s, "cpus", &cpus), ATW_OK);
	CHECK_EQ(cpus, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_EQ(atw_fact(s, "pid.1.mm", &b), ATW_E_MISSING);
	CHECK_EQ(atw_fact(s, "pid.", &b), ATW_E_MISSING);
	CHECK_EQ(atw_fact(s, "init_task", &b), ATW_E_MISSING);
	atw_source_close(s);
	image_free(&im);
}

TEST(may_be_cut_anywhere)
{
	struct image im = { 0 };
	uint8_t buf[64];

	whole(&im, 0);
	for (size_t len = 0; len <= im.len; len += len < AT_NOTES + 128 ? 1 : 509) {
		struct atw_err err = { 0 };
		struct atw_source *s = open_image(&im, len, NULL, &err);

		CHECK_EQ(s != NULL, err.status == ATW_OK);
		if (!s) {
			CHECK(!strncmp(err.text, "/proc/kcore: ", 13));
			continue;
		}
		if (atw_read(s, ATW_PA(0x101fc0), buf, sizeof(buf), &err) < 0)
			CHECK_STR(err.text,
				  "/proc/kcore: physical 0x101fc0: the file ends before it");
		atw_source_close(s);
	}
	image_free(&im);
}

TEST(says_why_not)
{
	struct atw_source s = { 0 };
	struct atw_err err = { 0 };
	struct image im = { 0 };

	CHECK_EQ(live_kcore_open_file(&s, "/nowhere/kcore", NULL, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "this kernel has no /proc/kcore (CONFIG_PROC_KCORE)");
	whole(&im, 0);
	CHECK(!open_image(&im, 0, NULL, &err));
	CHECK_STR(err.text, "/proc/kcore: is empty, as containers show it");
	CHECK(!open_image(&im, 63, NULL, &err));
	CHECK(strstr(err.text, "needs 64 bytes, and the file has 63"));

	set(&im, RAM, PADDR, UINT64_MAX - 4096);
	CHECK(!open_image(&im, im.len, NULL, &err));
	CHECK_EQ(err.status, ATW_E_DAMAGED);
	CHECK(strstr(err.text, "program header 2: physical 0xffffffffffffefff"));
	set(&im, RAM, PADDR, 0x1000);
	/* Not an offset that a file can have. */
	set(&im, RAM, OFFSET, (uint64_t)INT64_MAX - 16);
	CHECK(!open_image(&im, im.len, NULL, &err));
	CHECK_EQ(err.status, ATW_E_DAMAGED);
	set(&im, RAM, OFFSET, 4096);
	/* Notes without an end. */
	set(&im, 0, FILESZ, UINT64_MAX);
	CHECK(!open_image(&im, im.len, NULL, &err));
	CHECK(strstr(err.text, "its headers take more than the "));
	set(&im, 0, FILESZ, 0);
	/* As kernels before 4.11 have it. */
	set(&im, RAM, PADDR, 0);
	set(&im, TEXT, PADDR, 0);
	set(&im, HIGH, PADDR, 0);
	CHECK(!open_image(&im, im.len, NULL, &err));
	CHECK_EQ(err.status, ATW_E_UNSUPPORTED);
	put_le(&im, 16, 2, 2);
	CHECK(!open_image(&im, im.len, NULL, &err));
	CHECK_STR(err.text, "/proc/kcore: is an ELF64 file of type 2, not a core of 64 bits");
	image_free(&im);
}

TEST(headers_have_a_limit)
{
	struct image im = { 0 };
	struct atw_err err = { 0 };

	whole(&im, 0);
	put_le(&im, 54, 2, 65535);       /* e_phentsize */
	put_le(&im, 56, 2, 65534);       /* e_phnum */
	put(&im, (17 << 20) - 1, "", 1);
	CHECK(!open_image(&im, im.len, NULL, &err));
	CHECK_STR(err.text, "/proc/kcore: its headers take more than the 16777216 bytes there are");
	image_free(&im);
}
