/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kvm.c - the memory slots of a virtual machine: virt/kvm/kvm_main.c. */
#include "linux/kvm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sorted.h"
#include "linux/kernel.h"
#include "linux/vm_flags.h"

enum {
	SLOTS = 32767,           /* KVM_USER_MEM_SLOTS */
	DEPTH = 64,              /* of a red-black tree: twice the logarithm of SLOTS, and more */
	TRIES = 8,
	GFN_BITS = 48,
	READ_ONLY = 2, GUEST_MEMFD = 4,  /* KVM_MEM_... of slots */
};

struct kvm_list {
	struct vmm_slot *v;
	size_t n, cap;
	unsigned page_shift;     /* of the host: KVM's frame numbers are in its pages */
};

static int kvm_add_slot(const struct members *v, uint64_t at, struct kvm_list *l,
			struct atw_err *err)
{
	static const enum need_member all[] = { N_slot_gfn, N_slot_pages, N_slot_address,
						N_slot_flags };
	uint64_t gfn = 0, pages = 0, address = 0, flags = 0, end;
	int r;

	members_hold(v, at, all, ARRAY_SIZE(all));
	r = member_get(v, at, N_slot_gfn, &gfn, err) ?:
	    member_get(v, at, N_slot_pages, &pages, err) ?:
	    member_get(v, at, N_slot_address, &address, err) ?:
	    member_get(v, at, N_slot_flags, &flags, err);
	members_release(v);
	if (r < 0)
		return r;
	if (!pages || gfn >> GFN_BITS || pages >> GFN_BITS || (address & 4095) ||
	    __builtin_add_overflow(address, pages << l->page_shift, &end))
		return atw_err_set(err, ATW_E_DAMAGED, "memory slot at 0x%" PRIx64
				   ": %" PRIu64 " pages from frame 0x%" PRIx64
				   " at 0x%" PRIx64, at, pages, gfn, address);
	if (l->n == SLOTS)
		return atw_err_set(err, ATW_E_DAMAGED, "more than %d memory slots", SLOTS);
	if (!ARRAY_ROOM(l->v, l->n, l->cap))
		return atw_err_nomem(err);
	l->v[l->n++] = (struct vmm_slot){
		.gpa = gfn << l->page_shift, .len = pages << l->page_shift, .address = address,
		.read_only = flags & READ_ONLY, .guest_memfd = flags & GUEST_MEMFD,
	};
	return ATW_OK;
}

/* A slot is in the trees of both sets, by a node of its own in each. */
static int kvm_tree(const struct members *v, uint64_t slots, struct kvm_list *l,
		    struct atw_err *err)
{
	uint64_t todo[DEPTH + 1], index = 0, within;
	size_t n = 1, nodes = 0;
	int r = member_get(v, slots, N_memslots_tree, &todo[0], err) ?:
		member_get(v, slots, N_memslots_index, &index, err);

	within = v->n->member[N_slot_node] + (index & 1) * (uint64_t)v->n->size[S_rb_node];
	while (r == ATW_OK && n) {
		uint64_t node = todo[--n], left = 0, right = 0;

		if (!node)
			continue;
		if (n + 2 > DEPTH || nodes++ == SLOTS)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "the tree of memory slots has no end");
		r = kvm_add_slot(v, node - within, l, err) ?:
		    member_get(v, node, N_rb_left, &left, err) ?:
		    member_get(v, node, N_rb_right, &right, err);
		todo[n++] = left;
		todo[n++] = right;
	}
	return r;
}

static int kvm_array(const struct members *v, uint64_t slots, struct kvm_list *l,
		     struct atw_err *err)
{
	uint64_t at = slots + v->n->member[N_memslots_array], used = 0;
	int r = member_get(v, slots, N_memslots_used, &used, err);

	if (r == ATW_OK && used > SLOTS)
		r = atw_err_set(err, ATW_E_DAMAGED, "%" PRIu64 " memory slots", used);
	for (uint64_t i = 0; r == ATW_OK && i < used; i++)
		r = kvm_add_slot(v, at + i * v->n->size[S_slot], l, err);
	return r;
}

/* Another set becomes the active one with each change. */
static int kvm_active(const struct members *v, uint64_t machine, uint64_t *ret,
		      uint64_t *generation, struct atw_err *err)
{
	/* Of x86 there is a second address space, for SMM. */
	return member_get(v, machine, N_kvm_memslots, ret, err) ?:
	       member_get(v, *ret, N_memslots_generation, generation, err);
}

static int kvm_read_slots(const struct members *v, uint64_t machine, struct kvm_list *l,
			  struct atw_err *err)
{
	uint64_t slots = 0, again = 0, before = 0, after = 0;
	bool tree = member_have(v, N_memslots_tree) && member_have(v, N_slot_node);

	if (!tree && !(member_have(v, N_memslots_array) && member_have(v, N_memslots_used)))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this kernel has memory slots of an unknown kind");
	for (unsigned i = 0; i < TRIES; i++) {
		struct atw_err why = { 0 };
		int r, same;

		l->n = 0;
		r = kvm_active(v, machine, &slots, &before, err);
		if (r < 0)
			return r;
		r = tree ? kvm_tree(v, slots, l, &why) : kvm_array(v, slots, l, &why);
		same = kvm_active(v, machine, &again, &after, err);
		if (same < 0)
			return same;
		if (again == slots && after == before)
			return atw_err_give(err, r, &why);
	}
	return atw_err_set(err, ATW_E_DAMAGED,
			   "its memory slots changed each time they were read");
}

static int kvm_sort(struct kvm_list *l, struct atw_err *err)
{
	if (!l->n)
		return atw_err_set(err, ATW_E_MISSING, "its virtual machine has no memory yet");
	qsort(l->v, l->n, sizeof(*l->v), sorted_by_u64);
	for (size_t i = 1; i < l->n; i++)
		if (l->v[i].gpa - l->v[i - 1].gpa < l->v[i - 1].len)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "memory slots overlap at 0x%" PRIx64, l->v[i].gpa);
	return ATW_OK;
}

/* Of memory that is filled in on demand by userfaultfd, what is absent is not zero. */
static int kvm_mark_late(struct atw_kernel *k, uint64_t mm, struct kvm_list *l,
			 struct atw_err *err)
{
	struct atw_areas *areas = NULL;
	_auto_free struct atw_area *a = malloc(sizeof(*a));
	int r = a ? atw_areas_open(k, mm, &areas, err) : atw_err_nomem(err);

	while (r == ATW_OK && (r = atw_areas_next(areas, a, err)) == ATW_OK)
		for (size_t i = 0; a->flags & VM_UFFD_MISSING && i < l->n; i++) {
			struct vmm_slot *s = &l->v[i];

			s->late |= a->start.u < s->address + s->len && s->address < a->end.u;
		}
	atw_areas_close(areas);
	return r == ATW_END ? ATW_OK : r;
}

int kvm_slots(struct atw_kernel *k, const struct lnx_task *t, struct vmm_slot **ret, size_t *n,
	      struct atw_err *err)
{
	struct kvm_list l = { .v = NULL, .page_shift = k->own.paging.page_shift };
	struct members v;
	uint64_t machine = 0;
	int r = kvm_machine(k, t, &machine, err) ?:
		kvm_access(k, FOR_GUESTS, &v, err) ?:
		kvm_read_slots(&v, machine, &l, err) ?:
		kvm_sort(&l, err) ?:
		kvm_mark_late(k, t->mm, &l, err);

	if (r < 0) {
		free(l.v);
		return r;
	}
	*ret = l.v;
	*n = l.n;
	return ATW_OK;
}
