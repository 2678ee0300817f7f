/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info_control.c - control registers by name, and the protections that are enabled.
 *
 * Dumps by QEMU have CR0 and CR4 of each x86 CPU. Otherwise CR4 and other values are read
 * from the copies that the kernel keeps in memory. Registers of other machines are in no
 * supported format and are reported as not known.
 */
#include "base/bytes.h"
#include "info.h"
#include "linux/kernel.h"
#include "paging/control.h"
#include "linux/tasks.h"
#include "walk/memory.h"

enum { CPUS_SHOWN = 16, CPUS_MAX = 8192, VALUES = 8 };

/* Values of a register: each value once, with the CPUs that have it. */
struct values {
	const char *name;
	const char *from;                /* behind the CPUs; NULL: the CPU's own */
	uint64_t value[VALUES];
	unsigned first[VALUES], count[VALUES];
	size_t n;
	unsigned cpus, others;           /* others: of values that found no place */
};

static void info_control_add_value(struct values *v, unsigned cpu, uint64_t value)
{
	size_t i;

	v->cpus++;
	for (i = 0; i < v->n && v->value[i] != value; i++)
		;
	if (i == VALUES) {
		v->others++;
		return;
	}
	if (i == v->n) {
		v->first[i] = cpu;
		v->value[v->n++] = value;
	}
	v->count[i]++;
}

static void info_control_value_facts(struct facts *f, const struct values *v)
{
	const struct control_register *r = control_find(v->name);
	char text[400], of_cpus[64] = "";

	for (size_t i = 0; i < v->n; i++) {
		if (v->cpus == 1 && v->from && !strcmp(v->name, "EFER"))
			snprintf(of_cpus, sizeof(of_cpus), " (%s)", v->from);
		else if (v->count[i] == v->cpus && v->cpus > 1)
			snprintf(of_cpus, sizeof(of_cpus), " (all %u CPUs%s%s)", v->cpus, v->from ? ", " : "",
				 v->from ? v->from : "");
		else if (v->count[i] == 1)
			snprintf(of_cpus, sizeof(of_cpus), " (CPU %u%s%s)", v->first[i],
				 v->from ? ", " : "", v->from ? v->from : "");
		else
			snprintf(of_cpus, sizeof(of_cpus), " (%u CPUs, the first is CPU %u%s%s)", v->count[i],
				 v->first[i], v->from ? ", " : "", v->from ? v->from : "");
		fact(f, v->name, "0x%" PRIx64 "%s: %s", v->value[i], of_cpus,
		     control_text(r, v->value[i], text, sizeof(text)));
	}
	if (v->others)
		fact(f, v->name, "%u CPUs have other values", v->others);
}

/* One bit of a register, in all CPUs. */
static void info_control_bit_fact(struct facts *f, const char *name,
				  const struct values *v, const char *field)
{
	const struct control_field *b = control_field_find(control_find(v->name), field);
	unsigned on = 0;

	if (!v->cpus || v->others) {
		fact(f, "protection", "%s: not known: there is no %s", name, v->name);
		return;
	}
	for (size_t i = 0; i < v->n; i++)
		on += control_get(b, v->value[i]) ? v->count[i] : 0;
	if (on && on < v->cpus)
		fact(f, "protection", "%s: on in %u of %u CPUs (%s.%s)", name, on, v->cpus, v->name, field);
	else
		fact(f, "protection", "%s: %s (%s.%s)", name, on ? "on" : "off", v->name, field);
}

/* ---- x86 ---- */

static bool info_control_note_register(struct atw_source *s, unsigned cpu,
				       const char *reg, uint64_t *ret)
{
	char key[32];

	snprintf(key, sizeof(key), "cpu%u.%s", cpu, reg);
	return atw_fact_u64(s, key, ret) == ATW_OK;
}

static void info_control_x86_registers(struct atw_source *s, struct atw_kernel *k,
				       struct values *c0, struct values *c4)
{
	uint64_t n = CPUS_MAX, u;
	struct atw_cpu c;

	(void)atw_fact_u64(s, "cpus", &n);
	for (unsigned i = 0; i < n && i < CPUS_MAX; i++) {
		if (info_control_note_register(s, i, "cr0", &u))
			info_control_add_value(c0, i, u);
		if (info_control_note_register(s, i, "cr4", &u))
			info_control_add_value(c4, i, u);
		else if (!i)
			break;           /* none of them has, then */
	}
	if (c4->cpus || !k)
		return;
	c4->from = "as the kernel wrote it";
	for (unsigned i = 0; i < n && i < CPUS_SHOWN && atw_cpu_of(k, i, &c, NULL) == ATW_OK; i++)
		if (c.cr4)
			info_control_add_value(c4, i, c.cr4);
}

/*
 * Does a PTE in use have the bit? Without EFER.NXE it is reserved, and accesses to that
 * page would fault.
 */
static bool info_control_nx_in_use(struct atw_kernel *k)
{
	struct mmu_seen s;
	struct atw_cpu c;

	return atw_cpu_of(k, 0, &c, NULL) == ATW_OK && k->have_own && k->own.paging.word_size == 8 &&
	       mmu_translate(&k->own, ATW_VA(c.mm), &s, NULL) == ATW_OK && s.kind == ATW_LEAF &&
	       !s.loss && load_word(s.words, 8, 0) >> 63;
}

static void info_control_nx_fact(struct facts *f, struct atw_kernel *k,
				 const struct values *efer)
{
	uint64_t mask = 0;
	struct kmem *m;

	if (efer->cpus) {
		info_control_bit_fact(f, "NX", efer, "NXE");
		return;
	}
	/* _PAGE_NX; x86_configure_nx() */
	if (!k || !kernel_needs(k)->symbol[Y_pte_mask] || kernel_kmem(k, &m, NULL) < 0 ||
	    kmem_u64(m, kernel_needs(k)->symbol[Y_pte_mask], &mask, NULL) < 0 || !mask) {
		if (k && info_control_nx_in_use(k))
			fact(f, "protection", "NX: on (entries of the kernel's data have it)");
		else
			fact(f, "protection", "NX: not known: there is neither EFER nor __supported_pte_mask");
	} else {
		fact(f, "protection", "NX: %s (__supported_pte_mask)", mask >> 63 ? "on" : "off");
	}
}

static void info_control_x86_facts(struct facts *f, struct atw_source *s,
				   struct atw_kernel *k)
{
	static const struct { const char *name, *field; } bits[] = {
		{ "SMEP", "SMEP" }, { "SMAP", "SMAP" }, { "UMIP", "UMIP" }, { "PCID", "PCIDE" },
		{ "5-level paging", "LA57" }, { "protection keys", "PKE" },
		{ "supervisor protection keys", "PKS" }, { "CET", "CET" },
		{ "LASS", "LASS" },
	};
	struct values c0 = { .name = "CR0" }, c4 = { .name = "CR4" };
	struct values efer = { .name = "EFER", .from = "as CPUs are started" };
	uint64_t u;
	int isolated = k ? mm_kernel_isolated(k) : -1;

	info_control_x86_registers(s, k, &c0, &c4);
	if (k && kernel_started_efer(k, &u))
		info_control_add_value(&efer, 0, u);
	info_control_value_facts(f, &c0);
	info_control_value_facts(f, &c4);
	info_control_value_facts(f, &efer);
	if (!c0.cpus)
		fact(f, "CR0", "not known: the source has no CPU registers (QEMU's dumps have them)");
	if (!c4.cpus)
		fact(f, "CR4", "not known: the source has no CPU registers, and cpu_tlbstate was not found");
	if (!efer.cpus)
		fact(f, "EFER", "not known: the trampoline header of the kernel was not found");
	fact(f, "protection", "page-table isolation: %s", isolated < 0
	     ? "not known: the kernel's own tables are not in the source" : isolated
	     ? "on (user mode has tables of its own)" : "off");
	info_control_bit_fact(f, "WP", &c0, "WP");
	info_control_nx_fact(f, k, &efer);
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		info_control_bit_fact(f, bits[i].name, &c4, bits[i].field);
}

/* ---- arm64 ---- */

/* PSTATE.PAN of a CPU that was in the kernel, where the source has its PSTATE. */
static void info_control_pan_fact(struct facts *f, struct atw_source *s)
{
	/* struct elf_prstatus of aarch64: pr_reg is x0 to x30, sp, pc, pstate. */
	enum { SIZE = 392, PSTATE = 112 + 33 * 8, MODE = 0xf, EL1T = 4, PAN = 22 };
	uint64_t n = 0, pstate;
	unsigned seen = 0;
	struct atw_blob b;
	char key[32];

	(void)atw_fact_u64(s, "cpus", &n);
	for (unsigned i = 0; i < n && i < CPUS_MAX; i++) {
		snprintf(key, sizeof(key), "cpu%u.prstatus", i);
		if (atw_fact(s, key, &b) != ATW_OK || b.len != SIZE)
			continue;
		pstate = get_le64((const uint8_t *)b.data + PSTATE);
		if ((pstate & MODE) < EL1T)
			continue;        /* user mode */
		seen++;
		if (pstate >> PAN & 1) {
			fact(f, "protection", "PAN: on (PSTATE.PAN of CPU %u)", i);
			return;
		}
	}
	if (seen)
		fact(f, "protection", "PAN: not known: PSTATE.PAN is clear in the kernel; the CPU has none, or "
		     "the dump does not record it");
	else
		fact(f, "protection", "PAN: not known: no CPU's PSTATE is of the kernel");
}

static void info_control_arm64_facts(struct facts *f, struct atw_source *s,
				     struct atw_kernel *k)
{
	const struct atw_vmcoreinfo *vi = k ? atw_kernel_vmcoreinfo(k) : NULL;
	const struct needs *n = k ? kernel_needs(k) : NULL;
	uint8_t ng = 0;
	uint64_t t1sz;
	struct kmem *m;

	fact(f, "SCTLR_EL1", "not known: no dump of arm64 has system registers");
	if (vi && atw_vmcoreinfo_u64(vi, "NUMBER(TCR_EL1_T1SZ)", &t1sz) == ATW_OK)
		fact(f, "TCR_EL1", "T1SZ=0x%" PRIx64 " (VMCOREINFO); other fields are not known: no dump of "
		     "arm64 has system registers", t1sz);
	else
		fact(f, "TCR_EL1", "not known: no dump of arm64 has system registers");
	/* It is set where the kernel is unmapped in user mode: arch/arm64/kernel/cpufeature.c. */
	if (n && n->symbol[Y_ng_mappings] && kernel_kmem(k, &m, NULL) == ATW_OK &&
	    kmem_read(m, n->symbol[Y_ng_mappings], &ng, 1, NULL) == ATW_OK)
		fact(f, "protection", "page-table isolation: %s (arm64_use_ng_mappings)",
		     ng ? "on" : "off");
	else
		fact(f, "protection", "page-table isolation: not known: no symbol arm64_use_ng_mappings");
	info_control_pan_fact(f, s);
}

/* ---- riscv ---- */

static void info_control_riscv_facts(struct facts *f, struct atw_source *s,
				     struct atw_kernel *k)
{
	const struct needs *n = k ? kernel_needs(k) : NULL;
	uint64_t cpus = CPUS_MAX, mode;
	struct atw_cpu c;
	struct kmem *m;

	if (!n || !n->symbol[Y_satp_mode] || kernel_kmem(k, &m, NULL) < 0 ||
	    kmem_u64(m, n->symbol[Y_satp_mode], &mode, NULL) < 0 || !mode) {
		fact(f, "satp", "not known: no dump of RISC-V has it, and satp_mode was not found");
		return;
	}
	(void)atw_fact_u64(s, "cpus", &cpus);
	for (unsigned i = 0; i < cpus && i < CPUS_SHOWN && atw_cpu_of(k, i, &c, NULL) == ATW_OK; i++)
		fact(f, "satp", "MODE=%" PRIu64 " PPN=0x%" PRIx64 " (CPU %u, by the tables of the task that is on "
		     "it); ASID is not known", mode >> 60, c.tables.root.u >> 12, i);
	fact(f, "protection", "page-table isolation: off (Linux has none on RISC-V)");
	fact(f, "protection", "SUM: not known: no dump of RISC-V has sstatus");
}

void control_facts(struct facts *f, const struct session *o)
{
	switch (o->subject.space.paging.family) {
	case ATW_X86:
		info_control_x86_facts(f, o->target->source, o->target->kernel);
		break;
	case ATW_ARM64:
		info_control_arm64_facts(f, o->target->source, o->target->kernel);
		break;
	case ATW_RISCV:
		info_control_riscv_facts(f, o->target->source, o->target->kernel);
		break;
	default:
		break;
	}
}
