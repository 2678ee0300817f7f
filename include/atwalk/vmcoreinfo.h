/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmcoreinfo.h - the text in which a kernel describes itself to dump tools
 * (kernel/vmcore_info.c; kernel/crash_core.c before 6.9).
 */
#ifndef ATWALK_VMCOREINFO_H
#define ATWALK_VMCOREINFO_H

#include <atwalk/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One text, parsed in place: values are looked up by their whole key, such as
 * "OSRELEASE", "SYMBOL(swapper_pg_dir)", "NUMBER(phys_base)". Pure.
 */
struct atw_vmcoreinfo {
	const char *text;        /* borrowed, not NUL-terminated */
	size_t len;
};

/* A text's own length if it is VMCOREINFO from its first byte; else 0. */
ATW_API size_t atw_vmcoreinfo_probe(const void *data, size_t len);
ATW_API int atw_vmcoreinfo_text(const struct atw_vmcoreinfo *vi,
				const char *key, struct atw_blob *ret);
/* SYMBOL, OFFSET, SIZE and KERNELOFFSET are hexadecimal resp. decimal as the
 * kernel prints them; NUMBER is 0x hexadecimal or signed decimal. */
ATW_API int atw_vmcoreinfo_u64(const struct atw_vmcoreinfo *vi,
			       const char *key, uint64_t *ret);

#ifdef __cplusplus
}
#endif
#endif
