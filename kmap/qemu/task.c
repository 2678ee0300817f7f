/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task.c - the task that runs on a CPU.
 *
 * Version 1 of the interface gives no access to registers, and none are used here. The
 * function that switches tasks saves the registers of one and then loads those of the
 * next: its first load is from a known place in the next task's struct. Linux:
 * arch/x86/entry/entry_64.S (__switch_to_asm), arch/arm64/kernel/entry.S
 * (cpu_switch_to), arch/riscv/kernel/entry.S (__switch_to).
 */
#include <string.h>

#include "recorder.h"

static uint64_t next_look = 1;
static const uint32_t nothing;   /* where the count is not known */

void task_learn(void)
{
	const struct kshare_kernel *k = &rec.s->kernel;

	for (unsigned i = 0; i < KSHARE_CPUS; i++) {
		const uint32_t *depth = k->of_cpu[i] ? guest(k->of_cpu[i], 4) : NULL;

		if (depth || !rec.cpu[i].depth)
			rec.cpu[i].depth = depth ? depth : &nothing;
	}
}

void task_look(struct vcpu *c)
{
	const char *name = c->task ? guest(c->task + rec.s->kernel.comm, KSHARE_COMM) : NULL;

	if (name)
		c->task_id = kstore_task(&rec.store, c->pid, name);
}

void task_load(unsigned vcpu, uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	struct vcpu *c = &rec.cpu[vcpu];
	uint64_t task = va - k->thread, stack;
	uint32_t pid;

	if (!c->changing)
		return;
	c->changing = false;
	event_forget(vcpu);
	if (!guest_u32(task + k->pid, &pid))
		return;
	c->task = task;
	c->pid = (int32_t)pid;
	c->task_id = c->pid & KSHARE_PID;
	task_look(c);
	if (k->in_task && !k->of_cpu[0]) {
		c->depth = guest(task + k->in_task, 4);
		c->depth = c->depth ? c->depth : &nothing;
	}
	/* At early switches struct pages and the bounds of regions are missing: retry. */
	if (++rec.s->count.switches == next_look && (next_look <= 512 || !k->nvmem)) {
		next_look *= 8;
		learn_memory();
	}
	if (k->stack_size && guest_u64(task + k->stack, &stack))
		object_stack(c, stack);
}

void task_name(const struct vcpu *c, char ret[KSHARE_COMM])
{
	const char *name = c->task ? guest(c->task + rec.s->kernel.comm, KSHARE_COMM) : NULL;

	if (current_pid(c) < 0)
		name = *c->depth & 0xff0000 ? "hardirq\0\0\0\0\0\0\0\0" : "softirq\0\0\0\0\0\0\0\0";
	memcpy(ret, name ? name : "swapper\0\0\0\0\0\0\0\0", KSHARE_COMM);
}
