// SPDX-License-Identifier: GPL-2.0-or-later
/* cpu_notes.c - control registers from notes of QEMU. */
#include "source/cpu_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"

void cpu_notes_deinit(struct cpu_notes *c)
{
	free(c->cpu);
	*c = (struct cpu_notes){ 0 };
}

static struct cpu_note *cpu_at(struct cpu_notes *c, size_t i)
{
	if (!ARRAY_ROOM(c->cpu, i, c->cap))
		return NULL;
	if (i == c->n)
		c->cpu[c->n++] = (struct cpu_note){ 0 };
	return &c->cpu[i];
}

int cpu_notes_take(struct cpu_notes *c, const struct elf_note *n)
{
	bool prstatus = elf_note_is(n, "CORE", ELF_NT_PRSTATUS);
	size_t *seen = prstatus ? &c->nprstatus : &c->nqemu;
	struct cpu_note *cpu;

	if ((!prstatus && !elf_note_is(n, "QEMU", 0)) || *seen == CPUS_MAX)
		return ATW_OK;
	cpu = cpu_at(c, (*seen)++);
	if (!cpu)
		return ATW_E_NOMEM;
	*(prstatus ? &cpu->prstatus : &cpu->qemu) = *n;
	return ATW_OK;
}

int cpu_notes_fact(const struct cpu_notes *c, const char *key, struct atw_blob *ret)
{
	const char *dot = strchr(key, '.');
	const struct cpu_note *cpu;
	const void *p;
	uint64_t n;

	if (strncmp(key, "cpu", 3) || !dot ||
	    !num_dec(key + 3, (size_t)(dot - key - 3), &n) || n >= c->n)
		return ATW_E_MISSING;
	cpu = &c->cpu[n];
	if (!strcmp(dot, ".prstatus") && cpu->prstatus.desc.len) {
		*ret = cpu->prstatus.desc;
		return ATW_OK;
	}
	if (strncmp(dot, ".cr", 3) || dot[3] < '0' || dot[3] > '4' || dot[4])
		return ATW_E_MISSING;
	p = elf_qemu_cr(&cpu->qemu, (unsigned)(dot[3] - '0'));
	if (!p)
		return ATW_E_MISSING;
	*ret = (struct atw_blob){ p, 8 };
	return ATW_OK;
}
