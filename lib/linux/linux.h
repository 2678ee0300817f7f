/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linux.h - Linux in physical memory: the root of its own page tables, and the meaning of
 * words that the CPU ignores.
 *
 * A kernel and everything opened from it (tasks, VMAs, struct pages) may be used by one
 * thread at a time, together with its source: symbols and types are looked up on first
 * use and cached. Concurrent threads open a source and a kernel each. A thread that calls
 * while another one is in a lookup gets ATW_E_USAGE.
 */
#pragma once

#include "format/vmcoreinfo.h"
#include "walk/walk.h"

/* ---- the kernel's own address space ---- */

enum atw_root_from {
	ATW_ROOT_NOTE,           /* VMCOREINFO in a note of the container */
	ATW_ROOT_SCAN,           /* VMCOREINFO found in memory and validated */
	ATW_ROOT_CPU,            /* a CPU's registers in the dump's notes */
	ATW_ROOT_GIVEN,          /* --root and --paging */
	ATW_ROOT_TASK,           /* the first task, by the kernel's types */
};

struct remembered;

struct atw_kernel_opts {
	const char *paging;      /* --paging: a mode's name; NULL: detect */
	const char *ext;         /* extensions, comma separated; NULL: none */
	bool has_root;
	atw_pa root;             /* --root */
	bool has_cpu;
	unsigned cpu;            /* --cpu: use that CPU's root */
	const char *file;        /* --kernel: vmlinux, System.map or BTF that adds
	                          * what the source lacks; NULL: none */
	/*
	 * A folder of the user's own, in which what is found of a running kernel is kept
	 * for the next command (host/runtime_folder.h); NULL: nothing is kept.
	 */
	const char *remember;
	const struct remembered *known;  /* atw_kernel_known(); NULL: nothing */
	/*
	 * Progress of a search through all of memory, now or at the first use of symbols,
	 * types or tasks. Each search begins with done = 0 and ends with done = all
	 * (bytes; 0 if nothing is stored). NULL: no reports.
	 */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

struct atw_kernel;
/*
 * What a kernel's search found: members, constants and symbols that are needed. For further
 * kernels of the same source. The caller frees it; NULL: nothing was found, or no memory.
 */
struct remembered *atw_kernel_known(struct atw_kernel *k);
/*
 * Find the kernel's root. Options have precedence; then the note, then a verified scan of
 * memory, then CPU registers. The source is borrowed; NULL options are the defaults.
 */
int atw_kernel_open(struct atw_source *mem,
		    const struct atw_kernel_opts *o,
		    struct atw_kernel **ret, struct atw_err *err);
void atw_kernel_close(struct atw_kernel *k);
const struct mmu_space *atw_kernel_space(const struct atw_kernel *k);
/* "6.1.0-50-amd64", from VMCOREINFO or the first task; NULL: unknown. */
const char *atw_kernel_release(const struct atw_kernel *k);
enum atw_root_from atw_kernel_root_from(const struct atw_kernel *k);
/* How the root was found, as text. */
const char *atw_kernel_root_why(const struct atw_kernel *k);
/* NULL when there is none. */
const struct atw_vmcoreinfo *
atw_kernel_vmcoreinfo(const struct atw_kernel *k);
/* Physical address of the text; ATW_E_MISSING if it is in a note. */
int atw_kernel_vmcoreinfo_at(const struct atw_kernel *k, atw_pa *ret);

/* ---- symbols ---- */

struct lnx_symbol {
	uint64_t address;        /* of its first byte */
	uint64_t size;           /* from the symbol table, else bytes to the next one;
				  * 0: not known */
	char type;               /* letter as in nm(1): t T d D b B r R ... */
	char name[512];
};

/*
 * The address of a symbol: from VMCOREINFO, the kernel's kallsyms tables or the file
 * given with --kernel. ATW_E_MISSING with the reason: no such symbol, or no symbols.
 */
int atw_kernel_symbol(struct atw_kernel *k, const char *name,
		      uint64_t *ret, struct atw_err *err);
/* The symbol that contains an address. */
int atw_kernel_symbol_at(struct atw_kernel *k, uint64_t address,
			 struct lnx_symbol *ret, struct atw_err *err);
/*
 * All of them: those of kallsyms in the order of the kernel, then those that only the file
 * of --kernel has. A result of fn other than ATW_OK ends it and is returned.
 */
typedef int atw_kernel_symbol_fn(void *arg, const struct lnx_symbol *s, struct atw_err *err);
int atw_kernel_symbols_each(struct atw_kernel *k, atw_kernel_symbol_fn *fn, void *arg,
			    struct atw_err *err);

/* ---- attributes of a kernel ---- */

/* "Linux version 6.1.0 ...", one line. */
int atw_kernel_banner(struct atw_kernel *k, char *buf, size_t len, struct atw_err *err);
int atw_kernel_command_line(struct atw_kernel *k, char *buf, size_t len,
			    struct atw_err *err);
/* The offset of per-CPU symbols for this CPU; ATW_END: no such CPU. */
int atw_kernel_percpu(struct atw_kernel *k, unsigned cpu, uint64_t *ret,
		      struct atw_err *err);
/* The NUMA node of a CPU; ATW_E_MISSING: this kernel does not record it. */
int atw_kernel_cpu_node(struct atw_kernel *k, unsigned cpu, uint32_t *ret,
			struct atw_err *err);
/*
 * Every VMCOREINFO text in memory, in ascending order. `leads`: a walk from its root
 * reaches the kernel's text; this is false for a kernel that ran before, or a crash
 * kernel. fn returns non-zero to stop. All of memory is scanned. Not for running
 * machines.
 */
typedef int atw_kernel_text_fn(void *arg, atw_pa at, size_t len, bool leads);
int atw_kernel_texts(struct atw_kernel *k, atw_kernel_text_fn *fn, void *arg);
/* NUMA node i, from pglist_data; ATW_END past the last. */
struct atw_node {
	uint32_t id;
	uint64_t first, pages;   /* frames it spans, including holes */
};
int atw_kernel_node(struct atw_kernel *k, size_t i, struct atw_node *ret,
		    struct atw_err *err);
/* A loaded module with BTF; ATW_END past the last. */
struct atw_module_types {
	char name[64];
	uint32_t count;          /* types of its own; 0: they are unreadable */
};
int atw_kernel_module_types(struct atw_kernel *k, size_t i,
			    struct atw_module_types *ret, struct atw_err *err);
/*
 * The file of --kernel could not be compared with the source except for the address of
 * its text. A file of another kernel would not be detected.
 */
bool atw_kernel_file_is_unproved(const struct atw_kernel *k);
/* Origin of symbols and of types, as text; NULL with the reason if there are none. */
const char *atw_kernel_symbols_from(struct atw_kernel *k, uint32_t *count,
				    struct atw_err *err);
const char *atw_kernel_types_from(struct atw_kernel *k, uint32_t *count,
				  struct atw_err *err);
/*
 * The requirements of atwalk on a kernel, one by one: ATW_END past the last. If one is
 * missing, the feature `serves` is lost.
 */
struct atw_need {
	const char *kind;        /* "member", "size", "constant", "symbol" */
	const char *names;       /* with the names in other releases */
	const char *serves;      /* "memory areas" */
	bool must;               /* nothing of the feature works without it */
	bool have;
};
int atw_kernel_need(struct atw_kernel *k, size_t i, struct atw_need *ret);

/* ---- regions of the kernel's half of the address space ---- */

struct atw_region {
	atw_va first, last;      /* inclusive */
	const char *name;        /* "direct map", "vmalloc", "vmemmap", ... */
};
/*
 * Region i in ascending order, disjoint; ATW_END past the last. The known regions depend
 * on the sources of their borders: see lib/linux/regions.c.
 */
int atw_kernel_region(struct atw_kernel *k, size_t i, struct atw_region *ret);

/* ---- non-present entries ---- */

enum atw_soft {
	ATW_SOFT_NONE,           /* absent */
	ATW_SOFT_PROTNONE,       /* a page that is present but inaccessible */
	ATW_SOFT_SWAP,
	ATW_SOFT_MIGRATION,
	ATW_SOFT_POISON,         /* hardware-poisoned page */
	ATW_SOFT_DEVICE,         /* device private or exclusive memory */
	ATW_SOFT_MARKER,         /* PTE marker: uffd-wp or poisoned-by-user */
	ATW_SOFT_GUARD,          /* PTE marker: guard region */
	ATW_SOFT_UNKNOWN,        /* the kernel's release is not known */
};

/* Layout of non-present entries of a kernel. Plain data. */
struct atw_soft_abi {
	enum atw_family family;
	uint8_t generation;      /* see lib/linux/soft.c */
	bool known;              /* false: guessed, because the release is not known */
	/*
	 * First swap type of each kind that is not a device, in the order of
	 * include/linux/swap.h. An empty kind begins where the next does.
	 */
	uint8_t poison, migration, device, marker, error;
	bool configured;         /* false: the build configuration is guessed */
};

struct atw_soft_word {
	enum atw_soft what;
	bool guess;              /* the types depend on an unknown configuration */
	atw_pa pa;               /* PROTNONE, MIGRATION, POISON, DEVICE */
	uint8_t type;            /* swap type */
	uint64_t offset;         /* swap offset, pages; MARKER: its bits */
	bool soft_dirty, uffd_wp, exclusive;
};

/* `release`: "6.1.0-56-amd64", or NULL. */
struct atw_soft_abi atw_soft_abi_for(const struct atw_paging *pg, const char *release);
/* The same, with build options derived from the kernel's symbols. */
struct atw_soft_abi atw_kernel_soft_abi(struct atw_kernel *k,
					const struct atw_paging *pg);
/* Pure; `word` is an entry of kind ABSENT. */
struct atw_soft_word atw_soft_decode(const struct atw_soft_abi *abi,
				     const struct atw_paging *pg,
				     unsigned level, uint64_t word);
/*
 * The same for a known address. Kernel addresses are never swapped: such a word is a page
 * that was removed from the direct map (secret memory, free_init_pages()), and reported
 * as PROTNONE.
 */
struct atw_soft_word atw_soft_decode_at(const struct atw_soft_abi *abi,
					const struct atw_paging *pg, atw_va va,
					unsigned level, uint64_t word);
const char *atw_soft_name(enum atw_soft what);
