/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find.h - parts of `atwalk find`: options and output (cmd_find.c), search of page tables
 * (find_spaces.c), without page tables (find_pages.c), and in guests (find_guests.c).
 */
#pragma once

#include "listing.h"
#include "linux/soft.h"
#include "linux/spaces.h"
#include "walk/rmap.h"

/* Rows that the schema has; the order is in cmd_find.c. */
enum { FIND_COLUMNS = 23 };

/* An argument: PHYS or ADDRESS. */
struct find_target {
	const char *text;
	bool is_virtual;
	bool is_either;          /* virtual if the process maps it, else physical */
	struct address va;
	struct rmap_range phys;
};

/* The owner of the page tables that are searched. */
struct find_owner {
	const char *task;
	bool have_pid;
	uint32_t pid;
	const struct owned_space *space; /* of a process; else NULL */
	bool regions;                    /* the kernel's own addresses */
};

struct find {
	struct find_worker *thread;      /* of this; NULL: it is the command's */
	const struct space_opts *space;  /* of src; NULL: it is one of several sources */
	const struct common *c;
	struct session src;
	struct listing list;
	struct atw_column col[FIND_COLUMNS];
	struct atw_schema schema;
	struct atw_output *out;
	struct rmap finder;
	struct rmap_ranges want;
	size_t wants;            /* allocated entries */
	struct find_target *target;
	size_t ntargets;
	struct buf looked;       /* lines: physical addresses of virtual targets */
	uint64_t unmapped, untranslated; /* of these: not mapped; page table missing */
	struct spaces spaces;
	struct buf pids;         /* of address space pids_of */
	const struct owned_space *pids_of;
	bool user_half;          /* of the kernel under page-table isolation */
	/* Upper-half entries of the kernel's root tables, by slot. */
	struct top { uint64_t pa; uint8_t kind; } top[512], user_top[512];
	uint64_t mappings, entries, roots, shared_by;
	uint64_t searched;       /* address spaces, for captures */
	bool limit;              /* a walk was stopped early */
	struct atw_memmap *memmap;       /* NULL: flags of frames are not wanted, or not known */
	struct atw_names frame_flags;
	const char *frame_flag[64];
	bool guests;             /* --guests: search those that have the frame, too */
	struct find_guest *guest;        /* processes of mappings: find_guests.c */
	size_t nguests, guests_cap;
	uint64_t guests_searched;
	const char *in_guest;    /* rows are of this guest; NULL: of the source itself */
	bool foreign;            /* and its flags are not those of the source */
	uint64_t nameless;       /* areas or area names that could not be read */
	struct atw_err nameless_why;     /* of the first one */
};

/*
 * find_target.c: checks the syntax of a target; parses it for this source (into
 * f->target); resolves all targets to f->want. These print errors and return 0 or an exit
 * status.
 */
int find_check(const char *text);
int find_parse(struct find *f, const char *text, bool is_virtual);
int find_resolve(struct find *f, const struct space_opts *space);
/* Adds the physical addresses of virtual targets as notes of the output. */
void find_note_targets(const struct find *f);
/* Prints the number of failed translations of virtual addresses. */
void find_print_untranslated(const struct find *f);

/* Emits a row for the root table, if it is one of the targets. */
int find_put_root(struct find *f, const struct find_owner *w, const struct mmu_space *sp,
		  atw_pa root, struct atw_err *err);
/* Emits one row; `area` is NULL if there is none, or several. */
int find_put_hit(struct find *f, const struct find_owner *w, const char *area,
		 const struct rmap_entry *h, struct atw_err *err);
/* Emits the rows of all hits in these tables. */
int find_flush(struct find *f, const struct find_owner *w, struct atw_err *err);

/* Searches every process, the kernel and CPUs; or the selected page tables. */
int find_in_all(struct find *f, struct atw_err *err);
/* Of find_in_all(): address space `i` of f->spaces. */
int find_in_space(struct find *f, size_t i, struct atw_err *err);
/* Page tables could be searched in part alone, for that reason. */
void find_limit(struct find *f, const struct atw_err *why);
int find_in_one(struct find *f, struct atw_err *err);

/*
 * find_jobs.c: searches f->spaces from the one on by several threads. ATW_E_UNSUPPORTED: it
 * was not done. The others say in a thread what the command says otherwise.
 */
int find_by_jobs(struct find *f, size_t first, struct atw_err *err);
void find_jobs_limit(struct find_worker *w, const struct atw_err *why);
void find_jobs_nameless(struct find_worker *w, const struct atw_err *why);

/*
 * Searches without page tables: every process, or the selected one. Prints the whole
 * result.
 */
int find_by_pages(struct find *f);
/* Translates addresses of the process f->src.subject.pid; *lost: unknown pieces. */
int find_translate_by_pages(struct find *f, const struct address *a,
			    int (*fn)(void *arg, uint64_t va, uint64_t pa, uint64_t len,
				      struct atw_err *err),
			    void *arg, uint64_t *lost, struct atw_err *err);
/*
 * find_guests.c: notes a mapping of a process that runs a virtual machine; then searches
 * these guests, into the same output. *part: something of them could not be read.
 */
int find_guests_note(struct find *f, const struct find_owner *w, const struct rmap_entry *h,
		     struct atw_err *err);
int find_in_guests(struct find *f, bool *part, struct atw_err *err);
void find_guests_deinit(struct find *f);
/* For those: the columns of f; what was not looked at, printed; everything but f itself. */
void find_init_columns(struct find *f);
bool find_settle(struct find *f);
void find_deinit(struct find *f);
/* Opens the output; flags are named by `from` if it is not NULL. */
int find_open(struct find *f, const struct provider *from, struct atw_err *err);
