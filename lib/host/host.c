// SPDX-License-Identifier: GPL-2.0-or-later
/* host.c - attributes and restrictions of the running kernel. */
#include "host/host.h"

#include <linux/capability.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/caps.h"
#include "host/host_file.h"

unsigned host_cpus_allowed(void)
{
	cpu_set_t set;
	long all;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	/* More than the set has room for. */
	all = sysconf(_SC_NPROCESSORS_ONLN);
	return all > 0 ? (unsigned)all : 1;
}

void host_info_init(struct host_info *ret)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	uname(&ret->uts);
	ret->cpus = n > 0 ? (uint64_t)n : 1;
	ret->instance[0] = '\0';
}

/* Read when it is asked for, which few that have a struct host_info do. */
static int host_instance(struct host_info *h, struct atw_blob *ret)
{
	char id[48];

	if (!h->instance[0] &&
	    host_file_text("/proc/sys/kernel/random/boot_id", id, sizeof(id)) && *id)
		snprintf(h->instance, sizeof(h->instance), "live-%s", id);
	*ret = (struct atw_blob){ h->instance, strlen(h->instance) };
	return ret->len ? ATW_OK : ATW_E_MISSING;
}

int host_info_fact(struct host_info *h, const char *key, struct atw_blob *ret)
{
	if (!strcmp(key, "machine"))
		*ret = (struct atw_blob){ h->uts.machine, strlen(h->uts.machine) };
	else if (!strcmp(key, "release"))
		*ret = (struct atw_blob){ h->uts.release, strlen(h->uts.release) };
	else if (!strcmp(key, "cpus"))
		*ret = (struct atw_blob){ &h->cpus, sizeof(h->cpus) };
	else
		return strcmp(key, "instance") ? ATW_E_MISSING : host_instance(h, ret);
	return ATW_OK;
}

bool host_program_path(char *ret, size_t len)
{
	ssize_t n = readlink("/proc/self/exe", ret, len - 1);

	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool host_program_folder(char *ret, size_t len)
{
	char *slash = host_program_path(ret, len) ? strrchr(ret, '/') : NULL;

	if (slash)
		*slash = '\0';
	return slash;
}

bool host_first_pid_namespace(void)
{
	struct stat st;

	/* PROC_PID_INIT_INO */
	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == 0xeffffffc;
}

/* ---- verification of /proc and /sys ---- */

static bool host_is_mounted(const char *path, long type)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (long)fs.f_type == type;
}

int host_check_proc(struct atw_err *err)
{
	return host_is_mounted("/proc", PROC_SUPER_MAGIC)
		       ? ATW_OK
		       : atw_err_set(err, ATW_E_MISSING,
				     "/proc is not there: it is not mounted, or "
				     "something hides it");
}

int host_check_sys(const char *path, struct atw_err *err)
{
	return host_is_mounted("/sys", SYSFS_MAGIC)
		       ? ATW_OK
		       : atw_err_set(err, ATW_E_MISSING,
				     "%s is not there because /sys is not mounted, or "
				     "something hides it",
				     path);
}

/* "hidepid=" in the mount options of /proc, the last one, with its value, in `ret`. */
static bool host_proc_option(const char *name, char *ret, size_t len)
{
	struct buf text = { 0 };
	char *save = NULL, *save_option, where[64], type[16], options[256];
	bool yes = false;
	int r = host_file_all("/proc/self/mounts", 1 << 22, &text, NULL);

	for (char *l = r == ATW_OK && text.len ? strtok_r(text.data, "\n", &save) : NULL; l;
	     l = strtok_r(NULL, "\n", &save)) {
		if (sscanf(l, "%*s %63s %15s %255s", where, type, options) != 3 ||
		    strcmp(where, "/proc") != 0 || strcmp(type, "proc") != 0)
			continue;
		yes = false;
		for (char *o = strtok_r(options, ",", &save_option); o && !yes;
		     o = strtok_r(NULL, ",", &save_option))
			if (!strncmp(o, name, strlen(name))) {
				yes = true;
				snprintf(ret, len, "%s", o);
			}
	}
	buf_deinit(&text);
	return yes;
}

int host_check_proc_files(struct atw_err *err)
{
	char option[32];
	int r = host_check_proc(err);

	if (r == ATW_OK && host_proc_option("subset=", option, sizeof(option)))
		r = atw_err_set(err, ATW_E_MISSING,
				"/proc is mounted with %s: it has files of processes alone", option);
	return r;
}

/* Members of one group see all processes: gid=, except for hidepid=ptraceable. */
static bool host_is_member(const char *how)
{
	_auto_free gid_t *group = NULL;
	int n = getgroups(0, NULL);
	char option[32];
	gid_t gid;

	if (!strcmp(how, "hidepid=ptraceable") || !strcmp(how, "hidepid=4"))
		return false;
	gid = host_proc_option("gid=", option, sizeof(option))
		      ? (gid_t)strtoul(option + strlen("gid="), NULL, 10)
		      : 0;
	group = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*group));
	n = group && n > 0 ? getgroups(n, group) : 0;
	for (int i = 0; i < n; i++)
		if (group[i] == gid)
			return true;
	return getegid() == gid;
}

bool host_hides_processes(char *how, size_t len)
{
	return host_proc_option("hidepid=", how, len) && strcmp(how, "hidepid=0") != 0 &&
	       strcmp(how, "hidepid=off") != 0 && !host_is_member(how) &&
	       (host_in_user_namespace() || !host_has_capability(CAP_SYS_PTRACE));
}

int host_check_lockdown(struct atw_err *err)
{
	char lockdown[128] = "";

	host_file_text("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	if (!strstr(lockdown, "[confidentiality]"))
		return ATW_OK;
	atw_err_set(err, ATW_E_PERM,
		    "kernel lockdown is at 'confidentiality', which forbids reading the kernel's memory");
	atw_err_hint(err, "boot with lockdown=integrity, or take a dump");
	return ATW_E_PERM;
}
