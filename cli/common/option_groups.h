/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option_groups.h - options that several commands take, for the parser. */
#ifndef CLI_OPTION_GROUPS_H
#define CLI_OPTION_GROUPS_H

#include "command.h"

enum { COMMON_SETS = 9 };

/* Sets for a command that takes these OPT_COMMON groups; the other sets are refused. */
void common_sets(unsigned taken, struct common *c, struct opt_set ret[COMMON_SETS]);

#endif
