/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap_folder.c - FUSE folder with the controls of a recording.
 *
 * Each control is there twice, in the folder and in memorizer/ below it: a program that
 * takes the folder for the mount point of debugfs finds the files in both places that
 * the documentation of Memorizer names.
 *
 * Reads and writes bypass the page cache, because contents change and the size of a file
 * is not known.
 */
#include <signal.h>

#include "kmap_recording.h"

int kmap_thread(pthread_t *ret, int but, void *(*run)(void *arg), void *arg, struct atw_err *err)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	if (but)
		sigdelset(&all, but);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(ret, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r ? atw_err_set(err, ATW_E_NOMEM, "cannot create a thread") : ATW_OK;
}

#if HAVE_FUSE3
#define FUSE_USE_VERSION 31

#include <dirent.h>
#include <fuse.h>
#include <fuse_log.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <time.h>

struct kmap_folder {
	const struct common *common;
	struct kmap_controls *controls;
	struct fuse *fuse;
	pthread_t thread;
	bool mounted, started;
};

static const char below[] = "/memorizer";

static bool folder_is(const char *path)
{
	return !strcmp(path, "/") || !strcmp(path, below);
}

static const struct kmap_control *folder_control_of(const char *path)
{
	size_t len = sizeof(below) - 1;

	if (!strncmp(path, below, len) && path[len] == '/')
		path += len;
	return kmap_control_find(path + 1);
}

static struct kmap_folder *folder_own(void)
{
	return fuse_get_context()->private_data;
}

/* The writing process gets only an errno; the recorder prints the message. */
static void folder_log(const struct kmap_control *f, int r, const struct atw_err *err)
{
	const char *hint = error_hint(err);

	if (r == -EOPNOTSUPP && err->status < 0)
		print_warning(folder_own()->common, "%s: %s%s%s", f->name, err->text,
			      *hint ? ": " : "", hint);
}

static void *folder_on_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
	config->direct_io = 1;
	config->nullpath_ok = 0;
	return folder_own();
}

static int folder_on_getattr(const char *path, struct stat *st,
			     struct fuse_file_info *info)
{
	const struct kmap_control *f = folder_control_of(path);

	if (!f && !folder_is(path))
		return -ENOENT;
	memset(st, 0, sizeof(*st));
	st->st_uid = geteuid();
	st->st_gid = getegid();
	st->st_mode = f ? S_IFREG | (f->reads ? 0400 : 0) | (f->writes ? 0200 : 0) : S_IFDIR | 0500;
	st->st_nlink = f ? 1 : 2;
	clock_gettime(CLOCK_REALTIME, &st->st_mtim);
	return 0;
}

static int folder_on_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t at,
			     struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	const struct kmap_control *f;

	if (!folder_is(path))
		return -ENOTDIR;
	fill(to, ".", NULL, 0, 0);
	fill(to, "..", NULL, 0, 0);
	if (!strcmp(path, "/"))
		fill(to, below + 1, NULL, 0, 0);
	for (size_t i = 0; (f = kmap_control_at(i)); i++)
		fill(to, f->name, NULL, 0, 0);
	return 0;
}

static struct kmap_reading *folder_reading_of(const struct fuse_file_info *info)
{
	struct kmap_reading *r;

	memcpy(&r, &info->fh, sizeof(r));
	return r;
}

static int folder_on_open(const char *path, struct fuse_file_info *info)
{
	const struct kmap_control *f = folder_control_of(path);
	int how = info->flags & O_ACCMODE;
	struct kmap_reading *r = NULL;
	struct atw_err err = { 0 };
	int ret = 0;

	if (!f)
		return -ENOENT;
	if ((how != O_WRONLY && !f->reads) || (how != O_RDONLY && !f->writes))
		return -EACCES;
	if (how != O_WRONLY)
		ret = kmap_reading_open(folder_own()->controls, f, &r, &err);
	folder_log(f, ret, &err);
	info->fh = 0;
	memcpy(&info->fh, &r, sizeof(r));
	info->direct_io = 1;
	return ret;
}

static bool folder_interrupted(void *arg)
{
	return fuse_interrupted();
}

static int folder_on_read(const char *path, char *buf, size_t len, off_t at,
			  struct fuse_file_info *info)
{
	struct kmap_reading *r = folder_reading_of(info);

	return r ? (int)kmap_reading_read(r, buf, len, (uint64_t)at, folder_interrupted,
					  NULL)
		 : -EBADF;
}

static int folder_on_write(const char *path, const char *buf, size_t len, off_t at,
			   struct fuse_file_info *info)
{
	const struct kmap_control *f = folder_control_of(path);
	struct atw_err err = { 0 };
	int r;

	if (!f)
		return -ENOENT;
	/* A write at an offset would be part of another value. */
	if (at)
		return -EINVAL;
	r = kmap_control_write(folder_own()->controls, f, buf, len, &err);
	folder_log(f, r, &err);
	return r < 0 ? r : (int)len;
}

/* For the shell's ">". */
static int folder_on_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	const struct kmap_control *f = folder_control_of(path);

	return !f ? -ENOENT : !f->writes ? -EACCES : size ? -EINVAL : 0;
}

/* New files cannot be created. */
static int folder_on_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
	return -EPERM;
}

static int folder_on_release(const char *path, struct fuse_file_info *info)
{
	kmap_reading_close(folder_reading_of(info));
	return 0;
}

/* ---- its life ---- */

/* The last message of the library. */
static char last_message[200];

ATW_PRINTF(2, 0) static void folder_on_log(enum fuse_log_level level, const char *fmt, va_list ap)
{
	vsnprintf(last_message, sizeof(last_message), fmt, ap);
	last_message[strcspn(last_message, "\n")] = '\0';
}

/* Where Memorizer's documentation mounts debugfs, which is mounted there mostly; or below. */
static bool folder_is_debugfs(const char *dir)
{
	char above[4096];
	struct statfs fs;
	char *slash;

	snprintf(above, sizeof(above), "%s", dir);
	for (size_t n = strlen(above); n > 1 && above[n - 1] == '/'; )
		above[--n] = '\0';
	slash = strrchr(above, '/');
	if (statfs(above, &fs) == 0)
		return fs.f_type == DEBUGFS_MAGIC;
	if (!slash || slash == above)
		return false;
	*slash = '\0';
	return statfs(above, &fs) == 0 && fs.f_type == DEBUGFS_MAGIC;
}

/* A mount over debugfs would hide it from all other users of this machine. */
static int folder_refuse_debugfs(const char *dir, struct atw_err *err)
{
	atw_err_set(err, ATW_E_USAGE, "--control %s: debugfs is mounted there", dir);
	atw_err_hint(err, "use an empty folder (mkdir /run/memorizer); or run it and the scripts that use /sys/kernel/debug in one shell of 'unshare -m', after 'umount -l /sys/kernel/debug'");
	return ATW_E_USAGE;
}

static int folder_is_empty(const char *dir, struct atw_err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int r = ATW_OK;

	if (folder_is_debugfs(dir))
		r = folder_refuse_debugfs(dir, err);
	else if (!d)
		r = atw_err_set(err, ATW_E_MISSING, "--control %s: %s", dir, strerror(errno));
	while (r == ATW_OK && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
			r = atw_err_set(err, ATW_E_USAGE, "--control %s: the folder is not empty", dir);
			atw_err_hint(err, "use an empty folder: its files would be hidden");
		}
	if (d)
		closedir(d);
	return r;
}

int kmap_folder_open(const char *dir, struct kmap_folder **ret, struct atw_err *err)
{
	static const struct fuse_operations ops = {
		.init = folder_on_init,
		.getattr = folder_on_getattr,
		.readdir = folder_on_readdir,
		.open = folder_on_open,
		.read = folder_on_read,
		.write = folder_on_write,
		.truncate = folder_on_truncate,
		.create = folder_on_create,
		.release = folder_on_release,
	};
	/* auto_unmount: also if this process is killed. */
	char *argv[] = { (char *)"atwalk", (char *)"-o",
			 (char *)"auto_unmount,default_permissions,fsname=atwalk-kmap,subtype=atwalk", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct kmap_folder *f;
	int r = folder_is_empty(dir, err);

	if (r < 0)
		return r;
	f = calloc(1, sizeof(*f));
	if (!f)
		return atw_err_nomem(err);
	fuse_set_log_func(folder_on_log);
	f->fuse = fuse_new(&args, &ops, sizeof(ops), f);
	f->mounted = f->fuse && fuse_mount(f->fuse, dir) == 0;
	fuse_opt_free_args(&args);
	if (!f->mounted) {
		kmap_folder_close(f);
		return atw_err_set(err, ATW_E_IO, "--control %s: cannot mount it: %s", dir,
				   last_message[0] ? last_message : strerror(errno));
	}
	*ret = f;
	return ATW_OK;
}

/* A handler that does nothing: the signal interrupts a system call. */
static void folder_nothing(int number)
{
}

static void *folder_serve(void *arg)
{
	struct kmap_folder *f = arg;

	fuse_loop_mt(f->fuse, 0);
	return NULL;
}

int kmap_folder_start(struct kmap_folder *f, const struct common *c,
		      struct kmap_controls *controls, struct atw_err *err)
{
	struct sigaction a = {.sa_handler = folder_nothing};
	int r;

	if (!f)
		return ATW_OK;
	f->common = c;
	f->controls = controls;
	sigaction(SIGUSR1, &a, NULL);
	r = kmap_thread(&f->thread, SIGUSR1, folder_serve, f, err);
	f->started = r == ATW_OK;
	return r;
}

/* false: the folder is still in use after two seconds. */
static bool folder_stop(struct kmap_folder *f)
{
	fuse_exit(f->fuse);
	for (unsigned n = 0; n < 100; n++) {
		struct timespec until;

		pthread_kill(f->thread, SIGUSR1);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 20000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (!pthread_timedjoin_np(f->thread, NULL, &until))
			return true;
	}
	return false;
}

bool kmap_folder_close(struct kmap_folder *f)
{
	/* If it is still in use, it is unmounted when the program ends. */
	if (!f)
		return true;
	if (f->started && !folder_stop(f))
		return false;
	if (f->mounted)
		fuse_unmount(f->fuse);
	if (f->fuse)
		fuse_destroy(f->fuse);
	free(f);
	return true;
}

#else

struct kmap_folder {
	char unused;
};

int kmap_folder_open(const char *dir, struct kmap_folder **ret, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "--control %s: this build has no FUSE (libfuse3); use --control-socket", dir);
}

int kmap_folder_start(struct kmap_folder *f, const struct common *c,
		      struct kmap_controls *controls, struct atw_err *err)
{
	return ATW_OK;
}

bool kmap_folder_close(struct kmap_folder *f)
{
	return true;
}

#endif
