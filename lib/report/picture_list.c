/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture_list.c - list of the reports that can be drawn. */
#include <string.h>

#include "base/cleanup.h"
#include "report/picture.h"

#define PICTURE(name) extern const struct census_picture picture_##name;
#include "report/pictures.def"
#undef PICTURE

static const struct census_picture *const all[] = {
#define PICTURE(name) &picture_##name,
#include "report/pictures.def"
#undef PICTURE
};

const struct census_picture *census_picture_kind(size_t i)
{
	return i < ARRAY_SIZE(all) ? all[i] : NULL;
}

const struct census_picture *census_picture_find(const struct census_report *report)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(all[i]->of.name, report->name))
			return all[i];
	return NULL;
}
