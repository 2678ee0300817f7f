/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lost.c - what a cursor could not read, reported once behind its last row. */
#include <inttypes.h>

#include "api/api.h"

void api_lost_add(struct api_lost *lost, const char *what, const struct atw_err *why)
{
	if (lost->n++)
		return;
	lost->first = *why;
	if (what && *what)
		atw_err_wrap(&lost->first, "%s", what);
}

void api_lost_cannot(void *lost, const char *what, const struct atw_err *why)
{
	api_lost_add(lost, what, why);
}

int api_lost_end(struct api_lost *lost, struct atw_err *err)
{
	if (!lost->n || lost->reported)
		return ATW_END;
	lost->reported = true;
	if (lost->n == 1)
		atw_err_set(err, ATW_E_PARTIAL, "%s", lost->first.text);
	else
		atw_err_set(err, ATW_E_PARTIAL, "%.440s; and %" PRIu64 " more",
			    lost->first.text, lost->n - 1);
	if (lost->first.hint[0])
		atw_err_hint(err, "%s", lost->first.hint);
	return ATW_E_PARTIAL;
}
