/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.c - the kernel that was found: creation, release and access to its memory. */
#include "linux/kernel.h"

#include "linux/vmfile.h"

bool atw_kernel_file_is_unproved(const struct atw_kernel *k)
{
	return k && k->vmfile && !k->vmfile->matched;
}

int kernel_kmem(struct atw_kernel *k, struct kmem **ret, struct atw_err *err)
{
	struct sought *s;
	int r = kernel_given(k, err);

	if (r < 0)
		return r;
	s = &k->sought_kmem;
	r = sought_by_other(s, err);
	if (r < 0)
		return r;
	if (!s->done) {
		sought_begin(s);
		s->err.status = kmem_open(&k->own, &k->kmem, &s->err);
		sought_end(s);
	}
	r = s->err.status;
	if (r < 0)
		return atw_err_set(err, r, "%s", s->err.text);
	*ret = k->kmem;
	return ATW_OK;
}

const struct mmu_space *atw_kernel_space(const struct atw_kernel *k)
{
	return k ? &k->space : NULL;
}

enum atw_root_from atw_kernel_root_from(const struct atw_kernel *k)
{
	return k ? k->from : (enum atw_root_from)0;
}

const char *atw_kernel_release(const struct atw_kernel *k)
{
	return k && k->release[0] ? k->release : NULL;
}

bool atw_kernel_is_proved(const struct atw_kernel *k)
{
	return k && k->proved;
}

const char *atw_kernel_root_why(const struct atw_kernel *k)
{
	return k ? k->why : NULL;
}

const struct atw_vmcoreinfo *atw_kernel_vmcoreinfo(const struct atw_kernel *k)
{
	return k && k->have_vi ? &k->vi : NULL;
}

int atw_kernel_vmcoreinfo_at(const struct atw_kernel *k, atw_pa *ret)
{
	if (!k->vi_copy)
		return ATW_E_MISSING;
	*ret = k->vi_at;
	return ATW_OK;
}
