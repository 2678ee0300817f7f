/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_config.c - `atwalk info --config`: each key of the configuration, and its origin. */
#include "common/config.h"
#include "info.h"

enum { K_SECTION, K_KEY, K_VALUE, K_ORIGIN, K_COUNT };

static const struct atw_column config_columns[K_COUNT] = {
	[K_SECTION] = COLUMN("section", TEXT, 8, "section of the file"),
	[K_KEY] = COLUMN("key", TEXT, 10, "key, which is the long name of an option"),
	[K_VALUE] = COLUMN("value", TEXT, 24,
			   "value in effect; n/a: that of the program"),
	[K_ORIGIN] = COLUMN("origin", TEXT, 8, "file and line, or built-in"),
};
static const struct atw_schema config_schema = {"config", config_columns, K_COUNT};

static int info_config_put(struct atw_output *out, const char *section, const char *key,
			   const struct config_entry *e, struct atw_err *err)
{
	char origin[400];
	const union atw_value v[K_COUNT] = {
		[K_SECTION].s = section,
		[K_KEY].s = key,
		[K_VALUE].s = e ? e->value : "",
		[K_ORIGIN].s = e ? origin : "built-in",
	};
	const struct atw_row row = {
		v, 1u << K_SECTION | 1u << K_KEY | 1u << K_ORIGIN | (e ? 1u << K_VALUE : 0)};

	if (e)
		snprintf(origin, sizeof(origin), "%.380s:%d", e->file, e->line);
	return atw_output_row(out, &row, err);
}

/* Keys that all commands share, and those that files set for single commands. */
static int info_config_all(struct atw_output *out, const struct config *f, struct atw_err *err)
{
	const char *section;
	char key[32];
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && config_key(i, &section, key); i++)
		r = info_config_put(out, section, key, config_find(f, section, key), err);
	for (size_t i = 0; i < f->n && r == ATW_OK; i++) {
		const struct config_entry *e = &f->v[i];

		if (!config_is_shared(e->section) && config_find(f, e->section, e->key) == e)
			r = info_config_put(out, e->section, e->key, e, err);
	}
	return r;
}

int info_config(const struct common *c)
{
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = {0};
	int r;

	rows_opts(c, &oo);
	r = atw_output_open(&oo, &config_schema, &out, &err);
	if (r == ATW_OK)
		r = info_config_all(out, c->config, &err);
	return output_end(out, r, EXIT_COMPLETE, &err);
}
