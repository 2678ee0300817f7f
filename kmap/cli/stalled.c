/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stalled.h"

#include <errno.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int watched = -1, dead = -1;
static bool is_socket;
static int last;                 /* bytes that were unread a second ago */
static unsigned seconds;         /* so long the same */
static volatile sig_atomic_t ending, gave_up;

/*
 * A write that waits is interrupted by the signal itself, is tried again, and then finds
 * a socket with a closed other end.
 */
static void stalled_on_alarm(int number)
{
	int e = errno, unread = 0;

	if (ioctl(watched, is_socket ? SIOCOUTQ : FIONREAD, &unread) < 0)
		unread = 0;
	seconds = unread && unread == last ? seconds + 1 : 0;
	last = unread;
	if (seconds < STALLED_S) {
		alarm(1);
	} else {
		gave_up = 1;
		dup2(dead, watched);
	}
	errno = e;
}

void stalled_watch(int fd)
{
	const struct sigaction a = {.sa_handler = stalled_on_alarm};
	struct stat st;
	int pair[2];

	if (fstat(fd, &st) < 0 || (!S_ISSOCK(st.st_mode) && !S_ISFIFO(st.st_mode)) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	close(pair[1]);
	dead = pair[0];
	is_socket = S_ISSOCK(st.st_mode);
	watched = fd;
	sigaction(SIGALRM, &a, NULL);
}

void stalled_begin_end(void)
{
	if (watched < 0 || ending)
		return;
	ending = 1;
	alarm(1);
}

bool stalled_gave_up(void)
{
	return gave_up;
}
