// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmm.c - from /proc/PID/exe, cmdline and maps, or from memory slots and maps, to the pieces
 * of guest RAM.
 */
#include "host/vmm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/message.h"
#include "base/num.h"
#include "base/sorted.h"
#include "format/vmm_maps.h"
#include "host/caps.h"
#include "host/host.h"
#include "host/host_file.h"
#include "host/vmm_process.h"

enum { CMDLINE_MAX = 4 << 20, MAPS_MAX = 64 << 20, PROBES = 1024, GUESSES = 3 };

/* ---- the process ---- */

static int vmm_no_process(uint32_t pid, int e, struct atw_err *err)
{
	char path[64];

	if (host_check_proc(err) < 0)
		return ATW_E_MISSING;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	if (e == ENOENT && !access(path, F_OK))
		return atw_err_set(err, ATW_E_FORMAT,
				   "process %" PRIu32 " runs no program", pid);
	if (e == ENOENT || e == ESRCH)
		return atw_err_set(err, ATW_E_MISSING, "there is no process %" PRIu32,
				   pid);
	atw_err_set(err, io_status(e), "process %" PRIu32 " cannot be examined: %s", pid,
		    strerror(e));
	if (io_status(e) == ATW_E_PERM)
		host_hint_setcap(err, "cap_dac_read_search,cap_sys_ptrace");
	return io_status(e);
}

static int vmm_find_arch(struct vmm *v, struct atw_err *err)
{
	char exe[4096];
	const char *name;

	if (!host_proc_exe(v->pid, exe, sizeof(exe)))
		return vmm_no_process(v->pid, errno, err);
	name = strrchr(exe, '/');
	name = name ? name + 1 : exe;
	v->arch = vmm_arch_of(exe);
	if (v->arch == VMM_ARCH_HOST)
		v->arch = vmm_host_arch();
	if (v->arch == VMM_ARCH_UNKNOWN)
		return atw_err_set(
			err, ATW_E_FORMAT,
			"process %" PRIu32
			" is '%.64s', not QEMU (qemu-system-ARCH, qemu-kvm, kvm)",
			v->pid, name);
	if (v->arch == VMM_ARCH_OTHER)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "guests of '%.64s' are not supported: only those of "
				   "x86_64, aarch64 and riscv64",
				   name);
	return ATW_OK;
}

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

static int vmm_opened(struct vmm *v, int r, struct vmm *ret)
{
	if (r < 0)
		vmm_close(v);
	else
		*ret = *v;
	return r;
}

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

/* A search takes bytes that cannot be read for damage: better to fail at once. */
static int vmm_probe(struct vmm *v, struct atw_err *err)
{
	const struct process_area *a = v->area;
	uint64_t at = a->start, len;
	enum process_page state;
	char byte;

	for (unsigned i = 0; i < PROBES && at < a->start + a->len; i++, at += len) {
		int r = process_memory_look(v->memory, a, at, &state, &len, err);

		if (r < 0)
			return r;
		if (state != PROCESS_PRESENT)
			continue;
		r = (int)process_memory_read(v->memory, a, at, &byte, 1, err);
		return r < 0 ? r : ATW_OK;
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

static int vmm_by_rule(struct vmm *v, const struct vmm_words *w, struct atw_blob maps,
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

static int vmm_open_ram(struct vmm *v, const struct vmm_words *w, struct atw_err *err)
{
	struct buf maps = { 0 };
	int r = process_memory_open(v->pid, &v->memory, err) ?:
		host_proc_all(v->pid, "maps", MAPS_MAX, &maps, err);

	if (r == ATW_OK)
		r = vmm_by_rule(v, w, (struct atw_blob){ maps.data, maps.len }, err) ?:
		    vmm_probe(v, err);
	buf_deinit(&maps);
	return r;
}

/* Texts of *w lie in `cmdline`. */
static int vmm_read_command_line(struct vmm *v, struct buf *cmdline, struct vmm_words *w,
			  struct atw_err *err)
{
	int r = host_proc_all(v->pid, "cmdline", CMDLINE_MAX, cmdline, err);

	if (r < 0)
		return r;
	r = vmm_words_parse((struct atw_blob){ cmdline->data, cmdline->len }, w, err);
	if (r < 0)
		return atw_err_wrap(err, "process %" PRIu32, v->pid);
	v->encrypted = w->encrypted;
	return ATW_OK;
}

/* ---- by slots ---- */

/* The parts of slots in that mapping; `to` NULL: only their number. */
static size_t vmm_slot_pieces(const struct vmm_slot *slot, size_t n,
			      const struct procmaps_area *map, const struct process_area *area,
			      struct vmm_piece *to)
{
	size_t pieces = 0;

	for (size_t i = 0; i < n; i++) {
		const struct vmm_slot *s = &slot[i];
		uint64_t from = s->address > map->start ? s->address : map->start;
		uint64_t end = s->address + s->len < map->end ? s->address + s->len : map->end;

		if (from >= end)
			continue;
		if (to)
			to[pieces] = (struct vmm_piece){
				.gpa = s->gpa + (from - s->address), .len = end - from,
				.area = area, .start = from, .late = s->late,
			};
		pieces++;
	}
	return pieces;
}

static int vmm_map_slots(struct vmm *v, struct atw_blob maps, const struct vmm_slot *slot,
			 size_t n, struct atw_err *err)
{
	struct procmaps_area map;
	size_t areas = 0, pieces = 0, pos = 0, k;
	int r;

	while ((r = procmaps_next(maps, &pos, &map)) != ATW_END) {
		k = r == ATW_OK && map.read ? vmm_slot_pieces(slot, n, &map, NULL, NULL) : 0;
		areas += k != 0;
		pieces += k;
	}
	if (!pieces)
		return atw_err_set(err, ATW_E_MISSING,
				   "process %" PRIu32 " maps nothing of its guest's memory", v->pid);
	v->area = calloc(areas, sizeof(*v->area));
	v->piece = calloc(pieces, sizeof(*v->piece));
	if (!v->area || !v->piece)
		return atw_err_nomem(err);
	for (pos = 0; (r = procmaps_next(maps, &pos, &map)) != ATW_END;) {
		if (r < 0 || !map.read || !vmm_slot_pieces(slot, n, &map, NULL, NULL))
			continue;
		process_area_open(v->pid, &map, &v->area[v->nareas]);
		v->npieces += vmm_slot_pieces(slot, n, &map, &v->area[v->nareas++],
					      v->piece + v->npieces);
	}
	qsort(v->piece, v->npieces, sizeof(*v->piece), sorted_by_u64);
	return ATW_OK;
}

int vmm_open_slots(uint32_t pid, const struct vmm_slot *slot, size_t n, struct vmm *ret,
		   struct atw_err *err)
{
	struct vmm v = { .pid = pid, .arch = vmm_host_arch(), .way = VMM_BY_SLOTS };
	struct buf maps = { 0 };
	int r = process_memory_open(pid, &v.memory, err) ?:
		host_proc_all(pid, "maps", MAPS_MAX, &maps, err) ?:
		vmm_map_slots(&v, (struct atw_blob){ maps.data, maps.len }, slot, n, err) ?:
		vmm_probe(&v, err);

	for (size_t i = 0; i < n; i++) {
		v.ram += slot[i].read_only ? 0 : slot[i].len;
		v.private |= slot[i].guest_memfd;
	}
	buf_deinit(&maps);
	return vmm_opened(&v, r, ret);
}

/* ---- by the user's word ---- */

static int vmm_open_typed(struct vmm *v, const char *layout, struct atw_err *err)
{
	struct vmm_slot *slot = NULL;
	struct buf maps = { 0 };
	struct atw_blob text;
	size_t n = 0;
	int r = vmm_slots_parse(layout, &slot, &n, err) ?:
		process_memory_open(v->pid, &v->memory, err) ?:
		host_proc_all(v->pid, "maps", MAPS_MAX, &maps, err);

	text = (struct atw_blob){ maps.data, maps.len };
	if (r == ATW_OK)
		r = vmm_slots_check(slot, n, text, err) ?:
		    vmm_map_slots(v, text, slot, n, err) ?: vmm_probe(v, err);
	for (size_t i = 0; i < n; i++)
		v->ram += slot[i].len;
	v->way = VMM_BY_LAYOUT;
	buf_deinit(&maps);
	free(slot);
	return r;
}

int vmm_open_layout(uint32_t pid, const char *layout, struct vmm *ret, struct atw_err *err)
{
	struct vmm v = { .pid = pid, .arch = vmm_host_arch() };

	return vmm_opened(&v, vmm_open_typed(&v, layout, err), ret);
}

int vmm_open(uint32_t pid, const char *layout, struct vmm *ret, struct atw_err *err)
{
	_auto_free struct vmm_words *w = malloc(sizeof(*w));
	struct vmm v = { .pid = pid };
	struct buf cmdline = { 0 };
	int r = w ? vmm_find_arch(&v, err) : atw_err_nomem(err);

	if (r == ATW_OK && layout) {
		/* What is on the command line is no condition then. */
		vmm_read_command_line(&v, &cmdline, w, NULL);
		r = vmm_open_typed(&v, layout, err);
	} else if (r == ATW_OK) {
		r = vmm_read_command_line(&v, &cmdline, w, err) ?: vmm_open_ram(&v, w, err);
	}
	buf_deinit(&cmdline);
	return vmm_opened(&v, r, ret);
}

void vmm_close(struct vmm *v)
{
	process_memory_close(v->memory);
	for (size_t i = 0; i < v->nareas; i++)
		process_area_close(&v->area[i]);
	free(v->area);
	free(v->piece);
	*v = (struct vmm){0};
}

void vmm_instance(uint32_t pid, char *ret, size_t len)
{
	enum { STARTTIME = 22 - 2 };     /* proc(5): number of the field behind the name */
	char path[32], text[1024], *at;
	unsigned field = 0;

	*ret = '\0';
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	if (!host_file_text(path, text, sizeof(text)))
		return;
	/* The name may have anything in it, but nothing behind it has a parenthesis. */
	for (at = strrchr(text, ')'); at && field < STARTTIME; field++)
		at = strchr(at + 1, ' ');
	if (at)
		snprintf(ret, len, "guest-%" PRIu32 "-%.*s", pid,
			 (int)strcspn(at + 1, " "), at + 1);
}
