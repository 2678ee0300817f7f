/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_rows.h - columns of `kmap show`: of objects, and of accesses. */
#ifndef KMAP_CLI_ROWS_H
#define KMAP_CLI_ROWS_H

#include "record/record.h"

enum origin { ORIGIN_RECORDED, ORIGIN_BEFORE };
enum fate { FATE_LIVE, FATE_FREED, FATE_MISSED, FATE_NESTED };

/* Both kinds of rows begin with those of an object. */
enum kmap_col {
	K_ALLOC_IP, K_PID, K_ADDRESS, K_SIZE, K_ALLOC_TIME, K_FREE_TIME, K_FREE_IP, K_FATE,
	K_TYPE, K_NEW_TYPE, K_NAME, K_TASK, K_CACHE, K_ALLOC_FUNCTION,
	K_OBJECT,                        /* so many are of the object */
	/* rows of objects */
	K_ACCESSES = K_OBJECT, K_SUM_WRITES, K_SUM_READS, K_SUM_FREES, K_HEAT,
	K_FIRST_USE, K_LAST_USE, K_ORIGIN, K_OBJECTS,
	/* rows of accesses */
	K_IP = K_OBJECT, K_ACCESS_PID, K_WRITES, K_READS, K_FREES, K_CALLER, K_FUNCTION, K_ALL,
};

/* Of the lists of an object's row: accesses, heat. */
enum { L_IP, L_PID, L_WRITES, L_READS, L_COUNT };
enum { H_LINE, H_WRITES, H_READS, H_COUNT };

extern const struct atw_schema kmap_objects_schema, kmap_accesses_schema;

#endif
