/* SPDX-License-Identifier: GPL-2.0-or-later */
/* paced.h - wrapper that counts the reads of a source and limits their rate. */
#ifndef SOURCE_PACED_H
#define SOURCE_PACED_H

#include "host/pace.h"
#include "source/source.h"

/*
 * `p` stays the caller's and has to live as long as the source. The result owns `below`;
 * on failure `below` is unchanged.
 */
int paced_source(struct atw_source *below, struct pace *p, struct atw_source **ret,
		 struct atw_err *err);

#endif
