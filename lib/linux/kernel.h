/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - a kernel that was found, and its data on demand.
 *
 * Each of the calls below searches once and caches the result, including a failure with
 * its reason. Nothing is parsed before the first call that needs it.
 */
#pragma once

#include <pthread.h>

#include "linux/linux.h"
#include "format/btf.h"
#include "linux/kmem.h"
#include "linux/needs.h"
#include "source/source.h"

/* ---- meter.c: progress of a search through memory ---- */

/*
 * A nested search is part of the outer one, and reports nothing itself.
 */

struct meter {
	void (*fn)(void *arg, uint64_t done, uint64_t all);      /* or NULL */
	void *arg;
	uint64_t done, all;      /* bytes of memory that the source stores */
	unsigned depth;
};

/* Reports 0 bytes. A NULL meter reports nothing, here and below. */
void meter_begin(struct meter *m, struct atw_source *mem);
void meter_add(struct meter *m, uint64_t bytes);
/* Reports all bytes, also if the search ended early. */
void meter_end(struct meter *m);

/* ---- kernel.c ---- */

/* State of a lazy lookup. */
struct sought {
	bool done;
	bool busy;               /* the lookup is running, in some thread */
	pthread_t by;
	struct atw_err err;      /* status < 0: the reason why nothing was found */
};

/*
 * Runs `find` on the first call, and returns its result on every call. ATW_E_USAGE:
 * another thread is in the lookup, so the data are incomplete.
 */
int sought_once(struct sought *s, struct atw_kernel *k,
		int (*find)(struct atw_kernel *k, struct atw_err *err), struct atw_err *err);

struct kallsyms_symbol;
struct kernel_symbols;
struct vmfile;
struct kernel_types;
struct kernel_regions;
struct kernel_modules;
struct remembered;

struct atw_kernel {
	struct atw_source *mem;
	struct meter meter;      /* progress of searches */
	struct mmu_space space;
	/*
	 * The kernel's own space, regardless of --root, --pid and --cpu; high or low as
	 * its mode requires. have: false if none was found.
	 */
	struct mmu_space own;
	bool have_own;
	enum atw_root_from from;
	bool proved;
	char why[300];
	struct atw_vmcoreinfo vi;
	char *vi_copy;           /* copy of a text found in memory */
	atw_pa vi_at;
	bool have_vi;
	uint64_t stext;          /* start of the kernel's text; 0: not known */
	char release[96];        /* empty: not known */
	char *file;              /* --kernel, or NULL */
	char *remember;          /* folder of what was found by earlier commands; or NULL */
	struct remembered *remembered;   /* what was found before, once `recalled`; or NULL */
	bool recalled;
	struct vmfile *vmfile;   /* that file, opened and verified to match */

	struct sought sought_kmem, sought_symbols, sought_types, sought_init,
		sought_modules, sought_kvm;
	struct kmem *kmem;
	struct kernel_symbols *symbols;
	struct kernel_types *types;
	struct kernel_regions *regions;
	struct kernel_modules *modules;
	struct needs needs;
	bool needs_done, symbols_done;
	struct needs *kvm_needs; /* with the types of the module kvm; NULL: not needed */
	bool paired_roots;       /* x86: of a running kernel: a root was isolated */
	bool single_roots;       /* x86: of a running kernel: roots do not come in
				  * pairs */
	uint64_t init_task;
	/* Physical: of that, and of the pgd in init_mm; ATW_ROOT_TASK alone. */
	uint64_t task_at, pgd_at;
	/* __per_cpu_offset[] and its number of elements; 0: not looked up yet. */
	uint64_t percpu_at;
	uint32_t percpu_n;
};

/* ATW_E_USAGE if there is no kernel. For public functions. */
static inline int kernel_given(const struct atw_kernel *k, struct atw_err *err)
{
	return k ? ATW_OK : atw_err_set(err, ATW_E_USAGE, "no kernel is given");
}
struct members;
/*
 * What a feature needs to read members of structs: its requirements are met, and there is
 * memory to read. kernel_access_types(): without symbols.
 */
int kernel_access(struct atw_kernel *k, enum need_for f, struct members *ret,
		  struct atw_err *err);
int kernel_access_types(struct atw_kernel *k, enum need_for f, struct members *ret,
			struct atw_err *err);
/* Reads of the kernel's memory. */
int kernel_kmem(struct atw_kernel *k, struct kmem **ret, struct atw_err *err);
/* A number of 8 bytes in a struct; false: it is not known. */
bool kernel_member(struct atw_kernel *k, uint64_t base, enum need_member id, uint64_t *ret);
/*
 * Required members and symbols: never fails, missing ones are marked. needs_check()
 * reports whether they suffice.
 */
const struct needs *kernel_needs(struct atw_kernel *k);
/*
 * The same without symbols, for code that follows pointers from structs that it was
 * given.
 */
const struct needs *kernel_members(struct atw_kernel *k);
/* The kernel's types; ATW_E_MISSING with the reason if there are none. */
int kernel_btf(struct atw_kernel *k, const struct btf **ret, struct atw_err *err);
/*
 * The types of a loaded module, valid as long as the kernel; to be closed by btf_deinit().
 * ATW_E_MISSING: there is no such module, or it has none.
 */
int kernel_module_btf(struct atw_kernel *k, const char *name, struct btf *ret,
		      struct atw_err *err);
/* A symbol from VMCOREINFO's SYMBOL(), kallsyms or another source of symbols. */
int kernel_symbol(struct atw_kernel *k, const char *name, uint64_t *ret,
		  struct atw_err *err);
/* The same for several names; addresses are set where have[i] is true. */
void kernel_symbols_many(struct atw_kernel *k, const char *const *names,
			 uint64_t *ret, bool *have, size_t n);
/* All symbols of the kernel's own tables, in their order, until fn fails. */
typedef int kernel_symbol_fn(void *arg, const struct kallsyms_symbol *sym);
int kernel_symbols_each(struct atw_kernel *k, kernel_symbol_fn *fn, void *arg,
			struct atw_err *err);
/* The virtual address of init_task: by symbol, or by a search. */
int kernel_init_task(struct atw_kernel *k, uint64_t *ret, struct atw_err *err);

void kernel_symbols_close(struct kernel_symbols *s);
void kernel_types_close(struct kernel_types *t);
void kernel_regions_close(struct kernel_regions *r);
void kernel_modules_close(struct kernel_modules *m);

/* ---- members.c ---- */

/*
 * Access to members of kernel structs by their offsets in this kernel.
 */

/* All borrowed. */
struct members {
	struct kmem *m;
	const struct needs *n;
	struct kmem_ahead *ahead;        /* NULL: no read-ahead */
};

static inline bool member_have(const struct members *v, enum need_member id)
{
	return v->n->member[id] != NEED_NONE;
}

/* The address of a member; ATW_E_UNSUPPORTED if this kernel lacks it. */
int member_at(const struct members *v, uint64_t base, enum need_member id,
	    uint64_t *ret, struct atw_err *err);
/*
 * The value of a member: of 1, 2, 4 or 8 bytes, or a bit field, zero-extended; of any other
 * size the first 8 bytes, which for a list are the link to the next element.
 */
int member_get(const struct members *v, uint64_t base, enum need_member id,
	     uint64_t *ret, struct atw_err *err);

/* These members of the struct will be held: kmem_ahead_add() if there is v->ahead. */
void members_soon(const struct members *v, uint64_t base, const enum need_member *id, size_t n);
/*
 * kmem_hold() of the range that contains those members that this kernel has; nothing if
 * it exceeds a page. Data that were read ahead are not read again.
 */
void members_hold(const struct members *v, uint64_t base, const enum need_member *id, size_t n);
/* Offset and length of the range of members; length 0: this kernel has none of them. */
uint32_t members_span(const struct members *v, const enum need_member *id, size_t n,
		      uint32_t *ret_first);
static inline void members_release(const struct members *v)
{
	kmem_release(v->m);
}

/* ---- remember.c: what was found of the same kernel before ---- */

/* VMCOREINFO as it was found in memory, borrowed. false: it is not known where. */
bool kernel_recalled_text(struct atw_kernel *k, struct atw_vmcoreinfo *ret, atw_pa *ret_at);
/* false: nothing of this kernel, by its VMCOREINFO, is remembered. */
bool kernel_recalled_needs(struct atw_kernel *k, struct needs *ret);
/* Writes what is not remembered yet. */
void kernel_remember(struct atw_kernel *k);
/* What another kernel of the same source has found. ATW_E_NOMEM. */
int kernel_take_known(struct atw_kernel *k, const struct remembered *known, struct atw_err *err);
/* Nothing of it is to be remembered. */
void kernel_forget(struct atw_kernel *k);

/* ---- renew.c ---- */

/*
 * The same kernel through another source with the same bytes: nothing is searched again.
 * No lookup of `k` may have been made yet.
 */
int kernel_over(const struct atw_kernel *k, struct atw_source *mem,
		struct atw_kernel **ret, struct atw_err *err);
/*
 * The same kernel when it ran on, and its source has more of its memory: what does not
 * change, such as symbols and types, is not searched again. false: open it anew, for
 * VMCOREINFO can be found by now, or nothing else. No --root was given.
 */
bool kernel_renew(struct atw_kernel *k);
