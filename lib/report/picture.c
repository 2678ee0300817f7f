/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture.c - texts and look-ups that drawn reports share. */
#include "report/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

int picture_column(const char *report, const char *key)
{
	const struct census_report *r = census_report_find(report, strlen(report));

	for (size_t i = 0; r && i < r->schema->ncols; i++)
		if (!strcmp(r->schema->col[i].key, key))
			return (int)i;
	return -1;
}

const char *picture_pages(uint64_t page, char buf[48])
{
	char size[16];

	snprintf(buf, 48, "pages of %s", num_human(page, size));
	return buf;
}

const char *picture_process(const char *name, uint64_t pid, char buf[64])
{
	int room = 64 - 26;              /* ", " and 20 digits, and an ellipsis */

	if (strlen(name) <= (size_t)room)
		snprintf(buf, 64, "%s, %" PRIu64, name, pid);
	else
		snprintf(buf, 64, "%.*s\xe2\x80\xa6, %" PRIu64, room, name, pid);
	return buf;
}
