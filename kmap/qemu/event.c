/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.c - allocations and frees, from the kernel's own tracepoints.
 *
 * Its tracepoints are on (trace_event=kmem:...), and each writes a record into the ring
 * buffer: trace_event_raw_event_NAME() stores the members, trace_event_buffer_commit()
 * ends it. So the stores of the first say where the record is, and when the second is
 * entered it can be read out of RAM, with the layout that the kernel's types give it.
 *
 * The same function also stores to its stack: what counts are stores to RAM by the
 * mapping of all of it, where the ring buffer is and stacks are not. An interrupt may
 * begin a record within another, a record may never be committed, when there was no room,
 * and tracepoints that are none of ours commit theirs in the midst of it: so records wait
 * on a small stack, and the last that is whole is the one.
 */
#include <string.h>

#include "qemu/api.h"
#include "recorder.h"

/* Drop a record that was not committed, because the ring buffer was full. */
static void event_drop(struct vcpu *c, unsigned i)
{
	rec.s->count.undecodable += c->pending[i].committed;
	c->pendings--;
	memmove(&c->pending[i], &c->pending[i + 1], (c->pendings - i) * sizeof(c->pending[0]));
}

void event_enter(unsigned vcpu, unsigned event)
{
	struct vcpu *c = &rec.cpu[vcpu];

	if (c->pendings == NESTED)
		event_drop(c, 0);
	c->pending[c->pendings++] = (struct pending){ .event = (uint8_t)event };
}

/* The last of this kind; NULL: there is none. */
static struct pending *event_last_of(struct vcpu *c, unsigned event)
{
	for (unsigned i = c->pendings; i--; )
		if (c->pending[i].event == event)
			return &c->pending[i];
	return NULL;
}

void event_again(unsigned vcpu, unsigned event)
{
	struct vcpu *c = &rec.cpu[vcpu];
	const struct pending *p = event_last_of(c, event);

	while (p && c->pendings && &c->pending[c->pendings - 1] != p)
		event_drop(c, c->pendings - 1);
	c->tracing = false;
}

void event_forget(unsigned vcpu)
{
	struct vcpu *c = &rec.cpu[vcpu];

	while (c->pendings)
		event_drop(c, c->pendings - 1);
	c->tracing = false;
}

/*
 * The very first records are made before there is more than one stack, which is in the
 * image: what else they are written to is RAM by its own mapping. Which, the kernel's
 * tables say: QEMU before 8.2 does not tell physical addresses where RAM has a hole.
 */
void event_learn_direct(uint32_t info, uint64_t va)
{
	static unsigned tries = 16;
	struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, va);

	if (va - rec.image < rec.image_len || !at || qemu_plugin_hwaddr_is_io(at) || !tries)
		return;
	tries--;
	rec.s->kernel.in_direct = va;
	learn_memory();
}

void event_store(unsigned vcpu, unsigned event, uint32_t info, uint64_t va)
{
	struct vcpu *c = &rec.cpu[vcpu];
	struct pending *p = event_last_of(c, event);
	uint64_t size = 1ull << qemu_plugin_mem_size_shift(info);

	if (!p || va - rec.s->kernel.direct >= rec.direct_span)
		return;
	/* Two members may be stored at once: arm64's STP is one access, from QEMU 8.0 on. */
	for (uint64_t at = va; at < va + size && p->stores < STORES; at += 8)
		p->at[p->stores++] = at;
}

/* Has it stored this member? */
static bool event_has(const struct pending *p, uint64_t va)
{
	for (unsigned i = 0; i < p->stores; i++)
		if (p->at[i] == va)
			return true;
	return false;
}

static bool event_slab(struct vcpu *c, const struct kshare_event *e, unsigned kind,
		       uint64_t at)
{
	bool frees = kind == KSHARE_KFREE || kind == KSHARE_CACHE_FREE;
	uint64_t ip, ptr, bytes = 0;

	if (!guest_u64(at + e->call_site, &ip) || !guest_u64(at + e->ptr, &ptr) ||
	    (!frees && !guest_u64(at + e->bytes, &bytes)))
		return false;
	/* kfree(NULL), or the allocation failed. */
	if (!ptr || ptr == 16)
		return true;
	if (frees)
		object_slab_free(ptr, ip);
	else
		object_slab(c, kind == KSHARE_KMALLOC ? KSHARE_T_KMALLOC : KSHARE_T_CACHE, ptr,
			    bytes, ip);
	return true;
}

static bool event_page(struct vcpu *c, const struct kshare_event *e, unsigned kind,
		       uint64_t at)
{
	uint64_t pfn;
	uint32_t order;

	if (!guest_u64(at + e->pfn, &pfn) || !guest_u32(at + e->order, &order) || order > 20)
		return false;
	/* -1: the allocation failed. */
	if (pfn == UINT64_MAX)
		return true;
	if (kind == KSHARE_PAGE_ALLOC)
		object_pages(c, pfn, order);
	else
		object_pages_free(pfn, order);
	return true;
}

/* What devices have may be mapped as well; but each page takes room in a table of ours. */
#define BEYOND_RAM (UINT64_C(4) << 30)

static bool event_vmap(struct vcpu *c, const struct kshare_event *e, unsigned kind,
		       uint64_t at)
{
	uint64_t va, bytes = 0;
	uint32_t failed = 0;

	if (!guest_u64(at + e->ptr, &va) ||
	    (kind == KSHARE_VMAP_ALLOC && (!guest_u64(at + e->bytes, &bytes) ||
					   !guest_u32(at + e->failed, &failed))))
		return false;
	if (kind == KSHARE_VMAP_FREE)
		object_mapped_free(va, 0);
	else if (!failed && (bytes > rec.ram_size + BEYOND_RAM || va + bytes < va))
		return false;
	else if (!failed && bytes)
		object_mapped(c, KSHARE_T_VMALLOC, va, bytes, 0);
	return true;
}

static bool event_decode(struct vcpu *c, const struct kshare_event *e, unsigned kind,
			 uint64_t at)
{
	switch (kind) {
	case KSHARE_PAGE_ALLOC:
	case KSHARE_PAGE_FREE:
		return event_page(c, e, kind, at);
	case KSHARE_VMAP_ALLOC:
	case KSHARE_VMAP_FREE:
		return event_vmap(c, e, kind, at);
	default:
		return event_slab(c, e, kind, at);
	}
}

/* Was all of it stored that is to be read, if it begins there? */
static bool event_is_whole(const struct pending *p, uint64_t at)
{
	const struct kshare_event *e = &rec.s->kernel.event[p->event];

	switch (p->event) {
	case KSHARE_PAGE_ALLOC:
	case KSHARE_PAGE_FREE:
		return event_has(p, at + e->pfn) && event_has(p, at + e->order);
	case KSHARE_VMAP_ALLOC:
		return event_has(p, at + e->ptr) && event_has(p, at + e->bytes);
	case KSHARE_VMAP_FREE:           /* and how many wait to be, behind it */
		return event_has(p, at + e->ptr) && event_has(p, at + e->ptr + 8);
	default:
		return event_has(p, at + e->ptr) && event_has(p, at + e->call_site) &&
		       (!e->bytes || event_has(p, at + e->bytes));
	}
}

/*
 * It begins before the first of what was stored; but other things are stored to as well,
 * such as how often preemption is off. 0: it is not whole.
 */
static uint64_t event_record_of(const struct pending *p)
{
	const struct kshare_event *e = &rec.s->kernel.event[p->event];
	uint64_t first = 0;

	for (unsigned i = 0; i < p->stores; i++) {
		uint64_t at = p->at[i] - e->first;

		if ((!first || at < first) && event_is_whole(p, at))
			first = at;
	}
	return first;
}

void event_commit(unsigned vcpu)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	struct vcpu *c = &rec.cpu[vcpu];
	struct pending p;
	const struct kshare_event *e;
	unsigned i = c->pendings;
	uint64_t at = 0;
	bool fine = true, frees, on;

	while (i && !(at = event_record_of(&c->pending[i - 1])))
		i--;
	if (!i) {
		if (c->pendings && c->pending[c->pendings - 1].stores)
			c->pending[c->pendings - 1].committed = true;
		return;
	}
	p = c->pending[i - 1];
	c->pending[i - 1].committed = false;
	event_drop(c, i - 1);
	e = &k->event[p.event];
	/* What is freed is over, whether or not more is followed: it must not be taken for live. */
	frees = p.event == KSHARE_KFREE || p.event == KSHARE_CACHE_FREE ||
		p.event == KSHARE_PAGE_FREE || p.event == KSHARE_VMAP_FREE;
	on = is_followed();
	rec.s->count.disabled_allocs += !on && !frees;
	if (on || frees) {
		/* Before the first switch, only the record names the running thread. */
		if (!c->task) {
			uint32_t pid;

			if (guest_u32(at + k->rec_pid, &pid))
				c->pid = c->task_id = (int32_t)pid & KSHARE_PID;
		}
		task_look(c);
		fine = event_decode(c, e, p.event, at);
	}
	if (fine)
		rec.s->count.event[p.event]++;
	else
		rec.s->count.undecodable++;
}
