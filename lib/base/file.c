/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.c - files mapped into memory, and the holes of sparse files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <linux/fs.h>

#include "base/io.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/sorted.h"

static int file_fail(struct atw_err *err, int status, const char *path, const char *why)
{
	atw_err_set(err, status, "%s", message(why));
	atw_err_about(err, path);
	return status;
}

static int file_fail_errno(struct atw_err *err, const char *path, int e)
{
	return file_fail(err, io_status(e), path, strerror(e));
}

static int file_map_whole(int fd, uint64_t size, const char *path, struct atw_blob *ret,
			  struct atw_err *err)
{
	void *map;

	if (!size)
		return file_fail(err, ATW_E_FORMAT, path, "is empty");
	if (size > SIZE_MAX)
		return file_fail(err, ATW_E_UNSUPPORTED, path,
				 "is larger than this machine's address space");
	map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return file_fail_errno(err, path, errno);
	*ret = (struct atw_blob){ map, (size_t)size };
	return ATW_OK;
}

int file_open(const char *path, struct file *ret, struct atw_err *err)
{
	_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_auto_free char *name = strdup(path);
	struct file f = { 0 };
	struct stat st;
	uint64_t size;
	int r;

	if (!name)
		return file_fail_errno(err, path, ENOMEM);
	if (fd < 0 || fstat(fd, &st) < 0)
		return file_fail_errno(err, path, errno);
	if (S_ISDIR(st.st_mode))
		return file_fail(err, ATW_E_FORMAT, path, "is a directory");
	if (S_ISREG(st.st_mode)) {
		r = file_map_whole(fd, (uint64_t)st.st_size, path, &f.map, err);
	} else if (S_ISBLK(st.st_mode)) {
		if (ioctl(fd, BLKGETSIZE64, &size) < 0)
			return file_fail_errno(err, path, errno);
		r = file_map_whole(fd, size, path, &f.map, err);
	} else {
		return file_fail(err, ATW_E_FORMAT, path,
				 "is neither a file nor a block device");
	}
	if (r < 0)
		return r;
	f.path = take_ptr(name);
	*ret = f;
	return ATW_OK;
}

void file_close(struct file *f)
{
	if (f->map.data)
		munmap((void *)f->map.data, f->map.len);
	free(f->path);
	*f = (struct file){ 0 };
}

int file_holes_find(const struct file *f, uint64_t start, uint64_t end, uint64_t min,
		    struct file_holes *ret, struct atw_err *err)
{
	/*
	 * Each hole costs two system calls, which a network file system answers slowly.
	 */
	enum { HOLES_MAX = 1 << 18 };
	_auto_fd int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct file_holes h = { 0 };
	size_t cap = 0;
	uint64_t stop;

	end = end < f->map.len ? end : f->map.len;
	for (uint64_t at = start; fd >= 0 && at < end && h.n < HOLES_MAX; at = stop) {
		off_t hole = lseek(fd, (off_t)at, SEEK_HOLE), data;

		if (hole < 0 || (uint64_t)hole >= end)
			break;
		data = lseek(fd, hole, SEEK_DATA);
		if (data < 0 && errno != ENXIO)
			break;
		stop = data < 0 || (uint64_t)data > end ? end : (uint64_t)data;
		if (stop - (uint64_t)hole < min)
			continue;
		if (!ARRAY_ROOM(h.v, h.n, cap)) {
			file_holes_deinit(&h);
			return atw_err_nomem(err);
		}
		h.v[h.n++] = (struct file_hole){ (uint64_t)hole, stop };
	}
	*ret = h;
	return ATW_OK;
}

void file_holes_deinit(struct file_holes *h)
{
	free(h->v);
	*h = (struct file_holes){ 0 };
}

size_t file_holes_from(const struct file_holes *h, uint64_t at)
{
	return SORTED_UP_TO(h->v, h->n, end, at);
}

uint64_t file_holes_total(const struct file_holes *h)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < h->n; i++)
		sum += h->v[i].end - h->v[i].start;
	return sum;
}
