// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_places.c - source files, out of DWARF.
 *
 * Not every compiler lists which addresses are of which unit, but every unit says
 * it of itself. So the units' heads are read once and put in order.
 */
#include "kmap/lib/dwarf_places.h"

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/sorted.h"

struct dwarf_places_part {
	uint64_t first, end;
	size_t unit;
};

struct dwarf_places {
	int fd;
	Dwarf *dw;
	const char **unit;               /* their names, in the DWARF */
	size_t units, units_cap;
	struct dwarf_places_part *part; /* by address */
	size_t parts, parts_cap;
	size_t shared;                   /* so much of names that begin with / is the same */
};

static bool dwarf_places_add_unit(struct dwarf_places *p, Dwarf_Die *die,
				  const char *name)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	if (!ARRAY_ROOM(p->unit, p->units, p->units_cap))
		return false;
	p->unit[p->units] = name;
	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0) {
		if (from >= to)
			continue;
		if (!ARRAY_ROOM(p->part, p->parts, p->parts_cap))
			return false;
		p->part[p->parts++] = (struct dwarf_places_part){from, to, p->units};
	}
	p->units++;
	return true;
}

/* As many whole folders as all names that begin at the root have in common. */
static void dwarf_places_find_shared(struct dwarf_places *p)
{
	const char *first = NULL;

	for (size_t i = 0; i < p->units; i++) {
		const char *n = p->unit[i];
		size_t same = 0;

		if (*n != '/')
			continue;
		if (!first) {
			const char *slash = strrchr(n, '/');

			first = n;
			p->shared = (size_t)(slash - n) + 1;
			continue;
		}
		for (size_t k = 0; k < p->shared && n[k] == first[k]; k++)
			if (n[k] == '/')
				same = k + 1;
		p->shared = same;
	}
}

int dwarf_places_open(const char *path, struct dwarf_places **ret, struct atw_err *err)
{
	struct dwarf_places *p = calloc(1, sizeof(*p));
	Dwarf_Off at = 0, next;
	size_t header;
	bool ok = true;

	if (!p)
		return atw_err_nomem(err);
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p->fd >= 0)
		p->dw = dwarf_begin(p->fd, DWARF_C_READ);
	if (!p->dw) {
		atw_err_set(err, ATW_E_DAMAGED, "cannot read its DWARF: %s",
			    p->fd < 0 ? _("it cannot be opened") : dwarf_errmsg(-1));
		dwarf_places_close(p);
		return ATW_E_DAMAGED;
	}
	for (; ok && !dwarf_nextcu(p->dw, at, &next, &header, NULL, NULL, NULL); at = next) {
		Dwarf_Die die;
		const char *name;

		if (dwarf_offdie(p->dw, at + header, &die) && (name = dwarf_diename(&die)))
			ok = dwarf_places_add_unit(p, &die, name);
	}
	if (!ok) {
		dwarf_places_close(p);
		return atw_err_nomem(err);
	}
	if (p->parts)
		qsort(p->part, p->parts, sizeof(*p->part), sorted_by_u64);
	dwarf_places_find_shared(p);
	*ret = p;
	return ATW_OK;
}

const char *dwarf_places_file(struct dwarf_places *p, uint64_t address)
{
	size_t lo = SORTED_UP_TO(p->part, p->parts, first, address);
	bool in = lo && address < p->part[lo - 1].end;
	const char *name = in ? p->unit[p->part[lo - 1].unit] : NULL;

	if (name && *name == '/')
		return name + p->shared;
	while (name && *name == '.')
		name += !strncmp(name, "./", 2) ? 2 : !strncmp(name, "../", 3) ? 3 : strlen(name);
	return name && *name ? name : NULL;
}

void dwarf_places_close(struct dwarf_places *p)
{
	if (!p)
		return;
	if (p->dw)
		dwarf_end(p->dw);
	if (p->fd >= 0)
		close(p->fd);
	free(p->unit);
	free(p->part);
	free(p);
}

#else

#include <stddef.h>

int dwarf_places_open(const char *path, struct dwarf_places **ret, struct atw_err *err)
{
	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "files and lines are in its DWARF, and this build of atwalk lacks libdw");
	atw_err_hint(err, "build it with libdw (Debian: libdw-dev)");
	return ATW_E_UNSUPPORTED;
}

const char *dwarf_places_file(struct dwarf_places *p, uint64_t address)
{
	return NULL;
}

void dwarf_places_close(struct dwarf_places *p)
{
}

#endif
