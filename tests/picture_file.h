/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture_file.h - a scene written to a file, as the program does. */
#pragma once

#include "output/outfile.h"
#include "plot/draw.h"

static inline int picture_write(const struct scene *s, const struct picture_format *f,
				const char *path, struct atw_err *err)
{
	struct outfile t = { .fd = -1 };
	int rc = scene_done(s, err);

	if (rc == ATW_OK)
		rc = outfile_open(path, &t, err);
	if (rc < 0)
		return rc;
	rc = picture_put(s, f, &t, err);
	if (rc == ATW_OK)
		rc = outfile_commit(&t, err);
	outfile_close(&t);
	return rc;
}
