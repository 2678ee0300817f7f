// SPDX-License-Identifier: GPL-2.0-or-later
/* elfsec.c - section headers of ELF files; System V gABI chapter 4. */
#include "format/elfsec.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "format/elf.h"

enum { EHDR = 64, SHDR = 64, XINDEX = 0xffff, NT_GNU_BUILD_ID = 3 };

/*
 * Names up to the last NUL; a name behind it would not be terminated. A damaged name
 * table does not prevent access to the rest of the file.
 */
static void elfsec_find_names(struct elfsec *e, uint32_t i)
{
	struct elfsec_section s;
	struct atw_blob b;

	if (i >= e->n)
		return;
	s = elfsec_at(e, i);
	if (elfsec_bytes(e, &s, &b, NULL) < 0)
		return;
	while (b.len && ((const char *)b.data)[b.len - 1])
		b.len--;
	e->names = b;
}

int elfsec_parse(struct atw_blob file, struct elfsec *ret, struct atw_err *err)
{
	struct elfsec e = { .file = file };
	struct elf elf;
	const uint8_t *p;
	uint32_t names;
	/* Class, byte order and a complete header: the same checks as for a dump. */
	int r = elf_parse(file, &elf, err);

	if (r < 0)
		return r;
	if (!elf.is64)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "ELF header: the file is of 32 bits");
	p = file.data;
	e.type = elf.type;
	e.machine = elf.machine;
	e.shoff = get_le64(p + 40);
	e.entsize = get_le16(p + 58);
	e.n = get_le16(p + 60);
	names = get_le16(p + 62);
	if (!e.shoff)
		e.n = 0;
	if (e.shoff && e.entsize < SHDR)
		return atw_err_set(err, ATW_E_DAMAGED,
			"ELF header: e_shentsize is %u, and a section header takes %d bytes",
			e.entsize, SHDR);
	/* Numbers above 16 bits are stored in section 0. */
	if (e.shoff && (!e.n || names == XINDEX)) {
		p = blob_at(file, e.shoff, SHDR);
		if (!p)
			return atw_err_set(err, ATW_E_DAMAGED,
				"section header 0 at 0x%" PRIx64 " is past the end of the file (0x%zx bytes)",
				e.shoff, file.len);
		if (!e.n && get_le64(p + 32) <= UINT32_MAX)
			e.n = (uint32_t)get_le64(p + 32);
		if (names == XINDEX)
			names = get_le32(p + 40);
	}
	if (!blob_at(file, e.shoff, (uint64_t)e.n * e.entsize))
		return atw_err_set(err, ATW_E_DAMAGED,
			"section headers at 0x%" PRIx64 " (%u of %u bytes) run past the end of the file (0x%zx bytes)",
			e.shoff, e.n, e.entsize, file.len);
	elfsec_find_names(&e, names);
	*ret = e;
	return ATW_OK;
}

struct elfsec_section elfsec_at(const struct elfsec *e, uint32_t i)
{
	struct elfsec_section s = { .name = "" };
	const uint8_t *p;

	if (i >= e->n)
		return s;
	p = (const uint8_t *)e->file.data + e->shoff + (uint64_t)i * e->entsize;
	if (get_le32(p) < e->names.len)
		s.name = (const char *)e->names.data + get_le32(p);
	s.type = get_le32(p + 4);
	s.flags = get_le64(p + 8);
	s.address = get_le64(p + 16);
	s.offset = get_le64(p + 24);
	s.size = get_le64(p + 32);
	s.link = get_le32(p + 40);
	s.entsize = get_le64(p + 56);
	return s;
}

int elfsec_find(const struct elfsec *e, const char *name, struct elfsec_section *ret)
{
	for (uint32_t i = 1; i < e->n; i++) {
		struct elfsec_section s = elfsec_at(e, i);

		if (!strcmp(s.name, name)) {
			*ret = s;
			return ATW_OK;
		}
	}
	return ATW_E_MISSING;
}

int elfsec_bytes(const struct elfsec *e, const struct elfsec_section *s,
		 struct atw_blob *ret, struct atw_err *err)
{
	const void *p;

	if (s->type == ELFSEC_NOBITS || !s->type)
		return atw_err_set(err, ATW_E_MISSING, "section %.60s is listed, and its bytes are not in the file",
				   s->name);
	if (s->flags & ELFSEC_COMPRESSED)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "section %.60s is compressed", s->name);
	p = blob_at(e->file, s->offset, s->size);
	if (!p)
		return atw_err_set(err, ATW_E_DAMAGED,
			"section %.60s at 0x%" PRIx64 " (0x%" PRIx64 " bytes) runs past the end of the file (0x%zx bytes)",
			s->name, s->offset, s->size, e->file.len);
	*ret = (struct atw_blob){ p, (size_t)s->size };
	return ATW_OK;
}

/* The first build ID in these notes that has `most` bytes or less. */
static bool elfsec_find_build(struct elf_notes it, size_t most, struct atw_blob *ret)
{
	struct elf_note n;

	while (elf_notes_next(&it, &n, NULL) == ATW_OK)
		if (elf_note_is(&n, "GNU", NT_GNU_BUILD_ID) && n.desc.len &&
		    n.desc.len <= most) {
			*ret = n.desc;
			return true;
		}
	return false;
}

int elfsec_build_id(const struct elfsec *e, struct atw_blob *ret)
{
	const struct elf file = { .file = e->file };

	/* A vmlinux has all notes in .notes, other files have .note.gnu.build-id. */
	for (uint32_t i = 1; i < e->n; i++) {
		struct elfsec_section s = elfsec_at(e, i);
		struct elf_phdr ph = { .offset = s.offset, .filesz = s.size };

		if (s.type == ELFSEC_NOTE &&
		    elfsec_find_build(elf_notes(&file, &ph), SIZE_MAX, ret))
			return ATW_OK;
	}
	return ATW_E_MISSING;
}

/* ---- programs and libraries ---- */

enum {
	ET_EXEC = 2, ET_DYN = 3,
	PT_GNU_RELRO = 0x6474e552,
	HEADERS = 1024,              /* limit of program headers; e_phnum is untrusted */
};

static void elfsec_unit_build(struct elf_notes it, struct elfunit *u)
{
	struct atw_blob id;

	if (u->build.len || !elfsec_find_build(it, CAPTURE_BUILD, &id))
		return;
	memcpy(u->build.b, id.data, id.len);
	u->build.len = id.len;
}

void elfunit_notes(struct atw_blob notes, struct elfunit *u)
{
	elfsec_unit_build((struct elf_notes){.seg = notes}, u);
}

static void elfsec_add_load(struct elfunit *u, const struct elf_phdr *ph)
{
	uint64_t end;

	/* A load that exceeds 64 bits cannot be mapped. */
	if (__builtin_add_overflow(ph->vaddr, ph->memsz, &end) ||
	    __builtin_add_overflow(ph->offset, ph->filesz, &end))
		return;
	if (u->loads == ELFUNIT_LOADS) {
		u->cut = true;
		return;
	}
	/* PF_X, PF_W, PF_R have the same values in captures. */
	u->load[u->loads++] = (struct capture_load){
		ph->offset, ph->vaddr, ph->filesz, ph->memsz,
		(ph->flags & 7) | (ph->type == PT_GNU_RELRO ? CAPTURE_LOAD_RELRO : 0),
	};
}

int elfunit_parse(struct atw_blob head, struct elfunit *ret)
{
	struct elfunit u = { .loads = 0 };
	struct elf e;

	if (elf_parse(head, &e, NULL) < 0 || (e.type != ET_EXEC && e.type != ET_DYN))
		return ATW_E_FORMAT;
	for (uint32_t i = 0; i < e.phnum && i < HEADERS; i++) {
		struct elf_phdr ph = elf_phdr(&e, i);

		if (ph.type == ELF_PT_LOAD || ph.type == PT_GNU_RELRO)
			elfsec_add_load(&u, &ph);
		if (ph.type != ELF_PT_NOTE || u.build.len)
			continue;
		elfsec_unit_build(elf_notes(&e, &ph), &u);
		if (!u.notes_len && ph.filesz &&
		    (ph.offset >= head.len || ph.filesz > head.len - ph.offset)) {
			u.notes = ph.offset;
			u.notes_len = ph.filesz;
		}
	}
	*ret = u;
	return ATW_OK;
}
