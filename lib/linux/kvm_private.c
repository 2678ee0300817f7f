/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm_private.c - which memory of a virtual machine the host cannot read: its kind, and how
 * many pages have the attribute of private ones (an XArray by frame number of the guest).
 */
#include "linux/kvm.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "linux/kernel.h"

enum {
	/* lib/xarray.c: the low bits of a node are 2, those of a value 1. */
	XA_KINDS = 3, XA_NODE = 2, XA_SMALL = 4096,
	XA_SLOTS_MAX = 64, XA_SHIFT_MAX = 60,
	PRIVATE = 8,             /* KVM_MEMORY_ATTRIBUTE_PRIVATE */
	NODES = 1 << 20,         /* of 64 pages each: 256 GiB, more take seconds to read */
};

struct private_count {
	const struct members *v;
	unsigned slots, page_shift;
	const struct vmm_slot *slot;
	size_t n;
	uint64_t nodes, private;
};

/* Is the frame one of a slot? Attributes are set for any. */
static bool private_in_slot(const struct private_count *c, uint64_t gfn)
{
	for (size_t i = 0; i < c->n; i++)
		if ((gfn << c->page_shift) - c->slot[i].gpa < c->slot[i].len)
			return c->slot[i].guest_memfd;
	return false;
}

static int private_walk(struct private_count *c, uint64_t entry, uint64_t first, uint64_t above,
			struct atw_err *err)
{
	uint64_t shift = 0;
	char words[8 * XA_SLOTS_MAX];
	int r;

	if ((entry & XA_KINDS) != XA_NODE || entry <= XA_SMALL) {
		c->private += entry & 1 && entry >> 1 & PRIVATE && private_in_slot(c, first);
		return ATW_OK;
	}
	if (c->nodes++ == NODES)
		return atw_err_set(err, ATW_E_LIMIT, "too many pages to count");
	r = member_get(c->v, entry - XA_NODE, N_xa_shift, &shift, err) ?:
	    kmem_read(c->v->m, entry - XA_NODE + c->v->n->member[N_xa_slots], words,
		      8 * (size_t)c->slots, err);
	/* Each level is below the one before it. */
	if (r == ATW_OK && (shift > XA_SHIFT_MAX || shift >= above))
		r = atw_err_set(err, ATW_E_DAMAGED, "an XArray has no end");
	for (unsigned i = 0; r == ATW_OK && i < c->slots; i++)
		r = private_walk(c, get_le64(words + 8 * i), first + ((uint64_t)i << shift), shift, err);
	return r;
}

static int private_pages(const struct members *v, uint64_t machine, struct private_count *c,
			 struct atw_err *err)
{
	uint64_t head = 0, slots = (v->n->member[N_xa_marks] - v->n->member[N_xa_slots]) / 8;
	int r;

	if (!member_have(v, N_kvm_attributes) || !member_have(v, N_xa_marks) ||
	    !member_have(v, N_xa_slots) || !member_have(v, N_xa_shift) || !slots ||
	    slots > XA_SLOTS_MAX)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "this kernel has no attributes of pages");
	c->slots = (unsigned)slots;
	r = member_get(v, machine, N_kvm_attributes, &head, err);
	return r < 0 || !head ? r : private_walk(c, head, 0, XA_SHIFT_MAX + 1, err);
}

/* arch/x86/include/uapi/asm/kvm.h: types of virtual machines, since 6.8 */
static enum vmm_secret private_kind(const struct members *v, uint64_t machine)
{
	static const enum vmm_secret types[] = {
		VMM_OPEN, VMM_GUEST_MEMFD, VMM_SEV, VMM_SEV, VMM_SEV_SNP, VMM_TDX,
	};
	uint64_t type = 0, protected = 0;

	if (member_have(v, N_kvm_protected) &&
	    member_get(v, machine, N_kvm_protected, &protected, NULL) == ATW_OK && protected)
		return VMM_PKVM;
	if (member_have(v, N_kvm_type) &&
	    member_get(v, machine, N_kvm_type, &type, NULL) == ATW_OK && type < ARRAY_SIZE(types))
		return types[type];
	return VMM_OPEN;
}

int kvm_privacy(struct atw_kernel *k, const struct lnx_task *t, const struct vmm_slot *slot,
		size_t n, struct vmm_privacy *ret, struct atw_err *err)
{
	struct private_count c = { .slot = slot, .n = n, .page_shift = k->own.paging.page_shift };
	struct vmm_privacy p = { .secret = VMM_OPEN };
	struct members v;
	uint64_t machine = 0;
	bool memfd = false;
	int r = kvm_machine(k, t, &machine, err) ?: kvm_access(k, FOR_GUESTS, &v, err);

	if (r != ATW_OK)
		return r;
	for (size_t i = 0; i < n; i++) {
		memfd |= slot[i].guest_memfd;
		p.pages += slot[i].read_only ? 0 : slot[i].len >> c.page_shift;
	}
	p.secret = private_kind(&v, machine);
	if (p.secret == VMM_OPEN && memfd)
		p.secret = VMM_GUEST_MEMFD;
	c.v = &v;
	/* What cannot be counted is not reported as 0. */
	p.counted = memfd && private_pages(&v, machine, &c, NULL) == ATW_OK;
	p.private = c.private;
	*ret = p;
	return ATW_OK;
}
