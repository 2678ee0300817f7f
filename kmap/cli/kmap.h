/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap.h - what the commands of `atwalk kmap` share. */
#pragma once

#include "cli/common/command.h"
#include "kmap/lib/read.h"
#include "kmap/lib/names.h"

/* Of the table in main.c. */
extern const struct command kmap_record, kmap_ctl, kmap_show, kmap_report, kmap_diff,
			    kmap_convert, kmap_sql;

/* Is the output compressed: by --zstd, or by a name that ends in .zst? */
bool kmap_is_packed(const struct common *c, bool zstd);
/*
 * Passes all records of a KMAP to `to`, reports damage, and stores counts in *summary.
 * `name` is as typed; "-" is standard input. A failure of `to` is wrapped in `into`,
 * unless that is NULL. Returns 0, EXIT_PARTIAL, or a worse exit status.
 */
int kmap_source(const struct common *c, const char *name, const struct kmap_sink *to,
		const char *into, struct kmap_summary *summary);

/* ---- aggregated contents of a KMAP, for report and diff ---- */

/* --level: values are an enum kmap_level plus 1; 0: not given. */
extern const struct opt_choice kmap_level_choices[];

struct kmap_model_source {
	struct kmap_model *m;
	struct kmap_summary summary;
	uint64_t since;                  /* only objects allocated then or later */
	uint64_t kept, left_out;         /* of these; of all others, with `since` */
	char about[160];                 /* "sampled, scale 64"; "": nothing to add */
};

/*
 * Prints errors; returns 0, EXIT_PARTIAL, or a worse exit status and no model. `top`: how
 * many of the hottest objects to keep; 0: the default.
 */
int kmap_model_source(const struct common *c, const char *name, size_t top,
		      struct kmap_model_source *ret);
/*
 * The same of objects allocated at the time `since` or later; 0: of all. Objects without
 * a recorded time are not among them.
 */
int kmap_model_since(const struct common *c, const char *name, uint64_t since,
		     struct kmap_model_source *ret);
/*
 * When a task of this name allocated its first object, or the time of the first mark of
 * this name. Prints errors, but no damage: the file is read once more. Returns 0 or an
 * exit status.
 */
int kmap_model_task_time(const char *name, const char *task, uint64_t *ret);
int kmap_model_mark_time(const char *name, const char *mark, uint64_t *ret);
/* Warns if there are no symbols, or if they name few of the file's instructions. */
void kmap_warn_names(const struct common *c, const char *name, const struct kmap_names *n);
void kmap_warn_no_symbols(const struct common *c, const char *name);
