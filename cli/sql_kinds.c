/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_kinds.c - the tables of atwalk sql. */
#include "atwalk.h"
#include "sql_kinds.h"
#include "base/message.h"

#define REPORT(report, text) \
	{ .name = "report_" report, .about = text, .cmd = &cmd_report, .word = report, .pid = "--pid" }

/* Rows of one process are not those that it has among all: the report is read whole. */
#define REPORT_WHOLE(report, text) \
	{ .name = "report_" report, .about = text, .cmd = &cmd_report, .word = report }

/* Of the columns of pages, what rows of single pages have, and what sums have. */
#define OF_PAGES "physical,pfn,level,state,flags,properties,entry,node,count,kcount,swap," \
	"pageflags,order,refs,head,cgroup"
#define OF_SUMS "mapped,rss,pss,uss,private,shared,swapped,huge,thp_anon,thp_shmem,thp_file,hugetlb"

static const struct sql_kind kinds[] = {
	{ .name = "tasks", .about = "processes: ps", .cmd = &cmd_ps, .pid = "",
	  .leader = "tgid" },
	{ .name = "threads", .about = "threads as well: ps -T", .cmd = &cmd_ps, .option = "--threads",
	  .pid = "" },
	{ .name = "vmas", .about = "memory areas: pages --areas-only", .cmd = &cmd_pages,
	  .option = "--areas-only", .pid = "--pid", .ranges = true, .without = OF_PAGES },
	{ .name = "pages", .about = "pages of processes: pages", .cmd = &cmd_pages, .pid = "--pid",
	  .address = "--address", .ranges = true, .without = OF_SUMS },
	{ .name = "totals", .about = "sums of processes: pages --totals", .cmd = &cmd_pages,
	  .option = "--totals", .pid = "--pid", .without = "address,end,rights,area," OF_PAGES },
	{ .name = "ranges", .about = "what the kernel maps, or with pid = N a process: map",
	  .cmd = &cmd_map, .pid = "--pid", .ranges = true, .alone = true },
	{ .name = "walk", .about = "walk('ADDRESS'): page-table entries on the way: walk -p",
	  .cmd = &cmd_walk, .option = "--path", .pid = "--pid", .target = N_("an ADDRESS") },
	{ .name = "frames", .about = "frames('PHYS'): what maps a frame: find", .cmd = &cmd_find,
	  .pid = "--pid", .target = N_("a physical address") },
	{ .name = "memory", .about = "memory('ADDRESS+LENGTH'): its words: rd", .cmd = &cmd_rd,
	  .option = "--as=words", .pid = "--pid", .target = N_("an ADDRESS") },
	{ .name = "symbols", .about = "symbols of the kernel: info --symbols", .cmd = &cmd_info,
	  .option = "--symbols" },
	{ .name = "facts", .about = "what is known of the source: info", .cmd = &cmd_info },
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
	REPORT_WHOLE("backing", "of a guest: what the host has of its memory"),
	REPORT_WHOLE("thrash", "page faults since the start of processes: one look has no rates"),
	REPORT_WHOLE("growth", "no rows: it needs several looks"),
};

const struct sql_kind *sql_kind(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}
