/* SPDX-License-Identifier: GPL-2.0-or-later */
/* linux_ram_proof.c - a layout of RAM, by the sections and nodes of the kernel in it. */
#include "linux/machine.h"

#include "kernel_memory.h"
#include "test.h"

enum {
	TEXT = 0x5000, ROOTS = 0x1000, SECTIONS = 0x2000, DATA = 0x3000, ONLINE = 0x3100,
	PGDAT = 0x4000, PGDAT_SPACE = 0x100, G_START = 8, G_SPANNED = 16, G_ID = 24,
};

#define SPARSE "SYMBOL(mem_section)=ffff888000001000\nLENGTH(mem_section)=4\n" \
	       "SIZE(mem_section)=16\nOFFSET(mem_section.section_mem_map)=0\n"
#define NUMA "SYMBOL(node_data)=ffff888000003000\nLENGTH(node_data)=8\n" \
	     "SYMBOL(node_online_map)=ffff888000003100\n" \
	     "OFFSET(pglist_data.node_start_pfn)=8\nOFFSET(pglist_data.node_spanned_pages)=16\n" \
	     "OFFSET(pglist_data.node_id)=24\n"

/* RAM is 64 KiB: of section 0 of 128 MiB, and of two nodes. */
static struct kmemory *machine(void)
{
	struct kmemory *k = kmemory_new();

	kpoint(k, ROOTS, SECTIONS);
	kput64(k, SECTIONS, 0xffffea0000000000 | 0xf);
	kpoint(k, DATA, PGDAT);
	kpoint(k, DATA + 8, PGDAT + PGDAT_SPACE);
	kput64(k, ONLINE, 3);
	for (unsigned i = 0; i < 2; i++) {
		kput64(k, PGDAT + i * PGDAT_SPACE + G_START, i * 8);
		kput64(k, PGDAT + i * PGDAT_SPACE + G_SPANNED, 8);
		kput(k, PGDAT + i * PGDAT_SPACE + G_ID, i, 4);
	}
	return k;
}

static int prove(struct kmemory *k, const char *vi, uint64_t above, bool nodes,
		 struct atw_err *err)
{
	struct atw_kernel *kernel = kmemory_kernel(k);
	int r;

	kernel->vi = (struct atw_vmcoreinfo){ vi, strlen(vi) };
	kernel->have_vi = true;
	kernel->stext = KBASE + TEXT;
	r = kernel_prove_ram(kernel, above, nodes, err);
	free(kernel);
	return r;
}

static void proves(struct kmemory *k)
{
	struct atw_err err = { 0 };

	CHECK_EQ(prove(k, SPARSE NUMA, UINT64_MAX, true, &err), ATW_OK);
	CHECK_STR(err.text, "");
}

static void fails(struct kmemory *k, const char *want)
{
	struct atw_err err = { 0 };

	CHECK(prove(k, SPARSE NUMA, UINT64_MAX, true, &err) < 0);
	CHECK_STR(err.text, want);
}

TEST(sections)
{
	struct kmemory *k = machine();
	struct atw_err err = { 0 };

	proves(k);
	/* Of a device, which is not online; of a root behind. */
	kput64(k, SECTIONS + 16, 0xffffea0000000003);
	proves(k);
	kput64(k, SECTIONS + 16, 0xffffea0000000007);
	fails(k, "the kernel has memory at 0x8000000, and the layout has none there");
	CHECK_EQ(prove(k, SPARSE, 0x8000000, true, &err), ATW_OK);
	CHECK_EQ(prove(k, SPARSE, 0x8000001, true, &err), ATW_E_DAMAGED);
	kput64(k, SECTIONS + 16, 0);
	kpoint(k, ROOTS + 24, SECTIONS + 16);
	proves(k);
	kpoint(k, ROOTS + 24, SECTIONS);
	fails(k, "the kernel has memory at 0x1800000000, and the layout has none there");
	kpoint(k, ROOTS + 24, KSIZE);
	CHECK(prove(k, SPARSE, UINT64_MAX, true, &err) < 0);
	kput64(k, ROOTS + 24, 0);
	/* Pages that the layout has elsewhere. */
	kput64(k, SECTIONS, 0);
	fails(k, "the kernel's own text at 0x5000 is in no section of its memory");
	kput64(k, ROOTS, 0);
	fails(k, "the kernel's own text at 0x5000 is in no section of its memory");
	/* An array of sections. */
	kput64(k, ROOTS, 0xffffea0000000007);
	proves(k);
	kmemory_free(k);
}

TEST(nodes)
{
	struct kmemory *k = machine();
	struct atw_err err = { 0 };
	uint64_t one = PGDAT + PGDAT_SPACE;

	kput(k, one + G_ID, 2, 4);
	fails(k, "the description of NUMA node 1 is that of no node, or of 2");
	CHECK_EQ(prove(k, SPARSE NUMA, UINT64_MAX, false, &err), ATW_OK);
	kput64(k, ONLINE, 1);
	proves(k);
	kput64(k, ONLINE, 3);
	kput(k, one + G_ID, 1, 4);
	kput64(k, one + G_START, KSIZE / 4096);
	fails(k, "the kernel has memory at 0x10000, and the layout has none there");
	/* A node without memory. */
	kput64(k, one + G_SPANNED, 0);
	proves(k);
	kpoint(k, DATA + 8, KSIZE);
	CHECK(prove(k, SPARSE NUMA, UINT64_MAX, true, &err) < 0);
	CHECK(!strncmp(err.text, "NUMA node 1: ", 13));
	kmemory_free(k);
}

TEST(kernels_that_decide_nothing)
{
	static const char *const all[] = {
		"OSRELEASE=1\n", "SYMBOL(mem_section)=ffff888000001000\nLENGTH(mem_section)=4\n",
		SPARSE "NUMBER(SECTION_SIZE_BITS)=63\n",
		"SYMBOL(mem_section)=ffff888000001000\nLENGTH(mem_section)=4\n"
		"SIZE(mem_section)=16\nOFFSET(mem_section.section_mem_map)=9\n",
	};
	struct kmemory *k = machine();
	struct atw_err err = { 0 };

	kput64(k, SECTIONS + 16, 0xffffea0000000007);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CHECK_EQ(prove(k, all[i], UINT64_MAX, true, &err), ATW_OK);
	kmemory_free(k);
}
