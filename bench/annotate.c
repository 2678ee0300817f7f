/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate BUILD - what a row costs that the plugins of the tree add columns to.
 *
 * A million rows as `pages` has them go through an output to a function that counts them,
 * without plugins and with each; the difference is for each row, in ns of CPU time.
 *
 * The plugin python calls a function of a script for each 1024 rows. The scripts here make one
 * column out of one, by the shortest expression that Python has for it.
 */
#include "measure.h"

#include <stdarg.h>

#include "base/cleanup.h"
#include "host/plugin.h"

enum { ANNOTATE_ROWS = 1000000, ANNOTATE_LOOKS = 9 };
enum { C_ADDRESS, C_PHYSICAL, C_SIZE, C_NODE, C_PID, C_TASK, C_AREA, C_FLAGS, C_MORE, C_COUNT = 30 };

static struct atw_column col[C_COUNT] = {
	[C_ADDRESS] = COLUMN("address", VA, 0, ""), [C_PHYSICAL] = COLUMN("physical", PA, 0, ""),
	[C_SIZE] = COLUMN("size", BYTES, 0, ""), [C_NODE] = COLUMN("node", COUNT, 0, ""),
	[C_PID] = COLUMN("pid", COUNT, 0, ""), [C_TASK] = COLUMN("task", TEXT, 0, ""),
	[C_AREA] = COLUMN("area", TEXT, 0, ""), [C_FLAGS] = COLUMN("flags", HEX, 0, ""),
};
static const struct atw_schema schema = { "pages", col, C_COUNT };

static int annotate_open_tap(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	return ATW_OK;
}

static int annotate_count(void *arg, const struct atw_row *row, struct atw_err *err)
{
	uint64_t *sum = arg;

	*sum += row->v[C_ADDRESS].u;
	return ATW_OK;
}

ATW_PRINTF(3, 4) static int annotate_error(struct atw_err *err, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarnx(fmt, ap);
	va_end(ap);
	return atw_err_set(err, status, "a plugin failed");
}

/* ns of CPU time; NULL: without a plugin. */
static double annotate_measure(const struct plugin *p)
{
	static char names[C_COUNT][8];
	uint64_t sum = 0;
	const struct atw_tap tap = { .open = annotate_open_tap, .row = annotate_count, .arg = &sum };
	const struct atw_output_opts oo = {
		.tap = &tap, .annotators = p ? &p->annotator : NULL, .nannotators = p != NULL,
		.listing = ATW_LISTING_RUNNING | ATW_LISTING_PIDS,
	};
	struct atw_output *out;
	struct atw_err err = { 0 };
	double began;

	for (int i = C_MORE; i < C_COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), "more%c", 'a' + i - C_MORE);
		col[i] = (struct atw_column){ .key = names[i], .type = ATW_T_COUNT, .help = "" };
	}
	began = now_ns();
	need(atw_output_open(&oo, &schema, &out, &err), &err);
	for (uint64_t i = 0; i < ANNOTATE_ROWS; i++) {
		const union atw_value v[C_COUNT] = {
			[C_ADDRESS].u = i << 12, [C_PHYSICAL].u = i * 5 % ANNOTATE_ROWS << 12,
			[C_SIZE].u = 4096, [C_PID].u = i / 10000 + 1, [C_TASK].s = "a task",
			[C_AREA].s = i / 100 % 2 ? "[heap]" : "/usr/lib/libc.so.6",
		};
		const struct atw_row row = { v, (1u << C_COUNT) - 1 };

		need(atw_output_row(out, &row, &err), &err);
	}
	need(atw_output_commit(out, &err), &err);
	atw_output_close(out);
	if (sum != (uint64_t)(ANNOTATE_ROWS - 1) * ANNOTATE_ROWS / 2 << 12)
		errx(1, "rows are missing");
	return now_ns() - began;
}

/* ---- plugins ---- */

struct annotate_one {
	const char *name, *title;
	const char *script;      /* of the plugin python; else NULL */
	double target;           /* 0: none */
	bool absent;
	struct plugin plugin;
	double ns[ANNOTATE_LOOKS];
};

static struct annotate_one all[] = {
	{ .name = "example", .title = "--plugin example", .target = 100 },
	{ .name = "numa", .title = "--plugin numa", .target = 100 },
	{ .name = "drm", .title = "--plugin drm", .target = 100 },
	{ .name = "python", .title = "--plugin python, a number of a number", .target = 250,
	  .script = "class annotator:\n"
		    "    inputs, columns = ['physical'], {'frame': 'count'}\n"
		    "    def rows(self, batch):\n"
		    "        return {'frame': [p >> 12 for p in batch['physical']]}\n" },
	{ .name = "python", .title = "--plugin python, a text of a text", .target = 250,
	  .script = "class annotator:\n"
		    "    inputs, columns = ['area'], {'first': 'text'}\n"
		    "    def rows(self, batch):\n"
		    "        return {'first': [a[:1] for a in batch['area']]}\n" },
};
enum { ANNOTATE_PLUGINS = sizeof(all) / sizeof(all[0]) };

static void annotate_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) == EOF || fclose(f))
		err(2, "%s", path);
}

static void annotate_load(const char *build, struct annotate_one *o)
{
	static const struct atw_host host = {
		.size = sizeof(host), .abi = ATW_PLUGIN_ABI, .version = "bench", .error = annotate_error,
	};
	struct plugin_file f;
	struct atw_err why = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/plugins/%s.so", build, o->name);
	if (plugin_file_open(path, false, &f, &why) < 0) {
		printf("  not measured: %s\n", why.text);
		o->absent = true;
		return;
	}
	snprintf(path, sizeof(path), "%s/bench/annotate.script", build);
	if (o->script)
		annotate_write(path, o->script);
	need(plugin_load(&f, &host, o->script ? path : NULL, &o->plugin, &why), &why);
	plugin_file_close(&f);
}

int main(int argc, char **argv)
{
	static double plain[ANNOTATE_LOOKS];

	if (argc != 2)
		errx(2, "usage: annotate BUILD");
	heading("columns of plugins for a million rows, ns each", NULL);
	for (int i = 0; i < ANNOTATE_PLUGINS; i++)
		annotate_load(argv[1], &all[i]);
	for (int look = -1; look < ANNOTATE_LOOKS; look++) {
		double first = annotate_measure(NULL);

		if (look >= 0)
			plain[look] = first;
		for (int i = 0; i < ANNOTATE_PLUGINS; i++) {
			double t = all[i].absent ? 0 : annotate_measure(&all[i].plugin);

			if (look >= 0)
				all[i].ns[look] = (t - first) / ANNOTATE_ROWS;
		}
	}
	figure("the rows themselves", median(plain, ANNOTATE_LOOKS) / ANNOTATE_ROWS, 0);
	for (int i = 0; i < ANNOTATE_PLUGINS; i++) {
		if (all[i].absent)
			continue;
		figure(all[i].title, median(all[i].ns, ANNOTATE_LOOKS), all[i].target);
		plugin_stop(&all[i].plugin);
	}
	return 0;
}
