/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/references_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/io.h"
#include "base/message.h"
#include "format/elf.h"
#include "host/live_exec.h"

/* ---- its file ---- */

static bool references_program_is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static int references_program_path(const char *name, char *ret, size_t len, struct atw_err *err)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/')) {
		if ((size_t)snprintf(ret, len, "%s", name) < len && references_program_is_there(ret))
			return ATW_OK;
		return atw_err_set(err, ATW_E_MISSING, "cannot run %s: it is not an executable file",
				   name);
	}
	for (path = path ? path : "/usr/bin:/bin"; *name; ) {
		const char *end = strchrnul(path, ':');
		int n = snprintf(ret, len, "%.*s%s%s", (int)(end - path), path,
				 end > path ? "/" : "./", name);

		if (n > 0 && (size_t)n < len && references_program_is_there(ret))
			return ATW_OK;
		if (!*end)
			break;
		path = end + 1;
	}
	return atw_err_set(err, ATW_E_MISSING, "cannot run %s: it is not in a folder of PATH", name);
}

static int references_program_read(struct references_program *p, struct atw_blob file,
				   struct atw_err *err)
{
	const uint8_t *head = file.data;
	struct elf e;
	int r;

	if (!elf_magic(file)) {
		atw_err_set(err, ATW_E_FORMAT, "cannot record %s: it is not an ELF program", p->path);
		if (blob_begins(file, "#!"))
			atw_err_hint(err, "Of a script, record its interpreter with the script as argument.");
		return ATW_E_FORMAT;
	}
	r = elf_parse(file, &e, err);
	if (r < 0) {
		atw_err_about(err, p->path);
		return r;
	}
	p->machine = e.machine;
	p->is64 = e.is64;
	/* e_entry: elf_parse() has checked that the header is complete. */
	p->entry = e.is64 ? get_le64(head + 24) : get_le32(head + 24);
	p->code = UINT64_MAX;
	for (uint32_t i = 0; i < e.phnum; i++) {
		struct elf_phdr ph = elf_phdr(&e, i);

		if (ph.type == PT_LOAD && (ph.flags & PF_X) && ph.vaddr < p->code)
			p->code = ph.vaddr;
	}
	if (p->code == UINT64_MAX)
		return atw_err_set(err, ATW_E_FORMAT, "cannot record %s: it has no segment with code",
				   p->path);
	return ATW_OK;
}

int references_program_find(const char *name, struct references_program *ret,
			    struct atw_err *err)
{
	struct references_program p = { .machine = 0 };
	struct file file = { 0 };
	int r = references_program_path(name, p.path, sizeof(p.path), err) ?:
		file_open(p.path, &file, err) ?:
		references_program_read(&p, file.map, err);

	file_close(&file);
	if (r == ATW_OK)
		*ret = p;
	return r;
}

/* ---- its process ---- */

/* The address of its first instruction, after relocation: AT_ENTRY. */
static bool references_program_loaded(pid_t pid, const struct references_program *p,
				      uint64_t *ret)
{
	uint64_t v[2 * 64];
	char path[64];
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	{
		_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			n = io_read(fd, v, sizeof(v));
	}
	for (ssize_t i = 0; p->is64 && i + 1 < n / (ssize_t)sizeof(v[0]); i += 2) {
		if (v[i] != AT_ENTRY)
			continue;
		*ret = v[i + 1] - p->entry;
		return true;
	}
	return false;
}

static void references_program_child(const struct references_program *p, char *const argv[],
				     int out)
{
	int error;

	personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
	/* Nothing would end it if this process was killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		execv(p->path, argv);
	error = errno;
	(void)!write(out, &error, sizeof(error));
	_exit(127);
}

int references_program_start(const struct references_program *p, char *const argv[],
			     struct trace_recording *rec, pid_t *ret, struct atw_err *err)
{
	int out[2], status = 0, error = 0;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot create a pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		references_program_child(p, argv, out[1]);
	close(out[1]);
	if (pid < 0) {
		close(out[0]);
		return atw_err_set(err, ATW_E_IO, "cannot start %s: %s", p->path, strerror(errno));
	}
	if (io_read(out[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(out[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFSTOPPED(status))
		return atw_err_set(err, ATW_E_IO, "cannot start %s: %s", p->path,
				   error ? strerror(error) : _("it ended at once"));
	snprintf(rec->program, sizeof(rec->program), "%s", p->path);
	rec->has_load = references_program_loaded(pid, p, &rec->load);
	*ret = pid;
	return ATW_OK;
}

/* What was started by it, or in its place, is not recorded. */
static void references_program_note(struct live_exec *exec, struct trace_recording *rec)
{
	live_exec_read(exec);
	rec->children = live_exec_children(exec);
	if (live_exec_happened(exec))
		snprintf(rec->cut, sizeof(rec->cut),
			 N_("the program executed another one, which was not recorded"));
	else if (live_exec_lost(exec))
		snprintf(rec->cut, sizeof(rec->cut),
			 N_("the program may have executed another one, which was not recorded"));
}

int references_program_follow(pid_t pid, struct live_exec *exec,
			      int (*fn)(void *arg, struct atw_err *err), void *arg,
			      struct trace_recording *rec, int *status, struct atw_err *err)
{
	static const struct timespec moment = { 0, 500000 };
	int r = ATW_OK;

	if (ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot start the program: %s", strerror(errno));
	while (r == ATW_OK) {
		siginfo_t info = { 0 };

		/* It stays a zombie, so that after a failure of fn its PID is still its own. */
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
			return atw_err_set(err, ATW_E_IO, "cannot wait for the program: %s",
					   strerror(errno));
		r = fn(arg, err);
		references_program_note(exec, rec);
		if (r == ATW_OK && info.si_pid == pid) {
			waitpid(pid, status, 0);
			return ATW_OK;
		}
		nanosleep(&moment, NULL);
	}
	return r;
}

void references_program_kill(pid_t pid, int *status)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, status, __WALL) < 0 ? errno == EINTR
						: !WIFEXITED(*status) && !WIFSIGNALED(*status))
		;
}

/* ---- ranges ---- */

int references_ranges(const struct references_options *o, const struct trace_recording *rec,
		      struct references_range *ret, struct atw_err *err)
{
	for (size_t i = 0; i < o->nranges; i++) {
		ret[i] = o->range[i];
		if (!ret[i].in_file)
			continue;
		if (!rec->has_load)
			return atw_err_set(err, ATW_E_UNSUPPORTED,
					   "cannot find the address where %s was loaded", rec->program);
		ret[i].start += rec->load;
		ret[i].end += rec->load;
		ret[i].in_file = false;
	}
	return ATW_OK;
}

bool references_in_ranges(const struct references_range *v, size_t n, uint64_t address,
			  uint64_t size)
{
	uint64_t last = address + size - 1;

	for (size_t i = 0; i < n; i++)
		if (address < v[i].end && last >= v[i].start)
			return true;
	return n == 0;
}
