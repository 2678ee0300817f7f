/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_insn.h - macros for BPF instructions, for programs written by hand.
 *
 * R0 holds results, R1 to R5 arguments; a call clobbers R1 to R5 and preserves R6 to R9.
 * Jumps count from the next instruction.
 */
#ifndef HOST_BPF_INSN_H
#define HOST_BPF_INSN_H

#include <linux/bpf.h>

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

#endif
