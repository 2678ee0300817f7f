/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - internal interface of the analyses. */
#pragma once

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/sorted.h"
#include "census/model.h"
#include "record/intern.h"
#include "target/smaps.h"

#define REPORT(name) extern const struct census_report report_##name;
#include "report/reports.def"
#undef REPORT

/* Names of enum census_class. */
extern const struct atw_names census_class_names;
/* Letters of the LPMA flags. */
extern const struct atw_names census_flag_names;
/* Source of a count: atwalk's own (seen), or the kernel. */
extern const struct atw_names census_count_names;
/* "~" marks a guess. */
extern const struct atw_names census_guess_names;
#define GUESS_COLUMN { .key = "guess", .type = ATW_T_LETTERS, .width = 5, \
		       .names = &census_guess_names, .help = "~: what it is for is a guess" }


/* NULL: no memory. */
static inline const char *report_text(struct intern *in, struct atw_blob b)
{
	return intern_text(in, b.len ? b.data : "", b.len);
}

static inline uint64_t area_pages(const struct census_area *a, uint64_t page)
{
	return (a->last - a->first) / page + 1;
}

/*
 * Resident in RAM: neither device memory nor a zero page, which takes no memory however
 * often it is mapped.
 */
static inline bool is_resident(const struct census_pages *p)
{
	return p->present && !p->device && !p->zero;
}

/* H: vanished, the number of tasks that ended while they were read. */
void report_on_ended(const struct capture_header *h, uint64_t *ret);
/* Pages that they shared with others are divided by their mappings as well. */
void report_note_ended(const struct census_out *out, uint64_t ended);
/* The sums of smaps_rollup that they belong to; *as: of the event before, but for `bytes`. */
void pages_smaps(const struct census_pages *p, uint64_t page, struct smaps_pages *as);

/* A part of a file that may be a program or a library. */
static inline bool is_unit_area(const struct census_area *a)
{
	return a->unit && (a->class <= CENSUS_BSS || a->class == CENSUS_RESERVED);
}

/* Is it a program or library? Known at the end; the LPMA format has no others. */
bool is_executable(const struct census_unit *u);
/* Suffix of its name if no column has the information. */
static inline const char *deleted_text(const struct census_unit *u)
{
	return u->deleted ? CENSUS_DELETED : "";
}
/* "fe:1" */
void device_text(const struct census_unit *u, char buf[48]);
void build_text(const struct capture_bytes *id, char buf[2 * CAPTURE_BUILD + 1]);

enum { CGROUP_UNIT = 64 };
/*
 * The innermost part of a cgroup's path that is a unit or a container: nginx.service,
 * docker-0123456789ab. Others are `other`.
 */
void cgroup_unit(const char *path, size_t len, char ret[CGROUP_UNIT]);

/* Columns of a file, and whether it is deleted. */
#define UNIT_COLUMNS(state, device, inode) \
	[state] = COLUMN("state", FLAGS, 7, "deleted: the file is gone, and its memory is not", \
			 .names = &census_state_names), \
	[device] = COLUMN("device", TEXT, 7, "of the file: major:minor", .hidden = true), \
	[inode] = COLUMN("inode", COUNT, 0, "of it", .hidden = true)
extern const struct atw_names census_state_names;

/* Set columns of a row, if the value is known. */
struct report_row {
	union atw_value v[32];
	uint64_t have;
};

static inline void row_u(struct report_row *r, unsigned i, uint64_t u)
{
	r->v[i].u = u;
	r->have |= (uint64_t)1 << i;
}

/* The same if the value is known. */
static inline void row_if(struct report_row *r, bool known, unsigned i, uint64_t u)
{
	if (known)
		row_u(r, i, u);
}

/* NULL: not known. */
static inline void row_s(struct report_row *r, unsigned i, const char *s)
{
	r->v[i].s = s;
	r->have |= (uint64_t)(s != NULL) << i;
}

/* Those of UNIT_COLUMNS(). */
void row_unit(struct report_row *r, unsigned state, unsigned device, unsigned inode,
	      const struct census_unit *u, char buf[48]);

/*
 * Columns of the sums of smaps_rollup, in this order: rss, pss, uss, swap, huge, hugetlb.
 * `paper`: as recorded in the LPMA format; `unsized`: an H: line of that name occurred.
 */
enum { ROW_SMAPS = 6 };
void row_smaps(struct report_row *r, const uint8_t column[ROW_SMAPS], const struct smaps *s,
	       bool paper, bool unsized);
/* Clock ticks as SECONDS; hz: per second, 0: 100, USER_HZ, and HZ of the LPMA format's kernel. */
void row_ticks(struct report_row *r, unsigned i, uint64_t ticks, uint64_t hz);

static inline int row_out(const struct report_row *r, const struct census_out *out,
			  struct atw_err *err)
{
	return out->row(out->arg, &(struct atw_row){ r->v, r->have }, err);
}

/* The rows of `from` for another report, without its texts and notes. */
int report_rows_of(const struct census_report *from, void *state,
		   int (*row)(void *arg, const struct atw_row *row, struct atw_err *err), void *arg,
		   struct atw_err *err);
/* Is it a word of enum capture_use? */
bool is_frame_use(const char *word);
