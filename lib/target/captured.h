/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured.h - index of a capture: its contents and their places in the file. The file is
 * read once from end to end without its pages, which are read later of the tasks that
 * need them. So memory use grows with the number of tasks only.
 */
#pragma once

#include "base/buf.h"
#include "target/target.h"
#include "base/unpack.h"
#include "format/capture.h"

/* ---- capture_stream.c ---- */

/*
 * The lines of a capture, one after the other, from a file or a
 * pipe, packed by zstd or not; and of a file once more from a place in it.
 */

enum {
	CAPTURE_PIECE = 256 << 10,   /* what is read at once stays in the cache */
	CAPTURE_FAULTS = 1 << 20,    /* lines or runs: of what has so many that are wrong, nothing
					more is to be read */
};

/* Where a line is, and what of those before it matters to those behind. */
struct capture_mark {
	uint64_t at;                 /* bytes before it, unpacked */
	uint64_t line;               /* lines before it */
	uint64_t mapped;             /* bytes of the areas before it */
	uint64_t tasks;              /* and how many of these */
	bool skip;                   /* behind the rest of a line that was too long */
};

struct capture_ahead;

struct capture_stream {
	struct unpack *in;
	struct capture_ahead *ahead; /* NULL: lines are read and parsed when they are asked for */
	const char *text;            /* buf[], or what `ahead` has */
	struct capture_reader rd;
	struct capture_mark mark;    /* of the last line that was asked for */
	/* Of the last failure: is it one of a line alone, and is it the end of all? */
	bool of_line, fatal;
	bool terse;                  /* set by the caller: no messages about lines */
	bool last, over;
	struct atw_err e;            /* what the last failure was */
	uint64_t base;               /* bytes before `text` */
	size_t pos, have;
	char buf[CAPTURE_LINE + CAPTURE_PIECE];
};

/* `fd` stays the caller's. ATW_E_FORMAT: its first line is none of a capture. */
int capture_stream_open(int fd, struct capture_stream **ret, struct atw_err *err);
/* Of a file, or of standard input if it is "-"; the caller adds the name to an error. */
int capture_stream_open_path(const char *path, struct capture_stream **ret, struct atw_err *err);
/*
 * The next record, valid until the next call. An error is described by s->e and its line
 * is skipped: nothing more can be read only if s->fatal is set. Errors of the capture as
 * a whole come last; then ATW_END.
 */
int capture_stream_next(struct capture_stream *s, struct capture_record *ret);
/*
 * Before the first record: runs are parsed by `n` threads beside the caller's, ahead of
 * their turn. For a capture that is read from end to end: no capture_stream_seek() then.
 */
void capture_stream_threads(struct capture_stream *s, unsigned n);
/* The line of that mark is the next, a T: line; the first one has been reached before. */
int capture_stream_seek(struct capture_stream *s, const struct capture_mark *to,
			struct atw_err *err);
/* NULL is fine. */
void capture_stream_close(struct capture_stream *s);

/* ---- captured.c ---- */

enum {
	CAPTURED_LOST = 4096,        /* L: lines that are kept */
	CAPTURED_SWAPS = 32,
};
#define CAPTURED_NONE SIZE_MAX

struct captured_task {
	struct capture_mark mark;
	uint64_t mm, start;
	uint32_t pid, tgid, ppid;
	uint32_t has;                /* CAPTURE_T_... */
	uint32_t areas;              /* V: lines that follow it */
	size_t owner;                /* index of the task with its areas; or
	                              * CAPTURED_NONE */
	enum capture_task_kind kind;
	char name[17];               /* cut */
};

struct captured_ram {
	uint64_t start, last, node;
	bool have_node;
};

/* L: of no address; texts are in `words`. */
struct captured_lost {
	uint64_t pid;
	size_t what, why;
	bool denied;                 /* of processes that might not be read */
};

struct captured {
	const char *path;            /* borrowed */
	uint64_t page;               /* bytes */
	bool paper;                  /* its form */
	bool old;                    /* counts and flags are those of the paper's kernel */
	bool whole;                  /* all of it was there, and read */
	bool made;                   /* of what a plugin returned, and no file */
	uint64_t upto;               /* bytes, unpacked, behind which nothing was read */
	uint64_t bits, pageflags, areaflags;    /* those that are known */
	bool unsized;                    /* what seems small may be part of a large page */

	struct captured_task *task;
	size_t ntasks, tasks_cap;
	struct captured_ram *ram;
	size_t nram, rams_cap;
	struct { bool have; char name[256]; } swap[CAPTURED_SWAPS];
	struct captured_lost *lost;
	size_t nlost, losts_cap;
	struct buf words;
	/* Of H: lines; empty: it was not said. */
	char way[24], machine[72], release[72], begun[24], ended[24], vanished[24], stale[24],
	     cpus[24];
	uint64_t lines, areas, all_lost, frames;    /* frames: F: lines */
};

struct captured_opts {
	/* A line that is wrong, or that the file is cut off; what is whole is had. Or NULL. */
	void (*damaged)(void *arg, const struct atw_err *err);
	void (*progress)(void *arg, uint64_t tasks, uint64_t all);   /* or NULL */
	void *arg;
	bool made;                   /* of what a plugin returned, and no file */
	bool *defective;             /* set with the first of these lines; or NULL */
};
/* `path` must lead to the same file as long as it is open. */
int captured_open(const char *path, const struct captured_opts *o, struct captured **ret,
		  struct atw_err *err);
/* NULL is fine. */
void captured_close(struct captured *c);
/* Has it an address space: areas, or a number of one? */
static inline bool captured_has_memory(const struct captured_task *t)
{
	return t->mm || t->areas;
}
/* The process that a task is of. */
static inline uint32_t captured_process(const struct captured_task *t)
{
	return t->has & CAPTURE_T_TGID ? t->tgid : t->pid;
}
/* The first task of that number, or of a process of that number; CAPTURED_NONE. */
size_t captured_find(const struct captured *c, uint64_t pid);

/* ---- captured_facts.c: facts about a capture for `info` ---- */

void captured_facts(const struct captured *c, const struct target_facts *to);
