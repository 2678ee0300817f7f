// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mm.c - page tables of an mm_struct.
 *
 * mm->pgd is an address in the kernel's direct map. It points to:
 *
 *	arm64    the root of the lower half; the upper half has the kernel's root
 *	riscv64  the root of both: every process has a copy of the kernel's top entries
 *	x86_64   the same; under page-table isolation (aa8c6248f8c7, 4.15) the root
 *   	         that the kernel uses, with that of user mode in the next page
 *
 * No structure records whether tables are isolated, and a configuration option may have
 * been overridden at boot. It is detected from the tables themselves.
 */
#include "linux/tasks.h"

#include <inttypes.h>

#include "linux/kernel.h"
#include "walk/memory.h"

enum { PAGE = 4096, WORDS = 512, HALF = 256 };

static const uint64_t P = 1, US = 4, NX = (uint64_t)1 << 63;
/* Bits that the CPU sets in the copy that it walks. */
static const uint64_t AD = 0x60;

static bool mm_same(uint64_t a, uint64_t b)
{
	return !((a ^ b) & ~AD);
}

/*
 * arch/x86/mm/pti.c, __pti_set_user_pgtbl(): entries of the lower half are the same in
 * both copies, except that they are executable only in the user's. The upper half of the
 * user's copy has the entries cloned from swapper_pg_dir's own user copy
 * (clone_pgd_range()): the few tables that entry code needs. Under PVM, where the
 * hypervisor enters the kernel, it has none. Then entries of the lower half must show what
 * the copies are: the same, and executable in one of them.
 */
bool mm_is_user_copy(const void *kernel, const void *user, const void *swapper)
{
	unsigned upper = 0, kernels = 0;
	bool shown = false;

	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t k = load_word(kernel, 8, i), u = load_word(user, 8, i);

		if (i >= HALF) {
			/* modify_ldt() adds an entry of the process's own. */
			if (swapper && !mm_same(u, load_word(swapper, 8, i)) &&
			    !mm_same(u, k))
				return false;
			upper += u & P;
			kernels += k & P;
		} else if ((k & (P | US)) == (P | US)) {
			/* CPUs without NX have it in neither copy. */
			if (!mm_same(k & ~NX, u) || (u & NX))
				return false;
			shown |= (k & NX) != 0;
		} else if (!mm_same(k, u)) {
			return false;    /* not for user mode: EFI, or empty */
		}
	}
	return (upper || shown) && upper < kernels;
}

static int mm_isolation(const struct atw_kernel *k, uint64_t root)
{
	char page[3][PAGE];
	uint64_t own = k->own.low.pa.u;
	bool have_own = k->have_own && k->own.low.have && !(own & PAGE);
	/* Of a running kernel all at once. */
	struct atw_piece piece[] = {
		{ ATW_PA(root), page[0], PAGE, 0 }, { ATW_PA(root + PAGE), page[1], PAGE, 0 },
		{ ATW_PA(own + PAGE), page[2], PAGE, 0 },
	};

	/* Two pages, aligned to their sum (PGD_ALLOCATION_ORDER). */
	if (k->own.paging.family != ATW_X86 || k->own.paging.word_size != 8 ||
	    k->own.paging.level[k->own.paging.nlevels - 1].bits != 9)
		return -1;
	if (root & PAGE)
		return 0;
	atw_read_many(k->mem, piece, have_own ? 3 : 2, NULL);
	if (piece[0].got != PAGE || piece[1].got != PAGE)
		return -1;
	return mm_is_user_copy(page[0], page[1],
			       have_own && piece[2].got == PAGE ? page[2] : NULL);
}

/*
 * Isolated tables come in pairs: if a root is in the second page of a pair, there are
 * none. A kernel has them for all processes or for none, so one of a running kernel
 * answers for all.
 */
static bool mm_is_isolated(struct atw_kernel *k, uint64_t root)
{
	bool live = atw_source_is_live(k->mem);

	k->single_roots |= live && k->own.paging.family == ATW_X86 && root & PAGE;
	if (k->single_roots || (!k->paired_roots && mm_isolation(k, root) <= 0))
		return false;
	k->paired_roots = live;
	return true;
}

int mm_kernel_isolated(const struct atw_kernel *k)
{
	int seen = k->have_own && k->own.low.have ? mm_isolation(k, k->own.low.pa.u) : -1;
	uint64_t noted;

	/* An extract may lack the page behind the root: its note has what was seen there. */
	if (seen < 0 && atw_fact_u64(k->mem, "isolated", &noted) == ATW_OK)
		return noted != 0;
	return seen;
}

/* A guard word that must not change; 0: one that must not become 0. */
static int mm_set_guard(const struct members *v, uint64_t base, enum need_member id,
			uint8_t len, uint64_t value, struct mmu_guard *ret,
			struct atw_err *err)
{
	struct mmu_guard g = {
		.mask = len == 8 ? UINT64_MAX : UINT32_MAX, .value = value, .len = len,
		.differs = !value,
	};
	uint64_t at;
	int r = member_at(v, base, id, &at, err) ?: kmem_physical(v->m, at, &g.at, err);

	if (r == ATW_OK)
		*ret = g;
	return r;
}

/* pgd: of it, or 0: it is read. */
static int mm_open(struct atw_kernel *k, uint64_t mm, uint64_t pgd, struct atw_mm *ret,
		   struct atw_err *err)
{
	struct members v = { 0 };
	struct atw_mm n = { 0 };
	int r = kernel_access_types(k, FOR_SPACES, &v, err);

	if (r == ATW_OK) {
		n.space = k->own;
		if (!pgd)
			r = member_get(&v, mm, N_mm_pgd, &pgd, err);
	}
	if (r == ATW_OK)
		r = kmem_physical(v.m, pgd, &n.root, err);
	/*
	 * exit_mmap() frees the tables when the last user is gone; the root and the
	 * mm_struct itself can be reused after that.
	 */
	if (r == ATW_OK && kmem_is_live(v.m) && member_have(&v, N_mm_users))
		r = mm_set_guard(&v, mm, N_mm_users, 4, 0, &n.space.guard[0], err) ?:
		    mm_set_guard(&v, mm, N_mm_pgd, 8, pgd, &n.space.guard[1], err);
	if (r < 0)
		return atw_err_wrap(err, "mm at 0x%" PRIx64, mm);
	n.isolated = mm_is_isolated(k, n.root.u);
	n.user_root = n.isolated ? ATW_PA(n.root.u + PAGE) : n.root;
	n.space.low = (struct mmu_root){ n.user_root, true };
	if (n.isolated)
		n.space.high = (struct mmu_root){ n.root, true };
	else if (n.space.paging.halves != ATW_SPLIT)
		n.space.high.have = false;
	*ret = n;
	return ATW_OK;
}

int atw_mm_open(struct atw_kernel *k, uint64_t mm, struct atw_mm *ret, struct atw_err *err)
{
	return mm_open(k, mm, 0, ret, err);
}

/* The tables are in use as long as the task has this mm, and has not been replaced. */
static int mm_guard_by_task(const struct members *v, const struct lnx_task *t,
			    struct mmu_space *sp, struct atw_err *err)
{
	int r = mm_set_guard(v, t->at, N_task_mm, 8, t->mm, &sp->guard[0], err);

	if (r == ATW_OK && t->start)
		r = mm_set_guard(v, t->at, N_task_start, 8, t->start, &sp->guard[1], err);
	return r;
}

/* Sets the guards of a running kernel's even where its page tables were not found. */
static int mm_of_task(struct atw_kernel *k, const struct lnx_task *t, struct atw_mm *ret,
		      int *opened, struct atw_err *err)
{
	struct members v = { 0 };
	int r = kernel_given(k, err);

	if (r < 0)
		return *opened = r;
	v.n = kernel_members(k);
	ret->space = k->own;
	*opened = mm_open(k, t->mm, t->pgd, ret, err);
	r = *opened < 0 && !atw_source_is_live(k->mem) ? *opened : kernel_kmem(k, &v.m, err);

	/* Its threads may keep the mm: it is in use as long as one of them has it. */
	if (r == ATW_OK && kmem_is_live(v.m) && !t->by_thread)
		r = mm_guard_by_task(&v, t, &ret->space, err);
	return r;
}

int mm_of_listed(struct atw_kernel *k, const struct lnx_task *t, struct atw_mm *ret,
		 struct atw_err *err)
{
	struct atw_mm n = { 0 };
	int opened, r = mm_of_task(k, t, &n, &opened, err);

	if (r == ATW_OK && opened == ATW_OK)
		*ret = n;
	return r < 0 ? r : opened;
}

int atw_mm_of(struct atw_kernel *k, const struct lnx_task *t, struct atw_mm *ret,
	      struct atw_err *err)
{
	struct atw_mm n = { 0 };
	struct atw_err why = { 0 };
	int opened, r = mm_of_task(k, t, &n, &opened, &why);

	if (r == ATW_OK && !mmu_space_lives(&n.space))
		return ATW_END;          /* the task may have ended before */
	if (r < 0 || opened < 0)
		return atw_err_give(err, why.status, &why);
	*ret = n;
	return ATW_OK;
}
