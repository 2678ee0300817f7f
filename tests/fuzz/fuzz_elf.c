/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF: headers, program headers and notes; as a core, a source; as a program. */
#include "format/elf.h"
#include "format/elfsec.h"
#include "source.h"

static void notes(const struct elf *e, const struct elf_phdr *ph)
{
	struct elf_notes it = elf_notes(e, ph);
	struct atw_err err = { 0 };
	struct elf_note n;
	uint64_t last = 0;
	int r;

	while ((r = elf_notes_next(&it, &n, &err)) == ATW_OK) {
		FUZZ_CHECK(n.at >= last, "notes go backwards");
		FUZZ_CHECK(n.at >= ph->offset, "a note before its segment");
		last = n.at;
		touch(n.name, n.namelen);
		touch(n.desc.data, n.desc.len);
		elf_note_is(&n, "VMCOREINFO", 0);
		for (unsigned cr = 0; cr < 6; cr++) {
			const void *p = elf_qemu_cr(&n, cr);

			if (p)
				touch(p, 8);
		}
	}
	check_err(r, &err);
}

/* A program's first bytes, and notes that were elsewhere. */
static void program(struct atw_blob head)
{
	struct elfunit u;

	if (elfunit_parse(head, &u) < 0)
		return;
	elfunit_notes(head, &u);
	FUZZ_CHECK(u.loads <= ELFUNIT_LOADS && u.build.len <= CAPTURE_BUILD,
		   "more than there is room for");
	for (unsigned i = 0; i < u.loads; i++)
		FUZZ_CHECK(u.load[i].va + u.load[i].size >= u.load[i].va,
			   "a load beyond 64 bits");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct atw_err err = { 0 };
	struct elf e;
	int r = elf_parse((struct atw_blob){ data, len }, &e, &err);

	check_err(r, &err);
	for (uint32_t i = 0; r == ATW_OK && i < e.phnum && i < 64; i++) {
		struct elf_phdr ph = elf_phdr(&e, i);

		notes(&e, &ph);
	}
	if (r == ATW_OK)
		elf_machine_name(&e);
	program((struct atw_blob){ data, len });
	check_file("elf", data, len);
	return 0;
}
