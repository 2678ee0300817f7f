/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root of a kernel without VMCOREINFO is found through its types, its first task and
 * init_mm.
 */
#include "linux/kernel.h"
#include "linux/root.h"

#include "memory.h"
#include "test.h"
#include "unit/btf_image.h"

enum {
	TYPES = 0x100000, TASK = 0x200000, MM = 0x201000, UTS = 0x202000,
	PGD = 0x203000, TEXT = 0x210000,
	/* Members of the structs below, bytes. */
	COMM = 0x40, PARENT = 0x80, LEADER = 0x88, NSPROXY = 0x90,
	MM_PGD = 0x20, START = 0x28, END = 0x30, DATA_END = 0x38,
};
#define SHIFT UINT64_C(0xffffffff80000000)

static void pointer(struct maker *m, const char *name, unsigned at)
{
	member(m, name, 2, at * 8u);
}

/* Types are a kernel's only if there are many: strings make up for it. */
static void put_types(struct memory *mem)
{
	static const char filler[] = "a name that nothing has, of which there are many here";
	struct maker m = { 0 };
	struct atw_blob b;

	type(&m, BTF_INT, "char", 0, 1);
	word(&m, 8);
	type(&m, BTF_INT, "long", 0, 8);
	word(&m, 64);
	type(&m, BTF_STRUCT, "list_head", 2, 16);
	pointer(&m, "next", 0);
	pointer(&m, "prev", 8);
	type(&m, BTF_STRUCT, "task_struct", 5, 256);
	member(&m, "comm", 1, COMM * 8);
	member(&m, "tasks", 3, 0);
	pointer(&m, "real_parent", PARENT);
	pointer(&m, "group_leader", LEADER);
	pointer(&m, "nsproxy", NSPROXY);
	type(&m, BTF_STRUCT, "mm_struct", 4, 256);
	pointer(&m, "pgd", MM_PGD);
	pointer(&m, "start_code", START);
	pointer(&m, "end_code", END);
	pointer(&m, "end_data", DATA_END);
	type(&m, BTF_STRUCT, "nsproxy", 1, 16);
	pointer(&m, "uts_ns", 8);
	type(&m, BTF_STRUCT, "new_utsname", 1, 128);
	member(&m, "release", 1, 64 * 8);
	type(&m, BTF_STRUCT, "uts_namespace", 1, 128);
	member(&m, "name", m.last, 0);
	for (size_t i = 0; i < 65536 / sizeof(filler) + 1; i++)
		text(&m, filler);
	b = finish(&m);
	for (size_t off = 0; off < b.len; off += MEM_PAGE)
		mem_put(mem, TYPES + off, (const char *)b.data + off,
			b.len - off < MEM_PAGE ? b.len - off : MEM_PAGE);
	maker_free(&m);
}

static void put_task(struct memory *mem)
{
	mem_put(mem, TASK + COMM, "swapper/0\0\0\0\0\0\0", 16);
	mem_put64(mem, TASK + PARENT, TASK + SHIFT);
	mem_put64(mem, TASK + LEADER, TASK + SHIFT);
	mem_put64(mem, TASK + NSPROXY, UTS + SHIFT);
	mem_put64(mem, UTS + 8, UTS + 0x100 + SHIFT);
	mem_put(mem, UTS + 0x140, "6.7.8-test", 11);
	mem_put64(mem, MM + MM_PGD, PGD + SHIFT);
	mem_put64(mem, MM + START, TEXT + SHIFT);
	mem_put64(mem, MM + END, TEXT + 0x1000 + SHIFT);
	mem_put64(mem, MM + DATA_END, TEXT + 0x3000 + SHIFT);
	/* The search for init_mm reads whole windows: nothing is missing there. */
	for (uint64_t pa = 0x1f0000; pa < 0x220000; pa += MEM_PAGE)
		mem_at(mem, pa);
}

/* One large page of 1 GiB from 0 on, where the image is. */
static void put_tables(struct memory *mem)
{
	mem_put64(mem, PGD + 511 * 8, (PGD + 0x1000) | 3);
	mem_put64(mem, PGD + 0x1000 + 510 * 8, 0x83);
}

static struct memory *machine(void)
{
	struct memory *mem = mem_new();

	put_types(mem);
	put_task(mem);
	put_tables(mem);
	return mem;
}

TEST(finds_root_mode_and_release)
{
	struct memory *mem = machine();
	struct root_task t = { 0 };
	struct atw_err err = { 0 };

	CHECK_EQ(root_by_task(&mem->s, NULL, &t, &err), ATW_OK);
	CHECK_STR(t.paging.name, "x86_64-4");
	CHECK_EQ(t.root.u, PGD);
	CHECK_EQ(t.init_task, TASK + SHIFT);
	CHECK_EQ(t.task_at, TASK);
	CHECK_EQ(t.mm_at, MM + MM_PGD);
	CHECK_EQ(t.stext, TEXT + SHIFT);
	CHECK_STR(t.release, "6.7.8-test");
	mem_free(mem);
}

TEST(a_root_that_does_not_lead_to_the_task_is_none)
{
	struct memory *mem = machine();
	struct root_task t = { 0 };
	struct atw_err err = { 0 };

	mem_put64(mem, PGD + 0x1000 + 510 * 8, 0x40000083);
	CHECK_EQ(root_by_task(&mem->s, NULL, &t, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "no first task in memory with page tables that map it");
	mem_free(mem);
}

TEST(a_name_alone_is_no_task)
{
	struct memory *mem = machine();
	struct root_task t = { 0 };

	mem_put64(mem, TASK + LEADER, TASK + SHIFT + 64);
	CHECK_EQ(root_by_task(&mem->s, NULL, &t, NULL), ATW_E_MISSING);
	mem_free(mem);
}

TEST(without_types_nothing_is_found)
{
	struct memory *mem = mem_new();
	struct root_task t = { 0 };
	struct atw_err err = { 0 };

	put_task(mem);
	put_tables(mem);
	CHECK_EQ(root_by_task(&mem->s, NULL, &t, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "no kernel's types (BTF) in memory");
	mem_free(mem);
}

enum { OTHER_PGD = 0x206000 };

/* As arm64 and riscv do when memory is known: the kernel moves to other tables. */
TEST(a_kernel_that_ran_on_has_the_root_of_by_then)
{
	struct memory *mem = machine();
	struct root_task t = { 0 };
	struct atw_paging pg = { 0 };
	atw_pa root = { 0 };

	CHECK_EQ(root_by_task(&mem->s, NULL, &t, NULL), ATW_OK);
	mem_put64(mem, OTHER_PGD + 511 * 8, (PGD + 0x1000) | 3);
	mem_put64(mem, MM + MM_PGD, OTHER_PGD + SHIFT);
	/* Nothing of it is searched again. */
	mem_put(mem, TYPES, "gone", 4);
	CHECK(root_of_task(&mem->s, t.init_task, t.task_at, t.mm_at, &pg, &root));
	CHECK_EQ(root.u, OTHER_PGD);
	CHECK_STR(pg.name, "x86_64-4");
	/* A root that does not lead to the task is none. */
	mem_put64(mem, MM + MM_PGD, 0x208000 + SHIFT);
	CHECK(!root_of_task(&mem->s, t.init_task, t.task_at, t.mm_at, &pg, &root));
	mem_free(mem);
}

/* Without symbols it may be that there is VMCOREINFO by now, of which more is known. */
TEST(a_kernel_without_symbols_is_not_renewed)
{
	struct memory *mem = machine();
	struct atw_kernel *k = NULL;

	CHECK_EQ(atw_kernel_open(&mem->s, NULL, &k, NULL), ATW_OK);
	CHECK_EQ(atw_kernel_root_from(k), ATW_ROOT_TASK);
	CHECK(!kernel_renew(k));
	atw_kernel_close(k);
	mem_free(mem);
}
