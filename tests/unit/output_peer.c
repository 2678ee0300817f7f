/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output goes to a listening socket as a whole, or the failure is reported. */
#include "output/peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

TEST(a_listener_that_takes_nothing_is_given_up)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	unsigned ms = 0;
	char where[40];
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = -1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 1));
	CHECK(!getsockname(listener, (struct sockaddr *)&at, &len));
	snprintf(where, sizeof(where), "tcp:127.0.0.1:%u", ntohs(at.sin_port));
	CHECK_EQ(peer_connect(where, &fd, NULL), ATW_OK);
	len = sizeof(ms);
	CHECK(!getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &len));
	CHECK_EQ(ms, PEER_STALLED_MS);
	close(fd);
	close(listener);
}
