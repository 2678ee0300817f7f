// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmm.c - the pieces of guest RAM in a process: by the rule of its machine, by its monitor, by
 * memory slots of KVM, or as the user typed them.
 */
#include "host/vmm.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/sorted.h"
#include "format/vmm_maps.h"
#include "host/caps.h"
#include "host/host.h"
#include "host/host_file.h"
#include "host/vmm_monitor.h"
#include "host/vmm_process.h"
#include "host/vmm_rule.h"

enum { CMDLINE_MAX = 4 << 20, MAPS_MAX = 64 << 20, PROBES = 1024 };

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

/* ---- pieces ---- */

static void vmm_drop_pieces(struct vmm *v)
{
	for (size_t i = 0; i < v->nareas; i++)
		process_area_close(&v->area[i]);
	free(v->area);
	free(v->piece);
	v->area = NULL;
	v->piece = NULL;
	v->nareas = v->npieces = 0;
	v->ram = 0;
}

static int vmm_opened(struct vmm *v, int r, struct vmm *ret)
{
	if (r < 0)
		vmm_close(v);
	else
		*ret = *v;
	return r;
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

/* A piece with that address of the process becomes two. */
static int vmm_split_at(struct vmm *v, uint64_t at, struct atw_err *err)
{
	for (size_t i = 0; i < v->npieces; i++) {
		struct vmm_piece *p = v->piece + i;
		uint64_t first = at - p->start;

		if (at <= p->start || first >= p->len)
			continue;
		p = realloc(v->piece, (v->npieces + 1) * sizeof(*p));
		if (!p)
			return atw_err_nomem(err);
		v->piece = p;
		p += i;
		memmove(p + 1, p, (v->npieces++ - i) * sizeof(*p));
		p->len = first;
		p[1].gpa += first;
		p[1].start += first;
		p[1].len -= first;
	}
	return ATW_OK;
}

/*
 * In postcopy migration and after some restores, RAM arrives when it is first used. smaps costs
 * a walk of all page tables, so it is read only if there may be such memory.
 */
static int vmm_mark_late(struct vmm *v, struct atw_err *err)
{
	struct procmaps_area map;
	struct buf smaps = { 0 };
	size_t pos = 0;
	int r;

	if (!vmm_process_has_userfaultfd(v->pid))
		return ATW_OK;
	r = host_proc_all(v->pid, "smaps", MAPS_MAX, &smaps, err);
	while (r == ATW_OK &&
	       vmm_maps_next_late((struct atw_blob){ smaps.data, smaps.len }, &pos, &map)) {
		r = vmm_split_at(v, map.start, err) ?: vmm_split_at(v, map.end, err);
		for (size_t i = 0; i < v->npieces; i++)
			v->piece[i].late |= v->piece[i].start >= map.start &&
					    v->piece[i].start < map.end;
	}
	buf_deinit(&smaps);
	return r;
}

static int vmm_check(struct vmm *v, struct atw_err *err)
{
	return vmm_mark_late(v, err) ?: vmm_probe(v, err);
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
	v->privacy.secret = w->secret;
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

	for (size_t i = 0; i < n; i++)
		v.ram += slot[i].read_only ? 0 : slot[i].len;
	buf_deinit(&maps);
	return vmm_opened(&v, r, ret);
}

/* ---- by what the user typed, or the monitor ---- */

/* All of these slots have to be in the process. */
static int vmm_map_all(struct vmm *v, const struct vmm_slot *slot, size_t n, struct atw_err *err)
{
	struct buf maps = { 0 };
	int r = host_proc_all(v->pid, "maps", MAPS_MAX, &maps, err);

	if (r == ATW_OK)
		r = vmm_slots_check(slot, n, (struct atw_blob){ maps.data, maps.len }, err) ?:
		    vmm_map_slots(v, (struct atw_blob){ maps.data, maps.len }, slot, n, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		v->ram += slot[i].len;
	buf_deinit(&maps);
	return r;
}

static int vmm_open_typed(struct vmm *v, const char *layout, struct atw_err *err)
{
	struct vmm_slot *slot = NULL;
	size_t n = 0;
	int r = vmm_slots_parse(layout, &slot, &n, err) ?:
		process_memory_open(v->pid, &v->memory, err) ?:
		vmm_map_all(v, slot, n, err) ?: vmm_check(v, err);

	v->way = VMM_BY_LAYOUT;
	free(slot);
	return r;
}

/* On failure the reason is kept as a remark. */
static bool vmm_by_monitor(struct vmm *v, const char *path, bool named)
{
	struct vmm_slot *slot = NULL;
	struct atw_err why = { 0 };
	size_t n = 0;
	int r = vmm_monitor_slots(v->pid, path, named, &slot, &n, &why) ?:
		vmm_map_all(v, slot, n, &why);

	free(slot);
	if (r < 0) {
		vmm_drop_pieces(v);
		snprintf(v->remark, sizeof(v->remark), "%.319s", why.text);
		return false;
	}
	v->way = VMM_BY_MONITOR;
	return true;
}

static int vmm_open_found(struct vmm *v, const struct vmm_words *w, struct atw_blob cmdline,
			  const char *socket, struct atw_err *err)
{
	bool named = socket && vmm_words_is_monitor(w, cmdline, socket);
	bool doubtful = w->extra || vmm_words_are_ambiguous(w);
	struct buf maps = { 0 };
	char path[PATH_MAX];
	int r = process_memory_open(v->pid, &v->memory, err);

	if (r < 0)
		return r;
	blob_text(w->nmonitors ? w->monitors[0] : (struct atw_blob){ "", 0 }, path, sizeof(path));
	if (named ? vmm_by_monitor(v, socket, true)
		  : doubtful && *path && vmm_by_monitor(v, path, false))
		return vmm_check(v, err);
	r = host_proc_all(v->pid, "maps", MAPS_MAX, &maps, err) ?:
	    vmm_by_rule(v, w, (struct atw_blob){ maps.data, maps.len }, err);
	buf_deinit(&maps);
	if (r < 0)
		vmm_drop_pieces(v);
	if (r < 0 && !*v->remark && *path && vmm_by_monitor(v, path, false))
		r = ATW_OK;
	return r ?: vmm_check(v, err);
}

static int vmm_open_asked(struct vmm *v, const struct vmm_words *w, struct atw_err *err)
{
	char path[PATH_MAX];
	int r = process_memory_open(v->pid, &v->memory, err);

	if (r < 0)
		return r;
	blob_text(w->nmonitors ? w->monitors[0] : (struct atw_blob){ "", 0 }, path, sizeof(path));
	if (*path && vmm_by_monitor(v, path, false))
		return vmm_check(v, err);
	return atw_err_set(err, ATW_E_MISSING, "%s", *path ? v->remark : "it has no monitor");
}

int vmm_open_monitor(uint32_t pid, struct vmm *ret, struct atw_err *err)
{
	_auto_free struct vmm_words *w = malloc(sizeof(*w));
	struct vmm v = { .pid = pid };
	struct buf cmdline = { 0 };
	int r = w ? vmm_find_arch(&v, err) : atw_err_nomem(err);

	if (r == ATW_OK)
		r = vmm_read_command_line(&v, &cmdline, w, err) ?: vmm_open_asked(&v, w, err);
	buf_deinit(&cmdline);
	return vmm_opened(&v, r, ret);
}

int vmm_open_layout(uint32_t pid, const char *layout, struct vmm *ret, struct atw_err *err)
{
	struct vmm v = { .pid = pid, .arch = vmm_host_arch() };

	return vmm_opened(&v, vmm_open_typed(&v, layout, err), ret);
}

int vmm_open(uint32_t pid, const struct vmm_how *how, struct vmm *ret, struct atw_err *err)
{
	_auto_free struct vmm_words *w = malloc(sizeof(*w));
	struct vmm v = { .pid = pid };
	struct buf cmdline = { 0 };
	int r = w ? vmm_find_arch(&v, err) : atw_err_nomem(err);

	if (r == ATW_OK && how->layout) {
		/* What is on the command line is no condition then. */
		vmm_read_command_line(&v, &cmdline, w, NULL);
		r = vmm_open_typed(&v, how->layout, err);
	} else if (r == ATW_OK) {
		r = vmm_read_command_line(&v, &cmdline, w, err) ?:
		    vmm_open_found(&v, w, (struct atw_blob){ cmdline.data, cmdline.len },
				   how->socket, err);
	}
	buf_deinit(&cmdline);
	return vmm_opened(&v, r, ret);
}

void vmm_close(struct vmm *v)
{
	process_memory_close(v->memory);
	vmm_drop_pieces(v);
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

/* ---- pieces ---- */

/* Pieces that follow each other in both are as one. */
static uint64_t vmm_piece_run(const struct vmm *v, size_t *i, struct vmm_piece *ret)
{
	*ret = v->piece[(*i)++];
	while (*i < v->npieces && v->piece[*i].gpa == ret->gpa + ret->len &&
	       v->piece[*i].start == ret->start + ret->len)
		ret->len += v->piece[(*i)++].len;
	return ret->len;
}

bool vmm_same_pieces(const struct vmm *a, const struct vmm *b)
{
	struct vmm_piece x, y;
	size_t i = 0, k = 0;

	while (i < a->npieces && k < b->npieces)
		if (vmm_piece_run(a, &i, &x) != vmm_piece_run(b, &k, &y) || x.gpa != y.gpa ||
		    x.start != y.start)
			return false;
	return i == a->npieces && k == b->npieces;
}

const struct vmm_piece *vmm_piece_from(const struct vmm_piece *v, size_t n, uint64_t gpa)
{
	for (size_t i = 0; i < n; i++)
		if (gpa < v[i].gpa || gpa - v[i].gpa < v[i].len)
			return &v[i];
	return NULL;
}

int vmm_piece_outside(const struct vmm_piece *v, size_t n, uint64_t gpa, uint64_t *ret)
{
	const struct vmm_piece *p = vmm_piece_from(v, n, gpa);

	if (!p || gpa < p->gpa)
		return ATW_E_MISSING;
	*ret = p->start + (gpa - p->gpa);
	return ATW_OK;
}

int vmm_piece_inside(const struct vmm_piece *v, size_t n, uint64_t va, atw_pa *ret,
		     uint64_t *ret_len)
{
	/* A block may be the guest's at several addresses: the lowest one. */
	for (size_t i = 0; i < n; i++) {
		if (va < v[i].start || va - v[i].start >= v[i].len)
			continue;
		*ret = ATW_PA(v[i].gpa + (va - v[i].start));
		*ret_len = v[i].len - (va - v[i].start);
		return ATW_OK;
	}
	return ATW_E_MISSING;
}
