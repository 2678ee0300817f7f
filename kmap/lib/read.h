/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.h - a KMAP's text as a stream of records, from a file or a pipe. It is seen once
 * and never kept: memory does not grow with what comes.
 */
#pragma once

#include "kmap/lib/format.h"

/*
 * Records in the order of the file: an object, then its accesses, then its lines' heat.
 * Texts are the reader's, until the call returns. What fails ends the stream. In our own
 * files the same object (va, alloc_time, alloc_ip) may occur several times, in parts
 * that the receiver has to add up.
 */
struct kmap_sink {
	int (*record)(void *arg, const struct kmap_record *rec, struct atw_err *err);
	void *arg;
};

struct kmap_read_opts {
	/*
	 * Reports an invalid line, by file and line, or a truncated file; what is whole
	 * is still read. Of very many only the first are reported, and how many there
	 * are. NULL: the first is a failure.
	 */
	void (*damaged)(void *arg, const struct atw_err *err);
	/* Bytes of the file; `all` 0: not known. NULL: no progress is shown. */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/* What it came to. */
struct kmap_summary {
	enum kmap_version version;       /* KMAP_UNKNOWN: it has no object */
	bool ours;
	bool cut;                        /* it ends before its end */
	uint64_t objects, accesses, calls;
	uint64_t faults;                 /* lines that could not be read */
	uint64_t lost;                   /* accesses, by the file's own word */
};

/*
 * `path` "-": standard input. Packed by zstd or not. ATW_E_FORMAT: it is none;
 * ATW_E_UNSUPPORTED: it mixes versions, or is of one to come. *ret, which may be NULL,
 * is set in any case; sinks may look at it while they are called.
 */
int kmap_read(const char *path, const struct kmap_read_opts *o, const struct kmap_sink *to,
	      struct kmap_summary *ret, struct atw_err *err);
