/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cleanup.h - release at the end of scope, also on error paths. */
#pragma once

#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _auto_free __attribute__((cleanup(cleanup_free)))
#define _auto_fd   __attribute__((cleanup(cleanup_fd)))

/* Return the pointer and clear the variable, so that its cleanup does nothing. */
#define take_ptr(p) ({ __typeof__(p) take_tmp_ = (p); (p) = NULL; take_tmp_; })

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Both are evaluated twice. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
