/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_kinds.c - the tables of atwalk sql. */
#include "sql.h"

#define REPORT(report, text) { "report_" report, text, &cmd_report, report, NULL, "--pid", NULL, NULL }

static const struct sql_kind kinds[] = {
	{ "tasks", "processes: ps", &cmd_ps, NULL, NULL, "", NULL, NULL },
	{ "threads", "threads as well: ps -T", &cmd_ps, NULL, "--threads", "", NULL, NULL },
	{ "vmas", "memory areas: pages --areas-only", &cmd_pages, NULL, "--areas-only", "--pid",
	  NULL, NULL },
	{ "pages", "pages of processes: pages", &cmd_pages, NULL, NULL, "--pid", "--address", NULL },
	{ "totals", "sums of processes: pages --totals", &cmd_pages, NULL, "--totals", "--pid", NULL,
	  NULL },
	{ "ranges", "what the kernel maps, or with pid = N a process: map", &cmd_map, NULL, NULL,
	  "--pid", NULL, NULL },
	{ "walk", "walk('ADDRESS'): page-table entries on the way: walk -p", &cmd_walk, NULL, "--path",
	  "--pid", NULL, "an ADDRESS" },
	{ "frames", "frames('PHYS'): what maps a frame: find", &cmd_find, NULL, NULL, "--pid", NULL,
	  "a physical address" },
	{ "memory", "memory('ADDRESS+LENGTH'): its words: rd", &cmd_rd, NULL, "--as=words", "--pid",
	  NULL, "an ADDRESS" },
	{ "facts", "what is known of the source: info", &cmd_info, NULL, NULL, NULL, NULL, NULL },
	REPORT("basic", "pages by process and kind"),
	REPORT("areas", "areas, and the mapcounts of their pages"),
	REPORT("units", "programs and libraries"),
	REPORT("totals", "memory of programs and libraries"),
	REPORT("alerts", "areas with copied pages, or private ones beside shared ones"),
	REPORT("count", "number of pages that processes use"),
	REPORT("pages", "pages by physical address, with their owners"),
	REPORT("use", "RSS, PSS, USS and swap of processes"),
	REPORT("nodes", "memory of processes on NUMA nodes"),
	REPORT("stacks", "PSS by process, file and use"),
	REPORT("tasks", "page faults and CPU times"),
	REPORT("kernel", "objects of slab caches"),
	REPORT("machine", "use of every frame of RAM"),
	REPORT("metrics", "memory of units and of the machine"),
};

const struct sql_kind *sql_kind(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}
