/* SPDX-License-Identifier: GPL-2.0-or-later */
/* searching.h - progress of searches through a dump for its kernel. */
#ifndef CLI_SEARCHING_H
#define CLI_SEARCHING_H

#include "atwalk.h"

struct searching;

/* `name` is SOURCE. NULL: no memory. To be freed by free(). */
struct searching *searching_new(const struct common *c, const char *name);
/* For struct atw_kernel_opts; `arg` is the struct searching. */
void searching_at(void *arg, uint64_t done, uint64_t all);

#endif
