/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share.h - the memory shared by the recorder inside QEMU and the program beside it.
 *
 * The recorder owns objects, edges and sites and alone allocates them. An object that
 * was freed goes to the program through `done`, which writes it down and gives it back
 * through `back`. So nothing is copied on the way, and what is left when QEMU dies,
 * however it dies, can still be read here. The program stores what it knows of the
 * kernel before `ready` is set, and its requests at any time.
 *
 * All numbers are of this machine; both sides are built of one source.
 */
#pragma once

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KSHARE_MAGIC = 0x616b6d32,       /* and version */
	KSHARE_QUEUE = 1 << 15,          /* objects on their way; a power of two */
	KSHARE_RAMS = 4, KSHARE_REGIONS = 64, KSHARE_VMEMMAP = 256,
	KSHARE_COMM = 16,
	KSHARE_CPUS = 64,
	KSHARE_FILTERS = 16,
	KSHARE_HOOKS = 16, KSHARE_THUNKS = 8,
	KSHARE_FIRST = 1 << 16,          /* whole pages, whatever their size */
	KSHARE_TASKS = 1 << 15,          /* names that threads had */
	KSHARE_PID = (1 << 23) - 1,      /* more than PID_MAX_LIMIT: include/linux/threads.h */
};

/* ---- what the kernel is like, by the program ---- */

/* [start, end), as the kernel runs it */
struct kshare_code {
	uint64_t start, end;
};

enum kshare_event_kind {
	KSHARE_KMALLOC, KSHARE_CACHE_ALLOC, KSHARE_KFREE, KSHARE_CACHE_FREE,
	KSHARE_PAGE_ALLOC, KSHARE_PAGE_FREE,
	KSHARE_VMAP_ALLOC, KSHARE_VMAP_FREE,     /* since 6.3; code.start 0: not there */
	KSHARE_EVENTS,
};

/* A tracepoint's record: where its members lie in it, from the record's first byte. */
struct kshare_event {
	struct kshare_code code;         /* trace_event_raw_event_NAME() */
	uint16_t first;                  /* the first byte behind the common header */
	uint16_t call_site, ptr, bytes;  /* of slab events; the latter two of vmalloc's */
	uint16_t failed;                 /* of an allocation by vmalloc() */
	uint16_t pfn, order;             /* of pages */
};

/*
 * Functions of allocators without a tracepoint: their arguments, and what they return.
 * For recorders that can read registers.
 */
enum kshare_call {
	KSHARE_BULK_ALLOC,       /* (cache, flags, n, into): 0, or there are n */
	KSHARE_BULK_FREE,        /* (cache or NULL, n, from) */
	KSHARE_VMALLOC,          /* (bytes): address */
	KSHARE_VFREE,            /* (address) */
	KSHARE_PERCPU_ALLOC,     /* (bytes): what each CPU's offset is added to */
	KSHARE_PERCPU_FREE,      /* (the same) */
	KSHARE_MEMBLOCK_ASKED,   /* entry: the caller; return: address */
	KSHARE_MEMBLOCK_ALLOC,   /* (bytes): physical address */
	KSHARE_MEMBLOCK_FREE,    /* (physical address, bytes) */
	KSHARE_CALLS,
};

struct kshare_hook {
	struct kshare_code code;
	uint32_t call;                   /* enum kshare_call */
};

struct kshare_ram {
	uint64_t pa, len, offset;        /* where in the file that is the guest's RAM */
};

struct kshare_piece {
	uint64_t va, len, pa;
};

struct kshare_region {
	uint64_t first, last;
	uint32_t object;                 /* what is known of nothing else in it */
	uint32_t pad;
};

struct kshare_kernel {
	struct kshare_event event[KSHARE_EVENTS];
	uint64_t reserve, commit;        /* trace_event_buffer_reserve(), _commit() */
	uint16_t rec_pid;                /* in the common header of a record */
	uint32_t page_shift;

	uint32_t nhooks, nthunks;
	struct kshare_hook hook[KSHARE_HOOKS];
	uint64_t thunk[KSHARE_THUNKS];   /* x86: to jump there is to return */
	struct kshare_code through;      /* x86: to call there is to call what a register has */
	uint64_t percpu, cpus;           /* variables: each CPU's offset, how many; 0: not known */

	struct kshare_code change;       /* what switches from one task to the next */
	uint32_t thread;                 /* where in a task_struct that reads first */
	uint32_t pid, comm, stack;       /* of a task_struct; stack 0: not known */
	uint64_t stack_size;
	/*
	 * The kernel's own count of what it is inside of, interrupts among it: in the task's
	 * struct, or by address for each CPU. 0: not known.
	 */
	uint32_t in_task;
	uint64_t of_cpu[KSHARE_CPUS];

	uint64_t in_direct;              /* by the recorder: an address in the mapping of all RAM */
	uint64_t direct;                 /* the address of physical 0; 0: not known yet */
	uint64_t vmemmap;                /* of the struct page of frame 0; 0: not known */
	uint32_t nvmem;                  /* where in RAM those lie */
	struct kshare_piece vmem[KSHARE_VMEMMAP];        /* sorted */
	uint32_t page_size;              /* of a struct page */
	uint32_t compound_head;          /* in it: bit 0 set, the head's address */
	uint32_t slab_cache;             /* in the head's */
	uint32_t cache_name, cache_size; /* in a kmem_cache */
	uint64_t image_first, image_last;        /* text and data */
	uint64_t image_pa;               /* of image_first */

	uint32_t nregions, nglobals;
	struct kshare_region region[KSHARE_REGIONS];     /* sorted, do not overlap */
	uint32_t globals;                /* the first of them among objects, sorted */
	uint32_t variables, variable_names;      /* what all would take: so many, bytes */
};

/* ---- objects ---- */

enum kshare_type {                       /* names: kmap_type_name() */
	KSHARE_UFO_HEAP = 1,     /* RAM without a known allocation */
	KSHARE_UFO_GLOBAL,       /* of the image, between what has names */
	KSHARE_UFO_NONE,         /* anything else */
	KSHARE_UFO_USER,
	KSHARE_T_KMALLOC, KSHARE_T_CACHE, KSHARE_T_PAGES, KSHARE_T_VMALLOC,
	KSHARE_T_STACK, KSHARE_T_GLOBAL,
	KSHARE_T_BULK, KSHARE_T_PERCPU, KSHARE_T_MEMBLOCK,
	KSHARE_TYPES,
};

enum {
	KSHARE_LIVE = 1,
	KSHARE_PART = 2,         /* its edges so far; more will come, under the same name */
	KSHARE_GENERAL = 4,      /* stands for all of its type or region */
	KSHARE_LEFT_OUT = 8,     /* of a sample: here it is known, and nothing of it is written */
	KSHARE_BEFORE = 16,      /* its allocation was before anything was recorded: alloc_* are 0 */
	KSHARE_WATCHED = 32,     /* of a sample: for a while, accesses to some of it were looked for */
};

/*
 * 0 is no object. Its edges: table of 1 << bits, `edges` of them in use. What each access to
 * it needs is together: objects are all over memory.
 */
struct kshare_object {
	uint64_t va, size;
	uint32_t table;          /* the first of its edges; 0: none yet */
	uint32_t edges;
	uint8_t type, flags, bits, pad;
	int32_t pid;
	uint64_t alloc_ip, free_ip;
	uint64_t alloc_time, free_time;
	uint64_t first_use, last_use;    /* by the clock, with KSHARE_TIMES; 0: not used */
	uint32_t name;           /* in names: its cache, or its own */
	uint32_t next;           /* while it is on a list of the recorder's */
	char comm[KSHARE_COMM];
};

/*
 * site 0: not in use; KSHARE_LINE: what line `pid` of 64 bytes got, of all code. Counts
 * that would overflow are spilled before.
 */
#define KSHARE_LINE UINT32_MAX
struct kshare_edge {
	uint32_t site;
	int32_t pid;                     /* and which of its names: store_task.c; -1: no thread */
	uint32_t writes, reads;
};

/* Name of a thread; task_id is as in edges. Bytes after the name's end are undefined. */
struct kshare_task {
	int32_t task_id;
	char comm[KSHARE_COMM];
};

static inline int32_t kshare_pid(int32_t task_id)
{
	return task_id < 0 ? -1 : task_id & KSHARE_PID;
}

static inline unsigned kshare_generation(int32_t task_id)
{
	return task_id < 0 ? 0 : (unsigned)task_id / (KSHARE_PID + 1);
}

/* ---- calls ---- */

/* Code at `from` called what is at `to`, so often. from 0: not in use. */
struct kshare_pair {
	uint64_t from, to, count;
};

/* ---- the whole ---- */

/* Where things lie, in bytes from the start, and how many there is room for. */
struct kshare_layout {
	uint64_t size;
	uint64_t objects, edges, sites, names, calls;
	/* max_calls: a power of two, or 0 if calls are not recorded. */
	uint32_t max_objects, max_edges, max_sites, max_names, max_calls;
};

struct kshare_queue {
	_Alignas(64) _Atomic uint32_t head;      /* written by the producer */
	_Alignas(64) _Atomic uint32_t tail;
	_Alignas(64) uint32_t id[KSHARE_QUEUE];
};

/* Counted by the recorder, for statistics. */
struct kshare_counts {
	uint64_t event[KSHARE_EVENTS];           /* decoded */
	uint64_t undecodable;
	uint64_t call[KSHARE_CALLS];             /* that came to their end */
	uint64_t endless;                        /* that did not, as far as could be seen */
	uint64_t unread;                         /* what they point to could not be read */
	uint64_t reads, writes;                  /* attributed to an object */
	uint64_t induced;                        /* of the tracing itself: not recorded */
	uint64_t unfiltered;                     /* left out, for filters or the sample said so */
	uint64_t disabled;                       /* left out, for it was switched off */
	uint64_t disabled_allocs;
	uint64_t objects, frees;
	uint64_t allocs[KSHARE_TYPES];           /* of those objects, by enum kshare_type */
	uint64_t overlaps;                       /* an allocation over one that was never freed */
	uint64_t strange_frees;                  /* of nothing that is known */
	uint64_t lost_objects, lost_accesses;    /* no room */
	uint64_t calls, lost_calls;
	uint64_t lost_events;                    /* that came too fast, of the running kernel */
	uint64_t parts;                          /* spilled under pressure */
	uint64_t waits;                          /* for the program to write */
	uint64_t edges_used, objects_used, edges_peak, objects_peak;
	uint64_t switches;
};

enum kshare_gate {
	KSHARE_OBJECTS = 1,      /* follow allocations: memorizer_enabled */
	KSHARE_ACCESSES = 2,     /* and accesses: memorizer_log_access */
	KSHARE_ONE = 4,          /* of only_pid alone */
	KSHARE_GRAPH = 8,        /* count calls: cfg_log_on */
};

enum kshare_detail {
	KSHARE_TIMES = 1,        /* when an object was used first and last */
	KSHARE_LINES = 2,        /* which lines of it, of 64 bytes */
	KSHARE_GRAPHED = 4,       /* which code calls which */
};

struct kshare {
	/*
	 * Nothing here changes once QEMU runs, and the program has these pages for itself:
	 * whatever runs inside QEMU, it cannot tell us that something lies elsewhere.
	 */
	union {
		struct {
			uint32_t magic;
			uint32_t arch;
			struct kshare_layout at;
			uint32_t nrams;
			struct kshare_ram ram[KSHARE_RAMS];
		};
		char first_pages[KSHARE_FIRST];
	};
	char why[200];                   /* of the recorder's, if it gives up */

	/*
	 * The recorder asks, the program answers: which kernel runs, when its first code
	 * is executed; and once more where its struct pages are, when it gives memory
	 * away.
	 */
	_Atomic uint32_t asked, answered;        /* which time */
	_Atomic uint32_t ready;
	_Atomic uint32_t attached;               /* 1: the recorder runs; 2: it stands still for good */
	_Atomic uint32_t failed;

	/* The program's wishes. */
	_Atomic uint32_t gate;
	/*
	 * Quiesce. The recorder sets `busy` while it is at work, and looks at `hold`
	 * behind that, in this order but without a barrier, which would cost more than
	 * the work: the thread that sets `hold` has one for both sides (membarrier(2)),
	 * and then waits until `busy` is cleared.
	 */
	_Atomic uint32_t hold, busy;
	int32_t program;                         /* its pid */
	uint32_t locks;                          /* CPUs have threads of their own */
	_Atomic int32_t only_pid;                /* with KSHARE_ONE */
	uint32_t sample;                         /* 1 of so many objects; 1: all */
	uint32_t detail;                         /* enum kshare_detail */
	uint32_t by_site;                        /* one object for each place that allocates */
	uint64_t first, last;                    /* addresses that count */
	struct kshare_code code;                 /* instructions that count */
	uint64_t first_code;                     /* below there is no kernel */
	uint32_t only_some;                      /* objects: of caches, or of sites that are known later */
	char only_cache[KSHARE_FILTERS][32];     /* empty: all */
	struct kshare_code only_site[KSHARE_FILTERS];    /* allocating code; end 0: all */

	_Atomic uint32_t nsites, nobjects, names_used;
	uint64_t clock;                          /* events so far */
	struct kshare_counts count;
	struct kshare_kernel kernel;
	_Atomic uint32_t ntasks;
	struct kshare_task task[KSHARE_TASKS];

	struct kshare_queue done, back;
};

/* What the recorder saw and had no room for, of whatever kind. */
static inline uint64_t kshare_lost(const struct kshare_counts *c)
{
	return c->lost_objects + c->lost_accesses + c->lost_events + c->lost_calls;
}

static inline struct kshare_object *kshare_object(struct kshare *s, uint32_t id)
{
	return (struct kshare_object *)((char *)s + s->at.objects) + id;
}

static inline struct kshare_edge *kshare_edge(struct kshare *s, uint32_t at)
{
	return (struct kshare_edge *)((char *)s + s->at.edges) + at;
}

static inline uint64_t *kshare_site(struct kshare *s, uint32_t id)
{
	return (uint64_t *)((char *)s + s->at.sites) + id;
}

static inline struct kshare_pair *kshare_pair(struct kshare *s, uint32_t at)
{
	return (struct kshare_pair *)((char *)s + s->at.calls) + at;
}

static inline char *kshare_name(struct kshare *s, uint32_t at)
{
	return (char *)s + s->at.names + at;
}

/* false: it is full. */
static inline int kshare_put(struct kshare_queue *q, uint32_t id)
{
	uint32_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&q->tail, memory_order_acquire) == KSHARE_QUEUE)
		return 0;
	q->id[head % KSHARE_QUEUE] = id;
	atomic_store_explicit(&q->head, head + 1, memory_order_release);
	return 1;
}

/* 0: it is empty. */
static inline uint32_t kshare_take(struct kshare_queue *q)
{
	uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed), id;

	if (tail == atomic_load_explicit(&q->head, memory_order_acquire))
		return 0;
	id = q->id[tail % KSHARE_QUEUE];
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
	return id;
}
