/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swap_device.c - file or device of a swap type, as in /proc/swaps: mm/swapfile.c. It is
 * in this layer because it needs the path of an open file.
 */
#include <inttypes.h>

#include "linux/page.h"

#include "linux/kernel.h"
#include "linux/areas.h"

/*
 * Since b843786b0bd0 (6.13) a bit of inuse_pages, which became an atomic_long_t, marks a
 * full device: SWAP_USAGE_OFFLIST_BIT.
 */
#define OFFLIST ((uint64_t)1 << 30)

static int device_read(const struct members *v, uint64_t at, unsigned type,
		       struct atw_swap *ret, struct atw_err *err)
{
	uint64_t file = 0, path, mnt = 0, dentry = 0, own = type;
	int r = member_get(v, at, N_swap_pages, &ret->pages, err) ?:
		member_get(v, at, N_swap_used, &ret->used, err);

	if (v->n->width[N_swap_used] == 8)
		ret->used &= ~OFFLIST;
	if (r == ATW_OK && member_have(v, N_swap_type))
		r = member_get(v, at, N_swap_type, &own, err);
	if (r == ATW_OK && own != type)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "swap_info[%u] points to a device with number %" PRIu64,
				   type, own);
	if (r == ATW_OK)
		r = member_get(v, at, N_swap_file, &file, err);
	if (r < 0)
		return r;
	if (!file)
		return atw_err_set(err, ATW_E_MISSING, "it is not in use any more");
	return member_at(v, file, N_file_mnt, &path, err) ?:
	       kmem_u64(v->m, path, &mnt, err) ?:
	       member_at(v, file, N_file_dentry, &path, err) ?:
	       kmem_u64(v->m, path, &dentry, err) ?:
	       path_read(v, mnt, dentry, ret->name, sizeof(ret->name), err);
}

int atw_swap_device(struct atw_kernel *k, unsigned type, struct atw_swap *ret,
		    struct atw_err *err)
{
	struct members v = { 0 };
	struct atw_swap got = { 0 };
	uint32_t count;
	uint64_t at;
	int r = kernel_access(k, FOR_SWAP, &v, err);

	if (r < 0)
		return r;
	/* MAX_SWAPFILES is at most 32, the range of a type. */
	if (type >= 32 ||
	    (v.n->symbol[Y_nr_swapfiles] &&
	     kmem_u32(v.m, v.n->symbol[Y_nr_swapfiles], &count, NULL) == ATW_OK &&
	     type >= count))
		return atw_err_set(err, ATW_E_MISSING, "there is no swap device %u", type);
	r = kmem_u64(v.m, v.n->symbol[Y_swap_info] + type * 8, &at, err);
	if (r == ATW_OK && !at)
		r = atw_err_set(err, ATW_E_MISSING, "there is no swap device %u", type);
	if (r == ATW_OK)
		r = device_read(&v, at, type, &got, err);
	if (r < 0)
		return atw_err_wrap(err, "swap device %u", type);
	*ret = got;
	return ATW_OK;
}
