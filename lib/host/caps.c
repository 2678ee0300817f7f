/* SPDX-License-Identifier: GPL-2.0-or-later */
/* caps.c - capabilities of this process and of its program file. */
#include "host/caps.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/message.h"
#include "host/host_file.h"

/* By number; capability.h of an old system may lack the last ones. */
static const char *const names[] = {
	"chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid",
	"setuid", "setpcap", "linux_immutable", "net_bind_service", "net_broadcast",
	"net_admin", "net_raw", "ipc_lock", "ipc_owner", "sys_module", "sys_rawio",
	"sys_chroot", "sys_ptrace", "sys_pacct", "sys_admin", "sys_boot", "sys_nice",
	"sys_resource", "sys_time", "sys_tty_config", "mknod", "lease", "audit_write",
	"audit_control", "setfcap", "mac_override", "mac_admin", "syslog", "wake_alarm",
	"block_suspend", "audit_read", "perfmon", "bpf", "checkpoint_restore",
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

bool caps_parse(const void *data, size_t size, struct caps *ret)
{
	const unsigned char *p = data;
	uint32_t revision;
	bool wide;

	if (size < XATTR_CAPS_SZ_1)
		return false;
	revision = get_le32(p) & VFS_CAP_REVISION_MASK;
	wide = (revision == VFS_CAP_REVISION_2 && size == XATTR_CAPS_SZ_2) ||
	       (revision == VFS_CAP_REVISION_3 && size == XATTR_CAPS_SZ_3);
	if (!wide && (revision != VFS_CAP_REVISION_1 || size != XATTR_CAPS_SZ_1))
		return false;
	/* Permitted and inheritable alternate, 32 capabilities at a time. */
	*ret = (struct caps){
		.permitted = get_le32(p + 4) | (wide ? (uint64_t)get_le32(p + 12) << 32 : 0),
		.inheritable = get_le32(p + 8) | (wide ? (uint64_t)get_le32(p + 16) << 32 : 0),
	};
	return true;
}

/*
 * The capabilities of the running program that setcap(8) would remove: all that its file
 * has, and as inheritable the ambient set, which execve(2) clears if the file has any.
 */
static struct caps caps_of_program(void)
{
	unsigned char data[64];
	struct caps have = { 0 };
	ssize_t n = getxattr("/proc/self/exe", "security.capability", data, sizeof(data));

	if (n <= 0 || !caps_parse(data, (size_t)n, &have))
		have = (struct caps){ 0 };
	for (unsigned i = 0; i < 64; i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, (unsigned long)i, 0ul, 0ul) == 1)
			have.inheritable |= UINT64_C(1) << i;
	return have;
}

/* Is the name, without "cap_", in the list? */
static bool caps_is_in(const char *caps, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = caps; *s; s += strspn(s, ",")) {
		size_t all = strcspn(s, ",");

		if (all == n + 4 && !strncmp(s, "cap_", 4) && !strncmp(s + 4, name, n))
			return true;
		s += all;
	}
	return false;
}

/* The names of a set except for those in the list, each preceded by a comma. */
static size_t caps_join_names(const char *caps, uint64_t set, char *buf, size_t len)
{
	size_t n = 0;

	for (unsigned i = 0; i < 64 && n < len; i++) {
		if (!(set >> i & 1) || (i < NAMES && caps_is_in(caps, names[i])))
			continue;
		n += (size_t)(i < NAMES ? snprintf(buf + n, len - n, ",cap_%s", names[i])
					: snprintf(buf + n, len - n, ",%u", i));
	}
	return n;
}

bool caps_join(const char *caps, const struct caps *have, char *buf, size_t len)
{
	char permitted[512] = "", inheritable[512] = "";
	size_t n = caps_join_names(caps, have->permitted, permitted, sizeof(permitted)),
	       m, all;

	m = caps_join_names(caps, have->inheritable & ~have->permitted, inheritable,
			    sizeof(inheritable));
	if (n >= sizeof(permitted) || m >= sizeof(inheritable))
		return false;
	all = (size_t)(m ? snprintf(buf, len, "'%s%s+ep %s+ei'", caps, permitted, inheritable + 1)
			 : snprintf(buf, len, "%s%s+ep", caps, permitted));
	return all < len;
}

/* ---- hints for granting capabilities ---- */

bool host_in_user_namespace(void)
{
	char text[256];
	unsigned long long inside, outside, n;

	return host_file_text("/proc/self/uid_map", text, sizeof(text)) &&
	       (sscanf(text, "%llu %llu %llu", &inside, &outside, &n) != 3 ||
		inside || outside || n != UINT32_MAX);
}

/* "cap_bpf,cap_perfmon" is "--cap-add BPF --cap-add PERFMON" for a container. */
static void caps_container_options(const char *caps, char *buf, size_t len)
{
	size_t n = 0;

	for (const char *s = caps; *s && n + 1 < len;) {
		size_t name = strcspn(s, ",");
		const char *bare = strncmp(s, "cap_", 4) ? s : s + 4;

		n += (size_t)snprintf(buf + n, len - n, " --cap-add ");
		for (; bare < s + name && n + 1 < len; bare++)
			buf[n++] = *bare >= 'a' && *bare <= 'z' ? (char)(*bare - 'a' + 'A') : *bare;
		s += name + (s[name] == ',');
	}
	buf[n < len ? n : len - 1] = '\0';
}

bool host_has_capability(unsigned cap)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct c[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(__NR_capget, &head, c) &&
	       c[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

#define SETCAP "sudo setcap %s %s"

void host_hint_setcap(struct atw_err *err, const char *caps)
{
	char self[128], options[128], all[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool known = n > 0 && n < (ssize_t)sizeof(self) - 1;
	const struct caps have = caps_of_program();

	if (known)
		self[n] = '\0';
	if (host_in_user_namespace()) {
		atw_err_hint(err, "no capability of this user namespace counts; outside of it: sudo %s",
			     known ? self : "atwalk");
	} else if (!geteuid() && host_has_capability(CAP_SYS_ADMIN)) {
		atw_err_hint(err, "security rules of this machine keep even root out");
	} else if (!geteuid()) {
		caps_container_options(caps, options, sizeof(options));
		atw_err_hint(err, "root may, but this one lacks capabilities; in a container:%s",
			     options);
	} else if (known && caps_join(caps, &have, all, sizeof(all)) &&
		   strlen(_("run it as root, or allow it once")) + sizeof(": " SETCAP) + strlen(all) + strlen(self) <
			   sizeof(err->hint)) {
		atw_err_hint_command(err, "run it as root, or allow it once", SETCAP, all, self);
	} else {                 /* a truncated command would not work */
		atw_err_hint(err, "run it as root");
	}
}
