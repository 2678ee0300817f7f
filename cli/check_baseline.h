/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_baseline.h - counts of an earlier run, which rules 'track' are compared with. */
#pragma once

#include "checking.h"

/* `update`: it need not be there. Complain themselves; 0 or an exit status. */
int check_baseline_read(struct config *ret, const char *path, bool update);
/* The counts that are known now, and those in k->baseline of other policies. */
int check_baseline_write(struct checking *k, const char *path);
