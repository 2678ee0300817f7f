// SPDX-License-Identifier: GPL-2.0-or-later
/* tlb.c - TLB sizes from CPUID. */
#include "host/tlb.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { EAX, EBX, ECX, EDX };

/*
 * Leaf 18H, deterministic address translation parameters: Intel SDM, volume 2A,
 * CPUID. Each sub-leaf is a TLB; several of one level add up.
 */
static bool tlb_of_leaf_18(tlb_cpuid_fn *cpuid, void *arg, struct tlb_size *ret)
{
	enum { NONE, DATA, CODE, UNIFIED, LOAD, SUBS_MAX = 64 };
	enum { PAGES_4K = 1, PAGES_2M = 2 };
	unsigned level[2] = { 0 }, both = 0;
	uint32_t *const entries[2] = { &ret->small, &ret->large };
	uint32_t r[4], last;

	cpuid(arg, 0x18, 0, r);
	last = r[EAX] < SUBS_MAX ? r[EAX] : SUBS_MAX;
	for (uint32_t sub = 0; sub <= last; sub++) {
		unsigned type, at;
		uint32_t n;

		cpuid(arg, 0x18, sub, r);
		type = r[EDX] & 0x1f;
		at = r[EDX] >> 5 & 7;
		n = (r[EBX] >> 16) * r[ECX];
		if ((type != DATA && type != UNIFIED && type != LOAD) || !n)
			continue;
		for (unsigned i = 0; i < 2; i++) {
			if (!(r[EBX] & (i ? PAGES_2M : PAGES_4K)) || at < level[i])
				continue;
			*entries[i] = at > level[i] ? n : *entries[i] + n;
			level[i] = at;
		}
		if (r[EBX] & PAGES_4K && r[EBX] & PAGES_2M && at > both)
			both = at;
	}
	ret->shared = both && both == level[0] && both == level[1];
	return ret->small || ret->large;
}

/* Leaf 2: descriptors, a byte each; of second-level TLBs: table 3-12 of the same. */
static bool tlb_of_leaf_2(tlb_cpuid_fn *cpuid, void *arg, struct tlb_size *ret)
{
	static const struct {
		uint8_t byte;
		uint16_t small, large;
	} known[] = {
		{ 0xc1, 1024, 1024 }, { 0xc3, 1536, 1536 }, { 0xca, 512, 0 },
	};
	uint32_t r[4];

	cpuid(arg, 2, 0, r);
	for (unsigned i = 0; i < 16; i++) {
		uint8_t byte = (uint8_t)(r[i / 4] >> i % 4 * 8);

		/* The low byte of EAX is a count; bit 31 marks an invalid register. */
		if (!i || r[i / 4] >> 31)
			continue;
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (known[k].byte == byte)
				*ret = (struct tlb_size){ known[k].small, known[k].large,
							  known[k].large };
	}
	return ret->small;
}

/* Leaves 80000006H and 80000005H: AMD APM, volume 3, E.4.4 and E.4.5. */
static bool tlb_of_amd(tlb_cpuid_fn *cpuid, void *arg, struct tlb_size *ret)
{
	uint32_t r[4];

	cpuid(arg, 0x80000006, 0, r);
	ret->large = r[EAX] >> 28 ? r[EAX] >> 16 & 0xfff : 0;
	ret->small = r[EBX] >> 28 ? r[EBX] >> 16 & 0xfff : 0;
	if (ret->small)
		return true;
	cpuid(arg, 0x80000005, 0, r);
	ret->large = r[EAX] >> 16 & 0xff;
	ret->small = r[EBX] >> 16 & 0xff;
	return ret->small;
}

bool tlb_of_cpuid(tlb_cpuid_fn *cpuid, void *arg, struct tlb_size *ret)
{
	struct tlb_size t = { 0 };
	uint32_t r[4], last, extended;

	cpuid(arg, 0, 0, r);
	last = r[EAX];
	cpuid(arg, 0x80000000, 0, r);
	extended = r[EAX];
	if (!(last >= 0x18 && tlb_of_leaf_18(cpuid, arg, &t)) &&
	    !(extended >= 0x80000006 && tlb_of_amd(cpuid, arg, &t)) &&
	    !(last >= 2 && tlb_of_leaf_2(cpuid, arg, &t)))
		return false;
	*ret = t;
	return true;
}

#if defined(__x86_64__) || defined(__i386__)
static void tlb_host_cpuid(void *arg, uint32_t leaf, uint32_t sub, uint32_t ret[4])
{
	__cpuid_count(leaf, sub, ret[EAX], ret[EBX], ret[ECX], ret[EDX]);
}

bool tlb_of_host(struct tlb_size *ret)
{
	return tlb_of_cpuid(tlb_host_cpuid, NULL, ret);
}
#else
bool tlb_of_host(struct tlb_size *ret)
{
	return false;
}
#endif
