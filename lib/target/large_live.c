/* SPDX-License-Identifier: GPL-2.0-or-later */
/* large_live.c - settings of large pages, from /proc and /sys of the running kernel. */
#include "target/large.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/procmaps.h"
#include "host/host_file.h"
#include "linux/vm_flags.h"

enum { SMAPS_MAX = 1 << 30, MOUNTS_MAX = 64 << 20 };

void large_live_forget(struct large_live *l)
{
	buf_deinit(&l->mounts);
	buf_deinit(&l->smaps);
	l->mounts = l->smaps = (struct buf){ 0 };
	l->mounts_tried = l->smaps_tried = l->process_tried = false;
	l->at = 0;
	l->upto = 0;
	l->process = THP_UNKNOWN;
}

static void large_live_enter(struct large_live *l, uint32_t pid, uint64_t block)
{
	if (l->block != block)
		thp_of_system("", block, &l->set);
	l->block = block;
	if (l->pid != pid)
		large_live_forget(l);
	l->pid = pid;
}

static void large_live_read_all(uint32_t pid, const char *file, size_t max,
				struct buf *ret)
{
	if (host_proc_all(pid, file, max, ret, NULL) < 0) {
		buf_deinit(ret);
		*ret = (struct buf){ 0 };
	}
}

void large_live_system(struct large_live *l, uint32_t pid, uint64_t block,
		       const struct atw_area *a, struct large_may *ret)
{
	enum thp_when mounted;

	large_live_enter(l, pid, block);
	if (ret->kind == LARGE_ANON) {
		ret->system = l->set.anon;
		ret->by = l->set.anon_by;
	}
	if (ret->kind == LARGE_SHMEM) {
		ret->system = l->set.shmem;
		ret->by = l->set.shmem_by;
	}
	if (ret->kind != LARGE_OF_FILE)
		return;
	if (!l->mounts_tried)
		large_live_read_all(pid, "mountinfo", MOUNTS_MAX, &l->mounts);
	l->mounts_tried = true;
	if (l->mounts.len && large_mounted((struct atw_blob){ l->mounts.data, l->mounts.len },
					   a->major, a->minor, &mounted)) {
		ret->kind = LARGE_SHMEM;
		ret->system = l->set.tmpfs != THP_UNKNOWN ? l->set.tmpfs : mounted;
		ret->by = l->set.tmpfs != THP_UNKNOWN ? l->set.shmem_by : THP_BY_MOUNT;
	}
}

/* ---- where there is nothing but /proc ---- */

/* Since 5.0; and "1" as well where advised areas alone are excepted (6.18). */
static enum thp_when large_live_told_process(uint32_t pid)
{
	struct buf text = { 0 };
	const char *s;
	enum thp_when w = THP_UNKNOWN;

	large_live_read_all(pid, "status", 1 << 20, &text);
	s = text.len ? strstr(text.data, "\nTHP_enabled:\t0") : NULL;
	if (s)
		w = THP_NEVER;
	buf_deinit(&text);
	return w;
}

/* Areas are mostly asked for in order, and so they stand there. */
static bool large_live_find_flags(struct large_live *l, uint64_t start, uint64_t *ret)
{
	static const char word[] = "VmFlags: ";
	struct atw_blob text = { l->smaps.data, l->smaps.len };
	struct procmaps_area v = { 0 };
	size_t line, pos;
	int r;

	if (start <= l->upto)
		l->at = 0;
	line = pos = l->at;
	while (text.len && (r = procmaps_next(text, &pos, &v)) != ATW_END) {
		const char *s = (const char *)text.data + line;
		size_t len = pos - line;

		if (r == ATW_OK && v.start > start)
			return false;
		if (r == ATW_E_FORMAT && v.start == start && len > sizeof(word) &&
		    !memcmp(s, word, sizeof(word) - 1)) {
			l->at = pos;
			l->upto = start;
			len -= sizeof(word) - 1 + (s[len - 1] == '\n');
			*ret = large_vmflags(s + sizeof(word) - 1, len);
			return true;
		}
		line = pos;
	}
	return false;
}

static void large_live_read_smaps(struct large_live *l, uint32_t pid)
{
	if (!l->smaps_tried)
		large_live_read_all(pid, "smaps", SMAPS_MAX, &l->smaps);
	l->smaps_tried = true;
}

bool large_live_is_pfnmap(struct large_live *l, uint32_t pid, uint64_t start)
{
	uint64_t flags;

	large_live_enter(l, pid, l->block);
	large_live_read_smaps(l, pid);
	return !large_live_find_flags(l, start, &flags) || flags & VM_PFNMAP;
}

void large_live_may(struct large_live *l, uint32_t pid, uint64_t block,
		    const struct atw_area *a, struct large_may *ret)
{
	uint64_t flags = 0;

	large_live_enter(l, pid, block);
	large_live_read_smaps(l, pid);
	if (!l->process_tried)
		l->process = large_live_told_process(pid);
	l->process_tried = true;
	large_live_find_flags(l, a->start.u, &flags);
	large_may_of_area(a, flags, ret);
	ret->process = l->process;
	large_live_system(l, pid, block, a, ret);
}
