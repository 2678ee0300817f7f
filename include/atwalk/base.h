/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - addresses, results and errors, shared by every layer.
 *
 * Rules that hold for the whole library: it never prints, never exits and
 * keeps no globals. Out parameters come last, are named `ret`, and stay
 * untouched on failure. Sizes are bytes unless the name says pages; ranges
 * are half open unless the name ends in `_last`, which is inclusive.
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
};

/*
 * An error belongs to the caller and holds one sentence. Each layer on the way
 * up may put what it was doing in front. Every `struct atw_err *` may be NULL.
 */
struct atw_err {
	int status;              /* an enum atw_status */
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

/* Borrowed bytes. */
struct atw_blob {
	const void *data;
	size_t len;              /* bytes */
};

/* "1.0.0"; the version of the library that is loaded, not of this header. */
ATW_API const char *atw_version(void);

#ifdef __cplusplus
}
#endif
#endif
