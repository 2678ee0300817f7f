/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin_file.c - files of plugins, checked before anything is loaded. */
#include "host/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/message.h"
#include "format/elf.h"
#include "host/host.h"

/* May others than root and this user change it? */
static int file_check_owner(int fd, bool trusted, const char *what, struct stat *ret,
			    struct atw_err *err)
{
	if (fstat(fd, ret) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot examine %s: %s", what, strerror(errno));
	if (ret->st_uid && (trusted || ret->st_uid != geteuid()))
		return atw_err_set(err, ATW_E_PERM, "%s belongs to user %u, not to %s", what,
				   (unsigned)ret->st_uid, trusted || !geteuid() ? "root" :
				   _("root or the user of this program"));
	if (ret->st_mode & (S_IWGRP | S_IWOTH))
		return atw_err_set(err, ATW_E_PERM, "%s may be written by %s (mode %03o)", what,
				   ret->st_mode & S_IWOTH ? _("everyone") : _("its group"),
				   (unsigned)ret->st_mode & 07777);
	return ATW_OK;
}

/* The folder is opened first, and the file is opened in it. -1: *err has the reason. */
static int file_open_checked(const char *path, bool trusted, struct stat *ret,
			     struct atw_err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	_auto_free char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int dir, fd = -1;

	if (!folder) {
		atw_err_nomem(err);
		return -1;
	}
	dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		atw_err_set(err, ATW_E_MISSING, "cannot open its folder: %s", strerror(errno));
	else if (file_check_owner(dir, trusted, _("its folder"), ret, err) == ATW_OK) {
		/* A pipe would block. */
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			atw_err_set(err, errno == EACCES ? ATW_E_PERM : ATW_E_MISSING, "%s",
				    errno == ELOOP ? _("it is a symbolic link") : strerror(errno));
	}
	if (dir >= 0)
		close(dir);
	if (fd >= 0 && file_check_owner(fd, trusted, _("the file"), ret, err) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Is it for the machine that this program was built for? */
static int file_check_machine(const struct plugin_note *n, struct atw_err *err)
{
	struct file self = { 0 };
	char path[4096];
	struct elf e;
	bool same = true;

	if (host_program_path(path, sizeof(path)) && file_open(path, &self, NULL) == ATW_OK) {
		if (elf_parse(self.map, &e, NULL) == ATW_OK)
			same = e.machine == n->machine && e.is64 == n->is64;
		file_close(&self);
	}
	return same ? ATW_OK : atw_err_set(err, ATW_E_FORMAT, "it is for another machine");
}

static int file_read_note(int fd, const struct stat *st, struct plugin_note *ret,
			  struct atw_err *err)
{
	struct atw_blob b = { .len = (size_t)st->st_size };
	void *map;
	int r;

	if (!S_ISREG(st->st_mode) || !st->st_size)
		return atw_err_set(err, ATW_E_FORMAT, S_ISREG(st->st_mode) ? "the file is empty"
								      : "it is no file");
	map = mmap(NULL, b.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return atw_err_set(err, ATW_E_IO, "cannot map the file: %s", strerror(errno));
	b.data = map;
	r = plugin_note_read(b, ret, err) ?: file_check_machine(ret, err);
	munmap(map, b.len);
	return r;
}

int plugin_file_open(const char *path, bool trusted, struct plugin_file *ret,
		     struct atw_err *err)
{
	struct stat st;
	int fd, r;
	struct atw_err why = { 0 };

	*ret = (struct plugin_file){ .fd = -1 };
	fd = file_open_checked(path, trusted, &st, &why);
	r = fd < 0 ? why.status : file_read_note(fd, &st, &ret->note, &why);
	if (r == ATW_OK) {
		ret->path = strdup(path);
		if (!ret->path)
			r = atw_err_nomem(&why);
	}
	if (r == ATW_OK)
		ret->fd = fd;
	else if (fd >= 0)
		close(fd);
	return atw_err_give(err, r, &why);
}

void plugin_file_close(struct plugin_file *f)
{
	if (f->path && f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = (struct plugin_file){ .fd = -1 };
}
