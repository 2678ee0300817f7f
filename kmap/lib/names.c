/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/names.h"

#include "kmap/lib/dwarf_places.h"
#include "base/message.h"

struct kmap_names {
	const struct kmap_model *m;
	struct kmap_symbols *symbols;
	struct dwarf_places *places;
	char why[600];                   /* there are no files */
	struct kmap_name *entry;         /* one an instruction */
	size_t found;
	struct intern texts;
};

/* ---- names as they are shown ---- */

static bool names_ends_in_digits(const char *s, size_t len, size_t *ret)
{
	size_t n = len;

	while (n && s[n - 1] >= '0' && s[n - 1] <= '9')
		n--;
	*ret = n;
	return n < len;
}

static bool names_strip(const char *s, size_t *len, const char *end)
{
	size_t n = strlen(end);

	if (*len <= n || memcmp(s + *len - n, end, n) != 0)
		return false;
	*len -= n;
	return true;
}

size_t kmap_plain_name(const char *name, size_t len)
{
	static const char *const numbered[] = { ".part.", ".constprop.", ".isra.", ".llvm." };

	for (bool again = true; again;) {
		size_t n;

		again = names_strip(name, &len, ".cold") ||
			names_strip(name, &len, "_noprof");
		if (!names_ends_in_digits(name, len, &n))
			continue;
		for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++)
			if (names_strip(name, &n, numbered[i])) {
				len = n;
				again = true;
				break;
			}
		/* ".cold.3", as older compilers have it. */
		if (names_strip(name, &n, ".cold.")) {
			len = n;
			again = true;
		}
	}
	return len;
}

/* ---- opening ---- */

static int names_open_places(struct kmap_names *n, const char *path, struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r;

	if (!path) {
		snprintf(n->why, sizeof(n->why),
			 _("files and folders are not known: that needs a vmlinux with debug information"));
		return ATW_OK;
	}
	if (!kmap_symbols_dwarf(n->symbols)) {
		snprintf(n->why, sizeof(n->why),
			 _("files and folders are not known: %.400s has no debug information (DWARF)"), path);
		return ATW_OK;
	}
	r = dwarf_places_open(path, &n->places, &why);
	if (r == ATW_E_UNSUPPORTED) {
		snprintf(n->why, sizeof(n->why), _("files and folders are not known: %s"), why.text);
		return ATW_OK;
	}
	if (r < 0)
		atw_err_set_param(err, r, ATW_PARAM_KERNEL_FILE, "%s: %s", path, why.text);
	return r;
}

static int names_resolve(struct kmap_names *n, struct atw_err *err)
{
	_auto_free struct lnx_symbol *sym = malloc(sizeof(*sym));

	n->entry = calloc(n->m->code.n + 1, sizeof(*n->entry));
	for (size_t i = 0; sym && n->entry && i < n->m->code.n; i++) {
		uint64_t ip = kmap_code(n->m, i)->key.a;
		struct kmap_name *e = &n->entry[i];

		if (n->places)
			e->file = dwarf_places_file(n->places, ip);
		if (!kmap_symbols_near(n->symbols, ip, sym))
			continue;
		e->function = intern_text(&n->texts, sym->name, strlen(sym->name));
		e->at = sym->address;
		e->size = sym->size;
		n->found++;
		if (!e->function)
			return atw_err_nomem(err);
	}
	return sym && n->entry ? ATW_OK : atw_err_nomem(err);
}

int kmap_names_open(const struct kmap_symbols_opts *o, const struct kmap_model *m,
		    struct kmap_names **ret, struct atw_err *err)
{
	struct kmap_names *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return atw_err_nomem(err);
	n->m = m;
	r = kmap_symbols_open(o, &n->symbols, err) ?:
	    kmap_symbols_of(n->symbols, o, &m->symbols, err) ?:
	    names_open_places(n, o->kernel, err) ?:
	    names_resolve(n, err);
	if (r < 0)
		kmap_names_close(n);
	else
		*ret = n;
	return r;
}

void kmap_names_close(struct kmap_names *n)
{
	if (!n)
		return;
	dwarf_places_close(n->places);
	kmap_symbols_close(n->symbols);
	intern_deinit(&n->texts);
	free(n->entry);
	free(n);
}

/* ---- answers ---- */

bool kmap_names_symbols(const struct kmap_names *n)
{
	return kmap_symbols_any(n->symbols);
}

bool kmap_names_files(const struct kmap_names *n, const char **why)
{
	if (why)
		*why = n->why;
	return n->places;
}

void kmap_names_found(const struct kmap_names *n, size_t *found, size_t *all)
{
	*found = n->found;
	*all = n->m->code.n;
}

const struct kmap_name *kmap_name(const struct kmap_names *n, size_t code)
{
	return &n->entry[code];
}

const char *kmap_place(const struct kmap_names *n, size_t code, char buf[600])
{
	const struct kmap_name *e = &n->entry[code];
	uint64_t ip = kmap_code(n->m, code)->key.a;

	if (e->function)
		snprintf(buf, 600, "%s+0x%" PRIx64, e->function, ip - e->at);
	else
		snprintf(buf, 600, "0x%" PRIx64, ip);
	return buf;
}
