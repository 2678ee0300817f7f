/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs_process.c - a process of the running kernel as it is at one moment: its VMAs, and
 * its pagemap.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/procmaps.h"
#include "target/procfs.h"
#include "target/procfs_vmas.h"

enum { TRIES = 16 };             /* of threads that end before they are read */

/* Mapped by frame numbers, perhaps: PAGEMAP_SCAN leaves such areas out. */
static bool procfs_process_is_device(struct atw_blob name)
{
	static const char *const roots[] = { "/dev/", "/sys/", "/proc/", "anon_inode:", "/dmabuf:" };

	if (blob_begins(name, "/dev/shm/") || blob_begins(name, "/dev/zero"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (blob_begins(name, roots[i]))
			return true;
	return false;
}

/* The kernel's own, and of many processes: no smaps need be read for it. */
static bool procfs_process_is_vvar(struct atw_blob name)
{
	return blob_begins(name, "[vvar");
}

static void procfs_process_leave(struct procfs_process *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->pid = c->thread = 0;
	buf_deinit(&c->maps);
	c->maps = (struct buf){ 0 };
	c->nareas = 0;
	c->heap = 0;
	large_live_forget(&c->large);
}

void procfs_drop(struct procfs_process **proc)
{
	struct procfs_process *c = *proc;

	*proc = NULL;
	if (!c || --c->users)
		return;
	procfs_process_leave(c);
	free(c->area);
	free(c);
}

/* One that no other cursor has. */
static int procfs_process_own(struct procfs_process **proc, struct atw_err *err)
{
	if (*proc && (*proc)->users > 1)
		procfs_drop(proc);
	if (*proc)
		return ATW_OK;
	*proc = calloc(1, sizeof(**proc));
	if (!*proc)
		return atw_err_nomem(err);
	(*proc)->users = 1;
	(*proc)->fd = -1;
	return ATW_OK;
}

static int procfs_process_read_maps(struct procfs_process *c, const char *path,
				 struct atw_err *err)
{
	struct procmaps_area a;
	size_t pos = 0;
	int r = ATW_OK;

	while (r == ATW_OK) {
		r = procmaps_next((struct atw_blob){ c->maps.data, c->maps.len }, &pos, &a);
		if (r == ATW_E_FORMAT)
			atw_err_set(err, r, "%s: a line is not what it should be", path);
		if (r != ATW_OK)
			break;
		/* An area that moved while the file was read can be in it twice. */
		if (c->nareas && a.start < c->area[c->nareas - 1].end)
			continue;
		if (!ARRAY_ROOM(c->area, c->nareas, c->areas_cap))
			return atw_err_nomem(err);
		c->area[c->nareas++] = (struct area){
			a.start, a.end,
			(uint8_t)((a.read ? ATW_UR : 0) | (a.write ? ATW_UW : 0) |
				  (a.exec ? ATW_UX : 0)),
			procfs_process_is_device(a.name),
			procfs_process_is_vvar(a.name),
			!procfs_process_is_device(a.name),
		};
		if (blob_is(a.name, "[heap]"))
			c->heap = a.end;
	}
	return r;
}

/* ATW_END: that one has no memory, or is none of this process's threads. */
static int procfs_process_enter_thread(struct pagemap *m, struct procfs_process *c,
				    uint32_t pid, uint32_t thread, struct atw_err *err)
{
	uint32_t tgid;
	char path[48];
	int r;

	procfs_process_leave(c);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap", thread);
	c->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0 && (errno == ENOENT || errno == ESRCH))
		return ATW_END;
	if (c->fd < 0)
		return atw_err_set(err, errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
				   "%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", thread);
	r = host_file_paced(path, 1 << 30, m->o.pace, &c->maps, err) ?:
	    procfs_process_read_maps(c, path, err);
	/* One that has ended in between has no areas, or no such file any more. */
	if (r == ATW_E_MISSING)
		return ATW_END;
	if (r < 0)
		return r;
	/* The number of a thread may be another's by now. */
	if (!c->nareas || (thread != pid && (proc_tgid(thread, &tgid, NULL) < 0 || tgid != pid)))
		return ATW_END;
	c->thread = thread;
	return ATW_OK;
}

/*
 * A main thread that has ended has nothing: then one that goes on is read; and again, for
 * threads end meanwhile.
 */
int procfs_enter(struct pagemap *m, struct procfs_process **proc, uint32_t pid,
		 uint64_t start, struct atw_err *err)
{
	struct proc_stat st = { 0 };
	int r = procfs_process_own(proc, err) ?:
		procfs_process_enter_thread(m, *proc, pid, pid, err);

	for (unsigned i = 0; i < TRIES && r == ATW_END && proc_stat(pid, &st, NULL) == ATW_OK &&
	     st.headless && !st.kernel; i++)
		r = procfs_process_enter_thread(m, *proc, pid, st.thread, err);
	/* Another one may have its number by now. */
	if (r == ATW_OK && start && (proc_stat(pid, &st, NULL) < 0 || st.start != start))
		return ATW_END;
	if (r == ATW_OK)
		(*proc)->pid = pid;
	return r;
}
