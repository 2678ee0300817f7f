/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.c - the types that loaded modules describe: BTF with ids and strings that
 * continue those of the kernel. The kernel keeps a list of them (kernel/bpf/btf.c,
 * btf_modules).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "linux/kernel.h"

enum {
	MODULES_MAX = 4096,
	MODULE_BTF_MAX = 16 * 1024 * 1024,
	ALL_BTF_MAX = 256 * 1024 * 1024,
};

struct kernel_modules {
	struct atw_module_types *v;
	size_t n, cap;
	uint64_t bytes;          /* of BTF that was read */
};

/* An element of the list; its BTF may be unreadable. */
static int modules_one(struct atw_kernel *k, struct kmem *m, const struct btf *base,
		       uint64_t at, struct atw_module_types *ret, struct atw_err *err)
{
	struct kernel_modules *all = k->modules;
	const struct needs *n = &k->needs;
	uint64_t btf, data = 0;
	uint32_t size = 0;
	struct atw_blob blob;
	struct btf b = { 0 };
	int r = kmem_u64(m, at + n->member[N_btfmod_btf], &btf, err) ?:
		kmem_text(m, btf + n->member[N_btf_name], ret->name, sizeof(ret->name),
			  err) ?:
		kmem_u64(m, btf + n->member[N_btf_data], &data, err) ?:
		kmem_u32(m, btf + n->member[N_btf_data_size], &size, err);

	if (r < 0)
		return r;
	ret->count = 0;
	if (all->bytes + size > ALL_BTF_MAX)
		return atw_err_set(err, ATW_E_LIMIT, "they have more than %d bytes of types",
				   ALL_BTF_MAX);
	all->bytes += size;
	if (size && size <= MODULE_BTF_MAX && kmem_blob(m, data, size, &blob, NULL) == ATW_OK &&
	    btf_init_split(&b, base, blob, NULL) == ATW_OK)
		ret->count = b.n - b.first;
	btf_deinit(&b);
	return ATW_OK;
}

static int modules_find(struct atw_kernel *k, struct atw_err *err)
{
	struct kernel_modules *all = k->modules = calloc(1, sizeof(*all));
	const struct needs *n = kernel_needs(k);
	const struct btf *base = NULL;
	uint64_t head = n->symbol[Y_btf_modules], at = head, next = head, last = head, back;
	struct kmem *m;
	int r = all ? kernel_kmem(k, &m, err) : atw_err_nomem(err);

	if (r == ATW_OK)
		r = kernel_btf(k, &base, err);
	if (r < 0)
		return r;
	if (!head || n->member[N_btfmod_list] == NEED_NONE || n->member[N_btfmod_btf] == NEED_NONE ||
	    n->member[N_btf_data] == NEED_NONE || n->member[N_btf_data_size] == NEED_NONE ||
	    n->member[N_btf_name] == NEED_NONE)
		return atw_err_set(err, ATW_E_MISSING, "this kernel has no list of them (btf_modules)");
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
		r = modules_one(k, m, base, at - n->member[N_btfmod_list],
				&all->v[all->n], err);
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
		*ret = k->modules->v[i];
		return ATW_OK;
	}
	return r < 0 ? r : ATW_END;
}

void kernel_modules_close(struct kernel_modules *m)
{
	if (!m)
		return;
	free(m->v);
	free(m);
}
