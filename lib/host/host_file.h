/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_file.h - small files of /proc and /sys of the running kernel. */
#pragma once

#include <atwalk/base.h>

#include "base/buf.h"
#include "base/file.h"
#include "host/pace.h"

/* The beginning of a file as text, without the final newline; false: see errno. */
bool host_file_text(const char *path, char *buf, size_t len);
/* The contents of a file of unknown size, up to `max` bytes. */
int host_file_all(const char *path, size_t max, struct buf *ret, struct atw_err *err);
/* The same of /proc/PID/NAME. */
int host_proc_all(uint32_t pid, const char *name, size_t max, struct buf *ret,
		  struct atw_err *err);
/* The program of a process: where /proc/PID/exe leads, cut to `len`; false: see errno. */
bool host_proc_exe(uint32_t pid, char *ret, size_t len);
/* The same with a rate limit; NULL: none, and not counted. */
int host_file_paced(const char *path, size_t max, struct pace *pace, struct buf *ret,
		    struct atw_err *err);

/* Subfolders with numeric names, ascending; to be freed. */
int host_numbers(const char *path, uint32_t **ret, size_t *n, struct atw_err *err);

/*
 * /proc/WHAT/status ("12", "12/task/13", "self") of any length; on failure see errno, and
 * *ret is empty.
 */
bool host_status(const char *what, struct buf *ret);
/* The text behind "KEY:" up to the end of `status`; or "". */
const char *host_status_field(const struct buf *status, const char *key);

/* The kernel's BTF, from a file in /sys. */
struct host_btf {
	struct file file;        /* mapped */
	struct buf copy;         /* or read */
	struct atw_blob bytes;
};

int host_btf_read(struct host_btf *ret, struct atw_err *err);
/* A zeroed struct is accepted. */
void host_btf_close(struct host_btf *b);
