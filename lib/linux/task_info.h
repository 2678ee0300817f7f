/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_info.h - attributes of a task besides its memory: user, start and resource usage,
 * as in a T: line of a capture, from any source.
 */
#pragma once

#include "linux/process.h"

#include "format/capture.h"

enum {
	ABOUT_TICKS = 100,       /* per second: USER_HZ of all supported architectures */
	ABOUT_NAME = 4200,       /* bytes of a path, with its NUL */
};

struct task_about {
	struct capture_task t;   /* its texts are in the buffers below */
	uint32_t has;            /* CAPTURE_T_... */
	char name[17], cgroup[ABOUT_NAME], exe[ABOUT_NAME];
};

struct named_files;
/*
 * From kernel structures. Attributes that these lack are not known. `files`: cache of the
 * names of files; NULL: none.
 */
void about_task(struct atw_kernel *k, const struct lnx_task *t, struct named_files *files,
		struct task_about *ret);
/* Sets a text of `t` to a copy of at most `len` bytes. */
void about_text(struct atw_blob *t, char *buf, size_t len);
