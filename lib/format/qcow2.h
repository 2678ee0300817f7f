/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qcow2.h - the state of a guest that savevm, or virt-manager's internal snapshots, put into
 * a disk image. Pure.
 */
#pragma once

#include "format/view.h"

struct qcow2 {
	struct atw_blob file;
	uint64_t size;           /* of the disk */
	uint64_t snapshots;      /* offset of their table */
	uint32_t nsnapshots;
	unsigned cluster_bits;
};

struct qcow2_snapshot {
	struct atw_blob id, name;
	uint64_t l1;             /* offset of its table */
	uint32_t l1_len;         /* entries */
	uint64_t state;          /* bytes of the guest's state; 0: of the disk alone */
	uint64_t size;           /* of the disk at that time */
	uint64_t next;           /* offset of the next one */
};

bool qcow2_probe(struct atw_blob head);
/* Refuses images with clusters that are not stored in the file as they are. */
int qcow2_parse(struct atw_blob file, struct qcow2 *ret, struct atw_err *err);
/* The snapshot at this offset, of which the first is q->snapshots. */
int qcow2_snapshot_at(const struct qcow2 *q, uint64_t off, struct qcow2_snapshot *ret,
		      struct atw_err *err);
/* The bytes of its state. Freed by view_deinit(). */
int qcow2_state(const struct qcow2 *q, const struct qcow2_snapshot *s, struct view *ret,
		struct atw_err *err);
