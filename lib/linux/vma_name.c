// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vma_name.c - name of a VMA as in /proc/PID/maps: show_map_vma() in fs/proc/task_mmu.c,
 * in its order.
 */
#include "linux/areas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum {
	/* include/linux/fs.h, 62d53c4a1dfe (6.5); 6.14 gave the bit to FMODE_NONOTIFY */
	FMODE_BACKING_6_5 = 1 << 25, FMODE_BACKING_6_14 = 1 << 24,
	MINORBITS = 20,
	ANON_NAME = 80,                  /* ANON_VMA_NAME_MAX_LEN */
	STEPS = 1 << 22,                 /* 64 for each of vm.max_map_count */
};

void names_init(struct names *ret, struct members v, uint64_t mm,
		unsigned page_shift, unsigned release)
{
	static const enum need_member of_mm[] = {
		N_mm_brk, N_mm_start_brk, N_mm_start_stack, N_mm_vdso,
	};
	struct names n = { .v = v, .page_shift = page_shift, .steps = STEPS };

	/*
	 * Until d3bb89ea9c13 (6.6) and its fix, VMAs that only touch the heap were also
	 * named [heap]. No structure distinguishes the two.
	 */
	n.wide_heap = release && release < 6006;
	n.backing = release < 6014 ? FMODE_BACKING_6_5 : FMODE_BACKING_6_14;
	members_hold(&v, mm, of_mm, ARRAY_SIZE(of_mm));
	if (member_get(&v, mm, N_mm_brk, &n.brk, NULL) < 0 ||
	    member_get(&v, mm, N_mm_start_brk, &n.start_brk, NULL) < 0)
		n.brk = n.start_brk = 0;
	if (member_get(&v, mm, N_mm_start_stack, &n.start_stack, NULL) < 0)
		n.start_stack = 0;
	if (member_get(&v, mm, N_mm_vdso, &n.vdso, NULL) < 0)
		n.vdso = 0;
	members_release(&v);
	*ret = n;
}

/* ---- VMAs of files ---- */

/*
 * For a file that is opened through overlayfs, the underlying file is mapped; since
 * def3ae83da02 (6.7) that one has the path that the user opened.
 */
static bool name_user_path(const struct names *n, uint64_t file, uint64_t *mnt,
			   uint64_t *dentry)
{
	const struct members *v = &n->v;
	uint64_t mode, backing = file - v->n->member[N_backing_file];

	return member_have(v, N_backing_file) &&
	       member_get(v, file, N_file_mode, &mode, NULL) == ATW_OK &&
	       mode & n->backing &&
	       member_get(v, backing, N_backing_mnt, mnt, NULL) == ATW_OK &&
	       member_get(v, backing, N_backing_dentry, dentry, NULL) == ATW_OK && *dentry;
}

/* ---- cache of file names ---- */

void named_files_deinit(struct named_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].name);
	for (size_t i = 0; i < NAMED_SETS; i++)
		free(f->set[i].path);
	kmem_ahead_destroy(f->ahead);
	free(f->v);
	table_deinit(&f->table);
	*f = (struct named_files){ 0 };
}

static struct named_file *name_named_at(const struct named_files *f, uint64_t dentry,
					uint64_t mnt)
{
	const struct table_slot *s = NULL;

	while ((s = table_next(&f->table, hash_two(dentry, mnt), s)))
		if (f->v[s->value - 1].dentry == dentry && f->v[s->value - 1].mnt == mnt)
			return &f->v[s->value - 1];
	return NULL;
}

/* Members that would differ if another dentry replaced it. */
static const enum need_member of_dentry[] = {
	N_dentry_parent, N_dentry_name, N_dentry_len, N_dentry_pprev,
};

static bool name_named_mark(const struct members *v, struct named_file *f)
{
	int r = ATW_OK;

	members_hold(v, f->dentry, of_dentry, ARRAY_SIZE(of_dentry));
	for (size_t i = 0; i < ARRAY_SIZE(of_dentry) && r == ATW_OK; i++)
		r = member_get(v, f->dentry, of_dentry[i], &f->mark[i], NULL);
	members_release(v);
	return r == ATW_OK;
}

static const enum need_member of_file[] = {
	N_file_inode, N_file_mnt, N_file_dentry, N_file_mode,
};

/*
 * The file of a VMA. false for a backing file (overlayfs): each open file of it has a
 * name of its own.
 */
static bool name_named_key(const struct members *v, uint32_t backing, uint64_t file,
			   struct named_file *ret)
{
	uint64_t mode = 0;
	bool known;

	members_hold(v, file, of_file, ARRAY_SIZE(of_file));
	known = member_get(v, file, N_file_inode, &ret->inode, NULL) == ATW_OK &&
		member_get(v, file, N_file_mnt, &ret->mnt, NULL) == ATW_OK &&
		member_get(v, file, N_file_dentry, &ret->dentry, NULL) == ATW_OK && ret->dentry &&
		(!member_have(v, N_backing_file) ||
		 (member_get(v, file, N_file_mode, &mode, NULL) == ATW_OK && !(mode & backing)));
	members_release(v);
	return known && name_named_mark(v, ret);
}

void names_soon_file(const struct members *v, uint64_t file)
{
	members_soon(v, file, of_file, ARRAY_SIZE(of_file));
}

void names_soon_dentry(const struct members *v, uint64_t file)
{
	uint64_t dentry;
	int r;

	members_hold(v, file, of_file, ARRAY_SIZE(of_file));
	r = member_get(v, file, N_file_dentry, &dentry, NULL);
	members_release(v);
	if (r == ATW_OK && dentry)
		members_soon(v, dentry, of_dentry, ARRAY_SIZE(of_dentry));
}

/* NULL: not in the cache, or replaced by another one. */
static const struct named_file *name_named_find(const struct named_files *f,
						const struct named_file *key)
{
	const struct named_file *o = name_named_at(f, key->dentry, key->mnt);

	return o && o->inode == key->inode &&
	       !memcmp(o->mark, key->mark, sizeof(o->mark)) ? o : NULL;
}

bool named_before_at(struct named_files *f, const struct members *v, uint64_t file, char *buf,
		     size_t len)
{
	struct named_file key = { 0 };
	const struct named_file *o =
		f && f->n && name_named_key(v, f->backing, file, &key)
			? name_named_find(f, &key)
			: NULL;

	if (o)
		snprintf(buf, len, "%s", o->name);
	return o;
}

static bool name_named_before(struct named_files *f, const struct named_file *key,
			      struct atw_area *a)
{
	const struct named_file *o = name_named_find(f, key);

	if (!o)
		return false;
	a->inode = o->ino;
	a->major = o->major;
	a->minor = o->minor;
	snprintf(a->name, sizeof(a->name), "%s", o->name);
	f->found++;
	return true;
}

static void name_named_keep(struct named_files *f, const struct named_file *key,
			    const struct atw_area *a)
{
	struct named_file *o = name_named_at(f, key->dentry, key->mnt);
	_auto_free char *name = strdup(a->name);

	if (!name ||
	    (!o && (!ARRAY_ROOM(f->v, f->n, f->cap) ||
		    !table_add(&f->table, hash_two(key->dentry, key->mnt), f->n + 1))))
		return;
	if (o)
		free(o->name);
	else
		o = &f->v[f->n++];
	*o = *key;
	o->ino = a->inode;
	o->major = a->major;
	o->minor = a->minor;
	o->name = take_ptr(name);
}

/* ---- files ---- */

static int name_look_up_file(struct names *n, uint64_t file, struct atw_area *a,
			     struct atw_err *err)
{
	const struct members *v = &n->v;
	uint64_t mnt, dentry, inode, sb, dev;
	bool user = name_user_path(n, file, &mnt, &dentry);
	int r = user ? member_get(v, dentry, N_dentry_inode, &inode, err)
		     : member_get(v, file, N_file_inode, &inode, err);

	if (r == ATW_OK)
		r = member_get(v, inode, N_inode_ino, &a->inode, err) ?:
		    member_get(v, inode, N_inode_sb, &sb, err) ?:
		    member_get(v, sb, N_sb_dev, &dev, err);
	if (r == ATW_OK) {
		a->major = (uint32_t)dev >> MINORBITS;
		a->minor = (uint32_t)dev & ((1u << MINORBITS) - 1);
	}
	if (a->name[0] || r < 0)         /* a name set by the user */
		return r;
	if (!user)
		r = member_get(v, file, N_file_mnt, &mnt, err);
	if (!user && r == ATW_OK)
		r = member_get(v, file, N_file_dentry, &dentry, err);
	if (r == ATW_OK)
		r = path_read_within(v, mnt, dentry, &n->steps, a->name, sizeof(a->name), err);
	if (r < 0)
		a->name[0] = '\0';
	return r;
}

static int name_fill_file(struct names *n, uint64_t file, struct atw_area *a,
			  struct atw_err *err)
{
	struct named_file key = { 0 };
	bool may_keep =
		n->files && !a->name[0] && name_named_key(&n->v, n->backing, file, &key);
	int r;

	if (may_keep && name_named_before(n->files, &key, a))
		return ATW_OK;
	r = name_look_up_file(n, file, a, err);
	if (r == ATW_OK && may_keep)
		name_named_keep(n->files, &key, a);
	return r;
}

/* ---- other VMAs ---- */

/* A name given by prctl(PR_SET_VMA_ANON_NAME). */
static int name_given(const struct members *v, struct atw_area *a, struct atw_err *err)
{
	char text[ANON_NAME];
	uint64_t name, at;
	int r;

	if (!member_have(v, N_vma_anon_name) || !member_have(v, N_anon_name_text))
		return ATW_OK;
	/* Until d09e8ca6cb93 (6.2) it shared its place with members for files. */
	if (a->file && v->n->member[N_vma_anon_name] == v->n->member[N_vma_shared])
		return ATW_OK;
	r = member_get(v, a->at, N_vma_anon_name, &name, err);
	if (r < 0 || !name)
		return r;
	at = name + v->n->member[N_anon_name_text];
	r = kmem_text(v->m, at, text, sizeof(text), err);
	if (r == ATW_OK)
		snprintf(a->name, sizeof(a->name), "[%s:%s]",
			 a->file ? "anon_shmem" : "anon", text);
	return r;
}

/*
 * _install_special_mapping(): vm_private_data leads to the name. A check that the
 * operations are those of special mappings would need a symbol; but a VMA without a file
 * and with operations that can name it is always one.
 */
static bool name_look_up_special(const struct members *v, struct named_special *ret)
{
	uint64_t fn, name;
	size_t len;

	if (member_get(v, ret->ops, N_vops_name, &fn, NULL) < 0 || !fn ||
	    member_get(v, ret->special, N_special_name, &name, NULL) < 0 || !name ||
	    kmem_text(v->m, name, ret->name, sizeof(ret->name), NULL) < 0)
		return false;
	len = strlen(ret->name);
	return len >= 3 && ret->name[0] == '[' && ret->name[len - 1] == ']';
}

/* Every process has the same few. */
static const struct named_special *name_special_before(const struct named_files *f,
						       const struct named_special *key)
{
	for (unsigned i = 0; f && i < f->nspecial; i++)
		if (f->special[i].ops == key->ops && f->special[i].special == key->special)
			return &f->special[i];
	return NULL;
}

static bool name_special(const struct names *n, struct atw_area *a)
{
	const struct members *v = &n->v;
	struct named_files *f = n->files;
	struct named_special s = { .name = "" };
	const struct named_special *before;

	if (member_get(v, a->at, N_vma_ops, &s.ops, NULL) < 0 || !s.ops ||
	    member_get(v, a->at, N_vma_private, &s.special, NULL) < 0 || !s.special)
		return false;
	before = name_special_before(f, &s);
	if (!before && !name_look_up_special(v, &s))
		return false;
	snprintf(a->name, sizeof(a->name), "%s", before ? before->name : s.name);
	if (f && !before && f->nspecial < ARRAY_SIZE(f->special))
		f->special[f->nspecial++] = s;
	return true;
}

static const char *name_marked(const struct names *n, const struct atw_area *a)
{
	uint64_t start = a->start.u, end = a->end.u;

	if (n->vdso && start == n->vdso) /* arch_vma_name() of RISC-V, 5.10 */
		return "[vdso]";
	if (n->wide_heap ? start <= n->brk && end >= n->start_brk
			 : start < n->brk && end > n->start_brk)
		return "[heap]";
	if (start <= n->start_stack && end >= n->start_stack)
		return "[stack]";
	return NULL;
}

int names_fill(struct names *n, struct atw_area *a, struct atw_err *err)
{
	const struct members *v = &n->v;
	const char *mark;
	uint64_t file = 0, pgoff;
	int r = ATW_OK, named;

	if (member_have(v, N_vma_file))
		r = member_get(v, a->at, N_vma_file, &file, err);
	a->file = file;
	if (r == ATW_OK && file) {
		r = member_get(v, a->at, N_vma_pgoff, &pgoff, err);
		if (r == ATW_OK)
			a->offset = pgoff << n->page_shift;
	}
	if (r < 0)
		return r;
	if (file) {
		named = name_given(v, a, err);
		r = name_fill_file(n, file, a, err);
		return r < 0 ? r : named;
	}
	if (name_special(n, a))
		return ATW_OK;
	mark = name_marked(n, a);
	if (!mark)
		return name_given(v, a, err);
	snprintf(a->name, sizeof(a->name), "%s", mark);
	return ATW_OK;
}
