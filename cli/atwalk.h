/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atwalk.h - what the commands of atwalk(1) share. */
#ifndef CLI_ATWALK_H
#define CLI_ATWALK_H

#include <atwalk/atwalk.h>

#include "options.h"

enum exit_status {
	EXIT_COMPLETE = 0,
	EXIT_NO = 1,             /* not mapped, violated, they differ */
	EXIT_USAGE = 2,
	EXIT_SOURCE = 3,         /* the source cannot be used */
	EXIT_PARTIAL = 4,        /* answered in part */
};

/* Options every command has. */
struct common {
	const char *output, *format, *columns, *filter, *sort, *group, *units,
		   *color;
	struct opt_list parts;
	bool quiet, help, version;
	unsigned verbose;
};

/* Options of the commands that look into one address space. */
struct space_opts {
	struct opt_number pid, cpu, root, cbit;
	const char *paging, *pte_ext;
};

struct command {
	const char *name, *args, *summary, *about;
	const struct opt *options;
	size_t opts_size;        /* of the struct the options' offsets are in */
	int (*run)(const struct common *c, void *opts, int argc, char **argv);
};

extern const struct command cmd_walk, cmd_map, cmd_info;
extern const struct opt common_options[];
const struct command *command_at(size_t i);

/* The space options, for a command's own table; `s` is its struct's type. */
#define SPACE_OPTIONS(s, m) \
	{ 0, "pid", OPT_NUMBER, offsetof(s, m.pid), "N", \
	  "the page tables of process N", NULL }, \
	{ 0, "cpu", OPT_NUMBER, offsetof(s, m.cpu), "N", \
	  "the page tables CPU N was using", NULL }, \
	{ 0, "root", OPT_HEX, offsetof(s, m.root), "PHYS", \
	  "physical address of the root table", NULL }, \
	{ 0, "paging", OPT_TEXT, offsetof(s, m.paging), "MODE", \
	  "the paging mode; `atwalk info --paging-modes` lists them", NULL }, \
	{ 0, "pte-ext", OPT_TEXT, offsetof(s, m.pte_ext), "LIST", \
	  "what the CPU adds to the mode: lpa2, thead, svrsw60t59b", NULL }, \
	{ 0, "cbit", OPT_NUMBER, offsetof(s, m.cbit), "BIT", \
	  "entry bit that marks encrypted memory (SME, SEV, TDX)", NULL }

/* ---- saying what went wrong ---- */

/* "atwalk: SENTENCE" and its hint; returns the exit status that goes with it. */
int complain(const struct atw_err *err);
int complain_usage(const char *command, const char *fmt, ...) ATW_PRINTF(2, 3);
/* A remark that changes no answer; -q silences it. */
void remark(const struct common *c, const char *fmt, ...) ATW_PRINTF(2, 3);

/* ---- opening what the user named ---- */

struct opened {
	const char *name;        /* SOURCE as typed */
	struct atw_source *source;
	struct atw_kernel *kernel;
	struct atw_soft_abi soft;
	char release[96];        /* empty: unknown */
	char process[32];        /* whose tables --pid asked for, or empty */
	bool user_space;         /* the user said whose tables these are */
	bool defective;          /* truncated or damaged: an answer in part */
};

/*
 * Complain themselves; 0 or an exit status. open_source() leaves the kernel
 * out when `space` is NULL; attach_kernel() adds it to what it opened.
 */
int attach_kernel(const struct common *c, struct opened *o,
		  const struct space_opts *space);
int open_source(const struct common *c, const char *name,
		const struct space_opts *space, struct opened *ret);
void close_source(struct opened *o);
/* How to say whose page tables are meant, as a hint. */
const char *whose_tables(const struct opened *o);
/* Where the root comes from, as words. */
const char *root_from(const struct opened *o);

/* ADDRESS: hexadecimal, symbol, symbol+offset, A-B, A+LENGTH. Inclusive. */
struct address {
	uint64_t first, last;
	bool is_range;
};
int parse_address(const struct opened *o, const char *text, struct address *ret,
		  struct atw_err *err);

/* ---- rows ---- */

void output_opts(const struct common *c, const struct opened *o,
		 struct atw_output_opts *ret);
#endif
