/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linux.h - what Linux keeps in physical memory: the root of its own page
 * tables, and what the words mean that the CPU ignores.
 *
 * A kernel, and what was opened of it (tasks, areas, struct pages), belongs to one
 * thread at a time, together with its source: it looks for symbols and types when
 * they are first asked for, and keeps them. Threads that ask at once open a source
 * and a kernel each. Where a thread meets another that is still looking, it gets
 * ATW_E_USAGE.
 */
#ifndef LINUX_LINUX_H
#define LINUX_LINUX_H

#include "format/vmcoreinfo_text.h"
#include "walk/walk.h"

/* ---- the kernel's own address space ---- */

enum atw_root_from {
	ATW_ROOT_NOTE,           /* VMCOREINFO the container carries */
	ATW_ROOT_SCAN,           /* VMCOREINFO found in memory and validated */
	ATW_ROOT_CPU,            /* a CPU's registers in the dump's notes */
	ATW_ROOT_GIVEN,          /* --root and --paging */
	ATW_ROOT_TASK,           /* the first task, by the kernel's types */
};

struct atw_kernel_opts {
	size_t size;             /* sizeof this struct, for the ABI */
	const char *paging;      /* --paging: a mode's name; NULL: find out */
	const char *ext;         /* extensions, comma separated; NULL: none */
	bool has_root;
	atw_pa root;             /* --root */
	bool has_cpu;
	unsigned cpu;            /* --cpu: use that CPU's root */
	const char *file;        /* --kernel: vmlinux, System.map or BTF that adds
	                          * what the source lacks; NULL: none */
	/*
	 * Progress of a search through all of memory, now or when symbols, types or
	 * tasks are asked for. Each begins with done = 0 and ends with done = all
	 * (bytes; 0 if nothing is stored). NULL: none is wanted.
	 */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

struct atw_kernel;
/*
 * Find the kernel's root. What the options give goes first; then the note,
 * then a validated scan of memory, then CPU registers. The source is
 * borrowed; NULL options ask for nothing in particular.
 */
int atw_kernel_open(struct atw_source *mem,
		    const struct atw_kernel_opts *o,
		    struct atw_kernel **ret, struct atw_err *err);
void atw_kernel_close(struct atw_kernel *k);
const struct mmu_space *atw_kernel_space(const struct atw_kernel *k);
/* "6.1.0-50-amd64", as VMCOREINFO or the first task has it; NULL: unknown. */
const char *atw_kernel_release(const struct atw_kernel *k);
enum atw_root_from atw_kernel_root_from(const struct atw_kernel *k);
/*
 * Did a walk from it reach the kernel's text? What the user gave and a CPU's
 * root are not proved.
 */
bool atw_kernel_is_proved(const struct atw_kernel *k);
/* Where the root was found, as a sentence. */
const char *atw_kernel_root_why(const struct atw_kernel *k);
/* NULL when there is none. */
const struct atw_vmcoreinfo *
atw_kernel_vmcoreinfo(const struct atw_kernel *k);
/* Where in physical memory the text was found; ATW_E_MISSING if in a note. */
int atw_kernel_vmcoreinfo_at(const struct atw_kernel *k, atw_pa *ret);

/* ---- symbols ---- */

struct lnx_symbol {
	uint64_t address;        /* of its first byte */
	uint64_t size;           /* its own, else bytes to the next one; 0: not known */
	char type;               /* as nm(1) has it: t T d D b B r R ... */
	char name[512];
};

/*
 * A symbol's address: from VMCOREINFO, the kernel's kallsyms tables or the
 * file given with --kernel. ATW_E_MISSING: no such symbol, or no symbols at
 * all; the error says which.
 */
int atw_kernel_symbol(struct atw_kernel *k, const char *name,
		      uint64_t *ret, struct atw_err *err);
/* The symbol an address belongs to. */
int atw_kernel_symbol_at(struct atw_kernel *k, uint64_t address,
			 struct lnx_symbol *ret, struct atw_err *err);

/* ---- what is read from a kernel ---- */

/* "Linux version 6.1.0 ...", one line. */
int atw_kernel_banner(struct atw_kernel *k, char *buf, size_t len,
		      struct atw_err *err);
int atw_kernel_command_line(struct atw_kernel *k, char *buf, size_t len,
			    struct atw_err *err);
/* What is added to a per-CPU symbol for this CPU's; ATW_END: no such CPU. */
int atw_kernel_percpu(struct atw_kernel *k, unsigned cpu, uint64_t *ret,
		      struct atw_err *err);
/*
 * Every VMCOREINFO text in memory, lowest address first. `leads`: a walk from
 * the root it names reaches the kernel's text; those of a kernel that ran
 * before, or is to run after a crash, do not. fn returns non-zero to stop. All
 * of memory is looked at. Running machines are not.
 */
typedef int atw_kernel_text_fn(void *arg, atw_pa at, size_t len, bool leads);
int atw_kernel_texts(struct atw_kernel *k, atw_kernel_text_fn *fn, void *arg);
/* NUMA node i, by the kernel's own description; ATW_END past the last. */
struct atw_node {
	uint32_t id;
	uint64_t first, pages;   /* frames it spans, holes included */
};
int atw_kernel_node(struct atw_kernel *k, size_t i, struct atw_node *ret,
		    struct atw_err *err);
/* A loaded module that describes its types; ATW_END past the last. */
struct atw_module_types {
	char name[64];
	uint32_t count;          /* types of its own; 0: they cannot be read */
};
int atw_kernel_module_types(struct atw_kernel *k, size_t i,
			    struct atw_module_types *ret, struct atw_err *err);
/*
 * What --kernel gave could not be compared with the source in anything but the
 * address of its text. Another kernel's file would be taken as well.
 */
bool atw_kernel_file_is_unproved(const struct atw_kernel *k);
/* Where symbols resp. types come from, as words; NULL, and why there are none. */
const char *atw_kernel_symbols_from(struct atw_kernel *k, uint32_t *count,
				    struct atw_err *err);
const char *atw_kernel_types_from(struct atw_kernel *k, uint32_t *count,
				  struct atw_err *err);
/*
 * What atwalk uses of a kernel, one after the other: ATW_END past the last.
 * What is missing costs what `serves` names.
 */
struct atw_need {
	const char *kind;        /* "member", "size", "constant", "symbol" */
	const char *names;       /* with what it was called in other releases */
	const char *serves;      /* "memory areas" */
	bool must;               /* nothing of that works without it */
	bool have;
};
int atw_kernel_need(struct atw_kernel *k, size_t i, struct atw_need *ret);

/* ---- regions of the kernel's half of the address space ---- */

struct atw_region {
	atw_va first, last;      /* inclusive */
	const char *name;        /* "direct map", "vmalloc", "vmemmap", ... */
};
/*
 * Region i, low addresses first, not overlapping; ATW_END past the last.
 * Where a region's borders come from decides which there are: see
 * lib/linux/regions.c.
 */
int atw_kernel_region(struct atw_kernel *k, size_t i,
		      struct atw_region *ret);

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
	uint8_t generation;      /* see lib/linux/soft.c */
	bool known;              /* false: release not known, a guess */
	/*
	 * Swap types from here on are no devices: the first of each kind, in the
	 * order of include/linux/swap.h. An empty kind begins where the next does.
	 */
	uint8_t poison, migration, device, marker, error;
	bool configured;         /* false: what the kernel was built with is a guess */
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
struct atw_soft_abi atw_soft_abi_for(const struct atw_paging *pg,
				     const char *release);
/* The same, with the build options that the symbols of a kernel show. */
struct atw_soft_abi atw_kernel_soft_abi(struct atw_kernel *k,
					const struct atw_paging *pg);
/* Pure; `word` is of an entry that the paging mode calls ABSENT. */
struct atw_soft_word atw_soft_decode(const struct atw_soft_abi *abi,
				     const struct atw_paging *pg,
				     unsigned level, uint64_t word);
/*
 * The same where the address is known. The kernel's half is never swapped: a
 * word that the CPU ignores there is a page taken out of the map (the direct
 * map of secret memory, free_init_pages()), and PROTNONE here.
 */
struct atw_soft_word atw_soft_decode_at(const struct atw_soft_abi *abi,
					const struct atw_paging *pg, atw_va va,
					unsigned level, uint64_t word);
const char *atw_soft_name(enum atw_soft what);

#endif
