// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qemu_cpus.c - QEMU: migration/savevm.c and vmstate.c; target/i386/machine.c,
 * target/riscv/machine.c, target/arm/machine.c.
 */
#include "format/qemu_cpus.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/json.h"

enum {
	SECTION_FULL = 4,
	SECTION_DESCRIPTION = 6,
	SECTION_FOOTER = 0x7e,
	/* Linux ends at 8192 CPUs. */
	QEMU_CPUS_MAX = 1 << 14,
	/* Structs in structs, subsections in subsections. */
	NESTING_MAX = 8,
};

/* Registers that are a field of their own. */
static const struct cpus_field {
	const char *name;
	enum qemu_register reg;
	enum vmm_arch arch;
} cpus_fields[] = {
	{"env.cr[0]", QEMU_CR0, VMM_ARCH_X86_64},
	{"env.cr[2]", QEMU_CR2, VMM_ARCH_X86_64},
	{"env.cr[3]", QEMU_CR3, VMM_ARCH_X86_64},
	{"env.cr[4]", QEMU_CR4, VMM_ARCH_X86_64},
	{"env.efer", QEMU_EFER, VMM_ARCH_X86_64},
	{"env.satp", QEMU_SATP, VMM_ARCH_RISCV64},
	{"env.priv", QEMU_PRIV, VMM_ARCH_RISCV64},
};

/* Of arm64, two arrays side by side have all system registers: KVM's names, and values. */
static const struct cpus_system {
	uint64_t name;
	enum qemu_register reg;
} cpus_systems[] = {
	{UINT64_C(0x603000000013c080), QEMU_SCTLR},
	{UINT64_C(0x603000000013c100), QEMU_TTBR0},
	{UINT64_C(0x603000000013c101), QEMU_TTBR1},
	{UINT64_C(0x603000000013c102), QEMU_TCR},
	{UINT64_C(0x603000000013c510), QEMU_MAIR},
};

const char *qemu_register_name(enum qemu_register r)
{
	static const char *const names[] = {
		[QEMU_CR0] = "cr0", [QEMU_CR2] = "cr2", [QEMU_CR3] = "cr3",
		[QEMU_CR4] = "cr4", [QEMU_EFER] = "efer", [QEMU_SATP] = "satp",
		[QEMU_PRIV] = "priv", [QEMU_TTBR0] = "ttbr0", [QEMU_TTBR1] = "ttbr1",
		[QEMU_TCR] = "tcr", [QEMU_MAIR] = "mair", [QEMU_SCTLR] = "sctlr",
	};

	return names[r];
}

/* ---- the description ---- */

/* Behind the end of the sections: a type, a length, an object. */
static bool cpus_description(struct atw_blob devices, struct atw_blob *ret)
{
	const uint8_t *d = devices.data, *p;

	for (size_t i = 0; devices.len - i > 7; i = (size_t)(p - d) + 1) {
		uint64_t len;

		p = memchr(d + i, SECTION_DESCRIPTION, devices.len - i - 7);
		if (!p)
			return false;
		len = get_be32(p + 1);
		if (p[5] != '{' || p[6] != '"' || len > devices.len - (size_t)(p - d) - 5 ||
		    len < 2 || p[5 + len - 1] != '}')
			continue;
		*ret = (struct atw_blob){p + 5, (size_t)len};
		return true;
	}
	return false;
}

/* Bytes of a field in the stream; false: not a number that fits. */
static bool cpus_field_size(struct atw_blob field, uint64_t *ret)
{
	return mul_u64(json_number(field, "size", UINT64_MAX),
		       json_number(field, "array_len", 1), ret);
}

/* Of a section or a subsection, without its head; subsections have theirs. */
static bool cpus_size(struct atw_blob vmsd, unsigned depth, uint64_t *sum)
{
	struct atw_blob list, key, value, name;
	struct json_cursor c;
	uint64_t n;

	if (depth > NESTING_MAX)
		return false;
	if (json_member(vmsd, "fields", &list))
		for (c = json_open(list); json_next(&c, &key, &value);)
			if (!cpus_field_size(value, &n) || !sum_u64(sum, n))
				return false;
	if (json_member(vmsd, "subsections", &list))
		for (c = json_open(list); json_next(&c, &key, &value);)
			if (!json_member(value, "vmsd_name", &name) ||
			    !sum_u64(sum, 1 + 1 + name.len + 4) ||
			    !cpus_size(value, depth + 1, sum))
				return false;
	return true;
}

/* ---- a CPU ---- */

/* The data of the section, found by its head, and proved by its footer. */
static bool cpus_section(struct atw_blob devices, struct atw_blob device, uint64_t instance,
			 struct atw_blob *ret)
{
	uint8_t head[12] = "\3cpu";
	const char *d = devices.data;
	uint64_t version = json_number(device, "version", UINT64_MAX), size = 0;
	const char *at = d;

	if (instance > UINT32_MAX || version > UINT32_MAX || !cpus_size(device, 0, &size))
		return false;
	for (int i = 0; i < 4; i++) {
		head[4 + i] = (uint8_t)(instance >> (24 - 8 * i));
		head[8 + i] = (uint8_t)(version >> (24 - 8 * i));
	}
	while ((at = memmem(at, devices.len - (size_t)(at - d), head, sizeof(head)))) {
		size_t off = (size_t)(at - d);
		const uint8_t *foot;

		at++;
		if (off < 5 || d[off - 5] != SECTION_FULL)
			continue;
		foot = blob_at(devices, off + sizeof(head), size);
		foot = foot ? blob_at(devices, off + sizeof(head) + size, 5) : NULL;
		if (!foot || foot[0] != SECTION_FOOTER || memcmp(foot + 1, d + off - 4, 4))
			continue;
		*ret = (struct atw_blob){d + off + sizeof(head), (size_t)size};
		return true;
	}
	return false;
}

static void cpus_set(struct qemu_cpu *cpu, enum qemu_register reg, uint64_t value)
{
	cpu->reg[reg] = value;
	cpu->have |= 1u << reg;
}

static void cpus_take_systems(struct qemu_cpu *cpu, struct atw_blob names,
			      struct atw_blob values)
{
	for (size_t at = 0; at + 8 <= names.len && at + 8 <= values.len; at += 8) {
		uint64_t name = get_be64((const char *)names.data + at);

		for (size_t i = 0; i < ARRAY_SIZE(cpus_systems); i++)
			if (name == cpus_systems[i].name)
				cpus_set(cpu, cpus_systems[i].reg,
					 get_be64((const char *)values.data + at));
	}
}

/* Returns the architecture that has such fields. */
static enum vmm_arch cpus_take(struct qemu_cpu *cpu, struct atw_blob device,
			       struct atw_blob data)
{
	struct atw_blob list, key, field, name, names = {0}, values = {0};
	enum vmm_arch arch = VMM_ARCH_OTHER;
	uint64_t at = 0, size;
	struct json_cursor c;

	if (!json_member(device, "fields", &list))
		return arch;
	for (c = json_open(list); json_next(&c, &key, &field); at += size) {
		const char *p;

		if (!cpus_field_size(field, &size) || !(p = blob_at(data, at, size)))
			break;
		if (!json_member(field, "name", &name))
			continue;
		if (blob_is(name, "cpreg_vmstate_indexes"))
			names = (struct atw_blob){p, (size_t)size};
		if (blob_is(name, "cpreg_vmstate_values"))
			values = (struct atw_blob){p, (size_t)size};
		for (size_t i = 0; i < ARRAY_SIZE(cpus_fields); i++) {
			if (!blob_is(name, cpus_fields[i].name) || (size != 8 && size != 4))
				continue;
			cpus_set(cpu, cpus_fields[i].reg,
				 size == 8 ? get_be64(p) : get_be32(p));
			arch = cpus_fields[i].arch;
		}
	}
	if (names.len && values.len)
		cpus_take_systems(cpu, names, values);
	return cpu->have >> QEMU_TTBR0 & 1 ? VMM_ARCH_ARM64 : arch;
}

int qemu_cpus_parse(struct atw_blob devices, struct qemu_cpus *ret)
{
	struct atw_blob text, list, key, device, name, data;
	_auto_free struct qemu_cpu *v = NULL;
	size_t n = 0, cap = 0;
	enum vmm_arch arch = VMM_ARCH_UNKNOWN;
	struct json_cursor c;

	*ret = (struct qemu_cpus){0};
	if (!cpus_description(devices, &text) || !json_member(text, "devices", &list))
		return ATW_OK;
	for (c = json_open(list); json_next(&c, &key, &device) && n < QEMU_CPUS_MAX;) {
		enum vmm_arch of;

		if (!json_member(device, "name", &name) || !blob_is(name, "cpu"))
			continue;
		if (!ARRAY_ROOM(v, n, cap))
			return ATW_E_NOMEM;
		v[n] = (struct qemu_cpu){0};
		if (!cpus_section(devices, device,
				  json_number(device, "instance_id", UINT64_MAX), &data))
			return ATW_OK;
		of = cpus_take(&v[n++], device, data);
		if (n > 1 && of != arch)
			return ATW_OK;
		arch = of;
	}
	ret->arch = arch;
	ret->n = n;
	ret->cpu = take_ptr(v);
	return ATW_OK;
}
