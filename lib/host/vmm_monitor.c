// SPDX-License-Identifier: GPL-2.0-or-later
/* vmm_monitor.c - qmp_capabilities, query-memdev, "info mtree -f" and gpa2hva over a socket. */
#include "host/vmm_monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "format/qmp.h"

enum {
	MONITOR_FIRST_MS = 300,  /* it is busy if it has not greeted then */
	MONITOR_ALL_MS = 3000,
	MONITOR_MAX = 4 << 20,
	MONITOR_PAGE = 4096,
};

struct monitor {
	int fd;
	struct buf in;
	size_t used;             /* of these bytes */
	int64_t deadline;        /* milliseconds */
};

static int64_t monitor_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the socket ---- */

static int monitor_cannot(const char *path, int e, struct atw_err *err)
{
	if (e == EAGAIN)
		return atw_err_set(err, ATW_E_IO,
				   "the monitor at '%.160s' does not answer, as if another "
				   "client used it", path);
	return atw_err_set(err, io_status(e), "the monitor at '%.160s' cannot be used: %s", path,
			   strerror(e));
}

/* Its address may be longer than one of a socket may be, so a descriptor leads to it. */
static int monitor_find(uint32_t pid, const char *path, bool named)
{
	char whole[PATH_MAX];

	if (named)
		return open(path, O_PATH | O_CLOEXEC);
	snprintf(whole, sizeof(whole), "/proc/%" PRIu32 "/%s%.3800s", pid,
		 *path == '/' ? "root" : "cwd/", path);
	return open(whole, O_PATH | O_CLOEXEC);
}

static int monitor_connect(struct monitor *m, uint32_t pid, const char *path, bool named,
			   struct atw_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	_auto_fd int at = monitor_find(pid, path, named);
	struct ucred peer;
	socklen_t len = sizeof(peer);

	m->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (at < 0 || m->fd < 0)
		return monitor_cannot(path, errno, err);
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", at);
	if (connect(m->fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockopt(m->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return monitor_cannot(path, errno, err);
	/* A command line may name any socket. */
	if (!named && (uint32_t)peer.pid != pid)
		return atw_err_set(err, ATW_E_FORMAT,
				   "another process than %" PRIu32 " listens at '%.160s'", pid, path);
	return ATW_OK;
}

/* ---- lines ---- */

/* Waits until the deadline, and takes what is there even behind it; false: see errno. */
static bool monitor_wait(const struct monitor *m, short events)
{
	struct pollfd p = { .fd = m->fd, .events = events };
	int64_t left = m->deadline - monitor_now();
	int n = poll(&p, 1, left > 0 ? (int)left : 0);

	if (!n)
		errno = EAGAIN;
	return n > 0 || (n < 0 && errno == EINTR);
}

/* The next one, without its end; valid until the next call. */
static int monitor_line(struct monitor *m, const char *path, struct atw_blob *ret,
			struct atw_err *err)
{
	size_t seen = m->used;
	char part[16384];

	for (;;) {
		const char *s = m->in.data ? m->in.data + m->used : "";
		const char *e = m->in.data ? memchr(m->in.data + seen, '\n', m->in.len - seen) : NULL;
		ssize_t n;

		seen = m->in.len;
		if (e) {
			*ret = (struct atw_blob){ s, (size_t)(e - s) };
			m->used += ret->len + 1;
			return ATW_OK;
		}
		if (m->in.len > MONITOR_MAX)
			return atw_err_set(err, ATW_E_LIMIT,
					   "the monitor at '%.160s' sends a line without end", path);
		if (!monitor_wait(m, POLLIN))
			return monitor_cannot(path, errno, err);
		n = read(m->fd, part, sizeof(part));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return monitor_cannot(path, errno, err);
		if (!n)
			return atw_err_set(err, ATW_E_IO, "the monitor at '%.160s' closed the connection",
					   path);
		buf_add(&m->in, part, (size_t)n);
		if (m->in.failed)
			return atw_err_nomem(err);
	}
}

/* What it answers that is no event. */
static int monitor_answer(struct monitor *m, const char *path, enum qmp_kind want,
			  struct atw_blob *ret, struct atw_err *err)
{
	struct atw_blob line = { 0 };
	enum qmp_kind kind;
	int r;

	do {
		r = monitor_line(m, path, &line, err);
		if (r < 0)
			return r;
		kind = qmp_line(line, ret);
	} while (kind == QMP_EVENT);
	if (kind == QMP_ERROR)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "the monitor at '%.160s' refuses: %.*s", path,
				   (int)(ret->len > 160 ? 160 : ret->len), (const char *)ret->data);
	if (kind != want)
		return atw_err_set(err, ATW_E_FORMAT, "what is at '%.160s' is not a monitor of QEMU (QMP)",
				   path);
	return ATW_OK;
}

static int monitor_ask(struct monitor *m, const char *path, const char *command,
		       struct atw_blob *ret, struct atw_err *err)
{
	size_t len = strlen(command);

	while (len) {
		ssize_t n = send(m->fd, command, len, MSG_NOSIGNAL);

		if (n < 0 && ((errno != EAGAIN && errno != EINTR) || !monitor_wait(m, POLLOUT)))
			return monitor_cannot(path, errno, err);
		command += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return monitor_answer(m, path, QMP_RETURN, ret, err);
}

/* A command of the human monitor; *text is replaced. */
static int monitor_ask_human(struct monitor *m, const char *path, const char *command,
			     struct buf *text, struct atw_err *err)
{
	struct atw_blob value = { 0 };
	char json[160];
	int r;

	snprintf(json, sizeof(json),
		 "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"%s\"}}\n",
		 command);
	r = monitor_ask(m, path, json, &value, err);
	if (r < 0)
		return r;
	text->len = 0;
	buf_add(text, "", 0);
	qmp_text(value, text);
	return text->failed ? atw_err_nomem(err) : ATW_OK;
}

/* ---- sections ---- */

struct monitor_slots {
	struct vmm_slot *v;
	size_t n, cap;
};

static int monitor_add(struct monitor *m, const char *path, const struct qmp_section *q,
		       struct monitor_slots *to, struct atw_err *err)
{
	uint64_t up = -q->gpa & (MONITOR_PAGE - 1);
	uint64_t len = q->len > up ? (q->len - up) & -(uint64_t)MONITOR_PAGE : 0;
	struct vmm_slot s = { .gpa = q->gpa + up, .len = len, .read_only = q->read_only };
	struct buf text = { 0 };
	char command[48];
	int r;

	if (!len)
		return ATW_OK;
	if (to->n == VMM_SLOTS)
		return atw_err_set(err, ATW_E_LIMIT, "the monitor at '%.160s' has more than %d pieces of RAM",
				   path, VMM_SLOTS);
	snprintf(command, sizeof(command), "gpa2hva 0x%" PRIx64, s.gpa);
	r = monitor_ask_human(m, path, command, &text, err);
	if (r == ATW_OK &&
	    (!qmp_host_address((struct atw_blob){ text.data, text.len }, s.gpa, &s.address) ||
	     s.address % MONITOR_PAGE || s.address + s.len < s.len || s.gpa + s.len < s.len))
		r = atw_err_set(err, ATW_E_FORMAT,
				"the monitor at '%.160s' does not say where the process has "
				"0x%" PRIx64 " of the guest", path, s.gpa);
	buf_deinit(&text);
	if (r < 0)
		return r;
	if (!ARRAY_ROOM(to->v, to->n, to->cap))
		return atw_err_nomem(err);
	to->v[to->n++] = s;
	return ATW_OK;
}

static int monitor_read_sections(struct monitor *m, const char *path, struct atw_blob memdevs,
				 struct atw_blob mtree, struct monitor_slots *to,
				 struct atw_err *err)
{
	struct atw_blob sections;
	struct qmp_section q;
	size_t pos = 0, twice;
	int r = ATW_OK;

	if (!qmp_find_memory(mtree, &sections))
		return atw_err_set(err, ATW_E_FORMAT, "the monitor at '%.160s' shows no memory", path);
	/* Other blocks are ROMs, and memory of devices. */
	while (r == ATW_OK && qmp_next_section(sections, &pos, &q) == ATW_OK)
		if (qmp_has_backend(memdevs, q.block))
			r = monitor_add(m, path, &q, to, err);
	if (r < 0)
		return r;
	if (!to->n || !vmm_slots_sort(to->v, to->n, &twice))
		return atw_err_set(err, ATW_E_FORMAT, "the monitor at '%.160s' shows no RAM, or some of it twice",
				   path);
	return ATW_OK;
}

static int monitor_read(struct monitor *m, const char *path, struct monitor_slots *to,
			struct atw_err *err)
{
	struct buf memdevs = { 0 }, mtree = { 0 };
	struct atw_blob value;
	int r = monitor_answer(m, path, QMP_GREETING, &value, err);

	m->deadline += MONITOR_ALL_MS - MONITOR_FIRST_MS;
	r = r ?: monitor_ask(m, path, "{\"execute\":\"qmp_capabilities\"}\n", &value, err) ?:
	    monitor_ask(m, path, "{\"execute\":\"query-memdev\"}\n", &value, err);
	if (r == ATW_OK) {
		buf_add(&memdevs, value.data, value.len);
		r = memdevs.failed ? atw_err_nomem(err)
				   : monitor_ask_human(m, path, "info mtree -f", &mtree, err);
	}
	if (r == ATW_OK)
		r = monitor_read_sections(m, path, (struct atw_blob){ memdevs.data, memdevs.len },
					  (struct atw_blob){ mtree.data, mtree.len }, to, err);
	buf_deinit(&memdevs);
	buf_deinit(&mtree);
	return r;
}

int vmm_monitor_slots(uint32_t pid, const char *path, bool named, struct vmm_slot **ret, size_t *n,
		      struct atw_err *err)
{
	struct monitor m = { .fd = -1, .deadline = monitor_now() + MONITOR_FIRST_MS };
	struct monitor_slots to = { .n = 0 };
	int r = monitor_connect(&m, pid, path, named, err) ?: monitor_read(&m, path, &to, err);

	if (m.fd >= 0)
		close(m.fd);
	buf_deinit(&m.in);
	if (r < 0) {
		free(to.v);
		return r;
	}
	*ret = to.v;
	*n = to.n;
	return ATW_OK;
}
