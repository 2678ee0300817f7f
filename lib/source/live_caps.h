/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_caps.h - capabilities of the program file, and the list for setcap(8) that keeps them. */
#ifndef SOURCE_LIVE_CAPS_H
#define SOURCE_LIVE_CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
