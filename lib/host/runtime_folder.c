/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runtime_folder.c - files that only this user can have written. */
#include "host/runtime_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool runtime_folder_path(char *ret, size_t len)
{
	const char *own = getenv("ATWALK_RUNTIME_DIR"), *xdg = getenv("XDG_RUNTIME_DIR");
	int n = 0;

	if (getauxval(AT_SECURE))
		return false;
	if (own)
		n = snprintf(ret, len, "%s", own);
	else if (!geteuid())
		n = snprintf(ret, len, "/run/atwalk");
	else if (xdg)
		n = snprintf(ret, len, "%s/atwalk", xdg);
	return n > 0 && (size_t)n < len && *ret == '/';
}

static bool folder_is_ours(int fd, mode_t kind)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static int folder_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || folder_is_ours(fd, S_IFDIR))
		return fd;
	close(fd);
	return -1;
}

uint64_t runtime_folder_sum(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* The sum of what is behind it comes first. */
static void *folder_read(int fd, size_t most, size_t *ret_len)
{
	uint64_t sum;
	struct stat st;
	size_t len;
	void *data;

	if (!folder_is_ours(fd, S_IFREG) || fstat(fd, &st) < 0 ||
	    (uint64_t)st.st_size <= sizeof(sum) || (uint64_t)st.st_size - sizeof(sum) > most)
		return NULL;
	len = (size_t)st.st_size - sizeof(sum);
	data = malloc(len);
	if (data && read(fd, &sum, sizeof(sum)) == sizeof(sum) &&
	    read(fd, data, len) == (ssize_t)len && sum == runtime_folder_sum(0, data, len)) {
		*ret_len = len;
		return data;
	}
	free(data);
	return NULL;
}

void *runtime_folder_read(const char *folder, const char *name, size_t most, size_t *ret_len)
{
	int at = folder_open(folder), fd;
	void *data = NULL;

	if (at < 0)
		return NULL;
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		data = folder_read(fd, most, ret_len);
		close(fd);
	}
	close(at);
	return data;
}

static void folder_forget_ended(int at)
{
	int again = dup(at);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;
	unsigned pid;

	if (!d && again >= 0)
		close(again);
	while (d && (e = readdir(d)))
		if (sscanf(e->d_name, "guest-%u-", &pid) == 1 && pid &&
		    kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			unlinkat(at, e->d_name, 0);
	if (d)
		closedir(d);
}

void runtime_folder_write(const char *folder, const char *name, const void *data, size_t len)
{
	char beside[64];
	int at, fd;

	mkdir(folder, 0700);
	at = folder_open(folder);
	if (at < 0)
		return;
	folder_forget_ended(at);
	snprintf(beside, sizeof(beside), "new-%ld", (long)getpid());
	unlinkat(at, beside, 0);
	fd = openat(at, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		uint64_t sum = runtime_folder_sum(0, data, len);
		bool whole = write(fd, &sum, sizeof(sum)) == sizeof(sum) &&
			     write(fd, data, len) == (ssize_t)len;

		if (close(fd) < 0 || !whole || renameat(at, beside, at, name) < 0)
			unlinkat(at, beside, 0);
	}
	close(at);
}
