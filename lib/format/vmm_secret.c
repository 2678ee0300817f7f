// SPDX-License-Identifier: GPL-2.0-or-later
/* vmm_secret.c - one sentence for each way to keep a guest's memory from its host. */
#include "format/vmm_secret.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"

void vmm_privacy_text(const struct vmm_privacy *p, char *ret, size_t len)
{
	static const char *const texts[] = {
		[VMM_OPEN] = "",
		[VMM_GUEST_MEMFD] =
			N_("private pages of the guest (guest_memfd) are in no process and not read"),
		[VMM_SEV] = N_("the guest's memory is encrypted (SEV): only the guest can read it"),
		[VMM_SEV_SNP] =
			N_("the guest's memory is encrypted (SEV-SNP): only pages that it shares are read"),
		[VMM_TDX] =
			N_("the guest's memory is encrypted (TDX): only pages that it shares are read"),
		[VMM_PKVM] =
			N_("the guest is protected (pKVM): only pages that it shares are read"),
	};
	const char *text = (size_t)p->secret < ARRAY_SIZE(texts) ? texts[p->secret] : "";
	size_t at;

	snprintf(ret, len, "%s", *text ? message(text) : "");
	at = strlen(ret);
	if (at && p->counted)
		snprintf(ret + at, len - at, _("; %" PRIu64 " of %" PRIu64 " pages are private"),
			 p->private, p->pages);
}
