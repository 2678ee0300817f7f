// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live_host.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/live_file.h"

void live_host_init(struct live_host *ret)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	uname(&ret->uts);
	ret->cpus = n > 0 ? (uint64_t)n : 1;
}

int live_host_fact(const struct live_host *h, const char *key, struct atw_blob *ret)
{
	if (!strcmp(key, "machine"))
		*ret = (struct atw_blob){ h->uts.machine, strlen(h->uts.machine) };
	else if (!strcmp(key, "release"))
		*ret = (struct atw_blob){ h->uts.release, strlen(h->uts.release) };
	else if (!strcmp(key, "cpus"))
		*ret = (struct atw_blob){ &h->cpus, sizeof(h->cpus) };
	else
		return ATW_E_MISSING;
	return ATW_OK;
}

bool live_first_pid_namespace(void)
{
	struct stat st;

	/* PROC_PID_INIT_INO */
	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == 0xeffffffc;
}

int live_check_lockdown(struct atw_err *err)
{
	char lockdown[128] = "";

	live_file_text("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	if (!strstr(lockdown, "[confidentiality]"))
		return ATW_OK;
	atw_err_set(err, ATW_E_PERM,
		    "kernel lockdown is at 'confidentiality', which forbids reading the kernel's memory");
	atw_err_hint(err, "boot with lockdown=integrity, or take a dump");
	return ATW_E_PERM;
}
