/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_list.c - list of the reports. */
#include <string.h>

#include "report/report.h"

static const struct census_report *const all[] = {
#define REPORT(name) &report_##name,
#include "report/reports.def"
#undef REPORT
};

const struct census_report *census_report_kind(size_t i)
{
	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

const struct census_report *census_report_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strlen(all[i]->name) == len && !memcmp(all[i]->name, name, len))
			return all[i];
	return NULL;
}
