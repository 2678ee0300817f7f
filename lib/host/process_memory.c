// SPDX-License-Identifier: GPL-2.0-or-later
/* process_memory.c - pagemap in front of process_vm_readv(2). */
#include "host/process_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "format/pagemap.h"
#include "host/caps.h"

/*
 * Words of pagemap are read by windows of one page table, and kept for a moment: a walk
 * looks at few places again and again, while the process may map and unmap pages.
 */
enum { WINDOW_WORDS = 512, WINDOWS = 256 };
#define WINDOW_KEPT (SECOND / 20)

struct pm_window {
	uint64_t first; /* page number of the first word */
	uint64_t read;  /* when; 0: never */
	uint64_t word[WINDOW_WORDS];
};

struct process_memory {
	uint32_t pid;
	int pagemap; /* holds the mm: without it, reads return 0 bytes */
	uint64_t page;
	uint64_t swapped;
	struct pm_window *window;
};

/* ---- opening ---- */

static int memory_opening_failed(uint32_t pid, int e, struct atw_err *err)
{
	if (e == ENOENT || e == ESRCH)
		return atw_err_set(err, ATW_E_MISSING, "there is no process %" PRIu32,
				   pid);
	atw_err_set(err, io_status(e),
		    "the memory of process %" PRIu32 " cannot be read: %s", pid,
		    strerror(e));
	if (e == EACCES || e == EPERM)
		host_hint_setcap(err, "cap_dac_read_search,cap_sys_ptrace");
	return io_status(e);
}

int process_memory_open(uint32_t pid, struct process_memory **ret, struct atw_err *err)
{
	struct process_memory *pm = calloc(1, sizeof(*pm));
	char path[64];
	int e;

	if (!pm)
		return atw_err_nomem(err);
	*pm = (struct process_memory){
		.pid = pid,
		.page = (uint64_t)sysconf(_SC_PAGESIZE),
		.pagemap = -1,
		.window = calloc(WINDOWS, sizeof(*pm->window)),
	};
	if (!pm->window) {
		process_memory_close(pm);
		return atw_err_nomem(err);
	}
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap", pid);
	pm->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	e = errno;
	if (pm->pagemap < 0) {
		process_memory_close(pm);
		return memory_opening_failed(pid, e, err);
	}
	*ret = pm;
	return ATW_OK;
}

void process_memory_close(struct process_memory *pm)
{
	if (!pm)
		return;
	if (pm->pagemap >= 0)
		close(pm->pagemap);
	free(pm->window);
	free(pm);
}

/* ---- files that are mapped ---- */

static bool memory_is_mapped_file(int dir, const char *name,
				  const struct procmaps_area *map)
{
	struct stat st;

	return !fstatat(dir, name, &st, 0) && st.st_ino == map->inode &&
	       major(st.st_dev) == map->major && minor(st.st_dev) == map->minor;
}

/* By one of its descriptors: they need fewer privileges than map_files. */
static int memory_open_descriptor(uint32_t pid, const struct procmaps_area *map)
{
	const struct dirent *d;
	char path[64];
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd", pid);
	dir = opendir(path);
	while (dir && fd < 0 && (d = readdir(dir)))
		if (memory_is_mapped_file(dirfd(dir), d->d_name, map))
			fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_CLOEXEC);
	if (dir)
		closedir(dir);
	return fd;
}

void process_area_open(uint32_t pid, const struct procmaps_area *map,
		       struct process_area *ret)
{
	char path[96];

	*ret = (struct process_area){
		.start = map->start, .len = map->end - map->start,
		.file = map->inode != 0, .fd = -1, .offset = map->offset,
	};
	if (!ret->file)
		return;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 pid, map->start, map->end);
	ret->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ret->fd < 0)
		ret->fd = memory_open_descriptor(pid, map);
}

void process_area_close(struct process_area *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

/* ---- pagemap ---- */

/* NULL: see err; ATW_E_IO. */
static const struct pm_window *memory_window_at(struct process_memory *pm, uint64_t nr,
						struct atw_err *err)
{
	uint64_t first = nr & ~(uint64_t)(WINDOW_WORDS - 1), at = now();
	struct pm_window *w = &pm->window[first / WINDOW_WORDS % WINDOWS];
	ssize_t n;

	if (w->read && w->first == first && at - w->read < WINDOW_KEPT)
		return w;
	w->read = 0;
	n = pread(pm->pagemap, w->word, sizeof(w->word),
		  (off_t)(first * sizeof(w->word[0])));
	if (n != (ssize_t)sizeof(w->word)) {
		if (n < 0)
			atw_err_set(err, ATW_E_IO, "/proc/%" PRIu32 "/pagemap: %s",
				    pm->pid, strerror(errno));
		else
			atw_err_set(err, ATW_E_IO, "process %" PRIu32 " has ended",
				    pm->pid);
		return NULL;
	}
	w->first = first;
	w->read = at;
	return w;
}

static enum process_page memory_state(uint64_t word, bool file)
{
	return word & PAGEMAP_PRESENT ? PROCESS_PRESENT
	       : word & PAGEMAP_SWAP  ? PROCESS_SWAPPED
	       : file                 ? PROCESS_STORED
				      : PROCESS_ZERO;
}

/* Of bytes that only the file can have: is there data, and up to where? */
static enum process_page memory_look_file(const struct process_area *a, uint64_t at,
					  uint64_t *len)
{
	off_t off = (off_t)(a->offset + (at - a->start)), next;

	if (a->fd < 0)
		return PROCESS_UNKNOWN;
	next = lseek(a->fd, off, SEEK_DATA);
	if (next < 0)
		return errno == ENXIO ? PROCESS_ZERO : PROCESS_UNKNOWN;
	if (next > off) {
		if ((uint64_t)(next - off) < *len)
			*len = (uint64_t)(next - off);
		return PROCESS_ZERO;
	}
	next = lseek(a->fd, off, SEEK_HOLE);
	if (next > off && (uint64_t)(next - off) < *len)
		*len = (uint64_t)(next - off);
	return PROCESS_STORED;
}

int process_memory_look(struct process_memory *pm, const struct process_area *a,
			uint64_t at, enum process_page *ret, uint64_t *len,
			struct atw_err *err)
{
	uint64_t nr = at / pm->page, end, left = a->len - (at - a->start);
	enum process_page state;
	const struct pm_window *w = memory_window_at(pm, nr, err);
	size_t i, k;

	if (!w)
		return ATW_E_IO;
	i = k = nr % WINDOW_WORDS;
	state = memory_state(w->word[i], a->file);
	while (k < WINDOW_WORDS && memory_state(w->word[k], a->file) == state)
		k++;
	end = (nr - i + k) * pm->page;
	left = MIN(left, end - at);
	if (state == PROCESS_STORED)
		state = memory_look_file(a, at, &left);
	*ret = state;
	*len = left;
	return ATW_OK;
}

/* ---- reading ---- */

static ssize_t memory_read_process(const struct process_memory *pm, uint64_t at,
				   void *buf, size_t len, struct atw_err *err)
{
	struct iovec to = {buf, len}, from = {(void *)(uintptr_t)at, len};
	ssize_t n = process_vm_readv((pid_t)pm->pid, &to, 1, &from, 1, 0);

	if (n >= 0 || errno == EFAULT)
		return n < 0 ? 0 : n;
	if (errno == ESRCH)
		return atw_err_set(err, ATW_E_IO, "process %" PRIu32 " has ended",
				   pm->pid);
	return memory_opening_failed(pm->pid, errno, err);
}

static ssize_t memory_read_file(const struct process_area *a, uint64_t at, void *buf,
				size_t len, struct atw_err *err)
{
	ssize_t n = pread(a->fd, buf, len, (off_t)(a->offset + (at - a->start)));

	return n >= 0 ? n
		      : atw_err_set(err, ATW_E_IO, "the file of its memory: %s",
				    strerror(errno));
}

static ssize_t memory_read_run(struct process_memory *pm, const struct process_area *a,
			       enum process_page state, uint64_t at, void *buf,
			       size_t len, struct atw_err *err)
{
	ssize_t n;

	switch (state) {
	case PROCESS_SWAPPED:
	case PROCESS_PRESENT:
		n = memory_read_process(pm, at, buf, len, err);
		if (state == PROCESS_SWAPPED && n > 0)
			pm->swapped += (uint64_t)n;
		return n;
	case PROCESS_STORED:
		return memory_read_file(a, at, buf, len, err);
	case PROCESS_ZERO:
		memset(buf, 0, len);
		return (ssize_t)len;
	case PROCESS_UNKNOWN:
		break;
	}
	return 0;
}

ssize_t process_memory_read(struct process_memory *pm, const struct process_area *a,
			    uint64_t at, void *buf, size_t len, struct atw_err *err)
{
	size_t done = 0;

	while (done < len) {
		enum process_page state;
		uint64_t run;
		ssize_t n = process_memory_look(pm, a, at + done, &state, &run, err);

		if (n < 0)
			return n;
		run = MIN(run, len - done);
		n = memory_read_run(pm, a, state, at + done, (char *)buf + done, run,
				    err);
		if (n < 0)
			return n;
		done += (size_t)n;
		if ((uint64_t)n < run)
			break;
	}
	return (ssize_t)done;
}

uint64_t process_memory_swapped(const struct process_memory *pm)
{
	return pm->swapped;
}
