/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c - zero-copy access to page tables of a source. */
#include "walk/memory.h"

enum mmu_loss memory_loss(struct atw_source *mem, atw_pa pa, ssize_t got)
{
	struct atw_extent e;

	if (got < 0)
		return ATW_LOST_DAMAGED;
	if (atw_extent_at(mem, pa, &e) == ATW_OK && e.start.u <= pa.u &&
	    e.kind == ATW_EXCLUDED)
		return ATW_LOST_EXCLUDED;
	return ATW_LOST;
}

size_t memory_copied(struct atw_source *mem, atw_pa pa, size_t len, void *scratch,
		     enum mmu_loss *loss, struct atw_err *err)
{
	ssize_t n = atw_read(mem, pa, scratch, len, err);

	if (n > 0)
		return (size_t)n;
	*loss = memory_loss(mem, pa, n);
	return 0;
}
