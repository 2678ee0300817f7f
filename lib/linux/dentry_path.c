// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dentry_path.c - path of a dentry.
 *
 * Names are prepended from the dentry up to the root, as the kernel does it. Parents in
 * hostile memory may form a cycle: a path is limited by its buffer, mounts, which add no
 * name, are counted, and the caller sets a budget for all paths.
 */
#include "linux/areas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

enum {
	NAME = 4096,             /* bytes of one name; NAME_MAX is 255 */
	STEPS = 8192,            /* limit for one path: names and mounts */
};

/* Text that is built backwards. */
struct dentry_text {
	char *start, *at;
};

static int dentry_put(struct dentry_text *t, const char *s, size_t len,
		      struct atw_err *err)
{
	if (len > (size_t)(t->at - t->start))
		return atw_err_set(err, ATW_E_LIMIT, "a path without an end");
	t->at -= len;
	memcpy(t->at, s, len);
	return ATW_OK;
}

static int dentry_get_name(const struct members *v, uint64_t dentry, char buf[NAME],
			   size_t *len, struct atw_err *err)
{
	uint64_t name, n = 0;
	int r = member_get(v, dentry, N_dentry_name, &name, err) ?:
		member_get(v, dentry, N_dentry_len, &n, err);

	if (r < 0)
		return r;
	if (n > NAME)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "dentry at 0x%" PRIx64 ": its name has %" PRIu64 " bytes",
				   dentry, n);
	*len = (size_t)n;
	return kmem_read(v->m, name, buf, *len, err);
}

/* ---- files without a directory ---- */

static bool dentry_has_dname(const struct members *v, uint64_t dentry)
{
	uint64_t op, dname;

	return member_get(v, dentry, N_dentry_op, &op, NULL) == ATW_OK && op &&
	       member_get(v, op, N_dop_dname, &dname, NULL) == ATW_OK && dname;
}

static int dentry_fs_name(const struct members *v, uint64_t dentry, char *buf,
			  size_t len, struct atw_err *err)
{
	uint64_t sb, type, name = 0;
	int r = member_get(v, dentry, N_dentry_sb, &sb, err) ?:
		member_get(v, sb, N_sb_type, &type, err) ?:
		member_get(v, type, N_fs_name, &name, err);

	return r < 0 ? r : kmem_text(v->m, name, buf, len, err);
}

/* dmabuffs_dname(): the name that a user gave to the buffer, if any. */
static void dentry_buffer_name(const struct members *v, uint64_t dentry, char *buf,
			       size_t len)
{
	uint64_t dmabuf, name;

	buf[0] = '\0';
	if (member_get(v, dentry, N_dentry_fsdata, &dmabuf, NULL) < 0 || !dmabuf ||
	    member_get(v, dmabuf, N_dmabuf_name, &name, NULL) < 0 || !name ||
	    kmem_text(v->m, name, buf, len, NULL) < 0)
		buf[0] = '\0';
}

/*
 * Dentries of pseudo file systems have a function that builds the name. There is one per
 * file system, so the name of the file system identifies it, with or without symbols;
 * file systems without their own use simple_dname().
 */
static int dentry_pseudo(const struct members *v, uint64_t dentry, char *ret,
			 size_t len, struct atw_err *err)
{
	char name[NAME], fs[32], more[64];
	uint64_t inode = 0, ino = 0;
	size_t n = 0;
	int r = dentry_fs_name(v, dentry, fs, sizeof(fs), err) ?:
		dentry_get_name(v, dentry, name, &n, err);

	if (r < 0)
		return r;
	if (member_get(v, dentry, N_dentry_inode, &inode, NULL) == ATW_OK && inode)
		member_get(v, inode, N_inode_ino, &ino, NULL);
	if (!strcmp(fs, "pipefs")) {
		snprintf(ret, len, "pipe:[%" PRIu64 "]", ino);
	} else if (!strcmp(fs, "sockfs")) {
		snprintf(ret, len, "socket:[%" PRIu64 "]", ino);
	} else if (!strcmp(fs, "pidfs")) {
		snprintf(ret, len, "anon_inode:[pidfd]");
	} else if (!strcmp(fs, "anon_inodefs")) {
		snprintf(ret, len, "anon_inode:%.*s", (int)n, name);
	} else if (!strcmp(fs, "dmabuf")) {
		dentry_buffer_name(v, dentry, more, sizeof(more));
		snprintf(ret, len, "/%.*s:%s", (int)n, name, more);
	} else {
		snprintf(ret, len, "/%.*s (deleted)", (int)n, name);
	}
	return ATW_OK;
}

/* ---- files in directories ---- */

static const enum need_member of_step[] = { N_dentry_parent, N_dentry_name, N_dentry_len };

/* The name of a dentry, before those below it; and its parent. */
static int dentry_step(const struct members *v, uint64_t dentry, struct dentry_text *t,
		       uint64_t *parent, struct atw_err *err)
{
	char name[NAME];
	size_t len = 0;
	int r;

	members_hold(v, dentry, of_step, ARRAY_SIZE(of_step));
	r = member_get(v, dentry, N_dentry_parent, parent, err);
	if (r == ATW_OK && *parent != dentry)
		r = dentry_get_name(v, dentry, name, &len, err) ?:
		    dentry_put(t, name, len, err) ?:
		    dentry_put(t, "/", 1, err);
	members_release(v);
	return r;
}

/* prepend_path(). The last directory need not be the real root. */
static int dentry_walk_up(const struct members *v, uint64_t mnt, uint64_t dentry,
			  uint32_t *steps, struct dentry_text *t, struct atw_err *err)
{
	uint64_t mount = mnt - v->n->member[N_mount_mnt], root = 0, parent = 0;
	int r = member_get(v, mnt, N_vfsmount_root, &root, err);

	for (unsigned step = 0; r == ATW_OK; step++) {
		if (step == STEPS)
			return atw_err_set(err, ATW_E_LIMIT, "mounts without an end");
		if (!*steps)
			return atw_err_set(err, ATW_E_LIMIT, "too many long paths");
		--*steps;
		if (dentry == root) {
			r = member_get(v, mount, N_mount_parent, &parent, err);
			if (r < 0 || parent == mount)
				break;
			r = member_get(v, mount, N_mount_mountpoint, &dentry, err) ?:
			    member_get(v, parent + v->n->member[N_mount_mnt], N_vfsmount_root,
				       &root, err);
			mount = parent;
			continue;
		}
		r = dentry_step(v, dentry, t, &parent, err);
		if (parent == dentry)
			break;           /* outside of the mount */
		dentry = parent;
	}
	return r;
}

static int dentry_is_root(const struct members *v, uint64_t dentry, bool *ret,
			  struct atw_err *err)
{
	uint64_t parent;
	int r = member_get(v, dentry, N_dentry_parent, &parent, err);

	*ret = r == ATW_OK && parent == dentry;
	return r;
}

int path_read_within(const struct members *v, uint64_t mnt, uint64_t dentry,
		     uint32_t *steps, char *ret, size_t len, struct atw_err *err)
{
	struct dentry_text t = {ret, ret + len - 1};
	uint64_t root = 0, pprev = 0, mount;
	const char *end;
	bool top = false;
	int r = dentry_is_root(v, dentry, &top, err) ?:
		member_get(v, mnt, N_vfsmount_root, &root, err);

	if (r == ATW_OK && (!top || dentry != root) && dentry_has_dname(v, dentry))
		return dentry_pseudo(v, dentry, ret, len, err);
	if (r == ATW_OK)
		r = member_get(v, dentry, N_dentry_pprev, &pprev, err) ?:
		    member_at(v, mnt, N_mount_mnt, &mount, err);
	if (r < 0)
		return r;
	if (!top && !pprev)              /* d_unlinked() */
		dentry_put(&t, " (deleted)", 10, NULL);
	end = t.at;
	r = dentry_walk_up(v, mnt, dentry, steps, &t, err);
	if (r == ATW_OK && t.at == end)
		r = dentry_put(&t, "/", 1, err);
	if (r < 0)
		return r;
	len = (size_t)(ret + len - 1 - t.at);
	memmove(ret, t.at, len);
	ret[len] = '\0';
	return ATW_OK;
}

int path_read(const struct members *v, uint64_t mnt, uint64_t dentry,
	      char *ret, size_t len, struct atw_err *err)
{
	uint32_t steps = STEPS + 1;

	return path_read_within(v, mnt, dentry, &steps, ret, len, err);
}
