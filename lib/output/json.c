/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - JSON sink: an array of objects, one per line; "[]" if there are none. */
#include "output/object.h"

static int json_begin(struct atw_sink *k, const struct atw_schema *sc,
		      struct atw_err *err)
{
	(void)sc;
	writer_char(k->w, '[');
	return object_begin(k, err);
}

static int json_row(struct atw_sink *k, const struct atw_row *row,
		    struct atw_err *err)
{
	(void)err;
	if (k->rows)
		writer_char(k->w, ',');
	writer_char(k->w, '\n');
	object_put(k, row);
	return ATW_OK;
}

static int json_end(struct atw_sink *k, struct atw_err *err)
{
	(void)err;
	if (k->rows)
		writer_char(k->w, '\n');
	writer_put(k->w, "]\n", 2);
	return ATW_OK;
}

const struct atw_sink_ops sink_json = {
	.size = sizeof(sink_json),
	.name = "json",
	.help = "one JSON array of objects",
	.begin = json_begin,
	.row = json_row,
	.end = json_end,
};
