// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmm_rule.c - QEMU maps each block of RAM by itself, so its size on the command line finds it,
 * and the machine's memory map places it.
 */
#include "host/vmm_rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/num.h"
#include "format/vmm_maps.h"
#include "host/host_file.h"

enum { MAPS_MAX = 64 << 20, GUESSES = 3 };

/* ---- RAM blocks ---- */

/* Where a block's mapping is among those of its size: QEMU maps blocks in this order. */
static size_t vmm_block_rank(const struct vmm_words *w, const struct vmm_backend *b,
			     size_t *ret_total)
{
	size_t rank = 0, total = 0;

	for (size_t i = 0; i < w->nbackends; i++) {
		total += w->backends[i].size == b->size;
		rank += w->backends + i < b && w->backends[i].size == b->size;
	}
	*ret_total = total;
	return rank;
}

static int vmm_not_found(const struct vmm *v, struct atw_blob maps, uint64_t size,
			 size_t want, size_t found, struct atw_err *err)
{
	struct procmaps_area a;
	char text[16], most[16];

	num_human(size, text);
	if (found)
		return atw_err_set(err, ATW_E_MISSING,
				   "the RAM of the guest was not found: process %" PRIu32
				   " has %zu mappings of %s instead of %zu",
				   v->pid, found, text, want);
	if (!vmm_maps_largest(maps, &a, 1))
		return atw_err_set(err, ATW_E_MISSING,
				   "the RAM of the guest was not found: process %" PRIu32
				   " has no memory of its own",
				   v->pid);
	return atw_err_set(err, ATW_E_MISSING,
			   "the RAM of the guest was not found: process %" PRIu32
			   " has no mapping of %s, the largest has %s",
			   v->pid, text, num_human(a.end - a.start, most));
}

/* The mapping `rank` of `total` ones of this size. */
static int vmm_find_block(const struct vmm *v, struct atw_blob maps, uint64_t size,
			  size_t rank, size_t total, struct procmaps_area *ret,
			  struct atw_err *err)
{
	struct procmaps_area found[VMM_BACKENDS];
	struct buf smaps = {0};
	size_t n = vmm_maps_find(maps, false, size, found, VMM_BACKENDS);
	int r = ATW_OK;

	/* smaps costs a walk of all page tables, so it is read only if it decides. */
	if (n > total) {
		r = host_proc_all(v->pid, "smaps", MAPS_MAX, &smaps, err);
		if (r == ATW_OK)
			n = vmm_maps_find((struct atw_blob){smaps.data, smaps.len}, true,
					  size, found, VMM_BACKENDS);
		buf_deinit(&smaps);
	}
	if (r < 0)
		return r;
	if (n != total || rank >= n)
		return vmm_not_found(v, maps, size, total, n, err);
	/* Its name is in a buffer that is gone; the rest is numbers. */
	*ret = found[rank];
	ret->name = (struct atw_blob){0};
	return ATW_OK;
}

static int vmm_add_area(struct vmm *v, struct atw_blob maps, uint64_t size, size_t rank,
			size_t total, struct atw_err *err)
{
	struct procmaps_area map;
	int r = vmm_find_block(v, maps, size, rank, total, &map, err);

	if (r == ATW_OK)
		process_area_open(v->pid, &map, &v->area[v->nareas++]);
	return r;
}

static int vmm_add_backend(struct vmm *v, const struct vmm_words *w, struct atw_blob maps,
			   struct atw_blob id, struct atw_err *err)
{
	const struct vmm_backend *b = vmm_words_backend(w, id);
	size_t rank, total;

	if (!b || !b->size)
		return atw_err_set(err, ATW_E_FORMAT,
				   "the command line of process %" PRIu32
				   " has no size of memory backend '%.*s'",
				   v->pid, (int)(id.len > 64 ? 64 : id.len),
				   (const char *)id.data);
	rank = vmm_block_rank(w, b, &total);
	return vmm_add_area(v, maps, b->size, rank, total, err);
}

/* In the order of the guest's RAM. */
static int vmm_find_areas(struct vmm *v, const struct vmm_words *w, struct atw_blob maps,
			  struct atw_err *err)
{
	uint64_t sum = 0;
	int r = ATW_OK;

	v->area = calloc(w->nnodes ? w->nnodes : 1, sizeof(*v->area));
	if (!v->area)
		return atw_err_nomem(err);
	for (size_t i = 0; i < w->nnodes && r == ATW_OK; i++)
		r = vmm_add_backend(v, w, maps, w->nodes[i], err);
	if (r == ATW_OK && !w->nnodes)
		r = w->backend.len && vmm_words_backend(w, w->backend)
			    ? vmm_add_backend(v, w, maps, w->backend, err)
			    : vmm_add_area(v, maps, w->ram, 0, 1, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < v->nareas; i++)
		sum += v->area[i].len;
	if (sum != w->ram)
		return atw_err_set(err, ATW_E_FORMAT,
				   "the memory backends of process %" PRIu32
				   " are 0x%" PRIx64 " bytes, and its RAM is 0x%" PRIx64,
				   v->pid, sum, w->ram);
	return ATW_OK;
}

/* ---- pieces ---- */

static int vmm_make_pieces(struct vmm *v, const struct vm_layout *l, struct atw_err *err)
{
	/* Each extent and each area begins one. */
	v->piece = calloc(l->n + v->nareas, sizeof(*v->piece));
	if (!v->piece)
		return atw_err_nomem(err);
	for (size_t i = 0; i < l->n; i++) {
		const struct vm_extent *e = &l->v[i];
		uint64_t at = 0;

		for (size_t k = 0; k < v->nareas; at += v->area[k++].len) {
			const struct process_area *a = &v->area[k];
			uint64_t from = e->offset > at ? e->offset : at;
			uint64_t end = e->offset + e->len < at + a->len
					       ? e->offset + e->len
					       : at + a->len;

			if (from < end)
				v->piece[v->npieces++] = (struct vmm_piece){
					.gpa = e->gpa + (from - e->offset),
					.len = end - from, .area = a,
					.start = a->start + (from - at),
				};
		}
	}
	return ATW_OK;
}

/* Appends to the sentence what the largest mappings would be, where RAM usually begins. */
static void vmm_add_guesses(const struct vmm *v, struct atw_blob maps, struct atw_err *err)
{
	struct procmaps_area a[GUESSES];
	size_t n = vmm_maps_largest(maps, a, GUESSES), at;

	if (!err || !n)
		return;
	at = strlen(err->text);
	snprintf(err->text + at, sizeof(err->text) - at, "%s", _("; perhaps "));
	for (size_t i = 0; i < n; i++) {
		at = strlen(err->text);
		snprintf(err->text + at, sizeof(err->text) - at,
			 "%s%" PRIx64 ":%" PRIx64 ":0x%" PRIx64, i ? ", " : "",
			 vm_usual_base(v->arch), a[i].start, a[i].end - a[i].start);
	}
	atw_err_remedy(err, ATW_PARAM_LAYOUT);
}

int vmm_by_rule(struct vmm *v, const struct vmm_words *w, struct atw_blob maps,
		       struct atw_err *err)
{
	struct vm_layout l;
	int r = vm_layout_of(v->arch, w, &l, err) ?: vmm_find_areas(v, w, maps, err);

	if (r < 0) {
		if (r != ATW_E_NOMEM)
			vmm_add_guesses(v, maps, err);
		return r;
	}
	snprintf(v->machine, sizeof(v->machine), "%s", l.machine);
	v->ram = w->ram;
	v->extra = w->extra;
	return vmm_make_pieces(v, &l, err);
}
