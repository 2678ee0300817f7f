/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references_share.h - memory that QEMU's plugin (qemu/references.c) shares with the
 * program that started it: counts survive however the emulated program ends.
 *
 * An entry counts the references of one instruction, in one thread, to adjacent words of
 * the size that it accesses. Counts are bytes, because speed depends on how much of them
 * fits into the CPU's caches; each 256 references are added to a wide count, in an entry
 * of its own. Entries are in chunks that one thread fills; unused ones have no counts.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REFERENCES_MAGIC UINT64_C(0x3173666572777461)

enum {
	REFERENCES_SLOTS = 32,
	REFERENCES_WIDE_SLOTS = 4,
	REFERENCES_CHUNK = 64,           /* entries */
	REFERENCES_SITES = 1 << 22,      /* instructions; further ones have no address */
	REFERENCES_THREADS = 1 << 16,
	REFERENCES_RANGES = 64,
};

enum references_kind { REFERENCES_READ, REFERENCES_WRITE, REFERENCES_BOTH };

struct references_entry {
	uint64_t block;                  /* address of the first slot */
	uint32_t site;                   /* 0: the instruction is not known */
	uint32_t info;                   /* as QEMU describes the reference */
	uint32_t thread;
	uint8_t shift;                   /* log2 of a slot's bytes */
	uint8_t kind;                    /* enum references_kind */
	bool is_wide;
	uint8_t unused[5];
	union {
		uint8_t count[REFERENCES_SLOTS];
		uint64_t wide[REFERENCES_WIDE_SLOTS];
	};
};

struct references_share {
	uint64_t magic;
	uint64_t nchunks_max;
	/* Only memory in these ranges is counted; none: all of it. */
	uint32_t nranges;
	bool in_file;                    /* one of them is relative to the program's file */
	struct { uint64_t start, end; bool in_file; } range[REFERENCES_RANGES];
	uint64_t file_code;              /* lowest address of code in the program's file */

	/* By the plugin. */
	_Atomic uint32_t attached, ended;
	_Atomic uint32_t has_load;
	uint64_t load;
	_Atomic uint64_t children, lost;
	_Atomic uint64_t nchunks;        /* may exceed the maximum */
	_Atomic uint32_t nsites, nthreads;
	uint64_t site[REFERENCES_SITES];
	uint32_t tid[REFERENCES_THREADS];
	struct references_entry entry[] __attribute__((aligned(64)));
};
