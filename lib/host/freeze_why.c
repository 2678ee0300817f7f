// SPDX-License-Identifier: GPL-2.0-or-later
/* freeze_why.c - reasons why a process cannot be stopped. */
#include "host/freeze.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "host/caps.h"
#include "host/host_file.h"

enum { SYS_PTRACE = 19 };        /* CAP_SYS_PTRACE: linux/capability.h */

/* ---- /proc of a process ---- */

static void freeze_why_copy_field(const struct buf *text, const char *key, char *to,
				  size_t room)
{
	const char *s = host_status_field(text, key);

	snprintf(to, room, "%.*s", (int)strcspn(s, "\n"), s);
}

/* `what`: "12", "12/task/13", "self". */
static bool freeze_why_read_status(const char *what, struct freeze_status *ret)
{
	struct buf text;

	if (!host_status(what, &text))
		return false;
	*ret = (struct freeze_status){
		.tgid = (uint32_t)strtoul(host_status_field(&text, "Tgid"), NULL, 10),
		.parent = (uint32_t)strtoul(host_status_field(&text, "PPid"), NULL, 10),
		.tracer = (uint32_t)strtoul(host_status_field(&text, "TracerPid"), NULL, 10),
		.caps = strtoull(host_status_field(&text, "CapEff"), NULL, 16),
		.has_memory = *host_status_field(&text, "VmSize"),
	};
	freeze_why_copy_field(&text, "Name", ret->name, sizeof(ret->name));
	freeze_why_copy_field(&text, "State", ret->state, sizeof(ret->state));
	buf_deinit(&text);
	return true;
}

bool freeze_status(uint32_t pid, struct freeze_status *ret)
{
	char what[16];

	snprintf(what, sizeof(what), "%" PRIu32, pid);
	return freeze_why_read_status(what, ret);
}

bool freeze_thread_status(uint32_t pid, pid_t tid, struct freeze_status *ret)
{
	char what[48];

	snprintf(what, sizeof(what), "%" PRIu32 "/task/%d", pid, (int)tid);
	return freeze_why_read_status(what, ret);
}

int freeze_no_process(uint32_t pid, struct atw_err *err)
{
	if (errno == ENOENT || errno == ESRCH)
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu32, pid);
	return atw_err_set(err, errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
			   "/proc/%" PRIu32 ": %s", pid, strerror(errno));
}

/* ---- processes that must not, or cannot be stopped ---- */

int freeze_check_kin(uint32_t pid, const struct freeze_status *st, struct atw_err *err)
{
	uint32_t p = (uint32_t)getpid();
	struct freeze_status kin;

	if (pid == p)
		return atw_err_set(err, ATW_E_USAGE, "process %" PRIu32 " is this one, which cannot stop and look",
				   pid);
	for (unsigned i = 0; i < 4096 && p && freeze_status(p, &kin); i++) {
		p = kin.parent;
		if (p == pid)
			return atw_err_set(err, ATW_E_USAGE,
					   "process %" PRIu32 " (%s) is one that this one was started by: it is not stopped",
					   pid, st->name);
	}
	return ATW_OK;
}

/* Capabilities of a file replace those it had: the used ones are kept. */
static void freeze_why_hint_caps(struct atw_err *err, uint64_t have)
{
	static const struct { unsigned bit; const char *name; } used[] = {
		{ 2, "cap_dac_read_search," }, { 17, "cap_sys_rawio," }, { 21, "cap_sys_admin," },
		{ 38, "cap_perfmon," }, { 39, "cap_bpf," },
	};
	char caps[128] = "";

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		if (have >> used[i].bit & 1)
			strncat(caps, used[i].name, sizeof(caps) - strlen(caps) - 1);
	strncat(caps, "cap_sys_ptrace", sizeof(caps) - strlen(caps) - 1);
	host_hint_setcap(err, caps);
}

int freeze_refused(uint32_t pid, pid_t tid, int e, struct atw_err *err)
{
	struct freeze_status st = { 0 }, tracer = { 0 }, self = { 0 };
	char scope[16] = "";
	bool known = freeze_thread_status(pid, tid, &st);

	if (known && !st.has_memory)
		return atw_err_set(err, ATW_E_NONE,
				   "process %" PRIu32 " is a kernel thread or has ended: it has no address space of its own",
				   pid);
	if (known && st.tracer) {
		freeze_status(st.tracer, &tracer);
		atw_err_set(err, ATW_E_PERM,
			    "process %" PRIu32 " cannot be stopped: process %" PRIu32 " (%s) traces it already",
			    pid, st.tracer, tracer.name);
		atw_err_hint(err, "end that one first: kill %" PRIu32, st.tracer);
		return ATW_E_PERM;
	}
	host_file_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (!strcmp(scope, "3")) {
		atw_err_set(err, ATW_E_PERM,
			    "process %" PRIu32 " cannot be stopped: kernel.yama.ptrace_scope is 3, which disables ptrace(2)",
			    pid);
		atw_err_hint(err, "only a boot without that setting takes it back");
		return ATW_E_PERM;
	}
	freeze_why_read_status("self", &self);
	if (self.caps >> SYS_PTRACE & 1) {
		atw_err_set(err, ATW_E_PERM, "process %" PRIu32 " cannot be stopped: %s", pid,
			    strerror(e));
		atw_err_hint(err, "a security module or a container forbids it; of a container: --cap-add SYS_PTRACE");
		return ATW_E_PERM;
	}
	atw_err_set(err, ATW_E_PERM,
		    "stopping process %" PRIu32 " needs CAP_SYS_PTRACE, which this process does not have",
		    pid);
	if (geteuid())
		freeze_why_hint_caps(err, self.caps);
	else
		atw_err_hint(err, "in a container: --cap-add SYS_PTRACE");
	return ATW_E_PERM;
}
