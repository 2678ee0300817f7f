/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.c - symbols of the kernel: its own kallsyms, then the file of --kernel.
 *
 * Since 6.0 VMCOREINFO has the addresses of the tables. In older kernels they are found
 * in the image by their structure. In both cases the address of _stext verifies them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "format/kallsyms.h"
#include "linux/kernel.h"
#include "linux/search.h"
#include "linux/vmfile.h"
#include "walk/memory.h"

struct kernel_symbols {
	struct kallsyms tables;
	char *image;             /* copy of the part with an older kernel's tables, or NULL */
	char from[400];
};

/* Limit above that of any kernel; bytes behind a table are read and not used. */
#define TABLE_MAX (UINT64_C(16) << 20)
#define IMAGE_MAX (UINT64_C(64) << 20)
enum { SYMBOLS_MAX = 8 * 1024 * 1024, PIECE = 1024 * 1024, WINDOW = 8 * PIECE };

/* ---- addresses from VMCOREINFO ---- */

enum symbols_table { NAMES, TOKENS, INDEX, OFFSETS, NUM, BASE, TABLES };

static const char *const table_keys[TABLES] = {
	[NAMES] = "SYMBOL(kallsyms_names)",
	[TOKENS] = "SYMBOL(kallsyms_token_table)",
	[INDEX] = "SYMBOL(kallsyms_token_index)",
	[OFFSETS] = "SYMBOL(kallsyms_offsets)",
	[NUM] = "SYMBOL(kallsyms_num_syms)",
	[BASE] = "SYMBOL(kallsyms_relative_base)",
};

/* At most up to the next table, so that a table cannot extend into another. */
static int symbols_table_blob(struct kmem *m, const uint64_t *va, enum symbols_table t,
			      uint64_t max, struct atw_blob *ret, struct atw_err *err)
{
	for (unsigned i = 0; i < TABLES; i++)
		if (va[i] > va[t] && va[i] - va[t] < max)
			max = va[i] - va[t];
	return kmem_blob_upto(m, va[t], max, ret, err);
}

/* Since 6.0: where the tables are. */
static int symbols_table_addresses(const struct atw_kernel *k, uint64_t *va, bool *absolute,
				   struct atw_err *err)
{
	for (unsigned i = 0; i < TABLES; i++)
		atw_vmcoreinfo_u64(&k->vi, table_keys[i], &va[i]);
	if (!va[OFFSETS] &&
	    atw_vmcoreinfo_u64(&k->vi, "SYMBOL(kallsyms_addresses)", &va[OFFSETS]) == ATW_OK)
		*absolute = true;
	for (unsigned i = 0; i < BASE; i++)
		if (!va[i])
			return atw_err_set(err, ATW_E_MISSING,
					   "VMCOREINFO lacks the address of the kernel's symbols (no %s)",
					   table_keys[i]);
	return ATW_OK;
}

static int symbols_at(struct atw_kernel *k, struct kmem *m, const uint64_t *va, bool absolute,
		      struct kernel_symbols *s, struct atw_err *err)
{
	struct kallsyms_tables t = { .absolute = absolute };
	int r = ATW_OK;

	t.has_base = va[BASE];
	t.offsets_va = va[OFFSETS];
	t.anchor = k->stext;
	r = kmem_u32(m, va[NUM], &t.num, err);
	if (r == ATW_OK && t.num > SYMBOLS_MAX)
		r = atw_err_set(err, ATW_E_DAMAGED, "kallsyms_num_syms is %u", t.num);
	if (r == ATW_OK && t.has_base)
		r = kmem_u64(m, va[BASE], &t.base, err);
	if (r == ATW_OK)
		r = symbols_table_blob(m, va, NAMES, TABLE_MAX, &t.names, err) ?:
		    symbols_table_blob(m, va, TOKENS, 65536, &t.tokens, err) ?:
		    symbols_table_blob(m, va, INDEX, 512, &t.index, err) ?:
		    symbols_table_blob(m, va, OFFSETS,
				       (uint64_t)t.num * (t.absolute ? 8 : 4), &t.offsets,
				       err) ?:
		    kallsyms_init(&s->tables, &t, err);
	if (r == ATW_OK)
		snprintf(s->from, sizeof(s->from), "kallsyms at 0x%" PRIx64, va[NAMES]);
	return r;
}

/* ---- search by structure ---- */

/*
 * Part of the kernel's image, which is physically contiguous. Missing parts are zero: tables
 * do not consist of zeroes.
 */
struct symbols_window {
	struct atw_blob bytes;
	atw_pa pa;               /* of the first byte */
	uint64_t va;
};

static void symbols_read_image(struct atw_source *mem, atw_pa pa, char *to, uint64_t len)
{
	uint64_t off = 0;

	memset(to, 0, len);
	while (off < len) {
		/* In parts: an unreadable page only loses its part. */
		ssize_t got = atw_read(mem, ATW_PA(pa.u + off), to + off,
				       len - off < PIECE ? len - off : PIECE, NULL);

		off = got > 0 ? off + (uint64_t)got : (off | 4095) + 1;
	}
}

/* So many of the bytes does the source have. */
static uint64_t symbols_image_data(struct atw_source *mem, atw_pa pa, uint64_t len)
{
	struct atw_extent e;
	uint64_t off = 0, sum = 0;

	while (off < len && atw_extent_at(mem, ATW_PA(pa.u + off), &e) == ATW_OK) {
		uint64_t n = e.len && e.len < len - off ? e.len : len - off;

		sum += e.kind == ATW_DATA ? n : 0;
		off += n;
	}
	return sum;
}

static int symbols_locate(struct atw_kernel *k, const struct symbols_window *w,
			  struct kallsyms_tables *ret, struct atw_err *err)
{
	/*
	 * On some kernels the first task yields the start of the image, while arm64's
	 * text begins 64 KiB later (SEGMENT_ALIGN).
	 */
	uint64_t later = k->stext + 65536;
	int r = kallsyms_locate(w->bytes, w->va, k->stext, ret, err);

	if (r == ATW_E_MISSING && !k->have_vi &&
	    kallsyms_locate(w->bytes, w->va, later, ret, err) == ATW_OK) {
		k->stext = later;
		r = ATW_OK;
	}
	return r;
}

/*
 * A window of `size` moves over the image by half of it: finds tables of half its size. Where
 * the source has nothing, nothing is copied and searched.
 */
static int symbols_locate_in(struct atw_kernel *k, struct kernel_symbols *s, atw_pa pa,
			     uint64_t max, uint64_t size, struct symbols_window *w,
			     struct kallsyms_tables *ret, struct atw_err *err)
{
	uint64_t va = k->stext, have = 0;
	int r = ATW_E_MISSING;

	size = size < max ? size : max;
	free(s->image);
	s->image = malloc(size);
	if (!s->image)
		return atw_err_nomem(err);
	for (uint64_t off = 0;; off += size / 2) {
		uint64_t len = max - off < size ? max - off : size;
		bool any = symbols_image_data(k->mem, ATW_PA(pa.u + off), len);

		if (any && len > have)
			symbols_read_image(k->mem, ATW_PA(pa.u + off + have), s->image + have,
					   len - have);
		*w = (struct symbols_window){ { s->image, len }, ATW_PA(pa.u + off), va + off };
		if (any)
			r = symbols_locate(k, w, ret, err);
		if (r == ATW_OK || len == max - off)
			return r;
		have = any ? size - size / 2 : 0;
		memmove(s->image, s->image + size / 2, have);
	}
}

/*
 * Memory behind the image is searched as well, except on a running machine. A copy of the
 * whole image is made only for tables that are larger than those of common kernels.
 */
static int symbols_locate_tables(struct atw_kernel *k, struct kernel_symbols *s, atw_pa pa,
				 struct symbols_window *w, struct kallsyms_tables *ret,
				 struct atw_err *err)
{
	const void *p = memory_lent(k->mem, pa, IMAGE_MAX, NULL);
	uint64_t start, end, max = IMAGE_MAX;
	int r;

	if (p) {
		*w = (struct symbols_window){ { p, IMAGE_MAX }, pa, k->stext };
		return symbols_locate(k, w, ret, err);
	}
	if (search_live_image(k->mem, &start, &end) && end > pa.u && end - pa.u < max)
		max = end - pa.u;
	r = symbols_locate_in(k, s, pa, max, WINDOW, w, ret, err);
	if (r == ATW_OK || symbols_image_data(k->mem, pa, max) <= WINDOW / 2)
		return r;
	return symbols_locate_in(k, s, pa, max, max, w, ret, err);
}

/*
 * The search covered the whole image, and found the tables and, next to them, the number
 * of symbols and the base of the addresses.
 */
static void symbols_emit_tables(struct kmem *m, const struct symbols_window *w,
				const struct kallsyms_tables *t)
{
	const struct atw_blob *parts[] = { &t->names, &t->tokens, &t->index, &t->offsets };
	uint64_t lo = w->bytes.len, hi = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t from = (uint64_t)((const char *)parts[i]->data -
					   (const char *)w->bytes.data);

		lo = from < lo ? from : lo;
		hi = from + parts[i]->len > hi ? from + parts[i]->len : hi;
	}
	lo -= lo < 16 ? lo : 16;
	kmem_touch(m, ATW_PA(w->pa.u + lo), hi + 16 - lo);
}

static int symbols_by_looks(struct atw_kernel *k, struct kmem *m,
			    struct kernel_symbols *s, struct atw_err *err)
{
	struct kallsyms_tables t;
	struct symbols_window w;
	uint64_t start, end;
	atw_pa pa;
	int r;

	if (!k->stext || (atw_source_is_here(k->mem) &&
			  !search_live_image(k->mem, &start, &end)))
		return ATW_E_MISSING;
	r = kmem_physical(m, k->stext, &pa, err) ?:
	    symbols_locate_tables(k, s, pa, &w, &t, err) ?:
	    kallsyms_init(&s->tables, &t, err);
	if (r == ATW_OK)
		symbols_emit_tables(m, &w, &t);
	if (r == ATW_OK)
		snprintf(s->from, sizeof(s->from), "kallsyms, found in the kernel's image");
	return r;
}

/* ---- lookup ---- */

static int symbols_find(struct atw_kernel *k, struct atw_err *err)
{
	struct kernel_symbols *s = k->symbols = calloc(1, sizeof(*s));
	uint64_t va[TABLES] = { 0 };
	bool absolute = false;
	struct kmem *m;
	int r;

	if (!s)
		return atw_err_nomem(err);
	if (!k->stext)
		return atw_err_set(err, ATW_E_MISSING,
				   "without VMCOREINFO the kernel's symbols are not found");
	r = kernel_kmem(k, &m, err);
	if (r < 0)
		return r;
	r = k->have_vi ? symbols_table_addresses(k, va, &absolute, err)
		       : atw_err_set(err, ATW_E_MISSING,
				     "the kernel's symbols cannot be found");
	/* What is at known addresses and is missing there is nowhere else. */
	if (r == ATW_OK)
		r = symbols_at(k, m, va, absolute, s, err);
	else if (symbols_by_looks(k, m, s, NULL) == ATW_OK)
		r = ATW_OK;
	if (r == ATW_OK && k->vmfile && k->vmfile->symbols)
		snprintf(s->from + strlen(s->from), sizeof(s->from) - strlen(s->from),
			 "; what it lacks from %s", k->vmfile->from);
	return r;
}

static int symbols(struct atw_kernel *k, const struct kallsyms **ret, struct atw_err *err)
{
	int r = sought_once(&k->sought_symbols, k, symbols_find, err);

	if (r == ATW_OK)
		*ret = &k->symbols->tables;
	return r;
}

/*
 * VMCOREINFO has the address of most symbols, but for a pointer that may also be an array
 * it has the value (VMCOREINFO_SYMBOL_ARRAY).
 */
static bool symbols_in_vmcoreinfo(const struct atw_kernel *k, const char *name,
				  uint64_t *ret)
{
	char key[128];

	if (!k->have_vi || strlen(name) > 100 || !strcmp(name, "mem_section") ||
	    !strcmp(name, "vmemmap"))
		return false;
	snprintf(key, sizeof(key), "SYMBOL(%s)", name);
	return atw_vmcoreinfo_u64(&k->vi, key, ret) == ATW_OK;
}

int kernel_symbol(struct atw_kernel *k, const char *name, uint64_t *ret,
		  struct atw_err *err)
{
	const struct vmfile *f = k->vmfile;
	const struct kallsyms *ks = NULL;
	bool file = f && f->symbols && f->placed;
	int r;

	if (symbols_in_vmcoreinfo(k, name, ret))
		return ATW_OK;
	r = symbols(k, &ks, err);
	if (r == ATW_OK && kallsyms_find(ks, name, strlen(name), ret) == ATW_OK)
		return ATW_OK;
	if (file && vmfile_symbol(f, name, ret) == ATW_OK)
		return ATW_OK;
	if (file)
		return atw_err_set(err, ATW_E_MISSING,
				   r == ATW_OK ? "neither the kernel's symbols nor those of %s have %s"
					       : "of the symbols of %s none is called %s",
				   k->file, name);
	if (r != ATW_OK)
		return r;
	return atw_err_set(err, ATW_E_MISSING, "none of the kernel's %u symbols is called %s",
			   ks->t.num, name);
}

int atw_kernel_symbol(struct atw_kernel *k, const char *name, uint64_t *ret,
		      struct atw_err *err)
{
	int r = kernel_given(k, err);

	return r < 0 ? r : kernel_symbol(k, name, ret, err);
}

static void symbols_give(const struct kallsyms_symbol *s, struct lnx_symbol *ret)
{
	ret->address = s->address;
	ret->size = s->size;
	ret->type = s->type;
	memcpy(ret->name, s->name, sizeof(ret->name));
}

/*
 * Kernels without CONFIG_KALLSYMS_ALL only list text: to kallsyms the first data belong
 * to the last function. Of the symbols of kallsyms and of the file, the nearer one is
 * correct.
 */
int atw_kernel_symbol_at(struct atw_kernel *k, uint64_t address,
			 struct lnx_symbol *ret, struct atw_err *err)
{
	const struct kallsyms *ks = NULL;
	struct kallsyms_symbol s;
	struct lnx_symbol theirs;
	int r = kernel_given(k, err);
	bool ours;

	if (r < 0)
		return r;
	r = symbols(k, &ks, err);
	ours = r == ATW_OK && kallsyms_near(ks, address, &s) == ATW_OK;

	if (k->vmfile && vmfile_near(k->vmfile, address, &theirs) == ATW_OK &&
	    (!ours || theirs.address > s.address)) {
		*ret = theirs;
		return ATW_OK;
	}
	if (r < 0 && !k->vmfile)
		return r;
	if (!ours)
		return atw_err_set(err, ATW_E_MISSING, "no symbol is known at 0x%" PRIx64, address);
	symbols_give(&s, ret);
	return ATW_OK;
}

int kernel_symbols_each(struct atw_kernel *k, kernel_symbol_fn *fn, void *arg,
			struct atw_err *err)
{
	struct kallsyms_iter it = { 0 };
	struct kallsyms_symbol s;
	const struct kallsyms *ks = NULL;
	int r = symbols(k, &ks, err);

	while (r == ATW_OK && kallsyms_next(ks, &it, &s) == ATW_OK)
		r = fn(arg, &s);
	return r;
}

/* ---- all of them ---- */

struct symbols_listing {
	atw_kernel_symbol_fn *fn;
	void *arg;
	struct atw_err *err;
	struct table *seen;      /* by name and address; NULL: the file has no others */
};

static uint64_t symbols_key(const char *name, uint64_t address)
{
	return hash_bytes(address, name, strlen(name));
}

static int symbols_list(void *arg, const struct kallsyms_symbol *sym)
{
	const struct symbols_listing *l = arg;
	struct lnx_symbol s;

	symbols_give(sym, &s);
	if (l->seen && !table_put(l->seen, symbols_key(s.name, s.address), 1))
		return atw_err_nomem(l->err);
	return l->fn(l->arg, &s, l->err);
}

int atw_kernel_symbols_each(struct atw_kernel *k, atw_kernel_symbol_fn *fn, void *arg,
			    struct atw_err *err)
{
	struct table seen = { 0 };
	struct symbols_listing l = { .fn = fn, .arg = arg, .err = err };
	const struct kallsyms *ks = NULL;
	struct lnx_symbol s;
	uint32_t at = 0;
	int r = kernel_given(k, err), own;
	bool file = r == ATW_OK && k->vmfile && k->vmfile->symbols && k->vmfile->placed;

	if (r < 0)
		return r;
	own = symbols(k, &ks, file ? NULL : err);
	if (own != ATW_OK && !file)
		return own;
	l.seen = file ? &seen : NULL;
	if (own == ATW_OK)
		r = kernel_symbols_each(k, symbols_list, &l, err);
	while (r == ATW_OK && file && vmfile_next(k->vmfile, &at, &s) == ATW_OK)
		if (!table_find(&seen, symbols_key(s.name, s.address)))
			r = fn(arg, &s, err);
	table_deinit(&seen);
	return r;
}

/* Look up the rest in the file. */
static void symbols_many_in_file(const struct vmfile *f, const char *const *names,
				 uint64_t *ret, bool *have, size_t n)
{
	_auto_free uint64_t *addr = calloc(n + 1, sizeof(*addr));
	_auto_free bool *found = calloc(n + 1, sizeof(*found));

	if (!addr || !found)
		return;
	vmfile_symbols_many(f, names, addr, found, n);
	for (size_t i = 0; i < n; i++)
		if (!have[i] && found[i]) {
			have[i] = true;
			ret[i] = addr[i];
		}
}

/* All of them in one pass, because the table is long. */
void kernel_symbols_many(struct atw_kernel *k, const char *const *names,
			 uint64_t *ret, bool *have, size_t n)
{
	const struct kallsyms *ks = NULL;

	memset(have, 0, n * sizeof(*have));
	if (symbols(k, &ks, NULL) == ATW_OK)
		kallsyms_find_many(ks, names, ret, have, n);
	if (k->vmfile)
		symbols_many_in_file(k->vmfile, names, ret, have, n);
	for (size_t i = 0; i < n; i++)
		if (!have[i])
			have[i] = symbols_in_vmcoreinfo(k, names[i], &ret[i]);
}

const char *atw_kernel_symbols_from(struct atw_kernel *k, uint32_t *count,
				    struct atw_err *err)
{
	const struct kallsyms *ks = NULL;

	if (kernel_given(k, err) < 0)
		return NULL;
	if (symbols(k, &ks, err) != ATW_OK) {
		if (!k->vmfile || !k->vmfile->symbols || !k->vmfile->placed)
			return NULL;
		*count = vmfile_count(k->vmfile);
		return k->vmfile->from;
	}
	*count = ks->t.num;
	return k->symbols->from;
}

void kernel_symbols_close(struct kernel_symbols *s)
{
	if (!s)
		return;
	kallsyms_deinit(&s->tables);
	free(s->image);
	free(s);
}
