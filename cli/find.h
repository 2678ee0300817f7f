/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find.h - parts of `atwalk find`: cmd_find.c has what it is asked and what it
 * says, find_spaces.c which page tables it looks through, find_pages.c
 * how it does without.
 */
#ifndef CLI_FIND_H
#define CLI_FIND_H

#include "listing.h"
#include "base/buf.h"
#include "linux/finder.h"
#include "linux/spaces.h"

/* Rows that the schema has; the order is in cmd_find.c. */
enum { FIND_COLUMNS = 19 };

/* A word that was typed: PHYS or ADDRESS. */
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
	const struct common *c;
	struct session src;
	struct listing list;
	struct atw_column col[FIND_COLUMNS];
	struct atw_schema schema;
	struct atw_output *out;
	struct rmap finder;
	struct rmap_ranges want;
	size_t wants;            /* room in it */
	struct find_target *target;
	size_t ntargets;
	struct buf looked;       /* lines: where virtual targets lie */
	uint64_t unmapped, untranslated; /* of these, not mapped; tables on the way lost */
	struct spaces spaces;
	struct buf pids;
	bool user_half;          /* of the kernel under page-table isolation */
	/* What the root tables of the kernel have above, by slot. */
	struct top { uint64_t pa; uint8_t kind; } top[512], user_top[512];
	uint64_t mappings, entries, roots, shared_by;
	uint64_t searched;       /* of a capture: address spaces */
	bool limit;              /* a walk was ended early */
	uint64_t nameless;       /* areas that could not be read, or their names */
	struct atw_err nameless_why;     /* of the first one */
};

/*
 * find_target.c: is it a target at all; what it is in this source (f->target has room);
 * and from all of them to f->want. Complain themselves; 0 or an exit status.
 */
int find_check(const char *text);
int find_parse(struct find *f, const char *text, bool is_virtual);
int find_resolve(struct find *f, const struct space_opts *space);
/* Where virtual targets lie, as notes of the output. */
void find_note_targets(const struct find *f);
/* How often a virtual address could not be translated. */
void find_print_untranslated(const struct find *f);

/* The root table of these tables, if it is in what is asked for. */
int find_put_root(struct find *f, const struct find_owner *w, atw_pa root, struct atw_err *err);
/* One row; `area` NULL: of none, or of several. */
int find_put_hit(struct find *f, const struct find_owner *w, const char *area,
		 const struct rmap_entry *h, struct atw_err *err);
/* The rows of all that was found in these tables. */
int find_flush(struct find *f, const struct find_owner *w, struct atw_err *err);

/* Every process, the kernel and CPUs; or the tables that the user named. */
int find_in_all(struct find *f, struct atw_err *err);
int find_in_one(struct find *f, struct atw_err *err);

/* Without page tables: every process, or the one that the user named. All of the answer. */
int find_by_pages(struct find *f);
/* What lies behind the addresses of the process f->src.subject.pid; *lost: pieces not known. */
int find_translate_by_pages(struct find *f, const struct address *a,
			    int (*fn)(void *arg, uint64_t va, uint64_t pa, uint64_t len,
				      struct atw_err *err),
			    void *arg, uint64_t *lost, struct atw_err *err);
/* The columns that rows have; flags are named by `from` if it is not NULL. */
int find_open(struct find *f, const struct provider *from, struct atw_err *err);

#endif
