/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmlinux_image.h - small ELF files with sections and symbols, made by hand. */
#pragma once

#include "unit/image.h"

enum { SHDR64 = 64, SYM64 = 24, VMLINUX_SECTIONS = 16 };

struct vmlinux_image {
	struct image file, names, strings, symbols;
	struct { uint32_t name, type, link; uint64_t flags, offset, size, entsize; }
		section[VMLINUX_SECTIONS];
	unsigned n;
};

static inline uint32_t vmlinux_text(struct image *im, const char *s)
{
	size_t at = im->len ? im->len : 1;

	put(im, at, s, strlen(s) + 1);
	return (uint32_t)at;
}

/* Behind what is there; NULL leaves zeroes. Returns its number. */
static inline unsigned vmlinux_section(struct vmlinux_image *v, const char *name,
				       uint32_t type, uint64_t flags, const void *data,
				       size_t len)
{
	if (!v->n) {
		put(&v->file, 0, "\177ELF\2\1\1", 7);
		put(&v->file, 0x3f, NULL, 1);
		put_le(&v->file, 16, 2, 2);              /* ET_EXEC */
		put_le(&v->file, 18, 2, 62);
		v->n = 1;
	}
	v->section[v->n].name = vmlinux_text(&v->names, name);
	v->section[v->n].type = type;
	v->section[v->n].flags = flags;
	v->section[v->n].offset = v->file.len;
	v->section[v->n].size = len;
	if (type != 8 && len)
		put(&v->file, v->file.len, data, len);
	return v->n++;
}

static inline void vmlinux_symbol(struct vmlinux_image *v, const char *name, uint64_t value,
				  unsigned section, unsigned info)
{
	size_t at = v->symbols.len ? v->symbols.len : SYM64;

	put(&v->symbols, at, NULL, SYM64);
	put_le(&v->symbols, at, 4, *name ? vmlinux_text(&v->strings, name) : 0);
	put_le(&v->symbols, at + 4, 1, info);
	put_le(&v->symbols, at + 6, 2, section);
	put_le(&v->symbols, at + 8, 8, value);
}

/* Symbols, names and the table of sections. Call it last. */
static inline struct atw_blob vmlinux_finish(struct vmlinux_image *v)
{
	unsigned s, names;
	size_t at;

	if (v->symbols.len) {
		s = vmlinux_section(v, ".symtab", 2, 0, v->symbols.data, v->symbols.len);
		v->section[s].link = v->n;
		v->section[s].entsize = SYM64;
		vmlinux_section(v, ".strtab", 3, 0, v->strings.data, v->strings.len);
	}
	/* Its own name is one of its bytes: they are known only then. */
	names = vmlinux_section(v, ".shstrtab", 3, 0, NULL, 0);
	put(&v->file, v->file.len, v->names.data, v->names.len);
	v->section[names].size = v->names.len;
	at = v->file.len;
	put(&v->file, at, NULL, (size_t)v->n * SHDR64);
	for (unsigned i = 1; i < v->n; i++) {
		size_t sh = at + (size_t)i * SHDR64;

		put_le(&v->file, sh, 4, v->section[i].name);
		put_le(&v->file, sh + 4, 4, v->section[i].type);
		put_le(&v->file, sh + 8, 8, v->section[i].flags);
		put_le(&v->file, sh + 24, 8, v->section[i].offset);
		put_le(&v->file, sh + 32, 8, v->section[i].size);
		put_le(&v->file, sh + 40, 4, v->section[i].link);
		put_le(&v->file, sh + 56, 8, v->section[i].entsize);
	}
	put_le(&v->file, 40, 8, at);
	put_le(&v->file, 58, 2, SHDR64);
	put_le(&v->file, 60, 2, v->n);
	put_le(&v->file, 62, 2, names);
	return image_blob(&v->file);
}

static inline void vmlinux_free(struct vmlinux_image *v)
{
	image_free(&v->file);
	image_free(&v->names);
	image_free(&v->strings);
	image_free(&v->symbols);
}

/*
 * A kernel linked at 0xffffffff81000000: text, rodata, data, bss, a CPU's data
 * from 0 on, a constant, two notes, and 16 bytes that stand for BTF.
 */
static inline struct atw_blob vmlinux_sample(struct vmlinux_image *v)
{
	struct image notes = { 0 };
	size_t at = note(&notes, 0, "Xen", 6, "linux", 6);
	unsigned text, rodata, data, bss;

	note(&notes, at, "GNU", 3, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
	text = vmlinux_section(v, ".text", 1, 2 | 4, NULL, 64);
	rodata = vmlinux_section(v, ".rodata", 1, 2, NULL, 16);
	data = vmlinux_section(v, ".data", 1, 2 | 1, NULL, 16);
	bss = vmlinux_section(v, ".bss", 8, 2 | 1, NULL, 4096);
	vmlinux_section(v, ".notes", 7, 2, notes.data, notes.len);
	vmlinux_section(v, ".BTF", 1, 2, "not BTF, but ours", 16);
	image_free(&notes);
	vmlinux_symbol(v, "main.c", 0, 0xfff1, 4);
	vmlinux_symbol(v, "", 0xffffffff81000000, text, 3);
	vmlinux_symbol(v, "$x", 0xffffffff81000000, text, 0);
	vmlinux_symbol(v, ".L1", 0xffffffff81000010, text, 0);
	vmlinux_symbol(v, "helper", 0xffffffff81000020, text, 2);
	vmlinux_symbol(v, "twice", 0xffffffff81000030, text, 2);
	vmlinux_symbol(v, "undefined", 0, 0, 0x10);
	vmlinux_symbol(v, "_text", 0xffffffff81000000, text, 0x10);
	vmlinux_symbol(v, "_stext", 0xffffffff81001000, text, 0x10);
	vmlinux_symbol(v, "twice", 0xffffffff81002000, text, 0x12);
	vmlinux_symbol(v, "weak", 0xffffffff81002010, text, 0x22);
	vmlinux_symbol(v, "banner", 0xffffffff82000000, rodata, 0x11);
	vmlinux_symbol(v, "init_uts_ns", 0xffffffff82800000, data, 0x11);
	vmlinux_symbol(v, "node_online_map", 0xffffffff82800400, data, 0x11);
	vmlinux_symbol(v, "init_top_pgt", 0xffffffff82810000, data, 0x11);
	vmlinux_symbol(v, "clear_seq", 0xffffffff83000000, bss, 0x11);
	vmlinux_symbol(v, "_end", 0xffffffff83800000, bss, 0x10);
	vmlinux_symbol(v, "runqueues", 0x1f000, data, 0x11);
	vmlinux_symbol(v, "constant", 0x1000000, 0xfff1, 0x10);
	return vmlinux_finish(v);
}
