/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap_functions.h"

#include <string.h>

#include "kmap/objects.h"

struct known {
	struct kmap_key ip;
	const char *name;
};

int kmap_functions_init(struct kmap_functions *f, const struct kmap_symbols_opts *o, bool wanted,
			struct atw_err *err)
{
	*f = (struct kmap_functions){ .o = o, .wanted = wanted };
	kmap_table_init(&f->known, sizeof(struct known));
	return wanted ? kmap_symbols_open(o, &f->symbols, err) : ATW_OK;
}

void kmap_functions_deinit(struct kmap_functions *f)
{
	kmap_symbols_close(f->symbols);
	buf_deinit(&f->own.text);
	kmap_table_deinit(&f->known);
	intern_deinit(&f->texts);
}

int kmap_functions_header(struct kmap_functions *f, const struct kmap_record *rec,
			  struct atw_err *err)
{
	return !f->wanted || f->ready || kmap_own_symbols_header(&f->own, rec->u.header.key, rec->u.header.value)
		? ATW_OK : atw_err_set(err, ATW_E_NOMEM, "not enough memory for the symbols");
}

int kmap_functions_ready(struct kmap_functions *f, struct atw_err *err)
{
	f->ready = true;
	return f->wanted ? kmap_symbols_of(f->symbols, f->o, &f->own, err) : ATW_OK;
}

const char *kmap_functions_name(struct kmap_functions *f, uint64_t ip)
{
	struct atw_symbol sym;
	struct known *k;
	bool fresh;
	int64_t i;

	if (!f->wanted || !kmap_is_code(ip))
		return NULL;
	i = kmap_table_get(&f->known, (struct kmap_key){ ip, 0, 0 }, &fresh);
	if (i < 0)
		return NULL;
	k = (struct known *)f->known.v + i;
	if (fresh && kmap_symbols_near(f->symbols, ip, &sym))
		k->name = intern_text(&f->texts, sym.name, strlen(sym.name));
	return k->name;
}
