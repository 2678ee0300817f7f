/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_model.h - a KMAP, read whole and added up, for report and diff. */
#ifndef KMAP_CLI_MODEL_H
#define KMAP_CLI_MODEL_H

#include "kmap.h"
#include "kmap/lib/names.h"

/* --level: its values are an enum kmap_level and 1, for 0 is that it was not given. */
extern const struct opt_choice kmap_level_choices[];

struct kmap_model_source {
	struct kmap_model *m;
	struct kmap_summary summary;
	char about[160];                 /* "sampled, scale 64"; "": nothing to add */
};

/*
 * Complains itself; 0, EXIT_PARTIAL, or what is worse, and then there is no model.
 * `top`: how many of the hottest objects; 0: the usual number.
 */
int kmap_model_source(const struct common *c, const char *name, size_t top,
		      struct kmap_model_source *ret);
/* Warns if there are no symbols, or if they name few of the file's instructions. */
void kmap_warn_names(const struct common *c, const char *name, const struct kmap_names *n);
void kmap_warn_no_symbols(const struct common *c, const char *name);

#endif
