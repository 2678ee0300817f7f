/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outfile.c - output files with atomic replacement. */
#include "output/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/num.h"

#define TRIES 1000               /* names for a temporary file */

const char *outfile_name(const struct outfile *t)
{
	return t->path ? t->path : _("standard output");
}

/* The error of the last system call, with the name of the target. */
static int outfile_failed(const struct outfile *t, const char *what, struct atw_err *err)
{
	int status = errno == EROFS ? ATW_E_PERM : io_status(errno);

	return atw_err_set(err, status, "%s: %s: %m", outfile_name(t), message(what));
}

/*
 * Names of this process's open files, such as /dev/stdout. Opening them would begin at
 * offset 0, over earlier output of the shell: the descriptor is used instead.
 */
static int outfile_own_fd(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t fd;

	if (!path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		size_t n = strlen(dirs[i]);

		if (!strncmp(path, dirs[i], n) &&
		    num_dec(path + n, strlen(path + n), &fd) && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

static size_t outfile_dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/*
 * A file without a name (O_TMPFILE) vanishes even if this process is killed. Not every
 * file system supports it, and linking it to a name later requires /proc.
 */
static int outfile_open_unnamed(const char *final, mode_t mode)
{
	_auto_free char *dir = NULL;
	char self[32];
	int fd;

	if (asprintf(&dir, "%.*s.", (int)outfile_dir_len(final), final) < 0) {
		dir = NULL;
		return -1;
	}
	fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (fd < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (access(self, F_OK) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int outfile_make_somewhere(struct outfile *t,
				  int (*make)(struct outfile *, const char *))
{
	int dir = (int)outfile_dir_len(t->final);
	int rc = -1;

	for (unsigned i = 0; i < TRIES; i++) {
		char *name;

		/* Long names are truncated: a name has at most 255 bytes. */
		if (asprintf(&name, "%.*s.%.200s.%ld-%u", dir, t->final,
			     t->final + dir, (long)getpid(), i) < 0) {
			errno = ENOMEM;
			return -1;
		}
		rc = make(t, name);
		if (rc >= 0) {
			t->temp = name;
			return rc;
		}
		free(name);
		if (errno != EEXIST)
			break;
	}
	return rc;
}

/*
 * Find a free name in the folder of the target and have `make` create it there, because
 * rename(2) works within one file system only. Returns the result of `make`. At any time,
 * a signal handler either finds the name in the target, or no such file exists.
 */
static int outfile_make_beside(struct outfile *t,
			       int (*make)(struct outfile *, const char *))
{
	sigset_t all, were;
	int rc, e;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &were);
	rc = outfile_make_somewhere(t, make);
	e = errno;
	sigprocmask(SIG_SETMASK, &were, NULL);
	errno = e;
	return rc;
}

static int outfile_make_new(struct outfile *t, const char *name)
{
	return open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, t->mode);
}

static int outfile_make_link(struct outfile *t, const char *name)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", t->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* `old`: the file that will be replaced, or NULL. */
static int outfile_open_file(struct outfile *t, const struct stat *old,
			     struct atw_err *err)
{
	if (old && faccessat(AT_FDCWD, t->final, W_OK, AT_EACCESS) < 0)
		return outfile_failed(t, N_("cannot write"), err);
	t->owned = true;
	t->fd = outfile_open_unnamed(t->final, t->mode);
	if (t->fd < 0)
		t->fd = outfile_make_beside(t, outfile_make_new);
	if (t->fd < 0)
		return outfile_failed(t, N_("cannot create a file beside it"), err);
	/* Copies owner and mode if permitted: not being the owner is no failure. */
	if (old && (fchown(t->fd, old->st_uid, old->st_gid) < 0 ||
		    fchmod(t->fd, old->st_mode & 07777) < 0))
		fchmod(t->fd, old->st_mode & 0777);
	return ATW_OK;
}

static int outfile_open_path(struct outfile *t, const char *path, struct atw_err *err)
{
	struct stat st;
	bool exists = !stat(path, &st);

	if (!exists && errno != ENOENT)
		return outfile_failed(t, N_("cannot write"), err);
	if (exists && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return outfile_failed(t, N_("cannot write"), err);
	}
	if (exists && !S_ISREG(st.st_mode)) {
		t->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		t->owned = true;
		return t->fd < 0 ? outfile_failed(t, N_("cannot write"), err) : ATW_OK;
	}
	/* The target of a symbolic link is replaced. */
	t->final = exists ? realpath(path, NULL) : strdup(path);
	if (!t->final)
		return outfile_failed(t, N_("cannot write"), err);
	return outfile_open_file(t, exists ? &st : NULL, err);
}

static int outfile_target_open_mode(const char *path, mode_t mode, struct outfile *t,
				    struct atw_err *err)
{
	int rc = ATW_OK;

	*t = (struct outfile){.fd = outfile_own_fd(path), .mode = mode};
	if (t->fd != STDOUT_FILENO) {
		t->path = strdup(path);
		if (!t->path)
			return atw_err_nomem(err);
	}
	if (t->fd < 0) {
		rc = outfile_open_path(t, path, err);
	} else if (fcntl(t->fd, F_GETFL) < 0) {
		rc = outfile_failed(t, N_("cannot write"), err);
		t->fd = -1;
	}
	if (rc < 0)
		outfile_close(t);
	return rc;
}

int outfile_open(const char *path, struct outfile *ret, struct atw_err *err)
{
	return outfile_target_open_mode(path, 0666, ret, err);
}

int outfile_open_private(const char *path, struct outfile *ret, struct atw_err *err)
{
	return outfile_target_open_mode(path, 0600, ret, err);
}

/* Errors of a full or failing disk may be reported only here. */
static int outfile_store(struct outfile *t, struct atw_err *err)
{
	if (t->final && fsync(t->fd) < 0 && errno != EINVAL && errno != ENOSYS &&
	    errno != EOPNOTSUPP)
		return outfile_failed(t, N_("cannot write"), err);
	return ATW_OK;
}

/* Gives it a temporary name, after which nothing is written. */
static int outfile_stand_by(struct outfile *t, struct atw_err *err)
{
	int rc;

	if (t->final && !t->temp && outfile_make_beside(t, outfile_make_link) < 0)
		return outfile_failed(t, N_("cannot create"), err);
	rc = close(t->fd);
	t->fd = -1;
	return rc < 0 && errno != EINTR ? outfile_failed(t, N_("cannot write"), err) : ATW_OK;
}

static int outfile_place(struct outfile *t, struct atw_err *err)
{
	if (t->final && rename(t->temp, t->final) < 0)
		return outfile_failed(t, N_("cannot create"), err);
	free(t->temp);
	t->temp = NULL;
	return ATW_OK;
}

int outfile_commit_all(struct outfile *const *t, size_t n, struct atw_err *err)
{
	sigset_t all, were;
	int rc = ATW_OK;

	for (size_t i = 0; i < n && rc == ATW_OK; i++)
		rc = t[i]->owned ? outfile_store(t[i], err) : ATW_OK;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &were);
	for (size_t i = 0; i < n && rc == ATW_OK; i++)
		rc = t[i]->owned ? outfile_stand_by(t[i], err) : ATW_OK;
	for (size_t i = 0; i < n && rc == ATW_OK; i++)
		rc = t[i]->owned ? outfile_place(t[i], err) : ATW_OK;
	/* While it has a temporary name, signals are blocked. */
	for (size_t i = 0; i < n && rc < 0; i++)
		outfile_close(t[i]);
	sigprocmask(SIG_SETMASK, &were, NULL);
	return rc;
}

int outfile_commit(struct outfile *t, struct atw_err *err)
{
	return outfile_commit_all(&t, 1, err);
}

void outfile_close(struct outfile *t)
{
	if (t->owned && t->fd >= 0)
		close(t->fd);
	if (t->temp)
		unlink(t->temp);
	free(t->temp);
	free(t->final);
	free(t->path);
	*t = (struct outfile){ .fd = -1 };
}
