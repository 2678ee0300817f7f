/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spool.h - a file in memory for what cannot be mapped: pipes, and packed files. */
#pragma once

#include <atwalk/base.h>

/* What is packed from offset `at` of a file on, or copied if it is not. */
int spool_unpacked(int fd, uint64_t at, int *ret, struct atw_err *err);
