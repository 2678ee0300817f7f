/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_file.c - small files of /proc and /sys of the running kernel. */
#include "host/host_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/num.h"
#include "base/sorted.h"
#include "host/host.h"

bool host_file_text(const char *path, char *buf, size_t len)
{
	_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : io_read_some(fd, buf, len - 1);

	if (n < 0)
		return false;
	if (n && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return true;
}

int host_file_paced(const char *path, size_t max, struct pace *pace, struct buf *ret,
		    struct atw_err *err)
{
	size_t len = pace_slice(pace, 256 * 1024);
	_auto_free char *chunk = malloc(256 * 1024);
	_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return atw_err_set(err, errno == ENOENT || errno == ESRCH ? ATW_E_MISSING :
				   errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
				   "%s: %s", path, strerror(errno));
	while (chunk) {
		pace_wait(pace);
		n = io_read_some(fd, chunk, len);
		if (!n)
			break;
		if (n < 0)
			return atw_err_set(err, errno == ESRCH ? ATW_E_MISSING : ATW_E_IO,
					   "%s: %s", path, strerror(errno));
		if (ret->len + (size_t)n > max)
			return atw_err_set(err, ATW_E_LIMIT, "%s: is larger than %zu bytes",
					   path, max);
		pace_done(pace, pace ? &pace->proc : NULL, (uint64_t)n);
		buf_add(ret, chunk, (size_t)n);
	}
	return !chunk || ret->failed ? atw_err_nomem(err) : ATW_OK;
}

int host_file_all(const char *path, size_t max, struct buf *ret, struct atw_err *err)
{
	return host_file_paced(path, max, NULL, ret, err);
}

int host_proc_all(uint32_t pid, const char *name, size_t max, struct buf *ret,
		  struct atw_err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	return host_file_all(path, max, ret, err);
}

bool host_proc_exe(uint32_t pid, char *ret, size_t len)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
	n = readlink(path, ret, len - 1);
	if (n < 0)
		return false;
	ret[n] = '\0';
	return true;
}

/* ---- folders of /proc ---- */

int host_numbers(const char *path, uint32_t **ret, size_t *n, struct atw_err *err)
{
	DIR *d = opendir(path);
	uint32_t *v = NULL;
	struct dirent *e;
	size_t len = 0, cap = 0;
	uint64_t pid;

	if (!d)
		return atw_err_set(err, ATW_E_IO, "%s: %s", path, strerror(errno));
	while ((e = readdir(d))) {
		if (!num_dec(e->d_name, strlen(e->d_name), &pid) || pid > UINT32_MAX)
			continue;
		if (!ARRAY_ROOM(v, len, cap)) {
			closedir(d);
			free(v);
			return atw_err_nomem(err);
		}
		v[len++] = (uint32_t)pid;
	}
	closedir(d);
	SORT(v, len, sorted_by_u32);
	*ret = v;
	*n = len;
	return ATW_OK;
}

/* ---- /proc/PID/status ---- */

/* 65536 groups of up to 10 digits, and the rest. */
enum { STATUS_MAX = 1 << 20 };

bool host_status(const char *what, struct buf *ret)
{
	struct buf text = { 0 };
	char path[64];
	int r;

	*ret = text;
	snprintf(path, sizeof(path), "/proc/%s/status", what);
	r = host_file_all(path, STATUS_MAX, &text, NULL);
	if (r == ATW_OK && text.len) {
		*ret = text;
		return true;
	}
	buf_deinit(&text);
	if (r == ATW_OK || r == ATW_E_LIMIT || r == ATW_E_NOMEM)
		errno = r == ATW_E_NOMEM ? ENOMEM : EIO;
	return false;
}

const char *host_status_field(const struct buf *status, const char *key)
{
	size_t n = strlen(key);

	for (const char *s = status->data; s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (!strncmp(s, key, n) && s[n] == ':')
			return s + n + 1 + strspn(s + n + 1, "\t ");
	}
	return "";
}

/* ---- types ---- */

enum { BTF_MAX = 64 * 1024 * 1024 };

int host_btf_read(struct host_btf *ret, struct atw_err *err)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	struct host_btf b = { 0 };
	int r = ATW_OK;

	/* Since 6.16 it can be mapped; a read returns 4 KiB at a time. */
	if (file_open(path, &b.file, NULL) < 0)
		r = host_file_all(path, BTF_MAX, &b.copy, err);
	if (r == ATW_E_MISSING && host_check_sys(path, err) == ATW_OK)
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"this kernel does not describe its types (no %s: CONFIG_DEBUG_INFO_BTF)",
				path);
	b.bytes = b.file.map.data ? b.file.map : (struct atw_blob){ b.copy.data, b.copy.len };
	if (r == ATW_OK)
		*ret = b;
	else
		host_btf_close(&b);
	return r;
}

void host_btf_close(struct host_btf *b)
{
	file_close(&b->file);
	buf_deinit(&b->copy);
	*b = (struct host_btf){ 0 };
}
