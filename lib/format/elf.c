// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf.c - ELF headers, program headers and notes; System V gABI chapters 4 and 5.
 *
 * Not checked: e_ehsize (QEMU 7.2 writes 8), e_version, section names.
 */
#include "format/elf.h"

#include <inttypes.h>

#include "base/bytes.h"

enum {
	EI_CLASS = 4, EI_DATA = 5,
	CLASS32 = 1, CLASS64 = 2, DATA_LE = 1, DATA_BE = 2,
	/* e_phnum if the count needs more than 16 bits: it is stored in section 0. */
	PN_XNUM = 0xffff,
	NOTE_HEADER = 12,
	NOTE_NAME_MAX = 4096,
};

/* Offsets that differ between the two classes; of 32 bits first. */
struct elf_layout {
	uint16_t ehdr, phdr, shdr;                   /* sizes */
	uint8_t phoff, shoff, phentsize, phnum;      /* in the ELF header */
	uint8_t sh_info;                             /* in a section header */
};

static const struct elf_layout layouts[] = {
	{ .ehdr = 52, .phdr = 32, .shdr = 40,
	  .phoff = 28, .shoff = 32, .phentsize = 42, .phnum = 44, .sh_info = 28 },
	{ .ehdr = 64, .phdr = 56, .shdr = 64,
	  .phoff = 32, .shoff = 40, .phentsize = 54, .phnum = 56, .sh_info = 44 },
};

static uint64_t elf_get_word(bool is64, const uint8_t *p)
{
	return is64 ? get_le64(p) : get_le32(p);
}

bool elf_magic(struct atw_blob head)
{
	return head.len >= 4 && !memcmp(head.data, "\177ELF", 4);
}

/* The number of program headers if e_phnum cannot hold it. */
static int elf_extended_phnum(const struct elf *e, uint64_t shoff, uint32_t *ret,
			      struct atw_err *err)
{
	const struct elf_layout *l = &layouts[e->is64];
	const uint8_t *sh = blob_at(e->file, shoff, l->shdr);

	if (!shoff)
		return atw_err_set(err, ATW_E_DAMAGED,
			"ELF header: e_phnum is 0xffff (see section header 0), but there are no section headers");
	if (!sh)
		return atw_err_set(err, ATW_E_DAMAGED,
			"section header 0 at 0x%" PRIx64 ", which counts the program headers, is past the end of the file (0x%zx bytes)",
			shoff, e->file.len);
	*ret = get_le32(sh + l->sh_info);
	return ATW_OK;
}

int elf_parse(struct atw_blob file, struct elf *ret, struct atw_err *err)
{
	const uint8_t *p = file.data;
	struct elf e = { .file = file };
	const struct elf_layout *l;
	uint64_t table;
	int r;

	if (!elf_magic(file))
		return atw_err_set(err, ATW_E_FORMAT, "not an ELF file");
	if (file.len > EI_DATA && p[EI_DATA] == DATA_BE)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "ELF header: the file is big-endian");
	if (file.len > EI_DATA && ((p[EI_CLASS] != CLASS32 && p[EI_CLASS] != CLASS64) ||
				   p[EI_DATA] != DATA_LE))
		return atw_err_set(err, ATW_E_DAMAGED,
			"ELF header: class %u, byte order %u: there is no such ELF file",
			p[EI_CLASS], p[EI_DATA]);
	e.is64 = file.len > EI_CLASS && p[EI_CLASS] == CLASS64;
	l = &layouts[e.is64];
	if (file.len < l->ehdr)
		return atw_err_set(err, ATW_E_DAMAGED,
			"ELF header: needs %u bytes, and the file has %zu",
			l->ehdr, file.len);

	e.type = get_le16(p + 16);
	e.machine = get_le16(p + 18);
	e.phoff = elf_get_word(e.is64, p + l->phoff);
	e.phentsize = get_le16(p + l->phentsize);
	e.phnum = get_le16(p + l->phnum);
	if (e.phnum == PN_XNUM) {
		r = elf_extended_phnum(&e, elf_get_word(e.is64, p + l->shoff), &e.phnum,
				       err);
		if (r < 0)
			return r;
	}
	if (e.phnum && e.phentsize < l->phdr)
		return atw_err_set(err, ATW_E_DAMAGED,
			"ELF header: e_phentsize is %u, and a program header takes %u bytes",
			e.phentsize, l->phdr);
	table = (uint64_t)e.phnum * e.phentsize;
	if (!blob_at(file, e.phoff, table))
		return atw_err_set(err, ATW_E_DAMAGED,
			"program headers at 0x%" PRIx64 " (%u of %u bytes) run past the end of the file (0x%zx bytes)",
			e.phoff, e.phnum, e.phentsize, file.len);
	*ret = e;
	return ATW_OK;
}

struct elf_phdr elf_phdr(const struct elf *e, uint32_t i)
{
	struct elf_phdr ph = { .at = e->phoff + (uint64_t)i * e->phentsize };
	const uint8_t *p = (const uint8_t *)e->file.data + ph.at;
	size_t word = e->is64 ? 8 : 4;

	/* Of 64 bits, the flags precede the offset; of 32 bits, they follow the sizes. */
	ph.type = get_le32(p);
	ph.flags = get_le32(p + (e->is64 ? 4 : 24));
	ph.offset = elf_get_word(e->is64, p + word);
	ph.vaddr = elf_get_word(e->is64, p + 2 * word);
	ph.paddr = elf_get_word(e->is64, p + 3 * word);
	ph.filesz = elf_get_word(e->is64, p + 4 * word);
	ph.memsz = elf_get_word(e->is64, p + 5 * word);
	return ph;
}

struct elf_notes elf_notes(const struct elf *e, const struct elf_phdr *ph)
{
	struct elf_notes it = { .base = ph->offset };
	uint64_t len = ph->filesz;

	if (ph->offset >= e->file.len)
		return it;
	if (len > e->file.len - ph->offset)
		len = e->file.len - ph->offset;
	it.seg.data = (const uint8_t *)e->file.data + ph->offset;
	it.seg.len = (size_t)len;
	return it;
}

/* Cores pad names and descriptions to 4 bytes, in both classes. */
static uint64_t elf_pad4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

int elf_notes_next(struct elf_notes *it, struct elf_note *ret, struct atw_err *err)
{
	const uint8_t *p;
	struct elf_note n;
	uint64_t namesz, descsz, name, desc;

	if (it->off >= it->seg.len)
		return ATW_END;
	n.at = it->base + it->off;
	p = blob_at(it->seg, it->off, NOTE_HEADER);
	if (!p)
		return atw_err_set(err, ATW_E_DAMAGED,
			"note at 0x%" PRIx64 ": its header runs past the end of the notes",
			n.at);
	namesz = get_le32(p);
	descsz = get_le32(p + 4);
	n.type = get_le32(p + 8);
	/* The kernel fills unused room for notes with zeroes. */
	if (!namesz && !descsz && !n.type)
		return ATW_END;

	name = it->off + NOTE_HEADER;
	desc = name + elf_pad4(namesz);
	n.name = blob_at(it->seg, name, namesz);
	n.desc.data = blob_at(it->seg, desc, descsz);
	n.desc.len = (size_t)descsz;
	if (!n.name || !n.desc.data)
		return atw_err_set(err, ATW_E_DAMAGED,
			"note at 0x%" PRIx64 ": name of 0x%" PRIx64 " and contents of 0x%" PRIx64 " bytes run past the end of the notes",
			n.at, namesz, descsz);
	/* A name of length 0 is invalid; it may be padding of zeroes. */
	while (namesz && namesz <= NOTE_NAME_MAX && !n.name[namesz - 1])
		namesz--;
	n.namelen = (size_t)namesz;
	/* The last note of a segment may lack its padding. */
	it->off = desc + elf_pad4(descsz);
	*ret = n;
	return ATW_OK;
}

bool elf_note_is(const struct elf_note *n, const char *name, uint32_t type)
{
	return n->type == type && n->namelen == strlen(name) &&
	       !memcmp(n->name, name, n->namelen);
}

const void *elf_qemu_cr(const struct elf_note *n, unsigned cr)
{
	/*
	 * QEMU, target/i386/arch_dump.c, struct QEMUCPUState: version, size,
	 * 16 registers, rip, rflags, 10 segments of 24 bytes, then cr[5].
	 */
	enum { VERSION = 1, CR = 8 + 18 * 8 + 10 * 24, END = CR + 5 * 8 };
	const uint8_t *p = blob_at(n->desc, 0, END);

	if (!p || !elf_note_is(n, "QEMU", 0) || cr > 4 || cr == 1 ||
	    get_le32(p) != VERSION || get_le32(p + 4) < END)
		return NULL;
	return p + CR + 8 * cr;
}

const char *elf_machine_name(const struct elf *e)
{
	static const struct { uint16_t machine; const char *name; } known[] = {
		{ 3, "i386" }, { 40, "arm" }, { 62, "x86_64" }, { 183, "aarch64" },
	};

	if (e->machine == 243)
		return e->is64 ? "riscv64" : "riscv32";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].machine == e->machine)
			return known[i].name;
	return NULL;
}
