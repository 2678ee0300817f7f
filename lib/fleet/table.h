/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - common parts of the tables. A table is a census_report; fleet.c fills in its first
 * columns. New columns are added at the end: queries run over files of all
 * versions.
 */
#pragma once

#include "fleet/fleet.h"
#include "report/node_ranges.h"
#include "report/report.h"

#define FLEET(name) extern const struct census_report fleet_##name;
#include "fleet/fleet.def"
#undef FLEET

enum { F_CAPTURE, F_HOST, F_TIME, FLEET_OWN };
#define FLEET_COLUMNS \
	[F_CAPTURE] = COLUMN("capture", TEXT, 0, "name of the capture: host and time"), \
	[F_HOST] = COLUMN("host", TEXT, 0, "of the machine"), \
	[F_TIME] = COLUMN("time", TIME, 0, "when the capture began")

/*
 * What joins `unit` of areas with the unit: the build ID, which is the same on all
 * machines; else device and inode; else the name. NULL build or device: not known.
 */
void fleet_unit_id(struct buf *ret, const char *build, const char *device, uint64_t inode,
		   const char *name);
/* The same of a unit. */
void fleet_unit_id_of(struct buf *ret, const struct census_unit *u);

/* A column of a report that becomes one of a table. `pages`: it has bytes there. */
struct fleet_column {
	uint8_t to;
	const char *from;
	bool pages;
};
/* Sets the columns of a row from one of a report; `column` ends with a NULL `from`. */
void fleet_take_row(struct report_row *to, const struct fleet_column *column,
		    const struct atw_schema *sc, const struct atw_row *from, uint64_t page);
