/* SPDX-License-Identifier: GPL-2.0-or-later */
/* caps.h - capabilities of this process and of its program file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <atwalk/base.h>

/* Bit N for CAP_... N. */
struct caps {
	uint64_t permitted, inheritable;
};

/*
 * Parses the extended attribute security.capability: struct vfs_cap_data of
 * <linux/capability.h>, revisions 1 to 3. false: invalid.
 */
bool caps_parse(const void *data, size_t size, struct caps *ret);
/*
 * "cap_bpf,cap_perfmon" and the other capabilities of `have` in the syntax of setcap(8):
 * with +ep, and in quotes those that are only inheritable with +ei. false: it does not
 * fit.
 */
bool caps_join(const char *caps, const struct caps *have, char *buf, size_t len);

/* Is this process in a container, where capabilities do not help? */
bool host_in_user_namespace(void);
/* Is the capability effective: CAP_... of <linux/capability.h>? */
bool host_has_capability(unsigned cap);
/*
 * Set a hint that grants the running program just these capabilities: a command, or
 * options of a container. The command keeps the capabilities that the file has.
 */
void host_hint_setcap(struct atw_err *err, const char *caps);
