/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_memory.h - synthetic kernel memory: 64 KiB at KBASE, mapped by
 * one large page, in which a test lays out structs with members at any
 * offset. The memory behind them is missing.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "paging/paging.h"
#include "walk/walk.h"

#include "linux/kernel.h"

#define KBASE 0xffff888000000000u        /* x86_64's direct map */

enum { KSIZE = 65536, KTABLES = 0x40000000 };

/* `s` comes first: a pointer to it is a pointer to the struct. */
struct kmemory {
	struct atw_source s;
	uint64_t hole_at, hole_len;      /* offsets that cannot be read */
	uint64_t reads;
	unsigned char bytes[KSIZE];
	uint64_t table[2][512];
	struct mmu_space space;
	struct kmem *m;
	struct needs n;
};

static inline ssize_t kmemory_read(struct atw_source *s, atw_pa pa, void *buf,
				   size_t len, struct atw_err *err)
{
	struct kmemory *k = (struct kmemory *)s;
	const unsigned char *from;
	uint64_t room;

	(void)err;
	k->reads++;
	if (pa.u >= KTABLES && pa.u < KTABLES + sizeof(k->table)) {
		from = (unsigned char *)k->table + (pa.u - KTABLES);
		room = KTABLES + sizeof(k->table) - pa.u;
	} else if (pa.u >= KSIZE || pa.u - k->hole_at < k->hole_len) {
		return 0;
	} else {
		from = k->bytes + pa.u;
		room = (k->hole_len && pa.u < k->hole_at ? k->hole_at : KSIZE) - pa.u;
	}
	if (len > room)
		len = (size_t)room;
	memcpy(buf, from, len);
	return (ssize_t)len;
}

static inline int kmemory_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	(void)s;
	if (pa.u >= KSIZE)
		return ATW_END;
	*ret = (struct atw_extent){ pa, KSIZE - pa.u, ATW_DATA };
	return ATW_OK;
}

static inline int kmemory_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	(void)s; (void)key; (void)ret;
	return ATW_E_MISSING;
}

static const struct atw_source_ops kmemory_ops = {
	.name = "kmemory", .help = "a kernel of a test",
	.read = kmemory_read, .extent = kmemory_extent, .fact = kmemory_fact,
};

/* No member is known until the test says where it is. */
static inline struct kmemory *kmemory_new(void)
{
	struct kmemory *k = calloc(1, sizeof(*k));

	k->s.ops = &kmemory_ops;
	k->table[0][KBASE >> 39 & 511] = (KTABLES + 4096) | 3;
	k->table[1][0] = 0x83;           /* 1 GiB from 0 on */
	k->space = (struct mmu_space){
		.mem = &k->s, .paging = *atw_paging_find("x86_64-4"),
		.low = { ATW_PA(KTABLES), true },
	};
	memset(k->n.member, 0xff, sizeof(k->n.member));
	k->n.types = true;
	if (kmem_open(&k->space, &k->m, NULL) < 0)
		abort();
	return k;
}

static inline void kmemory_free(struct kmemory *k)
{
	kmem_close(k->m);
	free(k);
}

/* A kernel with that memory, without symbols and types but those in k->n. To be freed. */
static inline struct atw_kernel *kmemory_kernel(struct kmemory *k)
{
	struct atw_kernel *ret = calloc(1, sizeof(*ret));

	ret->mem = &k->s;
	ret->own = ret->space = k->space;
	ret->have_own = true;
	ret->kmem = k->m;
	ret->sought_kmem.done = ret->sought_symbols.done = ret->sought_types.done = true;
	ret->sought_symbols.err.status = ret->sought_types.err.status = ATW_E_MISSING;
	ret->needs = k->n;
	ret->needs_done = ret->symbols_done = true;
	return ret;
}

static inline void kset(struct kmemory *k, enum need_member id, uint32_t at, uint8_t width)
{
	k->n.member[id] = at;
	k->n.width[id] = width;
}

/* What the test gives is an offset from KBASE. */
static inline void kput(struct kmemory *k, uint64_t at, uint64_t value, unsigned len)
{
	memcpy(k->bytes + at, &value, len);
}

static inline void kput64(struct kmemory *k, uint64_t at, uint64_t value)
{
	kput(k, at, value, 8);
}

/* A pointer to another offset. */
static inline void kpoint(struct kmemory *k, uint64_t at, uint64_t to)
{
	kput64(k, at, KBASE + to);
}

static inline void ktext(struct kmemory *k, uint64_t at, const char *s)
{
	memcpy(k->bytes + at, s, strlen(s) + 1);
}

static inline struct members kmembers(const struct kmemory *k)
{
	return (struct members){ .m = k->m, .n = &k->n };
}

/* ---- tasks: where their members are is as good as anything ---- */

enum {
	T_STATE = 0, T_FLAGS = 4, T_TASKS = 8, T_PID = 24, T_TGID = 28, T_PARENT = 32,
	T_SIGNAL = 40, T_NODE = 48, T_MM = 64, T_EXIT = 72, T_COMM = 80, T_SIZE = 96,
	SIG_HEAD = 16,
};

static inline void ktask_layout(struct kmemory *k)
{
	kset(k, N_task_state, T_STATE, 4);
	kset(k, N_task_flags, T_FLAGS, 4);
	kset(k, N_task_tasks, T_TASKS, 0);
	kset(k, N_task_pid, T_PID, 4);
	kset(k, N_task_tgid, T_TGID, 4);
	kset(k, N_task_real_parent, T_PARENT, 8);
	kset(k, N_task_signal, T_SIGNAL, 8);
	kset(k, N_task_thread_node, T_NODE, 0);
	kset(k, N_task_mm, T_MM, 8);
	kset(k, N_task_exit_state, T_EXIT, 4);
	kset(k, N_task_comm, T_COMM, 0);
	kset(k, N_signal_thread_head, SIG_HEAD, 0);
}

/* ---- areas ---- */

enum {
	MM_ROOT = 0, MM_MMAP = 8, MM_BRK = 16, MM_START_BRK = 24, MM_STACK = 32,
	V_START = 0, V_END = 8, V_FLAGS = 16, V_NEXT = 24, V_PGOFF = 32, V_FILE = 40,
	V_OPS = 48, V_PRIVATE = 56, V_ANON = 64, V_SIZE = 96,
};

static inline void karea_layout(struct kmemory *k, bool tree)
{
	kset(k, N_vma_start, V_START, 8);
	kset(k, N_vma_end, V_END, 8);
	kset(k, N_vma_flags, V_FLAGS, 8);
	kset(k, N_vma_pgoff, V_PGOFF, 8);
	kset(k, N_vma_file, V_FILE, 8);
	kset(k, N_vma_ops, V_OPS, 8);
	kset(k, N_vma_private, V_PRIVATE, 8);
	kset(k, N_mm_brk, MM_BRK, 8);
	kset(k, N_mm_start_brk, MM_START_BRK, 8);
	kset(k, N_mm_start_stack, MM_STACK, 8);
	if (!tree) {
		kset(k, N_mm_mmap, MM_MMAP, 8);
		kset(k, N_vma_next, V_NEXT, 8);
		return;
	}
	kset(k, N_mm_ma_root, MM_ROOT, 8);
	k->n.size[S_maple_node] = 256;
	kset(k, N_range64_pivot, 8, 0);
	kset(k, N_range64_slot, 128, 0);
	kset(k, N_arange64_pivot, 8, 0);
	kset(k, N_arange64_slot, 80, 0);
}
