/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members, enumerators and sizes are found under the names of every release. */
#include "linux/needs.h"

#include "test.h"
#include "unit/btf_image.h"

enum { INT = 1, LONG, COMM, LIST };

/* task_struct as kernels before 5.14 had it, and one with nothing of use. */
static void old_task(struct maker *m)
{
	type(m, BTF_INT, "int", 0, 4);
	word(m, 0x01000020);
	type(m, BTF_INT, "long", 0, 8);
	word(m, 0x01000040);
	type(m, BTF_ARRAY, "", 0, 0);
	word(m, INT);
	word(m, INT);
	word(m, 4);
	type(m, BTF_STRUCT, "list_head", 2, 16);
	member(m, "next", LONG, 0);
	member(m, "prev", LONG, 64);
	type(m, BTF_STRUCT, "task_struct", 5, 64);
	member(m, "state", LONG, 64);
	member(m, "pid", INT, 128);
	member(m, "tgid", INT, 160);
	member(m, "comm", COMM, 192);
	member(m, "tasks", LIST, 320);
	type(m, BTF_STRUCT, "page", 0, 64);
}

TEST(older_names_are_found)
{
	struct maker m = { 0 };
	struct needs n = { 0 };
	struct btf b = { 0 };

	old_task(&m);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	needs_from_types(&n, &b);
	CHECK(n.types);
	CHECK_EQ(n.member[N_task_state], 8);
	CHECK_EQ(n.width[N_task_state], 8);
	CHECK_EQ(n.member[N_task_pid], 16);
	CHECK_EQ(n.width[N_task_pid], 4);
	CHECK_EQ(n.member[N_task_tasks], 40);
	CHECK_EQ(n.width[N_task_tasks], 0);      /* a struct: no number */
	CHECK_EQ(n.size[S_page], 64);
	CHECK_EQ(n.member[N_mm_pgd], NEED_NONE);
	btf_deinit(&b);
	maker_free(&m);
}

/* Slab caches of 7.x have what is each node's as a pair of pointers; older ones have one. */
TEST(what_a_cache_has_on_each_node)
{
	for (unsigned pairs = 0; pairs < 2; pairs++) {
		struct maker m = { 0 };
		struct needs n = { 0 };
		struct btf b = { 0 };

		type(&m, BTF_INT, "int", 0, 4);
		word(&m, 0x01000020);
		type(&m, BTF_INT, "long", 0, 8);
		word(&m, 0x01000040);
		type(&m, BTF_STRUCT, "kmem_cache", 2, 464);
		member(&m, "size", INT, UINT32_C(24) * 8);
		member(&m, pairs ? "per_node" : "node", LONG, UINT32_C(208) * 8);
		if (pairs) {
			type(&m, BTF_STRUCT, "kmem_cache_per_node_ptrs", 2, 16);
			member(&m, "barn", LONG, 0);
			member(&m, "node", LONG, 64);
		}
		CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
		needs_from_types(&n, &b);
		CHECK_EQ(n.member[N_cache_size], 24);
		CHECK_EQ(n.member[N_cache_node], 208);
		CHECK_EQ(n.size[S_cache_per_node], pairs ? 16 : 0);
		CHECK_EQ(n.member[N_cache_per_node_node], pairs ? 8 : NEED_NONE);
		btf_deinit(&b);
		maker_free(&m);
	}
}

/* Strings of a module's types go on behind those of the kernel. */
static void type_of_module(struct maker *m, uint32_t strings, const char *name, uint32_t info,
			   uint32_t size)
{
	word(m, strings + text(m, name));
	word(m, info);
	word(m, size);
	m->last++;
}

static void member_of_module(struct maker *m, uint32_t strings, const char *name, uint32_t type_id,
			     uint32_t bit)
{
	word(m, strings + text(m, name));
	word(m, type_id);
	word(m, bit);
}

/* What the kernel lacks of a feature is added from its module, and nothing else. */
TEST(types_of_a_module)
{
	enum { KIND_FLAG = 1u << 31, STRUCT = BTF_STRUCT << 24 };
	struct maker m = { 0 }, own = { 0 };
	struct needs n = { 0 }, more = { 0 };
	struct btf b = { 0 }, module = { 0 };
	uint32_t s;

	old_task(&m);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	s = (uint32_t)b.strings.len;
	/* Bits 4 to 7 of a byte, and 20 bits that only 4 bytes hold; the pid is elsewhere. */
	type_of_module(&own, s, "kvm_mmu", KIND_FLAG | STRUCT | 3, 24);
	member_of_module(&own, s, "root_hpa", LONG, 64);
	member_of_module(&own, s, "direct_map", INT, UINT32_C(4) << 24 | (128 + 4));
	member_of_module(&own, s, "shadow_root_level", INT, UINT32_C(20) << 24 | (160 + 7));
	type_of_module(&own, s, "kvm", STRUCT | 1, 64);
	member_of_module(&own, s, "mm", LONG, 320);
	type_of_module(&own, s, "mm_struct", STRUCT | 1, 64);
	member_of_module(&own, s, "pgd", LONG, 64);
	CHECK_EQ(btf_init_split(&module, &b, finish(&own), NULL), ATW_OK);
	needs_from_types(&n, &b);
	CHECK_EQ(n.member[N_mmu_root], NEED_NONE);
	needs_from_types(&more, &module);
	needs_add(&n, &more, FOR_STAGE2);
	CHECK_EQ(n.member[N_mmu_root], 8);
	CHECK_EQ(n.width[N_mmu_root], 8);
	CHECK_EQ(n.bits[N_mmu_root], 0);
	CHECK_EQ(n.member[N_mmu_direct], 16);
	CHECK_EQ(n.width[N_mmu_direct], 1);
	CHECK_EQ(n.low[N_mmu_direct], 4);
	CHECK_EQ(n.bits[N_mmu_direct], 4);
	CHECK_EQ(n.member[N_mmu_level], 20);
	CHECK_EQ(n.width[N_mmu_level], 4);
	CHECK_EQ(n.low[N_mmu_level], 7);
	CHECK_EQ(n.bits[N_mmu_level], 20);
	CHECK_EQ(n.member[N_task_pid], 16);
	/* Other features take nothing from it. */
	CHECK_EQ(n.member[N_kvm_mm], NEED_NONE);
	needs_add(&n, &more, FOR_GUESTS);
	CHECK_EQ(n.member[N_kvm_mm], 40);
	CHECK_EQ(more.member[N_mm_pgd], 8);
	CHECK_EQ(n.member[N_mm_pgd], NEED_NONE);
	btf_deinit(&module);
	btf_deinit(&b);
	maker_free(&own);
	maker_free(&m);
}

TEST(what_is_missing_is_named)
{
	struct maker m = { 0 };
	struct needs n = { 0 };
	struct btf b = { 0 };
	struct atw_err err = { 0 };
	bool seen = false;

	old_task(&m);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	needs_from_types(&n, &b);
	CHECK_EQ(needs_check(&n, FOR_SPACES, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "page tables of processes cannot be found: this kernel has no member task_struct.mm");
	for (size_t i = 0; i < needs_count(); i++) {
		struct need_info info = needs_at(&n, i);

		CHECK(info.names && *info.names);
		CHECK(*needs_for_name(info.serves));
		if (!strcmp(info.names, "mm_struct.pgd"))
			seen = !info.have && info.must && info.serves == FOR_SPACES;
	}
	CHECK(seen);
	btf_deinit(&b);
	maker_free(&m);
}

TEST(without_types_nothing_is_there)
{
	struct needs n = { 0 };
	struct atw_err err = { 0 };

	needs_from_types(&n, NULL);
	CHECK(!n.types);
	for (size_t i = 0; i < N_MEMBERS; i++)
		CHECK_EQ(n.member[i], NEED_NONE);
	CHECK_EQ(needs_check(&n, FOR_AREAS, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "memory areas cannot be found without the kernel's types (BTF)");
}

TEST(enumerators_of_either_width)
{
	struct maker m = { 0 };
	struct needs n = { 0 };
	struct btf b = { 0 };

	type(&m, BTF_ENUM, "maple_type", 2, 4);
	word(&m, text(&m, "maple_leaf_64"));
	word(&m, 1);
	word(&m, text(&m, "of_no_use"));
	word(&m, 9);
	type(&m, BTF_ENUM64, "", 1, 8);
	word(&m, text(&m, "maple_arange_64"));
	word(&m, 3);
	word(&m, 1);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	needs_from_types(&n, &b);
	CHECK(n.have_const[C_maple_leaf_64]);
	CHECK_EQ(n.constant[C_maple_leaf_64], 1);
	CHECK_EQ(n.constant[C_maple_arange_64], UINT64_C(0x100000003));
	CHECK(!n.have_const[C_maple_range_64]);
	btf_deinit(&b);
	maker_free(&m);
}
