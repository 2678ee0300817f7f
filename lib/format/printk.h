/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * printk.h - the kernel log: its ring buffer of records since 896fbe20b4e2 ("printk: use
 * the lockless ringbuffer", in v5.10).
 *
 * Pure: memory is read through a callback, as much as one record needs. The amount of
 * memory used does not depend on the contents of the log.
 */
#pragma once

#include <atwalk/base.h>

/* Offsets of members in their structs, in bytes. */
struct printk_layout {
	uint32_t desc_ring, text_ring;           /* printk_ringbuffer */
	uint32_t count_bits, descs, infos, head_id, tail_id;     /* prb_desc_ring */
	uint32_t size_bits, data;                /* prb_data_ring */
	uint32_t desc_size, state, lpos;         /* prb_desc */
	uint32_t begin, next;                    /* prb_data_blk_lpos */
	uint32_t info_size, seq, time, len, caller;      /* printk_info */
};

/* Reads all `len` bytes, or returns less than ATW_OK. */
typedef int printk_read_fn(void *arg, uint64_t at, void *buf, size_t len, struct atw_err *err);

struct printk_ring {
	struct printk_layout l;
	printk_read_fn *read;
	void *arg;
	uint64_t descs, infos, data;             /* addresses */
	unsigned count_bits, size_bits;
	uint64_t first, count;                   /* id of the oldest record; number of
						  * ids */
};

/* PRINTK_MESSAGE_MAX; longer texts are truncated. */
enum { PRINTK_TEXT = 2048 };

struct printk_record {
	uint64_t seq, time;              /* time: ns since boot */
	uint32_t caller;                 /* thread, or 0x80000000 + CPU */
	uint8_t facility, level;
	size_t len;
	char text[PRINTK_TEXT + 1];      /* terminated; may have several lines */
};

/* `at`: address of the struct printk_ringbuffer. ATW_E_DAMAGED: it is invalid. */
int printk_open(const struct printk_layout *l, uint64_t at, printk_read_fn *read, void *arg,
		struct printk_ring *ret, struct atw_err *err);
/*
 * Record number i counted from the oldest, below ring->count. ATW_E_NONE: there is no
 * record (it was being written, or its text is overwritten); ATW_E_DAMAGED: it is
 * invalid.
 */
int printk_record(const struct printk_ring *r, uint64_t i, struct printk_record *ret,
		  struct atw_err *err);
