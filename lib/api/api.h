/* SPDX-License-Identifier: GPL-2.0-or-later */
/* api.h - what the parts of the public API share. */
#pragma once

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/process.h>
#include <atwalk/space.h>
#include <atwalk/symbol.h>

#include "base/buf.h"
#include "census/census.h"
#include "target/target.h"
#include "walk/walk.h"

struct atw_target {
	struct target *t;
	char *source;
	struct pace pace; /* of a running kernel */
	bool paced;
	char defect[256];
	struct atw_target_info info;
	struct lnx_symbol found;  /* what `symbol` points to */
	struct atw_symbol symbol; /* lent by target.c */
};

/* ---- target.c ---- */

/*
 * Copies the caller's options, of whatever size, to `ret`, which has `len` bytes. NULL is
 * all zeroes. ATW_E_USAGE: a member that is not known here is set.
 */
int api_opts(void *ret, size_t len, const void *opts, struct atw_err *err);
/* ATW_E_USAGE if `handle` is NULL. */
int api_given(const void *handle, const char *what, struct atw_err *err);
/* The same of a handle and of `ret`. */
int api_both(const void *handle, const char *what, const void *ret, struct atw_err *err);
/* ATW_E_USAGE if the member of that name is not zero. */
int api_reserved(uint32_t reserved, struct atw_err *err);

/* *handle is zeroed memory of its size. */
#define API_NEW(handle, err) \
	((*(handle) = calloc(1, sizeof(**(handle)))) ? ATW_OK : atw_err_nomem(err))

/* What a cursor could not read. */
struct api_lost {
	uint64_t n;
	struct atw_err first;
	bool reported;
};
void api_lost_add(struct api_lost *lost, const char *what, const struct atw_err *why);
/* As provider_cannot_fn. */
void api_lost_cannot(void *lost, const char *what, const struct atw_err *why);
/* The last row was returned: ATW_END, or once ATW_E_PARTIAL. */
int api_lost_end(struct api_lost *lost, struct atw_err *err);

/* ---- walk.c ---- */

struct api_path {
	struct atw_step step[ATW_MAX_LEVELS];
	const struct atw_step *ref[ATW_MAX_LEVELS];
};
/* Fills the path of `s`; returns its length. */
uint32_t api_path_set(struct api_path *p, const struct mmu_seen *s);

/* Of a kind of entry, unless it is lost. */
enum atw_state api_kind_state(enum atw_kind kind, enum mmu_loss loss);
enum atw_state api_page_state(uint8_t state);
/* Of an entry; *pa is where a page is kept, if that is so. */
enum atw_state api_entry_state(struct target *t, const struct mmu_space *sp,
			       const struct mmu_seen *s, atw_pa *pa);

/* ---- space.c ---- */

struct atw_space {
	struct atw_target *target;
	struct subject subject;
	struct atw_space_info info;
	struct mmu_lookup *lookup;
	struct provider *prov; /* of a target without page tables */
	struct page_cursor *pages;
	size_t task;
	struct api_lost lost;
	struct api_path path;
	struct atw_translation translation;
};

/* A provider of one's own for the process, and its number in there. */
int api_provider_open(struct atw_space *space, bool frames, struct api_lost *lost,
		      struct provider **ret, size_t *task, struct atw_err *err);

/* ---- frames.c ---- */

/* `ret` points into `facts`. */
void api_frame_set(struct atw_frame *ret, uint64_t pa, unsigned page_shift,
		   const struct frame_facts *facts);

/* ---- capture.c ---- */

struct api_progress {
	atw_progress_fn *fn;     /* or NULL */
	void *arg;
};
/*
 * All of the target goes to `to`; what the stream lacks is added to `lost`. ATW_E_STOPPED:
 * the progress function returned false.
 */
int api_census(struct atw_target *t, const struct census_collect_opts *o,
	       const struct census_sink *to, const struct api_progress *progress,
	       struct api_lost *lost, struct atw_err *err);
