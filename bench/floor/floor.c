/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * floor.c - a plugin of QEMU with a callback for each access of the kernel that does
 * nothing: what a recorder of all accesses costs at least.
 */
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

static void floor_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	/* The kernel's half of the addresses. */
	if (!(qemu_plugin_tb_vaddr(tb) >> 63))
		return;
	for (size_t i = 0; i < n; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), floor_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, floor_block);
	return 0;
}
