/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "provider/large_live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/procmaps.h"
#include "source/live_file.h"

enum { SMAPS_MAX = 1 << 30, MOUNTS_MAX = 64 << 20 };

static void forget(struct large_live *l)
{
	buf_deinit(&l->mounts);
	buf_deinit(&l->smaps);
	l->mounts = l->smaps = (struct buf){ 0 };
	l->mounts_tried = l->smaps_tried = false;
	l->at = 0;
	l->process = THP_NOT_TOLD;
}

void large_live_deinit(struct large_live *l)
{
	forget(l);
}

static void enter(struct large_live *l, uint32_t pid, uint64_t block)
{
	if (l->block != block)
		thp_of_system("", block, &l->set);
	l->block = block;
	if (l->pid != pid)
		forget(l);
	l->pid = pid;
}

static void read_all(uint32_t pid, const char *file, size_t max, struct buf *ret)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, file);
	if (live_file_all(path, max, ret, NULL) < 0) {
		buf_deinit(ret);
		*ret = (struct buf){ 0 };
	}
}

void large_live_system(struct large_live *l, uint32_t pid, uint64_t block,
		       const struct atw_area *a, struct large_may *ret)
{
	enum thp_when mounted;

	enter(l, pid, block);
	if (ret->kind == LARGE_ANON)
		ret->system = l->set.anon;
	if (ret->kind == LARGE_SHMEM)
		ret->system = l->set.shmem;
	if (ret->kind != LARGE_OF_FILE)
		return;
	if (!l->mounts_tried)
		read_all(pid, "mountinfo", MOUNTS_MAX, &l->mounts);
	l->mounts_tried = true;
	if (l->mounts.len && large_mounted((struct atw_blob){ l->mounts.data, l->mounts.len },
					   a->major, a->minor, &mounted)) {
		ret->kind = LARGE_SHMEM;
		ret->system = l->set.tmpfs != THP_NOT_TOLD ? l->set.tmpfs : mounted;
	}
}

/* ---- where there is nothing but /proc ---- */

/* Since 5.0; and "1" as well where advised areas alone are excepted (6.18). */
static enum thp_when told_process(uint32_t pid)
{
	struct buf text = { 0 };
	const char *s;
	enum thp_when w = THP_NOT_TOLD;

	read_all(pid, "status", 1 << 20, &text);
	s = text.len ? strstr(text.data, "\nTHP_enabled:\t0") : NULL;
	if (s)
		w = THP_NEVER;
	buf_deinit(&text);
	return w;
}

/* Areas are asked for in order, and so they stand there. */
static uint64_t flags_of(struct large_live *l, uint64_t start)
{
	static const char word[] = "VmFlags: ";
	struct atw_blob text = { l->smaps.data, l->smaps.len };
	struct procmaps_area v = { 0 };
	size_t line = l->at, pos = l->at;
	int r;

	while (text.len && (r = procmaps_next(text, &pos, &v)) != ATW_END) {
		const char *s = (const char *)text.data + line;
		size_t len = pos - line;

		if (r == ATW_OK && v.start > start)
			return 0;
		if (r == ATW_E_FORMAT && v.start == start && len > sizeof(word) &&
		    !memcmp(s, word, sizeof(word) - 1)) {
			l->at = pos;
			len -= sizeof(word) - 1 + (s[len - 1] == '\n');
			return large_vmflags(s + sizeof(word) - 1, len);
		}
		line = pos;
	}
	return 0;
}

void large_live_may(struct large_live *l, uint32_t pid, uint64_t block,
		    const struct atw_area *a, struct large_may *ret)
{
	enter(l, pid, block);
	if (!l->smaps_tried) {
		read_all(pid, "smaps", SMAPS_MAX, &l->smaps);
		l->process = told_process(pid);
	}
	l->smaps_tried = true;
	large_may_of_area(a, flags_of(l, a->start.u), ret);
	ret->process = l->process;
	large_live_system(l, pid, block, a, ret);
}
