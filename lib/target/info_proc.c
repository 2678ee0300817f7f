/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_proc.c - records of a task and of the files it maps, from /proc/PID. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "target/info.h"
#include "target/procfs.h"
#include "host/host_file.h"

/* ---- /proc/PID/stat ---- */

static bool info_proc_pair(const uint64_t *v, struct capture_pair *ret)
{
	*ret = (struct capture_pair){ v[0], v[1] };
	/* The kernel shows 0, or 1 for code, to readers without permission. */
	return v[0] > 1 && v[1] >= v[0];
}

int about_stat(struct atw_blob text, struct task_about *ret)
{
	struct task_about *a = ret;
	uint64_t v[FIELDS] = { 0 }, pid;
	struct atw_blob number, name;
	unsigned n = proc_stat_fields(text, &number, &name, v);

	if (n <= F_START || !number.len || !num_dec(number.data, number.len - 1, &pid))
		return ATW_E_FORMAT;
	*a = (struct task_about){ .has = CAPTURE_T_TGID | CAPTURE_T_PPID | CAPTURE_T_FAULTS |
		CAPTURE_T_TIMES | CAPTURE_T_THREADS | CAPTURE_T_START | CAPTURE_T_KTHREAD };
	blob_text(name, a->name, sizeof(a->name));
	about_text(&a->t.name, a->name, sizeof(a->name));
	a->t.pid = a->t.tgid = pid;
	a->t.ppid = v[F_PPID];
	a->t.minor = v[F_MINOR];
	a->t.child_minor = v[F_CHILD_MINOR];
	a->t.major = v[F_MAJOR];
	a->t.child_major = v[F_CHILD_MAJOR];
	a->t.user = v[F_USER];
	a->t.system = v[F_SYSTEM];
	a->t.threads = v[F_THREADS];
	a->t.kthread = !!(v[F_FLAGS] & PF_KTHREAD);
	a->t.start = v[F_START];
	a->t.cpu = v[F_CPU];
	a->t.stack = v[F_STACK];
	a->has |= (n > F_CPU ? CAPTURE_T_CPU : 0) | (v[F_STACK] ? CAPTURE_T_STACK : 0) |
		  (info_proc_pair(&v[F_CODE], &a->t.code) ? CAPTURE_T_CODE : 0) |
		  (info_proc_pair(&v[F_DATA], &a->t.data) ? CAPTURE_T_DATA : 0);
	a->t.brk.a = v[F_BRK];
	return ATW_OK;
}

/* ---- other files ---- */

/*
 * "4:memory:/a" where memory has a tree of its own, else "0::/a", in a text that
 * has a line for each tree.
 */
bool about_cgroup(struct atw_blob text, char *buf, size_t len)
{
	const char *s = text.data, *end = s + text.len, *best = NULL, *best_end = NULL;

	while (s < end) {
		const char *e = memchr(s, '\n', (size_t)(end - s)), *first, *second;
		bool memory = false;

		e = e ? e : end;
		first = memchr(s, ':', (size_t)(e - s));
		second = first ? memchr(first + 1, ':', (size_t)(e - first - 1)) : NULL;
		for (const char *c = first; second && c < second; c++) {
			const char *next = memchr(c + 1, ',', (size_t)(second - c - 1));

			next = next ? next : second;
			memory |= next - c - 1 == 6 && !memcmp(c + 1, "memory", 6);
			c = next - (next == second ? 0 : 1);
		}
		if (second && (memory || (second == first + 1 && !best))) {
			best = second + 1;
			best_end = e;
		}
		if (memory)
			break;
		s = e + 1;
	}
	if (!best || (size_t)(best_end - best) >= len)
		return false;
	memcpy(buf, best, (size_t)(best_end - best));
	buf[best_end - best] = '\0';
	return true;
}

static void info_proc_uid_of(uint32_t pid, struct task_about *a)
{
	struct buf text;
	unsigned long uid;
	char what[16];

	snprintf(what, sizeof(what), "%" PRIu32, pid);
	if (host_status(what, &text) &&
	    sscanf(host_status_field(&text, "Uid"), "%lu", &uid) == 1) {
		a->t.uid = uid;
		a->has |= CAPTURE_T_UID;
	}
	buf_deinit(&text);
}

static void info_proc_names_of(uint32_t pid, struct task_about *a)
{
	struct buf text = { 0 };

	if (host_proc_all(pid, "cgroup", 1 << 16, &text, NULL) == ATW_OK && text.len &&
	    about_cgroup((struct atw_blob){ text.data, text.len }, a->cgroup, sizeof(a->cgroup))) {
		about_text(&a->t.cgroup, a->cgroup, sizeof(a->cgroup));
		a->has |= CAPTURE_T_CGROUP;
	}
	buf_deinit(&text);
	if (host_proc_exe(pid, a->exe, sizeof(a->exe)) && a->exe[0]) {
		about_text(&a->t.exe, a->exe, sizeof(a->exe));
		a->has |= CAPTURE_T_EXE;
	}
}

static int info_proc_stat_file(const char *path, struct task_about *ret,
			       struct atw_err *err)
{
	char text[1024];

	if (!host_file_text(path, text, sizeof(text)))
		return atw_err_set(err, errno == ENOENT || errno == ESRCH ? ATW_E_MISSING : ATW_E_IO,
				   "%s: %s", path, strerror(errno));
	if (about_stat((struct atw_blob){ text, strlen(text) }, ret) < 0)
		return atw_err_set(err, ATW_E_FORMAT, "%s: '%.40s' is not what it should be",
				   path, text);
	return ATW_OK;
}

int about_stat_of(uint32_t pid, struct task_about *ret, struct atw_err *err)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	return info_proc_stat_file(path, ret, err);
}

int about_thread(uint32_t pid, uint32_t tid, struct task_about *ret, struct atw_err *err)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
	r = info_proc_stat_file(path, ret, err);
	if (r < 0)
		return r;
	ret->t.tgid = pid;
	ret->has &= CAPTURE_T_TGID | CAPTURE_T_PPID | CAPTURE_T_START | CAPTURE_T_CPU |
		    CAPTURE_T_FAULTS | CAPTURE_T_TIMES | CAPTURE_T_KTHREAD;
	return ATW_OK;
}

/* A main thread that has ended no longer says where its program lies. */
static void info_proc_memory_of(uint32_t thread, struct task_about *a)
{
	_auto_free struct task_about *k = malloc(sizeof(*k));
	const uint32_t has = CAPTURE_T_STACK | CAPTURE_T_CODE | CAPTURE_T_DATA;

	if (!k || about_stat_of(thread, k, NULL) < 0)
		return;
	a->t.stack = k->t.stack;
	a->t.code = k->t.code;
	a->t.data = k->t.data;
	a->t.brk = k->t.brk;
	a->has = (a->has & ~has) | (k->has & has);
}

int about_proc(uint32_t pid, uint32_t thread, uint64_t heap, struct task_about *ret,
	       struct atw_err *err)
{
	int r = about_stat_of(pid, ret, err);

	if (r < 0)
		return r;
	if (thread != pid)
		info_proc_memory_of(thread, ret);
	if (ret->t.brk.a > 1) {
		ret->t.brk.b = heap > ret->t.brk.a ? heap : ret->t.brk.a;
		ret->has |= CAPTURE_T_BRK;
	}
	info_proc_uid_of(pid, ret);
	info_proc_names_of(thread, ret);
	return ATW_OK;
}

/* ---- what it maps ---- */

enum { HEAD = 4096, NOTES = 4096 };

/* Devices are not opened: that may be an order to them. */
static int info_proc_open_plain(const char *path, struct stat *st)
{
	_auto_fd int at = open(path, O_PATH | O_CLOEXEC);
	char self[48];
	int fd;

	if (at < 0 || fstat(at, st) < 0 || !S_ISREG(st->st_mode))
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NOATIME);
	return fd >= 0 || errno != EPERM ? fd : open(self, O_RDONLY | O_CLOEXEC);
}

/* The very file; or what has its name now, if that is the same one. */
static int info_proc_open_mapped(uint32_t pid, const struct atw_area *a)
{
	char path[80];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
		 a->start.u, a->end.u);
	fd = info_proc_open_plain(path, &st);
	if (fd >= 0 || a->name[0] != '/')
		return fd;
	fd = info_proc_open_plain(a->name, &st);
	if (fd < 0 || (major(st.st_dev) == a->major && minor(st.st_dev) == a->minor &&
		       st.st_ino == a->inode))
		return fd;
	close(fd);
	return -1;
}

int about_proc_file(uint32_t pid, const struct atw_area *a, struct elfunit *ret)
{
	_auto_fd int fd = info_proc_open_mapped(pid, a);
	uint8_t head[HEAD], notes[NOTES];
	struct elfunit u;
	ssize_t n;

	if (fd < 0)
		return ATW_E_MISSING;
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return ATW_E_MISSING;
	if (elfunit_parse((struct atw_blob){ head, (size_t)n }, &u) < 0)
		return ATW_E_FORMAT;
	if (!u.build.len && u.notes_len && u.notes <= INT64_MAX) {
		n = pread(fd, notes, u.notes_len < NOTES ? u.notes_len : NOTES, (off_t)u.notes);
		if (n > 0)
			elfunit_notes((struct atw_blob){ notes, (size_t)n }, &u);
	}
	*ret = u;
	return ATW_OK;
}
