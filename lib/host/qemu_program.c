/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/qemu_program.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "format/elf.h"
#include "host/host.h"
#include "host/references_program.h"

/* The first numbers of "QEMU emulator version 7.2.22 (Debian ...)". */
static bool program_version_of(const char *line, unsigned *major, unsigned *minor)
{
	const char *at = strstr(line, "version ");

	return at && sscanf(at, "version %u.%u", major, minor) == 2;
}

/* That text among the constants of a program. */
static bool program_version_in(const struct elf *e, unsigned *major, unsigned *minor)
{
	static const char what[] = "QEMU emulator version ";
	char line[64];

	for (uint32_t i = e->phnum; i--; ) {
		struct elf_phdr ph = elf_phdr(e, i);
		const char *from = (const char *)e->file.data + ph.offset, *at;

		if (ph.type != PT_LOAD || ph.flags != PF_R || ph.offset > e->file.len ||
		    ph.filesz > e->file.len - ph.offset)
			continue;
		at = memmem(from, ph.filesz, what, sizeof(what) - 1);
		if (at && from + ph.filesz - at >= (ptrdiff_t)sizeof(line)) {
			snprintf(line, sizeof(line), "%.*s", (int)sizeof(line) - 1, at);
			return program_version_of(line, major, minor);
		}
	}
	return false;
}

/*
 * To be asked costs a QEMU tens of milliseconds, most of them for its libraries. ATW_E_MISSING:
 * there is no such program; otherwise it can only be asked.
 */
static int program_version_unasked(const char *qemu, unsigned *major, unsigned *minor,
				   struct atw_err *err)
{
	struct references_program p;
	struct file file = { 0 };
	struct elf e;
	int r = references_program_find(qemu, &p, err);

	if (r == ATW_OK && (file_open(p.path, &file, NULL) < 0 || elf_parse(file.map, &e, NULL) < 0 ||
			    !program_version_in(&e, major, minor)))
		r = ATW_E_FORMAT;
	file_close(&file);
	return r;
}

int qemu_program_version(const char *qemu, unsigned *major, unsigned *minor,
			 struct atw_err *err)
{
	char line[256] = "";
	int out[2];
	pid_t pid;
	ssize_t n;
	struct atw_err why = { 0 };
	int r = program_version_unasked(qemu, major, minor, &why);

	if (r == ATW_OK || r == ATW_E_MISSING)
		return atw_err_give(err, r, &why);
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
	if (n <= 0 || !program_version_of(line, major, minor))
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
