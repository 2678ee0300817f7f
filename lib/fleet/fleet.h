/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet.h - a capture as tables, to be queried together with those of other machines and
 * other times.
 *
 * Each table is a file FOLDER/TABLE/date=YYYY-MM-DD/host=HOST/HHMMSS.FORMAT, where query
 * engines read `date` and `host` as columns (Hive partitions). Times are UTC.
 */
#pragma once

#include "census/census.h"

struct fleet_opts {
	const char *folder;              /* it is created if its own folder exists */
	const char *format;              /* of the output: "parquet" */
	const char *host;                /* NULL: as recorded */
	const char *time;                /* begin, seconds since 1970; NULL: as recorded */
};

struct fleet;
/* Checks the options and that the folder can be written to. They must stay valid. */
int fleet_open(const struct fleet_opts *o, struct fleet **ret, struct atw_err *err);
/* Fails at the first record behind the H: lines if host or time are not known. */
struct census_sink fleet_sink(struct fleet *f);
/*
 * After the last record: writes all tables. After a failure none is there, nor a folder
 * that was not there before.
 */
int fleet_write(struct fleet *f, struct atw_err *err);
/* NULL is accepted. */
void fleet_close(struct fleet *f);
