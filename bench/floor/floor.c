/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * floor.c - a plugin of QEMU with a callback for each access of the kernel: what a recorder
 * of all accesses costs at least. The callback does nothing or, with the argument count=on,
 * what none can do without: it compares the address with the last one of this instruction,
 * and counts loads and stores.
 */
#include <stdlib.h>
#include <string.h>

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

static bool floor_counts;

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
		floor_insn(qemu_plugin_tb_get_insn(tb, i));
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		floor_counts |= !strcmp(argv[i], "count=on");
	qemu_plugin_register_vcpu_tb_trans_cb(id, floor_block);
	return 0;
}
