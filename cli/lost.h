/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lost.h - data that a source could not read (L: lines), listed by -v. */
#ifndef CLI_LOST_H
#define CLI_LOST_H

#include "atwalk.h"
#include "format/capture.h"

enum { LOST_SHOWN = 1000, LOST_REASONS = 16 };

struct lost {
	uint64_t n;
	struct {
		char text[200];
		uint64_t n;
	} reason[LOST_REASONS];          /* those that came first, each once */
	size_t reasons;
};

/* Prints a line for each of the first LOST_SHOWN records, with -v only. */
void lost_add(struct lost *l, const struct common *c, const char *source,
	      const struct capture_lost *rec, uint32_t has);
/* Prints the number of records for each reason. */
void lost_sums(const struct lost *l, const struct common *c, const char *source);

#endif
