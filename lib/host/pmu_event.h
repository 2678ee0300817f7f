/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu_event.h - an event of a performance monitoring unit as sysfs words it, and the
 * numbers that perf_event_open(2) takes. Linux, Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{events,format}. Pure.
 */
#pragma once

#include <atwalk/base.h>

struct pmu_event {
	uint64_t config[3];
};

/* One of "event=0xcd,umask=0x1,ldlat=3,edge"; a name alone is 1. */
struct pmu_term {
	struct atw_blob name;
	uint64_t value;
};

/* The next term from *pos on. ATW_END: there is none; ATW_E_FORMAT: it is no term. */
int pmu_term_next(struct atw_blob events, size_t *pos, struct pmu_term *ret, struct atw_err *err);
/*
 * Put its value where the file of its name says: "config1:0-15" or "config:0-7,32-35", low
 * bits first. ATW_E_FORMAT: that says nothing of the kind, or the value is too large.
 */
int pmu_term_put(struct pmu_event *e, const struct pmu_term *t, struct atw_blob format,
		 struct atw_err *err);
