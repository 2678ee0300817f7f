/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references_program.h - the program under a recorder of references. */
#pragma once

#include <sys/types.h>

#include "host/references.h"

struct live_exec;

struct references_program {
	char path[4096];         /* of its file */
	uint16_t machine;        /* e_machine */
	bool is64;
	uint64_t entry;          /* e_entry */
	uint64_t code;           /* lowest address of a segment with code */
};

/* Looks the name up in PATH as execvp(3) does. ATW_E_FORMAT: it is not an ELF program. */
int references_program_find(const char *name, struct references_program *ret,
			    struct atw_err *err);
/*
 * Starts it, traced by ptrace(2), and stops it before its first instruction, with
 * addresses that are not randomized. It is killed when the calling thread ends. Fills in
 * what a recording says about it.
 */
int references_program_start(const struct references_program *p, char *const argv[],
			     struct trace_recording *rec, pid_t *ret, struct atw_err *err);
/*
 * Lets it run, not traced, and calls fn again and again until it has ended, and once after
 * that. *status is that of waitpid(2). `rec` gets what `exec` of this process reports.
 */
int references_program_follow(pid_t pid, struct live_exec *exec,
			      int (*fn)(void *arg, struct atw_err *err), void *arg,
			      struct trace_recording *rec, int *status, struct atw_err *err);
/* Kills it if it has not ended; *status is that of waitpid(2). */
void references_program_kill(pid_t pid, int *status);

/* The ranges of the options as they are in its memory; `ret` has room for o->nranges. */
int references_ranges(const struct references_options *o, const struct trace_recording *rec,
		      struct references_range *ret, struct atw_err *err);
/* Does any of n ranges have a byte of it? No ranges: yes. */
bool references_in_ranges(const struct references_range *v, size_t n, uint64_t address,
			  uint64_t size);
