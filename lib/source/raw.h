/* SPDX-License-Identifier: GPL-2.0-or-later */
/* raw.h - a plain image that is memory in several places, as an emulator keeps it. */
#pragma once

#include "source/source.h"

struct raw_piece {
	uint64_t at, len;        /* of memory */
	uint64_t offset;         /* in the file */
};

/* As atw_source_open() of raw:PATH; the rest of the file is no memory. */
int raw_open_pieces(const char *path, const struct raw_piece *v, size_t n,
		    struct atw_source **ret, struct atw_err *err);
/*
 * Other pieces of its file from now on; on failure it has some of them. The file stays
 * mapped, so memory that was read before causes no page faults again.
 */
int raw_set_pieces(struct atw_source *s, const struct raw_piece *v, size_t n,
		   struct atw_err *err);
