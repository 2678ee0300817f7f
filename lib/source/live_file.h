/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_file.h - small files of /proc and /sys of the running kernel. */
#ifndef SOURCE_LIVE_FILE_H
#define SOURCE_LIVE_FILE_H

#include <atwalk/base.h>

#include "base/buf.h"
#include "base/file.h"
#include "source/extents.h"
#include "source/pace.h"

/* The beginning of a file as a text, without the newline at its end; else errno says why. */
bool live_file_text(const char *path, char *buf, size_t len);
/* All of a file of unknown size, up to `max` bytes. */
int live_file_all(const char *path, size_t max, struct buf *ret,
		  struct atw_err *err);
/* The same at a pace; NULL: at once, and uncounted. */
int live_file_paced(const char *path, size_t max, struct pace *pace, struct buf *ret,
		    struct atw_err *err);

/*
 * /proc/WHAT/status ("12", "12/task/13", "self"), however many groups it lists; else
 * errno says why, and *ret is empty.
 */
bool live_status(const char *what, struct buf *ret);
/* What a line has behind "KEY:", and all that follows it; or "". */
const char *live_status_field(const struct buf *status, const char *key);

/*
 * The ranges of RAM: from /proc/iomem, which shows addresses to privileged users only,
 * else from the firmware's own map. Device memory must never be read, since a read can
 * have side effects in a device; so without a map there is no source.
 */
int live_ram(struct extents *ret, struct atw_err *err);

/* Where VMCOREINFO's note lies: /sys/kernel/vmcoreinfo. */
int live_note_place(uint64_t *ret_pa, uint64_t *ret_len, struct atw_err *err);

/* The kernel's own types, as it shows them in a file. */
struct live_btf {
	struct file file;        /* mapped */
	struct buf copy;         /* or read */
	struct atw_blob bytes;
};

int live_btf_read(struct live_btf *ret, struct atw_err *err);
/* Fine on a zeroed struct. */
void live_btf_close(struct live_btf *b);

/* Are we in one, where capabilities are of no use to look at the machine? */
bool live_in_user_namespace(void);
/* Is it in effect: CAP_... of <linux/capability.h>? */
bool live_has_capability(unsigned cap);
/*
 * Say how to allow the program that runs just this much: a command, or what a
 * container must be started with. The command keeps the capabilities that its file has.
 */
void live_hint_setcap(struct atw_err *err, const char *caps);

#endif
