/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procmaps.h - parser of lines of /proc/PID/maps. Pure. */
#pragma once

#include <atwalk/base.h>

struct procmaps_area {
	uint64_t start, end;     /* half open, start < end */
	bool read, write, exec, shared;
	uint64_t offset, inode;
	uint32_t major, minor;
	struct atw_blob name;    /* inside of the text, with its escapes */
};

/*
 * Parse the line at text[*pos], which is advanced behind it. ATW_END after the last line;
 * ATW_E_FORMAT: not a line of maps; *pos is advanced as well.
 */
int procmaps_next(struct atw_blob text, size_t *pos, struct procmaps_area *ret);
/*
 * The unescaped name: the kernel writes a newline in it as \012. Truncated to the buffer.
 */
void procmaps_name(struct atw_blob name, char *buf, size_t len);
