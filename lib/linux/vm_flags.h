/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm_flags.h - bits of vm_flags, by the names they have in include/linux/mm.h.
 *
 * A bit without a remark has had its meaning since 2.4. Kernels reuse some of them: a
 * remark gives the first release with the meaning that the name says.
 */
#pragma once

enum vm_flags {
	VM_READ = 0x1, VM_WRITE = 0x2, VM_EXEC = 0x4, VM_SHARED = 0x8,
	VM_MAYREAD = 0x10, VM_MAYWRITE = 0x20, VM_MAYEXEC = 0x40,
	VM_MAYSHARE = 0x80,              /* 's' in /proc/PID/maps */
	VM_GROWSDOWN = 0x100,
	VM_UFFD_MISSING = 0x200,         /* 4.3 */
	VM_PFNMAP = 0x400,               /* 2.6.15; before that VM_SHM */
	VM_EXECUTABLE = 0x1000,          /* until 3.6; VM_UFFD_WP since 4.3 */
	VM_IO = 0x4000,
	VM_DONTEXPAND = 0x40000,
	VM_ACCOUNT = 0x100000,           /* 2.6 */
	VM_HUGETLB = 0x400000,           /* 2.6 */
	VM_MIXEDMAP = 0x10000000,        /* 2.6.25 */
	VM_HUGEPAGE = 0x20000000,        /* 3.7; before that VM_SAO */
	VM_NOHUGEPAGE = 0x40000000,      /* 3.7; before that VM_PFN_AT_MMAP */
	VM_RIGHTS = VM_READ | VM_WRITE | VM_EXEC,
	VM_MAYRIGHTS = VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC,
	/* As mm.h has it: never merged, and no folio of them can be large. */
	VM_SPECIAL = VM_IO | VM_DONTEXPAND | VM_PFNMAP | VM_MIXEDMAP,
};
