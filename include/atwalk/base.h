/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - addresses, results, errors and the version.
 *
 * Rules that hold for the whole library:
 *
 * - It never prints, never exits and keeps no globals.
 * - Out parameters come behind what is asked, are named `ret`, and stay untouched on
 *   failure. The last parameter is a struct atw_err, which may be NULL; that changes
 *   nothing else.
 * - Sizes are bytes unless the name says pages. `last` is inclusive.
 * - Options belong to the caller. They begin with `size`, sizeof the struct; zero is the
 *   default of every other member, and NULL stands for all defaults. A program that was
 *   compiled with an older, shorter struct works. A longer struct is refused only if a
 *   member that this library does not know is not zero.
 * - Rows belong to the library. They are lent until the next call on the same cursor,
 *   with all they point to. Members are only ever appended: a program must not copy a
 *   row by its size.
 * - Cursors: X_open(), X_next() until it returns something but ATW_OK, X_close(). Any
 *   number of cursors may be open on one target. All are closed before the target.
 * - A handle belongs to one thread at a time, and so do a target and all that was opened
 *   of it, together. Different targets share nothing: threads that work at once open a
 *   target each.
 * - Dumps are mapped. If another process shortens the file, a read behind its new end
 *   raises SIGBUS in the thread that called the library. The library installs no signal
 *   handler; a program that expects this installs its own.
 */
#ifndef ATWALK_BASE_H
#define ATWALK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATW_API __attribute__((visibility("default")))

/* The version of this header; atw_version() has that of the library which is loaded. */
#define ATW_VERSION_MAJOR 0
#define ATW_VERSION_MINOR 2
#define ATW_VERSION_PATCH 0
#define ATW_VERSION_AT_LEAST(major, minor, patch) \
	(ATW_VERSION_MAJOR > (major) || \
	 (ATW_VERSION_MAJOR == (major) && \
	  (ATW_VERSION_MINOR > (minor) || \
	   (ATW_VERSION_MINOR == (minor) && ATW_VERSION_PATCH >= (patch)))))

/*
 * Physical and virtual addresses are different types on purpose: passing one
 * for the other is the bug this tool exists to find in others.
 */
typedef struct atw_pa { uint64_t u; } atw_pa;
typedef struct atw_va { uint64_t u; } atw_va;

#define ATW_PA(x) ((atw_pa){ (uint64_t)(x) })
#define ATW_VA(x) ((atw_va){ (uint64_t)(x) })

/*
 * Options that are NULL, and members of options that are zero, mean the default. What
 * else is NULL, of zeroes or out of range where it must not be is refused: with
 * ATW_E_USAGE and a sentence, or with nothing where there is no error to fill in.
 */

/* What a function answers: 0 or more is an answer, less is a failure. */
enum atw_status {
	ATW_OK = 0,
	ATW_END = 1,             /* an iterator has nothing more */
	ATW_E_USAGE = -1,        /* the caller asked for something meaningless */
	ATW_E_NOMEM = -2,
	ATW_E_IO = -3,           /* the operating system refused a read */
	ATW_E_MISSING = -4,      /* no such file, fact, place in memory */
	ATW_E_PERM = -5,
	ATW_E_FORMAT = -6,       /* not one of the formats we know */
	ATW_E_DAMAGED = -7,      /* a known format that contradicts itself */
	ATW_E_UNSUPPORTED = -8,  /* well formed, but this build cannot read it */
	ATW_E_LIMIT = -9,        /* a bound was reached; the answer is cut off */
	ATW_E_NONE = -10,        /* everything was looked at, and it is not there */
	ATW_E_PARTIAL = -11,     /* an iterator has nothing more, and something is missing */
};

/*
 * What a caller can give to the library, by the library's own names. The program
 * knows which of its options that is; no sentence of the library names one.
 */
enum atw_param {
	ATW_PARAM_NONE,
	ATW_PARAM_ROOT,          /* the physical address of a root table */
	ATW_PARAM_PAGING,        /* a paging mode */
	ATW_PARAM_PTE_EXT,       /* extensions of page-table entries */
	ATW_PARAM_CPU,
	ATW_PARAM_KERNEL_FILE,   /* a vmlinux, System.map or BTF */
	ATW_PARAM_FORMAT,        /* of the output */
	ATW_PARAM_COLUMNS,
	ATW_PARAM_FILTER,
	ATW_PARAM_SORT,
	ATW_PARAM_GROUP,
	ATW_PARAM_SYMBOLS,       /* of a recording: a file of symbols, */
	ATW_PARAM_LEVEL,         /* the unit of code that is counted, */
	ATW_PARAM_CUT,           /* how code is divided into compartments, */
	ATW_PARAM_TOP,           /* how many objects are kept, */
	ATW_PARAM_CALLS,         /* and whether calls are recorded */
	ATW_PARAM_BARE,          /* of reports: tasks without memory are rows as well */
	ATW_PARAMS,
};

/*
 * An error belongs to the caller and holds one sentence. Each layer on the way
 * up may put what it was doing in front. Every `struct atw_err *` may be NULL.
 * Programs decide by the numbers, never by the words.
 */
struct atw_err {
	int status;              /* an enum atw_status */
	int param;               /* an enum atw_param: what was given and is wrong */
	int remedy;              /* an enum atw_param: what would help if it were given */
	unsigned subject;        /* bytes of `text` that name what it is about; or 0 */
	unsigned command;        /* where in `hint` a command for a shell begins; or 0 */
	char text[512];          /* "dump.elf: PMD[17] at 0x1f7e088: ..." */
	char hint[256];          /* what to do about it, or empty */
};

#define ATW_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Record a failure. Returns `status`, so that it can be returned in turn. */
ATW_API int atw_err_set(struct atw_err *err, int status, const char *fmt, ...)
	ATW_PRINTF(3, 4);
/* Put "prefix: " in front of the sentence. Returns the status it holds. */
ATW_API int atw_err_wrap(struct atw_err *err, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/* Say what can be done about it. */
ATW_API void atw_err_hint(struct atw_err *err, const char *fmt, ...)
	ATW_PRINTF(2, 3);

/* ---- for the library itself: not exported ---- */

/* atw_err_set() for a parameter: the sentence begins behind its name. */
int atw_err_set_param(struct atw_err *err, int status, enum atw_param param,
		      const char *fmt, ...) ATW_PRINTF(4, 5);
/* Record that memory ran out. Returns ATW_E_NOMEM. */
int atw_err_nomem(struct atw_err *err);
/* The recorded failure is the fault of `param`. */
void atw_err_param(struct atw_err *err, enum atw_param param);
/* Put "subject: " in front, a file's name, say, unless the sentence has it there. */
void atw_err_about(struct atw_err *err, const char *subject);
/* The sentence without its subject. */
const char *atw_err_reason(const struct atw_err *err);
/* Say "what: command" is to be done: a command that a shell takes as it stands. */
void atw_err_hint_command(struct atw_err *err, const char *what, const char *fmt, ...)
	ATW_PRINTF(3, 4);
/* Giving this parameter would help. */
void atw_err_remedy(struct atw_err *err, enum atw_param param);

/* Borrowed bytes. */
struct atw_blob {
	const void *data;
	size_t len;              /* bytes */
};

/**
 * atw_version - version of the library that is loaded
 *
 * It may differ from ATW_VERSION_MAJOR, _MINOR and _PATCH, which are those of the headers
 * that a program was compiled with. Safe in any thread.
 *
 * Return: "0.2.0"; static.
 */
ATW_API const char *atw_version(void);

#ifdef __cplusplus
}
#endif
#endif
