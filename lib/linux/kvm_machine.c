/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm_machine.c - the virtual machine of a process, by the files that it has open, and the
 * types of KVM.
 */
#include "linux/kvm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "linux/kernel.h"

enum {
	FILES = 1 << 20,         /* of a process; the kernel's default limit of all of them */
	AT_ONCE = 512,           /* pointers to files in one read */
};

/* ---- types ---- */

/* Is there all that stage 2 needs on this architecture? */
static bool kvm_machine_has_stage2(const struct needs *n, enum atw_family family)
{
	static const enum need_member x86[] = {
		N_kvm_online, N_vcpu_mmu, N_mmu_root, N_mmu_level, N_mmu_direct,
	};
	bool all = true;

	if (family != ATW_X86)
		return n->member[N_stage2_root] != NEED_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(x86); i++)
		all &= n->member[x86[i]] != NEED_NONE;
	return all;
}

static bool kvm_machine_lacks(const struct atw_kernel *k, const struct needs *n, enum need_for f)
{
	return needs_check(n, FOR_GUESTS, NULL) < 0 ||
	       (f == FOR_STAGE2 && !kvm_machine_has_stage2(n, k->own.paging.family));
}

/* The kernel's types, and what they lack of KVM from its module. */
static int kvm_machine_find_types(struct atw_kernel *k, struct atw_err *err)
{
	struct needs *all = malloc(sizeof(*all)), *more = calloc(1, sizeof(*more));
	struct btf b = { 0 };
	int r = all && more ? kernel_module_btf(k, "kvm", &b, err) : atw_err_nomem(err);

	if (r == ATW_OK) {
		*all = *kernel_members(k);
		needs_from_types(more, &b);
		needs_add(all, more, FOR_GUESTS);
		needs_add(all, more, FOR_STAGE2);
		k->kvm_needs = all;
		all = NULL;
	}
	btf_deinit(&b);
	free(all);
	free(more);
	return r;
}

int kvm_access(struct atw_kernel *k, enum need_for f, struct members *ret, struct atw_err *err)
{
	struct members v = { .n = kernel_members(k) };
	struct atw_err why = { 0 };
	int r = v.n->types && kvm_machine_lacks(k, v.n, f) ?
			sought_once(&k->sought_kvm, k, kvm_machine_find_types, &why) : ATW_OK;

	if (r < 0)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "the kernel's types do not describe KVM: %s", why.text);
	if (k->kvm_needs)
		v.n = k->kvm_needs;
	r = needs_check(v.n, FOR_GUESTS, err) ?: kernel_kmem(k, &v.m, err);
	if (r == ATW_OK && f == FOR_STAGE2 && kvm_machine_lacks(k, v.n, f))
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"this kernel has page tables of virtual machines of an unknown kind");
	if (r == ATW_OK)
		*ret = v;
	return r;
}

/* ---- the files of a process ---- */

struct kvm_search {
	struct atw_kernel *k;
	const struct lnx_task *t;
	struct members files, kvm;       /* kvm: once there is a machine */
	uint64_t machine;
};

/* Files without a folder: fs/anon_inodes.c gives the dentry this name. */
static bool kvm_machine_is(const struct members *v, uint64_t file)
{
	uint64_t dentry, name;
	char text[8];

	return member_get(v, file, N_file_dentry, &dentry, NULL) == ATW_OK && dentry &&
	       member_get(v, dentry, N_dentry_name, &name, NULL) == ATW_OK && name &&
	       kmem_text(v->m, name, text, sizeof(text), NULL) == ATW_OK &&
	       !strcmp(text, "kvm-vm");
}

static int kvm_machine_take(struct kvm_search *s, uint64_t file, struct atw_err *err)
{
	uint64_t found = 0, mm = 0;
	int r;

	if (!file || !kvm_machine_is(&s->files, file))
		return ATW_OK;
	r = member_get(&s->files, file, N_file_private, &found, err);
	/* It may have the same one open twice. */
	if (r < 0 || !found || found == s->machine)
		return r;
	r = s->kvm.n ? ATW_OK : kvm_access(s->k, FOR_GUESTS, &s->kvm, err);
	/* A child has the files of its parent, and the machine has the parent's memory. */
	if (r == ATW_OK)
		r = member_get(&s->kvm, found, N_kvm_mm, &mm, err);
	if (r < 0 || mm != s->t->mm)
		return r;
	if (s->machine)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "the process has more than one virtual machine");
	s->machine = found;
	return ATW_OK;
}

static int kvm_machine_find(struct kvm_search *s, struct atw_err *err)
{
	const struct members *v = &s->files;
	uint64_t file[AT_ONCE], files = 0, fdt = 0, max = 0, at = 0;
	int r = member_get(v, s->t->at, N_task_files, &files, err);

	/* A process with memory has files until it has none (do_exit()); an extract lacks them. */
	if (r == ATW_OK && !files)
		r = atw_err_set(err, ATW_E_MISSING, "the source lacks the files of the process");
	if (r == ATW_OK)
		r = member_get(v, files, N_files_fdt, &fdt, err) ?:
		    member_get(v, fdt, N_fdt_max, &max, err) ?:
		    member_get(v, fdt, N_fdt_fd, &at, err);
	if (r == ATW_OK && max > FILES)
		r = atw_err_set(err, ATW_E_DAMAGED, "a table of %" PRIu64 " open files", max);
	for (uint64_t i = 0; r == ATW_OK && i < max; i += AT_ONCE) {
		size_t n = max - i < AT_ONCE ? (size_t)(max - i) : AT_ONCE;

		r = kmem_read(v->m, at + 8 * i, file, 8 * n, err);
		for (size_t k = 0; r == ATW_OK && k < n; k++)
			r = kvm_machine_take(s, get_le64(&file[k]), err);
	}
	return r;
}

int kvm_machine(struct atw_kernel *k, const struct lnx_task *t, uint64_t *ret, struct atw_err *err)
{
	struct kvm_search s = { .k = k, .t = t, .files.n = kernel_members(k) };
	/* Processes without a machine need no types of KVM, which may not be loaded. */
	int r = s.files.n->types ? ATW_OK : needs_check(s.files.n, FOR_GUESTS, err);

	r = r ?: kernel_kmem(k, &s.files.m, err) ?: kvm_machine_find(&s, err);
	if (r == ATW_OK && !s.machine)
		r = atw_err_set(err, ATW_E_NONE,
				"the process has no virtual machine of KVM");
	if (r == ATW_OK)
		*ret = s.machine;
	return r;
}
