/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/buf.h"
#include "base/cleanup.h"

static int fail_errno(struct atw_err *err, const char *path, int e)
{
	int status = e == ENOENT || e == ENOTDIR ? ATW_E_MISSING :
		     e == EACCES || e == EPERM   ? ATW_E_PERM :
		     e == ENOMEM                 ? ATW_E_NOMEM : ATW_E_IO;

	return atw_err_set(err, status, "%s: %s", path, strerror(e));
}

/*
 * A pipe has no pages to map. Its bytes go into one anonymous mapping, which
 * grows by moving, so that file_close() need not know the difference.
 */
static int slurp(int fd, const char *path, struct atw_blob *ret,
		 struct atw_err *err)
{
	size_t cap = (size_t)1 << 20, len = 0;
	char *map = mmap(NULL, cap, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return fail_errno(err, path, ENOMEM);
	for (;;) {
		ssize_t n;

		if (len == cap) {
			void *p = mremap(map, cap, cap * 2, MREMAP_MAYMOVE);

			if (p == MAP_FAILED) {
				munmap(map, cap);
				return fail_errno(err, path, ENOMEM);
			}
			map = p;
			cap *= 2;
		}
		n = read(fd, map + len, cap - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int e = errno;

			munmap(map, cap);
			return fail_errno(err, path, e);
		}
		if (!n)
			break;
		len += (size_t)n;
	}
	if (!len) {
		munmap(map, cap);
		return atw_err_set(err, ATW_E_FORMAT, "%s: is empty", path);
	}
	/* Give back what was reserved ahead, down to whole pages. */
	mremap(map, cap, len, 0);
	*ret = (struct atw_blob){ map, len };
	return ATW_OK;
}

static int map_whole(int fd, uint64_t size, const char *path,
		     struct atw_blob *ret, struct atw_err *err)
{
	void *map;

	if (!size)
		return atw_err_set(err, ATW_E_FORMAT, "%s: is empty", path);
	if (size > SIZE_MAX)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "%s: is larger than this machine's address space", path);
	map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return fail_errno(err, path, errno);
	*ret = (struct atw_blob){ map, (size_t)size };
	return ATW_OK;
}

int file_open(const char *path, struct file *ret, struct atw_err *err)
{
	bool is_stdin = !strcmp(path, "-");
	_auto_fd int fd = is_stdin ? dup(0)
				   : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_auto_free char *name = NULL;
	struct file f = { 0 };
	struct stat st;
	uint64_t size;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail_errno(err, path, errno);
	name = strdup(is_stdin ? "standard input" : path);
	if (!name)
		return fail_errno(err, path, ENOMEM);

	if (S_ISDIR(st.st_mode))
		return atw_err_set(err, ATW_E_FORMAT, "%s: is a directory", path);
	if (S_ISREG(st.st_mode)) {
		r = map_whole(fd, (uint64_t)st.st_size, path, &f.map, err);
	} else if (S_ISBLK(st.st_mode)) {
		if (ioctl(fd, BLKGETSIZE64, &size) < 0)
			return fail_errno(err, path, errno);
		r = map_whole(fd, size, path, &f.map, err);
	} else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		r = slurp(fd, name, &f.map, err);
	} else {
		return atw_err_set(err, ATW_E_FORMAT,
				   "%s: is neither a file, a block device nor a pipe", path);
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
