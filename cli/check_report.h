/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_report.h - results of policies for CI systems: JUnit XML, annotations of GitHub.
 */
#pragma once

#include "checking.h"

enum check_report { CHECK_TABLE, CHECK_JUNIT, CHECK_GITHUB };

/* "forbid writable and executable": the rule as it is in the file. */
void check_rule(struct buf *ret, const struct policy *p);
/* Writes to --output. Prints errors; 0 or an exit status. */
int check_report_write(const struct checking *k, const char *command,
		       enum check_report as);
