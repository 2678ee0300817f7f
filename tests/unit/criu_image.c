/* SPDX-License-Identifier: GPL-2.0-or-later */
/* criu_image.c - images of CRIU: fields of messages, entries, and damage of each kind. */
#include "plugins/criu/proto.c"
#include "plugins/criu/image.c"

#include "test.h"

#define BLOB(s) ((struct atw_blob){ (s), sizeof(s) - 1 })

/* "number:value" of each field, "number=length" of bytes, and E or W. */
static const char *fields(struct atw_blob b)
{
	static char ret[200];
	struct proto p = proto_of(b);
	struct proto_field f;
	enum proto_result r;
	size_t at = 0;

	*ret = '\0';
	while ((r = proto_next(&p, &f)) == PROTO_FIELD)
		at += (size_t)(f.type == PROTO_BYTES
				       ? snprintf(ret + at, sizeof(ret) - at, "%u=%zu ", f.number, f.bytes.len)
				       : snprintf(ret + at, sizeof(ret) - at, "%u:%llx ", f.number,
						  (unsigned long long)f.value));
	snprintf(ret + at, sizeof(ret) - at, "%c", r == PROTO_END ? 'E' : 'W');
	return ret;
}

TEST(numbers_and_bytes)
{
	CHECK_STR(fields(BLOB("")), "E");
	CHECK_STR(fields(BLOB("\x08\x96\x01")), "1:96 E");
	CHECK_STR(fields(BLOB("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), "1:ffffffffffffffff E");
	CHECK_STR(fields(BLOB("\x09\x01\x02\x03\x04\x05\x06\x07\x08\x15\x01\x02\x03\x04")),
		 "1:807060504030201 2:4030201 E");
	CHECK_STR(fields(BLOB("\x22\x02" "ab\xa0\x01\x05")), "4=2 20:5 E");
}

TEST(fields_that_are_cut_off)
{
	CHECK_STR(fields(BLOB("\x08")), "W");
	CHECK_STR(fields(BLOB("\x08\x80")), "W");
	CHECK_STR(fields(BLOB("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")), "W");
	CHECK_STR(fields(BLOB("\x08\x01\x22\x03" "ab")), "1:1 W");
	CHECK_STR(fields(BLOB("\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" "ab")), "W");
	CHECK_STR(fields(BLOB("\x09\x01\x02\x03\x04\x05\x06\x07")), "W");
	CHECK_STR(fields(BLOB("\x15\x01\x02\x03")), "W");
	CHECK_STR(fields(BLOB("\x00\x01")), "W");
	CHECK_STR(fields(BLOB("\x0b")), "W");
	CHECK_STR(fields(BLOB("\xf8\xff\xff\xff\xff\x01\x01")), "W");
}

TEST(an_image_has_one_word_or_two)
{
	struct image_reader m;
	struct proto p;

	CHECK(image_open(BLOB("\x30\x30\x27\x50"), IMAGE_PSTREE, &m));
	CHECK(image_next(&m, &p) == IMAGE_END);
	CHECK(image_open(BLOB("\x19\x43\x56\x54\x30\x30\x27\x50\x02\0\0\0\x08\x01\0\0\0\0"), IMAGE_PSTREE, &m));
	CHECK(image_next(&m, &p) == IMAGE_ENTRY && p.end - p.at == 2);
	CHECK(image_next(&m, &p) == IMAGE_ENTRY && p.end == p.at);
	CHECK(image_next(&m, &p) == IMAGE_END && m.n == 2);
}

TEST(images_that_are_cut_off)
{
	struct image_reader m;
	struct proto p;

	CHECK(!image_open(BLOB(""), IMAGE_PSTREE, &m));
	CHECK(!image_open(BLOB("\x19\x43\x56"), IMAGE_PSTREE, &m));
	CHECK(!image_open(BLOB("\x19\x43\x56\x54"), IMAGE_PSTREE, &m));
	CHECK(!image_open(BLOB("\x19\x43\x56\x54\x30\x30\x27\x51"), IMAGE_PSTREE, &m));
	CHECK(image_open(BLOB("\x30\x30\x27\x50\x02\0\0"), IMAGE_PSTREE, &m));
	CHECK(image_next(&m, &p) == IMAGE_WRONG);
	CHECK(image_open(BLOB("\x30\x30\x27\x50\x02\0\0\0\x08"), IMAGE_PSTREE, &m));
	CHECK(image_next(&m, &p) == IMAGE_WRONG);
	CHECK(image_open(BLOB("\x30\x30\x27\x50\xff\xff\xff\xff\x08"), IMAGE_PSTREE, &m));
	CHECK(image_next(&m, &p) == IMAGE_WRONG);
}

TEST(threads_are_fields_or_packed)
{
	struct image_task task;
	uint32_t tid;

	CHECK(image_task(proto_of(BLOB("\x08\x07\x10\x01\x28\x07\x2a\x02\x08\x09\x28\x0a")), &task));
	CHECK(task.pid == 7 && task.ppid == 1);
	for (uint32_t i = 7; i <= 10; i++)
		CHECK(image_thread(&task, &tid) && tid == i);
	CHECK(!image_thread(&task, &tid));
	CHECK(!image_task(proto_of(BLOB("\x08\x07")), &task));
	CHECK(!image_task(proto_of(BLOB("\x08\0\x10\x01")), &task));
	CHECK(!image_task(proto_of(BLOB("\x08\xff\xff\xff\xff\x7f\x10\x01")), &task));
}

TEST(names_and_states)
{
	struct image_core core;

	CHECK(image_core(proto_of(BLOB("\x08\x01\x1a\x06\x08\x01\x32\x02" "ab")), &core));
	CHECK(core.machine == 1 && core.name.len == 2 && !core.ended);
	CHECK(image_core(proto_of(BLOB("\x08\x03\x2a\x03\x6a\x01" "c")), &core));
	CHECK(core.machine == 3 && core.name.len == 1);
	CHECK(image_core(proto_of(BLOB("\x08\x01\x1a\x02\x08\x06")), &core) && core.ended && !core.name.data);
	CHECK(!image_core(proto_of(BLOB("\x1a\x02\x08\x06")), &core));
	CHECK(!image_core(proto_of(BLOB("\x08\x01\x1a\x02\x08")), &core));
	CHECK_STR(image_machine(3), "aarch64");
	CHECK(!image_machine(0) && !image_machine(7) && !image_machine(UINT32_MAX));
}

TEST(an_address_space)
{
	struct image_mm mm;
	struct image_area area;

	CHECK(image_mm(proto_of(BLOB("\x28\x09\x60\x05\x6a\x06\x03\x40\x06\x80\x80\x04\x68\0\x68\0"
				     "\x72\x0e\x08\x01\x10\x02\x18\x03\x20\x04\x28\x05\x30\x06\x38\x07"
				     "\x72\x02\x08\x01")), &mm));
	CHECK(mm.stack == 9 && mm.exe == 5 && mm.has_exe && mm.page == 65536);
	CHECK(image_area_next(&mm, &area) == IMAGE_ENTRY);
	CHECK(area.start == 1 && area.end == 2 && area.offset == 3 && area.id == 4 &&
	      area.prot == 5 && area.flags == 6 && area.status == 7);
	CHECK(image_area_next(&mm, &area) == IMAGE_WRONG);
	CHECK(image_area_next(&mm, &area) == IMAGE_END);
	CHECK(image_mm(proto_of(BLOB("\x28\x09\x68\x06")), &mm) && !mm.page && !mm.has_exe);
	CHECK(!image_mm(proto_of(BLOB("\x60\x05")), &mm));
}

TEST(pages_and_files)
{
	struct image_pages pages;
	struct image_file file;
	struct image_memfd memfd;

	CHECK(image_pages(proto_of(BLOB("\x08\x80\x20\x10\x03\x20\x01")), &pages));
	CHECK(pages.address == 4096 && pages.n == 3);
	CHECK(!image_pages(proto_of(BLOB("\x08\x03")), &pages));
	CHECK(image_file(proto_of(BLOB("\x08\x01\x10\x05\x1a\x04\x32\x02/a")), &file));
	CHECK(file.id == 5 && file.name.len == 2 && !file.inode);
	CHECK(image_file(proto_of(BLOB("\x08\x12\x10\x05\xa2\x01\x02\x28\x04")), &file) && file.inode == 4);
	CHECK(image_file(proto_of(BLOB("\x08\x02\x10\x06")), &file) && file.id == 6 && !file.name.data);
	CHECK(!image_file(proto_of(BLOB("\x08\x12\x10\x05\xa2\x01\x02\x20\x04")), &file));
	CHECK(!image_file(proto_of(BLOB("\x08\x01")), &file));
	CHECK(image_reg_file(proto_of(BLOB("\x08\x05\x32\x02/a")), &file) && file.id == 5 && file.name.len == 2);
	CHECK(image_memfd(proto_of(BLOB("\x0a\x01w\x28\x09\x38\x04")), &memfd));
	CHECK(memfd.inode == 4 && memfd.shm == 9 && memfd.name.len == 1);
	CHECK(!image_memfd(proto_of(BLOB("\x0a\x01w\x28\x09")), &memfd));
}
