/* SPDX-License-Identifier: GPL-2.0-or-later */
/* renew.c - a kernel that was found: once more, through another source or later; its end. */
#include <stdlib.h>
#include <string.h>

#include "linux/root.h"
#include "linux/vmfile.h"

int kernel_over(const struct atw_kernel *k, struct atw_source *mem,
		struct atw_kernel **ret, struct atw_err *err)
{
	struct atw_kernel *n = calloc(1, sizeof(*n));
	int r = ATW_OK;

	if (!n)
		return atw_err_nomem(err);
	*n = *k;
	n->mem = n->space.mem = n->own.mem = mem;
	n->vmfile = NULL;
	n->remember = NULL;
	n->remembered = NULL;
	n->file = k->file ? strdup(k->file) : NULL;
	n->vi_copy = k->vi_copy ? malloc(k->vi.len) : NULL;
	if ((k->file && !n->file) || (k->vi_copy && !n->vi_copy)) {
		r = atw_err_nomem(err);
	} else if (n->vi_copy) {
		memcpy(n->vi_copy, k->vi_copy, k->vi.len);
		n->vi.text = n->vi_copy;
	}
	if (r == ATW_OK)
		r = kernel_file_open(n, err);
	if (r < 0) {
		atw_kernel_close(n);
		return r;
	}
	*ret = n;
	return ATW_OK;
}

/* What was read of memory that may have changed; symbols and types stay. */
static void renew_drop_views(struct atw_kernel *k)
{
	kernel_modules_close(k->modules);
	kernel_regions_close(k->regions);
	kmem_close(k->kmem);
	free(k->kvm_needs);
	k->modules = NULL;
	k->regions = NULL;
	k->kmem = NULL;
	k->kvm_needs = NULL;
	k->sought_modules = k->sought_kvm = k->sought_kmem = (struct sought){ 0 };
	k->percpu_at = k->percpu_n = 0;
}

/* Is it certain that there is no VMCOREINFO yet, of which more is known? */
static bool renew_is_before_vmcoreinfo(struct atw_kernel *k)
{
	uint64_t at, text;
	struct kmem *m;

	return kernel_symbol(k, "vmcoreinfo_data", &at, NULL) == ATW_OK &&
	       kernel_kmem(k, &m, NULL) == ATW_OK && kmem_u64(m, at, &text, NULL) == ATW_OK && !text;
}

bool kernel_renew(struct atw_kernel *k)
{
	struct mmu_space own = k->own;
	atw_pa root;

	if (k->from == ATW_ROOT_TASK) {
		if (!root_of_task(k->mem, k->init_task, k->task_at, k->pgd_at, &own.paging, &root))
			return false;
		root_set(&own, root);
	} else if (k->from != ATW_ROOT_SCAN) {
		return false;
	}
	renew_drop_views(k);
	k->space = k->own = own;
	return k->have_vi || renew_is_before_vmcoreinfo(k);
}

void atw_kernel_close(struct atw_kernel *k)
{
	if (!k)
		return;
	kernel_remember(k);
	renew_drop_views(k);
	kernel_types_close(k->types);
	kernel_symbols_close(k->symbols);
	vmfile_close(k->vmfile);
	free(k->file);
	free(k->remember);
	free(k->remembered);
	free(k->vi_copy);
	free(k);
}
