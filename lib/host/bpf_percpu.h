/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_percpu.h - offsets of the per-CPU data of the running kernel, without its symbols.
 *
 * __per_cpu_offset is data, which many kernels leave out of kallsyms.
 */
#pragma once

#include "host/bpf.h"

/*
 * The offset of each CPU, up to `most`; `pptrs`: of bpf_array.pptrs. ATW_E_UNSUPPORTED:
 * this kernel does not let a program find them (Linux 5.18 does).
 */
int bpf_percpu(struct host_bpf *b, uint32_t pptrs, uint64_t *ret, size_t most, size_t *ret_n,
	       struct atw_err *err);
