/* SPDX-License-Identifier: GPL-2.0-or-later */
/* column.h - types of columns, and the values in them. */
#ifndef ATWALK_COLUMN_H
#define ATWALK_COLUMN_H

#include <atwalk/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Type of the values in a column, and the member of union atw_cell that has them. */
enum atw_column_type {
	ATW_COLUMN_ADDRESS = 1,  /* u */
	ATW_COLUMN_HEX = 2,      /* u: a raw word */
	ATW_COLUMN_BYTES = 3,    /* u */
	ATW_COLUMN_COUNT = 4,    /* u */
	ATW_COLUMN_PAGES = 5,    /* u: a number of pages */
	ATW_COLUMN_ENUM = 6,     /* u: index of the name */
	ATW_COLUMN_FLAGS = 7,    /* u: a set of names, bit 0 is the first */
	ATW_COLUMN_TEXT = 8,     /* s: any bytes */
	ATW_COLUMN_MILLISECONDS = 9,     /* u */
	ATW_COLUMN_CHANGE = 10,  /* i: change of a count */
	ATW_COLUMN_CHANGE_BYTES = 11,    /* i: change of a size */
	ATW_COLUMN_LETTERS = 12,         /* u: a set of letters, bit 0 is the first */
	ATW_COLUMN_TIME = 13,    /* u: microseconds since 1970 */
};

/* A value. Its size of eight bytes never changes. */
union atw_cell {
	uint64_t u;
	int64_t i;
	const char *s;
};

#ifdef __cplusplus
}
#endif
#endif
