/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/procfs.h"

int pidfd_hold(uint64_t pid)
{
	uint32_t tgid;

	if (!pid || pid > UINT32_MAX || proc_tgid((uint32_t)pid, &tgid, NULL) != ATW_OK)
		return -1;
	return (int)syscall(SYS_pidfd_open, tgid, 0);
}

bool pidfd_has_ended(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return fd >= 0 && poll(&p, 1, 0) > 0;
}
