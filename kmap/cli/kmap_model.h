/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_model.h - aggregated contents of a KMAP, for report and diff. */
#ifndef KMAP_CLI_MODEL_H
#define KMAP_CLI_MODEL_H

#include "kmap.h"
#include "kmap/lib/names.h"

/* --level: values are an enum kmap_level plus 1; 0: not given. */
extern const struct opt_choice kmap_level_choices[];

struct kmap_model_source {
	struct kmap_model *m;
	struct kmap_summary summary;
	char about[160];                 /* "sampled, scale 64"; "": nothing to add */
};

/*
 * Prints errors; returns 0, EXIT_PARTIAL, or a worse exit status and no model. `top`: how
 * many of the hottest objects to keep; 0: the default.
 */
int kmap_model_source(const struct common *c, const char *name, size_t top,
		      struct kmap_model_source *ret);
/* Warns if there are no symbols, or if they name few of the file's instructions. */
void kmap_warn_names(const struct common *c, const char *name, const struct kmap_names *n);
void kmap_warn_no_symbols(const struct common *c, const char *name);

#endif
