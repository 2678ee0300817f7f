/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program.h - compiled filter expression: tests that set one truth value, and forward
 * jumps over tests that can no longer change it.
 */
#ifndef RECORD_PROGRAM_H
#define RECORD_PROGRAM_H

#include "record/record.h"

#include "record/intern.h"

enum insn_op {
	OP_RANGE,                /* truth = (a <= value <= b) == want */
	OP_LENGTH,               /* truth = (a <= length of the list <= b) == want */
	OP_ANY,                  /* truth = (value & a has a bit) == want */
	OP_TEXT,                 /* truth = (value is s) == want */
	OP_HAS,                  /* truth = (value contains s) == want */
	OP_NOT,                  /* truth = !truth */
	OP_JUMP,                 /* go to `to` if truth == want */
};

#define JUMP_OPEN UINT32_MAX     /* a jump without a target yet */

struct insn {
	uint8_t op;              /* enum insn_op */
	uint8_t col;
	bool want;
	uint32_t to;
	union {
		struct { uint64_t a, b; };
		const char *s;
	};
};

struct program {
	struct insn *insn;
	size_t n, cap;
	struct intern texts;     /* texts that instructions point to */
	bool failed;             /* an allocation for an instruction failed */
};

void program_deinit(struct program *p);
void program_add(struct program *p, struct insn in);
/* Emits a jump whose target is set by program_close(). */
void program_jump(struct program *p, bool want);
/* Set the target of the open jumps from `start` on to here. */
void program_close(struct program *p, size_t start);
bool program_run(const struct program *p, const struct atw_row *row);
/* Bit i: the program tests column i. */
uint64_t program_columns(const struct program *p);
/*
 * The results it could have if each test of a value that is n/a could have either one: bit
 * `false`, bit `true`, or both. Takes time proportional to its length.
 */
unsigned program_results(const struct program *p, const struct atw_row *row);

#endif
