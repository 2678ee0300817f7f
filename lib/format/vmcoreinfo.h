/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmcoreinfo.h - the VMCOREINFO text, in which a kernel describes itself to dump tools
 * (kernel/vmcore_info.c; kernel/crash_core.c before 6.9). Pure.
 */
#pragma once

#include <atwalk/base.h>

/*
 * One text, parsed in place: values are looked up by their whole key, such as
 * "OSRELEASE", "SYMBOL(swapper_pg_dir)", "NUMBER(phys_base)".
 */
struct atw_vmcoreinfo {
	const char *text;        /* borrowed, not NUL-terminated */
	size_t len;
};

/* The length of the text if the bytes begin with VMCOREINFO; else 0. */
size_t atw_vmcoreinfo_probe(const void *data, size_t len);
int atw_vmcoreinfo_text(const struct atw_vmcoreinfo *vi,
			const char *key, struct atw_blob *ret);
/*
 * SYMBOL, OFFSET, SIZE and KERNELOFFSET are hexadecimal or decimal, as the kernel prints
 * them; NUMBER is 0x hexadecimal or signed decimal.
 */
int atw_vmcoreinfo_u64(const struct atw_vmcoreinfo *vi, const char *key, uint64_t *ret);

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
