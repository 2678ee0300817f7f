/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "to.h"

#include <unistd.h>

#include "output/peer.h"

int to_open(const char *where, struct to *ret, struct atw_err *err)
{
	int r;

	*ret = (struct to){ .name = where, .fd = -1, .target = { .fd = -1 } };
	if (where && peer_is(where)) {
		r = peer_connect(where, &ret->fd, err);
		ret->socket = r == ATW_OK;
	} else {
		r = outfile_open_private(where, &ret->target, err);
		ret->name = outfile_name(&ret->target);
		ret->fd = ret->target.fd;
	}
	return r;
}

int to_commit(struct to *t, struct atw_err *err)
{
	if (!t->socket)
		return outfile_commit(&t->target, err);
	return peer_deliver(t->fd, err) < 0 ? atw_err_wrap(err, "%s", t->name) : ATW_OK;
}

void to_close(struct to *t)
{
	if (t->socket)
		close(t->fd);
	else if (t->name)
		outfile_close(&t->target);
	*t = (struct to){ .fd = -1 };
}
