/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Areas of a made-up kernel: trees and lists of them, files, dentries, mounts.
 *
 * Bytes that are pointers by chance are rare. So the input is a list of puts,
 * and most of what is put leads to some other place of the 64 KiB:
 *
 *	flags		bit 0: a list, not a tree; bit 1: names in a union;
 *			bit 2: files opened through overlayfs; bit 3: before 6.6
 *	at  kind  value	2, 1 and 2 bytes: at 8 * at, by kind: a pointer to
 *			8 * value plus low bits, a node of a type, a page number,
 *			a number, all ones
 */
#include "linux/process.h"

#include "linux/areas.h"
#include "fuzz.h"
#include "kernel_memory.h"

enum { MM = 0 };

/* Members of the other structs overlap as they please. */
static void layout(struct kmemory *k, unsigned flags)
{
	static const struct { enum need_member id; uint8_t at, width; } members[] = {
		{ N_vops_name, 8, 8 }, { N_special_name, 0, 8 },
		{ N_dentry_parent, 0, 8 }, { N_dentry_name, 8, 8 }, { N_dentry_len, 16, 4 },
		{ N_dentry_inode, 24, 8 }, { N_dentry_op, 32, 8 }, { N_dentry_sb, 40, 8 },
		{ N_dentry_pprev, 48, 8 }, { N_dentry_fsdata, 56, 8 }, { N_dop_dname, 8, 8 },
		{ N_dmabuf_name, 8, 8 }, { N_mount_parent, 0, 8 }, { N_mount_mountpoint, 8, 8 },
		{ N_mount_mnt, 16, 0 }, { N_vfsmount_root, 0, 8 }, { N_file_mnt, 0, 8 },
		{ N_file_dentry, 8, 8 }, { N_file_inode, 16, 8 }, { N_file_mode, 24, 4 },
		{ N_inode_ino, 0, 8 }, { N_inode_sb, 8, 8 }, { N_sb_dev, 0, 4 },
		{ N_sb_type, 8, 8 }, { N_fs_name, 0, 8 }, { N_vma_anon_name, V_ANON, 8 },
		{ N_anon_name_text, 4, 0 }, { N_mm_context_flags, 40, 2 }, { N_mm_vdso, 48, 8 },
	};

	karea_layout(k, !(flags & 1));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		kset(k, members[i].id, members[i].at, members[i].width);
	if (flags & 2)
		kset(k, N_vma_shared, V_ANON, 0);
	if (flags & 4) {
		kset(k, N_backing_file, 0, 0);
		kset(k, N_backing_mnt, 32, 8);
		kset(k, N_backing_dentry, 40, 8);
	}
	k->n.symbol[Y_gate_vma] = KBASE + 0x80;
	k->n.symbol[Y_vsyscall_mode] = KBASE + 0x40;
}

static void put(struct kmemory *k, struct input *in)
{
	uint64_t at = take(in, 2) * 8 % KSIZE, kind = take(in, 1), value = take(in, 2);
	uint64_t to = KBASE + value * 8 % (KSIZE + 4096);

	switch (kind & 7) {
	case 0: case 1:
		kput64(k, at, to);
		break;
	case 2: case 3:                  /* a node, also as a root; type in the rest */
		kput64(k, at, (to & ~255ull) | (kind >> 3 & 15) << 3 | 4 | (kind >> 7) << 1);
		break;
	case 4:
		kput64(k, at, value << 12);
		break;
	case 5:
		kput64(k, at, (value << 12) - 1);
		break;
	case 6:
		kput64(k, at, value | (kind >> 3) << 16);
		break;
	default:
		kput64(k, at, UINT64_MAX);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct atw_area a;
	struct input in = { data, len };
	struct kmemory *k = kmemory_new();
	unsigned flags = (unsigned)take(&in, 1), n = 0;
	struct atw_areas *areas = NULL;
	struct atw_err err = { 0 };
	uint64_t ended = 0;
	int r;

	layout(k, flags);
	while (in.len)
		put(k, &in);
	r = areas_open_at(kmembers(k), KBASE + MM, 12, flags & 8 ? 5010 : 6012, &areas, &err);
	check_err(r, &err);
	while (r == ATW_OK || (areas && r < 0 && r != ATW_E_LIMIT)) {
		memset(&err, 0, sizeof(err));
		r = atw_areas_next(areas, &a, &err);
		check_err(r, &err);
		FUZZ_CHECK(++n <= KSIZE, "area %u", n);
		if (r != ATW_OK)
			continue;
		FUZZ_CHECK(a.start.u < a.end.u && a.start.u >= ended,
			   "%" PRIx64 "-%" PRIx64 " after %" PRIx64, a.start.u, a.end.u, ended);
		ended = a.end.u;
		FUZZ_CHECK(memchr(a.name, 0, sizeof(a.name)), "a name without an end");
		if (a.unread)
			check_err(atw_areas_error(areas)->status, atw_areas_error(areas));
		touch(&a, offsetof(struct atw_area, name));
	}
	atw_areas_close(areas);
	/* Nodes and steps of paths have budgets; each costs a few reads. */
	FUZZ_CHECK(k->reads < 1u << 25, "%" PRIu64 " reads", k->reads);
	kmemory_free(k);
	return 0;
}
