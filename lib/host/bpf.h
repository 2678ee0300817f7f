/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf.h - reads of the running kernel's memory by virtual address.
 *
 * A BPF program, written by hand and loaded with bpf(2), copies a list of pieces into
 * memory that is shared with this process. It runs only when it is triggered from here,
 * is not attached to anything, writes no kernel memory, and is freed with the descriptor.
 */
#ifndef HOST_BPF_H
#define HOST_BPF_H

#include <atwalk/base.h>

struct bpf_insn;

enum {
	LIVE_BATCH = 64,         /* pieces per run: 1.2 ms to load, 0.2 us a page */
	LIVE_PIECE = 4096,       /* bytes of the largest piece */
	LIVE_LENT = 64,          /* places that keep their data between reads */
	LIVE_PLACES = LIVE_BATCH + LIVE_LENT,    /* a power of two */
};

struct bpf_piece {
	uint64_t va;
	uint32_t len;            /* up to LIVE_PIECE */
	int32_t result;          /* 0, or -errno of the kernel */
	uint32_t place;          /* index in data[]; unique within a run */
	uint32_t unused;
};

/* The memory shared with the programs. */
struct bpf_area {
	uint64_t count;          /* of pieces to read */
	uint64_t current;        /* address of this task's task_struct */
	uint64_t in[4], out[8];  /* other programs' arguments and results */
	struct bpf_piece piece[LIVE_BATCH];
	_Alignas(LIVE_PIECE) uint8_t data[LIVE_PLACES][LIVE_PIECE];
};

struct host_bpf {
	int map, prog;
	struct bpf_area *area;
};

/* ATW_E_PERM: names the missing capability, with a hint how to grant it. */
int bpf_open(struct host_bpf *ret, struct atw_err *err);
/* A zeroed struct is accepted. */
void bpf_close(struct host_bpf *b);

/* Read the first `n` of area->piece into their places of area->data. */
int bpf_read(struct host_bpf *b, size_t n, struct atw_err *err);
/* A single piece, complete or ATW_E_IO. */
int bpf_copy(struct host_bpf *b, uint64_t va, void *buf, size_t len,
		  struct atw_err *err);

/*
 * Load another program that uses the area through b->map. Returns its descriptor;
 * ATW_E_UNSUPPORTED with the last message of the verifier.
 */
int bpf_load(const struct bpf_insn *insns, size_t n, struct atw_err *err);
int bpf_run(int prog, struct atw_err *err);

/* ---- for programs of other layers ---- */

/*
 * Memory shared with programs: the single element of an array map, which is returned;
 * zeroed. ATW_E_PERM as bpf_open().
 */
int bpf_share(size_t size, void **ret, struct atw_err *err);
/* Any other map of 4-byte keys, or a ring buffer of `n` bytes; a descriptor. */
int bpf_map(uint32_t type, uint32_t value_size, uint32_t n, int inner, struct atw_err *err);
int bpf_map_set(int map, uint32_t key, uint32_t value, struct atw_err *err);
/*
 * Run a program at each hit of a tracepoint, as long as the returned descriptor is open.
 * ATW_E_MISSING: there is no such tracepoint.
 */
int bpf_trace(const char *tracepoint, const struct bpf_insn *insns, size_t n,
		   struct atw_err *err);

#endif
