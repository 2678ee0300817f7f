/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/references.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digits.h"
#include "host/references_backends.h"

const struct references_backend *const references_backends[] = {
	&references_pmu, &references_qemu, &references_watch, &references_step,
};
const size_t references_nbackends = ARRAY_SIZE(references_backends);

int references_find(const char *name, const struct references_backend **ret,
		    struct atw_err *err)
{
	char list[64] = "";

	for (size_t i = 0; i < references_nbackends; i++) {
		size_t n = strlen(list);

		if (!strcmp(references_backends[i]->name, name)) {
			*ret = references_backends[i];
			return ATW_OK;
		}
		snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
			 references_backends[i]->name);
	}
	return atw_err_set(err, ATW_E_USAGE, "unknown recorder '%.40s': expected one of %s", name,
			   list);
}

int references_choose(const struct references_options *o,
		      const struct references_backend **ret, struct atw_err *err)
{
	char why[2048] = "";

	for (size_t i = 0; i < references_nbackends; i++) {
		const struct references_backend *b = references_backends[i];
		struct atw_err one = { 0 };
		struct line l = { why + strlen(why), why + sizeof(why) - 1, false };

		if (b->needs_range && !o->nranges)
			continue;
		if (b->probe(o, &one) == ATW_OK) {
			*ret = b;
			return ATW_OK;
		}
		line_text(&l, why[0] ? "; " : "");
		line_text(&l, b->name);
		line_text(&l, ": ");
		line_text(&l, one.text);
	}
	return atw_err_set(err, ATW_E_UNSUPPORTED, "no recorder is available here: %s", why);
}
