/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.c - allocators without a tracepoint (listed in kmap/lib/introduce_calls.c): their
 * arguments at entry, and their results at return. From version 2 of the interface on,
 * which gives access to registers.
 *
 * A call is over when the same function returns with the stack pointer as it was: its
 * own return is watched, not the place where it goes to, for that may have been
 * translated long before, and be of a function that merely jumped here. What is freed is
 * over when the function is entered, as with tracepoints.
 */
#include "qemu/api.h"
#include "recorder.h"

#if QEMU_API >= 2

#include <stdlib.h>
#include <string.h>

#include "registers.h"

enum { SETS = 64, WAYS = 4, AT_ONCE = 256, MOST = 1 << 20 };

/* A call that did not return yet. Stacks are of tasks, so sp identifies its task. */
static struct call {
	uint64_t sp;             /* 0: none */
	uint64_t site, arg[ARGS];
	uint64_t clock;          /* of objects, when it was entered */
	uint32_t hook;
} calls[SETS][WAYS];

static bool known;               /* how this machine calls functions */

/* ---- what they are about ---- */

static uint64_t calls_whole_pages(uint64_t bytes)
{
	uint64_t page = 1ull << rec.s->kernel.page_shift;

	return (bytes + page - 1) & ~(page - 1);
}

/* Did a tracepoint report this object meanwhile? */
static bool calls_is_known(uint64_t va, uint64_t since)
{
	const uint32_t *word = shadow_fine(va, 1);
	const struct kshare_object *o = word ? kshare_object(rec.s, *word) : NULL;

	return o && *word && o->va == va && o->alloc_time > since;
}

static void calls_bulk(const struct vcpu *c, uint64_t cache, uint64_t at, uint64_t n, bool frees,
		 uint64_t ip, uint64_t since)
{
	uint64_t p[AT_ONCE];
	uint32_t size = 0;

	if (!frees && rec.s->kernel.cache_size)
		guest_u32(cache + rec.s->kernel.cache_size, &size);
	if (n > MOST || (!frees && !size)) {
		rec.s->count.unread++;
		return;
	}
	for (uint64_t done = 0, now; done < n; done += now) {
		now = n - done < AT_ONCE ? n - done : AT_ONCE;
		if (!memory_read(at + done * 8, p, now * 8)) {
			rec.s->count.unread++;
			return;
		}
		for (uint64_t i = 0; i < now; i++) {
			if (p[i] && frees)
				object_slab_free(p[i], ip);
			else if (p[i] && (rec.s->by_site || !calls_is_known(p[i], since)))
				object_slab(c, KSHARE_T_BULK, p[i], size, ip);
		}
	}
}

/* A per-CPU allocation is one object for each CPU. */
static void calls_of_cpus(const struct vcpu *c, uint64_t ptr, uint64_t bytes, bool frees, uint64_t ip)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint32_t n = 0;

	if (!guest_u32(k->cpus, &n) || n > 8192) {
		rec.s->count.unread++;
		return;
	}
	for (uint32_t cpu = 0; cpu < n; cpu++) {
		uint64_t base;

		if (!guest_u64(k->percpu + 8ull * cpu, &base)) {
			rec.s->count.unread++;
			return;
		}
		if (frees)
			object_percpu_free(base + ptr, ip);
		else
			object_percpu(c, base + ptr, bytes, ip);
	}
}

/* ---- before there is anything else ---- */

/*
 * Until the mapping of RAM is known, early allocations wait. It is learned from the
 * first function that returns an address in the direct map after a request for a
 * physical one.
 */
static struct early { uint64_t pa, bytes, site; } *early;
static size_t nearly, early_room;
static uint64_t asked_by, last_pa;

static bool calls_wait_early(struct early e)
{
	if (nearly == early_room) {
		size_t room = early_room ? early_room * 2 : 256;
		struct early *more = realloc(early, room * sizeof(*more));

		if (!more)
			return false;
		early = more;
		early_room = room;
	}
	early[nearly++] = e;
	return true;
}

static void calls_add_memblock(const struct vcpu *c, uint64_t pa, uint64_t bytes, uint64_t site)
{
	if (rec.near_len)
		object_early(c, rec.s->kernel.direct + pa, bytes, site);
	else
		rec.s->count.lost_objects += !calls_wait_early((struct early){ pa, bytes, site });
}

static void calls_learn_direct(const struct vcpu *c, uint64_t va)
{
	if (rec.near_len || !last_pa || (int64_t)va >= 0)
		return;
	rec.s->kernel.direct = va - last_pa;
	learn_memory();
	for (size_t i = 0; rec.near_len && i < nearly; i++)
		calls_add_memblock(c, early[i].pa, early[i].bytes, early[i].site);
	if (rec.near_len)
		nearly = 0;
}

/* ---- enter and return ---- */

static void calls_enter(const struct call *call, enum kshare_call kind, const struct vcpu *c)
{
	const uint64_t *arg = call->arg;

	switch (kind) {
	case KSHARE_BULK_FREE:
		calls_bulk(c, 0, arg[2], arg[1], true, call->site, 0);
		break;
	case KSHARE_VFREE:
		if (arg[0])
			object_mapped_free(arg[0], call->site);
		break;
	case KSHARE_PERCPU_FREE:
		if (arg[0])
			calls_of_cpus(c, arg[0], 0, true, call->site);
		break;
	case KSHARE_MEMBLOCK_FREE:
		if (rec.near_len)
			object_early_free(rec.s->kernel.direct + arg[0], arg[1], call->site);
		break;
	default:
		break;
	}
}

static void calls_leave(const struct call *call, enum kshare_call kind, uint64_t result,
		  const struct vcpu *c)
{
	const uint64_t *arg = call->arg;

	switch (kind) {
	case KSHARE_BULK_ALLOC:
		if ((uint32_t)result)
			calls_bulk(c, arg[0], arg[3], arg[2], false, call->site, call->clock);
		break;
	case KSHARE_VMALLOC:
		/* It has pages, all of them. */
		if (result && arg[0] <= rec.ram_size)
			object_mapped(c, KSHARE_T_VMALLOC, result, calls_whole_pages(arg[0]), call->site);
		break;
	case KSHARE_PERCPU_ALLOC:
		if (result && arg[0] <= MOST)
			calls_of_cpus(c, result, arg[0], false, call->site);
		break;
	case KSHARE_MEMBLOCK_ALLOC:
		if (result)
			calls_add_memblock(c, result, arg[0], asked_by ? asked_by : call->site);
		last_pa = result;
		break;
	case KSHARE_MEMBLOCK_ASKED:
		calls_learn_direct(c, result);
		asked_by = last_pa = 0;
		break;
	default:
		break;
	}
}

static bool calls_gives_object(enum kshare_call kind)
{
	return kind == KSHARE_BULK_ALLOC || kind == KSHARE_VMALLOC || kind == KSHARE_PERCPU_ALLOC ||
	       kind == KSHARE_MEMBLOCK_ASKED || kind == KSHARE_MEMBLOCK_ALLOC;
}

/* Its place; of its stack pointer there is only one. */
static struct call *calls_place_of(uint64_t sp, bool enters)
{
	struct call *set = calls[(sp * 0x9e3779b97f4a7c15u) >> 58], *best = &set[0];

	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].sp == sp)
			return &set[i];
		if (!set[i].sp || (best->sp && set[i].clock < best->clock))
			best = &set[i];
	}
	return enters ? best : NULL;
}

static void calls_on_enter(unsigned vcpu, uint32_t hook)
{
	enum kshare_call kind = rec.s->kernel.hook[hook].call;
	struct call call = { .hook = hook, .clock = rec.s->clock }, *to;
	bool fine = register_read(REG_SP, &call.sp);

	for (unsigned i = 0; i < ARGS; i++)
		fine = fine && register_read(REG_ARG + i, &call.arg[i]);
	if (!fine) {
		rec.s->count.unread++;
		return;
	}
	call.site = return_address(call.sp);
	if (kind == KSHARE_MEMBLOCK_ASKED)
		asked_by = call.site;
	if (!calls_gives_object(kind)) {
		calls_enter(&call, kind, &rec.cpu[vcpu]);
		rec.s->count.call[kind]++;
		return;
	}
	to = calls_place_of(call.sp, true);
	rec.s->count.endless += to->sp != 0;
	*to = call;
}

static void calls_on_return(unsigned vcpu, uint32_t hook)
{
	enum kshare_call kind = rec.s->kernel.hook[hook].call;
	uint64_t sp, result;
	struct call *call;

	if (!register_read(REG_SP, &sp) || !register_read(REG_RESULT, &result)) {
		rec.s->count.unread++;
		return;
	}
	call = calls_place_of(sp, false);
	if (!call || call->hook != hook)
		return;
	call->sp = 0;
	rec.s->count.call[kind]++;
	/* What is freed is over whether or not more is followed. */
	if (is_followed())
		calls_leave(call, kind, result, &rec.cpu[vcpu]);
	else
		rec.s->count.disabled_allocs += result != 0;
}

static void calls_at_enter(unsigned vcpu, void *arg)
{
	lock_for_change();
	calls_on_enter(vcpu, (uint32_t)(uintptr_t)arg);
	unlock();
}

static void calls_at_return(unsigned vcpu, void *arg)
{
	lock_for_change();
	calls_on_return(vcpu, (uint32_t)(uintptr_t)arg);
	unlock();
}

/* ---- which instructions ---- */

static bool calls_is_thunk(uint64_t ip)
{
	for (uint32_t i = 0; i < rec.s->kernel.nthunks; i++)
		if (rec.s->kernel.thunk[i] == ip)
			return true;
	return false;
}

/* RET, or JMP to what stands for it. */
static bool calls_is_x86_return(const uint8_t *b, size_t n, uint64_t ip)
{
	int32_t by;

	if (n && (b[0] == 0xc3 || b[0] == 0xc2))
		return true;
	if (n == 2 && b[0] == 0xf3 && b[1] == 0xc3)
		return true;
	if (n != 5 || b[0] != 0xe9)
		return false;
	memcpy(&by, b + 1, sizeof(by));
	return calls_is_thunk(ip + 5 + (uint64_t)(int64_t)by);
}

static bool calls_is_return(const struct qemu_plugin_insn *insn, uint64_t ip)
{
	uint8_t b[15];
	size_t n = insn_bytes(insn, b);
	uint32_t word = 0;

	if (rec.machine == CALL_X86)
		return calls_is_x86_return(b, n, ip);
	memcpy(&word, b, n < 4 ? n : 4);
	/* RET, RETAA, RETAB; JALR and C.JR by ra. */
	if (rec.machine == CALL_ARM64)
		return n == 4 && (word == 0xd65f03c0 || word == 0xd65f0bff || word == 0xd65f0fff);
	return n == 4 ? word == 0x00008067 : n == 2 && word == 0x8082;
}

void calls_init(void)
{
	known = registers_init();
}

void calls_watch(struct qemu_plugin_insn *insn, uint64_t ip)
{
	const struct kshare_kernel *k = &rec.s->kernel;

	for (uint32_t i = 0; known && i < k->nhooks; i++) {
		const struct kshare_hook *h = &k->hook[i];
		void *arg = (void *)(uintptr_t)i;

		if (ip - h->code.start >= h->code.end - h->code.start)
			continue;
		if (ip == h->code.start)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, calls_at_enter, QEMU_PLUGIN_CB_R_REGS,
							       arg);
		if (calls_gives_object(h->call) && calls_is_return(insn, ip))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, calls_at_return,
							       QEMU_PLUGIN_CB_R_REGS, arg);
	}
}

#else

void calls_init(void)
{
}

void calls_watch(struct qemu_plugin_insn *insn, uint64_t ip)
{
	(void)insn;
	(void)ip;
}

#endif
