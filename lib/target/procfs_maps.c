/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procfs_maps.c - lookup of an address range in /proc/PID/maps. */
#include <inttypes.h>
#include <stdio.h>

#include "format/procmaps.h"
#include "target/procfs.h"
#include "host/host_file.h"

static int maps_read(uint32_t thread, struct buf *ret, struct atw_err *err)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", thread);
	return host_file_all(path, 1 << 30, ret, err);
}

int proc_maps(uint32_t pid, uint64_t first, uint64_t last, struct atw_err *err)
{
	struct procmaps_area a;
	struct proc_stat st;
	struct buf text = { 0 };
	size_t pos = 0;
	bool yes = false;
	int r = maps_read(pid, &text, err);

	/* Its main thread may be gone, and others not. */
	if (r == ATW_OK && !text.len && proc_stat(pid, &st, NULL) == ATW_OK && st.thread != pid)
		r = maps_read(st.thread, &text, err);
	while (r == ATW_OK && !yes &&
	       (r = procmaps_next((struct atw_blob){ text.data, text.len }, &pos, &a)) != ATW_END) {
		yes = r == ATW_OK && a.start <= last && a.end > first;
		r = ATW_OK;              /* what is no line is no area, either */
	}
	buf_deinit(&text);
	return yes ? ATW_OK : r == ATW_OK ? ATW_END : r;
}
