/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peer.c - stream socket output. */
#include "output/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"

union peer_place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

bool peer_is(const char *where)
{
	return text_begins(where, "tcp:") || text_begins(where, "unix:");
}

/* ---- connecting ---- */

static int peer_unix_place(const char *where, union peer_place *ret, socklen_t *len,
			   struct atw_err *err)
{
	const char *path = where + strlen("unix:");
	size_t n = strlen(path);

	if (!n || n >= sizeof(ret->local.sun_path))
		return atw_err_set(err, ATW_E_USAGE, "'%s': a socket's path has 1 to %zu bytes",
				   where, sizeof(ret->local.sun_path) - 1);
	ret->local.sun_family = AF_UNIX;
	memcpy(ret->local.sun_path, path, n + 1);
	*len = sizeof(ret->local);
	return ATW_OK;
}

/* "10.0.2.2:4000", "[fd00::1]:4000" */
static int peer_tcp_place(const char *where, union peer_place *ret, socklen_t *len,
			  struct atw_err *err)
{
	const char *s = where + strlen("tcp:"), *colon = strrchr(s, ':');
	char host[INET6_ADDRSTRLEN];
	size_t n = colon ? (size_t)(colon - s) : 0;
	bool six = n >= 2 && s[0] == '[' && s[n - 1] == ']';
	uint64_t port;

	if (!colon || !num_dec(colon + 1, strlen(colon + 1), &port) || !port ||
	    port > UINT16_MAX)
		return atw_err_set(err, ATW_E_USAGE,
				   "'%s' is not tcp:ADDRESS:PORT with a port from 1 to 65535", where);
	s += six;
	n -= six ? 2 : 0;
	if (n < sizeof(host)) {
		memcpy(host, s, n);
		host[n] = '\0';
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		*len = sizeof(ret->v6);
		if (six && inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1)
			return ATW_OK;
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		*len = sizeof(ret->v4);
		if (!six && inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1)
			return ATW_OK;
	}
	atw_err_set(err, ATW_E_USAGE, "'%s': '%.*s' is no address in numbers", where, (int)n, s);
	atw_err_hint(err, "names are not looked up here: 10.0.2.2, or [fd00::1] in brackets");
	return ATW_E_USAGE;
}

/* A call that was interrupted by a signal continues asynchronously. */
static bool peer_is_connected(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int e = 0;

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len);
	errno = e;
	return !e;
}

int peer_connect(const char *where, int *ret, struct atw_err *err)
{
	union peer_place at = {0};
	socklen_t len = 0;
	_auto_fd int fd = -1;
	int r = text_begins(where, "tcp:") ? peer_tcp_place(where, &at, &len, err)
					   : peer_unix_place(where, &at, &len, err);

	if (r < 0)
		return r;
	fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || (connect(fd, &at.any, len) < 0 &&
		       !(errno == EINTR && peer_is_connected(fd)))) {
		r = atw_err_set(err, errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
				"%s: cannot connect: %s", where, strerror(errno));
		if (errno == ECONNREFUSED || errno == ENOENT)
			atw_err_hint(err, "start the program that listens there first");
		return r;
	}
	/* Not for local sockets, whose listener is on this machine. */
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(unsigned){ PEER_STALLED_MS },
		   sizeof(unsigned));
	*ret = fd;
	fd = -1;
	return ATW_OK;
}

/* ---- end of the stream ---- */

enum { STEP_MS = 10, CLOSE_MS = 3000 };

/* Discards what the receiver sends; *closed: it has closed. Returns an errno. */
static int peer_listen_back(int fd, bool *closed)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char reply[256];
	ssize_t n;

	/* A connection that has ended is always ready. */
	if (poll(*closed ? NULL : &p, *closed ? 0 : 1, STEP_MS) <= 0)
		return 0;
	n = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
	*closed = !n;
	return n < 0 && errno != EAGAIN && errno != EINTR ? errno : 0;
}

/*
 * Written data may still be in transit, and a connection may fail until the end. The
 * other machine may discard what it has received: if the receiver closes the connection
 * with data unread, that is a failure, too, if it is reported at once. Not every receiver
 * closes.
 */
int peer_deliver(int fd, struct atw_err *err)
{
	socklen_t len = sizeof(int);
	int left = 0, e = 0;
	bool closed = false;

	if (shutdown(fd, SHUT_WR) < 0)
		e = errno;
	for (int ms = 0; !e && ms < CLOSE_MS && (left || !closed); ms += left ? 0 : STEP_MS) {
		e = peer_listen_back(fd, &closed);
		if (ioctl(fd, SIOCOUTQ, &left) < 0)
			left = 0;
		/* Checked after the data, because an error discards them. */
		if (!e)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len);
	}
	return e ? atw_err_set(err, ATW_E_IO, "not all of it arrived: %s", strerror(e)) : ATW_OK;
}
