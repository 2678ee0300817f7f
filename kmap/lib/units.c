/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units.c - aggregation of instructions by function, file or folder. */
#include "kmap/lib/names.h"

const char *const kmap_level_words[KMAP_LEVELS] = {
	"instruction", "function", "file", "directory", "topdir",
};
const char *const kmap_level_many[KMAP_LEVELS] = {
	"instructions", "functions", "files", "directories", "top directories",
};

/* The unit of this code at a level; NULL: not known. */
static const char *kmap_units_name(const struct kmap_names *n, size_t code,
				   enum kmap_level level, char buf[600], size_t *len)
{
	const char *function = kmap_name(n, code)->function, *file = kmap_name(n, code)->file, *slash;

	switch (level) {
	case KMAP_INSTRUCTION:
		kmap_place(n, code, buf);
		*len = strlen(buf);
		return buf;
	case KMAP_FUNCTION:
		if (!function) {
			kmap_place(n, code, buf);
			*len = strlen(buf);
			return buf;
		}
		*len = kmap_plain_name(function, strlen(function));
		return function;
	case KMAP_FILE:
		*len = file ? strlen(file) : 0;
		return file;
	case KMAP_DIRECTORY:
	case KMAP_TOPDIR:
		if (!file)
			return NULL;
		slash = level == KMAP_TOPDIR ? strchr(file, '/') : strrchr(file, '/');
		*len = slash ? (size_t)(slash - file) : 1;
		return slash ? file : ".";
	case KMAP_LEVELS:
		break;
	}
	return NULL;
}

static int64_t kmap_units_of(struct kmap_units *u, const struct kmap_names *n,
			     size_t code)
{
	char buf[600];
	size_t len = 0;
	const char *name = kmap_units_name(n, code, u->level, buf, &len);

	if (name && !(name = intern_text(&u->texts, name, len)))
		return -1;
	return kmap_table_get(&u->by_name, (struct kmap_key){ (uintptr_t)name, 0, 0 },
			      NULL);
}

static int kmap_units_no(struct kmap_units *u, struct atw_err *err)
{
	kmap_units_deinit(u);
	return atw_err_nomem(err);
}

/* Each function once, however many of its instructions there are. */
static bool kmap_units_add_size(struct kmap_units *u, struct kmap_table *seen,
				const struct kmap_names *n, size_t code)
{
	uint64_t size = kmap_name(n, code)->size;
	bool fresh;

	if (!size)
		return true;
	if (kmap_table_get(seen, (struct kmap_key){ kmap_name(n, code)->at, 0, 0 }, &fresh) < 0)
		return false;
	if (fresh)
		kmap_add(&u->v[u->of[code]].size, size);
	return true;
}

int kmap_units_init(struct kmap_units *u, const struct kmap_model *m,
		    const struct kmap_names *n, enum kmap_level level, struct atw_err *err)
{
	struct kmap_table seen;
	const char *why;
	bool ok = true;

	if (level >= KMAP_FILE && !kmap_names_files(n, &why))
		return atw_err_set(err, ATW_E_MISSING, "%s", why);
	*u = (struct kmap_units){ .level = level };
	kmap_table_init(&u->by_name, sizeof(struct kmap_key));
	u->of = calloc(m->code.n + 1, sizeof(*u->of));
	for (size_t i = 0; u->of && i < m->code.n; i++) {
		int64_t at = kmap_units_of(u, n, i);

		if (at < 0)
			return kmap_units_no(u, err);
		u->of[i] = (uint32_t)at;
	}
	u->n = u->by_name.n;
	u->v = calloc(u->n + 1, sizeof(*u->v));
	if (!u->of || !u->v)
		return kmap_units_no(u, err);
	kmap_table_init(&seen, sizeof(struct kmap_key));
	for (size_t i = 0; ok && i < m->code.n; i++) {
		const struct kmap_code *c = kmap_code(m, i);
		struct kmap_unit *v = &u->v[u->of[i]];

		v->name = (const char *)(uintptr_t)((struct kmap_key *)u->by_name.v)[u->of[i]].a;
		kmap_add(&v->reads, c->reads);
		kmap_add(&v->writes, c->writes);
		kmap_add(&v->frees, c->frees);
		v->instructions += c->reads || c->writes;
		ok = kmap_units_add_size(u, &seen, n, i);
	}
	kmap_table_deinit(&seen);
	return ok ? ATW_OK : kmap_units_no(u, err);
}

void kmap_units_deinit(struct kmap_units *u)
{
	kmap_table_deinit(&u->by_name);
	intern_deinit(&u->texts);
	free(u->of);
	free(u->v);
	*u = (struct kmap_units){ 0 };
}
