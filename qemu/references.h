/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references.h - state of the plugin that counts references, and its tables. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/references_share.h"

enum { REFS_LAST = 8192 };

struct refs_thread {
	/* Entries that were counted last, by instruction and address. */
	struct references_entry *last[REFS_LAST];
	struct references_entry *next, *end;     /* entries of its own that are free */
	uint64_t *slot;                  /* hash table: hash << 32 | 1 + index of an entry */
	size_t n, slots;
	uint32_t number;
};

struct refs_state {
	struct references_share *s;
	size_t size;
	int fd;
	pid_t pid;
	bool begun;                      /* the first block was translated */
	uint64_t low, last;              /* of all ranges; inclusive */
};

extern __attribute__((visibility("hidden"))) struct refs_state refs;
/* The thread that runs; NULL before its first reference. */
extern __attribute__((visibility("hidden"), tls_model("initial-exec")))
	__thread struct refs_thread *refs_self;

/*
 * Neighbouring instructions, and loads and stores of the same one, alternate: each has a
 * slot of its own. An odd factor separates those at different addresses.
 */
static inline struct references_entry **refs_last(struct refs_thread *t, uint32_t site,
						  uint32_t info, uint64_t va)
{
	return &t->last[((site * 2 + (info >> 16 & 1)) * 37 + (va >> 6)) % REFS_LAST];
}

int refs_init(void);
/* Once the address is known where the program was loaded. */
void refs_ranges_init(void);
bool refs_in_range(uint64_t va, uint64_t size);
void refs_lock(void);
void refs_unlock(void);
/* With the lock: the number of an instruction. */
uint32_t refs_site(uint64_t ip);
/* NULL: there are too many threads, or no memory. */
struct refs_thread *refs_thread_begin(void);
struct refs_key {
	uint64_t va;
	uint32_t site, info;
	uint8_t shift, kind;
};

/* Adds one to the count of the address; its entry becomes that of refs_last(). */
void refs_count(struct refs_thread *t, const struct refs_key *key);
