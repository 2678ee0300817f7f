/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h - description of the running kernel, the same for all backends. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <sys/utsname.h>

#include <atwalk/base.h>

struct host_info {
	struct utsname uts;
	uint64_t cpus;
};

void host_info_init(struct host_info *ret);
/* "machine", "release", "cpus"; borrowed from `h`. */
int host_info_fact(const struct host_info *h, const char *key, struct atw_blob *ret);

/* Without a PID namespace of our own, our numbers are the kernel's. */
bool host_first_pid_namespace(void);

/*
 * Is /proc there, and not just a folder of that name; and with files that are not of
 * processes? Is /sys, where `path` would be? ATW_E_MISSING: no, which is to be said
 * before anything that is not found there is said not to be.
 */
int host_check_proc(struct atw_err *err);
int host_check_proc_files(struct atw_err *err);
int host_check_sys(const char *path, struct atw_err *err);
/* Does /proc hide processes of others from us? Then by which option of its mount. */
bool host_hides_processes(char *how, size_t len);

/*
 * Lockdown at 'confidentiality' forbids every way of reading the kernel's
 * memory: ATW_E_PERM then, ATW_OK otherwise.
 */
int host_check_lockdown(struct atw_err *err);

#endif
