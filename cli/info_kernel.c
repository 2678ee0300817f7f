/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info_kernel.c - the kernel's part of `atwalk info`: what was found, where, and what is
 * missing.
 */
#include "info.h"

static void cli_info_kernel_root_facts(struct facts *f, const struct session *o)
{
	const struct mmu_space *sp = &o->subject.space;
	const struct atw_vmcoreinfo *vi = atw_kernel_vmcoreinfo(o->target->kernel);
	uint64_t kaslr;
	atw_pa at;

	fact(f, "paging", "%s (%s)", sp->paging.name, sp->paging.help);
	fact(f, "root", "0x%" PRIx64 " (%s)",
	     sp->high.have ? sp->high.pa.u : sp->low.pa.u,
	     root_from(o));
	if (o->subject.mm && sp->high.have && sp->paging.halves != ATW_SPLIT)
		fact(f, "user root", "0x%" PRIx64 " (page-table isolation: what user mode has)",
		     sp->low.pa.u);
	if (!vi) {
		fact(f, "vmcoreinfo", atw_kernel_release(o->target->kernel)
		     ? "none: the KASLR offset is not known"
		     : "none: the kernel's release and KASLR offset are not known, and what absent entries mean is a guess");
		return;
	}
	if (atw_kernel_vmcoreinfo_at(o->target->kernel, &at) == ATW_OK)
		fact(f, "vmcoreinfo", "%zu bytes in memory at 0x%" PRIx64, vi->len, at.u);
	else
		fact(f, "vmcoreinfo", "%zu bytes in a note", vi->len);
	if (atw_vmcoreinfo_u64(vi, "KERNELOFFSET", &kaslr) == ATW_OK)
		fact(f, "kaslr", "0x%" PRIx64, kaslr);
	else
		fact(f, "kaslr", "not reported by this kernel");
}

/* Texts of the kernel's own. */
static void cli_info_kernel_banner_facts(struct facts *f, struct atw_kernel *k)
{
	char text[400];

	if (atw_kernel_banner(k, text, sizeof(text), NULL) == ATW_OK)
		fact(f, "banner", "%s", text);
	if (atw_kernel_command_line(k, text, sizeof(text), NULL) == ATW_OK)
		fact(f, "command line", "%s", text);
}

static void cli_info_kernel_percpu_facts(struct facts *f, struct atw_kernel *k,
					 bool every)
{
	struct atw_err err = { 0 };
	uint64_t offset;
	unsigned cpu;
	int r = ATW_OK;

	for (cpu = 0; (r = atw_kernel_percpu(k, cpu, &offset, &err)) == ATW_OK; cpu++)
		if (every || cpu < 16)
			fact(f, "per-cpu", "CPU %u: 0x%" PRIx64, cpu, offset);
	if (r < 0)
		fact(f, "per-cpu", "not known: %s", err.text);
	else if (!every && cpu > 16)
		fact(f, "per-cpu", "%u CPUs in all; -v lists them", cpu);
}

/* Page-table registers as the kernel loaded them, for sources without CPU registers. */
static void cli_info_kernel_cpu_tables(struct facts *f, struct atw_source *s,
				       struct atw_kernel *k, bool every)
{
	uint64_t n = UINT64_MAX, cr3;
	struct atw_cpu c;
	char key[24];

	if (atw_fact_u64(s, "cpu0.cr3", &cr3) == ATW_OK)
		return;
	(void)atw_fact_u64(s, "cpus", &n);
	for (unsigned i = 0; i < n && (every || i < 16); i++) {
		if (atw_cpu_of(k, i, &c, NULL) < 0)
			break;
		snprintf(key, sizeof(key), "cpu%u", i);
		if (c.cr3)
			fact(f, key, "CR3 0x%" PRIx64 ", CR4 0x%" PRIx64 ", mm at 0x%" PRIx64
			     ": as the kernel loaded them", c.cr3, c.cr4, c.mm);
		else
			fact(f, key, "root 0x%" PRIx64 ", mm at 0x%" PRIx64
			     ": of the task that is on it", c.tables.root.u, c.mm);
	}
}

/*
 * What else was found to understand the kernel by, and what is missing: each
 * of its members where there are types at all. An alternative of something
 * that is there is not missing; -v lists it as well.
 */
static void cli_info_kernel_found_facts(struct facts *f, struct atw_kernel *k, bool every)
{
	struct atw_err err = { 0 };
	struct atw_need n;
	uint32_t count;
	const char *symbols = atw_kernel_symbols_from(k, &count, &err), *types;

	if (symbols)
		fact(f, "symbols", "%" PRIu32 " from %s", count, symbols);
	else
		fact(f, "symbols", "none: %s", err.text);
	types = atw_kernel_types_from(k, &count, &err);
	if (types)
		fact(f, "types", "%" PRIu32 " from %s", count, types);
	else
		fact(f, "types", "none; tasks, areas and page state are not available: %s", err.text);
	for (size_t i = 0; atw_kernel_need(k, i, &n) == ATW_OK; i++) {
		bool asked = strcmp(n.kind, "symbol") ? types != NULL : symbols != NULL;

		if (asked && !n.have && (every || n.must))
			fact(f, "missing", "%s %s, for %s%s", n.kind, n.names, n.serves,
			     n.must ? " (required)" : "");
	}
}

/* The texts in memory, with which of them is of this kernel. */
static int cli_info_kernel_text_fact(void *arg, atw_pa at, size_t len, bool leads)
{
	fact(arg, "vmcoreinfo", "%zu bytes in memory at 0x%" PRIx64 "%s", len, at.u,
	     leads ? ", leads to the kernel's text" : ", stale: does not lead to a kernel");
	return 0;
}

static void cli_info_kernel_region_facts(struct facts *f, struct atw_kernel *k,
					 bool every)
{
	struct atw_region r;
	char size[16];

	for (size_t i = 0; atw_kernel_region(k, i, &r) == ATW_OK; i++)
		if (every || !strcmp(r.name, "direct map") || !strcmp(r.name, "linear map") ||
		    !strcmp(r.name, "vmemmap"))
			fact(f, "region", "0x%016" PRIx64 "-0x%016" PRIx64 " %s %s", r.first.u,
			     r.last.u + 1, num_human(r.last.u - r.first.u + 1, size), r.name);
}

static void cli_info_kernel_node_facts(struct facts *f, struct atw_kernel *k)
{
	struct atw_err err = { 0 };
	struct atw_node n;
	int r;

	for (size_t i = 0; (r = atw_kernel_node(k, i, &n, &err)) == ATW_OK; i++)
		if (n.pages + n.first)
			fact(f, "node", "%" PRIu32 ": %" PRIu64 " frames from 0x%" PRIx64 " on",
			     n.id, n.pages, n.first);
	if (r < 0)
		fact(f, "node", "not known: %s", err.text);
}

static void cli_info_kernel_module_facts(struct facts *f, struct atw_kernel *k,
					 bool every)
{
	struct atw_err err = { 0 };
	struct atw_module_types t;
	uint64_t types = 0;
	size_t n = 0;
	int r;

	while ((r = atw_kernel_module_types(k, n, &t, &err)) == ATW_OK) {
		types += t.count;
		n++;
		if (every)
			fact(f, "module types", t.count ? "%s: %" PRIu32
			     : "%s: cannot be read", t.name, t.count);
	}
	if (r < 0)
		fact(f, "module types", "not known: %s", err.text);
	else
		fact(f, "module types", "%" PRIu64 " of %zu module%s", types, n, n == 1 ? "" : "s");
}

void kernel_facts(struct facts *f, const struct session *o, bool every)
{
	struct atw_kernel *k = o->target->kernel;
	struct atw_err err = { 0 };
	uint32_t count;

	cli_info_kernel_root_facts(f, o);
	if (every)
		atw_kernel_texts(k, cli_info_kernel_text_fact, f);
	cli_info_kernel_banner_facts(f, k);
	cli_info_kernel_found_facts(f, k, every);
	cli_info_kernel_region_facts(f, k, every);
	/* Both need types, and missing types were reported above. */
	if (atw_kernel_types_from(k, &count, &err)) {
		cli_info_kernel_module_facts(f, k, every);
		cli_info_kernel_node_facts(f, k);
	}
	cli_info_kernel_percpu_facts(f, k, every);
	cli_info_kernel_cpu_tables(f, o->target->source, k, every);
}
