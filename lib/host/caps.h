/* SPDX-License-Identifier: GPL-2.0-or-later */
/* caps.h - capabilities of this process and of its program file. */
#ifndef HOST_CAPS_H
#define HOST_CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <atwalk/base.h>

/* Bit N for CAP_... N. */
struct caps {
	uint64_t permitted, inheritable;
};

/*
 * Out of the extended attribute security.capability: struct vfs_cap_data of
 * <linux/capability.h>, revisions 1 to 3. false: it is none of these.
 */
bool caps_parse(const void *data, size_t size, struct caps *ret);
/*
 * What the program that runs has and setcap(8) would take away: all that its file has,
 * and as inheritable the ambient set, which execve(2) clears if the file has any.
 */
struct caps caps_of_program(void);
/*
 * "cap_bpf,cap_perfmon" and what else `have` has, as setcap(8) takes it: with +ep, and
 * in quotes what is inheritable alone with +ei. false: it does not fit.
 */
bool caps_join(const char *caps, const struct caps *have, char *buf, size_t len);

/* Are we in one, where capabilities are of no use to look at the machine? */
bool host_in_user_namespace(void);
/* Is it in effect: CAP_... of <linux/capability.h>? */
bool host_has_capability(unsigned cap);
/*
 * Say how to allow the program that runs just this much: a command, or what a
 * container must be started with. The command keeps the capabilities that its file has.
 */
void host_hint_setcap(struct atw_err *err, const char *caps);

#endif
