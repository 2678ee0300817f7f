/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest.h - the known name that is most similar to a mistyped word. */
#pragma once

#include <stddef.h>

struct nearest {
	const char *word;        /* what was typed */
	size_t len;
	const char *name;        /* the best so far; NULL: nothing close */
	unsigned distance;       /* of `name` */
};

void nearest_try(struct nearest *n, const char *name);
