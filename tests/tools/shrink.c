/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shrink IN OUT.elf [option...] - a dump's page tables and nothing else.
 *
 * Writes an ELF core that holds the page tables of the kernel's root and of
 * each CPU's CR3, the VMCOREINFO text as a note, and a note for each CPU with
 * its control registers. No page that a leaf maps is copied, no general
 * register, and what shares a page with a small table is zeroed. The tables
 * are found by libatwalk; the ELF file is written from the format's description
 * and shares no code with the reader it is to test.
 *
 *	--root PHYS       the tables below this root as well, hexadecimal; in the
 *	                  kernel's paging mode. May be repeated.
 *	--without PHYS    leave out the page at PHYS, to have a table that is lost
 *	--list            print the address and the bytes of every table
 */
#include <elf.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/walk.h"

#include "extract/own.h"

struct found_table {
	uint64_t pa, len;
};

static struct {
	struct found_table *v;
	size_t n, cap;
} tables;

struct run {
	uint64_t pa, len;        /* whole pages */
};

static struct {
	uint64_t roots[16], without[16];
	size_t nroots, nwithout;
	bool list;
} opt;

static struct atw_source *in;
static const char *in_name;
static uint64_t page;
static uint64_t lost;

/* ---- which memory ---- */

static void add_table(uint64_t pa, uint64_t len)
{
	if (tables.n == tables.cap) {
		tables.cap = tables.cap ? 2 * tables.cap : 1024;
		tables.v = reallocarray(tables.v, tables.cap, sizeof(*tables.v));
		if (!tables.v)
			err(2, "tables");
	}
	tables.v[tables.n++] = (struct found_table){ pa, len };
}

static void add_tree(const struct mmu_space *sp, uint64_t root, uint64_t first,
		     uint64_t last)
{
	const struct atw_paging *pg = &sp->paging;
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(last),
		.want = ATW_K(ATW_TABLE), .flags = MMU_WALK_FOLD,
	};
	struct atw_err why = { 0 };
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r = mmu_walk_open(sp, &o, &w, &why);

	if (r < 0)
		errx(2, "%s: %s", in_name, why.text);
	add_table(root, atw_table_bytes(pg, pg->nlevels - 1u));
	while ((r = mmu_walk_next(w, &s, &why)) == ATW_OK) {
		if (s->loss)
			lost++;
		else if (s->kind == ATW_TABLE && s->level)
			add_table(s->pa.u, atw_table_bytes(pg, s->level - 1u));
	}
	if (r != ATW_END)
		errx(2, "%s: %s", in_name, why.text);
	mmu_walk_close(w);
}

static void add_space(const struct mmu_space *sp)
{
	const uint64_t half = UINT64_C(1) << 63;

	if (sp->paging.halves != ATW_SPLIT) {
		add_tree(sp, sp->low.pa.u, 0, UINT64_MAX);
		return;
	}
	if (sp->low.have)
		add_tree(sp, sp->low.pa.u, 0, half - 1);
	if (sp->high.have)
		add_tree(sp, sp->high.pa.u, half, UINT64_MAX);
}

static int by_pa(const void *a, const void *b)
{
	const struct found_table *x = a, *y = b;

	if (x->pa != y->pa)
		return x->pa < y->pa ? -1 : 1;
	return x->len < y->len ? -1 : x->len > y->len;
}

/* Tables that several roots share, and tables met at two levels, are one. */
static void sort_tables(void)
{
	size_t n = 0;

	qsort(tables.v, tables.n, sizeof(*tables.v), by_pa);
	for (size_t i = 0; i < tables.n; i++) {
		struct found_table *last = n ? &tables.v[n - 1] : NULL;

		if (last && last->pa == tables.v[i].pa)
			last->len = tables.v[i].len;
		else
			tables.v[n++] = tables.v[i];
	}
	tables.n = n;
}

static bool left_out(uint64_t pa)
{
	for (size_t i = 0; i < opt.nwithout; i++)
		if (opt.without[i] / page == pa / page)
			return true;
	return false;
}

/* The pages the tables are in, neighbours joined. */
static struct run *make_runs(size_t *ret_n)
{
	struct run *runs = NULL;
	size_t n = 0;

	for (size_t i = 0; i < tables.n; i++) {
		uint64_t end = tables.v[i].pa + tables.v[i].len;

		for (uint64_t pa = tables.v[i].pa & -page; pa < end; pa += page) {
			struct run *last = n ? &runs[n - 1] : NULL;

			if (left_out(pa) || (last && pa < last->pa + last->len))
				continue;
			if (last && pa == last->pa + last->len) {
				last->len += page;
				continue;
			}
			runs = reallocarray(runs, n + 1, sizeof(*runs));
			if (!runs)
				err(2, "runs");
			runs[n++] = (struct run){ pa, page };
		}
	}
	*ret_n = n;
	return runs;
}

/* A run's bytes: those of tables; between them zero. */
static void fill(const struct run *r, uint8_t *buf)
{
	memset(buf, 0, r->len);
	for (size_t i = 0; i < tables.n; i++) {
		const struct found_table *t = &tables.v[i];
		struct atw_err why = { 0 };

		if (t->pa < r->pa || t->pa >= r->pa + r->len)
			continue;
		if (t->len > r->pa + r->len - t->pa)
			errx(2, "table 0x%" PRIx64 " crosses into what is left out", t->pa);
		if (atw_read(in, ATW_PA(t->pa), buf + (t->pa - r->pa), t->len, &why) !=
		    (ssize_t)t->len)
			errx(2, "%s: table 0x%" PRIx64 ": %s", in_name, t->pa,
			     why.text[0] ? why.text : "only a part of it is there");
	}
}

/* ---- the ELF file ---- */

static const struct machine {
	const char *name;
	uint16_t elf;
	uint32_t prstatus;       /* bytes of a struct elf_prstatus */
} machines[] = {
	{ "x86_64", EM_X86_64, 336 },
	{ "aarch64", EM_AARCH64, 392 },
	{ "riscv64", EM_RISCV, 376 },
};

static const struct machine *find_machine(void)
{
	struct atw_blob b;

	if (atw_fact(in, "machine", &b) == ATW_OK)
		for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
			if (b.len == strlen(machines[i].name) &&
			    !memcmp(b.data, machines[i].name, b.len))
				return &machines[i];
	errx(2, "%s: a machine this tool does not know", in_name);
}

static struct buf make_notes(const struct machine *m, const struct atw_vmcoreinfo *vi)
{
	static const uint8_t zero[512];
	struct buf n = { 0 };
	uint64_t cpus = 0;
	uint8_t note[CORE_QEMU_NOTE];

	atw_fact_u64(in, "cpus", &cpus);
	for (uint64_t i = 0; i < cpus; i++)
		core_note(&n, "CORE", NT_PRSTATUS, zero, m->prstatus);
	for (uint64_t i = 0; i < cpus; i++)
		if (core_qemu_note(in, i, note))
			core_note(&n, "QEMU", 0, note, sizeof(note));
	if (vi)
		core_note(&n, "VMCOREINFO", 0, vi->text, vi->len);
	if (n.failed)
		errx(2, "notes: out of memory");
	return n;
}

static void put(FILE *f, const void *p, size_t len, const char *name)
{
	if (len && fwrite(p, 1, len, f) != len)
		err(2, "%s", name);
}

static void write_elf(const char *name, const struct machine *m,
		      const struct buf *notes, const struct run *runs, size_t n)
{
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = m->elf, .e_version = EV_CURRENT,
		.e_phoff = sizeof(eh), .e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = (uint16_t)(n + 1),
	};
	Elf64_Phdr ph = {
		.p_type = PT_NOTE, .p_offset = sizeof(eh) + (n + 1) * sizeof(ph),
		.p_filesz = notes->len, .p_memsz = notes->len, .p_align = 4,
	};
	FILE *f = fopen(name, "wb");

	if (!f)
		err(2, "%s", name);
	if (n + 1 >= PN_XNUM)
		errx(2, "%s: too many segments for a plain ELF file", name);
	put(f, &eh, sizeof(eh), name);
	put(f, &ph, sizeof(ph), name);
	ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R,
			   .p_offset = ph.p_offset + notes->len };
	for (size_t i = 0; i < n; i++) {
		ph.p_paddr = runs[i].pa;
		ph.p_filesz = ph.p_memsz = runs[i].len;
		put(f, &ph, sizeof(ph), name);
		ph.p_offset += runs[i].len;
	}
	put(f, notes->data, notes->len, name);
	for (size_t i = 0; i < n; i++) {
		uint8_t *buf = malloc(runs[i].len);

		if (!buf)
			err(2, "run");
		fill(&runs[i], buf);
		put(f, buf, runs[i].len, name);
		free(buf);
	}
	if (fclose(f))
		err(2, "%s", name);
	printf("%s: %zu tables in %zu runs, %" PRIu64 " lost, %" PRIu64 " bytes\n",
	       name, tables.n, n, lost, (uint64_t)ph.p_offset);
}

/* ---- command line ---- */

static void options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "root", required_argument, NULL, 'r' },
		{ "without", required_argument, NULL, 'w' },
		{ "list", no_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'r' && opt.nroots < 16)
			opt.roots[opt.nroots++] = strtoull(optarg, NULL, 16);
		else if (c == 'w' && opt.nwithout < 16)
			opt.without[opt.nwithout++] = strtoull(optarg, NULL, 16);
		else if (c == 'l')
			opt.list = true;
		else
			errx(2, "usage: shrink IN OUT.elf [--root PHYS] [--without PHYS] [--list]");
	}
	if (argc - optind != 2)
		errx(2, "usage: shrink IN OUT.elf [--root PHYS] [--without PHYS] [--list]");
}

static struct atw_kernel *open_kernel(const struct atw_kernel_opts *o,
				      bool must)
{
	struct atw_kernel *k = NULL;
	struct atw_err why = { 0 };

	if (atw_kernel_open(in, o, &k, &why) < 0 && must)
		errx(2, "%s: %s", in_name, why.text);
	return k;
}

int main(int argc, char **argv)
{
	struct atw_kernel_opts o = { 0 };
	struct atw_err why = { 0 };
	struct atw_kernel *kernel, *k;
	struct buf notes;
	struct run *runs;
	uint64_t cpus = 0;
	size_t nruns;

	options(argc, argv);
	in_name = argv[optind];
	if (atw_source_open(in_name, NULL, 0, &in, &why) < 0)
		errx(2, "%s", why.text);
	kernel = open_kernel(&o, true);
	page = UINT64_C(1) << atw_kernel_space(kernel)->paging.page_shift;
	add_space(atw_kernel_space(kernel));
	atw_fact_u64(in, "cpus", &cpus);
	for (uint64_t i = 0; i < cpus; i++) {
		o.has_cpu = true;
		o.cpu = (unsigned)i;
		k = open_kernel(&o, false);
		if (k)
			add_space(atw_kernel_space(k));
		atw_kernel_close(k);
	}
	o.has_cpu = false;
	o.has_root = true;
	for (size_t i = 0; i < opt.nroots; i++) {
		o.root = ATW_PA(opt.roots[i]);
		k = open_kernel(&o, true);
		add_space(atw_kernel_space(k));
		atw_kernel_close(k);
	}
	sort_tables();
	runs = make_runs(&nruns);
	notes = make_notes(find_machine(), atw_kernel_vmcoreinfo(kernel));
	write_elf(argv[optind + 1], find_machine(), &notes, runs, nruns);
	for (size_t i = 0; opt.list && i < tables.n; i++)
		printf("0x%016" PRIx64 " %" PRIu64 "\n", tables.v[i].pa, tables.v[i].len);
	free(runs);
	buf_deinit(&notes);
	free(tables.v);
	atw_kernel_close(kernel);
	atw_source_close(in);
	return 0;
}
