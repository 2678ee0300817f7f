/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A swap type is resolved to its file, and damage of a swap device is reported. */
#include "linux/page.h"

#include "kernel_memory.h"
#include "test.h"

enum {
	INFO = 0x100, COUNT = 0x180, DEVICE = 0x200, FILE_AT = 0x300, ROOT = 0x400,
	DENTRY = 0x500, MOUNT = 0x600, NAME = 0x700,
};

static void layout(struct kmemory *k)
{
	kset(k, N_swap_type, 0, 1);
	kset(k, N_swap_pages, 4, 4);
	kset(k, N_swap_used, 8, 8);
	kset(k, N_swap_file, 16, 8);
	kset(k, N_file_mnt, 0, 8);
	kset(k, N_file_dentry, 8, 8);
	kset(k, N_dentry_name, 0, 8);
	kset(k, N_dentry_len, 8, 4);
	kset(k, N_dentry_parent, 16, 8);
	kset(k, N_dentry_pprev, 24, 8);
	kset(k, N_vfsmount_root, 0, 8);
	kset(k, N_mount_mnt, 32, 0);
	kset(k, N_mount_parent, 0, 8);
	kset(k, N_mount_mountpoint, 8, 8);
	k->n.symbol[Y_swap_info] = KBASE + INFO;
	k->n.symbol[Y_nr_swapfiles] = KBASE + COUNT;
}

/* /swap, type 1 of 2; the first is gone. */
static void fill(struct kmemory *k)
{
	kput(k, COUNT, 2, 4);
	kpoint(k, INFO + 8, DEVICE);
	kput(k, DEVICE, 1, 1);
	kput(k, DEVICE + 4, 1000, 4);
	kput64(k, DEVICE + 8, 1 << 30 | 17);     /* and it is full */
	kpoint(k, DEVICE + 16, FILE_AT);
	kpoint(k, FILE_AT, MOUNT + 32);
	kpoint(k, FILE_AT + 8, DENTRY);
	kpoint(k, DENTRY, NAME);
	kput(k, DENTRY + 8, 4, 4);
	kpoint(k, DENTRY + 16, ROOT);
	kpoint(k, DENTRY + 24, ROOT);    /* hashed: not deleted */
	kpoint(k, ROOT + 16, ROOT);
	kpoint(k, MOUNT + 32, ROOT);
	kpoint(k, MOUNT, MOUNT);
	ktext(k, NAME, "swap");
}

static struct atw_kernel kernel(struct kmemory *k)
{
	struct atw_kernel r = { .mem = &k->s, .own = k->space, .kmem = k->m,
				.needs = k->n, .needs_done = true,
				   .symbols_done = true };

	r.sought_kmem.done = true;
	return r;
}

TEST(name_and_size)
{
	struct kmemory *k = kmemory_new();
	struct atw_err err = { 0 };
	struct atw_swap s = { 0 };
	struct atw_kernel kn;

	layout(k);
	fill(k);
	kn = kernel(k);
	CHECK_EQ(atw_swap_device(&kn, 1, &s, &err), ATW_OK);
	CHECK_STR(s.name, "/swap");
	CHECK_EQ(s.pages, 1000);
	CHECK_EQ(s.used, 17);
	kmemory_free(k);
}

TEST(what_is_missing)
{
	struct kmemory *k = kmemory_new();
	struct atw_err err = { 0 };
	struct atw_swap s = { 0 };
	struct atw_kernel kn;

	kn = kernel(k);
	CHECK_EQ(atw_swap_device(&kn, 0, &s, &err), ATW_E_UNSUPPORTED);
	layout(k);
	fill(k);
	kn = kernel(k);
	CHECK_EQ(atw_swap_device(&kn, 0, &s, &err), ATW_E_MISSING);
	CHECK_EQ(atw_swap_device(&kn, 2, &s, &err), ATW_E_MISSING);
	CHECK_EQ(atw_swap_device(&kn, 77, &s, &err), ATW_E_MISSING);
	/* Swapped off, but not yet forgotten. */
	kput64(k, DEVICE + 16, 0);
	CHECK_EQ(atw_swap_device(&kn, 1, &s, &err), ATW_E_MISSING);
	kput(k, DEVICE, 5, 1);
	CHECK_EQ(atw_swap_device(&kn, 1, &s, &err), ATW_E_DAMAGED);
	CHECK_EQ(s.pages, 0);
	kmemory_free(k);
}
