/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.h - defaults of options from configuration files: ~/.config/atwalk/config.ini,
 * then the file that $ATWALK_CONFIG names; or the one of --config alone.
 */
#pragma once

#include "command.h"

/* One line of a file: a default. */
struct config_entry {
	char *section, *key, *value;
	const char *file;        /* as it is shown */
	int line;
	bool used;               /* by the command that runs */
};

struct config {
	struct config_entry *v;
	size_t n, cap;
	char *file[2];           /* that were read */
	bool show;               /* `atwalk info --config` */
};

/*
 * Takes --config FILE and --no-config out of argv and reads what is left to read. Prints
 * errors; 0 or an exit status. To be released whatever it returns.
 */
int config_read(struct config *ret, const struct command *cmd, int *argc, char **argv);
/* Reads one file alone, whatever its sections are for. Likewise. */
int config_load(struct config *ret, const char *path);
/*
 * Sets what options the entries name before the command line is parsed: those of section
 * [output], [logging], [source] and of the command's own. Prints errors.
 */
int config_apply(struct config *f, const struct command *cmd, const struct opt_set *sets,
		 size_t nsets, struct common *c);
/*
 * After that: columns, filter, sort and group of [output], for rows that have the columns of
 * addresses, where the command line does not say otherwise.
 */
void config_apply_rows(struct config *f, struct common *c);
void config_release(struct config *f);
/* "FILE:LINE: WHY", and what there is instead, or NULL. Wrong usage. */
int config_wrong(const struct config_entry *e, const char *why, const char *known);
/* Is it a section for all commands? */
bool config_is_shared(const char *section);
/* Keys of sections that all commands share: number `i`, as section and key; false: no more. */
bool config_key(size_t i, const char **section, char key[32]);
/* The entry that is in effect for a key: the last one; NULL: none. */
const struct config_entry *config_find(const struct config *f, const char *section,
				       const char *key);
