/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap_breakpoints.c - check whether accesses to the running kernel can be sampled by
 * breakpoints.
 *
 * `atwalk probe` runs this program instead of checking its own process, because
 * capabilities belong to a program file. The output is four lines: yes or no, the reason,
 * a hint, and a command; the last two may be empty.
 */
#include "kmap.h"
#include "host/caps.h"
#include "kmap/lib/live_watch.h"
#include "host/host_file.h"

int kmap_breakpoints(void)
{
	struct live_watch *w = NULL;
	struct atw_err err = { 0 };
	unsigned words;

	if (live_watch_open(&w, &words, &err) == ATW_OK) {
		printf("yes\n%u words at once can be watched on each CPU\n\n\n", words);
	} else {
		if (err.status == ATW_E_PERM)
			host_hint_setcap(&err, "cap_sys_admin");
		printf("no\n%s\n%s\n%s\n", err.text, err.hint,
		       err.command ? err.hint + err.command : "");
	}
	live_watch_close(w);
	return command_written();
}
