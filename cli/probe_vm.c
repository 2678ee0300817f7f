/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe_vm.c - what stands in the way of reading a guest: ptrace_may_access() of the
 * kernel's kernel/ptrace.c, check by check.
 */
#include "probe.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>

#include "host/caps.h"
#include "host/host_file.h"
#include "host/vmm_process.h"
#include "base/message.h"

struct probe_vm {
	uint32_t pid;
	struct vmm_process process;
	bool privileged;         /* CAP_SYS_PTRACE, and CAP_DAC_READ_SEARCH for the files */
	bool same_user, dumpable;
	int files, memory;       /* errno of opening them; 0: they can be read */
};

/* Files such as pagemap are readable by their owner alone, whatever ptrace allows. */
static bool vm_may_all(void)
{
	return host_has_capability(CAP_SYS_PTRACE) &&
	       (host_has_capability(CAP_DAC_READ_SEARCH) || host_has_capability(CAP_DAC_OVERRIDE));
}

static void vm_path(const struct probe_vm *m, const char *name, char ret[64])
{
	snprintf(ret, 64, "/proc/%" PRIu32 "/%s", m->pid, name);
}

static int vm_open_errno(const struct probe_vm *m, const char *name)
{
	char path[64];
	int fd;

	vm_path(m, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* May be read without CAP_SYS_PTRACE? All of real, effective and saved IDs count. */
static bool vm_all_are(const struct buf *status, const char *key, uint32_t id)
{
	uint32_t v[3];

	return sscanf(host_status_field(status, key), "%" SCNu32 "%" SCNu32 "%" SCNu32, &v[0],
		      &v[1], &v[2]) == 3 && v[0] == id && v[1] == id && v[2] == id;
}

static void vm_check_user(struct probe_vm *m, struct probe_answer *a)
{
	uint32_t uid = 0, gid = 0;
	struct buf status;
	char what[16];

	snprintf(what, sizeof(what), "%" PRIu32, m->pid);
	if (!host_status(what, &status)) {
		snprintf(a->why, sizeof(a->why), "/proc/%s/status: %s", what, strerror(errno));
		return;
	}
	sscanf(host_status_field(&status, "Uid"), "%" SCNu32, &uid);
	sscanf(host_status_field(&status, "Gid"), "%" SCNu32, &gid);
	m->same_user = vm_all_are(&status, "Uid", geteuid()) && vm_all_are(&status, "Gid", getegid());
	buf_deinit(&status);
	a->yes = m->same_user || m->privileged;
	snprintf(a->why, sizeof(a->why),
		 _("process %" PRIu32 " runs as user %" PRIu32 " and group %" PRIu32
		 ", this one as %u and %u%s"), m->pid, uid, gid, (unsigned)geteuid(),
		 (unsigned)getegid(), m->privileged ? _(", with the capabilities for others") : "");
	if (!a->yes)
		probe_needs(a, "cap_dac_read_search,cap_sys_ptrace");
}

/*
 * Its folder belongs to its user, and the files in it to root if it is not dumpable:
 * task_dump_owner() of fs/proc/base.c. Of a process of root, they are alike.
 */
static void vm_check_dumpable(struct probe_vm *m, struct probe_answer *a)
{
	struct stat folder, file;
	char path[64];

	vm_path(m, "", path);
	if (stat(path, &folder) == 0) {
		vm_path(m, "maps", path);
		m->dumpable = stat(path, &file) == 0 && file.st_uid == folder.st_uid;
	}
	a->yes = m->dumpable || m->privileged;
	snprintf(a->why, sizeof(a->why), m->dumpable ?
		 _("%s belongs to the process's user") :
		 _("%s does not belong to the process's user: the process changed its user or its program is not readable"),
		 path);
	if (!a->yes)
		probe_needs(a, "cap_dac_read_search,cap_sys_ptrace");
}

/* Mappings and page states: PTRACE_MODE_READ. */
static void vm_check_files(struct probe_vm *m, struct probe_answer *a)
{
	static const char *const names[] = { "maps", "pagemap" };
	const char *name = names[0];
	char path[64];

	for (size_t i = 0; !m->files && i < ARRAY_SIZE(names); i++) {
		name = names[i];
		m->files = vm_open_errno(m, name);
	}
	vm_path(m, name, path);
	a->yes = !m->files;
	if (a->yes)
		snprintf(a->why, sizeof(a->why), _("%s can be read"), _("maps and pagemap"));
	else
		snprintf(a->why, sizeof(a->why), "%s: %s", path, strerror(m->files));
	if (!a->yes && !(m->same_user && m->dumpable) && !m->privileged)
		probe_needs(a, "cap_dac_read_search,cap_sys_ptrace");
}

/* PTRACE_MODE_ATTACH, which yama restricts more than reading of files. */
static void vm_check_memory(struct probe_vm *m, struct probe_answer *a)
{
	char path[64];

	m->memory = vm_open_errno(m, "mem");
	vm_path(m, "mem", path);
	a->yes = !m->memory;
	if (a->yes)
		snprintf(a->why, sizeof(a->why), _("%s can be read"), path);
	else
		snprintf(a->why, sizeof(a->why), "%s: %s", path, strerror(m->memory));
	if (!a->yes && !m->privileged)
		probe_needs(a, "cap_dac_read_search,cap_sys_ptrace");
}

/* Documentation/admin-guide/LSM/Yama.rst */
static void vm_check_yama(struct probe_vm *m, struct probe_answer *a)
{
	static const char path[] = "/proc/sys/kernel/yama/ptrace_scope";
	char text[16];
	int scope = 0;

	if (!host_file_text(path, text, sizeof(text))) {
		a->yes = true;
		snprintf(a->why, sizeof(a->why), _("this kernel has no yama"));
		return;
	}
	sscanf(text, "%d", &scope);
	/* A child may be traced in mode 1, too: what was tried decides. */
	a->yes = !scope || (scope < 3 && m->privileged) || !m->memory;
	snprintf(a->why, sizeof(a->why), "%s is %d%s", path, scope,
		 a->yes ? "" : scope == 1 ? _(": only a parent may trace, or CAP_SYS_PTRACE") :
		 scope == 2 ? _(": only CAP_SYS_PTRACE may trace") :
		 _(": no process may trace, until the machine is booted again"));
	if (!a->yes && scope < 3)
		probe_needs(a, "cap_dac_read_search,cap_sys_ptrace");
}

static void vm_label(const char *path, char *ret, size_t len)
{
	if (!host_file_text(path, ret, len))
		*ret = '\0';
}

/* A refusal that nothing above explains is that of a security module. */
static void vm_check_module(struct probe_vm *m, struct probe_answer *a)
{
	bool explained = m->files ? !m->privileged && !(m->same_user && m->dumpable)
				  : !m->privileged;
	char theirs[256], ours[256], deny[16] = "", path[64];

	vm_path(m, "attr/current", path);
	vm_label(path, theirs, sizeof(theirs));
	vm_label("/proc/self/attr/current", ours, sizeof(ours));
	a->yes = (!m->files && !m->memory) || explained;
	snprintf(a->why, sizeof(a->why), _("label of process %" PRIu32 ": %s; of this one: %s"),
		 m->pid, *theirs ? theirs : "none", *ours ? ours : "none");
	if (a->yes)
		return;
	if (host_file_text("/sys/fs/selinux/booleans/deny_ptrace", deny, sizeof(deny)) &&
	    *deny == '1')
		snprintf(a->command, sizeof(a->command), "setsebool deny_ptrace off");
	else
		snprintf(a->why + strlen(a->why), sizeof(a->why) - strlen(a->why),
			 _("; run atwalk unconfined, or allow 'ptrace (read, trace)' in its profile and '(readby, tracedby)' in the other"));
}

static void vm_check_program(struct probe_vm *m, struct probe_answer *a)
{
	a->yes = m->process.kind == VMM_QEMU;
	snprintf(a->why, sizeof(a->why), a->yes ? _("process %" PRIu32 " runs %s") :
		 _("process %" PRIu32 " runs %s, so kvm:%" PRIu32 " reads its guest"), m->pid,
		 m->process.program, m->pid);
}

static const struct vm_check {
	const char *name, *gives;
	void (*check)(struct probe_vm *m, struct probe_answer *a);
} vm_checks[] = {
	{ "program", N_("qemu: the layout of the guest's RAM"), vm_check_program },
	{ "user", N_("qemu: files and memory of the process"), vm_check_user },
	{ "dumpable", N_("qemu: the same"), vm_check_dumpable },
	{ "files", N_("qemu, vms: mappings and the state of pages"), vm_check_files },
	{ "memory", N_("qemu: the guest's RAM"), vm_check_memory },
	{ "yama", N_("qemu: the same"), vm_check_yama },
	{ "security module", N_("qemu: files and memory of the process"), vm_check_module },
};

int probe_machine(struct atw_output *out, uint64_t pid, struct atw_err *err)
{
	struct probe_vm m = { .pid = (uint32_t)pid, .privileged = vm_may_all() };
	struct atw_err why = { 0 };
	int r = pid > INT32_MAX ? ATW_E_MISSING : vmm_process_identify(m.pid, &m.process, &why);

	if (r == ATW_E_MISSING)
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu64, pid);
	if (r == ATW_END)
		return atw_err_set(err, ATW_E_NONE,
				   "process %" PRIu64 " does not run a virtual machine", pid);
	if (r < 0)
		return atw_err_give(err, r, &why);
	for (size_t i = 0; r == ATW_OK && i < ARRAY_SIZE(vm_checks); i++) {
		struct probe_answer a = { 0 };

		vm_checks[i].check(&m, &a);
		r = probe_put_row(out, vm_checks[i].name, vm_checks[i].gives, &a, err);
	}
	return r;
}
