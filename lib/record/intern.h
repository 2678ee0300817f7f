/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - one copy of each text. Ten million rows name a few hundred tasks and VMAs;
 * equal texts are equal pointers, which stay valid.
 */
#ifndef RECORD_INTERN_H
#define RECORD_INTERN_H

#include <atwalk/base.h>

struct intern_chunk;

struct intern {
	struct intern_chunk *chunks;
	const char **slot;       /* open addressing; NULL is free */
	size_t nslots, n;        /* nslots is a power of two */
};

void intern_deinit(struct intern *in);
/* NULL: no memory. */
const char *intern_text(struct intern *in, const char *s, size_t len);

#endif
