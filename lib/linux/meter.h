/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meter.h - progress of a search through memory.
 *
 * A nested search is part of the outer one, and reports nothing itself.
 */
#ifndef LINUX_METER_H
#define LINUX_METER_H

#include "source/source.h"

struct meter {
	void (*fn)(void *arg, uint64_t done, uint64_t all);      /* or NULL */
	void *arg;
	uint64_t done, all;      /* bytes of memory that the source stores */
	unsigned depth;
};

/* Reports 0 bytes. A NULL meter reports nothing, here and below. */
void meter_begin(struct meter *m, struct atw_source *mem);
void meter_add(struct meter *m, uint64_t bytes);
/* Reports all bytes, also if the search ended early. */
void meter_end(struct meter *m);

#endif
