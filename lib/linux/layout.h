/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - which paging mode a kernel runs and where its root lies, out of
 * VMCOREINFO alone. Pure; whether it is true, root.c finds out by walking.
 */
#ifndef LINUX_LAYOUT_H
#define LINUX_LAYOUT_H

#include "linux/linux.h"

struct layout_guess {
	struct atw_paging paging;
	atw_pa root;             /* of the kernel's half, or of all of it */
	uint64_t text_va;        /* SYMBOL(_stext) */
	atw_pa text_pa;          /* where the kernel image puts it */
};

/* ATW_E_UNSUPPORTED names the key that is missing or makes no sense. */
int layout_from_vmcoreinfo(const struct atw_vmcoreinfo *vi,
			   struct layout_guess *ret, struct atw_err *err);

#endif
