/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmcoreinfo.h - the parser behind the atw_vmcoreinfo_* functions of linux/linux.h. */
#ifndef FORMAT_VMCOREINFO_H
#define FORMAT_VMCOREINFO_H

#include "format/vmcoreinfo_text.h"

/* One KEY=VALUE line of the text. */
struct vmcoreinfo_line {
	struct atw_blob key, value;
};

/*
 * Parse the line at *pos, which is advanced. ATW_END at the end of the text or at the
 * first line that is not KEY=VALUE.
 */
int vmcoreinfo_next(const struct atw_vmcoreinfo *vi, size_t *pos,
		    struct vmcoreinfo_line *ret);

#endif
