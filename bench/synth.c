/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth KIND FILE - a 1 GiB dump to measure on, always the same one.
 *
 * An ELF core of x86_64 4-level tables as QEMU would write it: 2,000 full leaf
 * tables, themselves and the tables above them at random frames all over the
 * memory, a 2 MiB page for _stext, and a VMCOREINFO note that leads there. The
 * file is sparse: pages that are no table are not written. Kinds differ in
 * where the 1,024,000 leaves point and where the memory lies:
 *
 *   scattered    random frames, one bank of memory: nothing merges
 *   contiguous   consecutive frames, one bank
 *   banks        random frames; half of the memory lies from 4 GiB up, as in a
 *                guest with a PCI hole
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random.h"

#define GIB          (UINT64_C(1) << 30)
#define FRAMES       (GIB >> 12)
#define TABLES       2000
#define PMDS         32              /* the leaf tables are spread over these */
#define VMALLOC      UINT64_C(0xffffc90000000000)
#define KERNEL_MAP   UINT64_C(0xffffffff80000000)
#define TEXT_PA      UINT64_C(0x1000000)

#define P_TABLE      UINT64_C(0x63)
#define P_LEAF       UINT64_C(0x8000000000000163)
#define P_TEXT       UINT64_C(0x1e1)

struct dump {
	unsigned char *map;      /* the file */
	uint64_t off;            /* of frame 0 in it */
	uint64_t second_bank;    /* the first frame that lies from 4 GiB up */
	uint64_t seed;
	bool taken[FRAMES];
};

static uint64_t pa_of(const struct dump *d, uint64_t frame)
{
	return frame < d->second_bank ? frame << 12
				      : (4 * GIB) + ((frame - d->second_bank) << 12);
}

static uint64_t new_frame(struct dump *d)
{
	uint64_t f;

	do
		f = random_below(&d->seed, FRAMES);
	while (d->taken[f]);
	d->taken[f] = true;
	return f;
}

/* The offset of the memory in the file is not a multiple of 8; nor is QEMU's. */
static void put_word(struct dump *d, uint64_t frame, uint64_t index, uint64_t word)
{
	memcpy(d->map + d->off + (frame << 12) + 8 * index, &word, 8);
}

/* ---- tables ---- */

static void put_leaves(struct dump *d, uint64_t table, uint64_t n, bool scattered)
{
	for (uint64_t i = 0; i < 512; i++) {
		uint64_t f = scattered ? random_below(&d->seed, FRAMES)
				       : (n * 512 + i) % FRAMES;

		put_word(d, table, i, pa_of(d, f) | P_LEAF);
	}
}

static uint64_t put_tables(struct dump *d, bool scattered)
{
	uint64_t root = new_frame(d), pud = new_frame(d), pmd[PMDS];
	uint64_t text_pud = new_frame(d), text_pmd = new_frame(d);
	static bool used[PMDS * 512];

	put_word(d, root, VMALLOC >> 39 & 511, pa_of(d, pud) | P_TABLE);
	put_word(d, root, 511, pa_of(d, text_pud) | P_TABLE);
	put_word(d, text_pud, 510, pa_of(d, text_pmd) | P_TABLE);
	put_word(d, text_pmd, TEXT_PA >> 21, TEXT_PA | P_TEXT);
	for (unsigned i = 0; i < PMDS; i++) {
		pmd[i] = new_frame(d);
		put_word(d, pud, i, pa_of(d, pmd[i]) | P_TABLE);
	}
	for (unsigned n = 0; n < TABLES;) {
		uint64_t slot = random_below(&d->seed, PMDS * 512);

		n += !used[slot];
		used[slot] = true;
	}
	for (uint64_t slot = 0, n = 0; slot < PMDS * 512; slot++)
		if (used[slot]) {
			uint64_t table = new_frame(d);

			put_word(d, pmd[slot / 512], slot % 512,
				 pa_of(d, table) | P_TABLE);
			put_leaves(d, table, n++, scattered);
		}
	return root;
}

/* ---- the file around them ---- */

enum { PHDRS = 3, NOTES = sizeof(Elf64_Ehdr) + PHDRS * sizeof(Elf64_Phdr) };

static size_t put_note(unsigned char *at, const char *text, size_t len)
{
	const Elf64_Nhdr n = { sizeof("VMCOREINFO"), (Elf64_Word)len, 0 };
	size_t desc = sizeof(n) + ((n.n_namesz + 3) & ~3u);

	if (at) {
		memcpy(at, &n, sizeof(n));
		memcpy(at + sizeof(n), "VMCOREINFO", n.n_namesz);
		memcpy(at + desc, text, len);
	}
	return desc + ((len + 3) & ~(size_t)3);
}

static size_t vmcoreinfo(char *buf, size_t len, uint64_t root_pa)
{
	return (size_t)snprintf(buf, len,
		"OSRELEASE=6.1.0-bench\nPAGESIZE=4096\n"
		"SYMBOL(swapper_pg_dir)=%016" PRIx64 "\n"
		"SYMBOL(_stext)=%016" PRIx64 "\n"
		"NUMBER(phys_base)=0\nNUMBER(pgtable_l5_enabled)=0\nKERNELOFFSET=0\n",
		KERNEL_MAP + root_pa, KERNEL_MAP + TEXT_PA);
}

static void put_headers(struct dump *d, size_t note_len)
{
	const Elf64_Ehdr e = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(e), .e_ehsize = sizeof(e),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = PHDRS,
	};
	uint64_t low = d->second_bank << 12, high = GIB - low;
	const Elf64_Phdr ph[PHDRS] = {
		{ .p_type = PT_NOTE, .p_offset = NOTES, .p_filesz = note_len },
		{ .p_type = PT_LOAD, .p_offset = d->off, .p_filesz = low, .p_memsz = low },
		{ .p_type = high ? PT_LOAD : PT_NULL, .p_offset = d->off + low,
		  .p_paddr = 4 * GIB, .p_filesz = high, .p_memsz = high },
	};

	memcpy(d->map, &e, sizeof(e));
	memcpy(d->map + sizeof(e), ph, sizeof(ph));
}

int main(int argc, char **argv)
{
	static struct dump d = { .seed = 1 };
	char text[1024];
	size_t note_len;
	uint64_t root;
	int fd;

	if (argc != 3)
		errx(2, "usage: synth scattered|contiguous|banks FILE");
	d.second_bank = strcmp(argv[1], "banks") ? FRAMES : FRAMES / 2;
	/* The text stays clear of tables. */
	memset(d.taken + (TEXT_PA >> 12), true, 512);
	note_len = put_note(NULL, text, vmcoreinfo(text, sizeof(text), 0));
	d.off = NOTES + note_len;
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || ftruncate(fd, (off_t)(d.off + GIB)))
		err(1, "%s", argv[2]);
	d.map = mmap(NULL, d.off + GIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (d.map == MAP_FAILED)
		err(1, "%s", argv[2]);
	root = put_tables(&d, strcmp(argv[1], "contiguous"));
	put_headers(&d, note_len);
	put_note(d.map + NOTES, text, vmcoreinfo(text, sizeof(text), pa_of(&d, root)));
	/* On the disk: what is dirty cannot be dropped from the page cache. */
	if (fsync(fd))
		err(1, "%s", argv[2]);
	return 0;
}
