/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain.h - the floor: an x86_64 four-level walk over a mapped ELF core, as
 * one writes it for this one purpose. It knows one mode, trusts every byte and
 * says nothing of rights, holes or why.
 */
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAIN_NONE   UINT64_MAX
#define PLAIN_ADDR   UINT64_C(0x000ffffffffff000)

enum { PLAIN_P = 1, PLAIN_PS = 0x80, PLAIN_BANKS = 8 };

struct plain {
	struct plain_bank {
		uint64_t start, len;
		const unsigned char *at;
	} bank[PLAIN_BANKS];
	unsigned nbanks;
	uint64_t root;
	void *map;
	size_t size;
};

/* False for what is not a 64-bit core of at most PLAIN_BANKS segments. */
static inline bool plain_open(struct plain *p, const char *path, uint64_t root)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Phdr *ph;
	const Elf64_Ehdr *e;
	struct stat st;

	*p = (struct plain){ .root = root };
	if (fd < 0 || fstat(fd, &st))
		return false;
	p->size = (size_t)st.st_size;
	p->map = mmap(NULL, p->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p->map == MAP_FAILED)
		return false;
	e = p->map;
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	ph = (const void *)((const char *)p->map + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (p->nbanks == PLAIN_BANKS)
			return false;
		p->bank[p->nbanks++] = (struct plain_bank){
			ph[i].p_paddr, ph[i].p_filesz,
			(const unsigned char *)p->map + ph[i].p_offset,
		};
	}
	return true;
}

static inline void plain_close(struct plain *p)
{
	munmap(p->map, p->size);
}

static inline const unsigned char *plain_at(const struct plain *p, uint64_t pa)
{
	for (unsigned i = 0; i < p->nbanks; i++)
		if (pa - p->bank[i].start < p->bank[i].len)
			return p->bank[i].at + (pa - p->bank[i].start);
	return NULL;
}

static inline uint64_t plain_word(const unsigned char *table, unsigned index)
{
	uint64_t w;

	memcpy(&w, table + 8 * index, 8);
	return w;
}

static inline uint64_t plain_translate(const struct plain *p, uint64_t va)
{
	uint64_t pa = p->root, low;

	for (unsigned shift = 39; ; shift -= 9) {
		const unsigned char *table = plain_at(p, pa);
		uint64_t w;

		if (!table)
			return PLAIN_NONE;
		w = plain_word(table, va >> shift & 511);
		if (!(w & PLAIN_P))
			return PLAIN_NONE;
		if (shift == 12 || w & PLAIN_PS) {
			low = ((uint64_t)1 << shift) - 1;
			return (w & PLAIN_ADDR & ~low) | (va & low);
		}
		pa = w & PLAIN_ADDR;
	}
}

/* Adds up what every leaf below the table maps to, and counts them. */
static inline uint64_t plain_list(const struct plain *p, uint64_t pa,
				  unsigned shift, uint64_t *count)
{
	const unsigned char *table = plain_at(p, pa);
	uint64_t sum = 0, leaves = 0, low = ((uint64_t)1 << shift) - 1;

	if (!table)
		return 0;
	for (unsigned i = 0; i < 512; i++) {
		uint64_t w = plain_word(table, i);

		if (!(w & PLAIN_P))
			continue;
		if (shift == 12 || w & PLAIN_PS) {
			sum += w & PLAIN_ADDR & ~low;
			leaves++;
		} else {
			sum += plain_list(p, w & PLAIN_ADDR, shift - 9, count);
		}
	}
	*count += leaves;
	return sum;
}
