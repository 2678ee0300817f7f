/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_pagemap.c - what /proc tells of this machine's processes, and what it does not. */
#include <inttypes.h>

#include "info.h"
#include "provider/proc.h"
#include "provider/provider.h"

/* What is hidden from us, with the command that would show it. */
static void frame_facts(struct facts *f, const struct atw_err *lacks)
{
	if (!lacks->status)
		fact(f, "frames", "numbers, flags, counts of mappings, memory cgroups");
	else
		fact(f, "frames", "%s%s%s", lacks->text, lacks->hint[0] ? "; " : "", lacks->hint);
}

static void way_facts(struct facts *f, const struct opened *o)
{
	struct atw_blob why;

	fact(f, "pages", "of processes: present, swapped or neither, and their areas: pages, map, and SOURCE ADDRESS");
	fact(f, "large pages", proc_scans() ? "told by PAGEMAP_SCAN" :
	     "not told apart: this kernel has no PAGEMAP_SCAN, which came with 6.7");
	fact(f, "missing", "page tables: level, entry, walk --path, --depth, --root, --cpu, --pti");
	fact(f, "missing", "the kernel's addresses, symbols and structures: ps, find, extract");
	if (atw_fact(o->source, "memory.why", &why) == ATW_OK) {
		struct atw_blob hint = { 0 };
		bool told = atw_fact(o->source, "memory.hint", &hint) == ATW_OK;

		fact(f, "not live:bpf", "%.*s%s%.*s", (int)why.len, (const char *)why.data,
		     told ? "; " : "", (int)hint.len, told ? (const char *)hint.data : "");
	} else {
		fact(f, "instead", "live:bpf reads the kernel's own tables, if it is allowed");
	}
}

int pagemap_facts_of(struct facts *f, const struct opened *o)
{
	const struct pagemap_provider_opts po = {
		.only = (uint32_t)o->pid, .flags = true, .counts = true, .cgroups = true,
	};
	struct atw_err err = { 0 };
	struct provider *p = NULL;
	int r = pagemap_provider_open(&po, NULL, NULL, &p, &err);

	if (r == ATW_OK)
		frame_facts(f, &p->lacks);
	way_facts(f, o);
	if (r == ATW_OK && o->pid)
		r = p->ops->tasks(p, &err);
	if (r == ATW_OK && o->pid)
		fact(f, "process", "%" PRIu32 " (%s), which may be read", p->task[0].pid,
		     p->task[0].name);
	provider_close(p);
	if (r == ATW_OK)
		return EXIT_COMPLETE;
	atw_err_wrap(&err, "%s", o->name);
	return complain(&err);
}
