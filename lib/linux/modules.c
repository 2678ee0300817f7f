/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.c - the types that loaded modules describe: BTF with ids and strings that
 * continue those of the kernel. The kernel keeps a list of them (kernel/bpf/btf.c,
 * btf_modules).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "linux/kernel.h"

enum {
	MODULES_MAX = 4096,
	MODULE_BTF_MAX = 16 * 1024 * 1024,
	ALL_BTF_MAX = 256 * 1024 * 1024,
};

struct modules_entry {
	struct atw_module_types types;
	uint64_t at, size;       /* of its BTF in the kernel's memory */
	bool counted;            /* types.count is known */
};

struct kernel_modules {
	struct modules_entry *v;
	size_t n, cap;
	uint64_t bytes;          /* of BTF that was read */
};

static int modules_btf(struct kmem *m, const struct btf *base, const struct modules_entry *e,
		       struct btf *ret, struct atw_err *err)
{
	struct atw_blob blob;

	if (!e->size || e->size > MODULE_BTF_MAX)
		return atw_err_set(err, ATW_E_DAMAGED, "its types have %" PRIu64 " bytes", e->size);
	return kmem_blob(m, e->at, e->size, &blob, err) ?: btf_init_split(ret, base, blob, err);
}

static int modules_one(struct atw_kernel *k, struct kmem *m, uint64_t at,
		       struct modules_entry *ret, struct atw_err *err)
{
	const struct needs *n = &k->needs;
	struct modules_entry e = { .counted = false };
	uint32_t size = 0;
	uint64_t btf;
	int r = kmem_u64(m, at + n->member[N_btfmod_btf], &btf, err) ?:
		kmem_text(m, btf + n->member[N_btf_name], e.types.name, sizeof(e.types.name),
			  err) ?:
		kmem_u64(m, btf + n->member[N_btf_data], &e.at, err) ?:
		kmem_u32(m, btf + n->member[N_btf_data_size], &size, err);

	e.size = size;
	if (r == ATW_OK)
		*ret = e;
	return r;
}

/* Its BTF may be unreadable, and that of all modules is megabytes. */
static int modules_count(struct atw_kernel *k, struct modules_entry *e, struct atw_err *err)
{
	const struct btf *base = NULL;
	struct btf b = { 0 };
	struct kmem *m = NULL;
	int r = kernel_btf(k, &base, err) ?: kernel_kmem(k, &m, err);

	if (r < 0)
		return r;
	if (k->modules->bytes + e->size > ALL_BTF_MAX)
		return atw_err_set(err, ATW_E_LIMIT, "they have more than %d bytes of types",
				   ALL_BTF_MAX);
	k->modules->bytes += e->size;
	if (modules_btf(m, base, e, &b, NULL) == ATW_OK)
		e->types.count = b.n - b.first;
	btf_deinit(&b);
	e->counted = true;
	return ATW_OK;
}

static int modules_find(struct atw_kernel *k, struct atw_err *err)
{
	struct kernel_modules *all = k->modules = calloc(1, sizeof(*all));
	const struct needs *n = kernel_needs(k);
	uint64_t head = n->symbol[Y_btf_modules], at = head, next = head, last = head, back;
	struct kmem *m = NULL;
	int r;

	if (!all)
		return atw_err_nomem(err);
	r = kernel_kmem(k, &m, err);
	if (r < 0)
		return r;
	if (!head || n->member[N_btfmod_list] == NEED_NONE || n->member[N_btfmod_btf] == NEED_NONE ||
	    n->member[N_btf_data] == NEED_NONE || n->member[N_btf_data_size] == NEED_NONE ||
	    n->member[N_btf_name] == NEED_NONE)
		return atw_err_set(err, ATW_E_MISSING, "this kernel has no list of modules with types (btf_modules)");
	r = kmem_u64(m, head, &at, err);
	for (; r == ATW_OK && at != head; last = at, at = next) {
		/* A list in which every back link is verified returns to its head. */
		r = kmem_u64(m, at + 8, &back, err);
		if (r == ATW_OK && back != last)
			r = atw_err_set(err, ATW_E_DAMAGED,
					"their list is broken: 0x%" PRIx64 " leads to 0x%" PRIx64
					", and that one back to 0x%" PRIx64, last, at, back);
		if (r < 0)
			break;
		if (all->n == MODULES_MAX)
			return atw_err_set(err, ATW_E_DAMAGED, "their list has no end");
		if (!ARRAY_ROOM(all->v, all->n, all->cap))
			return atw_err_nomem(err);
		r = modules_one(k, m, at - n->member[N_btfmod_list], &all->v[all->n], err);
		all->n += r == ATW_OK;
		if (r == ATW_OK)
			r = kmem_u64(m, at, &next, err);
	}
	return r;
}

int atw_kernel_module_types(struct atw_kernel *k, size_t i,
			    struct atw_module_types *ret, struct atw_err *err)
{
	int r = kernel_given(k, err) ?:
		sought_once(&k->sought_modules, k, modules_find, err);

	/* Those before a break in the list are known. */
	if (k && k->modules && i < k->modules->n) {
		struct modules_entry *e = &k->modules->v[i];
		int counted = e->counted ? ATW_OK : modules_count(k, e, err);

		if (counted == ATW_OK)
			*ret = e->types;
		return counted;
	}
	return r < 0 ? r : ATW_END;
}

int kernel_module_btf(struct atw_kernel *k, const char *name, struct btf *ret,
		      struct atw_err *err)
{
	int r = sought_once(&k->sought_modules, k, modules_find, err);
	const struct btf *base = NULL;
	struct kmem *m;

	for (size_t i = 0; k->modules && i < k->modules->n; i++) {
		if (strcmp(k->modules->v[i].types.name, name))
			continue;
		return kernel_btf(k, &base, err) ?: kernel_kmem(k, &m, err) ?:
		       modules_btf(m, base, &k->modules->v[i], ret, err);
	}
	return r < 0 ? r : atw_err_set(err, ATW_E_MISSING, "no module '%s' with types is loaded", name);
}

void kernel_modules_close(struct kernel_modules *m)
{
	if (!m)
		return;
	free(m->v);
	free(m);
}
