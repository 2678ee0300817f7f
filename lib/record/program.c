/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.c - interpreter and assembler of compiled filter expressions. */
#include "record/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/num.h"

void program_deinit(struct program *p)
{
	free(p->insn);
	intern_deinit(&p->texts);
	*p = (struct program){ 0 };
}

void program_add(struct program *p, struct insn in)
{
	if (p->failed || p->n == JUMP_OPEN ||
	    !ARRAY_ROOM(p->insn, p->n, p->cap)) {
		p->failed = true;
		return;
	}
	p->insn[p->n++] = in;
}

void program_jump(struct program *p, bool want)
{
	program_add(p, (struct insn){ .op = OP_JUMP, .want = want, .to = JUMP_OPEN });
}

void program_close(struct program *p, size_t start)
{
	for (size_t i = start; i < p->n; i++)
		if (p->insn[i].op == OP_JUMP && p->insn[i].to == JUMP_OPEN)
			p->insn[i].to = (uint32_t)p->n;
}

void program_page(struct program *p, unsigned page_shift)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->insn[i].op == OP_RANGE && p->insn[i].shift)
			p->insn[i].shift = (uint8_t)page_shift;
}

/* More than any number of bytes is as many as there can be. */
static bool program_in_range(const struct insn *in, uint64_t v)
{
	v = shl_u64(v, in->shift);
	return v >= in->a && v <= in->b;
}

static bool program_size_in_range(const struct insn *in, const char *s)
{
	uint64_t v;

	return num_dec(s, strlen(s), &v) && program_in_range(in, v);
}

static bool program_test(const struct insn *in, const struct atw_row *row)
{
	const union atw_value *v = &row->v[in->col];

	if (!(row->have >> in->col & 1))
		return false;
	switch ((enum insn_op)in->op) {
	case OP_RANGE:
		return program_in_range(in, v->u) == in->want;
	case OP_LENGTH:
		return v->list && (v->list->n >= in->a && v->list->n <= in->b) == in->want;
	case OP_ANY:
		return ((v->u & in->a) != 0) == in->want;
	case OP_TEXT:
		return v->s && !strcmp(v->s, in->s) == in->want;
	case OP_HAS:
		return v->s && (strstr(v->s, in->s) != NULL) == in->want;
	case OP_SIZE:
		return v->s && program_size_in_range(in, v->s) == in->want;
	default:
		return false;
	}
}

bool program_run(const struct program *p, const struct atw_row *row)
{
	bool truth = true;

	/* Every jump leads forward, so this terminates. */
	for (size_t i = 0; i < p->n; i++) {
		const struct insn *in = &p->insn[i];

		if (in->op == OP_JUMP) {
			if (truth == in->want)
				i = (size_t)in->to - 1;
		} else if (in->op == OP_NOT) {
			truth = !truth;
		} else {
			truth = program_test(in, row);
		}
	}
	return truth;
}

uint64_t program_columns(const struct program *p)
{
	uint64_t columns = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->insn[i].op != OP_JUMP && p->insn[i].op != OP_NOT)
			columns |= UINT64_C(1) << p->insn[i].col;
	return columns;
}

/* The truth values that each instruction can meet. Jumps lead forward: one pass is enough. */
static void program_spread(const struct program *p, const struct atw_row *row,
			   uint8_t *meets)
{
	const uint8_t no = 1u << false, yes = 1u << true;

	meets[0] = yes;
	for (size_t i = 0; i < p->n; i++) {
		const struct insn *in = &p->insn[i];
		uint8_t want = in->want ? yes : no, next = meets[i];

		if (!next)
			continue;
		if (in->op == OP_JUMP) {
			meets[in->to] |= next & want;
			next &= (uint8_t)~want;
		} else if (in->op == OP_NOT) {
			next = (uint8_t)((next & no ? yes : 0) | (next & yes ? no : 0));
		} else if (!(row->have >> in->col & 1)) {
			next = no | yes;
		} else {
			next = program_test(in, row) ? yes : no;
		}
		meets[i + 1] |= next;
	}
}

unsigned program_results(const struct program *p, const struct atw_row *row)
{
	uint8_t *meets;
	unsigned results;

	if (!(program_columns(p) & ~row->have))
		return 1u << program_run(p, row);
	meets = calloc(p->n + 1, 1);
	if (!meets)
		return 1u << false | 1u << true;
	program_spread(p, row, meets);
	results = meets[p->n];
	free(meets);
	return results;
}
