// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_needs.c - required members and types from DWARF.
 *
 * A kernel's DWARF repeats types thousands of times, once per source file, and has no
 * index that every build contains. So names that are not in its string table are not
 * searched; source files that define rare types come first; and the search ends as soon
 * as everything is found.
 */

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "linux/needs.h"

enum { DEPTH = 16 };

struct dwarf_needs_hunt {
	Dwarf *dw;
	/*
	 * there: the string table contains the name; id: the type's offset, value: its
	 * tag; of an enumerator, its value.
	 */
	struct name_index types, consts;
	size_t types_left, consts_left;  /* not found yet */
};

/* ---- required names ---- */

/* Need i of needs_at() is a member, a size or a constant, by its index. */
static bool dwarf_want_all(struct dwarf_needs_hunt *h)
{
	static const struct needs none;

	for (size_t i = 0; i < N_MEMBERS + N_SIZES + N_CONSTS; i++) {
		struct name_index *l = i < N_MEMBERS + N_SIZES ? &h->types : &h->consts;

		if (!wanted_add(l, needs_at(&none, i).names, 0))
			return false;
	}
	wanted_settle(&h->types);
	wanted_settle(&h->consts);
	return true;
}

/*
 * Linkers merge a string with the tail of a longer one. Names of up to three letters are
 * stored in the entries themselves, being as short as a reference.
 */
static void dwarf_mark_there(struct name_index *l, const char *s, size_t len)
{
	for (size_t i = 0; i < l->n; i++) {
		struct name_entry *w = &l->v[i];
		size_t n = strlen(w->name);

		if (!w->there && n <= len && s[len - 1] == w->name[n - 1] &&
		    !memcmp(s + len - n, w->name, n))
			w->there = true;
	}
}

/* If the strings were not read (`read` 0), any name may exist. */
static size_t dwarf_count_there(const struct name_index *l, Dwarf_Off read)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->v[i].there || strlen(l->v[i].name) < 4 || !read;
	return n;
}

static void dwarf_look_at_strings(struct dwarf_needs_hunt *h)
{
	Dwarf_Off off = 0;
	const char *s;
	size_t len;

	while ((s = dwarf_getstring(h->dw, off, &len))) {
		if (len) {
			dwarf_mark_there(&h->types, s, len);
			dwarf_mark_there(&h->consts, s, len);
		}
		off += len + 1;
	}
	h->types_left = dwarf_count_there(&h->types, off);
	h->consts_left = dwarf_count_there(&h->consts, off);
}

/* ---- compilation units ---- */

/* data1 of an unsigned enum must not be sign-extended. */
static bool dwarf_value_of(Dwarf_Die *enumerator, int64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Sword s;
	Dwarf_Word u;

	if (!dwarf_attr(enumerator, DW_AT_const_value, &a))
		return false;
	if (dwarf_whatform(&a) == DW_FORM_sdata ||
	    dwarf_whatform(&a) == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&a, &s))
			return false;
		*ret = s;
	} else {
		if (dwarf_formudata(&a, &u))
			return false;
		*ret = (int64_t)u;
	}
	return true;
}

static void dwarf_on_enum(struct dwarf_needs_hunt *h, Dwarf_Die *type)
{
	Dwarf_Die e;

	for (int r = dwarf_child(type, &e); !r; r = dwarf_siblingof(&e, &e)) {
		const char *name = dwarf_tag(&e) == DW_TAG_enumerator ? dwarf_diename(&e) : NULL;
		struct name_entry *w = name ? wanted_find(&h->consts, name) : NULL;

		if (w && !w->have && dwarf_value_of(&e, &w->value)) {
			w->have = true;
			h->consts_left -= h->consts_left > 0;
		}
	}
}

static void dwarf_on_type(struct dwarf_needs_hunt *h, Dwarf_Die *die, int tag)
{
	const char *name = dwarf_diename(die);
	struct name_entry *w = name ? wanted_find(&h->types, name) : NULL;

	if (!w || dwarf_hasattr(die, DW_AT_declaration))
		return;
	/* A struct has precedence over a typedef of the same name. */
	if (w->have && (tag != DW_TAG_structure_type || w->value == DW_TAG_structure_type))
		return;
	h->types_left -= !w->have && h->types_left > 0;
	w->id = dwarf_dieoffset(die);
	w->value = tag;
	w->have = true;
}

static void dwarf_look_at_unit(struct dwarf_needs_hunt *h, Dwarf_Off at)
{
	Dwarf_Die unit, die;

	if (!dwarf_offdie(h->dw, at, &unit))
		return;
	for (int r = dwarf_child(&unit, &die); !r; r = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_enumeration_type && h->consts_left)
			dwarf_on_enum(h, &die);
		else if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
			 tag == DW_TAG_typedef)
			dwarf_on_type(h, &die, tag);
	}
}

/* Source files that define, or at least use, rare types. */
static bool dwarf_is_early(const char *name)
{
	static const char *const files[] = {
		"kernel/fork.c", "fs/namespace.c", "mm/mmap.c", "mm/vma.c", "mm/madvise.c",
		"mm/slub.c", "mm/slab_common.c", "mm/slab.c", "mm/swapfile.c",
		"mm/swap_state.c", "mm/page_alloc.c", "mm/memory.c", "mm/hugetlb.c",
		"mm/sparse.c", "mm/memory_hotplug.c", "lib/maple_tree.c", "fs/file_table.c",
		"fs/proc/task_mmu.c", "drivers/dma-buf/dma-buf.c", "fs/hugetlbfs/inode.c",
	};
	size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		size_t n = strlen(files[i]);

		if (len >= n && !strcmp(name + len - n, files[i]) &&
		    (len == n || name[len - n - 1] == '/'))
			return true;
	}
	return false;
}

static int dwarf_look_at_all(struct dwarf_needs_hunt *h, struct atw_err *err)
{
	_auto_free Dwarf_Off *rest = NULL;
	size_t cap = 0, n = 0, header;
	Dwarf_Off at = 0, next;

	for (; !dwarf_nextcu(h->dw, at, &next, &header, NULL, NULL, NULL); at = next) {
		Dwarf_Die unit;

		if (!dwarf_offdie(h->dw, at + header, &unit))
			continue;
		if (dwarf_is_early(dwarf_diename(&unit))) {
			dwarf_look_at_unit(h, at + header);
			continue;
		}
		if (!ARRAY_ROOM(rest, n, cap))
			return atw_err_nomem(err);
		rest[n++] = at + header;
	}
	for (size_t i = 0; i < n && (h->types_left || h->consts_left); i++)
		dwarf_look_at_unit(h, rest[i]);
	return ATW_OK;
}

/* ---- results ---- */

static bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, ret) &&
	       !dwarf_peel_type(ret, ret);
}

/* In bits; `bits`: of a bit field its width, else 0. */
static bool dwarf_place_of(Dwarf_Die *member, uint64_t *ret, unsigned *bits)
{
	Dwarf_Attribute a;
	Dwarf_Word u;
	Dwarf_Op *op;
	size_t n;

	*ret = *bits = 0;
	if (dwarf_attr(member, DW_AT_bit_size, &a)) {
		if (dwarf_formudata(&a, &u) || !u || u > 64)
			return false;
		*bits = (unsigned)u;
		/* Before DWARF 4, they were counted from the other end. */
		if (dwarf_hasattr(member, DW_AT_bit_offset) ||
		    (dwarf_attr(member, DW_AT_data_bit_offset, &a) && dwarf_formudata(&a, &u)))
			return false;
		*ret = dwarf_hasattr(member, DW_AT_data_bit_offset) ? u : 0;
		return true;
	}
	if (!dwarf_attr(member, DW_AT_data_member_location, &a))
		return true;             /* of a union */
	if (!dwarf_formudata(&a, &u))
		*ret = 8 * u;
	else if (!dwarf_getlocation(&a, &op, &n) && n == 1 && op->atom == DW_OP_plus_uconst)
		*ret = 8 * op->number;
	else
		return false;
	return true;
}

/* By path, in the type itself or in anonymous members; `off` and `bits` as above. */
static bool dwarf_find_member(Dwarf_Die *type, const char *path, unsigned depth,
			      uint64_t *off, unsigned *bits, Dwarf_Die *ret)
{
	size_t len = strcspn(path, ".");
	Dwarf_Die m, inner;
	uint64_t at;

	for (int r = depth < DEPTH ? dwarf_child(type, &m) : 1; !r; r = dwarf_siblingof(&m, &m)) {
		const char *name = dwarf_diename(&m);
		int tag;

		if (dwarf_tag(&m) != DW_TAG_member || (name && (strncmp(name, path, len) || name[len])))
			continue;
		if (!dwarf_place_of(&m, &at, bits) || !dwarf_type_of(&m, &inner)) {
			if (name)
				return false;
			continue;
		}
		tag = dwarf_tag(&inner);
		if (name && !path[len]) {
			*off += at;
			*ret = inner;
			return true;
		}
		if (tag != DW_TAG_structure_type && tag != DW_TAG_union_type)
			continue;
		*off += at;
		if (dwarf_find_member(&inner, name ? path + len + 1 : path,
				      depth + 1, off, bits, ret))
			return true;
		*off -= at;
	}
	return false;
}

/* The required type behind typedefs. */
static bool dwarf_wanted_type(const struct dwarf_needs_hunt *h, const char *name,
			      Dwarf_Die *ret)
{
	struct name_entry *w = wanted_find(&h->types, name);

	return w && w->have && dwarf_offdie(h->dw, w->id, ret) && !dwarf_peel_type(ret, ret);
}

static void dwarf_set_member(struct needs *n, const struct dwarf_needs_hunt *h, size_t i)
{
	char path[128];

	for (const char *p = needs_at(n, i).names; (p = wanted_alternative(p, path, sizeof(path)));) {
		char *dot = strchr(path, '.');
		Dwarf_Die type, m;
		unsigned bits = 0;
		uint64_t off = 0;
		Dwarf_Word size;

		if (!dot)
			continue;
		*dot = 0;
		if (!dwarf_wanted_type(h, path, &type) ||
		    !dwarf_find_member(&type, dot + 1, 0, &off, &bits, &m))
			continue;
		if (bits && needs_set_bits(n, i, off, bits))
			return;
		if (bits || off % 8 || off / 8 >= NEED_NONE)
			continue;
		n->member[i] = (uint32_t)(off / 8);
		n->width[i] = !dwarf_aggregate_size(&m, &size) &&
			(size == 1 || size == 2 || size == 4 || size == 8) ? (uint8_t)size : 0;
		return;
	}
}

static void dwarf_set_size(struct needs *n, const struct dwarf_needs_hunt *h, size_t i)
{
	char name[128];

	for (const char *p = needs_at(n, N_MEMBERS + i).names;
	     (p = wanted_alternative(p, name, sizeof(name)));) {
		Dwarf_Die type;
		Dwarf_Word size;

		if (dwarf_wanted_type(h, name, &type) &&
		    !dwarf_aggregate_size(&type, &size) && size < NEED_NONE) {
			n->size[i] = (uint32_t)size;
			return;
		}
	}
}

static void dwarf_set_const(struct needs *n, const struct dwarf_needs_hunt *h, size_t i)
{
	char name[128];

	for (const char *p = needs_at(n, N_MEMBERS + N_SIZES + i).names;
	     (p = wanted_alternative(p, name, sizeof(name)));) {
		struct name_entry *w = wanted_find(&h->consts, name);

		if (w && w->have) {
			n->constant[i] = w->value;
			n->have_const[i] = true;
			return;
		}
	}
}

static int dwarf_answer(struct needs *n, struct dwarf_needs_hunt *h,
			uint32_t *types, struct atw_err *err)
{
	Dwarf_Die task;
	int r;

	if (!dwarf_want_all(h))
		return atw_err_nomem(err);
	dwarf_look_at_strings(h);
	r = dwarf_look_at_all(h, err);
	if (r < 0)
		return r;
	if (!dwarf_wanted_type(h, "task_struct", &task))
		return atw_err_set(err, ATW_E_MISSING,
				   "its DWARF describes no task_struct: it is no kernel's, or it is kept in other files (CONFIG_DEBUG_INFO_SPLIT)");
	*types = 0;
	for (size_t i = 0; i < h->types.n; i++)
		*types += h->types.v[i].have;
	for (size_t i = 0; i < N_MEMBERS; i++)
		dwarf_set_member(n, h, i);
	for (size_t i = 0; i < N_SIZES; i++)
		dwarf_set_size(n, h, i);
	for (size_t i = 0; i < N_CONSTS; i++)
		dwarf_set_const(n, h, i);
	n->types = true;
	return ATW_OK;
}

int needs_from_dwarf(struct needs *n, const char *path, uint32_t *types,
		     struct atw_err *err)
{
	_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dwarf_needs_hunt h = {0};
	int r;

	if (fd >= 0)
		h.dw = dwarf_begin(fd, DWARF_C_READ);
	if (!h.dw)
		return atw_err_set(err, ATW_E_DAMAGED, "its DWARF cannot be read: %s",
				   fd < 0 ? _("it cannot be opened") : dwarf_errmsg(-1));
	r = dwarf_answer(n, &h, types, err);
	wanted_deinit(&h.types);
	wanted_deinit(&h.consts);
	dwarf_end(h.dw);
	return r;
}

#else

#include "linux/needs.h"

int needs_from_dwarf(struct needs *n, const char *path, uint32_t *types,
		     struct atw_err *err)
{
	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "has its types as DWARF only, and this build of atwalk lacks libdw");
	atw_err_hint(err, "build it with libdw (Debian: libdw-dev), or give the kernel's BTF: pahole -J makes it of DWARF");
	return ATW_E_UNSUPPORTED;
}

#endif
