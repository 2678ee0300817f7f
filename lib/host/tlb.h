/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tlb.h - number of data TLB entries, as reported by the CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Entries of the last level for data; 0: none, or not reported. */
struct tlb_size {
	uint32_t small, large;   /* for pages of 4K, and of 2M */
	bool shared;             /* both sizes share the entries */
};

/* EAX, EBX, ECX, EDX of a leaf and its sub-leaf. */
typedef void tlb_cpuid_fn(void *arg, uint32_t leaf, uint32_t sub, uint32_t ret[4]);

/* From x86's CPUID; false: no TLB is reported. */
bool tlb_of_cpuid(tlb_cpuid_fn *cpuid, void *arg, struct tlb_size *ret);
/* Of this machine; false: not known (other architectures do not report it). */
bool tlb_of_host(struct tlb_size *ret);
