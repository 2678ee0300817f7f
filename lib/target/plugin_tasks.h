/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin_tasks.h - what a target of a plugin has, as a capture in memory. */
#pragma once

#include "source/plugged.h"

struct plugin_tasks {
	int fd;                  /* of the capture; the caller closes it */
	bool frames;             /* some physical address is known */
	char about[160];         /* a line about the format */
};

/* Reads all of it. What the plugin returns is checked; nothing is left open after a failure. */
int plugin_tasks_read(const struct plugin_device *of, const struct atw_source_spec *spec,
		      struct plugin_tasks *ret, struct atw_err *err);
