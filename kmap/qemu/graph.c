/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph.c - recording of calls between functions.
 *
 * The target of a direct call is known at translation: executions are only counted. The
 * target of an indirect call is the next block of code that begins; on x86, kernels call
 * a thunk that jumps through a register, so it is the first block outside of the thunk.
 * If an interrupt comes in between, its entry is taken for the target: once in millions.
 */
#include "qemu/api.h"
#include "recorder.h"

static bool graph_is_open(const struct vcpu *c)
{
	return !c->tracing &&
	       atomic_load_explicit(&rec.s->gate, memory_order_relaxed) & KSHARE_GRAPH;
}

/* NULL: no room. */
static struct kshare_pair *graph_find(uint64_t from, uint64_t to)
{
	uint32_t max = rec.s->at.max_calls;
	uint64_t i = (from * 0x9e3779b97f4a7c15u ^ to * 0xc2b2ae3d27d4eb4fu) >> 20 & (max - 1);
	struct kshare_pair *call;

	for (;; i = (i + 1) & (max - 1)) {
		call = kshare_pair(rec.s, (uint32_t)i);
		if (call->from == from && call->to == to)
			return call;
		if (!call->from)
			break;
	}
	/* A quarter stays free, so that searches end. */
	if (rec.s->count.calls >= max - max / 4)
		return NULL;
	rec.s->count.calls++;
	call->to = to;
	call->from = from;
	return call;
}

static void graph_at_direct(unsigned vcpu, void *arg)
{
	struct kshare_pair *call = arg;

	lock();
	if (graph_is_open(&rec.cpu[vcpu])) {
		if (call)
			call->count++;
		else
			rec.s->count.lost_calls++;
	}
	unlock();
}

static void graph_at_indirect(unsigned vcpu, void *arg)
{
	rec.cpu[vcpu].calls_from = (uint64_t)(uintptr_t)arg;
}

static void graph_at_block(unsigned vcpu, void *arg)
{
	struct vcpu *c = &rec.cpu[vcpu];
	struct kshare_pair *call;

	if (likely(!c->calls_from))
		return;
	lock();
	if (graph_is_open(c)) {
		call = graph_find(c->calls_from, (uint64_t)(uintptr_t)arg);
		if (call)
			call->count++;
		else
			rec.s->count.lost_calls++;
	}
	c->calls_from = 0;
	unlock();
}

static bool graph_is_through(uint64_t ip)
{
	const struct kshare_code *t = &rec.s->kernel.through;

	return ip - t->start < t->end - t->start;
}

void graph_watch(struct qemu_plugin_insn *insn, uint64_t ip, bool begins)
{
	enum call_insn kind;
	uint64_t target = 0;
	uint8_t bytes[16];

	if (!rec.s->at.max_calls || !rec.known)
		return;
	if (begins && !graph_is_through(ip))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, graph_at_block,
						       QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)ip);
	kind = call_insn(rec.machine, ip, bytes, insn_bytes(insn, bytes), &target);
	if (kind == CALL_NONE || graph_is_through(ip))
		return;
	if (kind == CALL_DIRECT && !graph_is_through(target)) {
		/* Translation callbacks run with the lock. */
		qemu_plugin_register_vcpu_insn_exec_cb(insn, graph_at_direct,
						       QEMU_PLUGIN_CB_NO_REGS,
						       graph_find(ip, target));
		return;
	}
	qemu_plugin_register_vcpu_insn_exec_cb(
		insn, graph_at_indirect, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)ip);
}
