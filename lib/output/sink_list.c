/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink_list.c - list of the output formats. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "output/sink.h"

static const struct atw_sink_ops *const kinds[] = {
#define SINK(name) &sink_##name,
#include "output/sinks.def"
#undef SINK
};

const struct atw_sink_ops *atw_sink_kind(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? kinds[i] : NULL;
}

int sink_find(const char *format, const struct atw_sink_ops **ret,
	      struct atw_err *err)
{
	struct buf known = { 0 };
	int rc;

	if (!format || !*format) {
		*ret = kinds[0];
		return ATW_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i]->name, format)) {
			buf_deinit(&known);
			*ret = kinds[i];
			return ATW_OK;
		}
		if (i)
			buf_str(&known, ", ");
		buf_str(&known, kinds[i]->name);
	}
	rc = atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_FORMAT,
			       "unknown format '%.64s'; known: %s", format,
			       known.data ? known.data : "");
	buf_deinit(&known);
	return rc;
}
