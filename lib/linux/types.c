/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types.c - the kernel's own types: BTF in its image.
 *
 * If the kernel has symbols of data, one has the address. Otherwise BTF is found by its
 * header; the image is contiguous, so only it is searched, and all of memory if that
 * fails. RAM may contain BTF of modules, of programs and of another kernel: accepted BTF
 * must be complete and describe types that every kernel has. The file of --kernel is used
 * if the source has none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linux/needs.h"
#include "linux/kernel.h"
#include "linux/search.h"
#include "linux/vmfile.h"

struct kernel_types {
	struct btf btf;
	char *copy;              /* NULL: borrowed */
	uint32_t dwarf;          /* no BTF: types found in the file's DWARF */
	char from[240];
	unsigned tried;          /* candidates that were checked */
};

enum { BTF_MAX = 256 * 1024 * 1024 };

/* BTF of a kernel describes task_struct. `index`: of types numbered before. */
static int types_try_numbered(struct kernel_types *t, struct atw_blob blob,
			      struct atw_blob index, struct atw_err *err)
{
	struct btf b;
	uint32_t off;
	int r = index.len ? btf_init_numbered(&b, blob, index, err) : btf_init(&b, blob, err);

	if (r < 0)
		return r;
	r = btf_offset(&b, "task_struct", "tasks", &off, err);
	if (r < 0) {
		btf_deinit(&b);
		return r;
	}
	t->btf = b;
	return ATW_OK;
}

static int types_try_blob(struct kernel_types *t, struct atw_blob blob,
			  struct atw_err *err)
{
	return types_try_numbered(t, blob, (struct atw_blob){NULL, 0}, err);
}

static int types_by_symbol(struct atw_kernel *k, struct kernel_types *t,
			   struct atw_err *err)
{
	static const char *const names[2] = { "__start_BTF", "__stop_BTF" };
	uint64_t at[2] = { 0 }, start, stop;
	struct atw_blob blob;
	struct kmem *m;
	bool have[2];
	int r = kernel_kmem(k, &m, err);

	/* The table of symbols is long, so one pass looks up both. */
	kernel_symbols_many(k, names, at, have, 2);
	for (unsigned i = 0; i < 2 && r == ATW_OK; i++)
		if (!have[i])
			r = kernel_symbol(k, names[i], &at[i], err);
	if (r != ATW_OK)
		return r;
	start = at[0];
	stop = at[1];
	if (stop <= start || stop - start > BTF_MAX)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "__start_BTF 0x%" PRIx64 " and __stop_BTF 0x%" PRIx64 " enclose no types",
				   start, stop);
	r = kmem_blob(m, start, stop - start, &blob, err);
	if (r < 0)
		return r;
	if (types_try_blob(t, blob, err) < 0) {
		atw_err_wrap(err, "the kernel's types at 0x%" PRIx64 " (__start_BTF)", start);
		/*
		 * The symbol has this address, so the failure is reported if this is not
		 * BTF.
		 */
		return err->status = ATW_E_DAMAGED;
	}
	snprintf(t->from, sizeof(t->from), "BTF at 0x%" PRIx64 " (__start_BTF)", start);
	return ATW_OK;
}

/* A candidate with a header of BTF. */
static int types_on_signature(void *arg, atw_pa at, struct search *s)
{
	struct kernel_types *t = arg;
	uint64_t len = search_types_length(s, at);
	char *copy;

	if (!len)
		return 0;
	if (t->tried++ == SEARCH_TYPES_TRIES)
		return ATW_E_LIMIT;
	copy = malloc(len);
	if (!copy)
		return ATW_E_NOMEM;
	if (search_read(s, at, copy, len) == len &&
	    types_try_blob(t, (struct atw_blob){copy, len}, NULL) == ATW_OK) {
		t->copy = copy;
		snprintf(t->from, sizeof(t->from), "BTF in memory at 0x%" PRIx64
			 ", by its signature", at.u);
		return 1;
	}
	free(copy);
	return 0;
}

/* Types from the file of --kernel. */
static int types_by_file(struct atw_kernel *k, struct kernel_types *t,
			 struct atw_err *err)
{
	int r = types_try_blob(t, k->vmfile->btf, err);

	if (r < 0) {
		atw_err_wrap(err, "%s: BTF", k->file);
		return r;
	}
	snprintf(t->from, sizeof(t->from), "BTF in %.120s%s", k->file,
		 k->vmfile->matched ? "" : "; not verified to match this kernel");
	return ATW_OK;
}

static int types_find(struct atw_kernel *k, struct atw_err *err)
{
	const struct vmfile *f = k->vmfile && k->vmfile->btf.len ? k->vmfile : NULL;
	struct kernel_types *t = k->types = calloc(1, sizeof(*t));
	struct atw_err named = { 0 };
	struct atw_blob blob, index = { NULL, 0 };
	int r;

	if (!t)
		return atw_err_nomem(err);
	atw_fact(k->mem, "btf.index", &index);
	/*
	 * Mapped, or read once; via kernel memory it would need symbols first, and a
	 * copy.
	 */
	if (atw_fact(k->mem, "btf", &blob) == ATW_OK &&
	    types_try_numbered(t, blob, index, NULL) == ATW_OK) {
		snprintf(t->from, sizeof(t->from), "the running kernel's BTF");
		return ATW_OK;
	}
	if (types_by_symbol(k, t, &named) == ATW_OK)
		return ATW_OK;
	/* A file that matches this kernel is more reliable than a search in memory. */
	if (f && f->matched)
		return types_by_file(k, t, err);
	r = search_kernel(k, search_types, sizeof(search_types), SEARCH_TYPES_ALIGN,
			  types_on_signature, t);
	if (r > 0)
		return ATW_OK;
	if (r == ATW_E_NOMEM)
		return atw_err_nomem(err);
	if (f)
		return types_by_file(k, t, err);
	if (r < 0)
		return atw_err_set(err, r,
				   "no types of the kernel were found (BTF): too much in memory begins like them");
	if (named.status == ATW_E_DAMAGED)
		return atw_err_set(err, ATW_E_DAMAGED, "%s", named.text);
	return atw_err_set(err, ATW_E_MISSING,
			   "no types of the kernel were found (BTF: the kernel was built without, or the source lacks it)");
}

int kernel_btf(struct atw_kernel *k, const struct btf **ret, struct atw_err *err)
{
	int r = sought_once(&k->sought_types, k, types_find, err);

	if (r == ATW_OK)
		*ret = &k->types->btf;
	return r;
}

const char *atw_kernel_types_from(struct atw_kernel *k, uint32_t *count,
				  struct atw_err *err)
{
	const struct btf *b = NULL;

	if (kernel_given(k, err) < 0)
		return NULL;
	kernel_needs(k);                 /* DWARF is searched only for required types */
	if (k->types && k->types->dwarf) {
		*count = k->types->dwarf;
		return k->types->from;
	}
	if (kernel_btf(k, &b, err) < 0 || !b)
		return NULL;
	*count = b->n - 1;
	return k->types->from;
}

void kernel_types_close(struct kernel_types *t)
{
	if (!t)
		return;
	btf_deinit(&t->btf);
	free(t->copy);
	free(t);
}

/* ---- all requirements of needs.def ---- */

/* Earlier alternatives have precedence. */
static void types_need_symbols(struct atw_kernel *k)
{
	enum { MAX = N_SYMBOLS * 3 };
	static const char none[] = "";
	char text[MAX][64];
	const char *name[MAX];
	uint64_t at[MAX];
	bool have[MAX];
	uint16_t owner[MAX];
	size_t n = 0;

	for (unsigned i = 0; i < N_SYMBOLS; i++)
		for (const char *p = needs_symbol_names(i); *p && n < MAX; n++) {
			size_t len = strcspn(p, "|");

			snprintf(text[n], sizeof(text[n]), "%.*s", (int)len, p);
			name[n] = text[n];
			owner[n] = (uint16_t)i;
			p = p[len] ? p + len + 1 : none;
		}
	kernel_symbols_many(k, name, at, have, n);
	k->needs.symbols = k->sought_symbols.err.status == ATW_OK;
	for (size_t i = n; i--;)
		if (have[i])
			k->needs.symbol[owner[i]] = at[i];
}

/* No BTF: use DWARF of the file, if it has any. */
static void types_need_dwarf(struct atw_kernel *k)
{
	struct atw_err *err = &k->sought_types.err;

	if (!k->types || !k->vmfile || !k->vmfile->dwarf)
		return;
	if (needs_from_dwarf(&k->needs, k->file, &k->types->dwarf, err) < 0) {
		atw_err_wrap(err, "%s", k->file);
		k->needs.why = err;
		return;
	}
	snprintf(k->types->from, sizeof(k->types->from), "DWARF in %.120s", k->file);
}

const struct needs *kernel_members(struct atw_kernel *k)
{
	const struct btf *b = NULL;

	if (!k->needs_done) {
		k->needs_done = true;
		if (kernel_recalled_needs(k, &k->needs)) {
			k->symbols_done = k->needs.symbols;
			return &k->needs;
		}
		kernel_btf(k, &b, NULL);
		needs_from_types(&k->needs, b);
		if (!b && k->sought_types.err.status == ATW_E_DAMAGED)
			k->needs.why = &k->sought_types.err;
		if (!b)
			types_need_dwarf(k);
	}
	return &k->needs;
}

const struct needs *kernel_needs(struct atw_kernel *k)
{
	kernel_members(k);
	if (!k->symbols_done) {
		k->symbols_done = true;
		types_need_symbols(k);
	}
	return &k->needs;
}

int atw_kernel_need(struct atw_kernel *k, size_t i, struct atw_need *ret)
{
	struct need_info info;

	if (i >= needs_count())
		return ATW_END;
	info = needs_at(kernel_needs(k), i);
	*ret = (struct atw_need){
		.kind = info.kind, .names = info.names,
		.serves = needs_for_name(info.serves), .must = info.must,
		.have = info.have,
	};
	return ATW_OK;
}
