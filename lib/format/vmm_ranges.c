// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmm_ranges.c - Firecracker: src/vmm/src/arch, arch_memory_regions(); cloud-hypervisor:
 * MemoryManagerSnapshotData: its JSON is a string in JSON.
 */
#include "format/vmm_ranges.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"

#define RANGES_G (UINT64_C(1) << 30)

static const struct {
	enum vmm_arch arch;
	struct vmm_range at[3];
} ranges_firecracker[] = {
	{VMM_ARCH_X86_64,
	 {{0, 3 * RANGES_G}, {4 * RANGES_G, 252 * RANGES_G}, {512 * RANGES_G, UINT64_MAX / 2}}},
	{VMM_ARCH_ARM64, {{2 * RANGES_G, 254 * RANGES_G}, {512 * RANGES_G, UINT64_MAX / 2}}},
};

enum vmm_arch firecracker_state_arch(struct atw_blob head)
{
	const void *p = blob_at(head, 0, 8);
	uint64_t magic = p ? get_le64(p) : 0;

	return magic == UINT64_C(0x0710198486640000) ? VMM_ARCH_X86_64 :
	       magic == UINT64_C(0x07101984aaaa0000) ? VMM_ARCH_ARM64 : VMM_ARCH_UNKNOWN;
}

size_t firecracker_ranges(enum vmm_arch arch, uint64_t ram, struct vmm_range v[VMM_RANGES])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ranges_firecracker); i++)
		for (size_t k = 0; k < 3 && ranges_firecracker[i].arch == arch && ram; k++) {
			v[n] = ranges_firecracker[i].at[k];
			v[n].len = MIN(v[n].len, ram);
			ram -= v[n++].len;
		}
	return n;
}

/* The digits behind a name; false: there is no such name before `end`. */
static bool ranges_number(const char **at, const char *end, const char *name, uint64_t *ret)
{
	const char *p = memmem(*at, (size_t)(end - *at), name, strlen(name)), *digits;

	if (!p)
		return false;
	p += strlen(name);
	while (p < end && (*p == '"' || *p == '\\' || *p == ':' || *p == ' ' || *p == '\n'))
		p++;
	for (digits = p; p < end && *p >= '0' && *p <= '9';)
		p++;
	*at = p;
	return num_dec(digits, (size_t)(p - digits), ret);
}

/* The quotes are escaped as often as there are strings around it. */
int cloud_hypervisor_ranges(struct atw_blob json, struct vmm_range v[VMM_RANGES], size_t *ret,
			    struct atw_err *err)
{
	static const char name[] = "memory_ranges";
	const char *end = (const char *)json.data + json.len, *at, *stop;
	size_t n = 0;

	at = json.len ? memmem(json.data, json.len, name, strlen(name)) : NULL;
	at = at ? memchr(at, '[', (size_t)(end - at)) : NULL;
	stop = at ? memchr(at, ']', (size_t)(end - at)) : NULL;
	if (!stop)
		return atw_err_set(err, ATW_E_DAMAGED, "has no list of memory_ranges");
	while (n < VMM_RANGES && ranges_number(&at, stop, "gpa", &v[n].gpa) &&
	       ranges_number(&at, stop, "length", &v[n].len))
		n++;
	if (!n || memmem(at, (size_t)(stop - at), "gpa", 3))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its list of memory_ranges is not readable");
	*ret = n;
	return ATW_OK;
}
