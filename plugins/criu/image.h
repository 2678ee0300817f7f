/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.h - entries of the images of CRIU, from bytes that may be anything. Pure.
 *
 * An image begins with one or two words of 32 bits: IMG_COMMON, if it is there, and that of its
 * type. Entries follow, each a length of 32 bits and a message (images/NAME.proto of CRIU).
 */
#pragma once

#include "proto.h"

/* criu/include/magic.h */
enum image_magic {
	IMAGE_COMMON = 0x54564319, IMAGE_SERVICE = 0x55105940,
	IMAGE_INVENTORY = 0x58313116, IMAGE_PSTREE = 0x50273030, IMAGE_CORE = 0x55053847,
	IMAGE_MM = 0x57492820, IMAGE_PAGEMAP = 0x56084025, IMAGE_FILES = 0x56303138,
	IMAGE_REG_FILES = 0x50363636, IMAGE_MEMFD = 0x48453499,
};

struct image_reader {
	struct atw_blob file;
	size_t pos;
	uint64_t n;              /* entries before `pos` */
};

enum image_result { IMAGE_END, IMAGE_ENTRY, IMAGE_WRONG };

/* false: it does not begin as one of that type. */
bool image_open(struct atw_blob file, enum image_magic magic, struct image_reader *ret);
/* IMAGE_WRONG: it ends within an entry. */
enum image_result image_next(struct image_reader *m, struct proto *ret);

/* One message each; false: it is wrong, or lacks what every one has. Texts are borrowed. */

struct image_task {
	uint32_t pid, ppid;
	struct atw_blob packed;  /* numbers of its threads; or */
	struct proto threads;    /* all fields, some of which are threads */
};
bool image_task(struct proto p, struct image_task *ret);
/* The next thread, the first of which is the task itself. */
bool image_thread(struct image_task *t, uint32_t *ret);

struct image_core {
	uint32_t machine;        /* image_machine() */
	bool ended;              /* it is dead, or a zombie: it has no memory */
	struct atw_blob name;    /* data NULL: it has none */
};
bool image_core(struct proto p, struct image_core *ret);
/* NULL: not known. */
const char *image_machine(uint32_t machine);

struct image_mm {
	uint64_t stack;          /* an address in it; 0: not known */
	uint64_t page;           /* bytes, of auxv; 0: not known */
	uint32_t exe;            /* a file's id */
	bool has_exe;
	struct proto areas;      /* for image_area_next() */
};
bool image_mm(struct proto p, struct image_mm *ret);

/* criu/include/image.h: status */
enum image_area_status {
	IMAGE_VSYSCALL = 1 << 2, IMAGE_VDSO = 1 << 3, IMAGE_HEAP = 1 << 5,
	IMAGE_FILE_PRIVATE = 1 << 6, IMAGE_FILE_SHARED = 1 << 7, IMAGE_ANON_SHARED = 1 << 8,
	IMAGE_SYSVIPC = 1 << 10, IMAGE_VVAR = 1 << 12, IMAGE_IN_MEMFD = 1 << 14,
};

struct image_area {
	uint64_t start, end, offset;
	uint64_t id;             /* of a file, or of shared memory */
	uint32_t prot, flags, status;    /* as of mmap(); enum image_area_status */
};
/* IMAGE_END behind the last. */
enum image_result image_area_next(struct image_mm *mm, struct image_area *ret);

struct image_pages {
	uint64_t address, n;
};
/* The first entry of a pagemap is its head, which has other fields. */
bool image_pages(struct proto p, struct image_pages *ret);

struct image_file {
	uint32_t id;
	struct atw_blob name;    /* data NULL: none, or it is a memfd */
	uint32_t inode;          /* of a memfd; 0: it is none */
};
bool image_file(struct proto p, struct image_file *ret);        /* files.img */
bool image_reg_file(struct proto p, struct image_file *ret);    /* reg-files.img, up to 3.2 */

struct image_memfd {
	uint64_t inode;
	uint32_t shm;            /* of pagemap-shmem-SHM.img */
	struct atw_blob name;
};
bool image_memfd(struct proto p, struct image_memfd *ret);
