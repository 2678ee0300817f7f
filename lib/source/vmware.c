// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmware.c - source of suspended VMware guests and of their snapshots: .vmss or .vmsn, with
 * the memory in it or in a .vmem beside it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "format/vmware.h"
#include "source/mapped.h"

enum { VMWARE_PAGE = 4096 };

struct vmware {
	struct mapped m;
	struct vmware_state state;
};

static int vmware_probe_state(struct atw_blob head, const char *path)
{
	return vmware_probe(head) ? 100 : 0;
}

/* PATH with another suffix; NULL: no memory. */
static char *vmware_beside(const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	int len = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
	char *ret;

	return asprintf(&ret, "%.*s%s", len, path, suffix) < 0 ? NULL : ret;
}

static int vmware_open_beside(const char *path, const char *const *suffix, size_t n,
			      struct file *ret, struct atw_err *err)
{
	for (size_t i = 0; i < n; i++) {
		_auto_free char *other = vmware_beside(path, suffix[i]);

		if (!other)
			return atw_err_nomem(err);
		if (!access(other, F_OK) || i + 1 == n)
			return file_open(other, ret, err);
	}
	return ATW_E_MISSING;
}

/* m.file has the memory afterwards, from *ret_off on. */
static int vmware_find_memory(struct vmware *w, const char *path, uint64_t *ret_off,
			      uint64_t *ret_len, struct atw_err *err)
{
	static const char *const states[] = { ".vmss", ".vmsn" }, *const memories[] = { ".vmem" };
	bool is_state = vmware_probe(w->m.file.map);
	struct file other = {0};
	int r;

	r = is_state ? vmware_parse(w->m.file.map, &w->state, err) :
		       vmware_open_beside(path, states, ARRAY_SIZE(states), &other, err) ?:
		       vmware_parse(other.map, &w->state, err);
	if (r == ATW_OK && is_state && !w->state.have_memory)
		r = vmware_open_beside(path, memories, ARRAY_SIZE(memories), &other, err);
	if (r == ATW_OK && is_state && !w->state.have_memory) {
		struct file was = w->m.file;

		w->m.file = other;
		other = was;
		w->m.view = view_direct(w->m.file.map);
	}
	file_close(&other);
	*ret_off = is_state && w->state.have_memory ? w->state.memory : 0;
	*ret_len = is_state && w->state.have_memory ? w->state.memory_len : w->m.file.map.len;
	return r;
}

static int vmware_add_region(struct vmware *w, const struct vmware_region *g, uint64_t off,
			     uint64_t *missing, struct atw_err *err)
{
	uint64_t start, at, len;

	if (!mul_u64(g->page, VMWARE_PAGE, &start) || !mul_u64(g->pages, VMWARE_PAGE, &len) ||
	    !mul_u64(g->file_page, VMWARE_PAGE, &at) || !add_u64(at, off, &at))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "a region of 0x%" PRIx64 " pages at page 0x%" PRIx64, g->pages,
				   g->page);
	return mapped_add(&w->m, start, len, at, missing, err);
}

static int vmware_open(struct atw_source *s, const struct atw_source_spec *spec,
		       struct atw_err *err)
{
	uint64_t off, len, missing = 0;
	struct vmware *w;
	char size[16];
	int r = mapped_open(s, spec, sizeof(*w), err);

	if (r < 0)
		return r;
	w = s->impl;
	r = vmware_find_memory(w, spec->path, &off, &len, err);
	if (r == ATW_OK && !w->state.nregions)
		r = mapped_add(&w->m, 0, len, off, &missing, err);
	for (uint64_t i = 0; i < w->state.nregions && r == ATW_OK; i++)
		r = vmware_add_region(w, &w->state.region[i], off, &missing, err);
	if (r < 0)
		return r;
	mapped_truncated(&w->m, missing);
	snprintf(w->m.what, sizeof(w->m.what), "memory of a guest of VMware, %s in %" PRIu64 " region%s",
		 num_human(len, size), w->state.nregions ? w->state.nregions : 1,
		 w->state.nregions > 1 ? "s" : "");
	return extents_build(&w->m.map, err);
}

/* "cpus", "cpuN.cr0" to .cr4, and those of mapped_fact(). */
static int vmware_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct vmware *w = s->impl;
	const char *dot = strchr(key, '.');
	uint64_t n;

	if (!strcmp(key, "cpus") && w->state.ncpus) {
		*ret = (struct atw_blob){&w->state.ncpus, sizeof(w->state.ncpus)};
		return ATW_OK;
	}
	if (text_begins(key, "cpu") && dot && num_dec(key + 3, (size_t)(dot - key - 3), &n) &&
	    n < w->state.ncpus && text_begins(dot, ".cr") && dot[3] >= '0' && dot[3] <= '4' &&
	    !dot[4] && w->state.have_cr[n] >> (dot[3] - '0') & 1) {
		*ret = (struct atw_blob){&w->state.cr[n][dot[3] - '0'], 8};
		return ATW_OK;
	}
	return mapped_fact(s, key, ret);
}

const struct atw_source_ops source_vmware = {
	.name = "vmware",
	.help = "suspended guest of VMware: .vmss, .vmsn or .vmem (by specification)",
	.probe = vmware_probe_state,
	.open = vmware_open,
	.close = mapped_close,
	MAPPED_OPS,
	.fact = vmware_fact,
};
