// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vm_layout.c - QEMU: hw/i386/pc_piix.c, pc_q35.c and microvm.c, pc_memory_init();
 * hw/arm/virt.c and hw/riscv/virt.c, their memory maps.
 */
#include "format/vm_layout.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define VM_4G (UINT64_C(4) << 30)
/*
 * From 7.1 on, RAM above 4G moves to 1 TiB on AMD's CPU models if it would reach the
 * addresses of HyperTransport. Which model a CPU is cannot be known from here.
 */
#define VM_HYPERTRANSPORT UINT64_C(0xfd00000000)

/* Types are named FAMILY or FAMILY-VERSION. */
struct vm_machine {
	enum vmm_arch arch;
	const char *family;
	uint64_t base;
	/* x86: with RAM of `limit` or more, what is above `low` moves up to 4G. */
	uint64_t limit, low;
};

/* The first one of an architecture is the program's default, if it has one. */
static const struct vm_machine vm_machines[] = {
	/* gigabyte_align is off in types up to 1.7 */
	{VMM_ARCH_X86_64, "pc-i440fx-1", 0, 0xe0000000, 0xe0000000},
	{VMM_ARCH_X86_64, "pc-1", 0, 0xe0000000, 0xe0000000},
	{VMM_ARCH_X86_64, "pc-q35", 0, 0xb0000000, 0x80000000},
	{VMM_ARCH_X86_64, "pc-i440fx", 0, 0xe0000000, 0xc0000000},
	{VMM_ARCH_X86_64, "pc", 0, 0xe0000000, 0xc0000000},
	{VMM_ARCH_X86_64, "q35", 0, 0xb0000000, 0x80000000},
	{VMM_ARCH_X86_64, "microvm", 0, 0xc0000000, 0xc0000000},
	{VMM_ARCH_ARM64, "virt", 0x40000000, 0, 0},
	{VMM_ARCH_ARM64, "sbsa-ref", 0x10000000000, 0, 0},
	{VMM_ARCH_ARM64, "raspi3b", 0, 0, 0},
	{VMM_ARCH_RISCV64, "virt", 0x80000000, 0, 0},
	{VMM_ARCH_RISCV64, "sifive_u", 0x80000000, 0, 0},
	{VMM_ARCH_RISCV64, "spike", 0x80000000, 0, 0},
};

static bool vm_is_family(struct atw_blob type, const char *family)
{
	size_t n = strlen(family);
	const char *s = type.data;

	/* A version follows; "pc-i440fx-1" is the beginning of one. */
	return blob_begins(type, family) && (type.len == n || s[n] == '-' || s[n] == '.');
}

static const struct vm_machine *vm_find_machine(enum vmm_arch arch, struct atw_blob type)
{
	for (size_t i = 0; i < ARRAY_SIZE(vm_machines); i++)
		if (vm_machines[i].arch == arch &&
		    vm_is_family(type, vm_machines[i].family))
			return &vm_machines[i];
	return NULL;
}

static struct atw_blob vm_default_type(enum vmm_arch arch)
{
	const char *type = arch == VMM_ARCH_X86_64    ? "pc"
			   : arch == VMM_ARCH_RISCV64 ? "spike"
						      : "";

	return (struct atw_blob){type, strlen(type)};
}

uint64_t vm_usual_base(enum vmm_arch arch)
{
	for (size_t i = 0; i < ARRAY_SIZE(vm_machines); i++)
		if (vm_machines[i].arch == arch)
			return vm_machines[i].base;
	return 0;
}

/* The end of the part below 4G. */
static uint64_t vm_low_end(const struct vm_machine *m, const struct vmm_words *w)
{
	uint64_t limit = m->limit, low;

	if (w->below_4g && w->below_4g < limit)
		limit = w->below_4g;
	low = m->low < limit && w->ram >= m->limit ? m->low : limit;
	if (w->below_4g && w->below_4g < low)
		low = w->below_4g;
	return w->ram < low ? w->ram : low;
}

int vm_layout_of(enum vmm_arch arch, const struct vmm_words *w, struct vm_layout *ret,
		 struct atw_err *err)
{
	struct atw_blob type = w->machine.len ? w->machine : vm_default_type(arch);
	const struct vm_machine *m = vm_find_machine(arch, type);
	struct vm_layout l = {0};
	uint64_t low;

	if (!m)
		return atw_err_set(
			err, ATW_E_UNSUPPORTED,
			"where the machine '%.*s' of QEMU has its RAM is not known",
			(int)(type.len > 64 ? 64 : type.len), (const char *)type.data);
	if (!w->ram || w->ram > UINT64_MAX - m->base - VM_4G)
		return atw_err_set(err, ATW_E_FORMAT,
				   "0x%" PRIx64 " is not a size of RAM", w->ram);
	low = m->limit ? vm_low_end(m, w) : w->ram;
	l.machine = m->family;
	l.v[l.n++] = (struct vm_extent){m->base, low, 0};
	if (low < w->ram)
		l.v[l.n++] = (struct vm_extent){VM_4G, w->ram - low, low};
	if (arch == VMM_ARCH_X86_64 && l.n == 2 && VM_4G + l.v[1].len > VM_HYPERTRANSPORT)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "where a guest of x86_64 with 1008 GiB above 4 GiB "
				   "has its RAM is not known");
	*ret = l;
	return ATW_OK;
}
