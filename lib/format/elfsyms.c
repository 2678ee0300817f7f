// SPDX-License-Identifier: GPL-2.0-or-later
/* elfsyms.c - sorted symbol table of an ELF file. */
#include "format/elfsyms.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/sorted.h"
#include "format/kallsyms.h"

enum {
	SYM = 24,
	SHN_ABS = 0xfff1,
	TYPE_SECTION = 3, TYPE_FILE = 4, TYPE_TLS = 6,
	LOCAL = 0, GLOBAL = 1, WEAK = 2,
	SYMBOLS_MAX = 32 * 1024 * 1024,
};

struct elfsyms_entry {
	const char *name;
	uint64_t value, size;
	uint16_t section;
	uint8_t kind, binding;
};

static struct elfsyms_entry elfsyms_entry_at(const struct elfsyms *s, uint32_t i)
{
	const uint8_t *p = (const uint8_t *)s->table.data + (size_t)i * SYM;
	uint32_t name = get_le32(p);

	return (struct elfsyms_entry){
		.name = name < s->strings.len ? (const char *)s->strings.data + name : "",
		.value = get_le64(p + 8), .size = get_le64(p + 16),
		.section = get_le16(p + 6), .kind = p[4] & 15, .binding = p[4] >> 4,
	};
}

/* scripts/mksysmap and scripts/kallsyms.c omit these as well. */
static bool elfsyms_is_symbol(const struct elfsyms_entry *e)
{
	return e->section && e->kind != TYPE_SECTION && e->kind != TYPE_FILE &&
	       e->kind != TYPE_TLS && *e->name && *e->name != '$' &&
	       strncmp(e->name, ".L", 2);
}

static char elfsyms_letter(const struct elfsyms *s, const struct elfsyms_entry *e)
{
	struct elfsec_section sec = elfsec_at(s->elf, e->section);
	char c = e->section == SHN_ABS         ? 'A' :
		 sec.flags & ELFSEC_EXEC       ? 'T' :
		 !(sec.flags & ELFSEC_ALLOC)   ? 'N' :
		 !(sec.flags & ELFSEC_WRITE)   ? 'R' :
		 sec.type == ELFSEC_NOBITS     ? 'B' : 'D';

	if (e->binding == WEAK)
		return 'W';
	return e->binding == LOCAL ? (char)(c | 0x20) : c;
}

/*
 * By address; at the same address global symbols first, then in the order of the table.
 */
static int elfsyms_by_address(const void *a, const void *b, void *arg)
{
	const struct elfsyms_place *x = a, *y = b;

	return ORDER(x->address, y->address) ?:
	       ORDER(elfsyms_entry_at(arg, y->entry).binding == GLOBAL,
		     elfsyms_entry_at(arg, x->entry).binding == GLOBAL) ?:
	       ORDER(x->entry, y->entry);
}

static int elfsyms_find_table(struct elfsyms *s, struct atw_err *err)
{
	struct elfsec_section table, names;
	int r;

	for (uint32_t i = 1;; i++) {
		if (i >= s->elf->n)
			return atw_err_set(err, ATW_E_MISSING, "has no symbols (no .symtab)");
		table = elfsec_at(s->elf, i);
		if (table.type == ELFSEC_SYMTAB)
			break;
	}
	if (table.entsize != SYM)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its symbols are %llu bytes each, and not %d",
				   (unsigned long long)table.entsize, SYM);
	names = elfsec_at(s->elf, table.link);
	r = elfsec_bytes(s->elf, &table, &s->table, err) ?:
	    elfsec_bytes(s->elf, &names, &s->strings, err);
	if (r < 0)
		return r;
	if (s->table.len / SYM > SYMBOLS_MAX)
		return atw_err_set(err, ATW_E_LIMIT, "has %zu symbols, more than any kernel",
				   s->table.len / SYM);
	s->all = (uint32_t)(s->table.len / SYM);
	while (s->strings.len && ((const char *)s->strings.data)[s->strings.len - 1])
		s->strings.len--;
	return ATW_OK;
}

int elfsyms_init(struct elfsyms *ret, const struct elfsec *elf, struct atw_err *err)
{
	struct elfsyms s = { .elf = elf };
	int r = elfsyms_find_table(&s, err);

	if (r < 0)
		return r;
	s.place = malloc((s.all + (size_t)1) * sizeof(*s.place));
	if (!s.place)
		return atw_err_nomem(err);
	for (uint32_t i = 0; i < s.all; i++) {
		struct elfsyms_entry e = elfsyms_entry_at(&s, i);

		if (elfsyms_is_symbol(&e))
			s.place[s.n++] = (struct elfsyms_place){ e.value, i };
	}
	if (!s.n) {
		free(s.place);
		return atw_err_set(err, ATW_E_MISSING, "has no symbols (.symtab is empty)");
	}
	qsort_r(s.place, s.n, sizeof(*s.place), elfsyms_by_address, &s);
	*ret = s;
	return ATW_OK;
}

void elfsyms_deinit(struct elfsyms *s)
{
	free(s->place);
	*s = (struct elfsyms){ 0 };
}

size_t elfsyms_find_many(const struct elfsyms *s, const char *const *names,
			 uint64_t *addr, bool *have, size_t n)
{
	bool first[256] = { false };
	size_t found = 0;

	memset(have, 0, n * sizeof(*have));
	for (size_t i = 0; i < n; i++)
		first[(unsigned char)names[i][0]] = true;
	/*
	 * Local symbols precede global ones in every table, so a later global one
	 * replaces them.
	 */
	for (uint32_t i = 0; i < s->all; i++) {
		struct elfsyms_entry e = elfsyms_entry_at(s, i);

		if (!first[(unsigned char)*e.name] || !elfsyms_is_symbol(&e))
			continue;
		for (size_t k = 0; k < n; k++) {
			if ((have[k] && e.binding == LOCAL) || strcmp(names[k], e.name))
				continue;
			found += !have[k];
			have[k] = true;
			addr[k] = e.value;
		}
	}
	return found;
}

/* The number of symbols at or below this address. */
static uint32_t elfsyms_up_to(const struct elfsyms *s, uint64_t address)
{
	return (uint32_t)SORTED_UP_TO(s->place, s->n, address, address);
}

/* The size in the table, of any symbol at the address; labels have none. */
static uint64_t elfsyms_own_size(const struct elfsyms *s, uint32_t from, uint32_t to)
{
	uint64_t size = 0;

	for (uint32_t i = from; i < to && !size; i++)
		size = elfsyms_entry_at(s, s->place[i].entry).size;
	return size;
}

int elfsyms_near(const struct elfsyms *s, uint64_t address, struct elfsyms_symbol *ret)
{
	struct elfsyms_symbol sym;
	uint32_t above = elfsyms_up_to(s, address), first;
	struct elfsyms_entry e;
	uint64_t own;

	if (!above)
		return ATW_E_MISSING;
	sym.address = s->place[above - 1].address;
	first = sym.address ? elfsyms_up_to(s, sym.address - 1) : 0;
	e = elfsyms_entry_at(s, s->place[first].entry);
	sym.type = elfsyms_letter(s, &e);
	sym.name = e.name;
	sym.size = kallsyms_size_max(sym.type);
	if (above < s->n && s->place[above].address - sym.address < sym.size)
		sym.size = s->place[above].address - sym.address;
	if (address - sym.address >= sym.size)
		return ATW_E_MISSING;
	/*
	 * The address may be padding behind the symbol, which is still attributed to it.
	 */
	own = elfsyms_own_size(s, first, above);
	if (own && own < sym.size)
		sym.size = own;
	*ret = sym;
	return ATW_OK;
}

int elfsyms_next(const struct elfsyms *s, uint32_t *it, struct elfsyms_symbol *ret)
{
	struct elfsyms_entry e;

	if (*it >= s->n)
		return ATW_END;
	e = elfsyms_entry_at(s, s->place[(*it)++].entry);
	*ret = (struct elfsyms_symbol){ e.value, e.size, elfsyms_letter(s, &e), e.name };
	return ATW_OK;
}
