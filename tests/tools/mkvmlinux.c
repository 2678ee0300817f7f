/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkvmlinux OUT [option...] - an ELF file with what atwalk reads of a vmlinux,
 * and no code: for tests of --kernel, on any machine, without a compiler. It
 * is written from the format's description and shares no code with the reader.
 *
 *	--symbols FILE    "ADDRESS TYPE NAME" a line, as System.map has them; a
 *	                  fourth word (a module) leaves the line out
 *	--minus HEX       from each address of the kernel's half
 *	--build-id HEX    a note in .notes
 *	--btf FILE        section .BTF
 *	--machine N       e_machine; 62 (x86_64) if not said
 *	--debug           as objcopy --only-keep-debug leaves it: no bytes in
 *	                  sections that are loaded, but for notes
 *	--text            not ELF: the symbols as a System.map
 */
#include <elf.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	char *p;
	size_t len, cap;
};

static size_t add(struct bytes *b, const void *data, size_t len)
{
	size_t at = b->len;

	if (at + len > b->cap) {
		b->cap = (at + len) * 2;
		b->p = realloc(b->p, b->cap);
		if (!b->p)
			err(1, "memory");
	}
	if (len)
		memcpy(b->p + at, data, len);
	b->len += len;
	return at;
}

static uint32_t text(struct bytes *b, const char *s)
{
	return (uint32_t)add(b, s, strlen(s) + 1);
}

/* ---- sections ---- */

enum { NONE, TEXT, RODATA, DATA, BSS, NOTES, BTF, SYMTAB, STRTAB, NAMES, SECTIONS };

static struct {
	const char *name;
	uint32_t type;
	uint64_t flags;
	struct bytes b;
} section[SECTIONS] = {
	[NONE] = { "", SHT_NULL, 0, { 0 } },
	[TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, { 0 } },
	[RODATA] = { ".rodata", SHT_PROGBITS, SHF_ALLOC, { 0 } },
	[DATA] = { ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, { 0 } },
	[BSS] = { ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, { 0 } },
	[NOTES] = { ".notes", SHT_NOTE, SHF_ALLOC, { 0 } },
	[BTF] = { ".BTF", SHT_PROGBITS, SHF_ALLOC, { 0 } },
	[SYMTAB] = { ".symtab", SHT_SYMTAB, 0, { 0 } },
	[STRTAB] = { ".strtab", SHT_STRTAB, 0, { 0 } },
	[NAMES] = { ".shstrtab", SHT_STRTAB, 0, { 0 } },
};

static uint16_t section_of(char type)
{
	switch (type | 0x20) {
	case 't':
	case 'w':
		return TEXT;
	case 'r':
		return RODATA;
	case 'b':
		return BSS;
	case 'a':
		return SHN_ABS;
	default:
		return DATA;
	}
}

static void add_symbol(uint64_t address, char type, const char *name)
{
	bool local = type & 0x20;
	Elf64_Sym s = {
		.st_name = text(&section[STRTAB].b, name),
		.st_info = ELF64_ST_INFO((type | 0x20) == 'w' ? STB_WEAK :
					 local ? STB_LOCAL : STB_GLOBAL,
					 (type | 0x20) == 't' ? STT_FUNC : STT_OBJECT),
		.st_shndx = section_of(type),
		.st_value = address,
	};

	add(&section[SYMTAB].b, &s, sizeof(s));
}

/* ---- what the options say ---- */

static void read_symbols(const char *path, uint64_t minus, FILE *as_text)
{
	FILE *f = fopen(path, "r");
	char line[1024], name[512], module[64], type;
	uint64_t address;

	if (!f)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %511s %63s", &address, &type, name,
			   module) != 3)
			continue;
		if (address >> 63)
			address -= minus;
		if (as_text)
			fprintf(as_text, "%016" PRIx64 " %c %s\n", address, type, name);
		else
			add_symbol(address, type, name);
	}
	fclose(f);
}

static void read_whole(struct bytes *b, const char *path)
{
	FILE *f = fopen(path, "rb");
	char buf[65536];
	size_t n;

	if (!f)
		err(1, "%s", path);
	while ((n = fread(buf, 1, sizeof(buf), f)))
		add(b, buf, n);
	fclose(f);
}

/* A note of another owner stands before it, as in a real vmlinux. */
static void add_build_id(const char *hex)
{
	unsigned char id[64];
	size_t n = 0;
	Elf64_Nhdr xen = { 4, 4, 7 }, gnu = { 4, 0, NT_GNU_BUILD_ID };

	for (; n < sizeof(id) && hex[2 * n] && hex[2 * n + 1]; n++) {
		unsigned byte;

		if (sscanf(hex + 2 * n, "%2x", &byte) != 1)
			errx(2, "--build-id %s is not hexadecimal", hex);
		id[n] = (unsigned char)byte;
	}
	gnu.n_descsz = (uint32_t)n;
	add(&section[NOTES].b, &xen, sizeof(xen));
	add(&section[NOTES].b, "Xen\0" "2.6", 8);
	add(&section[NOTES].b, &gnu, sizeof(gnu));
	add(&section[NOTES].b, "GNU", 4);
	add(&section[NOTES].b, id, n);
}

static void write_elf(FILE *f, uint16_t machine, bool debug)
{
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = machine, .e_version = 1,
		.e_ehsize = sizeof(eh), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS, .e_shstrndx = NAMES,
	};
	Elf64_Shdr sh[SECTIONS] = { { 0 } };
	uint64_t at = sizeof(eh);

	for (int i = 0; i < SECTIONS; i++)
		sh[i].sh_name = text(&section[NAMES].b, section[i].name);
	for (int i = 1; i < SECTIONS; i++) {
		bool kept = section[i].type != SHT_NOBITS &&
			!(debug && section[i].flags & SHF_ALLOC && i != NOTES);

		sh[i].sh_type = kept ? section[i].type : SHT_NOBITS;
		sh[i].sh_flags = section[i].flags;
		sh[i].sh_offset = at;
		sh[i].sh_size = section[i].b.len;
		at += kept ? section[i].b.len : 0;
	}
	sh[SYMTAB].sh_link = STRTAB;
	sh[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	eh.e_shoff = at;
	fwrite(&eh, sizeof(eh), 1, f);
	for (int i = 1; i < SECTIONS; i++)
		if (sh[i].sh_type != SHT_NOBITS && section[i].b.len)
			fwrite(section[i].b.p, section[i].b.len, 1, f);
	fwrite(sh, sizeof(sh), 1, f);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "symbols", 1, NULL, 's' }, { "minus", 1, NULL, 'm' },
		{ "build-id", 1, NULL, 'i' }, { "btf", 1, NULL, 'b' },
		{ "machine", 1, NULL, 'e' }, { "debug", 0, NULL, 'd' },
		{ "text", 0, NULL, 't' }, { NULL, 0, NULL, 0 },
	};
	const char *symbols = NULL;
	bool debug = false, as_text = false;
	uint64_t minus = 0;
	uint16_t machine = EM_X86_64;
	FILE *f;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (c) {
		case 's':
			symbols = optarg;
			break;
		case 'm':
			minus = strtoull(optarg, NULL, 16);
			break;
		case 'i':
			add_build_id(optarg);
			break;
		case 'b':
			read_whole(&section[BTF].b, optarg);
			break;
		case 'e':
			machine = (uint16_t)atoi(optarg);
			break;
		case 'd':
			debug = true;
			break;
		case 't':
			as_text = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc)
		errx(2, "usage: mkvmlinux OUT [option...]");
	f = fopen(argv[optind], "wb");
	if (!f)
		err(1, "%s", argv[optind]);
	text(&section[STRTAB].b, "");
	if (symbols) {
		add(&section[SYMTAB].b, &(Elf64_Sym){ 0 }, sizeof(Elf64_Sym));
		read_symbols(symbols, minus, as_text ? f : NULL);
	}
	if (!as_text)
		write_elf(f, machine, debug);
	if (fclose(f))
		err(1, "%s", argv[optind]);
	return 0;
}
