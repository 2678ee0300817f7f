/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jsonl.c - JSON Lines sink: an object per line, which can be streamed and split. */
#include "output/object.h"

static int jsonl_begin(struct atw_sink *k, const struct atw_schema *sc,
		       struct atw_err *err)
{
	(void)sc;
	return object_begin(k, err);
}

static int jsonl_row(struct atw_sink *k, const struct atw_row *row,
		     struct atw_err *err)
{
	(void)err;
	object_put(k, row);
	writer_char(k->w, '\n');
	return ATW_OK;
}

static int jsonl_end(struct atw_sink *k, struct atw_err *err)
{
	(void)k;
	(void)err;
	return ATW_OK;
}

const struct atw_sink_ops sink_jsonl = {
	.size = sizeof(sink_jsonl),
	.name = "jsonl",
	.help = "one JSON object a line",
	.begin = jsonl_begin,
	.row = jsonl_row,
	.end = jsonl_end,
};
