/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMAs are named after paths, pseudo files, the heap and the names that processes gave.
 */
#include "linux/process.h"

#include "linux/areas.h"
#include "kernel_memory.h"
#include "test.h"

/* A struct of each kind lies at a multiple of 0x100. */
enum {
	D_PARENT = 0, D_NAME = 8, D_LEN = 16, D_INODE = 24, D_OP = 32, D_SB = 40,
	D_PPREV = 48, D_FSDATA = 56,
	M_PARENT = 0, M_MOUNTPOINT = 8, M_MNT = 16, M_ROOT = 0,
	F_MNT = 0, F_DENTRY = 8, F_INODE = 16, F_MODE = 24, F_SIZE = 32,
	MM = 0x100, VMA = 0x200, FILE_ = 0x300, INODE = 0x400, SB = 0x500, FS = 0x600,
	OPS = 0x700, BUF = 0x800, SPECIAL = 0x900, NAMES = 0x2000, DENTRIES = 0x4000,
	MOUNTS = 0x8000,
};

static uint64_t dentry(unsigned i) { return DENTRIES + i * 0x100u; }
static uint64_t mount(unsigned i) { return MOUNTS + i * 0x100u; }
static uint64_t vfsmount(unsigned i) { return mount(i) + M_MNT; }

static void name(struct kmemory *k, unsigned i, unsigned parent, const char *s)
{
	kpoint(k, dentry(i) + D_PARENT, dentry(parent));
	kpoint(k, dentry(i) + D_NAME, NAMES + 0x40 * i);
	kput(k, dentry(i) + D_LEN, strlen(s), 4);
	ktext(k, NAMES + 0x40 * i, s);
	kpoint(k, dentry(i) + D_INODE, INODE);
	kpoint(k, dentry(i) + D_SB, SB);
	kput64(k, dentry(i) + D_PPREV, 1);
}

/* Mount 0 is the root; mount 1 is at /mnt of it: /mnt/dir/file. */
static struct kmemory *machine(void)
{
	struct kmemory *k = kmemory_new();

	karea_layout(k, false);
	kset(k, N_dentry_parent, D_PARENT, 8);
	kset(k, N_dentry_name, D_NAME, 8);
	kset(k, N_dentry_len, D_LEN, 4);
	kset(k, N_dentry_inode, D_INODE, 8);
	kset(k, N_dentry_op, D_OP, 8);
	kset(k, N_dentry_sb, D_SB, 8);
	kset(k, N_dentry_pprev, D_PPREV, 8);
	kset(k, N_dentry_fsdata, D_FSDATA, 8);
	kset(k, N_dop_dname, 8, 8);
	kset(k, N_vops_name, 16, 8);
	kset(k, N_special_name, 0, 8);
	kset(k, N_dmabuf_name, 8, 8);
	kset(k, N_mount_parent, M_PARENT, 8);
	kset(k, N_mount_mountpoint, M_MOUNTPOINT, 8);
	kset(k, N_mount_mnt, M_MNT, 0);
	kset(k, N_vfsmount_root, M_ROOT, 8);
	kset(k, N_file_mnt, F_MNT, 8);
	kset(k, N_file_dentry, F_DENTRY, 8);
	kset(k, N_file_inode, F_INODE, 8);
	kset(k, N_file_mode, F_MODE, 4);
	kset(k, N_inode_ino, 0, 8);
	kset(k, N_inode_sb, 8, 8);
	kset(k, N_sb_dev, 0, 4);
	kset(k, N_sb_type, 8, 8);
	kset(k, N_fs_name, 0, 8);
	name(k, 0, 0, "/");
	name(k, 1, 0, "mnt");
	name(k, 2, 2, "/");
	name(k, 3, 2, "dir");
	name(k, 4, 3, "file");
	for (unsigned i = 0; i < 2; i++) {
		kpoint(k, mount(i) + M_PARENT, mount(0));
		kpoint(k, mount(i) + M_MOUNTPOINT, dentry(i));
	}
	kpoint(k, vfsmount(0) + M_ROOT, dentry(0));
	kpoint(k, vfsmount(1) + M_ROOT, dentry(2));
	kput64(k, INODE, 4711);
	kpoint(k, INODE + 8, SB);
	kput(k, SB, 0x00800013, 4);
	kpoint(k, SB + 8, FS);
	kpoint(k, FS, FS + 0x40);
	ktext(k, FS + 0x40, "tmpfs");
	kpoint(k, FILE_ + F_MNT, vfsmount(1));
	kpoint(k, FILE_ + F_DENTRY, dentry(4));
	kpoint(k, FILE_ + F_INODE, INODE);
	kput64(k, VMA + V_START, 0x400000);
	kput64(k, VMA + V_END, 0x401000);
	return k;
}

static char text[4200];
static struct atw_err why;

static const char *path(struct kmemory *k, unsigned m, unsigned d)
{
	const struct members v = kmembers(k);

	memset(&why, 0, sizeof(why));
	return path_read(&v, KBASE + vfsmount(m), KBASE + dentry(d), text,
			 sizeof(text), &why) == ATW_OK ? text : why.text;
}

TEST(paths_and_mounts)
{
	struct kmemory *k = machine();

	CHECK_STR(path(k, 1, 4), "/mnt/dir/file");
	CHECK_STR(path(k, 1, 3), "/mnt/dir");
	CHECK_STR(path(k, 1, 2), "/mnt");
	CHECK_STR(path(k, 0, 1), "/mnt");
	CHECK_STR(path(k, 0, 0), "/");
	kput64(k, dentry(4) + D_PPREV, 0);
	CHECK_STR(path(k, 1, 4), "/mnt/dir/file (deleted)");
	kput64(k, dentry(0) + D_PPREV, 0);               /* a root has no place */
	CHECK_STR(path(k, 0, 0), "/");
	kmemory_free(k);
}

TEST(a_root_that_is_not_what_is_mounted)
{
	struct kmemory *k = machine();

	kpoint(k, dentry(3) + D_PARENT, dentry(3));
	CHECK_STR(path(k, 1, 4), "/file");
	kmemory_free(k);
}

TEST(paths_without_an_end)
{
	struct kmemory *k = machine();

	kpoint(k, dentry(3) + D_PARENT, dentry(4));
	CHECK_STR(path(k, 1, 4), "a path without an end");
	kput(k, dentry(4) + D_LEN, 0, 4);
	CHECK_STR(path(k, 1, 4), "a path without an end");
	kput(k, dentry(4) + D_LEN, 5000, 4);
	CHECK(strstr(path(k, 1, 4), "its name has 5000 bytes"));
	kmemory_free(k);

	k = machine();                                   /* two mounts on each other */
	kpoint(k, mount(0) + M_PARENT, mount(1));
	kpoint(k, mount(0) + M_MOUNTPOINT, dentry(2));
	kpoint(k, mount(1) + M_MOUNTPOINT, dentry(0));
	CHECK_STR(path(k, 1, 4), "mounts without an end");
	kmemory_free(k);
}

TEST(names_that_fill_the_buffer)
{
	struct kmemory *k = machine();
	const struct members v = kmembers(k);
	const uint64_t mnt = KBASE + vfsmount(1), file = KBASE + dentry(4);
	uint32_t steps = 9;
	char small[14];

	CHECK_EQ(path_read_within(&v, mnt, file, &steps, small, 14, NULL), ATW_OK);
	CHECK_STR(small, "/mnt/dir/file");
	CHECK_EQ(path_read_within(&v, mnt, file, &steps, small, 13, NULL), ATW_E_LIMIT);
	CHECK_EQ(path_read_within(&v, mnt, file, &steps, small, 14, &why), ATW_E_LIMIT);
	CHECK_STR(why.text, "too many long paths");
	kmemory_free(k);
}

TEST(files_in_no_directory)
{
	static const struct { const char *fs, *name, *want; } all[] = {
		{ "tmpfs", "memfd:x y", "/memfd:x y (deleted)" },
		{ "tmpfs", "dev/zero", "/dev/zero (deleted)" },
		{ "hugetlbfs", "anon_hugepage", "/anon_hugepage (deleted)" },
		{ "pipefs", "", "pipe:[4711]" },
		{ "sockfs", "TCP", "socket:[4711]" },
		{ "anon_inodefs", "[io_uring]", "anon_inode:[io_uring]" },
		{ "pidfs", "", "anon_inode:[pidfd]" },
		{ "dmabuf", "dmabuf", "/dmabuf:frame" },
	};
	struct kmemory *k = machine();

	kpoint(k, dentry(5) + D_OP, OPS);
	kput64(k, OPS + 8, 0xffffffff81000000);
	kpoint(k, dentry(5) + D_FSDATA, BUF);
	kpoint(k, BUF + 8, BUF + 0x40);
	ktext(k, BUF + 0x40, "frame");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		name(k, 5, 5, all[i].name);
		ktext(k, FS + 0x40, all[i].fs);
		CHECK_STR(path(k, 1, 5), all[i].want);
	}
	/* The root of what is mounted is a directory. */
	kpoint(k, dentry(2) + D_OP, OPS);
	CHECK_STR(path(k, 1, 2), "/mnt");
	kmemory_free(k);
}

/* ---- areas ---- */

static struct atw_area area;

static const char *called(struct kmemory *k, unsigned release)
{
	struct names n;
	const struct members v = kmembers(k);

	memset(&area, 0, sizeof(area));
	memset(&why, 0, sizeof(why));
	area.at = KBASE + VMA;
	memcpy(&area.start.u, k->bytes + VMA + V_START, 8);
	memcpy(&area.end.u, k->bytes + VMA + V_END, 8);
	names_init(&n, v, KBASE + MM, 12, release);
	return names_fill(&n, &area, &why) == ATW_OK ? area.name : why.text;
}

TEST(areas_of_files)
{
	struct kmemory *k = machine();

	kpoint(k, VMA + V_FILE, FILE_);
	kput64(k, VMA + V_PGOFF, 3);
	CHECK_STR(called(k, 0), "/mnt/dir/file");
	CHECK_EQ(area.offset, 0x3000);
	CHECK_EQ(area.inode, 4711);
	CHECK_EQ(area.major, 8);
	CHECK_EQ(area.minor, 0x13);
	CHECK(area.file);
	/* What cannot be read leaves the rest in place. */
	kput64(k, FILE_ + F_DENTRY, 0);
	CHECK(strstr(called(k, 0), "kernel address"));
	CHECK_STR(area.name, "");
	CHECK_EQ(area.inode, 4711);
	kmemory_free(k);
}

TEST(what_an_overlay_opened)
{
	struct kmemory *k = machine();

	kset(k, N_backing_file, 0, 0);
	kset(k, N_backing_mnt, F_SIZE, 8);
	kset(k, N_backing_dentry, F_SIZE + 8, 8);
	kpoint(k, VMA + V_FILE, FILE_);
	kpoint(k, FILE_ + F_SIZE, vfsmount(0));
	kpoint(k, FILE_ + F_SIZE + 8, dentry(1));
	CHECK_STR(called(k, 0), "/mnt/dir/file");
	kput(k, FILE_ + F_MODE, 1 << 25, 4);
	CHECK_STR(called(k, 0), "/mnt");
	CHECK_STR(called(k, 6013), "/mnt");
	/* Since v6.14 this bit disables fsnotify, for memfd and similar files. */
	CHECK_STR(called(k, 6014), "/mnt/dir/file");
	kput(k, FILE_ + F_MODE, 1 << 24, 4);
	CHECK_STR(called(k, 6014), "/mnt");
	CHECK_STR(called(k, 6009), "/mnt/dir/file");
	kmemory_free(k);
}

TEST(heap_and_stack)
{
	struct kmemory *k = machine();

	kput64(k, MM + MM_START_BRK, 0x401000);
	kput64(k, MM + MM_BRK, 0x405000);
	kput64(k, MM + MM_STACK, 0x500800);
	CHECK_STR(called(k, 6012), "");
	CHECK_STR(called(k, 6006), "");
	CHECK_STR(called(k, 6005), "[heap]");            /* it only touches it */
	CHECK_STR(called(k, 0), "");
	kput64(k, VMA + V_END, 0x402000);
	CHECK_STR(called(k, 6012), "[heap]");
	kput64(k, VMA + V_START, 0x405000);
	kput64(k, VMA + V_END, 0x406000);
	CHECK_STR(called(k, 6012), "");
	CHECK_STR(called(k, 5010), "[heap]");
	kput64(k, VMA + V_START, 0x500000);
	kput64(k, VMA + V_END, 0x501000);
	CHECK_STR(called(k, 5010), "[stack]");
	kmemory_free(k);
}

TEST(special_mappings)
{
	struct kmemory *k = machine();

	kpoint(k, VMA + V_OPS, OPS);
	kpoint(k, VMA + V_PRIVATE, SPECIAL);
	kpoint(k, SPECIAL, SPECIAL + 0x40);
	ktext(k, SPECIAL + 0x40, "[vdso]");
	CHECK_STR(called(k, 0), "");                     /* it cannot be asked */
	kput64(k, OPS + 16, 0xffffffff81000000);
	CHECK_STR(called(k, 0), "[vdso]");
	ktext(k, SPECIAL + 0x40, "vdso");
	CHECK_STR(called(k, 0), "");
	kmemory_free(k);
}

TEST(names_that_were_given)
{
	struct kmemory *k = machine();

	kset(k, N_vma_anon_name, V_ANON, 8);
	kset(k, N_anon_name_text, 4, 0);
	CHECK_STR(called(k, 0), "");
	kpoint(k, VMA + V_ANON, BUF);
	ktext(k, BUF + 4, "my heap");
	CHECK_STR(called(k, 0), "[anon:my heap]");
	kpoint(k, VMA + V_FILE, FILE_);
	CHECK_STR(called(k, 0), "[anon_shmem:my heap]");
	CHECK_EQ(area.inode, 4711);
	kset(k, N_vma_shared, V_ANON, 0);                /* 6.1: in a union */
	CHECK_STR(called(k, 0), "/mnt/dir/file");
	kmemory_free(k);
}
