/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - what Linux keeps in physical memory: the root of its own page
 * tables, and what the words mean that the CPU ignores.
 */
#ifndef ATWALK_KERNEL_H
#define ATWALK_KERNEL_H

#include <atwalk/vmcoreinfo.h>
#include <atwalk/walk.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the kernel's own address space ---- */

enum atw_root_from {
	ATW_ROOT_NOTE,           /* VMCOREINFO the container carries */
	ATW_ROOT_SCAN,           /* VMCOREINFO found in memory and validated */
	ATW_ROOT_CPU,            /* a CPU's registers in the dump's notes */
	ATW_ROOT_GIVEN,          /* --root and --paging */
};

struct atw_kernel_opts {
	size_t size;             /* sizeof this struct, for the ABI */
	const char *paging;      /* --paging: a mode's name; NULL: find out */
	const char *ext;         /* extensions, comma separated; NULL: none */
	bool has_root;
	atw_pa root;             /* --root */
	bool has_cpu;
	unsigned cpu;            /* --cpu: use that CPU's root */
};

struct atw_kernel;
/*
 * Find the kernel's root. What the options give goes first; then the note,
 * then a validated scan of memory, then CPU registers. The source is
 * borrowed; NULL options ask for nothing in particular.
 */
ATW_API int atw_kernel_open(struct atw_source *mem,
			    const struct atw_kernel_opts *o,
			    struct atw_kernel **ret, struct atw_err *err);
ATW_API void atw_kernel_close(struct atw_kernel *k);
ATW_API const struct atw_space *atw_kernel_space(const struct atw_kernel *k);
ATW_API enum atw_root_from atw_kernel_root_from(const struct atw_kernel *k);
/*
 * Did a walk from it reach the kernel's text? What the user gave and a CPU's
 * root are not proved.
 */
ATW_API bool atw_kernel_is_proved(const struct atw_kernel *k);
/* Where the root was found, as a sentence. */
ATW_API const char *atw_kernel_root_why(const struct atw_kernel *k);
/* NULL when there is none. */
ATW_API const struct atw_vmcoreinfo *
atw_kernel_vmcoreinfo(const struct atw_kernel *k);
/* Where in physical memory the text was found; ATW_E_MISSING if in a note. */
ATW_API int atw_kernel_vmcoreinfo_at(const struct atw_kernel *k, atw_pa *ret);

/* ---- words that the CPU ignores ---- */

enum atw_soft {
	ATW_SOFT_NONE,           /* nothing there: absent */
	ATW_SOFT_PROTNONE,       /* a page that is there and may not be touched */
	ATW_SOFT_SWAP,
	ATW_SOFT_MIGRATION,
	ATW_SOFT_POISON,         /* hardware-poisoned page */
	ATW_SOFT_DEVICE,         /* device private or exclusive memory */
	ATW_SOFT_MARKER,         /* PTE marker: uffd-wp or poisoned-by-user */
	ATW_SOFT_GUARD,          /* PTE marker: guard region */
	ATW_SOFT_UNKNOWN,        /* the kernel's generation is not known */
};

/* Which layout of non-present words a kernel has. Plain data. */
struct atw_soft_abi {
	enum atw_family family;
	uint8_t generation;      /* see lib/kernel/soft.c */
	bool known;              /* false: release not known, a guess */
};

struct atw_soft_word {
	enum atw_soft what;
	bool guess;              /* the types depend on configuration we lack */
	atw_pa pa;               /* PROTNONE, MIGRATION, POISON, DEVICE */
	uint8_t type;            /* swap type */
	uint64_t offset;         /* swap offset, pages; MARKER: its bits */
	bool soft_dirty, uffd_wp, exclusive;
};

/* `release`: "6.1.0-56-amd64", or NULL. */
ATW_API struct atw_soft_abi atw_soft_abi_for(const struct atw_paging *pg,
					     const char *release);
/* Pure; `word` is of an entry that the paging mode calls ABSENT. */
ATW_API struct atw_soft_word atw_soft_decode(const struct atw_soft_abi *abi,
					     const struct atw_paging *pg,
					     unsigned level, uint64_t word);
ATW_API const char *atw_soft_name(enum atw_soft what);

#ifdef __cplusplus
}
#endif
#endif
