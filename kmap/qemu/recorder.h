/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder.h - state of the QEMU plugin: what it keeps of the guest's kernel.
 *
 *   plugin.c   what QEMU calls
 *   watch.c    which instructions are watched
 *   access.c   one load or store: the hot path
 *   shadow.c   which object an address belongs to
 *   kinds.c    lifecycle of objects, by kind
 *   small.c    lifecycle of per-CPU and memblock objects
 *   event.c    allocations and frees by the kernel's tracepoints
 *   calls.c    allocators without a tracepoint, by their functions
 *   registers.c  registers of a CPU, by name
 *   task.c     the task that runs on a CPU
 *   graph.c    which code calls which, if that is asked for
 *
 * Objects and their edges are in kmap/lib/store.h.
 *
 * The guest's CPUs take turns in one thread (thread=single), so nothing here locks, but
 * for one lock around everything. QEMU from 9.2 on needs it for several CPUs: it takes
 * code that is not run in parallel for code of the CPU that had it translated, and passes
 * that one's number. There each CPU has a thread (thread=multi), and takes the lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kmap/lib/call_insn.h"
#include "kmap/lib/store.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * An edge that an instruction counted, for any address of [first, first + len); len 0:
 * only the object is known. It is forgotten before either is no longer true.
 */
struct recent {
	uint64_t first;
	uint32_t len;
	uint32_t edge;                   /* 0: nothing here */
	uint32_t object;
	int32_t task_id;
};

/* An instruction that accesses memory. One line of the cache: all that most accesses need. */
enum { RECENT = 2 };
struct site {
	_Alignas(64) struct recent recent[RECENT];       /* the last one first */
	uint64_t ip;
	uint32_t id;                     /* 0: none given yet */
	uint32_t strings;                /* of a string instruction: see watch.c */
};

/*
 * The last element of a string instruction; object 0: none. Addresses up to `end` are of the
 * same object, as long as nothing has changed since.
 */
struct string {
	uint64_t last, end;
	uint32_t changes;
	uint32_t object;
	uint32_t info, size;             /* its kind of access, and its bytes */
};

struct strings {
	struct site *site;
	struct string of[2];             /* loads, stores */
};

enum { NESTED = 8, STORES = 24 };

/* A record on its way into the kernel's ring buffer. */
struct pending {
	uint8_t event;                   /* enum kshare_event_kind */
	uint8_t stores;
	bool committed;                  /* when it was not whole: by any code */
	uint64_t at[STORES];
};

struct vcpu {
	uint64_t task;                   /* its task_struct; 0: not known yet */
	int32_t pid;
	int32_t task_id;                 /* task id, see kstore_task() */
	const uint32_t *depth;           /* the kernel's count of what it is inside of */
	uint64_t calls_from;             /* an indirect call that did not arrive yet; 0: none */
	bool changing;                   /* inside of what switches tasks */
	bool tracing;                    /* in what a tracepoint calls */
	uint8_t pendings;
	struct pending pending[NESTED];
};

/* As Memorizer writes it where another object came over one that was not freed. */
#define KSHARE_MISSED 0xDEADBEEFu

/*
 * Some addresses of an object belong to another, or did; and, of one without a range of its
 * own: instructions remember words of it.
 */
enum covered { COVERED = 1, ALIKE = 2 };

struct recorder {
	struct kshare *s;
	struct kstore store;
	bool locks;                      /* CPUs have threads of their own */
	_Atomic bool locked;
	const uint8_t *ram;              /* the guest's, all of it */
	uint64_t ram_size;
	struct vcpu cpu[KSHARE_CPUS];

	enum call_machine machine;
	bool known;                      /* what the kernel is like */
	uint64_t first, span;            /* addresses that count */
	uint64_t direct_span;            /* of the mapping of all RAM */
	/* Addresses of RAM, from its first byte to its last, and of the image. */
	uint64_t near, near_len, image, image_len;
	uint32_t *fine;                  /* object of every 8 bytes from there on */
	uint32_t *frame;                 /* of every page */
	uint32_t *named;                 /* of every 8 bytes of the image */

	uint32_t changes;                /* times that addresses may have got another object */
	uint32_t store_bits;             /* of the kind of an access; 0: to be asked for */
	struct kshare_edge *edges;
	struct site **site;              /* by id */
	uint8_t *covered;                /* of each object: enum covered */
};
extern struct recorder rec;

/* ---- shadow.c ---- */

/* -1 without memory. Once the image is known, and once it is known how the kernel maps RAM. */
int shadow_image(void);
int shadow_ram(void);
uint32_t shadow_far(uint64_t va);

static inline uint32_t shadow_find(uint64_t va)
{
	uint64_t off = va - rec.near;
	uint32_t id;

	if (likely(off < rec.near_len)) {
		id = rec.fine[off >> 3];
		if (!id)
			id = rec.frame[off >> rec.s->kernel.page_shift];
		return id ? id : KSHARE_UFO_HEAP;
	}
	off = va - rec.image;
	if (off < rec.image_len) {
		id = rec.named[off >> 3];
		return id ? id : KSHARE_UFO_GLOBAL;
	}
	return shadow_far(va);
}

/* The addresses around one that belong to the same object for certain; false: unknown. */
bool shadow_span(uint32_t id, uint64_t va, uint64_t *first, uint32_t *len);
/*
 * Words that are alike now, of an object without a range: of pages that others have some of,
 * of memblock. Until one of them is covered.
 */
bool shadow_alike(uint32_t id, uint64_t va, uint64_t *first, uint32_t *len);
/* Addresses from this one up to there belong to the same object: some, not all. */
uint64_t shadow_end_of(uint32_t id, uint64_t va);
/* An address of an object is about to belong to another. */
void shadow_cover(uint32_t id);
void shadow_cover_at(uint32_t id, uint64_t va);
/* An object of this number is over, or a new one begins. */
void shadow_reset(uint32_t id);
/* Regions of addresses are other ones now. */
void shadow_regions(void);

/* Where the word of a slab object is in `fine`, of a page in `frame`; NULL: no RAM. */
uint32_t *shadow_fine(uint64_t va, uint64_t size);
uint32_t *shadow_frame(uint64_t pfn, uint64_t n);
/* Pages that are mapped elsewhere. */
void shadow_set_mapped(uint64_t va, uint64_t size, uint32_t id);
uint32_t shadow_mapped(uint64_t va);
/* The word of 8 bytes anywhere; NULL: no memory for it. */
uint32_t *shadow_word(uint64_t va);
/* The guest's bytes at a kernel address; NULL: not in RAM as one piece. */
const void *guest(uint64_t va, uint64_t len);
bool guest_u64(uint64_t va, uint64_t *ret);
bool guest_u32(uint64_t va, uint32_t *ret);

/* ---- kinds.c ---- */

/* Are allocations? */
static inline bool is_followed(void)
{
	return atomic_load_explicit(&rec.s->gate, memory_order_relaxed) & KSHARE_OBJECTS;
}

void object_slab(const struct vcpu *c, enum kshare_type type, uint64_t va, uint64_t size,
		 uint64_t ip);
void object_slab_free(uint64_t va, uint64_t ip);
void object_pages(const struct vcpu *c, uint64_t pfn, unsigned order);
void object_pages_free(uint64_t pfn, unsigned order);
/* What is mapped outside of RAM's own mapping: whole pages. */
void object_mapped(const struct vcpu *c, enum kshare_type type, uint64_t va, uint64_t size,
		   uint64_t ip);
void object_mapped_free(uint64_t va, uint64_t ip);
void object_stack(const struct vcpu *c, uint64_t va);
/* Its cache, if that is known by now; at the end, of those that live. */
void object_name(uint32_t id);
void object_name_all(void);
/* One begins, and is over. 0: no room; it has been counted. */
uint32_t object_new(uint64_t va, uint64_t size, enum kshare_type type, const struct vcpu *c,
		    uint64_t ip, uint32_t name);
void object_end(uint32_t id, uint64_t ip);

/* ---- small.c ---- */

/* Of one CPU: need not be whole words, nor in RAM's own mapping. */
void object_percpu(const struct vcpu *c, uint64_t va, uint64_t size, uint64_t ip);
void object_percpu_free(uint64_t va, uint64_t ip);
/* RAM before there are pages to give away: may be large, and is freed in pieces. */
void object_early(const struct vcpu *c, uint64_t va, uint64_t size, uint64_t ip);
void object_early_free(uint64_t va, uint64_t size, uint64_t ip);
/* One of these that others come over, here; false: it is none. */
bool object_end_other(uint32_t id, uint64_t va, uint64_t ip);

/* ---- event.c, task.c ---- */

void event_enter(unsigned vcpu, unsigned event);
/* Where RAM is mapped may be learned from this store. */
void event_learn_direct(uint32_t info, uint64_t va);
/* Notes it in what is this CPU's own, so it is called without the lock. */
void event_store(unsigned vcpu, unsigned event, uint32_t info, uint64_t va);
void event_commit(unsigned vcpu);
/* Back in its own function; on another task's stack. */
void event_again(unsigned vcpu, unsigned event);
void event_forget(unsigned vcpu);
void task_load(unsigned vcpu, uint64_t va);
/*
 * include/linux/preempt.h: a softirq, hard interrupts, NMIs. Then it is no task that runs,
 * and Memorizer says -1.
 */
static inline int32_t current_pid(const struct vcpu *c)
{
	return unlikely(*c->depth & 0xff0100) ? -1 : c->pid;
}
/* The same, with what it is called now. */
static inline int32_t current_task_id(const struct vcpu *c)
{
	return unlikely(*c->depth & 0xff0100) ? -1 : c->task_id;
}
/* Names change without a switch: looked at with each event. */
void task_look(struct vcpu *c);
/* Where that count is, of each CPU; when more is known of the kernel. */
void task_learn(void);
/* What it is called now: names change without a switch. */
void task_name(const struct vcpu *c, char ret[KSHARE_COMM]);

/* ---- calls.c ---- */

struct qemu_plugin_insn;
void calls_init(void);
/* Gives an instruction of such a function its callbacks. */
void calls_watch(struct qemu_plugin_insn *insn, uint64_t ip);

/* ---- access.c ---- */

/* -1 without memory. */
int access_init(void);
/* Is nothing asked for that only the callbacks for anything can do? */
bool access_is_usual(void);
void access_memory(unsigned vcpu, uint32_t info, uint64_t va, void *site);
void access_memory_any(unsigned vcpu, uint32_t info, uint64_t va, void *site);
void access_string(unsigned vcpu, uint32_t info, uint64_t va, void *strings);
void access_string_any(unsigned vcpu, uint32_t info, uint64_t va, void *strings);
/* What comes behind the instruction runs. */
void access_string_end(unsigned vcpu, void *strings);
/* Instructions forget their edges of an object, or of all. */
void access_forget(uint32_t object);
void access_forget_all(void);

/* ---- graph.c ---- */

struct qemu_plugin_insn;
/* begins: a block of code does. */
void graph_watch(struct qemu_plugin_insn *insn, uint64_t ip, bool begins);

/* ---- watch.c ---- */

/* Of the version of the interface that QEMU speaks. */
void watch_init(int version);
/* What is known of it gets its callbacks; true: no others. */
bool watch_known(struct qemu_plugin_insn *insn, uint64_t ip, bool begins);
/* Every access of it is counted. */
void watch_access(struct qemu_plugin_insn *insn, uint64_t ip);
/* Bytes of an instruction, at most 15; 0: not to be had. */
size_t insn_bytes(const struct qemu_plugin_insn *insn, uint8_t *to);

/* ---- plugin.c ---- */

void lock_slowly(void);
void stand_still(void);

/* The order is what counts: see struct kshare. */
static inline void begin_work(struct kshare *s)
{
	atomic_store_explicit(&s->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

static inline bool is_held(const struct kshare *s)
{
	return atomic_load_explicit(&s->hold, memory_order_relaxed);
}

static inline void end_work(struct kshare *s)
{
	atomic_store_explicit(&s->busy, 0, memory_order_release);
}

static inline void lock(void)
{
	if (unlikely(rec.locks) && atomic_exchange_explicit(&rec.locked, true, memory_order_acquire))
		lock_slowly();
	begin_work(rec.s);
	if (unlikely(is_held(rec.s)))
		stand_still();
}

/* For anything but an access. */
static inline void lock_for_change(void)
{
	lock();
	rec.changes++;
}

static inline void unlock(void)
{
	end_work(rec.s);
	if (unlikely(rec.locks))
		atomic_store_explicit(&rec.locked, false, memory_order_release);
}

/* Recording cannot go on: the program prints `why`. */
void give_up(const char *why);
/* How the kernel maps RAM is known; and when more of it may be, again. */
void learn_memory(void);
/* A moment for the program; false: it is gone. */
bool wait_for_program(void *unused);
