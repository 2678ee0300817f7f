/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marked memory is written as an ELF file that the ELF source reads back. */
#include "extract/own.h"

#include <unistd.h>

#include "memory.h"
#include "test.h"

static int to_file(void *arg, const void *data, size_t len, struct atw_err *err)
{
	(void)err;
	return fwrite(data, 1, len, arg) == len ? ATW_OK : ATW_E_IO;
}

struct made {
	char path[64];
	struct atw_source *s;
	struct atw_extract_stats st;
};

static bool make(struct memory *from, struct byte_marks *m, struct made *ret)
{
	struct buf notes = { 0 };
	FILE *f;
	int fd;
	bool good;

	*ret = (struct made){ .path = "/tmp/atwalk-extract.XXXXXX" };
	fd = mkstemp(ret->path);
	f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!f)
		return false;
	marks_sort(m);
	core_note(&notes, "atwalk", 1, "about", 5);
	good = core_write(&from->s, m, 62, &notes, to_file, f, &ret->st, NULL) == ATW_OK;
	good &= (uint64_t)ftell(f) == ret->st.bytes;
	fclose(f);
	good &= atw_source_open(ret->path, NULL, 0, &ret->s, NULL) == ATW_OK;
	buf_deinit(&notes);
	marks_deinit(m);
	return good;
}

static void end(struct made *made, struct memory *m)
{
	atw_source_close(made->s);
	unlink(made->path);
	mem_free(m);
}

static enum atw_extent_kind kind_at(struct atw_source *s, uint64_t pa)
{
	struct atw_extent e;

	if (atw_extent_at(s, ATW_PA(pa), &e) != ATW_OK || e.start.u > pa)
		return ATW_NONE;
	return e.kind;
}

TEST(what_is_marked_and_nothing_beside_it)
{
	struct memory *m = mem_new();
	struct byte_marks marks = {0};
	struct made made;
	char page[MEM_PAGE], text[128];

	for (unsigned i = 0; i < 4; i++)
		memset(mem_at(m, 0x10000 + i * 0x1000)->bytes, 'a' + (int)i, MEM_PAGE);
	mem_at(m, 0x20000)->kind = ATW_EXCLUDED;
	memset(mem_at(m, 0x30000)->bytes, 'x', MEM_PAGE);
	marks_add(&marks, 0x11000, 0x1000);
	marks_add(&marks, 0x12800, 3);
	marks_add(&marks, 0x40000, 8);           /* the source has none there */
	CHECK(make(m, &marks, &made));
	CHECK_EQ(made.st.pages, 2);
	CHECK_EQ(made.st.runs, 1);

	CHECK_EQ(kind_at(made.s, 0xf000), ATW_NONE);
	CHECK_EQ(kind_at(made.s, 0x10000), ATW_EXCLUDED);
	CHECK_EQ(kind_at(made.s, 0x11000), ATW_DATA);
	CHECK_EQ(kind_at(made.s, 0x12fff), ATW_DATA);
	CHECK_EQ(kind_at(made.s, 0x13000), ATW_EXCLUDED);
	CHECK_EQ(kind_at(made.s, 0x14000), ATW_NONE);
	CHECK_EQ(kind_at(made.s, 0x20000), ATW_EXCLUDED);
	CHECK_EQ(kind_at(made.s, 0x30000), ATW_EXCLUDED);
	CHECK_EQ(kind_at(made.s, 0x40000), ATW_NONE);
	CHECK_EQ(atw_read(made.s, ATW_PA(0x11000), page, MEM_PAGE, NULL), MEM_PAGE);
	CHECK(page[0] == 'b' && page[MEM_PAGE - 1] == 'b');
	CHECK_EQ(atw_read(made.s, ATW_PA(0x12000), page, MEM_PAGE, NULL), MEM_PAGE);
	CHECK(!memcmp(page + 0x7ff, "\0ccc\0", 5));
	for (unsigned i = 0; i < MEM_PAGE; i++)
		CHECK(!page[i] || (i >= 0x800 && i < 0x803));
	made.s->ops->describe(made.s, text, sizeof(text));
	CHECK(strstr(text, "an extract"));
	end(&made, m);
}

TEST(nothing_marked_is_still_memory_that_was_left_out)
{
	struct memory *m = mem_new();
	struct byte_marks marks = {0};
	struct made made;

	mem_at(m, 0x10000);
	/* Without a byte of data the ELF source refuses it, and rightly. */
	CHECK(!make(m, &marks, &made));
	CHECK_EQ(made.st.pages, 0);
	end(&made, m);
}

/* ---- more segments than e_phnum can count ---- */

static ssize_t wide_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			 struct atw_err *err)
{
	(void)s;
	(void)err;
	memset(buf, (int)(pa.u >> 13 & 0xff), len);
	return (ssize_t)len;
}

static int wide_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	(void)s;
	if (pa.u >> 32)
		return ATW_END;
	*ret = (struct atw_extent){ pa, (UINT64_C(1) << 32) - pa.u, ATW_DATA };
	return ATW_OK;
}

static const struct atw_source_ops wide_ops = {
	.name = "wide", .read = wide_read, .extent = wide_extent,
};

TEST(more_than_65535_runs)
{
	struct memory wide = { .s = { .ops = &wide_ops } };
	struct byte_marks marks = {0};
	struct made made;
	uint8_t byte;

	for (uint64_t i = 0; i < 70000; i++)
		marks_add(&marks, i << 13, 16);
	CHECK(make(&wide, &marks, &made));
	CHECK_EQ(made.st.runs, 70000);
	for (uint64_t i = 0; i < 70000; i += 111) {
		CHECK_EQ(kind_at(made.s, i << 13), ATW_DATA);
		CHECK_EQ(kind_at(made.s, (i << 13) + 0x1000), ATW_EXCLUDED);
		CHECK_EQ(atw_read(made.s, ATW_PA((i << 13) + 15), &byte, 1, NULL), 1);
		CHECK_EQ(byte, i & 0xff);
		CHECK_EQ(atw_read(made.s, ATW_PA((i << 13) + 16), &byte, 1, NULL), 1);
		CHECK_EQ(byte, 0);
	}
	atw_source_close(made.s);
	unlink(made.path);
}
