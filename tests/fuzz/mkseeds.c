/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkseeds DIR - the smallest files that are right, for fuzzers to start from:
 * DIR/elf/core.elf, which redump turns into other containers, and what no
 * tool writes: LiME with two ranges, ELF of 32 bits, page tables of each mode.
 */
#include <err.h>
#include <sys/stat.h>

#include "paging/entry.h"
#include "printk_image.h"
#include "fuzz/tables.h"
#include "unit/image.h"
#include "unit/stream_image.h"
#include "unit/vmlinux_image.h"
#include "unit/kallsyms_image.h"

static const char *dir;

static void save(struct image *im, const char *target, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, target, name);
	f = fopen(path, "wb");
	if (!f || fwrite(im->data, 1, im->len, f) != im->len || fclose(f))
		err(1, "%s", path);
	image_free(im);
}

static const char x86_text[] =
	"OSRELEASE=6.1.0-test\nPAGESIZE=4096\nSYMBOL(swapper_pg_dir)=ffffffff80002000\n"
	"SYMBOL(_stext)=ffffffff80000000\nNUMBER(phys_base)=0\n"
	"NUMBER(pgtable_l5_enabled)=0\nKERNELOFFSET=0\nNUMBER(sme_mask)=0x0\n";

/* A core with notes, eight pages of text, tables and noise, and a gap. */
static void core(void)
{
	struct image im = { 0 };
	size_t at, notes = EHDR64 + 3 * PHDR64, mem = 4096;
	char regs[336] = { 0 };

	elf64(&im, 62, 3);
	at = note(&im, notes, "CORE", 1, regs, sizeof(regs));
	at = qemu_note(&im, at, 0x2000);
	at = note(&im, at, "VMCOREINFO", 0, x86_text, sizeof(x86_text) - 1);
	phdr64(&im, EHDR64, 4, notes, 0, at - notes, 0);
	phdr64(&im, EHDR64 + PHDR64, 1, mem, 0, 6 * 4096, 6 * 4096);
	phdr64(&im, EHDR64 + 2 * PHDR64, 1, mem + 6 * 4096, 0x8000, 8192, 3 * 4096);
	put(&im, mem + 0x1000, x86_text, sizeof(x86_text) - 1);
	put_le(&im, mem + 0x2000 + 511 * 8, 8, 0x3063);
	put_le(&im, mem + 0x3000 + 510 * 8, 8, 0x4063);
	put_le(&im, mem + 0x4000, 8, 0x1e3);
	fill(&im, mem + 0x5000, 4096, 'x');
	for (unsigned i = 0; i < 2048; i++)
		put_le(&im, mem + 0x6000 + i * 4, 4, i * 2654435761u);
	save(&im, "elf", "core.elf");
}

static void core32(void)
{
	struct image im = { 0 };

	put(&im, 0, "\177ELF\1\1\1", 7);
	put_le(&im, 16, 2, 4);
	put_le(&im, 18, 2, 40);
	put_le(&im, 28, 4, 52);
	put_le(&im, 42, 2, 32);
	put_le(&im, 44, 2, 2);
	put_le(&im, 52, 4, 1);                   /* PT_LOAD: 256 bytes of 512 */
	put_le(&im, 52 + 4, 4, 256);
	put_le(&im, 52 + 12, 4, 0x80000000);
	put_le(&im, 52 + 16, 4, 256);
	put_le(&im, 52 + 20, 4, 512);
	put_le(&im, 84, 4, 4);                   /* PT_NOTE */
	put_le(&im, 84 + 4, 4, 128);
	put_le(&im, 84 + 16, 4, 24);
	note(&im, 128, "CORE", 1, "regs", 4);
	fill(&im, 256, 256, 0x5a);
	save(&im, "elf", "core32.elf");
}

/* More program headers than e_phnum holds: section 0 counts them. */
static void core_xnum(void)
{
	struct image im = { 0 };

	elf64(&im, 183, 2);
	put_le(&im, 56, 2, 0xffff);
	put_le(&im, 40, 8, 256);                 /* e_shoff */
	put_le(&im, 256 + 44, 4, 2);             /* sh_info */
	phdr64(&im, EHDR64, 1, 320, 0x40000000, 64, 64);
	phdr64(&im, EHDR64 + PHDR64, 1, 384, 0x40000020, 64, 128);
	fill(&im, 320, 128, 7);
	save(&im, "elf", "xnum.elf");
}

static void lime(void)
{
	struct image im = { 0 };

	lime_put(&im, 0, 0x4c694d45, 1, 0x1000, 0x107f);
	fill(&im, 32, 128, 1);
	lime_put(&im, 160, 0x4c694d45, 1, 0x100000, 0x10003f);
	fill(&im, 192, 64, 2);
	save(&im, "lime", "two.lime");
}

/* A stream of one plain chunk after padding; redump writes packed ones. */
static void avml(void)
{
	struct image im = { 0 };

	lime_put(&im, 0, 0x4c4d5641, 2, 0x1000, 0x1003);
	put(&im, 32, "\xff\x06\0\0sNaPpY\xfe\x02\0\0..\1\x08\0\0", 20);
	put(&im, 52, "\x68\x10\xe6\xb6" "abcd", 8);
	put_le(&im, 60, 8, 28);
	save(&im, "avml", "plain.avml");
}

static void logs(void)
{
	struct printk_image *m = malloc(sizeof(*m));
	struct image im = { 0 };
	uint64_t at = 1024 - 40;

	if (!m)
		err(1, NULL);
	printk_ids(m, 1023, 1026);
	at = printk_line(m, 1023, 2, at, "up to the very end, 32", 6);
	at = printk_line(m, 1024, 2, at, "at the start", 4);
	at = printk_line(m, 1025, 1, at, "two\nlines", 5);
	printk_line(m, 1026, 3, at, "", 5);
	put(&im, 0, m->b, sizeof(m->b));
	free(m);
	save(&im, "printk", "wrapped");
}

/* makedumpfile's form, its records in disorder and on top of each other. */
static void flattened(void)
{
	static const struct { unsigned off, len; } recs[] = {
		{ 100, 50 }, { 0, 20 }, { 90, 20 }, { 140, 5 }, { 20, 3 },
	};
	struct image im = { 0 };
	size_t at = 4096;

	put(&im, 0, "makedumpfile", 12);
	put_le(&im, 16, 8, __builtin_bswap64(1));
	put_le(&im, 24, 8, __builtin_bswap64(1));
	put(&im, 32, NULL, 4096 - 32);
	for (size_t i = 0; i < sizeof(recs) / sizeof(recs[0]); i++) {
		put_le(&im, at, 8, __builtin_bswap64(recs[i].off));
		put_le(&im, at + 8, 8, __builtin_bswap64(recs[i].len));
		fill(&im, at + 16, recs[i].len, 'a' + (int)i);
		at += 16 + recs[i].len;
	}
	fill(&im, at, 16, 0xff);
	save(&im, "flattened", "records");
}

/* ---- page tables ---- */

static void entry(struct image *im, unsigned page, unsigned slot, unsigned n,
		  unsigned target, uint64_t word)
{
	size_t at = im->len;

	put_le(im, at, 1, page);
	put_le(im, at + 1, 2, slot);
	put_le(im, at + 3, 1, n - 1);
	put_le(im, at + 4, 2, target);
	put_le(im, at + 6, 8, word);
}

/* A word that the mode takes for an entry of that kind, from its own rules. */
static uint64_t word_of(const struct atw_paging *pg, unsigned level, enum atw_kind kind)
{
	static const uint64_t tries[] = {
		0x63, 0xe3, 0x1, 0x2, 0x3, 0x703, 0x701, 0xcf, 0xd1, 0x55e, 0xc0e,
		0x402, 0x5, 0x7f3, 0x401, 0xef,
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		if (entry_kind(pg, level, tries[i]) == kind)
			return tries[i];
	return 0;
}

/* Tables down to pages, a large page, a repeated table, a loop, nonsense. */
static void tables(struct image *im, size_t mode)
{
	const struct atw_paging *pg = atw_paging_at(mode);
	unsigned page = 0, level = pg->nlevels - 1u;

	put_le(im, im->len, 4, mode);
	for (; level; level--, page++) {
		uint64_t t = word_of(pg, level, ATW_TABLE);

		entry(im, page, 0, 1, page + 2, t);
		entry(im, page, 0x8000, 1, page + 2, t);
		entry(im, page, 2, 1, page + 2, t);
		if (level < pg->nlevels - 1u)
			entry(im, page, 3, 4, page + 2, t);
		else
			entry(im, page, 1, 1, 1, t);
		if (level == 1)
			entry(im, page, 9, 3, 0, word_of(pg, 1, ATW_LEAF));
	}
	entry(im, page, 0, 4, 3, word_of(pg, 0, ATW_LEAF));
	entry(im, page, 5, 6, 0x102, word_of(pg, 0, ATW_LEAF));
	entry(im, page, 12, 1, 0, 0x123456789abcdef0);
	entry(im, page, 13, 2, 0, UINT64_MAX);
}

static void walks(void)
{
	for (size_t mode = 0; atw_paging_at(mode); mode++) {
		struct image im = { 0 }, walk = { 0 }, ranges = { 0 }, kernel = { 0 };
		const char *name = atw_paging_at(mode)->name;

		tables(&im, mode);
		put_le(&ranges, 0, 1, 7);
		put(&ranges, 1, im.data, im.len);
		put_le(&kernel, 0, 1, 0x30);
		put(&kernel, 1, "OSRELEASE=6.1\n\n", 15);
		put(&kernel, 16, im.data, im.len);
		/* What fuzz_walk asks comes in front of the machine: everything. */
		put(&walk, 0, NULL, 8);
		fill(&walk, 8, 8, 0xff);
		put(&walk, 16, "\x0f\0\0", 3);
		put(&walk, 19, im.data, im.len);
		save(&walk, "walk", name);
		save(&ranges, "ranges", name);
		save(&kernel, "kernel", name);
		image_free(&im);
	}
}

/* The kernel of core(), for the note and for the search in memory. */
static void kernels(void)
{
	static const uint8_t options[] = { 1, 0, 8, 2, 4 | 2, 1 | 64 };

	for (size_t i = 0; i < sizeof(options); i++) {
		struct image im = { 0 };
		char name[32];

		put_le(&im, 0, 1, options[i]);
		put(&im, 1, x86_text, sizeof(x86_text) - 1);
		put(&im, im.len, "\n", 1);
		if (options[i] & 2)
			put(&im, im.len, "\0\x80\0\0\0\0\x20\0\x20\0", 10);
		put(&im, im.len, NULL, 4);
		entry(&im, 2, 511, 1, 4, 0x63);
		entry(&im, 3, 510, 1, 5, 0x63);
		entry(&im, 4, 0, 1, 0, 0x1e3);
		snprintf(name, sizeof(name), "x86-%u", options[i]);
		save(&im, "kernel", name);
	}
}

/* int pid; and task_struct, with it and in a struct without a name. */
static void btf(void)
{
	static const char strings[] = "\0int\0pid\0task_struct\0tgid\0list";
	static const uint32_t words[] = {
		1, 1u << 24, 4, 1u << 24 | 32,                   /* 1: int */
		0, 4u << 24 | 1, 4, 21, 1, 0,                    /* 2: struct { tgid } */
		9, 4u << 24 | 4, 40, 5, 1, 0, 0, 2, 32,          /* 3: task_struct */
		26, 4, 64, 0, 5, 128,
		0, 2u << 24, 3,                                  /* 4: pointer to it */
		0, 3u << 24, 0, 1, 1, 4,                         /* 5: int[4] */
		1, 8u << 24, 5,                                  /* 6: typedef */
	};
	struct image im = { 0 };

	put(&im, 0, "tgid\n", 5);
	put_le(&im, 5, 2, 0xeb9f);
	put_le(&im, 7, 1, 1);
	put_le(&im, 9, 4, 24);
	put_le(&im, 17, 4, sizeof(words));
	put_le(&im, 21, 4, sizeof(words));
	put_le(&im, 25, 4, sizeof(strings));
	put(&im, 29, words, sizeof(words));
	put(&im, im.len, strings, sizeof(strings));
	save(&im, "btf", "task");
}

/* Tables of each time, and behind what fuzz_kallsyms asks: as text, too. */
static void kallsyms(void)
{
	static const struct made_how hows[] = {
		{ .form = KALLSYMS_ABSOLUTE }, { .form = KALLSYMS_RELATIVE },
		{ .form = KALLSYMS_PERCPU, .late = true },
		{ .form = KALLSYMS_RELATIVE, .order = true, .short_names = true },
		{ .form = KALLSYMS_PLACE, .late = true, .align = 4 },
	};
	static const char text[] =
		"ffffffff81000000 T _stext\n0000000000001000 A cpu\r\n81000010 t init\t[module]\n";
	struct made_symbol sym[300];
	struct image lines = { 0 };
	char name[160];

	memset(name, 'q', sizeof(name));
	name[0] = 't';
	name[sizeof(name) - 1] = '\0';
	for (unsigned i = 0; i < 300; i++)
		sym[i] = (struct made_symbol){ 0xffffffff81000000 + i * 16ul, i ? "Tfn_1" : "T_stext" };
	sym[5].text = name;
	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		bool absolute = hows[i].form == KALLSYMS_ABSOLUTE;
		struct image im = { 0 };
		struct made m;
		char file[32];

		made_init(&m, hows[i], sym, i == 1 ? 300 : 20, 16);
		put_le(&im, 0, 1,
		       8 | 4 | (hows[i].form == KALLSYMS_PLACE ? 0 : 2) | absolute);
		put_le(&im, 1, 2, m.names / 4);
		put_le(&im, 3, 2, m.tokens / 4);
		put_le(&im, 5, 2, m.index / 4);
		put_le(&im, 7, 2, m.offsets / 4);
		put_le(&im, 9, 4, m.num);
		put(&im, 13, m.im.data, m.im.len);
		snprintf(file, sizeof(file), "tables-%zu", i);
		save(&im, "kallsyms", file);
		image_free(&m.im);
	}
	fill(&lines, 0, 13, 16);
	put(&lines, 13, text, sizeof(text) - 1);
	save(&lines, "kallsyms", "text");
}

/* A vmlinux with symbols and notes; the first 8 bytes are an address. */
static void elfsec(void)
{
	struct vmlinux_image v = { 0 };
	struct image im = { 0 };

	vmlinux_sample(&v);
	put_le(&im, 0, 8, 0xffffffff81000021);
	put(&im, 8, v.file.data, v.file.len);
	save(&im, "elfsec", "vmlinux");
	vmlinux_free(&v);
}

static void streams(void)
{
	struct image im = { 0 }, disk = { 0 };

	stream_sample(&im);
	qcow2_wrap(&disk, &im);
	save(&disk, "qcow2", "snapshot");
	save(&im, "stream", "sample");
	stream_mapped_sample(&im, 0);
	save(&im, "stream", "mapped");
	libvirt_put(&im, 0, 300);
	stream_begin(&im, "pc");
	stream_ram(&im, 0x1000);
	stream_block(&im, "pc.ram", 0x1000);
	stream_bytes(&im, "pc.ram", 0, 'l');
	save(&im, "qcow2", "libvirt");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: mkseeds DIR");
	dir = argv[1];
	mkdir(dir, 0777);
	core();
	core32();
	core_xnum();
	lime();
	streams();
	avml();
	flattened();
	logs();
	walks();
	kernels();
	btf();
	elfsec();
	kallsyms();
	return 0;
}
