/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtual machine of a process, its memory slots and stage 2, in kernel memory that may
 * have anything in it: what cannot be is refused, and nothing goes on without end.
 */
#include "linux/kvm.h"

#include "kernel_memory.h"
#include "test.h"

enum {
	TASK = 0x100, T_FILES = 0xa0, FILES = 0x200, FDT = 0x240, FDS = 0x300,
	FILE_A = 0x800, FILE_SPACE = 0x40, F_PRIVATE = 8, F_DENTRY = 16,
	DENTRY = 0xa00, NAME = 0xa40, PLAIN = 0xa80,
	MM = 0xb00, OTHER_MM = 0xb80,
	MACHINE = 0x1000, M_MM = 0, M_SLOTS = 8, M_CPUS = 16, M_ARRAY = 72, M_ONLINE = 80,
	M_ROOT = 88, M_VTCR = 96, M_LEVELS = 104, OTHER = 0x1200,
	SLOTS = 0x1400, S_GENERATION = 0, S_INDEX = 8, S_TREE = 16, S_USED = 24, S_ARRAY = 32,
	SLOT = 0x1600, SLOT_SPACE = 0x80, SLOT_GFN = 48, SLOT_PAGES = 56, SLOT_ADDRESS = 64,
	SLOT_FLAGS = 72,
	CPU = 0x2000, CPU_SPACE = 0x100, C_MMU = 0x20, U_ROOT = 8, U_ROLE = 16,
	NODE = 0x3000, X_SHIFT = 0, X_SLOTS = 8, X_CHUNK = 64,
	ROOT = 0x4000, RISCV_ROOT = 0x8000, TABLE = 0xc000,
};
#define NO_ROOT UINT64_MAX

static void put_file(struct kmemory *k, unsigned fd, unsigned i, uint64_t dentry, uint64_t private)
{
	uint64_t file = FILE_A + i * FILE_SPACE;

	kpoint(k, FDS + 8 * fd, file);
	kpoint(k, file + F_DENTRY, dentry);
	kpoint(k, file + F_PRIVATE, private);
}

static void put_slot(struct kmemory *k, unsigned i, uint64_t gfn, uint64_t pages, uint64_t address,
		     uint32_t flags)
{
	uint64_t at = SLOT + i * SLOT_SPACE;

	kput64(k, at + SLOT_GFN, gfn);
	kput64(k, at + SLOT_PAGES, pages);
	kput64(k, at + SLOT_ADDRESS, address);
	kput(k, at + SLOT_FLAGS, flags, 4);
}

/* Each set has a node in a slot; the second of them is used. */
static uint64_t node(unsigned i) { return SLOT + i * SLOT_SPACE + 24; }

static void put_children(struct kmemory *k, unsigned i, uint64_t left, uint64_t right)
{
	kput64(k, node(i) + 8, left ? KBASE + left : 0);
	kput64(k, node(i) + 16, right ? KBASE + right : 0);
}

static struct kmemory *machine(void)
{
	struct kmemory *k = kmemory_new();

	ktask_layout(k);
	karea_layout(k, false);
	kset(k, N_task_files, T_FILES, 8);
	kset(k, N_files_fdt, 8, 8);
	kset(k, N_fdt_max, 0, 4);
	kset(k, N_fdt_fd, 8, 8);
	kset(k, N_file_private, F_PRIVATE, 8);
	kset(k, N_file_dentry, F_DENTRY, 8);
	kset(k, N_dentry_name, 8, 8);
	kset(k, N_kvm_mm, M_MM, 8);
	kset(k, N_kvm_memslots, M_SLOTS, 8);
	kset(k, N_memslots_generation, S_GENERATION, 8);
	kset(k, N_memslots_tree, S_TREE, 8);
	kset(k, N_memslots_index, S_INDEX, 4);
	kset(k, N_slot_node, 0, 0);
	kset(k, N_slot_gfn, SLOT_GFN, 8);
	kset(k, N_slot_pages, SLOT_PAGES, 8);
	kset(k, N_slot_address, SLOT_ADDRESS, 8);
	kset(k, N_slot_flags, SLOT_FLAGS, 4);
	kset(k, N_rb_left, 8, 8);
	kset(k, N_rb_right, 16, 8);
	k->n.size[S_slot] = SLOT_SPACE;
	k->n.size[S_rb_node] = 24;

	kpoint(k, TASK + T_FILES, FILES);
	kpoint(k, FILES + 8, FDT);
	kput(k, FDT, 8, 4);
	kpoint(k, FDT + 8, FDS);
	kpoint(k, DENTRY + 8, NAME);
	kpoint(k, DENTRY + 0x20 + 8, PLAIN);
	ktext(k, NAME, "kvm-vm");
	ktext(k, PLAIN, "kvm-vcpu:0");
	put_file(k, 1, 0, DENTRY + 0x20, OTHER);
	put_file(k, 5, 1, DENTRY, MACHINE);
	kpoint(k, MACHINE + M_MM, MM);
	kpoint(k, OTHER + M_MM, OTHER_MM);

	kpoint(k, MACHINE + M_SLOTS, SLOTS);
	kput(k, SLOTS + S_INDEX, 1, 4);
	kpoint(k, SLOTS + S_TREE, node(1));
	put_slot(k, 0, 0x100, 16, 0x7000000000, 0);
	put_slot(k, 1, 0x80, 1, 0x7100000000, 2);
	put_slot(k, 2, 0, 128, 0x7200000000, 4);
	put_children(k, 1, node(2), node(0));
	return k;
}

static void kernel_end(struct atw_kernel *kernel)
{
	kernel_modules_close(kernel->modules);
	free(kernel->kvm_needs);
	free(kernel);
}

static const struct lnx_task task = { .at = KBASE + TASK, .mm = KBASE + MM };

/* ---- the machine ---- */

static int find(struct kmemory *k, uint64_t *ret, struct atw_err *err)
{
	struct atw_kernel *kernel = kmemory_kernel(k);
	int r = kvm_machine(kernel, &task, ret, err);

	kernel_end(kernel);
	return r;
}

TEST(the_machine_of_a_process)
{
	struct kmemory *k = machine();
	struct atw_err err = { 0 };
	uint64_t at = 0;

	CHECK_EQ(find(k, &at, &err), ATW_OK);
	CHECK_EQ(at, KBASE + MACHINE);
	/* The same one twice, and one that a parent has. */
	put_file(k, 6, 2, DENTRY, MACHINE);
	put_file(k, 7, 3, DENTRY, OTHER);
	CHECK_EQ(find(k, &at, &err), ATW_OK);
	CHECK_EQ(at, KBASE + MACHINE);
	kpoint(k, OTHER + M_MM, MM);
	CHECK_EQ(find(k, &at, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "the process has more than one virtual machine");
	kmemory_free(k);
}

TEST(files_that_cannot_be)
{
	struct kmemory *k = machine();
	struct atw_err err = { 0 };
	uint64_t at = 0;

	kput(k, FDT, 1 << 21, 4);
	CHECK_EQ(find(k, &at, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "a table of 2097152 open files");
	/* The table leads out of memory. */
	kput(k, FDT, 8, 4);
	kput64(k, FDT + 8, 0x123);
	CHECK(find(k, &at, &err) < 0);
	kpoint(k, FDT + 8, FDS);
	kput64(k, TASK + T_FILES, 0);
	CHECK_EQ(find(k, &at, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "the source lacks the files of the process");
	kpoint(k, TASK + T_FILES, FILES);
	/* So do files and names: they are none of a machine. */
	kput64(k, FILE_A + FILE_SPACE + F_DENTRY, 0x123);
	CHECK_EQ(find(k, &at, &err), ATW_E_NONE);
	CHECK_STR(err.text, "the process has no virtual machine of KVM");
	kmemory_free(k);
}

TEST(types_that_lack_KVM)
{
	struct kmemory *k = machine();
	struct atw_err err = { 0 };
	uint64_t at = 0;

	k->n.member[N_kvm_memslots] = UINT32_MAX;
	CHECK_EQ(find(k, &at, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "the kernel's types do not describe KVM: "
		  "this kernel has no list of modules with types (btf_modules)");
	/* A process without one needs no types of KVM. */
	kput64(k, FDS + 8 * 5, 0);
	CHECK_EQ(find(k, &at, &err), ATW_E_NONE);
	CHECK_STR(err.text, "the process has no virtual machine of KVM");
	k->n.types = false;
	CHECK_EQ(find(k, &at, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "virtual machines of KVM cannot be found without the kernel's types (BTF)");
	kmemory_free(k);
}

/* ---- slots ---- */

static int slots(struct kmemory *k, struct vmm_slot **ret, size_t *n, struct atw_err *err)
{
	struct atw_kernel *kernel = kmemory_kernel(k);
	int r = kvm_slots(kernel, &task, ret, n, err);

	kernel_end(kernel);
	return r;
}

TEST(slots_of_a_tree)
{
	struct kmemory *k = machine();
	struct atw_err err = { 0 };
	struct vmm_slot *v = NULL;
	size_t n = 0;

	CHECK_EQ(slots(k, &v, &n, &err), ATW_OK);
	CHECK_STR(err.text, "");
	CHECK_EQ(n, 3);
	CHECK_EQ(v[0].gpa, 0);
	CHECK_EQ(v[0].len, 128 << 12);
	CHECK_EQ(v[0].address, 0x7200000000);
	CHECK(v[0].guest_memfd && !v[0].read_only);
	CHECK_EQ(v[1].gpa, 0x80000);
	CHECK(v[1].read_only && !v[1].guest_memfd);
	CHECK_EQ(v[2].gpa, 0x100000);
	CHECK_EQ(v[2].len, 16 << 12);
	free(v);
	kmemory_free(k);
}

static void slots_fail(struct kmemory *k, const char *want)
{
	struct atw_err err = { 0 };
	struct vmm_slot *v = NULL;
	size_t n = 0;

	CHECK(slots(k, &v, &n, &err) < 0);
	CHECK_STR(err.text, want);
	CHECK(!v);
}

TEST(slots_that_cannot_be)
{
	struct kmemory *k = machine();

	put_children(k, 2, node(1), 0);
	slots_fail(k, "the tree of memory slots has no end");
	put_children(k, 2, 0, 0);
	put_slot(k, 0, 0x7f, 16, 0x7000000000, 0);
	slots_fail(k, "memory slots overlap at 0x7f000");
	put_slot(k, 0, 0x100, 0, 0x7000000000, 0);
	slots_fail(k, "memory slot at 0xffff888000001600: 0 pages from frame 0x100 at 0x7000000000");
	put_slot(k, 0, 0x100, 1, 0x7000000001, 0);
	slots_fail(k, "memory slot at 0xffff888000001600: 1 pages from frame 0x100 at 0x7000000001");
	put_slot(k, 0, 0x100, (uint64_t)1 << 47, 0xf800000000000000, 0);
	slots_fail(k, "memory slot at 0xffff888000001600: 140737488355328 pages from frame 0x100 at 0xf800000000000000");
	put_slot(k, 0, (uint64_t)1 << 48, 1, 0x7000000000, 0);
	slots_fail(k, "memory slot at 0xffff888000001600: 1 pages from frame 0x1000000000000 at 0x7000000000");
	kmemory_free(k);
}

/* ---- what is private ---- */

enum { M_ATTRIBUTES = 112, M_TYPE = 120, M_PROTECTED = 128 };

static struct kmemory *private_machine(void)
{
	struct kmemory *k = machine();

	kset(k, N_kvm_attributes, M_ATTRIBUTES, 8);
	kset(k, N_kvm_type, M_TYPE, 8);
	kset(k, N_xa_shift, X_SHIFT, 1);
	kset(k, N_xa_slots, X_SLOTS, 0);
	kset(k, N_xa_marks, X_SLOTS + 8 * X_CHUNK, 0);
	return k;
}

static void privacy_is(struct kmemory *k, const char *want)
{
	struct atw_kernel *kernel = kmemory_kernel(k);
	struct atw_err err = { 0 };
	struct vmm_privacy p = { 0 };
	struct vmm_slot *v = NULL;
	char text[240];
	size_t n = 0;

	kernel->own.paging = *atw_paging_find("x86_64-4");
	CHECK_EQ(kvm_slots(kernel, &task, &v, &n, &err), ATW_OK);
	CHECK_EQ(kvm_privacy(kernel, &task, v, n, &p, &err), ATW_OK);
	vmm_privacy_text(&p, text, sizeof(text));
	CHECK_STR(text, want);
	free(v);
	kernel_end(kernel);
}

TEST(what_the_host_cannot_read)
{
	struct kmemory *k = private_machine();

	/* Nothing is private yet, of 128 + 16 pages. */
	privacy_is(k, "private pages of the guest (guest_memfd) are in no process and not read; 0 of 144 pages are private");
	/* Frames 3 and 70 are, 71 is not, and 0x101 is in no slot of guest_memfd. */
	kput64(k, MACHINE + M_ATTRIBUTES, KBASE + NODE + 2);
	kput(k, NODE + X_SHIFT, 6, 1);
	for (unsigned i = 0; i < 3; i++) {
		unsigned at = i == 2 ? 4 : i;

		kput64(k, NODE + X_SLOTS + 8 * at, KBASE + NODE + (i + 1) * 0x240 + 2);
	}
	kput64(k, NODE + 0x240 + X_SLOTS + 8 * 3, 8 << 1 | 1);
	kput64(k, NODE + 0x480 + X_SLOTS + 8 * 6, 8 << 1 | 1);
	kput64(k, NODE + 0x480 + X_SLOTS + 8 * 7, 1 << 1 | 1);
	kput64(k, NODE + 0x6c0 + X_SLOTS + 8, 8 << 1 | 1);
	privacy_is(k, "private pages of the guest (guest_memfd) are in no process and not read; 2 of 144 pages are private");
	kput64(k, MACHINE + M_TYPE, 2);
	privacy_is(k, "the guest's memory is encrypted (SEV): only the guest can read it; 2 of 144 pages are private");
	kput64(k, MACHINE + M_TYPE, 4);
	privacy_is(k, "the guest's memory is encrypted (SEV-SNP): only pages that it shares are read; 2 of 144 pages are private");
	kput64(k, MACHINE + M_TYPE, 5);
	privacy_is(k, "the guest's memory is encrypted (TDX): only pages that it shares are read; 2 of 144 pages are private");
	/* A type that is not known yet. */
	kput64(k, MACHINE + M_TYPE, 9);
	privacy_is(k, "private pages of the guest (guest_memfd) are in no process and not read; 2 of 144 pages are private");
	/* A tree without end: the number is not known, and so not 0. */
	kput64(k, NODE + X_SLOTS, KBASE + NODE + 2);
	privacy_is(k, "private pages of the guest (guest_memfd) are in no process and not read");
	k->n.member[N_kvm_attributes] = UINT32_MAX;
	privacy_is(k, "private pages of the guest (guest_memfd) are in no process and not read");
	put_slot(k, 2, 0, 128, 0x7200000000, 0);
	privacy_is(k, "");
	kput64(k, MACHINE + M_TYPE, 3);
	privacy_is(k, "the guest's memory is encrypted (SEV): only the guest can read it");
	k->n.member[N_kvm_type] = UINT32_MAX;
	kset(k, N_kvm_protected, M_PROTECTED, 1);
	privacy_is(k, "");
	kput(k, MACHINE + M_PROTECTED, 1, 1);
	privacy_is(k, "the guest is protected (pKVM): only pages that it shares are read");
	kmemory_free(k);
}

/* ---- stage 2 ---- */

static struct kmemory *x86(void)
{
	struct kmemory *k = machine();

	kset(k, N_kvm_vcpus, M_CPUS, 0);
	kset(k, N_kvm_online, M_ONLINE, 4);
	kset(k, N_vcpu_mmu, C_MMU, 0);
	kset(k, N_mmu_root, U_ROOT, 8);
	kset(k, N_mmu_level, U_ROLE, 1);
	k->n.bits[N_mmu_level] = 4;
	kset(k, N_mmu_direct, U_ROLE, 1);
	k->n.bits[N_mmu_direct] = 1;
	k->n.low[N_mmu_direct] = 7;
	kput(k, MACHINE + M_ONLINE, 3, 4);
	for (unsigned i = 0; i < 3; i++) {
		kpoint(k, MACHINE + M_CPUS + 8 * i, CPU + i * CPU_SPACE);
		kput64(k, CPU + i * CPU_SPACE + C_MMU + U_ROOT, NO_ROOT);
	}
	return k;
}

static void put_root(struct kmemory *k, unsigned cpu, uint64_t root, unsigned level, bool direct)
{
	uint64_t mmu = CPU + cpu * CPU_SPACE + C_MMU;

	kput64(k, mmu + U_ROOT, root);
	kput(k, mmu + U_ROLE, level | (unsigned)direct << 7, 1);
}

static int stage2(struct kmemory *k, enum atw_family family, struct kvm_stage2 *ret,
		  struct atw_err *err)
{
	static const struct vmm_slot slot = { .gpa = 0x80000000, .len = 0x200000 };
	static const char *const own[] = {
		[ATW_X86] = "x86_64-4", [ATW_ARM64] = "arm64-4k-48", [ATW_RISCV] = "riscv64-sv48",
	};
	struct atw_kernel *kernel = kmemory_kernel(k);
	int r;

	kernel->own.paging = *atw_paging_find(own[family]);
	r = kvm_stage2(kernel, KBASE + MACHINE, &slot, 1, ret, err);
	kernel_end(kernel);
	return r;
}

static void stage2_is(struct kmemory *k, enum atw_family family, const char *word)
{
	struct atw_err err = { 0 };
	struct kvm_stage2 s;

	CHECK_EQ(stage2(k, family, &s, &err), ATW_OK);
	CHECK_STR(err.text, "");
	CHECK_STR(kvm_stage2_word(&s), word);
}

static void stage2_fails(struct kmemory *k, enum atw_family family, const char *want)
{
	struct atw_err err = { 0 };
	struct kvm_stage2 s;

	CHECK(stage2(k, family, &s, &err) < 0);
	CHECK_STR(err.text, want);
}

TEST(roots_of_x86)
{
	struct kmemory *k = x86();
	struct atw_err err = { 0 };
	struct kvm_stage2 s;

	stage2_is(k, ATW_X86, "none");
	/* Of the guest's own tables; then the second CPU has one that is not. */
	put_root(k, 0, 0x5000, 3, true);
	stage2_is(k, ATW_X86, "shadow");
	put_root(k, 0, 0x5000, 4, false);
	stage2_is(k, ATW_X86, "shadow");
	put_root(k, 1, ROOT, 4, true);
	stage2_is(k, ATW_X86, "empty");
	kput64(k, ROOT + 8, 0x5827);
	CHECK_EQ(stage2(k, ATW_X86, &s, &err), ATW_OK);
	CHECK_STR(kvm_stage2_word(&s), "npt-4");
	CHECK_EQ(s.space.low.pa.u, ROOT);
	put_root(k, 1, ROOT, 5, true);
	stage2_is(k, ATW_X86, "npt-5");
	/* EPT without the accessed bit, and with it. */
	kput64(k, ROOT + 8, 0x5007);
	stage2_is(k, ATW_X86, "ept-5");
	put_root(k, 1, ROOT, 4, true);
	kput64(k, ROOT + 8, 0x5907);
	stage2_is(k, ATW_X86, "ept-4");
	kput64(k, ROOT + 16, 0x5827);
	stage2_fails(k, ATW_X86, "the root 0x4000 has entries of EPT and of NPT");
	put_root(k, 1, ROOT, 6, true);
	stage2_fails(k, ATW_X86, "a root at 0x4000 of 6 levels");
	put_root(k, 1, ROOT + 8, 4, true);
	stage2_fails(k, ATW_X86, "a root at 0x4008 of 4 levels");
	put_root(k, 1, 0x123456000, 4, true);
	stage2_fails(k, ATW_X86, "the root 0x123456000 is not in the source");
	kput(k, MACHINE + M_ONLINE, 1 << 20, 4);
	stage2_fails(k, ATW_X86, "a machine of 1048576 CPUs");
	kmemory_free(k);
}

static void put_node(struct kmemory *k, unsigned i, unsigned shift)
{
	kput(k, NODE + i * 0x400 + X_SHIFT, shift, 1);
}

static void put_element(struct kmemory *k, unsigned i, unsigned slot, uint64_t entry)
{
	kput64(k, NODE + i * 0x400 + X_SLOTS + 8 * slot, entry ? KBASE + entry : 0);
}

TEST(roots_of_an_xarray)
{
	struct kmemory *k = x86();

	kset(k, N_kvm_vcpu_array, M_ARRAY, 8);
	kset(k, N_xa_shift, X_SHIFT, 1);
	kset(k, N_xa_slots, X_SLOTS, 0);
	kset(k, N_xa_marks, X_SLOTS + 8 * X_CHUNK, 0);
	kput64(k, ROOT + 8, 0x5827);
	/* One element needs no node. */
	put_root(k, 0, ROOT, 4, true);
	kpoint(k, MACHINE + M_ARRAY, CPU);
	stage2_is(k, ATW_X86, "npt-4");
	put_root(k, 0, NO_ROOT, 4, true);
	put_root(k, 1, ROOT, 4, true);
	stage2_is(k, ATW_X86, "none");
	/* Two levels: CPU 1 is the second element of the first node below. */
	kpoint(k, MACHINE + M_ARRAY, NODE + 2);
	put_node(k, 0, 6);
	put_element(k, 0, 0, NODE + 0x400 + 2);
	put_node(k, 1, 0);
	put_element(k, 1, 0, CPU);
	put_element(k, 1, 1, CPU + CPU_SPACE);
	stage2_is(k, ATW_X86, "npt-4");
	/* More CPUs than elements; holes are none. */
	kput(k, MACHINE + M_ONLINE, 60000, 4);
	put_root(k, 1, NO_ROOT, 4, true);
	stage2_is(k, ATW_X86, "none");
	put_element(k, 0, 0, NODE + 2);
	stage2_fails(k, ATW_X86, "an XArray has no end");
	put_node(k, 0, 77);
	stage2_is(k, ATW_X86, "none");
	k->n.member[N_xa_marks] = X_SLOTS + 8 * 63;
	stage2_fails(k, ATW_X86, "this kernel has an XArray of an unknown kind");
	kmemory_free(k);
}

TEST(VTCR_of_arm64)
{
	static const struct { uint64_t vtcr; const char *word; unsigned bits, root; } all[] = {
		/* T0SZ, SL0, TG0, DS */
		{ 24 | 1 << 6, "arm64-s2-4k-40", 40, 10 },
		{ 32 | 0 << 6, "arm64-s2-4k-32", 32, 11 },
		{ 21 | 1 << 6, "arm64-s2-4k-42", 43, 13 },
		{ 16 | 2 << 6, "arm64-s2-4k-48", 48, 9 },
		{ 17 | 2 << 6, "arm64-s2-4k-44", 47, 8 },
		{ 12 | 2 << 6 | UINT64_C(1) << 32, "arm64-s2-4k-52", 52, 13 },
		{ 24 | 1 << 6 | UINT64_C(1) << 32, "arm64-s2-4k-40", 40, 10 },
		{ 24 | 1 << 6 | 2 << 14, "arm64-s2-16k-40", 40, 15 },
		{ 24 | 1 << 6 | 1 << 14, "arm64-s2-64k-40", 40, 11 },
	};
	static const uint64_t none[] = {
		24 | 1 << 6 | 3 << 14,   /* pages of no size */
		24 | 3 << 6,             /* a level above the first */
		20 | 0 << 6,             /* more than 16 tables as a root */
		63 | 1 << 6,             /* fewer bits than the root begins at */
	};
	struct kmemory *k = machine();
	struct atw_err err = { 0 };
	struct kvm_stage2 s;

	kset(k, N_stage2_root, M_ROOT, 8);
	kset(k, N_stage2_vtcr, M_VTCR, 8);
	stage2_is(k, ATW_ARM64, "none");
	kput64(k, MACHINE + M_ROOT, ROOT);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		kput64(k, MACHINE + M_VTCR, all[i].vtcr);
		CHECK_EQ(stage2(k, ATW_ARM64, &s, &err), ATW_OK);
		CHECK_STR(kvm_stage2_word(&s), all[i].word);
		CHECK_EQ(s.space.paging.va_bits, all[i].bits);
		CHECK_EQ(s.space.paging.level[s.space.paging.nlevels - 1].bits, all[i].root);
		/* LPA2 has more bits of an address in an entry. */
		CHECK_EQ(s.space.paging.pa_bits, all[i].vtcr >> 32 || all[i].vtcr >> 14 == 1 ? 52 : 48);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		kput64(k, MACHINE + M_VTCR, none[i]);
		CHECK_EQ(stage2(k, ATW_ARM64, &s, &err), ATW_E_DAMAGED);
		CHECK(!strncmp(err.text, "VTCR_EL2 of the machine is 0x", 29));
	}
	kmemory_free(k);
}

TEST(depth_of_riscv)
{
	struct kmemory *k = machine();

	kset(k, N_stage2_root, M_ROOT, 8);
	stage2_is(k, ATW_RISCV, "none");
	kput64(k, MACHINE + M_ROOT, RISCV_ROOT);
	stage2_is(k, ATW_RISCV, "empty");
	/* Three levels: the third GiB, a page in the first of its tables. */
	kput64(k, RISCV_ROOT + 8 * 2, TABLE >> 2 | 1);
	kput64(k, TABLE, (TABLE + 0x1000) >> 2 | 1);
	kput64(k, TABLE + 0x1000, 0x5000 >> 2 | 0xdf);
	stage2_is(k, ATW_RISCV, "riscv64-sv39x4");
	/* With a page in no slot the depth cannot be determined. */
	kput64(k, TABLE + 0x1000, 0);
	kput64(k, TABLE + 8 * 5, (TABLE + 0x1000) >> 2 | 1);
	kput64(k, TABLE, 0);
	kput64(k, TABLE + 0x1000, 0x5000 >> 2 | 0xdf);
	stage2_fails(k, ATW_RISCV, "the root 0x8000 is of tables of unknown depth");
	/* A root that is a table of its own: tables without end. */
	kput64(k, RISCV_ROOT + 8 * 2, RISCV_ROOT >> 2 | 1);
	stage2_fails(k, ATW_RISCV, "the root 0x8000 is of tables of unknown depth");
	/* Kernels that have the depth. */
	kset(k, N_stage2_levels, M_LEVELS, 4);
	kput(k, MACHINE + M_LEVELS, 5, 4);
	stage2_is(k, ATW_RISCV, "riscv64-sv57x4");
	kput(k, MACHINE + M_LEVELS, 4, 4);
	stage2_is(k, ATW_RISCV, "riscv64-sv48x4");
	kput(k, MACHINE + M_LEVELS, 9, 4);
	stage2_fails(k, ATW_RISCV, "the root 0x8000 is of tables of unknown depth");
	kmemory_free(k);
}
