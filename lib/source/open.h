/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open.h - a SOURCE as a user types it, before it is opened: the running kernel, or a
 * file of a known format.
 */
#pragma once

#include "source/source.h"

struct added_sources;            /* plugged.h */

/* A format of files without memory. */
struct source_format {
	const char *name;        /* as in FORMAT:PATH */
	int (*probe)(struct atw_blob head, const char *path);   /* as a source's */
};

struct source_input {
	const struct atw_source_ops *kind;   /* NULL: it is of the other format */
	struct atw_source_spec spec; /* path: the file, WAY of live:, PID of qemu: */
	const struct added_sources *added;   /* NULL: none */
	const char *name;        /* for messages */
	char *file;              /* PATH */
	int copy;                /* of a pipe, which can be read once; -1: none */
	char copy_path[32];
};

/*
 * Finds the format of what is named. `given`: parts and a layout that were named besides; NULL:
 * none. `other` and `added`, which may be NULL, are recognised
 * besides the sources' formats. Texts and `ret` have to stay in place until it is closed, and
 * `added` as long as the source.
 */
int source_input_open(const char *text, const struct atw_source_spec *given,
		      const struct source_format *other, const struct added_sources *added,
		      struct source_input *ret, struct atw_err *err);
/* Opens it as a source, which does not need `in` afterwards. */
int source_open_input(const struct source_input *in, struct atw_source **ret,
		      struct atw_err *err);
/* Names the file in the error, once; returns `status`. */
int source_input_failed(const struct source_input *in, int status, struct atw_err *err);
bool source_input_is_live(const struct source_input *in);
void source_input_close(struct source_input *in);
