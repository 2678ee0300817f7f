/* SPDX-License-Identifier: GPL-2.0-or-later */
/* standard.c - files 0, 1 and 2, which a program may be started without. */
#include <fcntl.h>

#include "command.h"

/*
 * A file that is opened while 0 or 2 is closed would take its place, and get what is
 * written to standard error. 1 stays unwritable: that is reported.
 */
void hold_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR) < 0)
			_exit(EXIT_SOURCE);
}
