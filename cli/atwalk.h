/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atwalk.h - declarations shared by the commands of atwalk(1). */
#pragma once

#include "common/command.h"
#include "target/target.h"

/* Options of the commands that look into one address space. */
struct space_opts {
	struct opt_number pid, cpu, root, cbit;
	const char *task, *paging, *pte_ext, *kernel;
	enum subject_half pti;
	bool freeze;             /* commands with OPT_FREEZE */
	bool allow;              /* commands with OPT_ALLOW: --allow-unreadable */
};

extern const struct command cmd_walk, cmd_map, cmd_info;
extern const struct command cmd_ps;
extern const struct command cmd_find, cmd_extract;
extern const struct command cmd_pages, cmd_probe, cmd_collect, cmd_export, cmd_report;
extern const struct command cmd_rd, cmd_search, cmd_diff, cmd_annotate, cmd_lines;
extern const struct command cmd_check, cmd_audit, cmd_vms, cmd_sql, cmd_plugins;
/* A separate program: `run` is NULL. */
extern const struct command cmd_kmap;
/* main() of the program under the name ptexplore. */
int ptexplore_main(int argc, char **argv);
extern const struct opt_choice pti_choices[];
/*
 * external.c: executes atwalk-NAME; returns the exit status if it cannot. argv[0] is
 * replaced, and NULL ends it. `sub`: the word that help is about, or NULL.
 */
int external_run(const struct command *cmd, char **argv);
/* The same of a program in PATH, by its path. */
int external_run_path(const char *path, char **argv);
int external_help(const struct command *cmd, char *sub);
/*
 * The program takes over a command of this one, "sql", with all words that were kept at the
 * start. Returns the exit status if it cannot.
 */
void external_keep(char **argv);
int external_instead(const struct command *cmd);
/* Runs atwalk-NAME with one option and one word, or NULL, and copies what it prints. */
int external_query(const struct command *cmd, const char *option, const char *word, char *ret,
		   size_t len, struct atw_err *err);
typedef int external_line_fn(void *arg, struct atw_blob line, struct atw_err *err);
/* Runs it and passes each line that it prints to `fn`; *ret is its exit status. */
int external_lines(const struct command *cmd, char **argv, external_line_fn *fn, void *arg,
		   int *ret, struct atw_err *err);

/*
 * Options for a command's own table; `s` is its struct's type. KERNEL_OPTIONS find the
 * kernel; SPACE_OPTIONS also select the page tables.
 */
#define OPT_KERNEL(s, m) \
	{ 0, "root", OPT_HEX, offsetof(s, m.root), "PHYS", \
	  "use the root table at physical address PHYS", NULL }, \
	{ 0, "paging", OPT_TEXT, offsetof(s, m.paging), "MODE", \
	  "use paging mode MODE; `atwalk info --paging-modes` lists them", NULL }, \
	{ 0, "pte-ext", OPT_TEXT, offsetof(s, m.pte_ext), "LIST", \
	  "enable extensions of the paging mode: lpa2, thead, svrsw60t59b, ipa=N", NULL }, \
	{ 0, "cbit", OPT_NUMBER, offsetof(s, m.cbit), "BIT", \
	  "mask entry bit BIT, which marks encrypted memory (SME, SEV, TDX)", NULL }, \
	{ 0, "kernel", OPT_TEXT, offsetof(s, m.kernel), "FILE", \
	  "read missing symbols and types from FILE (vmlinux, System.map or BTF)", NULL }
#define OPT_FREEZE(s, m) \
	{ 0, "freeze", OPT_FLAG, offsetof(s, m.freeze), NULL, \
	  "stop the process, or the guest, while it is being read", NULL }
#define OPT_SUBJECT(s, m) \
	{ 0, "pid", OPT_NUMBER, offsetof(s, m.pid), "N", \
	  "use the page tables of process N", NULL }, \
	{ 0, "task", OPT_TEXT, offsetof(s, m.task), "NAME", \
	  "use the page tables of the process named NAME", NULL }, \
	{ 0, "pti", OPT_CHOICE, offsetof(s, m.pti), "HALF", \
	  "use only this copy of the tables under page-table isolation", pti_choices }, \
	{ 0, "cpu", OPT_NUMBER, offsetof(s, m.cpu), "N", \
	  "use the page tables that CPU N was using", NULL }, \
	OPT_KERNEL(s, m)

/* Limit repeated warnings about corruption: further ones are only counted. */
enum { FAULTS = 8 };

/* ---- opening what the user named ---- */

/* SOURCE, opened for a command. */
struct session {
	const char *name;        /* as typed */
	suggest_fn *suggest;     /* for a word that is no ADDRESS; NULL: none */
	struct target *target;
	struct subject subject;  /* the selected address space */
	bool doubtful;           /* the subject may not be the only match */
	struct searching *searching;     /* progress of searches for the kernel */
	char unread[320];        /* the reason, if it is permitted; or empty */
	struct pace *pace;       /* rate limit and I/O statistics, or NULL */
	bool print_cost;         /* print them at the end */
	bool print_swapped;      /* likewise what was read of swap */
	struct freeze *frozen;      /* --freeze, or NULL */
	struct common *known;       /* --freeze of a guest: options it was opened with, or NULL */
	bool print_frozen;
};

/*
 * These print errors and return 0 or an exit status. session_open() recognizes the
 * source; session_attach() finds the kernel in it, or its substitute, and the subject.
 * `caps` are the capabilities that `what` requires ("this": the command). open_frozen()
 * does both, and freezes the process.
 */
int session_open(const struct common *c, const char *name, struct session *ret);
int session_attach(const struct common *c, struct session *s, const struct space_opts *space,
		   uint32_t caps);
int open_frozen(const struct common *c, const char *name, const struct space_opts *space,
		uint32_t caps, struct session *ret);
/*
 * For a command that resolves its arguments before it calls freeze(): a guest is stopped here.
 */
int open_to_freeze(const struct common *c, const char *name, const struct space_opts *space,
		   uint32_t caps, struct session *ret);
/* Opens and attaches, for a command that requires `caps`. */
int open_session(const struct common *c, const char *name, const struct space_opts *space,
		 uint32_t caps, struct session *ret);
/*
 * The source of a session once more, for another thread; no capture. `known`: of its kernel,
 * or NULL. Prints nothing; what it reads is counted if the session counts it.
 */
int session_open_again(const struct common *c, const struct session *s,
		       const struct space_opts *space, const struct remembered *known,
		       struct session *ret, struct atw_err *err);
/* Fine on a zeroed struct, and on one that was closed. */
void session_close(struct session *s);
#define _auto_session __attribute__((cleanup(session_close)))
/* Checks that the target has `caps`, which `what` requires. Prints errors. */
int session_need(const struct session *s, uint32_t caps, const char *what);
/* Prints an error about a part of the source, unless many were printed; counts it. */
void print_fault(const struct session *s, uint64_t *n, const char *what,
		 const struct atw_err *why);
/* With -q: prints the defects of the file, if they are the reason for exit status 4. */
void print_defects(const struct common *c, const struct session *s);
/* Do defects of the file make every result incomplete? */
bool session_has_gaps(const struct session *s);
/*
 * freeze.c: with --freeze, stops the selected process and selects it again; otherwise
 * does nothing. The process is resumed at the latest when the source is closed.
 */
int freeze(const struct common *c, struct session *s, const struct space_opts *space);
void thaw(const struct session *s);
/* The process that runs the guest, if the source is one; else 0. */
uint32_t freeze_process(const struct session *s);
/* Is the subject's PID the same in this PID namespace? Prints an error for `option`. */
int check_number(const struct session *s, const struct space_opts *space, const char *option);
/* Selects the process again: it may have called execve(2) meanwhile. */
int choose_again(struct session *s, const struct space_opts *space);
/* cost.c: --rate and -v for live sources. Prints errors. */
void cost_start(void);           /* called when the program starts */
int cost_begin(const struct common *c, struct session *s);
void cost_print(const struct session *s);
/* Of a guest, while its source is open. */
void cost_print_swapped(const struct session *s);

/* subject.c: --pid or --task. These print errors and return 0 or an exit status. */
int select_process(struct session *s, const struct space_opts *space);
/*
 * Selects the only process that maps a user address, if the user selected none. If
 * several do, prints an error and returns EXIT_NO; if none does, reports that and sets
 * *unmapped.
 */
int select_owner(const struct common *c, struct session *s, const struct space_opts *space,
		 const char *text, uint64_t first, uint64_t last, bool *unmapped);
/* At most one option may select the page tables. */
int check_subject(const struct space_opts *space, bool guest, struct atw_err *err);
/* Which option selects the page tables, as a hint. */
const char *tables_hint(const struct session *s);
/* Describes where the root comes from. */
const char *root_from(const struct session *s);

/*
 * ADDRESS: hexadecimal, symbol, symbol+offset, A-B, A+LENGTH. Inclusive. parse_address()
 * leaves the flag `ownerless` to the caller; parse_owned() makes it an error.
 */
struct address {
	uint64_t first, last;
	bool is_range;
	bool ownerless;          /* a user address, and no process was selected */
};
int parse_address(const struct session *o, const char *text, struct address *ret,
		  struct atw_err *err);
int parse_owned(const struct session *o, const char *text, struct address *ret,
		struct atw_err *err);

/* Sets the options about rows, and the page size if it is known. */
void output_opts(const struct common *c, const struct session *o,
		 struct atw_output_opts *ret);

/*
 * open.c: --allow-unreadable. Processes that may not be read, or that /proc hides, are
 * reported and counted, and the answer without them is a complete one.
 */
#define OPT_ALLOW(s, m) \
	{ 0, "allow-unreadable", OPT_FLAG, offsetof(s, m), NULL, \
	  "report processes that may not be read without exit status 4", NULL }

struct unreadable {
	bool allow;              /* the option was given */
	uint64_t n;              /* reasons that were reported */
	char what[200];          /* of the first: "1 of 249 processes" */
};

/* Accepts and reports a missing process, if that is allowed; false: it counts as lost. */
bool unreadable_take(struct unreadable *u, const struct common *c, const char *source,
		     const char *what, const char *why);
/* The line of a summary; nothing if there is nothing to report. */
void unreadable_note(const struct unreadable *u, struct atw_output *out);
/* The same after a search of all processes of which some could not be read. */
void unread_note(const struct common *c, const struct session *src, struct atw_output *out);

/* ---- address.c: address arguments ---- */

struct address_arg {
	struct address a;
	bool owned, unmapped; /* its process was searched for; none maps it */
	struct subject owner; /* the process found */
};

/*
 * Parses all addresses before any process is read. Prints errors; returns 0 or an exit
 * status.
 */
int address_args_find(const struct common *c, const struct space_opts *space,
		      struct session *s, char **argv, struct address_arg *arg, int n);
/* Parses one address. Without page tables only addresses of processes are valid. */
int address_arg_parse(const struct session *s, const char *text, struct address *ret,
		      struct atw_err *err);

/* Each in turn, with its process as the session's, until one fails. */
typedef int address_arg_fn(void *arg, const struct address_arg *t, struct atw_err *err);
int address_args_each(struct session *s, const struct address_arg *t, int n,
		      address_arg_fn *fn, void *arg, struct atw_err *err);
/* A row for an address that no process maps. */
int address_arg_put_unmapped(const struct address_arg *t, struct atw_output *out,
			     struct atw_err *err);
