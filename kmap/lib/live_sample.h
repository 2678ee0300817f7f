/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_sample.h - selects the words of objects to watch, one after the other, and
 * collects the hits.
 *
 * Of some objects picked by chance, the one of the least watched kind is taken, so that
 * the many pages of RAM do not hide everything else; and of it any word.
 */
#pragma once

#include "base/table.h"
#include "kmap/lib/live_record.h"

/* Accesses of a sample, counted where those of others are. */
struct live_edges {
	struct kstore *store;
	struct table sites;         /* of instructions */
	uint64_t n;                      /* accesses */
	bool named;                      /* numbers of threads are those that names are known by */
};

/* Fine on a zeroed struct. */
void live_edges_free(struct live_edges *x);
void live_edges_add(struct live_edges *x, uint32_t object, uint64_t va, uint64_t ip, uint32_t pid,
		    uint32_t writes, uint32_t reads);

/* ---- of words that are watched ---- */

struct live_sample;

/* ATW_E_UNSUPPORTED: nothing can be watched here. `period` in ms. */
int live_sample_open(struct live_edges *edges, unsigned period, struct live_sample **ret,
		     struct atw_err *err);
/* NULL is fine. */
void live_sample_close(struct live_sample *x);
/* That object is freed now. true: it is watched, and to be let go here. */
bool live_sample_over(struct live_sample *x, uint32_t id, uint64_t time);
/*
 * Take what was hit; and where a word's time is over, the next. `known`: up to then all
 * frees are known. `on`: are accesses asked for?
 */
int live_sample_work(struct live_sample *x, uint64_t time, uint64_t known, bool on,
		     struct atw_err *err);
/* Stop watching; results are written when all frees are known. */
int live_sample_stop(struct live_sample *x, uint64_t time, struct atw_err *err);
int live_sample_end(struct live_sample *x, struct atw_err *err);
void live_sample_sums(const struct live_sample *x, struct live_sums *sums);
