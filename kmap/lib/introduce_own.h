/* SPDX-License-Identifier: GPL-2.0-or-later */
/* introduce_own.h - functions shared by the files of the kernel discovery. */
#pragma once

#include "kmap/lib/introduce.h"

/* Where a function is, and where it ends. */
int introduce_function(struct atw_kernel *k, const char *name, struct kshare_code *ret,
		       struct atw_err *err);
/* Tracepoints, their records, and tasks. */
int introduce_code(struct atw_kernel *k, struct kshare_kernel *ret, struct atw_err *err);
/* Where preempt_count is: in thread_info, or on x86 each CPU's own. */
struct btf;
void introduce_depth(const struct btf *types, struct kshare_kernel *ret);
void introduce_depth_of_cpus(struct atw_kernel *k, struct kshare_kernel *ret);
/* Functions of allocators without a tracepoint, as far as this kernel has them. */
void introduce_calls(struct atw_kernel *k, struct kshare_kernel *ret);
