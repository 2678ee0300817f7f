/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_list.c - list of the analyses: apart, since they use what report.c has. */
#include "kmap/lib/report.h"

static const struct kmap_report *const all[] = {
#define REPORT(name) &kmap_report_##name,
#include "kmap/lib/reports.def"
#undef REPORT
};

const struct kmap_report *kmap_report_kind(size_t i)
{
	return i < ARRAY_SIZE(all) ? all[i] : NULL;
}

const struct kmap_report *kmap_report_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strlen(all[i]->name) == len && !memcmp(all[i]->name, name, len))
			return all[i];
	return NULL;
}
