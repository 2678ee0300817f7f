/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - what the fuzz targets have in common.
 *
 * A target is one function, LLVMFuzzerTestOneInput(). Under libFuzzer it is
 * fed with mutations (`make fuzz`), in replay.c with files that are kept
 * (`make test`). A broken promise ends the process: FUZZ_CHECK says which.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/walk.h"

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define FUZZ_CHECK(cond, ...) do { \
	if (!(cond)) { \
		fprintf(stderr, "%s:%d: %s is false: ", __FILE__, __LINE__, #cond); \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr); \
		abort(); \
	} \
} while (0)

/* ---- input, taken from its front; zeroes when there is no more ---- */

struct input {
	const uint8_t *p;
	size_t len;
};

static inline uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	size_t n = bytes < in->len ? bytes : in->len;

	memcpy(&v, in->p, n);
	in->p += n;
	in->len -= n;
	return v;
}

/* The next line as a string of its own; free() it. */
static inline char *take_line(struct input *in)
{
	const uint8_t *nl = in->len ? memchr(in->p, '\n', in->len) : NULL;
	size_t n = nl ? (size_t)(nl - in->p) : in->len;
	char *s = malloc(n + 1);

	if (!s)
		abort();
	if (n)
		memcpy(s, in->p, n);
	s[n] = '\0';
	in->p += n + (nl != NULL);
	in->len -= n + (nl != NULL);
	return s;
}

/* ---- results ---- */

/* A failure has a status and a sentence; neither may be missing. */
static inline void check_err(int r, const struct atw_err *err)
{
	if (r >= 0)
		return;
	FUZZ_CHECK(err->status == r, "returned %d, error says %d", r, err->status);
	FUZZ_CHECK(err->text[0], "status %d without a sentence", r);
	FUZZ_CHECK(memchr(err->text, 0, sizeof(err->text)) &&
		   memchr(err->hint, 0, sizeof(err->hint)), "text without an end");
}

/* Look at every byte of what was lent, so that the sanitizers do. */
static inline unsigned touch(const void *p, size_t len)
{
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + ((const uint8_t *)p)[i];
	return sum;
}

/* ---- a file that is in memory only ---- */

static inline int memory_file(const void *data, size_t len, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || (len && write(fd, data, len) != (ssize_t)len))
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}
