/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm_stage2.c - the page tables by which KVM translates a guest's physical addresses, and
 * their paging mode: EPT or NPT of x86, stage 2 of arm64, the G-stage of RISC-V.
 *
 * x86: arch/x86/kvm/mmu/. Each CPU of a machine has a root; with EPT or NPT they translate
 * alike. Without, or where CPUs cannot do it, KVM shadows the guest's own tables (role.direct
 * is 0, or the tables are those of PAE): these translate virtual addresses, so they are not
 * taken for stage 2.
 */
#include "linux/kvm.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "linux/kernel.h"
#include "paging/entry.h"

enum {
	CPUS = 1 << 16,          /* of a machine: KVM_MAX_VCPUS is less */
	XARRAY_DEPTH = 11,       /* levels of 64 bits of index, 6 bits or more each */
	X86_LEVELS = 4,          /* at least; PAE has 3 */
	TRIED_PIECES = 1 << 16,  /* of a walk that finds out the depth */
};

static const uint64_t NO_ROOT = UINT64_MAX;      /* INVALID_PAGE, arch/x86/include/asm/kvm_host.h */

const char *kvm_stage2_word(const struct kvm_stage2 *s)
{
	return s->kind == KVM_STAGE2_TABLES  ? s->space.paging.name
	       : s->kind == KVM_STAGE2_EMPTY ? "empty"
	       : s->kind == KVM_STAGE2_NONE  ? "none"
					     : "shadow";
}

/* The tables of a root, in use as long as the word at `word` has its address. */
static int kvm_stage2_set(struct atw_kernel *k, struct kmem *m, const struct atw_paging *pg,
			  uint64_t root, uint64_t word, struct kvm_stage2 *ret,
			  struct atw_err *err)
{
	struct mmu_space *sp = &ret->space;

	if (!pg)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "the root 0x%" PRIx64 " is of tables of unknown depth", root);
	ret->kind = KVM_STAGE2_TABLES;
	*sp = (struct mmu_space){ .mem = k->own.mem, .paging = *pg,
				  .low = { ATW_PA(root), true } };
	if (!kmem_is_live(m))
		return ATW_OK;
	sp->guard[0] = (struct mmu_guard){ .mask = UINT64_MAX, .value = root, .len = 8 };
	return kmem_physical(m, word, &sp->guard[0].at, err);
}

/* ---- x86: a root for each CPU ---- */

/* An element of the XArray with xa_head `entry`; 0: there is none. */
static int kvm_stage2_element(const struct members *v, uint64_t entry, uint64_t index,
			      uint64_t *ret, struct atw_err *err)
{
	/* lib/xarray.c: a node is marked by 2 in the low bits; small ones are no pointers. */
	enum { NODE = 2, KINDS = 3, SMALL = 4096 };
	uint64_t n = (v->n->member[N_xa_marks] - v->n->member[N_xa_slots]) / 8, shift = 0;
	unsigned depth = 0;
	int r = ATW_OK;

	if (!member_have(v, N_xa_marks) || !member_have(v, N_xa_slots) || !n || n & (n - 1))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "this kernel has an XArray of an unknown kind");
	for (; r == ATW_OK && (entry & KINDS) == NODE && entry > SMALL; depth++) {
		if (depth == XARRAY_DEPTH)
			return atw_err_set(err, ATW_E_DAMAGED, "an XArray has no end");
		r = member_get(v, entry - NODE, N_xa_shift, &shift, err);
		if (r == ATW_OK && (shift > 63 || (!depth && index >> shift >= n)))
			entry = 0;
		else if (r == ATW_OK)
			r = kmem_u64(v->m, entry - NODE + v->n->member[N_xa_slots] +
				     8 * (index >> shift & (n - 1)), &entry, err);
	}
	/* Only the first element may be there without a node. */
	*ret = r < 0 || entry & KINDS || (!depth && index) ? 0 : entry;
	return r;
}

static int kvm_stage2_cpu(const struct members *v, uint64_t machine, uint64_t i, uint64_t *ret,
			  struct atw_err *err)
{
	uint64_t head = 0;

	if (!member_have(v, N_kvm_vcpu_array))
		return member_have(v, N_kvm_vcpus)
			? kmem_u64(v->m, machine + v->n->member[N_kvm_vcpus] + 8 * i, ret, err)
			: atw_err_set(err, ATW_E_UNSUPPORTED, "this kernel has no member %s",
				      needs_at(v->n, N_kvm_vcpus).names);
	return member_get(v, machine, N_kvm_vcpu_array, &head, err) ?:
	       kvm_stage2_element(v, head, i, ret, err);
}

/*
 * By the root's entries, which all point to tables: EPT reserves bits 3 to 7 of those (Intel
 * SDM vol. 3C, "Format of an EPT PML4 Entry"), and KVM makes those of NPT accessed (bit 5;
 * make_nonleaf_spte() in arch/x86/kvm/mmu/spte.c). No entry: the result is empty.
 */
static int kvm_stage2_is_ept(struct kmem *m, struct atw_source *mem, uint64_t root, bool *empty,
			     bool *ept, struct atw_err *err)
{
	enum { PRESENT = 7, ACCESSED = 1 << 5, RESERVED = 0xf8, WORDS = 512 };
	uint64_t word[WORDS];
	unsigned npt = 0, other = 0;
	ssize_t got = atw_read(mem, ATW_PA(root), word, sizeof(word), err);

	if (got < 0)
		return (int)got;
	if (got != sizeof(word))
		return atw_err_set(err, ATW_E_MISSING, "the root 0x%" PRIx64 " is not in the source", root);
	kmem_touch(m, ATW_PA(root), sizeof(word));
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t w = get_le64(&word[i]);

		npt += w & PRESENT && w & ACCESSED;
		other += w & PRESENT && !(w & RESERVED);
	}
	*empty = !npt && !other;
	*ept = other;
	return npt && other ? atw_err_set(err, ATW_E_DAMAGED,
					  "the root 0x%" PRIx64 " has entries of EPT and of NPT", root)
			    : ATW_OK;
}

/* The tables of a root that translates guest-physical addresses. */
static int kvm_stage2_x86_tables(struct atw_kernel *k, const struct members *v, uint64_t root,
				 uint64_t level, uint64_t word, struct kvm_stage2 *ret,
				 struct atw_err *err)
{
	bool empty = false, ept = false;
	const char *name;
	int r;

	if (level > X86_LEVELS + 1 || root & 4095)
		return atw_err_set(err, ATW_E_DAMAGED, "a root at 0x%" PRIx64 " of %" PRIu64 " levels",
				   root, level);
	r = kvm_stage2_is_ept(v->m, k->own.mem, root, &empty, &ept, err);
	if (r == ATW_OK && empty)
		ret->kind = KVM_STAGE2_EMPTY;
	if (r < 0 || empty)
		return r;
	name = ept ? level == X86_LEVELS ? "ept-4" : "ept-5"
		   : level == X86_LEVELS ? "npt-4" : "npt-5";
	r = kvm_stage2_set(k, v->m, atw_paging_find(name), root, word, ret, err);
	/* With memory encryption, NPT has the same bit in its entries as the host's tables. */
	if (r == ATW_OK && !ept)
		ret->space.paging.ignore = k->own.paging.ignore;
	return r;
}

static int kvm_stage2_x86(struct atw_kernel *k, const struct members *v, uint64_t machine,
			  struct kvm_stage2 *ret, struct atw_err *err)
{
	uint64_t online = 0;
	int r = member_get(v, machine, N_kvm_online, &online, err);

	if (r == ATW_OK && online > CPUS)
		r = atw_err_set(err, ATW_E_DAMAGED, "a machine of %" PRIu64 " CPUs", online);
	ret->kind = KVM_STAGE2_NONE;
	for (uint64_t i = 0; r == ATW_OK && i < online; i++) {
		uint64_t cpu = 0, mmu, root = NO_ROOT, level = 0, direct = 0;

		r = kvm_stage2_cpu(v, machine, i, &cpu, err);
		if (r < 0 || !cpu)
			continue;
		/* That of the guest itself, also while the CPU runs a guest of the guest. */
		mmu = cpu + v->n->member[N_vcpu_mmu];
		r = member_get(v, mmu, N_mmu_root, &root, err) ?:
		    member_get(v, mmu, N_mmu_level, &level, err) ?:
		    member_get(v, mmu, N_mmu_direct, &direct, err);
		if (r < 0 || root == NO_ROOT)
			continue;
		if (direct && level >= X86_LEVELS)
			return kvm_stage2_x86_tables(k, v, root, level,
						     mmu + v->n->member[N_mmu_root], ret, err);
		ret->kind = KVM_STAGE2_SHADOW;
	}
	return r;
}

/* ---- arm64: the depth is in a copy of VTCR_EL2 ---- */

/*
 * The mode of the table with as many levels and the same pages; a machine may have any number
 * of address bits, as the root is up to 16 tables.
 */
static bool kvm_stage2_arm64_mode(unsigned page_shift, unsigned levels, unsigned bits, bool lpa2,
				  struct atw_paging *ret)
{
	const struct atw_paging *pg, *best = NULL;
	struct atw_level *root;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++)
		if (pg->family == ATW_ARM64 && pg->stage2 && pg->page_shift == page_shift &&
		    pg->nlevels == levels && (!best || pg->va_bits <= bits))
			best = pg;
	if (!best)
		return false;
	*ret = *best;
	root = &ret->level[levels - 1];
	if (bits <= root->shift || bits - root->shift > page_shift - 3 + 4)
		return false;
	root->bits = (uint8_t)(bits - root->shift);
	ret->va_bits = (uint8_t)bits;
	return !lpa2 || page_shift == 16 || atw_paging_extend(ret, "lpa2", NULL) == ATW_OK;
}

static int kvm_stage2_arm64(struct atw_kernel *k, const struct members *v, uint64_t machine,
			    struct kvm_stage2 *ret, struct atw_err *err)
{
	/* Arm ARM DDI 0487, D24.2 "VTCR_EL2": T0SZ, SL0, TG0 (4K, 64K, 16K) and DS (LPA2). */
	static const uint8_t shifts[4] = { 12, 16, 14, 0 };
	uint64_t vtcr = 0, root = 0, word = machine + v->n->member[N_stage2_root];
	unsigned shift, bits, start;
	struct atw_paging pg;
	bool lpa2;
	int r = member_get(v, machine, N_stage2_root, &root, err) ?:
		member_get(v, machine, N_stage2_vtcr, &vtcr, err);

	ret->kind = KVM_STAGE2_NONE;
	if (r < 0 || !root)
		return r;
	shift = shifts[vtcr >> 14 & 3];
	bits = 64 - (vtcr & 63);
	lpa2 = vtcr >> 32 & 1;
	/* The level at which a walk begins; with pages of 4K SL0 counts from 2 on. */
	start = (shift == 12 ? 2u : 3u) - (unsigned)(vtcr >> 6 & 3);
	if (start > 3 || !kvm_stage2_arm64_mode(shift, 4 - start, bits, lpa2, &pg))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "VTCR_EL2 of the machine is 0x%" PRIx64, vtcr);
	return kvm_stage2_set(k, v->m, &pg, root, word, ret, err);
}

/* ---- RISC-V: before 7.x the depth was a variable of the module ---- */

/* Bytes of these leaves that lie in slots. */
static uint64_t kvm_stage2_in_slots(const struct vmm_slot *slot, size_t n, const struct mmu_seen *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t from = slot[i].gpa > s->va.u ? slot[i].gpa : s->va.u;
		uint64_t last = slot[i].len - 1 + slot[i].gpa;

		if (last > s->size - 1 + s->va.u)
			last = s->size - 1 + s->va.u;
		sum += from <= last ? last - from + 1 : 0;
	}
	return sum;
}

/*
 * Bytes of slots that tables of that mode map; 0: they are not of that mode. Outside of slots
 * there may be interrupt files of devices.
 */
static uint64_t kvm_stage2_maps(const struct mmu_space *sp, const struct vmm_slot *slot, size_t n)
{
	struct mmu_walk_opts o = { .first = ATW_VA(0), .last = ATW_VA(UINT64_MAX),
				   .want = ATW_K(ATW_LEAF) };
	const struct mmu_seen *s;
	struct mmu_walk *walk;
	uint64_t sum = 0;
	bool good = true;

	if (mmu_walk_open(sp, &o, &walk, NULL) < 0)
		return 0;
	for (unsigned i = 0; good && i < TRIED_PIECES && mmu_walk_next(walk, &s, NULL) == ATW_OK; i++) {
		good = s->loss || s->kind == ATW_LEAF;
		sum += good && !s->loss ? kvm_stage2_in_slots(slot, n, s) : 0;
	}
	mmu_walk_close(walk);
	return good ? sum : 0;
}

/* The mode by which the tables map most of the slots; NULL: none. */
static const struct atw_paging *kvm_stage2_riscv_mode(struct atw_source *mem, uint64_t root,
						      const struct vmm_slot *slot, size_t n,
						      const char *const *modes, unsigned nmodes)
{
	const struct atw_paging *best = NULL;
	uint64_t most = 0;

	for (unsigned i = 0; i < nmodes; i++) {
		const struct atw_paging *pg = atw_paging_find(modes[i]);
		struct mmu_space sp = { .mem = mem, .paging = *pg, .low = { ATW_PA(root), true } };
		uint64_t maps = kvm_stage2_maps(&sp, slot, n);

		best = maps > most ? pg : best;
		most = maps > most ? maps : most;
	}
	return best;
}

static bool kvm_stage2_riscv_is_empty(struct atw_source *mem, uint64_t root)
{
	enum { WORDS = 4 * 512 };        /* the root has four times the size of a table */
	uint64_t word[WORDS], any = 0;

	if (atw_read(mem, ATW_PA(root), word, sizeof(word), NULL) != sizeof(word))
		return false;
	for (unsigned i = 0; i < WORDS; i++)
		any |= word[i];
	return !any;
}

static int kvm_stage2_riscv(struct atw_kernel *k, const struct members *v, uint64_t machine,
			    const struct vmm_slot *slot, size_t n, struct kvm_stage2 *ret,
			    struct atw_err *err)
{
	static const char *const modes[] = { "riscv64-sv39x4", "riscv64-sv48x4", "riscv64-sv57x4" };
	enum { LEAST = 3 };
	uint64_t root = 0, levels = 0;
	const struct atw_paging *pg = NULL;
	int r = member_get(v, machine, N_stage2_root, &root, err);

	if (r == ATW_OK && member_have(v, N_stage2_levels))
		r = member_get(v, machine, N_stage2_levels, &levels, err);
	ret->kind = KVM_STAGE2_NONE;
	if (r < 0 || !root)
		return r;
	if (kvm_stage2_riscv_is_empty(k->own.mem, root)) {
		ret->kind = KVM_STAGE2_EMPTY;
		return ATW_OK;
	}
	if (!levels)
		pg = kvm_stage2_riscv_mode(k->own.mem, root, slot, n, modes, ARRAY_SIZE(modes));
	else if (levels >= LEAST && levels - LEAST < ARRAY_SIZE(modes))
		pg = atw_paging_find(modes[levels - LEAST]);
	return kvm_stage2_set(k, v->m, pg, root, machine + v->n->member[N_stage2_root], ret, err);
}

int kvm_stage2(struct atw_kernel *k, uint64_t machine, const struct vmm_slot *slot, size_t n,
	       struct kvm_stage2 *ret, struct atw_err *err)
{
	const enum atw_family family = k->own.paging.family;
	struct members v;
	int r = kvm_access(k, FOR_STAGE2, &v, err);

	*ret = (struct kvm_stage2){ .kind = KVM_STAGE2_NONE };
	if (r < 0)
		return r;
	return family == ATW_X86     ? kvm_stage2_x86(k, &v, machine, ret, err)
	       : family == ATW_ARM64 ? kvm_stage2_arm64(k, &v, machine, ret, err)
				     : kvm_stage2_riscv(k, &v, machine, slot, n, ret, err);
}
