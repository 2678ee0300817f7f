/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census.h - the stream of a target for reports and captures, with what it lacks. */
#ifndef API_CENSUS_H
#define API_CENSUS_H

#include "api/api.h"
#include "census/census.h"

/* All of the target goes to `to`; what the stream lacks is added to `lost`. */
int api_census(struct atw_target *t, const struct census_collect_opts *o,
	       const struct census_sink *to, struct api_lost *lost, struct atw_err *err);

#endif
