/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/live_program.h"

#include "base/cleanup.h"

/*
 * Arguments of the tracepoints, include/trace/events/kmem.h and vmalloc.h, the same from
 * 6.1 to 6.18; -1: it has none.
 */
static const struct tracepoint {
	const char *name;
	int8_t ptr, ip, what;
	bool allocates;
} tracepoints[KSHARE_EVENTS] = {
	[KSHARE_KMALLOC]     = { "kmalloc", 1, 0, 3, true },
	[KSHARE_CACHE_ALLOC] = { "kmem_cache_alloc", 1, 0, 2, true },
	[KSHARE_KFREE]       = { "kfree", 1, 0, -1, false },
	[KSHARE_CACHE_FREE]  = { "kmem_cache_free", 1, 0, 2, false },
	[KSHARE_PAGE_ALLOC]  = { "mm_page_alloc", 0, -1, 1, true },
	[KSHARE_PAGE_FREE]   = { "mm_page_free", 0, -1, 1, false },
	[KSHARE_VMAP_ALLOC]  = { "alloc_vmap_area", 0, -1, 1, true },
	[KSHARE_VMAP_FREE]   = { "free_vmap_area_noflush", 0, -1, -1, false },
};

const char *live_program_tracepoint(enum kshare_event_kind kind)
{
	return tracepoints[kind].name;
}

/* ---- putting together ---- */

#define AREA(member)  ((int16_t)offsetof(struct live_area_events, member))
/* On the stack: the event, and below it a number for the map of rings. */
#define EVENT(member) \
	((int16_t)((int)offsetof(struct live_event, member) - (int)sizeof(struct live_event)))
enum { KEY = -(int)sizeof(struct live_event) - 8 };

static void live_program_add(struct live_program *p, const struct bpf_insn *insn,
			     size_t n)
{
	memcpy(p->insn + p->n, insn, n * sizeof(*insn));
	p->n += n;
}
#define ADD_ALL(p, ...)                                                                  \
	live_program_add(p, (const struct bpf_insn[]){__VA_ARGS__},                      \
			 ARRAY_SIZE(((const struct bpf_insn[]){__VA_ARGS__})))

/* A jump to where the program ends, wherever that will be. */
static void live_program_leave(struct live_program *p, struct bpf_insn jump)
{
	p->out[p->nout++] = (uint16_t)p->n;
	live_program_add(p, &jump, 1);
}

static void live_program_end(struct live_program *p)
{
	for (unsigned i = 0; i < p->nout; i++)
		p->insn[p->out[i]].off = (int16_t)(p->n - p->out[i] - 1);
	ADD_ALL(p, SET(R0, 0), EXIT());
}

/* R6 what the tracepoint gives, R9 the area, R8 the process. */
static void live_program_begin(struct live_program *p, const struct live_program_opts *o)
{
	*p = (struct live_program){ 0 };
	ADD_ALL(p, COPY(R6, R1), MAP_VALUE(R9, o->map));
}

/* preempt_count, as far as it can be known. */
static void live_program_put_depth(struct live_program *p, const struct live_layout *l)
{
	ADD_ALL(p, PUT32(R10, EVENT(depth), 0));
	if (l->in_task)
		ADD_ALL(p, CALL(BPF_FUNC_get_current_task), COPY(R3, R0),
			ADD(R3, (int32_t)l->in_task));
	else if (l->of_cpu[0])
		ADD_ALL(p, CALL(BPF_FUNC_get_smp_processor_id), AND(R0, KSHARE_CPUS - 1),
			TIMES(R0, 8), COPY(R3, R9), ADD_TO(R3, R0), LOAD64(R3, R3, AREA(of_cpu)));
	else
		return;
	ADD_ALL(p, COPY(R1, R10), ADD(R1, EVENT(depth)), SET(R2, 4),
		CALL(BPF_FUNC_probe_read_kernel));
}

/* R1: the byte of table `at` that R0, which is below its size, stands for. */
static void live_program_find_byte(struct live_program *p, size_t at)
{
	ADD_ALL(p, COPY(R1, R9), ADD_TO(R1, R0), ADD(R1, (int32_t)at));
}

/* R0: which byte of ptrs[] the object's address is. */
static void live_program_hash_pointer(struct live_program *p, const struct tracepoint *t)
{
	ADD_ALL(p, LOAD64(R0, R6, (int16_t)(t->ptr * 8)), RIGHT(R0, 3), SET_LONG(R2, LIVE_HASH),
		TIMES_BY(R0, R2), RIGHT(R0, 64 - LIVE_POINTER_BITS));
}

static void live_program_pass_over_others(struct live_program *p,
					  const struct live_program_opts *o,
					  const struct tracepoint *t)
{
	if (!t->allocates) {
		live_program_hash_pointer(p, t);
		live_program_find_byte(p, offsetof(struct live_area_events, ptrs));
		ADD_ALL(p, LOAD8(R0, R1, 0));
		live_program_leave(p, IF_ZERO(R0, 0));
		return;
	}
	if (!o->everyone) {
		/* An interrupt is not the work of the process. */
		ADD_ALL(p, LOAD32(R0, R10, EVENT(depth)));
		live_program_leave(p, IF_ANY(R0, 0xff0100, 0));
		ADD_ALL(p, COPY(R0, R8), AND(R0, LIVE_TGIDS - 1));
		live_program_find_byte(p, offsetof(struct live_area_events, tgids));
		ADD_ALL(p, LOAD8(R0, R1, 0));
		live_program_leave(p, IF_ZERO(R0, 0));
	}
	live_program_hash_pointer(p, t);
	live_program_find_byte(p, offsetof(struct live_area_events, ptrs));
	ADD_ALL(p, PUT8(R1, 0, 1));
}

static void live_program_put_argument(struct live_program *p, int which, int16_t to)
{
	if (which < 0)
		ADD_ALL(p, PUT64(R10, to, 0));
	else
		ADD_ALL(p, LOAD64(R0, R6, (int16_t)(which * 8)), STORE64(R10, to, R0));
}

static void live_program_send(struct live_program *p, const struct live_program_opts *o)
{
	ADD_ALL(p, CALL(BPF_FUNC_get_smp_processor_id), STORE32(R10, KEY, R0), MAP(R1, o->rings),
		COPY(R2, R10), ADD(R2, KEY), CALL(BPF_FUNC_map_lookup_elem));
	live_program_leave(p, IF_ZERO(R0, 0));
	ADD_ALL(p, COPY(R1, R0), COPY(R2, R10), ADD(R2, -(int32_t)sizeof(struct live_event)),
		SET(R3, sizeof(struct live_event)), SET(R4, BPF_RB_NO_WAKEUP),
		CALL(BPF_FUNC_ringbuf_output));
	live_program_leave(p, IF_ZERO(R0, 0));
	ADD_ALL(p, SET(R0, 1), ADD_AT(R9, AREA(lost), R0));
}

void live_program_event(struct live_program *p, const struct live_program_opts *o,
			enum kshare_event_kind kind)
{
	const struct tracepoint *t = &tracepoints[kind];

	live_program_begin(p, o);
	ADD_ALL(p, LOAD32(R0, R9, AREA(on)));
	live_program_leave(p, IF_ZERO(R0, 0));
	ADD_ALL(p, CALL(BPF_FUNC_get_current_pid_tgid), STORE32(R10, EVENT(pid), R0),
		RIGHT(R0, 32), STORE32(R10, EVENT(tgid), R0), COPY(R8, R0),
		LOAD32(R0, R9, AREA(own)));
	if (t->allocates)
		live_program_leave(p, IF_SAME(R0, R8, 0));
	live_program_put_depth(p, o->layout);
	live_program_pass_over_others(p, o, t);
	live_program_put_argument(p, t->ptr, EVENT(ptr));
	live_program_put_argument(p, t->ip, EVENT(ip));
	live_program_put_argument(p, t->what, EVENT(what));
	ADD_ALL(p, PUT32(R10, EVENT(kind), (int32_t)kind), CALL(BPF_FUNC_ktime_get_ns),
		STORE64(R10, EVENT(time), R0), COPY(R1, R10), ADD(R1, EVENT(comm)),
		SET(R2, KSHARE_COMM), CALL(BPF_FUNC_get_current_comm));
	live_program_send(p, o);
	live_program_end(p);
}

/* R8: the tgid of the task that argument `which` of the tracepoint points to. */
static void live_program_tgid_of(struct live_program *p,
				 const struct live_program_opts *o, int which)
{
	ADD_ALL(p, LOAD64(R3, R6, (int16_t)(which * 8)), ADD(R3, (int32_t)o->layout->task_tgid),
		PUT32(R10, KEY, 0), COPY(R1, R10), ADD(R1, KEY), SET(R2, 4),
		CALL(BPF_FUNC_probe_read_kernel), LOAD32(R0, R10, KEY), AND(R0, LIVE_TGIDS - 1));
	live_program_find_byte(p, offsetof(struct live_area_events, tgids));
}

void live_program_fork(struct live_program *p, const struct live_program_opts *o)
{
	live_program_begin(p, o);
	live_program_tgid_of(p, o, 0);
	ADD_ALL(p, LOAD8(R0, R1, 0));
	live_program_leave(p, IF_ZERO(R0, 0));
	live_program_tgid_of(p, o, 1);
	ADD_ALL(p, PUT8(R1, 0, 1));
	live_program_end(p);
}

/* By the process's first thread: its number is another's then, sooner or later. */
void live_program_exit(struct live_program *p, const struct live_program_opts *o)
{
	live_program_begin(p, o);
	ADD_ALL(p, CALL(BPF_FUNC_get_current_pid_tgid), COPY(R8, R0), RIGHT(R8, 32),
		STORE32(R10, KEY, R0), LOAD32(R0, R10, KEY));
	live_program_leave(p, IF_NOT(R0, R8, 0));
	ADD_ALL(p, AND(R0, LIVE_TGIDS - 1));
	live_program_find_byte(p, offsetof(struct live_area_events, tgids));
	ADD_ALL(p, PUT8(R1, 0, 0));
	live_program_end(p);
}

void live_program_enlist(struct live_program *p, const struct live_program_opts *o)
{
	live_program_begin(p, o);
	ADD_ALL(p, CALL(BPF_FUNC_get_current_pid_tgid), RIGHT(R0, 32));
	if (o->everyone) {
		ADD_ALL(p, STORE32(R9, AREA(own), R0));
		live_program_end(p);
		return;
	}
	ADD_ALL(p, AND(R0, LIVE_TGIDS - 1));
	live_program_find_byte(p, offsetof(struct live_area_events, tgids));
	ADD_ALL(p, PUT8(R1, 0, 1));
	live_program_end(p);
}
