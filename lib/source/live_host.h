/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_host.h - description of the running kernel, the same for all backends. */
#ifndef SOURCE_LIVE_HOST_H
#define SOURCE_LIVE_HOST_H

#include <sys/utsname.h>

#include <atwalk/base.h>

struct live_host {
	struct utsname uts;
	uint64_t cpus;
};

void live_host_init(struct live_host *ret);
/* "machine", "release", "cpus"; borrowed from `h`. */
int live_host_fact(const struct live_host *h, const char *key, struct atw_blob *ret);

/* Without a PID namespace of our own, our numbers are the kernel's. */
bool live_first_pid_namespace(void);

/*
 * Is /proc there, and not just a folder of that name; and with files that are not of
 * processes? Is /sys, where `path` would be? ATW_E_MISSING: no, which is to be said
 * before anything that is not found there is said not to be.
 */
int live_check_proc(struct atw_err *err);
int live_check_proc_files(struct atw_err *err);
int live_check_sys(const char *path, struct atw_err *err);
/* Does /proc hide processes of others from us? Then by which option of its mount. */
bool live_hides_processes(char *how, size_t len);

/*
 * Lockdown at 'confidentiality' forbids every way of reading the kernel's
 * memory: ATW_E_PERM then, ATW_OK otherwise.
 */
int live_check_lockdown(struct atw_err *err);

#endif
