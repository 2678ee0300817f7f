/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h - attributes of the running kernel, the same for all backends. */
#pragma once

#include <sys/utsname.h>

#include <atwalk/base.h>

struct host_info {
	struct utsname uts;
	uint64_t cpus;
	char instance[64];       /* "live-" and the ID of this boot, once asked for; or empty */
};

void host_info_init(struct host_info *ret);
/* The number of CPUs that this thread may use. */
unsigned host_cpus_allowed(void);
/* "machine", "release", "cpus", "instance"; borrowed from `h`. */
int host_info_fact(struct host_info *h, const char *key, struct atw_blob *ret);

/* Folder of the file of the running program. false: unknown, and *ret is empty. */
bool host_program_folder(char *ret, size_t len);
/* The file of this program itself. */
bool host_program_path(char *ret, size_t len);

/* In the initial PID namespace, PIDs are those of the kernel. */
bool host_first_pid_namespace(void);

/*
 * Is /proc a mounted procfs, including files that do not belong to processes? Is /sys
 * mounted, if `path` is there? ATW_E_MISSING: no; reported in preference to an error
 * about a missing file.
 */
int host_check_proc(struct atw_err *err);
int host_check_proc_files(struct atw_err *err);
int host_check_sys(const char *path, struct atw_err *err);
/* Does /proc hide processes of other users? If so, by which mount option. */
bool host_hides_processes(char *how, size_t len);

/*
 * Lockdown at 'confidentiality' forbids all reads of kernel memory: ATW_E_PERM then,
 * ATW_OK otherwise.
 */
int host_check_lockdown(struct atw_err *err);
