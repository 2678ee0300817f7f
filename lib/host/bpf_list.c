// SPDX-License-Identifier: GPL-2.0-or-later
/* bpf_list.c - structs that are linked, read by a BPF program in one run. */
#include "host/bpf.h"

#include <unistd.h>

#include "base/cleanup.h"

/*
 * Structs a run. The kernel verifies each round of the loop beforehand, which takes longer
 * than to run it.
 */
enum { LIST_BATCH = 16 };

/* Arguments in area->in, and the result in area->out. */
enum { VA, LEN, NEXT, MINUS_BACK, MINUS_LOW, SPAN };
#define IN(i)  ((int16_t)(BPF_AREA(in) + 8 * (i)))

/*
 * R7 is the address of the current struct, R8 its number, R6 points to its piece, R9 to
 * the area. It ends where a struct cannot be read, or links to somewhere else.
 */
static int bpf_list_load(int map)
{
	const struct bpf_insn insns[] = {
		/*  0 */ MAP_VALUE(R9, map),
		/*  2 */ COPY(R6, R9),
		/*  3 */ LOAD64(R7, R9, IN(VA)),
		/*  4 */ SET(R8, 0),
		/*  5 */ STORE64(R9, BPF_AREA(out), R8),
		/*  6 */ COPY(R1, R8),
		/*  7 */ TIMES(R1, LIVE_PIECE),
		/*  8 */ ADD_TO(R1, R9),
		/*  9 */ ADD(R1, offsetof(struct bpf_area, data)),
		/* 10 */ STORE64(R10, -8, R1),
		/* 11 */ LOAD64(R2, R9, IN(LEN)),
		/* 12 */ IF_GT_VALUE(R2, LIVE_PIECE, 20), /* to 33 */
		/* 13 */ COPY(R3, R7),
		/* 14 */ CALL(BPF_FUNC_probe_read_kernel),
		/* 15 */ IF_SET(R0, 17),                  /* to 33 */
		/* 16 */ STORE64(R6, BPF_PIECE(va), R7),
		/* 17 */ ADD(R6, sizeof(struct bpf_piece)),
		/* 18 */ ADD(R8, 1),
		/* 19 */ STORE64(R9, BPF_AREA(out), R8),
		/* 20 */ LOAD64(R1, R10, -8),
		/* 21 */ LOAD64(R2, R9, IN(NEXT)),
		/* 22 */ AND(R2, LIVE_PIECE - 8),
		/* 23 */ ADD_TO(R1, R2),
		/* 24 */ LOAD64(R7, R1, 0),
		/* 25 */ LOAD64(R2, R9, IN(MINUS_BACK)),
		/* 26 */ ADD_TO(R7, R2),
		/* 27 */ COPY(R1, R7),
		/* 28 */ LOAD64(R2, R9, IN(MINUS_LOW)),
		/* 29 */ ADD_TO(R1, R2),
		/* 30 */ LOAD64(R2, R9, IN(SPAN)),
		/* 31 */ IF_GE(R1, R2, 1),                /* to 33 */
		/* 32 */ IF_LT_VALUE(R8, LIST_BATCH, -27), /* to 6 */
		/* 33 */ SET(R0, 0),
		/* 34 */ EXIT(),
	};

	return bpf_load_atomic(insns, ARRAY_SIZE(insns), NULL);
}

size_t bpf_list(struct host_bpf *b, const struct bpf_list *l)
{
	struct bpf_area *a = b->area;

	if (!b->lister) {
		int fd = bpf_list_load(b->map);

		b->lister = fd < 0 ? -1 : fd;
	}
	if (b->lister < 0 || l->next % 8 || l->len > LIVE_PIECE)
		return 0;
	a->in[VA] = l->va;
	a->in[LEN] = l->len;
	a->in[NEXT] = l->next;
	a->in[MINUS_BACK] = -(uint64_t)l->back;
	a->in[MINUS_LOW] = -l->low;
	a->in[SPAN] = l->span;
	a->out[0] = 0;
	if (bpf_run(b->lister, NULL) < 0) {
		close(b->lister);
		b->lister = -1;
		return 0;
	}
	return a->out[0] < LIST_BATCH ? (size_t)a->out[0] : LIST_BATCH;
}
