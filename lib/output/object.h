/* SPDX-License-Identifier: GPL-2.0-or-later */
/* object.h - a row as a JSON object, for the formats that are based on JSON. */
#ifndef OUTPUT_OBJECT_H
#define OUTPUT_OBJECT_H

#include "output/sink.h"

/* Format the keys once; each row copies them. */
int object_begin(struct atw_sink *k, struct atw_err *err);
/* {"address":"0x0000000000001000","size":4096}; keys in column order. */
void object_put(struct atw_sink *k, const struct atw_row *row);

#endif
