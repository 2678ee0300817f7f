/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.h - dump files made by hand, byte by byte, for tests of parsers and
 * sources. An image grows with zeroes to wherever something is put.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/source.h"

struct image {
	uint8_t *data;
	size_t len, cap;
	char path[64];           /* after image_save() */
};

static inline void put(struct image *im, size_t off, const void *data, size_t len)
{
	if (off + len > im->cap) {
		im->cap = (off + len) * 2;
		im->data = realloc(im->data, im->cap);
	}
	if (off + len > im->len) {
		memset(im->data + im->len, 0, off + len - im->len);
		im->len = off + len;
	}
	/* Nothing was allocated for nothing. */
	if (data && len)
		memcpy(im->data + off, data, len);
	else if (len)
		memset(im->data + off, 0, len);
}

/* `n` bytes of a number, little-endian. */
static inline void put_le(struct image *im, size_t off, unsigned n, uint64_t v)
{
	put(im, off, &v, n);
}

static inline void fill(struct image *im, size_t off, size_t len, int byte)
{
	put(im, off, NULL, len);
	if (len)
		memset(im->data + off, byte, len);
}

static inline struct atw_blob image_blob(const struct image *im)
{
	return (struct atw_blob){ im->data, im->len };
}

/* The image, or its first `len` bytes, as a temporary file. */
static inline const char *image_save(struct image *im, size_t len)
{
	FILE *f;
	int fd;

	if (!im->path[0])
		strcpy(im->path, "/tmp/atwalk-test-XXXXXX");
	fd = strstr(im->path, "XXXXXX") ? mkstemp(im->path) : -1;
	if (fd >= 0)
		close(fd);
	f = fopen(im->path, "wb");
	if (!f || fwrite(im->data, 1, len, f) != len || fclose(f))
		abort();
	return im->path;
}

static inline int image_open(struct image *im, size_t len, struct atw_source **ret,
			     struct atw_err *err)
{
	return atw_source_open(image_save(im, len), NULL, 0, ret, err);
}

static inline void image_free(struct image *im)
{
	if (im->path[0])
		unlink(im->path);
	free(im->data);
	*im = (struct image){ 0 };
}

/* ---- ELF64 ---- */

enum { EHDR64 = 64, PHDR64 = 56 };

/* A little-endian core with program headers right after the ELF header. */
static inline void elf64(struct image *im, unsigned machine, unsigned phnum)
{
	put(im, 0, "\177ELF\2\1\1", 7);
	put_le(im, 16, 2, 4);            /* ET_CORE */
	put_le(im, 18, 2, machine);
	put_le(im, 20, 4, 1);
	put_le(im, 32, 8, EHDR64);       /* e_phoff */
	put_le(im, 52, 2, EHDR64);
	put_le(im, 54, 2, PHDR64);
	put_le(im, 56, 2, phnum);
	put(im, EHDR64, NULL, (size_t)phnum * PHDR64);
}

static inline void phdr64(struct image *im, size_t at, uint32_t type,
			  uint64_t off, uint64_t paddr, uint64_t filesz,
			  uint64_t memsz)
{
	put_le(im, at, 4, type);
	put_le(im, at + 8, 8, off);
	put_le(im, at + 24, 8, paddr);
	put_le(im, at + 32, 8, filesz);
	put_le(im, at + 40, 8, memsz);
}

/* Returns where the next note goes. */
static inline size_t note(struct image *im, size_t at, const char *name,
			  uint32_t type, const void *desc, size_t len)
{
	size_t namesz = strlen(name) + 1, d = at + 12 + ((namesz + 3) & ~3ul);

	put_le(im, at, 4, namesz);
	put_le(im, at + 4, 4, len);
	put_le(im, at + 8, 4, type);
	put(im, at + 12, name, namesz);
	put(im, d, desc, len);
	put(im, d + len, NULL, -len & 3);
	return d + len + (-len & 3);
}

/* A "QEMU" note of version 1; CRn is base + n. */
static inline size_t qemu_note(struct image *im, size_t at, uint64_t base)
{
	struct image d = { 0 };
	size_t next;

	put(&d, 0, NULL, 440);
	put_le(&d, 0, 4, 1);
	put_le(&d, 4, 4, 440);
	for (unsigned n = 0; n < 5; n++)
		put_le(&d, 392 + 8 * n, 8, base + n);
	next = note(im, at, "QEMU", 0, d.data, d.len);
	image_free(&d);
	return next;
}

/* ---- LiME ---- */

static inline void lime_put(struct image *im, size_t at, uint32_t magic,
			    uint32_t version, uint64_t first, uint64_t last)
{
	put_le(im, at, 4, magic);
	put_le(im, at + 4, 4, version);
	put_le(im, at + 8, 8, first);
	put_le(im, at + 16, 8, last);
	put_le(im, at + 24, 8, 0);
}
