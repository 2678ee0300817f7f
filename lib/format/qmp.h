/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qmp.h - replies of QEMU's monitor: lines of QMP, which are JSON, and texts of the human
 * monitor in them. Pure.
 */
#pragma once

#include <atwalk/base.h>

#include "base/buf.h"

enum qmp_kind {
	QMP_NONE,     /* not a line of QMP */
	QMP_GREETING,
	QMP_EVENT,
	QMP_RETURN,   /* `value`: what was returned; of a string without its quotes */
	QMP_ERROR,    /* `value`: its description, with escapes */
};

enum qmp_kind qmp_line(struct atw_blob line, struct atw_blob *value);
/* Appends a string of JSON without its escapes. What is not ASCII becomes "?". */
void qmp_text(struct atw_blob string, struct buf *ret);

/* A range of the guest's memory that is RAM or ROM. */
struct qmp_section {
	uint64_t gpa, len;
	uint64_t offset;       /* in its block */
	struct atw_blob block; /* "pc.ram" */
	bool read_only;
};

/*
 * Of the output of "info mtree -f", the sections of the memory that CPUs see: what
 * qmp_next_section() takes. false: there is none.
 */
bool qmp_find_memory(struct atw_blob text, struct atw_blob *ret);
/* ATW_END: behind the last. Sections of devices are left out. */
int qmp_next_section(struct atw_blob sections, size_t *pos, struct qmp_section *ret);

/* Has the output of query-memdev a backend of that name? */
bool qmp_has_backend(struct atw_blob memdevs, struct atw_blob name);
/* "Host virtual address for 0x1000 (pc.ram) is 0x7f0000001000", the answer to gpa2hva. */
bool qmp_host_address(struct atw_blob text, uint64_t gpa, uint64_t *ret);
