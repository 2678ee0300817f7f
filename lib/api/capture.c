/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture.c - captures written by the public API. */
#include <atwalk/report.h>

#include "api/census.h"

enum { CAPTURE_LEVEL_MAX = 19 };

int atw_capture_write(struct atw_target *target, const struct atw_capture_opts *opts,
		      int fd, struct atw_err *err)
{
	struct census_collect_opts co = {.slabs = true, .refs = true};
	struct census_writer *w = NULL;
	struct api_lost lost = {0};
	struct atw_capture_opts o;
	struct census_sink sink;
	int r = api_opts(&o, sizeof(o), opts, err);

	if (r == ATW_OK)
		r = atw_target_need(target, ATW_CAP_PROCESSES, err);
	if (r == ATW_OK && o.level > CAPTURE_LEVEL_MAX)
		r = atw_err_set(err, ATW_E_USAGE, "options: level %u is above %d",
				o.level, CAPTURE_LEVEL_MAX);
	if (r == ATW_OK && target_capture_path(target->t))
		r = atw_err_set(err, ATW_E_UNSUPPORTED, "%s is a capture itself",
				target->source);
	if (r == ATW_OK)
		r = census_writer_open(fd, (int)o.level, &w, err);
	if (r < 0)
		return r;
	co.frames = o.frames;
	co.threads = o.threads;
	co.pid = o.pid;
	sink = census_writer_sink(w);
	r = api_census(target, &co, &sink, &lost, err);
	if (r == ATW_OK)
		r = census_writer_end(w, err);
	census_writer_close(w);
	if (r < 0)
		return r;
	return api_lost_end(&lost, err) == ATW_END ? ATW_OK : ATW_E_PARTIAL;
}
