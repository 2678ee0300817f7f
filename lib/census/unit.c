/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit.c - mapped files by device and inode, name, build ID or first frame. */
#include "census/unit.h"

/* ---- hash table ---- */

typedef bool same_fn(const struct unit *u, const void *what);

static struct unit *unit_index_find(const struct table *x, uint64_t hash, same_fn *same,
				    const void *what)
{
	const struct table_slot *s = NULL;

	while ((s = table_next(x, hash, s)))
		if (same(table_ptr(s->value), what))
			return table_ptr(s->value);
	return NULL;
}

/* ---- parsing of names ---- */

/* Strip the suffix. */
static bool unit_deleted(struct atw_blob *name)
{
	size_t n = strlen(CENSUS_DELETED);

	if (name->len <= n || memcmp((const char *)name->data + name->len - n, CENSUS_DELETED, n))
		return false;
	name->len -= n;
	return true;
}

static enum unit_kind unit_kind_of(struct atw_blob name, bool gone)
{
	if (blob_begins(name, "/memfd:"))
		return UNIT_MEMFD;
	/* Kernel objects never have another suffix. */
	if (gone && blob_begins(name, "/SYSV"))
		return UNIT_SYSV;
	if (blob_is(name, "/dev/zero"))
		return UNIT_ZERO;
	if (blob_begins(name, "/dev/shm/"))
		return UNIT_TMPFS;
	if (gone && blob_is(name, "/anon_hugepage"))
		return UNIT_HUGE;
	if (blob_begins(name, "/dmabuf:") ||
	    (blob_begins(name, "/dev/") && !blob_begins(name, "/dev/huge")))
		return UNIT_DEVICE;
	if (blob_begins(name, "anon_inode:") || blob_begins(name, "socket:") ||
	    blob_begins(name, "/[aio]"))
		return UNIT_OTHER;
	return UNIT_FILE;
}

/* ---- keys ---- */

struct unit_key {
	bool by_inode;
	enum unit_kind kind;
	struct capture_pair dev;
	uint64_t inode;
	struct atw_blob recorded;
};

static bool unit_same_key(const struct unit *u, const void *what)
{
	const struct unit_key *k = what;

	if (u->by_inode != k->by_inode)
		return false;
	/* Inode numbers of SysV objects are in a namespace of their own. */
	if (k->by_inode)
		return u->u.inode == k->inode && u->u.major == k->dev.a &&
		       u->u.minor == k->dev.b && u->kind == k->kind;
	return u->len == k->recorded.len &&
	       !memcmp(u->recorded, k->recorded.data, u->len);
}

static uint64_t unit_hash_key(const struct unit_key *k)
{
	if (k->by_inode)
		return hash_two(hash_two(k->dev.a, k->dev.b), k->inode);
	return hash_bytes(0, k->recorded.data, k->recorded.len);
}

static struct unit *unit_make(struct units *us, const struct unit_key *k,
			      struct atw_blob shown, bool gone)
{
	struct unit *u = calloc(1, sizeof(*u));
	char *copy;

	if (!u || !ARRAY_ROOM(us->v, us->n, us->cap))
		goto fail;
	copy = malloc(k->recorded.len + 1);
	u->recorded = copy;
	u->shown = shown.len ? strndup(shown.data, shown.len) : strdup("");
	if (!copy || !u->shown)
		goto fail;
	if (k->recorded.len)                 /* data may be NULL then */
		memcpy(copy, k->recorded.data, k->recorded.len);
	copy[k->recorded.len] = '\0';
	u->len = k->recorded.len;
	u->kind = k->kind;
	u->by_inode = k->by_inode;
	u->u = (struct census_unit){
		.number = (uint32_t)us->n, .name = u->shown, .major = k->dev.a,
		.minor = k->dev.b, .inode = k->inode,
		.deleted = gone && k->kind == UNIT_FILE,
		.keyed = k->by_inode,
	};
	if (!table_add(&us->keys, unit_hash_key(k), (uintptr_t)u))
		goto fail;
	us->v[us->n++] = u;
	return u;
fail:
	if (u) {
		free(u->recorded);
		free(u->shown);
	}
	free(u);
	return NULL;
}

static struct unit *unit_find(struct units *us, const struct capture_pair *dev,
			      uint64_t inode, struct atw_blob name)
{
	struct atw_blob shown = name;
	bool gone = unit_deleted(&shown);
	struct unit_key k = {
		.by_inode = dev && inode, .kind = unit_kind_of(shown, gone),
		.recorded = name,
	};
	struct unit *u;

	if (k.by_inode) {
		k.dev = *dev;
		k.inode = inode;
	}
	u = us->last;
	if (!u || !unit_same_key(u, &k))
		u = unit_index_find(&us->keys, unit_hash_key(&k), unit_same_key, &k);
	if (!u)
		u = unit_make(us, &k, shown, gone);
	/* It may have been deleted only after the first process was read. */
	if (u && gone && u->kind == UNIT_FILE)
		u->u.deleted = true;
	us->last = u ? u : us->last;
	return u;
}

/* ---- copies ---- */

/* Path compression: chains of joined files may be long. */
const struct census_unit *census_unit_root(const struct census_unit *u)
{
	const struct census_unit *root = u;

	while (root && root->joined)
		root = root->joined;
	while (u != root) {
		struct census_unit *passed = (struct census_unit *)u;

		u = u->joined;
		passed->joined = root;
	}
	return root;
}

_Static_assert(offsetof(struct unit, u) == 0, "a unit begins with what others see of it");

struct unit *unit_root(struct unit *u)
{
	/* `joined` points to the `u` of a unit, which is its first member. */
	return u ? (struct unit *)census_unit_root(&u->u) : NULL;
}

static void unit_join(struct unit *u, struct unit *to)
{
	struct unit *a = unit_root(u), *b = unit_root(to);

	/* A deleted file and its successor are two files, whatever their contents. */
	if (a == b || a->u.deleted != b->u.deleted || a->kind != b->kind)
		return;
	/* The first one represents all copies. */
	if (a->u.number < b->u.number) {
		struct unit *t = a;

		a = b;
		b = t;
	}
	a->u.joined = &b->u;
	b->u.code |= a->u.code;
	b->u.program |= a->u.program;
}

/* Joins it to the first of its kind, which it may be. false: no memory. */
static bool unit_join_first(struct table *x, uint64_t hash, same_fn *same, const void *what,
			    struct unit *u)
{
	struct unit *first = unit_index_find(x, hash, same, what);

	if (!first)
		return table_add(x, hash, (uintptr_t)u);
	unit_join(u, first);
	return true;
}

struct build {
	const struct capture_bytes *id;
	bool deleted;
};

static bool unit_same_build(const struct unit *u, const void *what)
{
	const struct build *b = what;

	return u->u.deleted == b->deleted && u->u.build.len == b->id->len &&
	       !memcmp(u->u.build.b, b->id->b, b->id->len);
}

static bool unit_set_build(struct units *us, struct unit *u,
			   const struct capture_bytes *id)
{
	struct build b = { id, u->u.deleted };

	if (u->has_build || !id->len || id->len > CAPTURE_BUILD)
		return true;
	u->has_build = true;
	u->u.build = *id;
	return unit_join_first(&us->builds, hash_bytes(b.deleted, id->b, id->len),
			       unit_same_build, &b, u);
}

struct first_frame {
	uint64_t pa;
	bool deleted;
};

static bool unit_same_frame(const struct unit *u, const void *what)
{
	const struct first_frame *f = what;

	return u->first_pa == f->pa && u->u.deleted == f->deleted;
}

bool units_frame(struct units *us, struct unit *u, uint64_t pa)
{
	struct first_frame f = { pa, u->u.deleted };

	/* One frame is sufficient: all mappings of a file share its frames. */
	if (u->framed || u->kind != UNIT_FILE)
		return true;
	u->framed = true;
	u->first_pa = pa;
	return unit_join_first(&us->frames, pa, unit_same_frame, &f, u);
}

/* ---- lookup ---- */

struct unit *units_add(struct units *us, const struct capture_file *f, uint32_t has)
{
	struct atw_blob loads = f->loads;
	struct unit *u = unit_find(us, &f->dev, f->inode, f->name);
	struct capture_load one;
	size_t cap;

	if (!u || ((has & CAPTURE_U_BUILD) && !unit_set_build(us, u, &f->build)))
		return NULL;
	if (!(has & CAPTURE_U_LOADS) || u->nloads)
		return u;
	cap = 0;
	while (capture_load(&loads, &one, NULL) == ATW_OK) {
		if (!ARRAY_ROOM(u->load, u->nloads, cap))
			return NULL;
		u->load[u->nloads++] = one;
	}
	return u;
}

bool units_of(struct units *us, const struct capture_area *v, uint32_t has,
	      struct unit **ret)
{
	bool keyed = (has & CAPTURE_V_DEV) && (has & CAPTURE_V_INODE);
	const char *s = v->name.data;
	struct unit *u;

	*ret = NULL;
	if (!v->name.data || !v->name.len || s[0] == '[')
		return true;
	u = unit_find(us, keyed ? &v->dev : NULL, keyed ? v->inode : 0, v->name);
	if (!u || ((has & CAPTURE_V_BUILD) && !unit_set_build(us, u, &v->build)))
		return false;
	*ret = u;
	return true;
}

void units_deinit(struct units *us)
{
	for (size_t i = 0; i < us->n; i++) {
		free(us->v[i]->recorded);
		free(us->v[i]->shown);
		free(us->v[i]->load);
		free(us->v[i]);
	}
	free(us->v);
	table_deinit(&us->keys);
	table_deinit(&us->builds);
	table_deinit(&us->frames);
	*us = (struct units){ 0 };
}

/* ---- program headers ---- */

static uint64_t unit_load_down(uint64_t page, uint64_t x)
{
	return x & ~(page - 1);
}

static uint64_t unit_load_up(uint64_t page, uint64_t x)
{
	return unit_load_down(page, x + (page - 1));
}

static bool unit_load_covers(uint64_t page, const struct capture_load *l, uint64_t off)
{
	uint64_t first = unit_load_down(page, l->offset);

	return !(l->flags & CAPTURE_LOAD_RELRO) && l->file_size && off >= first &&
	       off - first < unit_load_up(page, l->file_size + (l->offset - first));
}

const struct unit *loads_of(struct unit *u)
{
	const struct unit *root = unit_root(u);

	return u->nloads ? u : root->nloads ? root : NULL;
}

/* The load bias, if the VMA belongs to this segment. */
static uint64_t unit_load_bias(const struct loads_view *v, const struct capture_load *l)
{
	return v->start - (l->va - l->offset) - v->offset;
}

/*
 * The page at a border is mapped twice, so several segments may contain the offset: one
 * that agrees with the previous VMAs is right, else one with the VMA's permissions.
 */
const struct capture_load *loads_place(struct unit *u, uint64_t page,
				       const struct loads_view *v)
{
	const struct unit *h = loads_of(u);
	const struct capture_load *best = NULL;
	int score = -1;

	for (size_t i = 0; h && i < h->nloads; i++) {
		const struct capture_load *l = &h->load[i];
		bool lx = l->flags & CAPTURE_LOAD_EXEC, lw = l->flags & CAPTURE_LOAD_WRITE;
		int s;

		if (!unit_load_covers(page, l, v->offset))
			continue;
		s = (u->placed && unit_load_bias(v, l) == u->bias ? 4 : 0) +
		    (lx == v->exec ? 2 : 0) + (lw || !v->write ? 1 : 0);
		if (s <= score)
			continue;
		score = s;
		best = l;
	}
	if (!best)
		return NULL;
	u->bias = unit_load_bias(v, best);
	u->placed = true;
	return best;
}

bool loads_relro(struct unit *u, uint64_t page, uint64_t start)
{
	const struct unit *h = loads_of(u);
	uint64_t va = start - u->bias;

	for (size_t i = 0; h && i < h->nloads; i++) {
		const struct capture_load *l = &h->load[i];

		if ((l->flags & CAPTURE_LOAD_RELRO) && va >= unit_load_down(page, l->va) &&
		    va < unit_load_down(page, l->va + l->size))
			return true;
	}
	return false;
}

bool loads_bss(struct unit *u, uint64_t page, uint64_t start, uint64_t last)
{
	const struct unit *h = loads_of(u);
	uint64_t va = start - u->bias, end = last - u->bias;

	for (size_t i = 0; h && i < h->nloads; i++) {
		const struct capture_load *l = &h->load[i];

		if (!(l->flags & CAPTURE_LOAD_RELRO) && l->size > l->file_size &&
		    va >= unit_load_up(page, l->va + l->file_size) && va <= end &&
		    end < unit_load_up(page, l->va + l->size))
			return true;
	}
	return false;
}
