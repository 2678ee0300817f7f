// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmm_files.c - sources of memory files of Firecracker and cloud-hypervisor: ranges one
 * behind the other, without a header.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "format/vmm_ranges.h"
#include "source/mapped.h"

enum { FILES_IMAGES = 64, FILES_IMAGE_STEP = 2 << 20, FILES_IMAGE_MAGIC = 0x38 };

static int files_add(struct mapped *m, const struct vmm_range *v, size_t n, const char *what,
		     struct atw_err *err)
{
	uint64_t off = 0, missing = 0;
	char size[16];
	int r = ATW_OK;

	for (size_t i = 0; i < n && r == ATW_OK; off += v[i++].len)
		r = mapped_add(m, v[i].gpa, v[i].len, off, &missing, err);
	if (r < 0)
		return r;
	mapped_truncated(m, missing);
	snprintf(m->what, sizeof(m->what), "memory of a guest of %s, %s in %zu range%s", what,
		 num_human(off, size), n, n == 1 ? "" : "s");
	return extents_build(&m->map, err);
}

/* ---- Firecracker ---- */

/* The memory file has no magic: only the state file is recognised, to point to the other. */
static int files_probe_firecracker(struct atw_blob head, const char *path)
{
	return firecracker_state_arch(head) == VMM_ARCH_UNKNOWN ? 0 : 100;
}

/* A kernel of arm64 lies at a multiple of 2 MiB, with its Image header. */
static enum vmm_arch files_arch(struct atw_blob memory)
{
	for (uint64_t i = 0; i < FILES_IMAGES; i++) {
		const void *p = blob_at(memory, i * FILES_IMAGE_STEP + FILES_IMAGE_MAGIC, 4);

		if (p && !memcmp(p, "ARM\x64", 4))
			return VMM_ARCH_ARM64;
	}
	return VMM_ARCH_X86_64;
}

static int files_open_firecracker(struct atw_source *s, const struct atw_source_spec *spec,
			    struct atw_err *err)
{
	int r = mapped_open(s, spec, sizeof(struct mapped), err);
	struct vmm_range v[VMM_RANGES];
	struct mapped *m = s->impl;
	enum vmm_arch arch;

	if (r < 0)
		return r;
	if (firecracker_state_arch(m->file.map) != VMM_ARCH_UNKNOWN) {
		atw_err_set(err, ATW_E_UNSUPPORTED,
			    "is the state of a Firecracker guest, without its memory");
		atw_err_hint(err, "open the memory file that was made with it: firecracker:PATH");
		return ATW_E_UNSUPPORTED;
	}
	arch = files_arch(m->file.map);
	return files_add(m, v, firecracker_ranges(arch, m->file.map.len, v),
			 arch == VMM_ARCH_ARM64 ? "Firecracker on arm64" : "Firecracker on x86_64",
			 err);
}

const struct atw_source_ops source_firecracker = {
	.name = "firecracker",
	.help = "memory file of Firecracker (by specification)",
	.probe = files_probe_firecracker,
	.open = files_open_firecracker,
	MAPPED_ONLY_OPS,
};

/* ---- cloud-hypervisor ---- */

static bool files_is_state(struct atw_blob b)
{
	return blob_begins(b, "{") && memmem(b.data, b.len, "memory_ranges", 13);
}

/* Its state may begin with much else. */
static int files_probe_cloud(struct atw_blob head, const char *path)
{
	return files_is_state(head) ? 90 : blob_begins(head, "{\"snapshots\":") ? 80 : 0;
}

/* PATH of another file in the folder of this one; to be freed. NULL: no memory. */
static char *files_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	char *ret;

	return asprintf(&ret, "%.*s%s", folder, path, name) < 0 ? NULL : ret;
}

static int files_open_cloud(struct atw_source *s, const struct atw_source_spec *spec,
		      struct atw_err *err)
{
	static const char memory[] = "memory-ranges", state[] = "state.json";
	struct vmm_range v[VMM_RANGES];
	_auto_free char *other = NULL;
	struct file json = {0};
	struct mapped *m;
	size_t n;
	int r = mapped_open(s, spec, sizeof(*m), err);

	if (r < 0)
		return r;
	m = s->impl;
	other = files_beside(spec->path, blob_begins(m->file.map, "{") ? memory : state);
	if (!other)
		return atw_err_nomem(err);
	r = file_open(other, &json, err);
	if (r < 0)
		return r;
	if (blob_begins(m->file.map, "{")) {
		struct file was = m->file;

		m->file = json;
		json = was;
		m->view = view_direct(m->file.map);
	}
	r = cloud_hypervisor_ranges(json.map, v, &n, err);
	file_close(&json);
	return r < 0 ? r : files_add(m, v, n, "cloud-hypervisor", err);
}

const struct atw_source_ops source_cloud_hypervisor = {
	.name = "cloud-hypervisor",
	.help = "snapshot of cloud-hypervisor: state.json or memory-ranges (by specification)",
	.probe = files_probe_cloud,
	.open = files_open_cloud,
	MAPPED_ONLY_OPS,
};
