/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * floor.c - a plugin of QEMU with a callback for each access of the kernel: what a recorder
 * of all accesses costs at least. The callback does nothing or, with the argument count=on,
 * what none can do without: it compares the address with the last one of this instruction,
 * and counts loads and stores. With count=pages there are counts for each page that an
 * instruction accessed: still less than for each object and thread.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "qemu/api.h"

FOR_QEMU int qemu_plugin_version = QEMU_API;
FOR_QEMU int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				 char **argv);

static void floor_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va, void *arg)
{
	(void)vcpu;
	(void)info;
	(void)va;
	(void)arg;
}

/* Of each instruction: the page that it accessed last, and how often. */
struct floor_site {
	uint64_t page, moves, loads, stores;
};

static bool floor_counts, floor_pages;

static void floor_count(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va, void *arg)
{
	struct floor_site *s = arg;

	(void)vcpu;
	if (va >> 12 != s->page) {
		s->page = va >> 12;
		s->moves++;
	}
	if (qemu_plugin_mem_is_store(info))
		s->stores++;
	else
		s->loads++;
}

/* Counts of an instruction and a page, as they came; found by a table of their numbers. */
enum { PLACE_BITS = 24, EDGES = 1 << 23 };
struct floor_edge {
	const void *site;
	uint64_t page;
	uint32_t loads, stores;
};
static struct floor_edge *floor_edges;   /* 0: of page 0, and of what there is no room for */
static uint32_t *floor_places, floor_nedges = 1;

/* Of each instruction: the last page, and its counts. */
struct floor_paged {
	uint64_t page;
	struct floor_edge *edge;
};

static struct floor_edge *floor_find(const struct floor_paged *s, uint64_t page)
{
	uint64_t i = ((page ^ (uint64_t)(uintptr_t)s) * 0x9e3779b97f4a7c15u) >> (64 - PLACE_BITS);
	struct floor_edge *e;

	for (; floor_places[i]; i = (i + 1) & ((1u << PLACE_BITS) - 1)) {
		e = &floor_edges[floor_places[i]];
		if (e->site == s && e->page == page)
			return e;
	}
	if (floor_nedges == EDGES)
		return floor_edges;
	floor_places[i] = floor_nedges;
	e = &floor_edges[floor_nedges++];
	e->site = s;
	e->page = page;
	return e;
}

static void floor_count_page(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va, void *arg)
{
	struct floor_paged *s = arg;

	(void)vcpu;
	if (va >> 12 != s->page) {
		s->page = va >> 12;
		s->edge = floor_find(s, s->page);
	}
	if (qemu_plugin_mem_is_store(info))
		s->edge->stores++;
	else
		s->edge->loads++;
}

static void floor_insn_paged(struct qemu_plugin_insn *insn)
{
	struct floor_paged *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	s->edge = floor_edges;
	qemu_plugin_register_vcpu_mem_cb(insn, floor_count_page, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, s);
}

static void floor_insn(struct qemu_plugin_insn *insn)
{
	/* As long as QEMU runs. */
	struct floor_site *s = floor_counts ? calloc(1, sizeof(*s)) : NULL;

	qemu_plugin_register_vcpu_mem_cb(insn, s ? floor_count : floor_access,
					 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, s);
}

static void floor_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	/* The kernel's half of the addresses. */
	if (!(qemu_plugin_tb_vaddr(tb) >> 63))
		return;
	for (size_t i = 0; i < n; i++)
		(floor_pages ? floor_insn_paged : floor_insn)(qemu_plugin_tb_get_insn(tb, i));
}

static void *floor_room(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		floor_counts |= !strcmp(argv[i], "count=on");
		floor_pages |= !strcmp(argv[i], "count=pages");
	}
	if (floor_pages) {
		floor_edges = floor_room(sizeof(*floor_edges) * EDGES);
		floor_places = floor_room(sizeof(*floor_places) << PLACE_BITS);
		if (floor_edges == MAP_FAILED || floor_places == MAP_FAILED)
			return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, floor_block);
	return 0;
}
