/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.c - the kernel that was found: access to its memory. */
#include "linux/kernel.h"

#include "linux/vmfile.h"

bool atw_kernel_file_is_unproved(const struct atw_kernel *k)
{
	return k && k->vmfile && !k->vmfile->matched;
}

int sought_once(struct sought *s, struct atw_kernel *k,
		int (*find)(struct atw_kernel *k, struct atw_err *err), struct atw_err *err)
{
	/* Checked before `done`. The thread of the lookup may ask again. */
	if (__atomic_load_n(&s->busy, __ATOMIC_ACQUIRE) && !pthread_equal(s->by, pthread_self()))
		return atw_err_set(err, ATW_E_USAGE,
				   "two threads use the kernel at once: each needs one of its own");
	if (!s->done) {
		s->done = true;
		s->by = pthread_self();
		__atomic_store_n(&s->busy, true, __ATOMIC_RELEASE);
		s->err.status = find(k, &s->err);
		__atomic_store_n(&s->busy, false, __ATOMIC_RELEASE);
	}
	return s->err.status < 0 ? atw_err_set(err, s->err.status, "%s", s->err.text) : ATW_OK;
}

static int kernel_find_kmem(struct atw_kernel *k, struct atw_err *err)
{
	return kmem_open(&k->own, &k->kmem, err);
}

int kernel_kmem(struct atw_kernel *k, struct kmem **ret, struct atw_err *err)
{
	int r = kernel_given(k, err) ?:
		sought_once(&k->sought_kmem, k, kernel_find_kmem, err);

	if (r == ATW_OK)
		*ret = k->kmem;
	return r;
}

bool kernel_member(struct atw_kernel *k, uint64_t base, enum need_member id, uint64_t *ret)
{
	uint32_t at = kernel_needs(k)->member[id];
	struct kmem *m;

	return at != NEED_NONE && kernel_kmem(k, &m, NULL) == ATW_OK &&
	       kmem_u64(m, base + at, ret, NULL) == ATW_OK;
}

static int kernel_access_by(struct atw_kernel *k, const struct needs *n, enum need_for f,
			    struct members *ret, struct atw_err *err)
{
	struct members v = { .n = n };
	int r = needs_check(n, f, err) ?: kernel_kmem(k, &v.m, err);

	if (r == ATW_OK)
		*ret = v;
	return r;
}

int kernel_access(struct atw_kernel *k, enum need_for f, struct members *ret,
		  struct atw_err *err)
{
	int r = kernel_given(k, err);

	return r < 0 ? r : kernel_access_by(k, kernel_needs(k), f, ret, err);
}

int kernel_access_types(struct atw_kernel *k, enum need_for f, struct members *ret,
			struct atw_err *err)
{
	int r = kernel_given(k, err);

	return r < 0 ? r : kernel_access_by(k, kernel_members(k), f, ret, err);
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
