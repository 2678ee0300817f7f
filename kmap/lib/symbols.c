/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "linux/vmfile.h"

struct kmap_symbols {
	struct vmfile *symbols, *kernel;
	struct symtext own;              /* the recording's */
	bool have_own, all;
};

/* ---- those of a recording ---- */

/* "ADDR NAME", for symtext, which wants a letter between them. */
static bool kmap_symbols_add(struct kmap_own_symbols *s, struct atw_blob v)
{
	const char *p = v.data, *blank = v.len ? memchr(p, ' ', v.len) : NULL;
	uint64_t address;

	if (!blank || !num_hex(p, (size_t)(blank - p), &address))
		return true;
	buf_printf(&s->text, "%016" PRIx64 " t", address);
	buf_add(&s->text, blank, v.len - (size_t)(blank - p));
	buf_char(&s->text, '\n');
	s->n++;
	return !s->text.failed;
}

bool kmap_own_symbols_header(struct kmap_own_symbols *s, struct atw_blob key,
			     struct atw_blob value)
{
	if (blob_is(key, "symbol"))
		return kmap_symbols_add(s, value);
	if (blob_is(key, "symbols"))
		num_dec(value.data, value.len, &s->all);
	return true;
}

/* ---- opening ---- */

static int kmap_symbols_open_file(enum atw_param param, const char *path, bool need,
				  struct vmfile **ret, struct atw_err *err)
{
	int r = vmfile_open(path, ret, err);

	if (r == ATW_OK && need && !(*ret)->symbols) {
		vmfile_close(*ret);
		*ret = NULL;
		r = atw_err_set(err, ATW_E_MISSING, "%s: has no symbols", path);
	}
	if (r < 0) {
		atw_err_param(err, param);
		return r;
	}
	/* A KMAP's addresses are those of the file. */
	(*ret)->placed = true;
	return ATW_OK;
}

int kmap_symbols_open(const struct kmap_symbols_opts *o, struct kmap_symbols **ret,
		      struct atw_err *err)
{
	struct kmap_symbols *s = calloc(1, sizeof(*s));
	int r = ATW_OK;

	if (!s)
		return atw_err_nomem(err);
	if (o->symbols)
		r = kmap_symbols_open_file(ATW_PARAM_SYMBOLS, o->symbols, true,
					   &s->symbols, err);
	if (r == ATW_OK && o->kernel)
		r = kmap_symbols_open_file(ATW_PARAM_KERNEL_FILE, o->kernel, false,
					   &s->kernel, err);
	if (r < 0)
		kmap_symbols_close(s);
	else
		*ret = s;
	return r;
}

/*
 * Another kernel's file gives answers that look right and are wrong. A recording that
 * brings symbols shows it: of many names, most must lie where the file has them.
 */
static int kmap_symbols_check_file(const struct kmap_symbols *s, const struct vmfile *f,
				   enum atw_param param, const char *path,
				   struct atw_err *err)
{
	enum { ASKED = 64 };
	_auto_free struct symtext_symbol *own = malloc(ASKED * sizeof(*own));
	const char *name[ASKED];
	uint64_t at[ASKED];
	bool have[ASKED];
	uint32_t step = s->own.n / ASKED + 1, it;
	unsigned asked = 0, agree = 0, differ = 0, first = 0;

	if (!own)
		return atw_err_nomem(err);
	for (it = 0; asked < ASKED && symtext_next(&s->own, &it, &own[asked]) == ATW_OK;
	     it += step - 1) {
		name[asked] = own[asked].name;
		asked++;
	}
	vmfile_find_many(f, name, at, have, asked);
	for (unsigned i = 0; i < asked; i++) {
		agree += have[i] && at[i] == own[i].address;
		if (!have[i] || at[i] == own[i].address)
			continue;
		first = differ++ ? first : i;
	}
	if (differ > agree)
		atw_err_set_param(err, ATW_E_DAMAGED, param,
				  "%s: is of another kernel: %.100s is at 0x%" PRIx64
				  " in it, and at 0x%" PRIx64 " in the recording",
				  path, name[first], at[first], own[first].address);
	return differ > agree ? ATW_E_DAMAGED : ATW_OK;
}

/* Of those of the recording: the same one may stand in it again. */
static uint64_t symbols_different(const struct symtext *t)
{
	const char *text = t->text.data;
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct symtext_line *l = &t->line[t->order ? t->order[i] : i], *before;
		bool again = false;

		for (uint32_t k = i; k-- && !again; ) {
			before = &t->line[t->order ? t->order[k] : k];
			if (before->address != l->address)
				break;
			again = before->len == l->len &&
				!memcmp(text + before->at + before->name, text + l->at + l->name, l->len);
		}
		n += !again;
	}
	return n;
}

int kmap_symbols_of(struct kmap_symbols *s, const struct kmap_symbols_opts *o,
		    const struct kmap_own_symbols *own, struct atw_err *err)
{
	int r = ATW_OK;

	/* What it has of them may be nothing. */
	if (own->text.len)
		s->have_own = symtext_init(&s->own, (struct atw_blob){ own->text.data,
					   own->text.len }, NULL) == ATW_OK;
	s->all = own->all && s->have_own &&
		 (own->n == own->all || symbols_different(&s->own) == own->all);
	if (s->have_own && s->symbols)
		r = kmap_symbols_check_file(s, s->symbols, ATW_PARAM_SYMBOLS, o->symbols,
					    err);
	if (r == ATW_OK && s->have_own && s->kernel)
		r = kmap_symbols_check_file(s, s->kernel, ATW_PARAM_KERNEL_FILE,
					    o->kernel, err);
	return r;
}

void kmap_symbols_close(struct kmap_symbols *s)
{
	if (!s)
		return;
	symtext_deinit(&s->own);
	vmfile_close(s->symbols);
	vmfile_close(s->kernel);
	free(s);
}

/* ---- answers ---- */

bool kmap_symbols_any(const struct kmap_symbols *s)
{
	return s->symbols || s->have_own || (s->kernel && s->kernel->symbols);
}

bool kmap_symbols_dwarf(const struct kmap_symbols *s)
{
	return s->kernel && s->kernel->dwarf;
}

bool kmap_symbols_near(const struct kmap_symbols *s, uint64_t ip, struct lnx_symbol *ret)
{
	struct symtext_symbol own;

	if (s->symbols)
		return vmfile_near(s->symbols, ip, ret) == ATW_OK;
	if (s->kernel && s->kernel->symbols)
		return vmfile_near(s->kernel, ip, ret) == ATW_OK;
	if (!s->have_own || symtext_near(&s->own, ip, &own) < 0)
		return false;
	ret->address = own.address;
	/* With few of many symbols, the end of a function is unknown. */
	ret->size = s->all ? own.size : 0;
	memcpy(ret->name, own.name, sizeof(ret->name));
	return true;
}
