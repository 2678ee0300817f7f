// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modes.c - the list of paging modes, from modes.def.
 */
#include <string.h>

#include "paging/tables.h"

static const struct atw_paging *const modes[] = {
#define MODE(id) &atw_mode_##id,
#include "paging/modes.def"
#undef MODE
};

const struct atw_paging *atw_paging_at(size_t i)
{
	return i < sizeof(modes) / sizeof(modes[0]) ? modes[i] : NULL;
}

const struct atw_paging *atw_paging_find(const char *name)
{
	const struct atw_paging *pg;

	for (size_t i = 0; name && (pg = atw_paging_at(i)); i++)
		if (!strcmp(pg->name, name))
			return pg;
	return NULL;
}
