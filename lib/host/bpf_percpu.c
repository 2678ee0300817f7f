// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf_percpu.c - per-CPU offsets, from a map of our own.
 *
 * A per-CPU array has a per-CPU pointer (kernel/bpf/arraymap.c: pptrs), and a program can
 * look up the element of any CPU: the offset is the difference between the two.
 */
#include "host/bpf_percpu.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { OUT_ELEMENT, OUT_MAP };

#define AT(member, i) ((int16_t)(offsetof(struct bpf_area, member) + 8 * (i)))

static int bpf_percpu_load(const struct host_bpf *b, int map, struct atw_err *err)
{
	const struct bpf_insn insns[] = {
		/*  0 */ MAP_VALUE(R6, b->map),
		/*  2 */ PUT32(R10, -4, 0),
		/*  3 */ MAP(R1, map),
		/*  5 */ STORE64(R6, AT(out, OUT_MAP), R1),
		/*  6 */ COPY(R2, R10),
		/*  7 */ ADD(R2, -4),
		/*  8 */ LOAD32(R3, R6, AT(in, 0)),
		/*  9 */ CALL(BPF_FUNC_map_lookup_percpu_elem),
		/* 10 */ IF_ZERO(R0, 1),                      /* to 12 */
		/* 11 */ STORE64(R6, AT(out, OUT_ELEMENT), R0),
		/* 12 */ SET(R0, 0),
		/* 13 */ EXIT(),
	};

	return bpf_load(insns, ARRAY_SIZE(insns), err);
}

/* The element of that CPU; 0: there is no such CPU. */
static int bpf_percpu_element(struct host_bpf *b, int prog, size_t cpu, uint64_t *ret,
			      struct atw_err *err)
{
	int r;

	b->area->in[0] = cpu;
	memset(b->area->out, 0, sizeof(b->area->out));
	r = bpf_run(prog, err);
	*ret = b->area->out[OUT_ELEMENT];
	return r;
}

int bpf_percpu(struct host_bpf *b, uint32_t pptrs, uint64_t *ret, size_t most, size_t *ret_n,
	       struct atw_err *err)
{
	int map = bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, 8, 1, 0, err), prog = -1, r = map;
	uint64_t element = 0, base = 0;
	size_t n = 0;

	if (map >= 0)
		r = prog = bpf_percpu_load(b, map, err);
	if (r >= 0)
		r = bpf_percpu_element(b, prog, 0, &element, err);
	if (r == ATW_OK)
		r = bpf_copy(b, b->area->out[OUT_MAP] + pptrs, &base, sizeof(base), err);
	while (r == ATW_OK && element && n < most) {
		ret[n++] = element - base;
		r = bpf_percpu_element(b, prog, n, &element, err);
	}
	if (prog >= 0)
		close(prog);
	if (map >= 0)
		close(map);
	*ret_n = n;
	return r;
}
