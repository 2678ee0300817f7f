/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf.h - reads of the running kernel's memory by virtual address.
 *
 * A BPF program, written by hand and loaded with bpf(2), copies a list of pieces into
 * memory that is shared with this process. It runs only when it is triggered from here,
 * is not attached to anything, writes no kernel memory, and is freed with the descriptor.
 */
#pragma once

#include <atwalk/base.h>
#include <linux/bpf.h>
#include <stddef.h>

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
	uint64_t in[6], out[8];  /* other programs' arguments and results */
	struct bpf_piece piece[LIVE_BATCH];
	_Alignas(LIVE_PIECE) uint8_t data[LIVE_PLACES][LIVE_PIECE];
};

/* Offsets in it, of its first piece too, for instructions. */
#define BPF_AREA(member) ((int16_t)offsetof(struct bpf_area, member))
#define BPF_PIECE(member) \
	((int16_t)(offsetof(struct bpf_area, piece) + offsetof(struct bpf_piece, member)))

struct host_bpf {
	int map, prog;
	int lister;              /* of bpf_list(); 0: not loaded yet, -1: cannot be */
	struct bpf_area *area;
};

/* ATW_E_PERM: names the missing capability, with a hint how to grant it. */
int bpf_open(struct host_bpf *ret, struct atw_err *err);
/* A zeroed struct is accepted. */
void bpf_close(struct host_bpf *b);

/* Read the first `n` of area->piece into their places of area->data. */
int bpf_read(struct host_bpf *b, size_t n, struct atw_err *err);
/* A single piece, complete or ATW_E_IO. */
int bpf_copy(struct host_bpf *b, uint64_t va, void *buf, size_t len, struct atw_err *err);

/*
 * Load another program that uses the area through b->map. Returns its descriptor;
 * ATW_E_UNSUPPORTED with the last message of the verifier.
 */
int bpf_load(const struct bpf_insn *insns, size_t n, struct atw_err *err);
int bpf_run(int prog, struct atw_err *err);
/* One that runs as a whole in a read-side critical section of RCU. */
int bpf_load_atomic(const struct bpf_insn *insns, size_t n, struct atw_err *err);

/* ---- bpf_list.c: structs that are linked, in one run ---- */

/* A list that the kernel frees by RCU: what it leads to exists until the run has ended. */
struct bpf_list {
	uint64_t va;             /* of the first struct */
	uint64_t low, span;      /* the others begin in this range */
	uint32_t len;            /* of each, up to LIVE_PIECE */
	uint32_t next;           /* where in a struct the pointer lies; a multiple of 8 */
	uint32_t back;           /* from a struct's start to where that points */
};
/*
 * Read up to LIVE_BATCH of them into area->data, and their addresses into area->piece.
 * Returns how many; 0 also where the kernel does not accept this.
 */
size_t bpf_list(struct host_bpf *b, const struct bpf_list *l);

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

/* ---- bpf_insn.c: macros for BPF instructions, for programs written by hand ---- */

/*
 * R0 holds results, R1 to R5 arguments; a call clobbers R1 to R5 and preserves R6 to R9.
 * Jumps count from the next instruction.
 */

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

#define INSN(op, dst, src, where, value) \
	((struct bpf_insn){ .code = (op), .dst_reg = (dst), .src_reg = (src), \
			    .off = (where), .imm = (value) })

/* The address of the one element of an array map; takes two instructions. */
#define MAP_VALUE(dst, fd) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_VALUE, 0, fd), \
	INSN(0, 0, 0, 0, 0)
#define SET(dst, value)   INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value)
#define COPY(dst, src)    INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define ADD(dst, value)   INSN(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value)
#define ADD_TO(dst, src)  INSN(BPF_ALU64 | BPF_ADD | BPF_X, dst, src, 0, 0)
#define AND(dst, value)   INSN(BPF_ALU64 | BPF_AND | BPF_K, dst, 0, 0, value)
#define TIMES(dst, value) INSN(BPF_ALU64 | BPF_MUL | BPF_K, dst, 0, 0, value)
#define LOAD32(dst, src, at)   INSN(BPF_LDX | BPF_MEM | BPF_W, dst, src, at, 0)
#define LOAD64(dst, src, at)   INSN(BPF_LDX | BPF_MEM | BPF_DW, dst, src, at, 0)
#define STORE32(dst, at, src)  INSN(BPF_STX | BPF_MEM | BPF_W, dst, src, at, 0)
#define STORE64(dst, at, src)  INSN(BPF_STX | BPF_MEM | BPF_DW, dst, src, at, 0)
/* if (a OP b) skip `by` instructions; all unsigned */
#define IF_GE(a, b, by)        INSN(BPF_JMP | BPF_JGE | BPF_X, a, b, by, 0)
#define IF_GT_VALUE(a, v, by)  INSN(BPF_JMP | BPF_JGT | BPF_K, a, 0, by, v)
#define IF_LT_VALUE(a, v, by)  INSN(BPF_JMP | BPF_JLT | BPF_K, a, 0, by, v)
#define IF_ZERO(a, by)         INSN(BPF_JMP | BPF_JEQ | BPF_K, a, 0, by, 0)
#define CALL(helper)           INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
/* A kernel function by its BTF id. */
#define CALL_KERNEL(id)  INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, id)
#define RIGHT(dst, by)    INSN(BPF_ALU64 | BPF_RSH | BPF_K, dst, 0, 0, by)
#define TIMES_BY(dst, src) INSN(BPF_ALU64 | BPF_MUL | BPF_X, dst, src, 0, 0)
/* 64 bits; takes two instructions. */
#define SET_LONG(dst, v) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, (int32_t)(v)), \
	INSN(0, 0, 0, 0, (int32_t)((v) >> 32))
#define MAP(dst, fd) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, fd), \
	INSN(0, 0, 0, 0, 0)
#define LOAD8(dst, src, at)    INSN(BPF_LDX | BPF_MEM | BPF_B, dst, src, at, 0)
#define PUT8(dst, at, value)   INSN(BPF_ST | BPF_MEM | BPF_B, dst, 0, at, value)
#define PUT32(dst, at, value)  INSN(BPF_ST | BPF_MEM | BPF_W, dst, 0, at, value)
#define PUT64(dst, at, value)  INSN(BPF_ST | BPF_MEM | BPF_DW, dst, 0, at, value)
#define ADD_AT(dst, at, src)   INSN(BPF_STX | BPF_ATOMIC | BPF_DW, dst, src, at, BPF_ADD)
#define IF_SAME(a, b, by)      INSN(BPF_JMP | BPF_JEQ | BPF_X, a, b, by, 0)
#define IF_NOT(a, b, by)       INSN(BPF_JMP | BPF_JNE | BPF_X, a, b, by, 0)
#define IF_SET(a, by)          INSN(BPF_JMP | BPF_JNE | BPF_K, a, 0, by, 0)
#define IF_ANY(a, bits, by)    INSN(BPF_JMP | BPF_JSET | BPF_K, a, 0, by, bits)
#define EXIT()           INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
