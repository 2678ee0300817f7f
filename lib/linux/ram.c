/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ram.c - the resource tree below iomem_resource: kernel/resource.c. */
#include "linux/machine.h"

#include <inttypes.h>
#include <string.h>

/* Damaged trees may contain themselves. */
enum { RESOURCES = 65536, DEPTH = 16 };

/* "System RAM", or "System RAM (NAME)" for memory that the driver NAME plugged in. */
static bool ram_is(struct atw_kernel *k, uint64_t at)
{
	static const char ram[] = "System RAM";
	uint64_t name = 0;
	char text[32];

	return kernel_member(k, at, N_resource_name, &name) && name &&
	       kmem_text(k->kmem, name, text, sizeof(text), NULL) == ATW_OK &&
	       !strncmp(text, ram, sizeof(ram) - 1) &&
	       (!text[sizeof(ram) - 1] || !strncmp(text + sizeof(ram) - 1, " (", 2));
}

static int ram_add(struct atw_kernel *k, uint64_t at, struct extents *x,
		   struct atw_err *err)
{
	uint64_t first = 0, last = 0;

	if (!kernel_member(k, at, N_resource_start, &first) ||
	    !kernel_member(k, at, N_resource_end, &last) || last <= first || last == UINT64_MAX)
		return ATW_OK;
	return extents_add(x, first, last - first + 1, 0, ATW_DATA, err);
}

static int ram_all(struct atw_kernel *k, uint64_t root, struct extents *x,
		   struct atw_err *err)
{
	uint64_t at[DEPTH] = { root }, next;
	unsigned depth = 1, seen = 0;
	int r = ATW_OK;

	/* at[] is the path from the root; after an entry comes its sibling. */
	while (depth && r == ATW_OK && seen++ < RESOURCES) {
		uint64_t now = at[depth - 1];

		if (ram_is(k, now))
			r = ram_add(k, now, x, err);
		at[depth - 1] = 0;
		if (depth > 1 && kernel_member(k, now, N_resource_sibling, &next))
			at[depth - 1] = next;
		if (depth < DEPTH && kernel_member(k, now, N_resource_child, &next) && next)
			at[depth++] = next;
		while (depth && !at[depth - 1])
			depth--;
	}
	return r;
}

/*
 * RAM of a running guest, without the kernel's symbols for data: what the process of the
 * virtual machine has for it, in memory or not.
 */
static int ram_of_guest(struct atw_source *mem, struct extents *x, struct atw_err *err)
{
	struct atw_extent e;
	uint64_t at = 0, start = 0, end = 0, va;
	uint32_t pid;
	int r = ATW_OK;

	while (r == ATW_OK && atw_extent_at(mem, ATW_PA(at), &e) == ATW_OK && e.len) {
		at = e.start.u + e.len;
		if (e.kind == ATW_NONE || atw_source_outside(mem, e.start, &pid, &va) != ATW_OK)
			continue;
		if (e.start.u != end) {
			r = end > start ? extents_add(x, start, end - start, 0, ATW_DATA, err) : r;
			start = e.start.u;
		}
		end = at;
	}
	return r == ATW_OK && end > start ? extents_add(x, start, end - start, 0, ATW_DATA, err)
					  : r;
}

int kernel_ram(struct atw_kernel *k, struct extents *ret, struct atw_err *err)
{
	uint64_t root = kernel_needs(k)->symbol[Y_iomem];
	struct extents x = { 0 };
	struct kmem *m;
	int r;

	r = root ? kernel_kmem(k, &m, err) ?: ram_all(k, root, &x, err)
		 : ram_of_guest(k->mem, &x, err);
	if (r == ATW_OK && !x.n && !root)
		r = atw_err_set(err, ATW_E_MISSING, "no symbol iomem_resource");
	else if (r == ATW_OK && !x.n)
		r = atw_err_set(err, ATW_E_MISSING, "iomem_resource at 0x%" PRIx64
				" leads to no System RAM", root);
	if (r == ATW_OK)
		r = extents_build(&x, err);
	if (r < 0)
		extents_deinit(&x);
	else
		*ret = x;
	return r;
}

int kernel_ram_pages(struct atw_kernel *k, uint64_t *ret, struct atw_err *err)
{
	uint64_t at = kernel_needs(k)->symbol[Y_totalram], pages;
	struct kmem *m;
	int r;

	if (!at)
		return atw_err_set(err, ATW_E_MISSING, "no symbol _totalram_pages");
	r = kernel_kmem(k, &m, err) ?: kmem_u64(m, at, &pages, err);
	/* No kernel has 0 here: such bytes were left out of the dump. */
	if (r == ATW_OK && !pages)
		r = atw_err_set(err, ATW_E_MISSING, "_totalram_pages at 0x%" PRIx64 " is 0", at);
	if (r == ATW_OK)
		*ret = pages;
	return r;
}
