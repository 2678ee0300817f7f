/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect_file.c - U: lines: each mapped file, once. */
#include "census/collect.h"

/*
 * A dump has the file's first page if some process maps it, which need not be the first
 * process: so this number of VMAs is tried.
 */
enum { TRIES = 64 };

void told_files_deinit(struct told_files *f)
{
	table_deinit(&f->table);
	free(f->v);
	*f = (struct told_files){ 0 };
}

/* NULL: no memory. */
static struct told_file *collect_file_find(struct told_files *f, uint64_t dev,
					   uint64_t inode)
{
	const uint64_t key = hash_two(dev, inode);
	const struct table_slot *s = NULL;

	while ((s = table_next(&f->table, key, s)))
		if (f->v[s->value - 1].dev == dev && f->v[s->value - 1].inode == inode)
			return &f->v[s->value - 1];
	if (!ARRAY_ROOM(f->v, f->n, f->cap) ||
	    !table_add(&f->table, key, f->n + 1))
		return NULL;
	f->v[f->n] = (struct told_file){ .dev = dev, .inode = inode };
	return &f->v[f->n++];
}

static size_t collect_file_write_loads(const struct elfunit *u, char *buf, size_t len)
{
	size_t n = 0;

	for (unsigned i = 0; i < u->loads; i++)
		n += capture_write_load(&u->load[i], !i, buf + n, len - n);
	return n;
}

int collect_file(struct collect *c, struct atw_err *err)
{
	const struct atw_area *a = &c->area;
	struct capture_record rec = { .letter = 'U' };
	char loads[ELFUNIT_LOADS * CAPTURE_LOAD_TEXT];
	struct told_file *t;
	struct elfunit u;
	int r;

	if (c->outside || !a->file || !a->inode)
		return ATW_OK;
	t = collect_file_find(&c->files, (uint64_t)a->major << 32 | a->minor, a->inode);
	if (!t)
		return atw_err_nomem(err);
	if (t->known || t->tries == TRIES || (t->tries && a->offset))
		return ATW_OK;
	r = c->p->ops->file(c->vmas, a, &u);
	t->known = r == ATW_OK || r == ATW_E_FORMAT;
	/* Once; and a second time if more is known of it. */
	if (t->tries++ && r != ATW_OK)
		return ATW_OK;
	rec.u = (struct capture_file){
		.dev = { a->major, a->minor }, .inode = a->inode,
		.name = { a->name[0] ? a->name : NULL, strlen(a->name) },
	};
	if (r == ATW_OK && u.build.len) {
		rec.u.build = u.build;
		rec.has |= CAPTURE_U_BUILD;
	}
	if (r == ATW_OK && u.loads && !u.cut) {
		rec.u.loads = (struct atw_blob){
			loads, collect_file_write_loads(&u, loads, sizeof(loads))};
		rec.has |= CAPTURE_U_LOADS;
	}
	return c->to->record(c->to->arg, &rec, err);
}
