/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procmaps.h - lines of /proc/PID/maps. Pure. */
#ifndef FORMAT_PROCMAPS_H
#define FORMAT_PROCMAPS_H

#include <atwalk/base.h>

struct procmaps_area {
	uint64_t start, end;     /* half open, start < end */
	bool read, write, exec, shared;
	uint64_t offset, inode;
	uint32_t major, minor;
	struct atw_blob name;    /* within the text, escapes as they are */
};

/*
 * The line at text[*pos], which then moves behind it. ATW_END after the last
 * one; ATW_E_FORMAT: the line is not one of maps, *pos is behind it all the same.
 */
int procmaps_next(struct atw_blob text, size_t *pos, struct procmaps_area *ret);
/* The name as it is: the kernel writes a newline in it as \012. Cut to fit. */
void procmaps_name(struct atw_blob name, char *buf, size_t len);

#endif
