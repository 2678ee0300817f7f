/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scan.c - every descriptor of every process that is of a device or a dma-buf. */
#include "drm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "host/host_file.h"

enum { SCAN_FDINFO = 64 << 10, SCAN_MAPS = 256 << 20 };

bool drm_link_name(const char *path, char *ret, size_t len)
{
	char to[4096];
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	const char *slash;

	if (n <= 0)
		return false;
	to[n] = '\0';
	slash = strrchr(to, '/');
	snprintf(ret, len, "%s", slash ? slash + 1 : to);
	return *ret;
}

struct scan {
	const char *root;
	bool maps;
	drm_scan_fn *fn;
	void *arg;
	struct drm_scan now;
	struct buf text;
};

/* Can the descriptor be of a device? A copy of /proc has no links: then fdinfo decides. */
static bool scan_may_be(const char *path, uint64_t *inode)
{
	static const char *const heads[] = { "/dev/dri/", "/dev/accel/", "/dmabuf", "anon_inode:dmabuf" };
	char to[512];
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	struct stat st;

	*inode = 0;
	if (n < 0)
		return true;
	to[n] = '\0';
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (text_begins(to, heads[i])) {
			*inode = stat(path, &st) < 0 ? 0 : st.st_ino;
			return true;
		}
	return false;
}

static int scan_fds(struct scan *s, const uint32_t *fd, size_t n, struct atw_err *err)
{
	char path[600];
	int r = ATW_OK;

	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		snprintf(path, sizeof(path), "%s/proc/%" PRIu64 "/fd/%u", s->root, s->now.pid, fd[i]);
		if (!scan_may_be(path, &s->now.inode))
			continue;
		snprintf(path, sizeof(path), "%s/proc/%" PRIu64 "/fdinfo/%u", s->root, s->now.pid, fd[i]);
		s->text.len = 0;
		if (host_file_all(path, SCAN_FDINFO, &s->text, NULL) < 0 || !s->text.len)
			continue;
		s->now.fd = (int)fd[i];
		s->now.text = s->text.data;
		s->now.len = s->text.len;
		r = s->fn(s->arg, &s->now, err);
	}
	return r;
}

static int scan_maps(struct scan *s, struct atw_err *err)
{
	char path[600];
	int r = ATW_OK;

	snprintf(path, sizeof(path), "%s/proc/%" PRIu64 "/maps", s->root, s->now.pid);
	s->text.len = 0;
	if (host_file_all(path, SCAN_MAPS, &s->text, NULL) < 0 || !s->text.len)
		return ATW_OK;
	for (const char *at = s->text.data, *end = at + s->text.len, *line; at < end && r == ATW_OK;
	     at = line + 1) {
		line = memchr(at, '\n', (size_t)(end - at));
		line = line ? line : end;
		if (!memmem(at, (size_t)(line - at), "/dmabuf:", 8))
			continue;
		s->now.fd = -1;
		s->now.inode = 0;
		s->now.text = at;
		s->now.len = (size_t)(line - at);
		r = s->fn(s->arg, &s->now, err);
	}
	return r;
}

/* The first eight have names: a user may have the rights for few of all processes. */
static void scan_add_denied(struct drm_denied *d, uint32_t pid, const char *task, int why)
{
	enum { NAMED = 8 };
	size_t len = strlen(d->names);

	if (!d->n++)
		d->why = why;
	if (d->n <= NAMED)
		snprintf(d->names + len, sizeof(d->names) - len, "%s%u%s%.16s%s", len ? ", " : "", pid,
			 *task ? " (" : "", task, *task ? ")" : "");
	else if (d->n == NAMED + 1)
		snprintf(d->names + len, sizeof(d->names) - len, ", ...");
}

static int scan_process(struct scan *s, uint32_t pid, struct drm_denied *denied,
			struct atw_err *err)
{
	char path[600], task[64] = "";
	uint32_t *fd = NULL;
	size_t n = 0;
	int r;

	s->now = (struct drm_scan){ .pid = pid, .task = task };
	snprintf(path, sizeof(path), "%s/proc/%u/comm", s->root, pid);
	if (!host_file_text(path, task, sizeof(task)))
		*task = '\0';
	snprintf(path, sizeof(path), "%s/proc/%u/fdinfo", s->root, pid);
	r = host_numbers(path, &fd, &n, NULL);
	if (r == ATW_E_NOMEM)
		return atw_err_nomem(err);
	/* Otherwise it has ended. */
	if (r < 0 && (errno == EACCES || errno == EPERM))
		scan_add_denied(denied, pid, task, errno);
	r = r < 0 ? ATW_OK : scan_fds(s, fd, n, err);
	free(fd);
	if (r == ATW_OK && s->maps)
		r = scan_maps(s, err);
	return r;
}

int drm_scan(const char *root, bool maps, drm_scan_fn *fn, void *arg, struct drm_denied *denied,
	     struct atw_err *err)
{
	struct scan s = { .root = root, .maps = maps, .fn = fn, .arg = arg };
	uint32_t *pid = NULL;
	size_t n = 0;
	char path[600];
	int r;

	*denied = (struct drm_denied){ 0 };
	snprintf(path, sizeof(path), "%s/proc", root);
	r = host_numbers(path, &pid, &n, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = scan_process(&s, pid[i], denied, err);
	free(pid);
	buf_deinit(&s.text);
	return r;
}
