/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - addresses, results, errors and the version.
 *
 * These rules apply to the whole library:
 *
 * - It never prints, never exits and has no global variables.
 * - Out parameters follow the other parameters, are named `ret`, and are not changed
 *   on failure. The last parameter is a struct atw_err. It may be NULL, which changes
 *   nothing else.
 * - Sizes are in bytes unless the name says pages. `last` is inclusive.
 * - Options belong to the caller. Their first member is `size`, the sizeof the struct.
 *   Zero is the default of every other member, and NULL stands for all defaults. A
 *   program that was compiled with an older, shorter struct works. A longer struct is
 *   refused only if a member that this library does not know is not zero.
 * - Rows belong to the library. A row, and everything it points to, is valid until the
 *   next call on the same cursor. Members are only appended in later versions, so a
 *   program must not copy a row by its size.
 * - Cursors are opened with X_open(), read with X_next() until it returns anything but
 *   ATW_OK, and closed with X_close(). Any number of cursors may be open on one
 *   target. Close all of them before the target.
 * - A target, and all handles that were opened on it, may be used by one thread at a
 *   time. Different targets share no state, so each thread can use a target of its
 *   own.
 * - Dumps are mapped. If another process truncates the file, a read beyond its new end
 *   raises SIGBUS in the thread that called the library. The library installs no
 *   signal handler; a program that has to survive this installs its own.
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

/* Version of this header. atw_version() returns the version of the loaded library. */
#define ATW_VERSION_MAJOR 0
#define ATW_VERSION_MINOR 2
#define ATW_VERSION_PATCH 0
#define ATW_VERSION_AT_LEAST(major, minor, patch) \
	(ATW_VERSION_MAJOR > (major) || \
	 (ATW_VERSION_MAJOR == (major) && \
	  (ATW_VERSION_MINOR > (minor) || \
	   (ATW_VERSION_MINOR == (minor) && ATW_VERSION_PATCH >= (patch)))))

/* Different types, so that the compiler rejects a physical address for a virtual one. */
typedef struct atw_pa { uint64_t u; } atw_pa;
typedef struct atw_va { uint64_t u; } atw_va;

#define ATW_PA(x) ((atw_pa){ (uint64_t)(x) })
#define ATW_VA(x) ((atw_va){ (uint64_t)(x) })

/*
 * NULL options, and members of options that are zero, select the default. Any other
 * argument that is NULL, zero or out of range where it must not be fails with
 * ATW_E_USAGE. Functions without a struct atw_err do nothing in this case.
 */

/* Return values of functions: 0 or more on success, less on failure. */
enum atw_status {
	ATW_OK = 0,
	ATW_END = 1,             /* end of the cursor */
	ATW_E_USAGE = -1,        /* invalid argument */
	ATW_E_NOMEM = -2,
	ATW_E_IO = -3,           /* a system call failed */
	ATW_E_MISSING = -4,      /* no such file, fact or memory */
	ATW_E_PERM = -5,
	ATW_E_FORMAT = -6,       /* unknown format */
	ATW_E_DAMAGED = -7,      /* known format with inconsistent contents */
	ATW_E_UNSUPPORTED = -8,  /* valid, but not supported by this build or target */
	ATW_E_LIMIT = -9,        /* a limit was reached; the result is truncated */
	ATW_E_NONE = -10,        /* a complete search found nothing */
	ATW_E_PARTIAL = -11,     /* end of the cursor, and the rows are incomplete */
	ATW_E_STOPPED = -12,     /* a progress function returned false */
};

/*
 * Progress of a long call, from the thread that made it: `done` of `all` steps; if `all`
 * is 0, their number is not known. The call stops soon after the function returned false.
 */
typedef bool atw_progress_fn(void *arg, uint64_t done, uint64_t all);

/*
 * Parameters of the library that an error can refer to. Messages of the library do not
 * name options of a program; the program maps a parameter to the name of its option.
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
	ATW_PARAM_SYMBOLS,       /* for a recording: file of symbols */
	ATW_PARAM_LEVEL,         /* for a recording: unit of code that is counted */
	ATW_PARAM_CUT,           /* for a recording: division of code into compartments */
	ATW_PARAM_TOP,           /* for a recording: number of objects kept */
	ATW_PARAM_CALLS,         /* for a recording: calls are recorded */
	ATW_PARAM_BARE,          /* for a report: tasks without memory are rows as well */
	ATW_PARAM_HOST,          /* for tables of captures: name of the machine */
	ATW_PARAM_TIME,          /* likewise: when the capture began */
	ATW_PARAM_PROCESS,       /* the process that an answer is about */
	ATW_PARAM_LAYOUT,        /* of a guest's RAM in the process that runs it */
	ATW_PARAMS,
};

/*
 * An error belongs to the caller and has one sentence. Each layer may prefix it with
 * what it was doing. Every `struct atw_err *` may be NULL. A program decides by the
 * numbers and must not parse the text.
 */
struct atw_err {
	int status;              /* enum atw_status */
	int param;               /* enum atw_param: the parameter that is wrong */
	int remedy;              /* enum atw_param: a parameter that would help */
	unsigned subject;        /* length of the subject at the start of `text`; or 0 */
	unsigned command;        /* offset of a shell command in `hint`; or 0 */
	char text[512];          /* "dump.elf: PMD[17] at 0x1f7e088: ..." */
	char hint[256];          /* remedy; may be empty */
};

#define ATW_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Set the error. Returns `status`, so that the caller can return it. */
ATW_API int atw_err_set(struct atw_err *err, int status, const char *fmt, ...)
	ATW_PRINTF(3, 4);
/* Prefix the text with "prefix: ". Returns the status of the error. */
ATW_API int atw_err_wrap(struct atw_err *err, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/* Set the hint, which describes a remedy. */
ATW_API void atw_err_hint(struct atw_err *err, const char *fmt, ...)
	ATW_PRINTF(2, 3);

/* ---- for the library itself: not exported ---- */

/* atw_err_set() for a parameter: the text begins after its name. */
int atw_err_set_param(struct atw_err *err, int status, enum atw_param param,
		      const char *fmt, ...) ATW_PRINTF(4, 5);
/* Set the error "out of memory". Returns ATW_E_NOMEM. */
int atw_err_nomem(struct atw_err *err);
/* Hand over the error `why` if `status` is one. Returns `status`. */
int atw_err_give(struct atw_err *err, int status, const struct atw_err *why);
/* Set the parameter that caused the error. */
void atw_err_param(struct atw_err *err, enum atw_param param);
/* Prefix the text with "subject: ", such as a file name, unless it begins with it. */
void atw_err_about(struct atw_err *err, const char *subject);
/* Returns the text without its subject. */
const char *atw_err_reason(const struct atw_err *err);
/* Set the hint to "what: command", where command can be pasted into a shell. */
void atw_err_hint_command(struct atw_err *err, const char *what, const char *fmt, ...)
	ATW_PRINTF(3, 4);
/* Set the parameter that would help. */
void atw_err_remedy(struct atw_err *err, enum atw_param param);

/* Bytes that are owned by another object. */
struct atw_blob {
	const void *data;
	size_t len;              /* bytes */
};

/**
 * atw_version - version of the loaded library
 *
 * It may differ from ATW_VERSION_MAJOR, _MINOR and _PATCH, the version of the headers
 * that the program was compiled with. Any thread may call this function.
 *
 * Return: a static string, such as "0.2.0".
 */
ATW_API const char *atw_version(void);

#ifdef __cplusplus
}
#endif
#endif
