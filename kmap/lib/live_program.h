/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_program.h - the BPF programs behind live_events.h, put together by hand.
 *
 * They are attached to tracepoints, read no more than what a record has, write nothing
 * of the kernel's, and return at once for processes that are not followed.
 */
#pragma once

#include "kmap/lib/live_events.h"
#include "host/bpf.h"

enum {
	LIVE_TGIDS = 1 << 22,            /* PID_MAX_LIMIT: include/linux/threads.h */
	LIVE_POINTER_BITS = 22,
	LIVE_POINTERS = 1 << LIVE_POINTER_BITS,
};
#define LIVE_HASH UINT64_C(0x9e3779b97f4a7c15)

/* What programs share with us. */
struct live_area_events {
	uint32_t on;
	uint32_t own;                    /* tgid of the recorder: never followed */
	uint64_t lost;
	uint64_t of_cpu[KSHARE_CPUS];
	uint8_t tgids[LIVE_TGIDS];       /* 1: followed */
	/*
	 * Set for the hash of each address that was allocated and reported: its free is
	 * reported as well. Frees of other addresses with the same hash do no harm,
	 * since they match no known object.
	 */
	uint8_t ptrs[LIVE_POINTERS];
};

struct live_program {
	struct bpf_insn insn[128];
	size_t n;
	uint16_t out[16];                /* jumps to the end */
	unsigned nout;
};

struct live_program_opts {
	int map, rings;
	const struct live_layout *layout;
	bool everyone;
};

const char *live_program_tracepoint(enum kshare_event_kind kind);
void live_program_event(struct live_program *p, const struct live_program_opts *o,
			enum kshare_event_kind kind);
/* Children of a followed process are followed as well, until their process ends. */
void live_program_fork(struct live_program *p, const struct live_program_opts *o);
void live_program_exit(struct live_program *p, const struct live_program_opts *o);
/* Run in the process to follow; or with `everyone`, in the one to exclude. */
void live_program_enlist(struct live_program *p, const struct live_program_opts *o);
