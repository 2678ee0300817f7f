/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's regions are named from the facts there are, and left out where facts are
 * missing or contradict each other.
 */
#include "linux/linux.h"

#include "linux/regions.h"
#include "memory.h"
#include "test.h"

/* ---- a machine of 4 KiB pages, four levels, mapped page by page ---- */

struct machine {
	struct memory m;
	char note[2048];
	enum atw_family family;
	unsigned levels;
	uint64_t root, next;     /* the next table goes there */
};

static int machine_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct machine *x = (struct machine *)s;

	if (strcmp(key, "vmcoreinfo"))
		return ATW_E_MISSING;
	*ret = (struct atw_blob){ x->note, strlen(x->note) };
	return ATW_OK;
}

static const struct atw_source_ops machine_ops = {
	.name = "machine", .help = "a test's",
	.close = mem_close, .read = mem_read, .extent = mem_extent,
	.fact = machine_fact,
};

static uint64_t get64(struct machine *x, uint64_t pa)
{
	uint64_t v;

	memcpy(&v, mem_at(&x->m, pa)->bytes + (pa & 4095), 8);
	return v;
}

static uint64_t table_word(const struct machine *x, uint64_t pa)
{
	return x->family == ATW_X86 ? pa | 0x63 :
	       x->family == ATW_ARM64 ? pa | 3 : pa >> 12 << 10 | 1;
}

static uint64_t leaf_word(const struct machine *x, uint64_t pa)
{
	return x->family == ATW_X86 ? pa | 0x161 :
	       x->family == ATW_ARM64 ? pa | 0x40000000000783 : pa >> 12 << 10 | 0xeb;
}

static uint64_t word_addr(const struct machine *x, uint64_t word)
{
	return x->family == ATW_RISCV ? word >> 10 << 12 : word & 0xfffffffff000;
}

/* One page; returns where its entry lies. */
static uint64_t map(struct machine *x, uint64_t va, uint64_t pa)
{
	uint64_t table = x->root, at;

	for (unsigned l = x->levels - 1;; l--) {
		at = table + (va >> (12 + 9 * l) & 511) * 8;
		if (!l)
			break;
		if (!get64(x, at)) {
			mem_at(&x->m, x->next);
			mem_put64(&x->m, at, table_word(x, x->next));
			x->next += 4096;
		}
		table = word_addr(x, get64(x, at));
	}
	mem_put64(&x->m, at, leaf_word(x, pa));
	mem_at(&x->m, pa);
	return at;
}

static struct machine *machine(enum atw_family f, unsigned levels, uint64_t root)
{
	struct machine *x = calloc(1, sizeof(*x));

	x->m.s.ops = &machine_ops;
	x->family = f;
	x->levels = levels;
	x->root = root;
	x->next = root + 0x10000;
	mem_at(&x->m, root);
	return x;
}

static void machine_free(struct machine *x)
{
	mem_close(&x->m.s);
	free(x);
}

/* The regions as text: one a line, "first last name". */
static char *regions(struct machine *x)
{
	static char text[8192];
	struct atw_kernel *k;
	struct atw_err err = { 0 };
	struct atw_region g;
	size_t n = 0;

	text[0] = 0;
	if (atw_kernel_open(&x->m.s, NULL, &k, &err) < 0) {
		snprintf(text, sizeof(text), "%s", err.text);
		return text;
	}
	for (size_t i = 0; atw_kernel_region(k, i, &g) == ATW_OK; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%016" PRIx64 " %016" PRIx64 " %s\n",
				      g.first.u, g.last.u, g.name);
	atw_kernel_close(k);
	return text;
}

#define HAS(text, line) CHECK(strstr(text, line "\n"))
#define HAS_NOT(text, name) CHECK(!strstr(text, " " name "\n"))

/* ---- x86-64 ---- */

#define SECTIONS(at) \
	"SYMBOL(mem_section)=" at "\nLENGTH(mem_section)=4\nSIZE(mem_section)=16\n" \
	"OFFSET(mem_section.section_mem_map)=0\nNUMBER(SECTION_SIZE_BITS)=27\nSIZE(page)=64\n"

/*
 * phys_base 0x3000000: the image at 0xffffffff81000000 lies at 0x4000000, the
 * root at 0x3010000. mem_section at 0x5000, its first root at 0x6000; section 1
 * is the first that is there.
 */
static struct machine *x86(uint64_t direct, uint64_t vmemmap, const char *section)
{
	struct machine *x = machine(ATW_X86, 4, 0x3010000);

	snprintf(x->note, sizeof(x->note),
		 "OSRELEASE=6.1.0-test\nPAGESIZE=4096\n"
		 "SYMBOL(swapper_pg_dir)=ffffffff80010000\nSYMBOL(_stext)=ffffffff81000000\n"
		 "NUMBER(phys_base)=50331648\nNUMBER(pgtable_l5_enabled)=0\n"
		 "NUMBER(KERNEL_IMAGE_SIZE)=1073741824\n" SECTIONS("%s") "KERNELOFFSET=0\n", section);
	for (unsigned i = 0; i < 4; i++)
		map(x, 0xffffffff81000000 + i * 4096, 0x4000000 + i * 4096);
	for (uint64_t pa = 0; pa < 0x9000; pa += 4096)
		map(x, direct + pa, pa);
	map(x, vmemmap, 0x9000);
	map(x, vmemmap + 4096, 0xa000);
	mem_put64(&x->m, 0x5000 + 8, direct + 0x6000);
	mem_put64(&x->m, 0x6000 + 16, vmemmap | 7);
	return x;
}

TEST(x86_without_kaslr)
{
	struct machine *x = x86(0xffff888000000000, 0xffffea0000000000, "ffff888000005000");
	const char *r = regions(x);

	HAS(r, "ffff800000000000 ffff87ffffffffff guard hole");
	HAS(r, "ffff880000000000 ffff887fffffffff LDT remap");
	HAS(r, "ffff888000000000 ffff888000008fff direct map");
	HAS(r, "ffffc90000000000 ffffe8ffffffffff vmalloc");
	HAS(r, "ffffea0000000000 ffffea0000001fff vmemmap");
	HAS(r, "fffffe0000000000 fffffe7fffffffff cpu_entry_area");
	HAS(r, "ffffff0000000000 ffffff7fffffffff espfix");
	HAS(r, "ffffffef00000000 fffffffeffffffff EFI");
	HAS(r, "ffffffff80000000 ffffffffbfffffff kernel image");
	HAS(r, "ffffffffc0000000 fffffffffeffffff modules");
	HAS(r, "ffffffffff000000 ffffffffff5fffff fixmap");
	HAS(r, "ffffffffff600000 ffffffffff600fff vsyscall");
	HAS_NOT(r, "KASAN shadow");
	machine_free(x);
}

/* With KASLR the base of vmalloc is the value between the other two in the image. */
TEST(x86_random_bases)
{
	struct machine *x = x86(0xffff8b6940000000, 0xfffff65480000000, "ffff8b6940005000");
	const char *r = regions(x);

	HAS(r, "ffff8b6940000000 ffff8b6940008fff direct map");
	HAS(r, "fffff65480000000 fffff65480001fff vmemmap");
	HAS_NOT(r, "vmalloc");
	/* Values alone say nothing ... */
	mem_put64(&x->m, 0x4002ff8, 0xffff8b6940000000);
	mem_put64(&x->m, 0x4003000, 0xffffcf2bc0000000);
	r = regions(x);
	HAS_NOT(r, "vmalloc");
	/* ... and neither do neighbours out of order ... */
	mem_put64(&x->m, 0x4000100, 0xfffff65480000000);
	mem_put64(&x->m, 0x4000108, 0xffff0000c0000000);
	mem_put64(&x->m, 0x4000110, 0xffff8b6940000000);
	r = regions(x);
	HAS_NOT(r, "vmalloc");
	/* ... but all three do, also across pages. */
	mem_put64(&x->m, 0x4002ff0, 0xfffff65480000000);
	mem_put64(&x->m, 0x4002ff8, 0xffffcf2bc0000000);
	mem_put64(&x->m, 0x4003000, 0xffff8b6940000000);
	r = regions(x);
	HAS(r, "ffffcf2bc0000000 ffffef2bbfffffff vmalloc");
	machine_free(x);
}

/* vmalloc ends where vmemmap begins if that is sooner. */
TEST(x86_vmalloc_ends_at_vmemmap)
{
	struct machine *x = x86(0xffff8b6940000000, 0xffffd00000000000, "ffff8b6940005000");
	const char *r;

	strcat(x->note, "NUMBER(VMALLOC_START)=0xffffcf2bc0000000\n");
	r = regions(x);
	HAS(r, "ffffcf2bc0000000 ffffcfffffffffff vmalloc");
	HAS(r, "ffffd00000000000 ffffd00000001fff vmemmap");
	machine_free(x);
}

TEST(x86_contradictions_are_left_out)
{
	/* A direct map that does not begin at a multiple of 1 GiB is none. */
	struct machine *x = x86(0xffff8b6940001000, 0xfffff65480000000, "ffff8b6940006000");
	const char *r = regions(x);

	HAS_NOT(r, "direct map");
	HAS(r, "fffff65480000000 fffff65480001fff vmemmap");
	machine_free(x);

	/* VMCOREINFO says one thing and the sections another. */
	x = x86(0xffff8b6940000000, 0xfffff65480000000, "ffff8b6940005000");
	strcat(x->note, "SYMBOL(vmemmap)=fffff65400000000\n");
	r = regions(x);
	HAS_NOT(r, "vmemmap");
	HAS(r, "ffff8b6940000000 ffff8b6940008fff direct map");
	machine_free(x);

	/* The base does not map the first physical page. */
	x = x86(0xffff8b6940000000, 0xfffff65480000000, "ffff8b6940005000");
	map(x, 0xffff8b6940000000, 0x7000);
	r = regions(x);
	HAS_NOT(r, "direct map");
	machine_free(x);
}

TEST(x86_a_lost_table)
{
	struct machine *x = x86(0xffff888000000000, 0xffffea0000000000, "ffff888000005000");
	uint64_t at = map(x, 0xffff888000000000, 0);
	const char *r;

	mem_kind(&x->m, at & ~(uint64_t)4095, 4096, ATW_EXCLUDED);
	r = regions(x);
	HAS_NOT(r, "direct map");
	HAS(r, "fffffe0000000000 fffffe7fffffffff cpu_entry_area");
	machine_free(x);
}

TEST(x86_kasan)
{
	struct machine *x = x86(0xffff888000000000, 0xffffea0000000000, "ffff888000005000");
	const char *r;

	map(x, (0xffffffff81000000 >> 3) + 0xdffffc0000000000, 0x8000);
	r = regions(x);
	HAS(r, "ffffec0000000000 fffffbffffffffff KASAN shadow");
	HAS(r, "ffffea0000000000 ffffea0000001fff vmemmap");
	machine_free(x);

	/* The same address in a random vmemmap is no shadow. */
	x = x86(0xffff888000000000, 0xfffffbff00000000, "ffff888000005000");
	map(x, (0xffffffff81000000 >> 3) + 0xdffffc0000000000, 0x8000);
	r = regions(x);
	HAS_NOT(r, "KASAN shadow");
	machine_free(x);
}

/* ---- arm64 ---- */

/* 48 bits; RAM at 0x40000000, the image 0xffffbe3399800000 above it. */
static struct machine *arm64(const char *more)
{
	struct machine *x = machine(ATW_ARM64, 4, 0x41010000);

	snprintf(x->note, sizeof(x->note),
		 "OSRELEASE=5.10.0-test\nPAGESIZE=4096\n"
		 "SYMBOL(swapper_pg_dir)=ffffbe33da810000\nSYMBOL(_stext)=ffffbe33d9a10000\n"
		 "NUMBER(VA_BITS)=48\nNUMBER(kimage_voffset)=0xffffbe3399800000\n"
		 "NUMBER(PHYS_OFFSET)=0x40000000\nNUMBER(TCR_EL1_T1SZ)=0x10\n"
		 SECTIONS("ffff000000005000") "%s", more);
	for (unsigned i = 0; i < 4; i++)
		map(x, 0xffffbe33d9a10000 + i * 4096, 0x40210000 + i * 4096);
	/* What was freed after boot left a gap. */
	map(x, 0xffffbe33da10f000, 0x4090f000);
	/* Its neighbour of another distance is no part of it. */
	map(x, 0xffffbe33da110000, 0x40911000);
	for (uint64_t pa = 0; pa < 0x9000; pa += 4096)
		map(x, 0xffff000000000000 + pa, 0x40000000 + pa);
	mem_put64(&x->m, 0x40005000, 0xffff000000006000);
	return x;
}

static void arm64_vmemmap(struct machine *x, uint64_t start)
{
	/* memstart_addr is 0x40000000: page 0 would be that much lower. */
	mem_put64(&x->m, 0x40006000 + 8 * 16, (start - (0x40000000 >> 12) * 64) | 7);
}

TEST(arm64_before_5_11)
{
	struct machine *x = arm64("KERNELOFFSET=3e33c9a00000\n");
	const char *r;

	arm64_vmemmap(x, 0xfffffdffffe00000);
	r = regions(x);
	/* Documentation/arm64/memory.rst of 5.10 */
	HAS(r, "ffff000000000000 ffff000000008fff direct map");
	HAS(r, "ffff800000000000 ffff800007ffffff BPF JIT");
	HAS(r, "ffff800008000000 ffff80000fffffff modules");
	HAS(r, "ffff800010000000 ffffbe33d9a0ffff vmalloc");
	HAS(r, "ffffbe33d9a10000 ffffbe33da10ffff kernel image");
	HAS(r, "ffffbe33da110000 fffffdffbffeffff vmalloc");
	HAS(r, "fffffdfffec00000 fffffdffffbfffff PCI I/O");
	HAS(r, "fffffdffffe00000 ffffffffffdfffff vmemmap");
	HAS(r, "fffffdffbfff0000 fffffdfffe9fffff fixmap");
	machine_free(x);
}

TEST(arm64_5_11_to_6_8)
{
	struct machine *x = arm64("KERNELOFFSET=3e33d1a00000\n");
	const char *r;

	arm64_vmemmap(x, 0xfffffc0000000000);
	r = regions(x);
	HAS(r, "ffff800000000000 ffff800007ffffff modules");
	HAS_NOT(r, "BPF JIT");
	HAS(r, "ffff800008000000 ffffbe33d9a0ffff vmalloc");
	HAS(r, "ffffbe33da110000 fffffbffefffffff vmalloc");
	HAS(r, "fffffbfff0000000 fffffbfffdffffff fixmap");
	HAS(r, "fffffbfffe800000 fffffbffff7fffff PCI I/O");
	HAS(r, "fffffc0000000000 fffffdffffffffff vmemmap");
	machine_free(x);

	/* The start of vmalloc is unknown: it is left out, and so are modules. */
	x = arm64("");
	arm64_vmemmap(x, 0xfffffc0000000000);
	r = regions(x);
	HAS_NOT(r, "modules");
	HAS_NOT(r, "vmalloc");
	HAS(r, "fffffbfffe800000 fffffbffff7fffff PCI I/O");
	HAS(r, "fffffc0000000000 fffffdffffffffff vmemmap");
	machine_free(x);

	/* A vmemmap that fits no layout yields only the direct map. */
	x = arm64("");
	arm64_vmemmap(x, 0xfffffc8000000000);
	r = regions(x);
	HAS(r, "ffff000000000000 ffff000000008fff direct map");
	HAS_NOT(r, "vmalloc");
	HAS_NOT(r, "vmemmap");
	HAS_NOT(r, "fixmap");
	machine_free(x);
}

#define ARM64_6_12 \
	"NUMBER(MODULES_VADDR)=0xffff800000000000\nNUMBER(MODULES_END)=0xffff800080000000\n" \
	"NUMBER(VMALLOC_START)=0xffff800080000000\nNUMBER(VMALLOC_END)=0xfffffdffbf800000\n" \
	"NUMBER(VMEMMAP_START)=0xfffffdffc0000000\nNUMBER(VMEMMAP_END)=0xffffffffc0000000\n"

TEST(arm64_6_9_on)
{
	struct machine *x = arm64(ARM64_6_12);
	const char *r = regions(x);

	HAS(r, "ffff800000000000 ffff80007fffffff modules");
	HAS(r, "ffffbe33da110000 fffffdffbf7fffff vmalloc");
	HAS(r, "fffffdffc0000000 ffffffffbfffffff vmemmap");
	HAS(r, "ffffffffc0800000 ffffffffc17fffff PCI I/O");
	HAS(r, "ffffffffc1800000 ffffffffff7fffff fixmap");
	machine_free(x);
}

TEST(arm64_kasan)
{
	struct machine *x = arm64(ARM64_6_12);
	const char *r;

	map(x, (0xffffbe33d9a10000 >> 3) + 0xdfff800000000000, 0x40008000);
	r = regions(x);
	HAS(r, "ffff600000000000 ffff7fffffffffff KASAN shadow");
	HAS(r, "ffff000000000000 ffff000000008fff direct map");
	machine_free(x);

	x = arm64(ARM64_6_12);
	map(x, (0xffffbe33d9a10000 >> 4) + 0xefff800000000000, 0x40008000);
	r = regions(x);
	HAS(r, "ffff700000000000 ffff7fffffffffff KASAN shadow");
	machine_free(x);
}

/* The pointer into the direct map and VMCOREINFO must say the same. */
TEST(arm64_contradiction)
{
	struct machine *x = arm64(ARM64_6_12);
	const char *r;

	map(x, 0xffff000000005000, 0x40007000);
	r = regions(x);
	HAS_NOT(r, "direct map");
	machine_free(x);
}

/* ---- RISC-V ---- */

static struct machine *riscv(void)
{
	struct machine *x = machine(ATW_RISCV, 4, 0x81dca000);

	snprintf(x->note, sizeof(x->note),
		 "OSRELEASE=6.12.0-test\nPAGESIZE=4096\n"
		 "SYMBOL(swapper_pg_dir)=ffffffff81bca000\nSYMBOL(_stext)=ffffffff80002000\n"
		 "NUMBER(VMALLOC_START)=0xffff8f8000000000\nNUMBER(VMALLOC_END)=0xffffaf8000000000\n"
		 "NUMBER(phys_ram_base)=2147483648\nNUMBER(PAGE_OFFSET)=0xffffaf8000000000\n"
		 "NUMBER(VA_BITS)=48\nNUMBER(VMEMMAP_START)=0xffff8d8000000000\n"
		 "NUMBER(VMEMMAP_END)=0xffff8f8000000000\nNUMBER(MODULES_VADDR)=0xffffffff01e6b000\n"
		 "NUMBER(MODULES_END)=0xffffffff80000000\nNUMBER(KERNEL_LINK_ADDR)=0xffffffff80000000\n"
		 "NUMBER(va_kernel_pa_offset)=0xfffffffeffe00000\n");
	map(x, 0xffffffff80002000, 0x80202000);
	/* The firmware's part of RAM is not mapped. */
	for (uint64_t off = 0x60000; off < 0x64000; off += 4096)
		map(x, 0xffffaf8000000000 + off, 0x80000000 + off);
	return x;
}

TEST(riscv_regions)
{
	struct machine *x = riscv();
	const char *r = regions(x);

	HAS(r, "ffff8d7ffea00000 ffff8d7ffeffffff fixmap");
	HAS(r, "ffff8d7fff000000 ffff8d7fffffffff PCI I/O");
	HAS(r, "ffff8d8000000000 ffff8f7fffffffff vmemmap");
	HAS(r, "ffff8f8000000000 ffffaf7fffffffff vmalloc");
	HAS(r, "ffffaf8000000000 ffffaf8000063fff direct map");
	HAS(r, "ffffffff01e6b000 ffffffff7fffffff modules");
	HAS(r, "ffffffff80000000 ffffffffffffffff kernel image");
	HAS_NOT(r, "KASAN shadow");
	map(x, (0xffffffff80002000 >> 3) + 0xdfffffff00000000, 0x80063000);
	r = regions(x);
	HAS(r, "ffffefff00000000 fffffffeffffffff KASAN shadow");
	HAS(r, "ffffaf8000000000 ffffaf8000063fff direct map");
	machine_free(x);
}

/* ---- without data no region is named ---- */

TEST(nothing_without_vmcoreinfo)
{
	struct machine *x = x86(0xffff888000000000, 0xffffea0000000000, "ffff888000005000");
	struct atw_kernel_opts o = {
		.paging = "x86_64-4", .has_root = true,
		.root = ATW_PA(0x3010000),
	};
	struct atw_kernel *k;
	struct atw_err err = { 0 };
	struct atw_region g;

	x->note[0] = 0;
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_region(k, 0, &g), ATW_END);
	atw_kernel_close(k);
	machine_free(x);
}

/* ---- one over the other ---- */

/* Every way regions can lie over each other, against a table of addresses. */
TEST(put_over_each_other)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	uint64_t seed = 88172645463325252u;

	for (unsigned round = 0; round < 2000; round++) {
		struct kernel_regions r = { 0 };
		struct plan p = { .regions = &r };
		const char *truth[32] = { 0 };
		size_t n = 0;

		for (unsigned i = 0; i < 6; i++) {
			uint64_t a, b;

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			a = seed % 32;
			b = seed / 32 % 32;
			region_put(&p, a, b, names[i]);
			for (uint64_t u = a; u <= b; u++)
				truth[u] = names[i];
		}
		for (uint64_t u = 0; u < 32; u++) {
			while (n < r.n && r.v[n].last.u < u)
				n++;
			CHECK((n < r.n && r.v[n].first.u <= u ? r.v[n].name : NULL) == truth[u]);
		}
		for (size_t i = 1; i < r.n; i++)
			CHECK(r.v[i - 1].last.u < r.v[i].first.u);
		CHECK_EQ(p.regions->failed, 0);
		free(r.v);
	}
}

TEST(put_at_the_top)
{
	struct kernel_regions r = { 0 };
	struct plan p = { .regions = &r };

	region_put(&p, 0xffffffff80000000, UINT64_MAX, "image");
	region_put(&p, 0xffffffff90000000, 0xffffffff9fffffff, "text");
	region_put(&p, 0xfffffffffffff000, UINT64_MAX, "top");
	CHECK_EQ(r.n, 4);
	CHECK_EQ(r.v[2].last.u, 0xffffffffffffefff);
	CHECK_STR(r.v[2].name, "image");
	CHECK_STR(r.v[3].name, "top");
	free(r.v);
}
