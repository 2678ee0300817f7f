/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_info.h - attributes of a task besides its memory: user, start and resource usage, as
 * in a T: line of a capture, from any source.
 */
#ifndef LINUX_TASK_INFO_H
#define LINUX_TASK_INFO_H

#include "linux/process.h"

#include "format/capture.h"

enum {
	ABOUT_TICKS = 100,       /* of a second: USER_HZ, on all machines we know */
	ABOUT_NAME = 4200,       /* bytes of a path, with its end */
};

struct task_about {
	struct capture_task t;   /* its texts lie behind it */
	uint32_t has;            /* CAPTURE_T_... */
	char name[17], cgroup[ABOUT_NAME], exe[ABOUT_NAME];
};

struct named_files;
/*
 * Out of the kernel's structures. What these do not tell is not known. `files` that were
 * named before are not named again; NULL: none are kept.
 */
void about_task(struct atw_kernel *k, const struct lnx_task *t, struct named_files *files,
		struct task_about *ret);
/* Of `t` a text of its own: `len` bytes at most. */
void about_text(struct atw_blob *t, char *buf, size_t len);

#endif
