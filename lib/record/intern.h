/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - one copy of each text. Ten million rows name a few hundred tasks and VMAs;
 * equal texts are equal pointers, which stay valid.
 */
#pragma once

#include "base/table.h"

struct intern_chunk;

struct intern {
	struct intern_chunk *chunks;
	struct table table;      /* pointers into them */
};

void intern_deinit(struct intern *in);
/* NULL: no memory. */
const char *intern_text(struct intern *in, const char *s, size_t len);
