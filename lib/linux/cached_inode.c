// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cached_inode.c - from an address_space to inode, device and path of its file.
 *
 * Of a running machine, structs of many files are read together, and an address_space may
 * belong to nothing by then: it is one if its inode leads back to it. Paths of folders are
 * kept, since most files share theirs with others.
 */
#include "linux/cached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "linux/areas.h"
#include "record/intern.h"

enum {
	MINORBITS = 20,
	PATH = 4096 + 16,                /* PATH_MAX and " (deleted)" */
	NAME = 255,                      /* NAME_MAX */
	STEPS = 1 << 26,                 /* names of all paths: 64 for each of a million files */
	MOUNTS = 64,                     /* of a file system that are looked at */
};

/* A file system. */
struct cached_fs {
	uint64_t sb, dev, mnt;           /* mnt: 0: not known */
};

struct cached_reader {
	struct members v;
	struct cached_fs *fs;
	size_t nfs, fs_cap;
	struct table folders;            /* paths in `texts`, by mount and dentry */
	struct intern texts;
	uint32_t steps;
	char path[PATH];
};

static const enum need_member of_mapping[] = { N_mapping_host };
static const enum need_member of_inode[] = {
	N_inode_ino, N_inode_sb, N_inode_mapping, N_inode_dentry,
};
static const enum need_member of_dentry[] = {
	N_dentry_parent, N_dentry_name, N_dentry_len, N_dentry_pprev, N_dentry_op,
};

int cached_reader_open(struct atw_kernel *k, struct cached_reader **ret, struct atw_err *err)
{
	struct members v = { .n = kernel_needs(k) };
	struct cached_reader *c;
	int r = kernel_kmem(k, &v.m, err);

	if (r < 0)
		return r;
	if (!member_have(&v, N_mapping_host) || !member_have(&v, N_inode_mapping) ||
	    !member_have(&v, N_inode_ino) || !member_have(&v, N_inode_sb) ||
	    !member_have(&v, N_sb_dev))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "files of the page cache cannot be found: no types of this kernel lead from struct page to inode");
	c = calloc(1, sizeof(*c));
	if (!c)
		return atw_err_nomem(err);
	c->v = v;
	c->steps = STEPS;
	if (atw_source_is_live(k->mem) && !(c->v.ahead = kmem_ahead_create(v.m))) {
		cached_reader_close(c);
		return atw_err_nomem(err);
	}
	*ret = c;
	return ATW_OK;
}

void cached_reader_close(struct cached_reader *c)
{
	if (!c)
		return;
	kmem_ahead_destroy(c->v.ahead);
	free(c->fs);
	table_deinit(&c->folders);
	intern_deinit(&c->texts);
	free(c);
}

/* ---- read-ahead ---- */

static uint64_t cached_inode_of(const struct members *v, uint64_t mapping)
{
	uint64_t inode = 0;

	members_hold(v, mapping, of_mapping, ARRAY_SIZE(of_mapping));
	if (member_get(v, mapping, N_mapping_host, &inode, NULL) < 0)
		inode = 0;
	members_release(v);
	return inode;
}

/* 0: it has none. */
static uint64_t cached_dentry_of(const struct members *v, uint64_t inode)
{
	uint64_t alias = 0;

	if (!inode || !member_have(v, N_dentry_alias))
		return 0;
	members_hold(v, inode, of_inode, ARRAY_SIZE(of_inode));
	if (member_get(v, inode, N_inode_dentry, &alias, NULL) < 0)
		alias = 0;
	members_release(v);
	return alias ? alias - v->n->member[N_dentry_alias] : 0;
}

static void cached_soon_name(const struct members *v, uint64_t dentry)
{
	uint64_t name, len;

	members_hold(v, dentry, of_dentry, ARRAY_SIZE(of_dentry));
	if (member_get(v, dentry, N_dentry_name, &name, NULL) == ATW_OK &&
	    member_get(v, dentry, N_dentry_len, &len, NULL) == ATW_OK && len <= NAME)
		kmem_ahead_add(v->ahead, name, (size_t)len);
	members_release(v);
}

void cached_reader_soon(struct cached_reader *c, const uint64_t mapping[CACHED_SOON], size_t n)
{
	const struct members *v = &c->v;
	uint64_t at[CACHED_SOON];

	if (!v->ahead)
		return;
	kmem_ahead_forget(v->ahead);
	for (size_t i = 0; i < n; i++)
		members_soon(v, mapping[i], of_mapping, ARRAY_SIZE(of_mapping));
	kmem_ahead_read(v->ahead);
	for (size_t i = 0; i < n; i++) {
		at[i] = cached_inode_of(v, mapping[i]);
		if (at[i])
			members_soon(v, at[i], of_inode, ARRAY_SIZE(of_inode));
	}
	kmem_ahead_read(v->ahead);
	for (size_t i = 0; i < n; i++) {
		at[i] = cached_dentry_of(v, at[i]);
		if (at[i])
			members_soon(v, at[i], of_dentry, ARRAY_SIZE(of_dentry));
	}
	kmem_ahead_read(v->ahead);
	for (size_t i = 0; i < n; i++)
		if (at[i])
			cached_soon_name(v, at[i]);
	kmem_ahead_read(v->ahead);
}

/* ---- file systems ---- */

/*
 * The mount of a file system: the oldest one that has all of it. The others are bind
 * mounts, and those of other namespaces.
 */
static uint64_t cached_mount(const struct members *v, uint64_t sb)
{
	const bool list = member_have(v, N_mount_instance);
	uint64_t all = 0, root, at, mnt, top = 0, found = 0, any = 0;

	if (!member_have(v, N_mount_mnt) || member_at(v, sb, N_sb_mounts, &all, NULL) < 0 ||
	    member_get(v, sb, N_sb_mounts, &at, NULL) < 0)
		return 0;
	if (member_get(v, sb, N_sb_root, &root, NULL) < 0)
		root = 0;
	for (unsigned i = 0; i < MOUNTS && at && at != all; i++) {
		const uint64_t mount = list ? at - v->n->member[N_mount_instance] : at;

		mnt = mount + v->n->member[N_mount_mnt];
		if (member_get(v, mnt, N_vfsmount_root, &top, NULL) < 0)
			break;
		any = any ? any : mnt;
		/* That list has the oldest first, and the other one the newest. */
		if (top == root && (!list || !found))
			found = mnt;
		if ((list ? kmem_u64(v->m, at, &at, NULL)
			  : member_get(v, mount, N_mount_next, &at, NULL)) < 0)
			break;
	}
	return found ? found : any;
}

/* NULL: it cannot be read, or there is no memory. */
static const struct cached_fs *cached_fs_of(struct cached_reader *c, uint64_t sb)
{
	struct cached_fs fs = { .sb = sb };

	for (size_t i = 0; i < c->nfs; i++)
		if (c->fs[i].sb == sb)
			return &c->fs[i];
	if (member_get(&c->v, sb, N_sb_dev, &fs.dev, NULL) < 0 ||
	    !ARRAY_ROOM(c->fs, c->nfs, c->fs_cap))
		return NULL;
	fs.mnt = cached_mount(&c->v, sb);
	c->fs[c->nfs] = fs;
	return &c->fs[c->nfs++];
}

/* ---- paths ---- */

struct cached_dentry {
	uint64_t parent, name, len, pprev, op;
};

static bool cached_read_dentry(const struct members *v, uint64_t at, struct cached_dentry *ret)
{
	int r;

	members_hold(v, at, of_dentry, ARRAY_SIZE(of_dentry));
	r = member_get(v, at, N_dentry_parent, &ret->parent, NULL) ?:
	    member_get(v, at, N_dentry_name, &ret->name, NULL) ?:
	    member_get(v, at, N_dentry_len, &ret->len, NULL) ?:
	    member_get(v, at, N_dentry_pprev, &ret->pprev, NULL) ?:
	    member_get(v, at, N_dentry_op, &ret->op, NULL);
	members_release(v);
	return r == ATW_OK;
}

static bool cached_names_itself(const struct members *v, const struct cached_dentry *d)
{
	uint64_t dname;

	return d->op && member_get(v, d->op, N_dop_dname, &dname, NULL) == ATW_OK && dname;
}

/* A file in a folder whose path is known. false: it has to be found in another way. */
static bool cached_in_folder(struct cached_reader *c, const char *folder,
			     const struct cached_dentry *d)
{
	static const char deleted[] = " (deleted)";
	const void *copy = NULL;
	size_t n = strlen(folder);
	char *to = c->path + n + 1;

	if (d->len > NAME || !d->len || n + 1 + NAME + sizeof(deleted) > sizeof(c->path))
		return false;
	if (c->v.ahead)
		copy = kmem_ahead_find(c->v.ahead, d->name, (size_t)d->len);
	if (copy)
		memcpy(to, copy, (size_t)d->len);
	else if (kmem_read(c->v.m, d->name, to, (size_t)d->len, NULL) < 0)
		return false;
	memcpy(c->path, folder, n);
	c->path[n] = '/';
	to[d->len] = '\0';
	if (!d->pprev)
		memcpy(to + d->len, deleted, sizeof(deleted));
	return true;
}

/* The folder of the path is kept. */
static void cached_keep_folder(struct cached_reader *c, uint64_t key)
{
	const char *end = strrchr(c->path, '/');
	const char *text = end ? intern_text(&c->texts, c->path, (size_t)(end - c->path)) : NULL;

	if (text)
		table_put(&c->folders, key, (uintptr_t)text);
}

static bool cached_path(struct cached_reader *c, uint64_t mnt, uint64_t dentry)
{
	static const char nameless[] = "/ (deleted)";    /* of block devices */
	struct cached_dentry d;
	const char *folder;
	uint64_t key;
	bool named;

	if (!mnt || !cached_read_dentry(&c->v, dentry, &d))
		return false;
	key = hash_two(mnt, d.parent);
	folder = table_ptr(table_find(&c->folders, key));
	named = d.parent == dentry || cached_names_itself(&c->v, &d);
	if (folder && !named && cached_in_folder(c, folder, &d))
		return true;
	if (path_read_within(&c->v, mnt, dentry, &c->steps, c->path, sizeof(c->path), NULL) < 0)
		return false;
	if (!named)
		cached_keep_folder(c, key);
	return strcmp(c->path, nameless) != 0;
}

/* ---- files ---- */

bool cached_reader_file(struct cached_reader *c, uint64_t mapping, struct cached_file *ret)
{
	const struct members *v = &c->v;
	uint64_t inode = cached_inode_of(v, mapping), sb = 0, back = 0, ino = 0, dentry;
	const struct cached_fs *fs;
	int r;

	if (!inode)
		return false;
	members_hold(v, inode, of_inode, ARRAY_SIZE(of_inode));
	r = member_get(v, inode, N_inode_mapping, &back, NULL) ?:
	    member_get(v, inode, N_inode_sb, &sb, NULL) ?:
	    member_get(v, inode, N_inode_ino, &ino, NULL);
	members_release(v);
	fs = r == ATW_OK && back == mapping ? cached_fs_of(c, sb) : NULL;
	if (!fs)
		return false;
	dentry = cached_dentry_of(v, inode);
	*ret = (struct cached_file){
		.major = (uint32_t)fs->dev >> MINORBITS,
		.minor = (uint32_t)fs->dev & ((1u << MINORBITS) - 1), .inode = ino,
		.name = dentry && cached_path(c, fs->mnt, dentry) ? c->path : NULL,
	};
	return true;
}
