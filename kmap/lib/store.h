/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - objects and their edges in the memory of share.h, for the recorders: QEMU's
 * plugin, and the recording of the running kernel.
 *
 * An object that has ended waits in the queue until it is written down; then its place
 * is free again. Nothing is dropped without a count. Nothing here locks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kmap/lib/share.h"

enum {
	KSTORE_CLASSES = 17,             /* sizes of tables, powers of two */
	KSTORE_FIRST_EDGE = 4,           /* 0 is none, and the smallest table is a line of the cache */
};

struct kstore_place;
struct kstore_task;

struct kstore {
	struct kshare *s;
	/* The edges of an object are about to go; an edge of this site has moved. May be NULL. */
	void (*goes)(uint32_t object);
	void (*moved)(uint32_t site, uint32_t from, uint32_t to);
	/* Wait a moment for the writer; false: there is none. */
	bool (*wait)(void *arg);
	void *arg;

	uint32_t free_list, fresh, hand; /* objects */
	uint32_t sampled;
	uint32_t freed[KSTORE_CLASSES], fresh_edge;
	struct kstore_place *places;     /* that allocate */
	unsigned nplaces;
	struct kstore_task *tasks;       /* by number; NULL: none yet */
	uint32_t ntasks;
};

/* What is known of an object when it begins. */
struct kstore_birth {
	uint64_t va, size, ip;
	enum kshare_type type;
	uint32_t name;
	int32_t pid;
	bool left_out;                   /* not the turn of this one */
	char comm[KSHARE_COMM];
};

/* 0, or -1 without memory. */
int kstore_init(struct kstore *k, struct kshare *s, bool (*wait)(void *), void *arg);
/* Fine on a zeroed struct. */
void kstore_free(struct kstore *k);
/* Objects behind the program's own are free: whenever it may have added some. */
void kstore_learn(struct kstore *k);

/* Where it is in names; 0: no room. */
uint32_t kstore_name(struct kshare *s, const char *name, size_t len);
/* The id of an instruction that touches memory; 0: no room, which has been counted. */
uint32_t kstore_site(struct kstore *k, uint64_t ip);

/* Filters: is one of this cache, allocated there, to be followed? */
bool kstore_wanted(const struct kstore *k, const char *cache, uint64_t ip);
/* Samples: is it the turn of the next one? */
bool kstore_sampled(struct kstore *k);
/*
 * Are accesses to it counted? If the user selects some objects, no others are, nor
 * memory without an object; a selected one that is left out is not counted as part of
 * its surroundings.
 */
bool kstore_counts(const struct kstore *k, uint32_t object);
/*
 * Kernels from 6.1 on report an allocation twice if no cache is large enough for it: by
 * the allocator's own function, and then with its caller. Is this birth the second of
 * object `id`? Nothing was freed meanwhile, for that ends it. Then it has that
 * allocation site.
 */
bool kstore_is_repeated(struct kstore *k, uint32_t id, const struct kstore_birth *b);
/* 0: no room; it has been counted. */
uint32_t kstore_new(struct kstore *k, const struct kstore_birth *b);
/* It is over: to be written down, and then to be had again. */
void kstore_end(struct kstore *k, uint32_t id, uint64_t ip);
/* The same in two steps: between them edges may come. */
void kstore_finish(struct kstore *k, uint32_t id, uint64_t ip);
void kstore_let_go(struct kstore *k, uint32_t id);
/* What was written down and given back. */
void kstore_reclaim(struct kstore *k);
/* Edges are needed: write down what there is. false: nothing is left to do that with. */
bool kstore_spill(struct kstore *k);
/* What an object has, as one of its own that is written down. */
bool kstore_part(struct kstore *k, uint32_t id);

/*
 * kstore_task() returns the task id of edges for a thread of this number and name, and
 * passes a new name on to the writer; `comm` has KSHARE_COMM bytes. kstore_task_of() uses
 * the last name of the number.
 */
int32_t kstore_task(struct kstore *k, int32_t pid, const char *comm);
int32_t kstore_task_of(const struct kstore *k, int32_t pid);

/* The edge of a thread, a site and an object; NULL: no room, which has been counted. */
struct kshare_edge *kstore_edge(struct kstore *k, uint32_t object, uint32_t site, int32_t pid);
/* The same, with room for so many more of each. */
struct kshare_edge *kstore_edge_for(struct kstore *k, uint32_t object, uint32_t site, int32_t pid,
				    uint32_t writes, uint32_t reads);
/* What bytes of an object got by lines, where lines are asked for. */
void kstore_line(struct kstore *k, uint32_t object, uint64_t va, uint32_t writes, uint32_t reads);
void kstore_edge_free(struct kstore *k, uint32_t table, unsigned bits);
