/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap_socket.c - UNIX socket with the controls of a recording, for systems without FUSE.
 */
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "kmap_recording.h"

enum {
	CLIENTS = 16,            /* at once; others wait */
	LINE = 256,
	CHUNK = 1 << 16,
	WAITS = 500,             /* of 10 ms, until one of them may have its place */
};
/* A client that reads nothing for this long is disconnected if others wait. */
#define STUCK (10 * SECOND)

struct client {
	struct kmap_socket *socket;
	pthread_t thread;
	int fd;                  /* -1: no client */
	bool ended;              /* its thread can be joined */
	_Atomic bool idle;       /* it has not asked for anything yet, or has its answer */
	_Atomic bool sending;    /* it is being answered */
	_Atomic uint64_t since;  /* when that began, or it took the last of the answer */
};

struct kmap_socket {
	struct kmap_controls *controls;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd;
	bool started;
	_Atomic bool stop;
	pthread_t thread;
	pthread_mutex_t lock;    /* of the clients */
	struct client client[CLIENTS];
};

/* ---- one client ---- */

/* The recorder ignores SIGPIPE. */
static bool socket_send_all(int fd, const char *buf, size_t len)
{
	return io_write(fd, buf, len) == len;
}

ATW_PRINTF(2, 3) static bool socket_printf(int fd, const char *fmt, ...)
{
	char line[LINE + sizeof(((struct atw_err *)0)->text)];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return n > 0 && (size_t)n < sizeof(line) && socket_send_all(fd, line, (size_t)n);
}

static bool socket_refuse(int fd, int status, const struct atw_err *err)
{
	return socket_printf(fd, "error %d %s\n", -status,
			     err->status < 0 ? err->text : strerror(-status));
}

/* Has the client disconnected, or does the recording end? */
static bool socket_is_gone(void *arg)
{
	const struct client *c = arg;
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };

	return c->socket->stop || (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR));
}

/* Read from a control, which may wait for more data, but not for the client. */
static ssize_t socket_read_some(struct client *c, struct kmap_reading *r, char *buf,
				uint64_t at)
{
	ssize_t n;

	c->sending = false;
	n = kmap_reading_read(r, buf, CHUNK, at, socket_is_gone, c);
	c->since = now();
	c->sending = true;
	return n;
}

static bool socket_answer_read(struct client *c, const struct kmap_control *f)
{
	struct kmap_reading *r = NULL;
	struct atw_err err = { 0 };
	_auto_free char *buf = malloc(CHUNK);
	uint64_t at = 0;
	ssize_t n = buf ? kmap_reading_open(c->socket->controls, f, &r, &err) : -ENOMEM;
	bool fine = true;

	if (n < 0)
		return socket_refuse(c->fd, (int)n, &err);
	while (fine && (n = socket_read_some(c, r, buf, at)) > 0) {
		fine = socket_printf(c->fd, "data %zd\n", n) &&
		       socket_send_all(c->fd, buf, (size_t)n);
		at += (uint64_t)n;
	}
	kmap_reading_close(r);
	return fine &&
	       (n < 0 ? socket_refuse(c->fd, (int)n, &err) : socket_printf(c->fd, "end\n"));
}

static bool socket_answer_write(struct client *c, const struct kmap_control *f,
				const char *value)
{
	struct atw_err err = { 0 };
	int r = kmap_control_write(c->socket->controls, f, value, strlen(value), &err);

	return r < 0 ? socket_refuse(c->fd, r, &err) : socket_printf(c->fd, "end\n");
}

static bool socket_answer_list(const struct client *c)
{
	char text[4096];
	size_t n = 0;

	for (size_t i = 0; kmap_control_at(i) && n < sizeof(text); i++) {
		const struct kmap_control *f = kmap_control_at(i);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s%s\n", f->name,
				      f->reads ? "r" : "", f->writes ? "w" : "");
	}
	n = n < sizeof(text) ? n : sizeof(text) - 1;
	return socket_printf(c->fd, "data %zu\n", n) && socket_send_all(c->fd, text, n) &&
	       socket_printf(c->fd, "end\n");
}

/* Handle one request; false: close the connection. */
static bool socket_answer(struct client *c, char *line)
{
	static const struct atw_err what = {
		.status = ATW_E_USAGE, .text = "a line is 'read NAME', 'write NAME VALUE' or 'list'",
	};
	static const struct atw_err none = {
		.status = ATW_E_MISSING, .text = "there is no such control",
	};
	char *rest = line, *verb = strsep(&rest, " "), *name = strsep(&rest, " ");
	const struct kmap_control *f = name ? kmap_control_find(name) : NULL;
	bool reads = !strcmp(verb, "read");

	if (!name && !strcmp(verb, "list"))
		return socket_answer_list(c);
	if (!name || (!reads && (strcmp(verb, "write") || !rest)) || (reads && rest))
		return socket_refuse(c->fd, -EINVAL, &what);
	if (!f)
		return socket_refuse(c->fd, -ENOENT, &none);
	return reads ? socket_answer_read(c, f) : socket_answer_write(c, f, rest);
}

static void *socket_serve_client(void *arg)
{
	static const struct atw_err what = {
		.status = ATW_E_USAGE, .text = "the line is too long, or has a zero byte in it",
	};
	struct client *c = arg;
	char buf[LINE];
	size_t used = 0;
	bool fine = true;

	while (fine) {
		ssize_t n;
		char *end;

		c->since = now();
		c->sending = false;
		c->idle = true;
		n = io_read_some(c->fd, buf + used, sizeof(buf) - used);

		if (n <= 0)
			break;
		used += (size_t)n;
		while (fine && (end = memchr(buf, '\n', used))) {
			size_t len = (size_t)(end - buf) + 1;

			*end = '\0';
			c->idle = false;
			c->since = now();
			c->sending = true;
			fine = strlen(buf) + 1 == len
				       ? socket_answer(c, buf)
				       : (socket_refuse(c->fd, -EINVAL, &what), false);
			used -= len;
			memmove(buf, buf + len, used);
		}
		if (fine && used == sizeof(buf)) {
			socket_refuse(c->fd, -EINVAL, &what);
			fine = false;
		}
	}
	pthread_mutex_lock(&c->socket->lock);
	close(c->fd);
	c->fd = -1;
	c->ended = true;
	pthread_mutex_unlock(&c->socket->lock);
	return NULL;
}

/* ---- all of them ---- */

/*
 * If all places are taken, disconnect the client that has been idle longest, or else the
 * one that has not read its reply for longest. Called with the lock, which is released
 * meanwhile. false: all clients are active.
 */
static bool socket_make_place(struct kmap_socket *s)
{
	struct client *out = NULL;

	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &s->client[i];
		bool may = c->idle || (c->sending && now() - c->since > STUCK);

		if (c->fd < 0)
			return true;
		if (may && (!out || c->idle > out->idle ||
			    (c->idle == out->idle && c->since < out->since)))
			out = c;
	}
	if (!out)
		return false;
	shutdown(out->fd, SHUT_RDWR);
	pthread_mutex_unlock(&s->lock);
	pthread_join(out->thread, NULL);
	pthread_mutex_lock(&s->lock);
	out->ended = false;
	return true;
}

static void socket_take_in(struct kmap_socket *s, int fd)
{
	static const struct timespec moment = { 0, 10000000 };
	struct atw_err err = { 0 };

	pthread_mutex_lock(&s->lock);
	/* A reply may take long; the new client waits for a place. */
	for (unsigned n = 0; !socket_make_place(s) && n < WAITS && !s->stop; n++) {
		pthread_mutex_unlock(&s->lock);
		nanosleep(&moment, NULL);
		pthread_mutex_lock(&s->lock);
	}
	for (unsigned i = 0; i < CLIENTS && fd >= 0; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0)
			continue;
		if (c->ended)
			pthread_join(c->thread, NULL);
		c->ended = false;
		c->fd = fd;
		c->idle = true;
		c->since = now();
		if (kmap_thread(&c->thread, 0, socket_serve_client, c, &err) < 0)
			c->fd = -1;
		else
			fd = -1;
		break;
	}
	pthread_mutex_unlock(&s->lock);
	if (fd < 0)
		return;
	if (err.status == ATW_OK)
		atw_err_set(&err, ATW_E_LIMIT, "too many read or write it already");
	socket_refuse(fd, err.status == ATW_E_LIMIT ? -EBUSY : -EAGAIN, &err);
	close(fd);
}

static void *socket_serve(void *arg)
{
	static const struct timespec moment = { 0, 10000000 };
	struct kmap_socket *s = arg;

	while (!s->stop) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };
		int fd;

		if (poll(&p, 1, 100) <= 0)
			continue;
		fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			socket_take_in(s, fd);
		else
			nanosleep(&moment, NULL);        /* it waits in the backlog */
	}
	return NULL;
}

/* Remove a stale socket that a killed program left behind. */
static void socket_remove_dead(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (lstat(at->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 && errno == ECONNREFUSED)
		unlink(at->sun_path);
	close(fd);
}

int kmap_socket_open(const char *path, struct kmap_socket **ret, struct atw_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct kmap_socket *s;
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(at.sun_path) || !*path)
		return atw_err_set(err, ATW_E_USAGE, "--control-socket %s: a socket's name has 1 to %zu bytes",
				   path, sizeof(at.sun_path) - 1);
	s = calloc(1, sizeof(*s));
	if (!s)
		return atw_err_nomem(err);
	memcpy(at.sun_path, path, strlen(path) + 1);
	socket_remove_dead(&at);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Only the owner may connect, from the first moment on. */
	mask = umask(0177);
	r = s->fd < 0 ? -1 : bind(s->fd, (const struct sockaddr *)&at, sizeof(at));
	umask(mask);
	if (r == 0)
		memcpy(s->path, path, strlen(path) + 1);
	if (r < 0 || listen(s->fd, CLIENTS) < 0) {
		atw_err_set(err, ATW_E_IO, "--control-socket %s: %s", path, strerror(errno));
		if (s->fd >= 0)
			close(s->fd);
		free(s);
		return ATW_E_IO;
	}
	pthread_mutex_init(&s->lock, NULL);
	for (unsigned i = 0; i < CLIENTS; i++)
		s->client[i] = (struct client){ .socket = s, .fd = -1 };
	*ret = s;
	return ATW_OK;
}

int kmap_socket_start(struct kmap_socket *s, struct kmap_controls *controls,
		      struct atw_err *err)
{
	int r;

	if (!s)
		return ATW_OK;
	s->controls = controls;
	r = kmap_thread(&s->thread, 0, socket_serve, s, err);
	s->started = r == ATW_OK;
	return r;
}

void kmap_socket_close(struct kmap_socket *s)
{
	if (!s)
		return;
	s->stop = true;
	if (s->started)
		pthread_join(s->thread, NULL);
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &s->client[i];
		bool is;

		pthread_mutex_lock(&s->lock);
		is = c->fd >= 0 || c->ended;
		if (c->fd >= 0)
			shutdown(c->fd, SHUT_RDWR);
		pthread_mutex_unlock(&s->lock);
		if (is)
			pthread_join(c->thread, NULL);
	}
	close(s->fd);
	unlink(s->path);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
