/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap_functions.h"

#include "base/bytes.h"
#include "base/num.h"
#include "base/sorted.h"
#include "kmap/lib/objects.h"

struct kmap_cli_functions_known {
	struct kmap_key ip;
	const char *name;
};

struct function {
	uint64_t at;
	const char *name;
};

enum {
	TAIL = 512,              /* functions that are not sorted in yet, at most */
	COMPARED = 16,           /* symbols to compare; most must match the files */
	FARTHEST = 1 << 20,      /* in a function, from its beginning */
	MOST = 1 << 19,          /* more than any kernel has */
};

int kmap_functions_init(struct kmap_functions *f, const struct kmap_symbols_opts *o, bool wanted,
			struct atw_err *err)
{
	*f = (struct kmap_functions){ .o = o, .wanted = wanted, .files = o->symbols || o->kernel };
	kmap_table_init(&f->known, sizeof(struct kmap_cli_functions_known));
	return wanted ? kmap_symbols_open(o, &f->symbols, err) : ATW_OK;
}

void kmap_functions_deinit(struct kmap_functions *f)
{
	kmap_symbols_close(f->symbols);
	buf_deinit(&f->own.text);
	free(f->function);
	kmap_table_deinit(&f->known);
	intern_deinit(&f->texts);
}

/* ---- those of the recording, which come as they are needed ---- */

/* Number of sorted functions that begin at or before `ip`. */
static size_t functions_up_to(const struct kmap_functions *f, uint64_t ip)
{
	return SORTED_UP_TO(f->function, f->sorted, at, ip);
}

/* Names are interned: the same one is the same pointer. */
static bool functions_has(const struct kmap_functions *f, uint64_t at, const char *name)
{
	for (size_t i = functions_up_to(f, at); i-- && f->function[i].at == at; )
		if (f->function[i].name == name)
			return true;
	return false;
}

static bool functions_add(struct kmap_functions *f, struct atw_blob v)
{
	const char *p = v.data, *blank = v.len ? memchr(p, ' ', v.len) : NULL, *name;
	uint64_t at;

	if (!blank || !num_hex(p, (size_t)(blank - p), &at) || f->nfunctions == MOST)
		return true;
	name = intern_text(&f->texts, blank + 1, v.len - (size_t)(blank - p) - 1);
	if (!name ||
	    !array_reserve((void **)&f->function, &f->room, f->nfunctions + 1, sizeof(*f->function)))
		return false;
	if (!functions_has(f, at, name))
		f->function[f->nfunctions++] = (struct function){ at, name };
	return true;
}

/* Functions at the same address keep their order. */
static void functions_merge(struct kmap_functions *f)
{
	for (size_t i = f->sorted; i < f->nfunctions; i++) {
		struct function one = f->function[i];
		size_t low = f->sorted +
			     SORTED_UP_TO(f->function + f->sorted, i - f->sorted, at,
					  one.at);

		memmove(&f->function[low + 1], &f->function[low], (i - low) * sizeof(one));
		f->function[low] = one;
	}
	/* Both are sorted: from the end, into room behind them. */
	if (f->sorted && f->nfunctions > f->sorted) {
		size_t n = f->nfunctions - f->sorted, a = f->sorted, to = f->nfunctions;
		struct function tail[TAIL];

		memcpy(tail, f->function + f->sorted, n * sizeof(*tail));
		while (n)
			f->function[--to] = a && f->function[a - 1].at > tail[n - 1].at
					    ? f->function[--a] : tail[--n];
	}
	f->sorted = f->nfunctions;
}

static const char *functions_near(const struct kmap_functions *f, uint64_t ip)
{
	const struct function *best = NULL;
	size_t low = functions_up_to(f, ip);

	while (low > 1 && f->function[low - 2].at == f->function[low - 1].at)
		low--;
	if (low)
		best = &f->function[low - 1];
	for (size_t i = f->sorted; i < f->nfunctions; i++)
		if (f->function[i].at <= ip && (!best || f->function[i].at > best->at))
			best = &f->function[i];
	/* Where only few names are known, the end of a function is not: limit it. */
	return best && ip - best->at < FARTHEST ? best->name : NULL;
}

/* ---- all of them ---- */

int kmap_functions_header(struct kmap_functions *f, const struct kmap_record *rec,
			  struct atw_err *err)
{
	bool fine = true;

	if (!f->wanted)
		return ATW_OK;
	if (f->files && !f->compared)
		fine = kmap_own_symbols_header(&f->own, rec->u.header.key, rec->u.header.value);
	if (!f->files && blob_is(rec->u.header.key, "symbol")) {
		if (f->nfunctions - f->sorted == TAIL)
			functions_merge(f);
		fine = functions_add(f, rec->u.header.value);
	}
	return fine ? ATW_OK : atw_err_set(err, ATW_E_NOMEM, "not enough memory for the symbols");
}

int kmap_functions_ready(struct kmap_functions *f, bool last, struct atw_err *err)
{
	if (!f->wanted || !f->files || f->compared || (f->own.n < COMPARED && !last))
		return ATW_OK;
	f->compared = true;
	return kmap_symbols_of(f->symbols, f->o, &f->own, err);
}

bool kmap_functions_any(const struct kmap_functions *f)
{
	return f->nfunctions || kmap_symbols_any(f->symbols);
}

const char *kmap_functions_name(struct kmap_functions *f, uint64_t ip)
{
	struct lnx_symbol sym;
	struct kmap_cli_functions_known *k;
	bool fresh;

	if (!f->wanted || !kmap_is_code(ip))
		return NULL;
	k = kmap_table_elem(&f->known, (struct kmap_key){ ip, 0, 0 }, &fresh);
	if (!k)
		return NULL;
	if (fresh && !f->files)
		k->name = functions_near(f, ip);
	else if (fresh && kmap_symbols_near(f->symbols, ip, &sym))
		k->name = intern_text(&f->texts, sym.name, strlen(sym.name));
	return k->name;
}
