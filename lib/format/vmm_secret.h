/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm_secret.h - what keeps the memory of a guest from its host. Pure. */
#pragma once

#include <atwalk/base.h>

enum vmm_secret {
	VMM_OPEN,                /* nothing */
	VMM_GUEST_MEMFD,         /* private pages are in no process */
	VMM_SEV,                 /* also SEV-ES: all of it is there, and encrypted */
	VMM_SEV_SNP,
	VMM_TDX,
	VMM_PKVM,                /* arm64 */
};

struct vmm_privacy {
	enum vmm_secret secret;
	bool counted;            /* the next two are known */
	uint64_t private, pages; /* pages of the guest that only it can read, and all of them */
};

/* A sentence about it, translated; empty: there is nothing to say. */
void vmm_privacy_text(const struct vmm_privacy *p, char *ret, size_t len);
