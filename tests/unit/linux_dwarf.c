// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sizes, members and enumerators are read from DWARF: this program's own, which has
 * structs named as the kernel's are.
 */
#include <errno.h>
#include <stddef.h>

#include "test.h"

#include "base/file.h"
#include "format/elfsec.h"
#include "linux/needs.h"

struct list_head {
	struct list_head *next, *prev;
};

typedef const volatile struct {
	char before[3];
	const int ma_root;
} tree_t;

struct mm_struct {
	struct {
		long none;
		union {
			char other[5];
			struct {
				char pad[24];
				void *pgd;
			};
		};
		tree_t mm_mt;
	};
	unsigned int map_count : 7;
	unsigned int flags : 9;
};

struct task_struct {
	char head[11];
	unsigned short __state;
	struct list_head tasks;
	int pid, tgid;
	char comm[16];
	struct mm_struct *mm;
	struct signal_struct *signal;    /* never defined */
	unsigned int exit_state : 3;
};

typedef struct {
	long a[7];
} page;

enum maple_type { maple_dense, maple_leaf_64 = 200, maple_range_64 = 70000, maple_arange_64 = -5 };

struct kvm_mmu {
	struct {
		unsigned int before : 12;
		unsigned int direct : 1;
		unsigned int level : 9;
	} root_role;
};

struct task_struct test_task;
struct kvm_mmu test_mmu;
struct mm_struct test_mm;
page test_page;
enum maple_type test_type;

static bool has_dwarf(void)
{
	struct elfsec_section s;
	struct elfsec e;
	struct file f;
	bool yes;

	if (file_open(program_invocation_name, &f, NULL) < 0)
		return false;
	yes = elfsec_parse(f.map, &e, NULL) == ATW_OK &&
	      elfsec_find(&e, ".debug_info", &s) == ATW_OK;
	file_close(&f);
	return yes;
}

#ifdef HAVE_LIBDW

TEST(members_sizes_and_enumerators)
{
	static struct needs n;
	struct atw_err err = { 0 };
	uint32_t types = 0;

	if (!has_dwarf())
		SKIP("this program was built without -g");
	needs_from_types(&n, NULL);
	CHECK_EQ(needs_from_dwarf(&n, program_invocation_name, &types, &err), ATW_OK);
	CHECK(n.types);
	CHECK_EQ(n.member[N_task_tasks], offsetof(struct task_struct, tasks));
	CHECK_EQ(n.width[N_task_tasks], 0);
	CHECK_EQ(n.member[N_task_pid], offsetof(struct task_struct, pid));
	CHECK_EQ(n.width[N_task_pid], 4);
	CHECK_EQ(n.member[N_task_comm], offsetof(struct task_struct, comm));
	CHECK_EQ(n.width[N_task_comm], 0);
	CHECK_EQ(n.member[N_task_state], offsetof(struct task_struct, __state));
	CHECK_EQ(n.width[N_task_state], 2);
	CHECK_EQ(n.member[N_task_mm], offsetof(struct task_struct, mm));
	CHECK_EQ(n.width[N_task_mm], 8);
	CHECK_EQ(n.member[N_task_signal], offsetof(struct task_struct, signal));
	/* The number that has all bits of a field, and where they begin in it. */
	CHECK_EQ(n.member[N_mmu_direct], 1);
	CHECK_EQ(n.width[N_mmu_direct], 1);
	CHECK_EQ(n.low[N_mmu_direct], 4);
	CHECK_EQ(n.bits[N_mmu_direct], 1);
	CHECK_EQ(n.member[N_mmu_level], 0);
	CHECK_EQ(n.width[N_mmu_level], 4);
	CHECK_EQ(n.low[N_mmu_level], 13);
	CHECK_EQ(n.bits[N_mmu_level], 9);
	CHECK_EQ(n.bits[N_task_pid], 0);
	/* Other bit fields have no offset, and what is not there stays missing. */
	CHECK_EQ(n.member[N_task_exit_state], NEED_NONE);
	CHECK_EQ(n.member[N_mm_map_count], NEED_NONE);
	CHECK_EQ(n.member[N_task_real_parent], NEED_NONE);
	CHECK_EQ(n.member[N_vma_start], NEED_NONE);
	/* In members without a name, and through a typedef with qualifiers. */
	CHECK_EQ(n.member[N_mm_pgd], offsetof(struct mm_struct, pgd));
	CHECK_EQ(n.member[N_mm_ma_root], offsetof(struct mm_struct, mm_mt.ma_root));
	CHECK_EQ(n.width[N_mm_ma_root], 4);
	CHECK_EQ(n.size[S_page], sizeof(page));
	CHECK_EQ(n.size[S_maple_node], 0);
	CHECK(n.have_const[C_maple_leaf_64] && n.have_const[C_maple_range_64] &&
	      n.have_const[C_maple_arange_64] && !n.have_const[C_PG_locked]);
	CHECK_EQ(n.constant[C_maple_leaf_64], 200);
	CHECK_EQ(n.constant[C_maple_range_64], 70000);
	CHECK_EQ(n.constant[C_maple_arange_64], -5);
}

TEST(a_file_that_has_none)
{
	static struct needs n;
	struct atw_err err = { 0 };
	uint32_t types = 0;

	needs_from_types(&n, NULL);
	CHECK_EQ(needs_from_dwarf(&n, "/dev/null", &types, &err), ATW_E_DAMAGED);
	CHECK(!strncmp(err.text, "its DWARF cannot be read: ", 26));
	CHECK_EQ(needs_from_dwarf(&n, "/nonesuch", &types, &err), ATW_E_DAMAGED);
	CHECK(!n.types);
}

#else

TEST(a_build_without_libdw_says_so)
{
	static struct needs n;
	struct atw_err err = { 0 };
	uint32_t types = 0;

	(void)has_dwarf;
	CHECK_EQ(needs_from_dwarf(&n, program_invocation_name, &types, &err),
		 ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "has its types as DWARF only, and this build of atwalk lacks libdw");
}

#endif
