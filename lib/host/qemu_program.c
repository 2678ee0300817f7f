/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/qemu_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/host.h"

/* The first number of "QEMU emulator version 7.2.22 (Debian ...)". */
int qemu_program_version(const char *qemu, unsigned *major, unsigned *minor,
			 struct atw_err *err)
{
	char line[256] = "";
	const char *at;
	int out[2];
	pid_t pid;
	ssize_t n;

	if (pipe(out) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot create a pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		execlp(qemu, qemu, "--version", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	while ((n = pid < 0 ? 0 : read(out[0], line, sizeof(line) - 1)) < 0 && errno == EINTR)
		;
	close(out[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	at = n > 0 ? strstr(line, "version ") : NULL;
	if (!at || sscanf(at, "version %u.%u", major, minor) != 2)
		return atw_err_set(err, ATW_E_IO, "%s: cannot determine the version of QEMU",
				   qemu);
	return ATW_OK;
}

int qemu_program_plugin(const char *name, unsigned major, char *ret, size_t len,
			struct atw_err *err)
{
	static const char *const folders[] = { "", "/../lib/atwalk", "/../libexec/atwalk" };
	/* From 9.0 on QEMU refuses plugins of version 1, and before all others. */
	int version = major >= 9 ? 2 : 1;
	char own[3000];

	host_program_folder(own, sizeof(own));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(ret, len, "%s%s/atwalk-%s-%d.so", own, folders[i], name, version);
		if (access(ret, R_OK) == 0)
			return ATW_OK;
	}
	snprintf(ret, len, "atwalk-%s-%d.so", name, version);
	return atw_err_set(err, ATW_E_MISSING, "cannot find the plugin of QEMU, %s", ret);
}
