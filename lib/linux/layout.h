/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - paging mode and root table of a kernel from VMCOREINFO alone. Pure; root.c
 * verifies the result by a walk.
 */
#ifndef LINUX_LAYOUT_H
#define LINUX_LAYOUT_H

#include "linux/linux.h"

struct layout_guess {
	struct atw_paging paging;
	atw_pa root;             /* of the kernel's half, or of both */
	uint64_t text_va;        /* SYMBOL(_stext) */
	atw_pa text_pa;          /* physical address of the kernel image's text */
};

/* ATW_E_UNSUPPORTED names the key that is missing or invalid. */
int layout_from_vmcoreinfo(const struct atw_vmcoreinfo *vi,
			   struct layout_guess *ret, struct atw_err *err);

#endif
