/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers.c - what a function is called with, and what it gives back: registers by the
 * names that debuggers have for them, and memory as the CPU sees it. Interface 2 and later.
 */
#include "qemu/api.h"

#if QEMU_API >= 2

#include <dlfcn.h>
#include <string.h>

#include "registers.h"

/* The calling conventions: Linux has those of the psABI. */
static const char *const names[][REGISTERS] = {
	[CALL_X86] = {
		[REG_SP] = "rsp", [REG_RESULT] = "rax",
		[REG_ARG] = "rdi", "rsi", "rdx", "rcx",
	},
	[CALL_ARM64] = {
		[REG_SP] = "sp", [REG_RESULT] = "x0", [REG_LINK] = "x30",
		[REG_ARG] = "x0", "x1", "x2", "x3",
	},
	[CALL_RISCV] = {
		[REG_SP] = "sp", [REG_RESULT] = "a0", [REG_LINK] = "ra",
		[REG_ARG] = "a0", "a1", "a2", "a3",
	},
};

static struct qemu_plugin_register *handles[REGISTERS];
static bool looked;
static GByteArray *bytes;
static qemu_plugin_read_memory_vaddr_fn *read_memory;

bool registers_init(void)
{
	void *fn = dlsym(RTLD_DEFAULT, "qemu_plugin_read_memory_vaddr");

	memcpy(&read_memory, &fn, sizeof(fn));
	bytes = g_byte_array_new();
	return rec.machine != CALL_OTHER;
}

/* They can only be asked for when a CPU runs, and are the same ones for all. */
static void registers_look(void)
{
	GArray *all = qemu_plugin_get_registers();
	const qemu_plugin_reg_descriptor *reg = (const void *)all->data;

	looked = true;
	for (unsigned i = 0; i < all->len; i++)
		for (unsigned r = 0; r < REGISTERS; r++)
			if (!handles[r] && names[rec.machine][r] && reg[i].name &&
			    !strcmp(reg[i].name, names[rec.machine][r]))
				handles[r] = reg[i].handle;
	g_array_free(all, 1);
}

bool register_read(unsigned reg, uint64_t *ret)
{
	if (!looked)
		registers_look();
	if (!handles[reg])
		return false;
	g_byte_array_set_size(bytes, 0);
	qemu_plugin_read_register(handles[reg], bytes);
	if (bytes->len < sizeof(*ret))
		return false;
	memcpy(ret, bytes->data, sizeof(*ret));
	return true;
}

bool memory_read(uint64_t va, void *ret, uint64_t len)
{
	const void *p;

	if (read_memory && read_memory(va, bytes, len) && bytes->len >= len) {
		memcpy(ret, bytes->data, len);
		return true;
	}
	p = guest(va, len);
	if (p)
		memcpy(ret, p, len);
	return p;
}

/* x86 has it on the stack, where sp points to when a function is entered. */
uint64_t return_address(uint64_t sp)
{
	uint64_t ip = 0;

	if (rec.machine == CALL_X86)
		return memory_read(sp, &ip, sizeof(ip)) ? ip : 0;
	return register_read(REG_LINK, &ip) ? ip : 0;
}

#endif
