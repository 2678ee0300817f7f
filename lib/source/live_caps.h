/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_caps.h - capabilities of the program file, and the list for setcap(8) that keeps them. */
#ifndef SOURCE_LIVE_CAPS_H
#define SOURCE_LIVE_CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The permitted set out of the extended attribute security.capability, bit N for CAP_... N:
 * struct vfs_cap_data of <linux/capability.h>, revisions 1 to 3. false: it is none of these.
 */
bool caps_parse(const void *data, size_t size, uint64_t *ret);
/* That of the program that runs; 0 if its file has none. */
uint64_t caps_of_program(void);
/*
 * "cap_bpf,cap_perfmon" and what else of `have` there is, by number, as setcap(8) takes it.
 * false: it does not fit.
 */
bool caps_join(const char *caps, uint64_t have, char *buf, size_t len);

#endif
