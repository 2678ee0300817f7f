/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_record.h - recording of the running kernel: every object that its tracepoints
 * report, and a sample of accesses.
 *
 * If the CPU can sample addresses, one of `rate` accesses is taken, and that is the
 * scale. Otherwise a few words of randomly selected objects are watched at a time, each
 * for a short while; the ratio of watched to live word time is counted for the scale.
 */
#pragma once

#include "linux/linux.h"

#include "kmap/lib/live_events.h"
#include "kmap/lib/store.h"

struct live_recorder;

struct live_recorder_opts {
	struct kshare *s;                /* with wishes, and kmap_introduce_running() */
	struct atw_kernel *kernel;       /* borrowed: it names caches */
	bool (*wait)(void *arg);         /* writes some of what waits in s->done */
	void *arg;
	bool everyone;
	uint32_t ring;
	uint32_t task_tgid;              /* in task_struct */
	bool accesses;                   /* else objects alone */
	uint64_t rate;                   /* of the CPU's samples; 0: words are watched */
	unsigned period;                 /* ms that a word is */
};

int live_recorder_open(const struct live_recorder_opts *o, struct live_recorder **ret,
		       struct atw_err *err);
/* NULL is fine. */
void live_recorder_close(struct live_recorder *r);
/* For the processes to follow. */
struct live_events *live_recorder_events(struct live_recorder *r);
/* What came since, as far as it is time for; *ret_n: how many events, 0: it is idle. */
int live_recorder_work(struct live_recorder *r, unsigned *ret_n, struct atw_err *err);
/* The output has failed: stop following events and watching words. */
void live_recorder_stop(struct live_recorder *r);
/* Nothing more is wanted: what is left of before. */
int live_recorder_finish(struct live_recorder *r, struct atw_err *err);

struct live_sums {
	uint64_t watches, hits;
	uint64_t refused;                /* words that may not be watched */
	uint64_t watched;                /* ns of words that were watched */
	unsigned __int128 all;           /* and that there were: gigabytes for minutes */
	uint64_t lost_events, lost_hits;
	unsigned words;                  /* at once */
	uint64_t rate;                   /* of the CPU's samples; without both there are no accesses */
	uint64_t elsewhere;              /* samples of what is no object */
	struct atw_err why;              /* there are none */
};
struct live_sums live_recorder_sums(const struct live_recorder *r);
/* What each access stands for, if one of `sample` objects is recorded; 0: none was to be seen. */
uint64_t live_sums_scale(const struct live_sums *s, uint64_t sample);
