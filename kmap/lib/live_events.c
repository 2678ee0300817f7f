/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/live_events.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kmap/lib/live_program.h"

/* One CPU's ring; layout: Linux, Documentation/bpf/ringbuf.rst. */
struct ring {
	int map;
	_Atomic uint64_t *taken;         /* a page that we write */
	const _Atomic uint64_t *made;    /* a page of the kernel's, and the data behind it, twice */
	const uint8_t *data;
	const struct live_event *head;   /* what is next; NULL: look */
};

struct live_events {
	struct live_area_events *area;
	int map, rings, enlist;
	uint32_t size, ncpus;
	int fd[KSHARE_EVENTS + 2];       /* programs where they are attached */
	unsigned nfds;
	struct ring *ring;
	struct ring *last;               /* the one of the last returned event */
};

/* ---- rings ---- */

static int live_events_ring_open(struct ring *r, uint32_t size, int outer, uint32_t cpu,
				 struct atw_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *taken, *made;

	r->map = bpf_map(BPF_MAP_TYPE_RINGBUF, 0, size, 0, err);
	if (r->map < 0)
		return r->map;
	taken = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, r->map, 0);
	made = mmap(NULL, page + 2 * (size_t)size, PROT_READ, MAP_SHARED, r->map, (off_t)page);
	r->taken = taken == MAP_FAILED ? NULL : taken;
	r->made = made == MAP_FAILED ? NULL : made;
	if (!r->taken || !r->made)
		return atw_err_set(err, ATW_E_NOMEM, "cannot map a ring buffer: %s", strerror(errno));
	r->data = (const uint8_t *)made + page;
	return bpf_map_set(outer, cpu, (uint32_t)r->map, err);
}

static void live_events_ring_close(struct ring *r, uint32_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (r->taken)
		munmap((void *)r->taken, page);
	if (r->made)
		munmap((void *)r->made, page + 2 * (size_t)size);
	if (r->map > 0)
		close(r->map);
}

/* Each event is whole, for the length before it loses its mark when it is. */
static const struct live_event *live_events_ring_head(struct ring *r, uint32_t size)
{
	uint64_t at = atomic_load_explicit(r->taken, memory_order_relaxed);
	const _Atomic uint32_t *len;
	uint32_t n;

	if (r->head || at >= atomic_load_explicit(r->made, memory_order_acquire))
		return r->head;
	len = (const _Atomic uint32_t *)(r->data + (at & (size - 1)));
	n = atomic_load_explicit(len, memory_order_acquire);
	if (n & BPF_RINGBUF_BUSY_BIT)
		return NULL;
	r->head = (const struct live_event *)(r->data + (at & (size - 1)) + BPF_RINGBUF_HDR_SZ);
	return r->head;
}

static void live_events_ring_pass(struct ring *r)
{
	r->head = NULL;
	atomic_fetch_add_explicit(r->taken, sizeof(struct live_event) + BPF_RINGBUF_HDR_SZ,
				  memory_order_release);
}

/* ---- the whole ---- */

static int live_events_attach(struct live_events *e, const struct live_events_opts *o,
			      struct atw_err *err)
{
	struct live_program_opts p = {
		.map = e->map, .rings = e->rings, .layout = &o->layout, .everyone = o->everyone,
	};
	struct live_program prog;
	int fd;

	for (unsigned kind = 0; kind < KSHARE_EVENTS; kind++) {
		live_program_event(&prog, &p, kind);
		fd = bpf_trace(live_program_tracepoint(kind), prog.insn, prog.n, err);
		/* Those of vmalloc() came with cf243da6ab39 (6.3). */
		if (fd == ATW_E_MISSING && kind >= KSHARE_VMAP_ALLOC)
			continue;
		if (fd < 0)
			return fd;
		e->fd[e->nfds++] = fd;
	}
	for (unsigned i = 0; i < 2 && !o->everyone; i++) {
		if (i)
			live_program_exit(&prog, &p);
		else
			live_program_fork(&prog, &p);
		fd = bpf_trace(i ? "sched_process_exit" : "sched_process_fork", prog.insn,
				    prog.n, err);
		if (fd < 0)
			return fd;
		e->fd[e->nfds++] = fd;
	}
	live_program_enlist(&prog, &p);
	e->enlist = bpf_load(prog.insn, prog.n, err);
	return e->enlist < 0 ? e->enlist : ATW_OK;
}

static int live_events_make(struct live_events *e, const struct live_events_opts *o,
			    struct atw_err *err)
{
	void *area;
	int r = e->map = bpf_share(sizeof(*e->area), &area, err), inner;

	if (r < 0)
		return r;
	e->area = area;
	memcpy(e->area->of_cpu, o->layout.of_cpu, sizeof(e->area->of_cpu));
	e->size = o->ring;
	e->ncpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	e->ring = calloc(e->ncpus, sizeof(*e->ring));
	if (!e->ring)
		return atw_err_nomem(err);
	inner = bpf_map(BPF_MAP_TYPE_RINGBUF, 0, e->size, 0, err);
	if (inner < 0)
		return inner;
	r = e->rings = bpf_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, e->ncpus, inner, err);
	close(inner);
	for (uint32_t cpu = 0; cpu < e->ncpus && r >= 0; cpu++)
		r = live_events_ring_open(&e->ring[cpu], e->size, e->rings, cpu, err);
	return r < 0 ? r : live_events_attach(e, o, err);
}

int live_events_open(const struct live_events_opts *o, struct live_events **ret,
		     struct atw_err *err)
{
	struct live_events *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return atw_err_nomem(err);
	r = live_events_make(e, o, err);
	if (r < 0)
		live_events_close(e);
	else
		*ret = e;
	return r < 0 ? r : ATW_OK;
}

void live_events_close(struct live_events *e)
{
	if (!e)
		return;
	while (e->nfds)
		close(e->fd[--e->nfds]);
	if (e->enlist > 0)
		close(e->enlist);
	for (uint32_t cpu = 0; e->ring && cpu < e->ncpus; cpu++)
		live_events_ring_close(&e->ring[cpu], e->size);
	free(e->ring);
	if (e->rings > 0)
		close(e->rings);
	if (e->area)
		munmap(e->area, sizeof(*e->area));
	if (e->map > 0)
		close(e->map);
	free(e);
}

void live_events_follow(struct live_events *e, uint32_t tgid)
{
	e->area->tgids[tgid & (LIVE_TGIDS - 1)] = 1;
}

int live_events_follow_me(struct live_events *e, struct atw_err *err)
{
	return bpf_run(e->enlist, err);
}

void live_events_switch(struct live_events *e, bool on)
{
	*(volatile uint32_t *)&e->area->on = on;
}

const struct live_event *live_events_next(struct live_events *e, uint64_t until)
{
	const struct live_event *first = NULL;

	if (e->last)
		live_events_ring_pass(e->last);
	e->last = NULL;
	for (uint32_t cpu = 0; cpu < e->ncpus; cpu++) {
		const struct live_event *head =
			live_events_ring_head(&e->ring[cpu], e->size);

		if (!head || head->time > until || (first && first->time <= head->time))
			continue;
		first = head;
		e->last = &e->ring[cpu];
	}
	return first;
}

uint64_t live_events_lost(const struct live_events *e)
{
	return *(volatile uint64_t *)&e->area->lost;
}
