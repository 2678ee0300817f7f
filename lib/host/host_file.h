/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_file.h - small files of /proc and /sys of the running kernel. */
#ifndef HOST_HOST_FILE_H
#define HOST_HOST_FILE_H

#include <atwalk/base.h>

#include "base/buf.h"
#include "base/file.h"
#include "host/pace.h"

/* The beginning of a file as a text, without the newline at its end; else errno says why. */
bool host_file_text(const char *path, char *buf, size_t len);
/* All of a file of unknown size, up to `max` bytes. */
int host_file_all(const char *path, size_t max, struct buf *ret,
		  struct atw_err *err);
/* The same at a pace; NULL: at once, and uncounted. */
int host_file_paced(const char *path, size_t max, struct pace *pace, struct buf *ret,
		    struct atw_err *err);

/*
 * /proc/WHAT/status ("12", "12/task/13", "self"), however many groups it lists; else
 * errno says why, and *ret is empty.
 */
bool host_status(const char *what, struct buf *ret);
/* What a line has behind "KEY:", and all that follows it; or "". */
const char *host_status_field(const struct buf *status, const char *key);

/* The kernel's own types, as it shows them in a file. */
struct host_btf {
	struct file file;        /* mapped */
	struct buf copy;         /* or read */
	struct atw_blob bytes;
};

int host_btf_read(struct host_btf *ret, struct atw_err *err);
/* Fine on a zeroed struct. */
void host_btf_close(struct host_btf *b);

#endif
