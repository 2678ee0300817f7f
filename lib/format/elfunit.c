/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elfunit.c - program headers and build ID of mapped files. */
#include "format/elfunit.h"

#include <string.h>

#include "format/elf.h"

enum {
	ET_EXEC = 2, ET_DYN = 3,
	PT_GNU_RELRO = 0x6474e552,
	NT_GNU_BUILD_ID = 3,
	HEADERS = 1024,              /* limit of program headers; e_phnum is untrusted */
};

static void elfunit_find_build(struct elf_notes it, struct elfunit *u)
{
	struct elf_note n;

	while (!u->build.len && elf_notes_next(&it, &n, NULL) == ATW_OK) {
		if (!elf_note_is(&n, "GNU", NT_GNU_BUILD_ID) || !n.desc.len ||
		    n.desc.len > CAPTURE_BUILD)
			continue;
		memcpy(u->build.b, n.desc.data, n.desc.len);
		u->build.len = n.desc.len;
	}
}

void elfunit_notes(struct atw_blob notes, struct elfunit *u)
{
	elfunit_find_build((struct elf_notes){.seg = notes}, u);
}

static void elfunit_add_load(struct elfunit *u, const struct elf_phdr *ph)
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
			elfunit_add_load(&u, &ph);
		if (ph.type != ELF_PT_NOTE || u.build.len)
			continue;
		elfunit_find_build(elf_notes(&e, &ph), &u);
		if (!u.notes_len && ph.filesz &&
		    (ph.offset >= head.len || ph.filesz > head.len - ph.offset)) {
			u.notes = ph.offset;
			u.notes_len = ph.filesz;
		}
	}
	*ret = u;
	return ATW_OK;
}
