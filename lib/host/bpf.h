/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf.h - reads of the running kernel's memory by virtual address.
 *
 * One BPF program, written by hand and loaded with bpf(2), copies a list of
 * pieces into memory we share with it. It runs when we ask and at no other
 * time, is attached to nothing, writes nothing of the kernel's, and is gone
 * with the descriptor.
 */
#ifndef HOST_BPF_H
#define HOST_BPF_H

#include <atwalk/base.h>

struct bpf_insn;

enum {
	LIVE_BATCH = 64,         /* pieces a run: 1.2 ms to load, 0.2 us a page */
	LIVE_PIECE = 4096,       /* bytes of the largest piece */
	LIVE_LENT = 64,          /* places that keep their data between reads */
	LIVE_PLACES = LIVE_BATCH + LIVE_LENT,    /* a power of two */
};

struct bpf_piece {
	uint64_t va;
	uint32_t len;            /* up to LIVE_PIECE */
	int32_t result;          /* 0, or the -errno of the kernel's */
	uint32_t place;          /* in data[]; two of a run have not the same */
	uint32_t unused;
};

/* What we and the programs share. */
struct bpf_area {
	uint64_t count;          /* of pieces to read */
	uint64_t current;        /* our own task_struct's address */
	uint64_t in[4], out[8];  /* other programs' arguments and results */
	struct bpf_piece piece[LIVE_BATCH];
	_Alignas(LIVE_PIECE) uint8_t data[LIVE_PLACES][LIVE_PIECE];
};

struct host_bpf {
	int map, prog;
	struct bpf_area *area;
};

/* ATW_E_PERM says which capability is missing, and how to give it. */
int bpf_open(struct host_bpf *ret, struct atw_err *err);
/* Fine on a zeroed struct. */
void bpf_close(struct host_bpf *b);

/* Read the first `n` of area->piece into their places of area->data. */
int bpf_read(struct host_bpf *b, size_t n, struct atw_err *err);
/* One piece, whole or ATW_E_IO. */
int bpf_copy(struct host_bpf *b, uint64_t va, void *buf, size_t len,
		  struct atw_err *err);

/*
 * Another program that shares the area by way of b->map. Returns its
 * descriptor; ATW_E_UNSUPPORTED with the verifier's last words.
 */
int bpf_load(const struct bpf_insn *insns, size_t n, struct atw_err *err);
int bpf_run(int prog, struct atw_err *err);

/* ---- for programs of others ---- */

/*
 * Memory that programs share with us as the one element of an array map, which is
 * returned; zeroed. ATW_E_PERM as bpf_open().
 */
int bpf_share(size_t size, void **ret, struct atw_err *err);
/* Any other map of 4-byte keys, or a ring buffer of `n` bytes; a descriptor. */
int bpf_map(uint32_t type, uint32_t value_size, uint32_t n, int inner, struct atw_err *err);
int bpf_map_set(int map, uint32_t key, uint32_t value, struct atw_err *err);
/*
 * Run a program whenever the kernel comes by that tracepoint, as long as the descriptor
 * that is returned is open. ATW_E_MISSING: there is no such tracepoint.
 */
int bpf_trace(const char *tracepoint, const struct bpf_insn *insns, size_t n,
		   struct atw_err *err);

#endif
