/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_refs.h - memory references from a file or of a command, added up by cache line. */
#pragma once

#include "trace/lines.h"
#include "trace/recording.h"

#include "atwalk.h"
#include "line_program.h"

struct line_refs_opts {
	const char *from;        /* FILE or "-"; NULL: there are no references */
	const char *form;        /* of that file; NULL: it is detected */
	/* Or a command that is run and recorded; NULL: none. `by` NULL: by what there is. */
	char **command;
	char **range;            /* words: parts of the program's memory; none: all of it */
	size_t nranges;
	const char *by;
	uint32_t line;           /* bytes */
	bool one;                /* `pid` alone; references without one are taken for its own */
	uint32_t pid;
};

enum line_refs_how { LINE_REFS_EXACT, LINE_REFS_SAMPLED, LINE_REFS_UNSTATED };

struct line_refs {
	struct lines *lines;     /* NULL: there are no references */
	const char *name;        /* of the file, or the command */
	const char *form;        /* its format, or the recorder */
	enum line_refs_how how;
	struct trace_recording rec;      /* of a recording; else of no use */
	struct line_program program;     /* of a command */
	int ended;               /* the same: as waitpid(2) has it */
	uint64_t foreign;        /* references of other processes, left out */
	uint64_t bad;            /* lines that could not be read */
	bool truncated, physical;        /* physical: some have physical addresses */
};

/* Prints errors; 0 or an exit status. With EXIT_PARTIAL there are lines. */
int line_refs_read(const struct common *c, const struct line_refs_opts *o,
		   struct line_refs *ret);
void line_refs_deinit(struct line_refs *r);
/* Exact or sampled, and what is missing. */
void line_refs_note(const struct line_refs *r, struct atw_output *out);
/* Prints why the exit status is EXIT_PARTIAL; returns it, or `status`. */
int line_refs_status(const struct line_refs *r, int status);
