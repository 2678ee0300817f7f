// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live_caps.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

#include "base/bytes.h"

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

struct caps caps_of_program(void)
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
static bool is_in(const char *caps, const char *name)
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

/* The names of a set, but for those in the list, each behind a comma. */
static size_t join_names(const char *caps, uint64_t set, char *buf, size_t len)
{
	size_t n = 0;

	for (unsigned i = 0; i < 64 && n < len; i++) {
		if (!(set >> i & 1) || (i < NAMES && is_in(caps, names[i])))
			continue;
		n += (size_t)(i < NAMES ? snprintf(buf + n, len - n, ",cap_%s", names[i])
					: snprintf(buf + n, len - n, ",%u", i));
	}
	return n;
}

bool caps_join(const char *caps, const struct caps *have, char *buf, size_t len)
{
	char permitted[512] = "", inheritable[512] = "";
	size_t n = join_names(caps, have->permitted, permitted, sizeof(permitted)), m, all;

	m = join_names(caps, have->inheritable & ~have->permitted, inheritable,
		       sizeof(inheritable));
	if (n >= sizeof(permitted) || m >= sizeof(inheritable))
		return false;
	all = (size_t)(m ? snprintf(buf, len, "'%s%s+ep %s+ei'", caps, permitted, inheritable + 1)
			 : snprintf(buf, len, "%s%s+ep", caps, permitted));
	return all < len;
}
