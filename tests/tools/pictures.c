/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pictures.c - every kind of picture, drawn from generated data.
 *
 *	pictures FOLDER FORMAT N   one file of each kind, with N processes
 *	pictures FILE.html N       all of them in one report, with a table
 *
 * Names are hostile and numbers are spread as those of real machines are: few are
 * large and many are small.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

#include "base/cleanup.h"
#include "plot/html_report.h"
#include "plot/chart.h"
#include "picture_file.h"

enum { MOST = 2000, PARTS = 7, POINTS = 60 };

static const char *const names[] = {
	"</script><script>document.title='broken'</script>", "nginx",
	"postgres: writer", "systemd-journald", "sshd: root@pts/0", "init",
	"java -Xmx8g -jar /opt/company/server/application.jar", "ba\xe2\x80\x8bsh", "\" onload=\"x",
	"caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xff\033[31m", "]]><x>", "=tiny_sys",
};
static struct chart_key parts[PARTS] = {
	{ "stack", 0 }, { "heap and .bss", 0 }, { ".data", 0 }, { ".text", 0 },
	{ "library .bss", 0 }, { "library .data", 0 }, { "library .text", 0 },
};

static struct process {
	char name[96];
	uint64_t value[PARTS], wide[PARTS];
	struct chart_point point[POINTS];
} process[MOST];
static size_t n;

static struct atw_err err;
static uint64_t seed = 42;

static uint64_t any(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static void make(void)
{
	for (unsigned k = 0; k < PARTS; k++)
		parts[k].color = palette_color(k);
	for (size_t i = 0; i < n; i++) {
		struct process *p = &process[i];
		uint64_t most = 1 + 40000 / (1 + any(n)), y = any(1000) << 16;
		bool leaks = any(8) == 0;

		snprintf(p->name, sizeof(p->name), i < ARRAY_SIZE(names) ? "%s" : "%s %zu",
			 names[i % ARRAY_SIZE(names)], i);
		for (unsigned k = 0; k < PARTS; k++) {
			p->value[k] = any(most);
			p->wide[k] = p->value[k] * (1 + any(4)) + (i == 3 && k == 1) * 500000;
		}
		for (unsigned k = 0; k < POINTS; k++) {
			p->point[k] = (struct chart_point){ 1000 + 60 * k, y };
			y += any(3) << (leaks ? 18 : 14);
		}
	}
}

static int draw_bars(struct scene *s, bool pairs)
{
	struct chart_bar bar[MOST];
	const struct chart_bars c = {
		.head = { "Processes", "pages of 4 KiB", "processes", AXIS_COUNT },
		.names = { "resident", "virtual" },
		.key = parts, .nkeys = PARTS, .bar = bar, .n = n,
	};

	for (size_t i = 0; i < n; i++)
		bar[i] = (struct chart_bar){ process[i].name, NULL, process[i].value,
					     pairs ? process[i].wide : NULL };
	return chart_bars(&c, s, &err);
}

static int bars(struct scene *s)
{
	return draw_bars(s, false);
}

static int pairs(struct scene *s)
{
	return draw_bars(s, true);
}

static int treemap(struct scene *s)
{
	static struct chart_cell cell[MOST * (1 + PARTS)];
	struct chart_treemap c = {
		.head = { "Processes, and what their memory is for", "pages of 4 KiB",
			  "processes", AXIS_COUNT },
		.cell = cell, .key = parts, .nkeys = PARTS,
	};

	for (size_t i = 0; i < n; i++) {
		uint32_t parent = (uint32_t)c.n;

		cell[c.n++] = (struct chart_cell){ process[i].name, NULL, 0, CHART_TOP,
						   palette_color(0) };
		for (unsigned k = 0; k < PARTS; k++)
			cell[c.n++] = (struct chart_cell){ parts[k].name, NULL,
							   process[i].value[k], parent,
							   parts[k].color };
	}
	return chart_treemap(&c, s, &err);
}

static int growth(struct scene *s)
{
	struct chart_line line[MOST];
	const struct chart_lines c = {
		.head = { "What grows", "bytes", "processes", AXIS_BYTES },
		.unit_x = AXIS_SECONDS, .line = line, .n = n,
	};

	for (size_t i = 0; i < n; i++)
		line[i] = (struct chart_line){ process[i].name, process[i].point, POINTS,
					       process[i].point[POINTS - 1].y - process[i].point[0].y };
	return chart_lines(&c, s, &err);
}

static int stacks(struct scene *s)
{
	static const struct chart_head head = { "Memory by process, file and use",
						"pages of 4 KiB", "", AXIS_COUNT };
	struct flame *f;
	int rc = flame_open(&f, &err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n && rc == ATW_OK; i++) {
		for (unsigned k = 0; k < PARTS && rc == ATW_OK; k++) {
			char stack[3 * 96];

			snprintf(stack, sizeof(stack), "%.90s;%.90s;%.90s", process[i].name,
				 k < 4 ? process[i].name : k & 1 ? "libssl.so.3" : "libc.so.6",
				 parts[k].name);
			rc = flame_add(f, stack, process[i].value[k], &err);
		}
	}
	if (rc == ATW_OK)
		rc = flame_draw(f, &head, s, &err);
	flame_close(f);
	return rc;
}

static int ram(struct scene *s)
{
	static const struct chart_key use[] = {
		{ "free", 0xcfdce6 }, { "anon", 0xe69f00 }, { "file", 0x56b4e9 },
		{ "slab", 0x009e73 }, { "kernel", 0x0072b2 },
	};
	uint64_t base = n > 100 ? 0 : 0x40000000, size = n > 100 ? UINT64_C(1) << 40 : 96 << 20;
	struct hilbert h;
	int rc = hilbert_init(&h, base, base + size - 1, 4096, ARRAY_SIZE(use), &err);

	if (rc < 0)
		return rc;
	for (uint64_t pa = base; pa < base + size;) {
		uint64_t left = (base + size - pa) / 4096;
		uint64_t pages = 1 + any(any(3) ? size >> 23 : size >> 17);

		if (pages > left)
			pages = left;
		if (any(20))
			hilbert_add(&h, pa, pages, (unsigned)any(ARRAY_SIZE(use)));
		pa += pages * 4096;
	}
	rc = hilbert_draw(&h, "What RAM is used for", use, s, &err);
	hilbert_deinit(&h);
	return rc;
}

static const struct {
	const char *name;
	int (*draw)(struct scene *s);
} kinds[] = {
	{ "bars", bars }, { "pairs", pairs }, { "treemap", treemap }, { "growth", growth },
	{ "stacks", stacks }, { "ram", ram },
};

static int table(struct html *h)
{
	static const struct atw_column cols[] = {
		{ .key = "pid", .type = ATW_T_COUNT, .help = "number of the process" },
		{ .key = "name", .type = ATW_T_TEXT },
		{ .key = "size", .type = ATW_T_BYTES },
		{ .key = "address", .type = ATW_T_VA },
	};
	static const struct atw_schema schema = { "table", cols, ARRAY_SIZE(cols) };
	const struct atw_output_opts o = { .path = NULL };
	struct atw_output *out = NULL;
	int rc = html_table(h, &o, &schema, &out, &err);

	for (size_t i = 0; i < n && rc == ATW_OK; i++) {
		const union atw_value v[] = {
			{ .u = i }, { .s = process[i].name },
			{ .u = chart_sum(process[i].value, PARTS) * 4096 },
			{ .u = UINT64_MAX - (i << 12) },
		};

		rc = atw_output_row(out, &(struct atw_row){ v, i % 5 == 4 ? 0xb : 0xf }, &err);
	}
	if (rc == ATW_OK)
		rc = atw_output_commit(out, &err);
	atw_output_close(out);
	return rc;
}

static int report(const char *path)
{
	struct html *h = NULL;
	struct scene s;
	int rc = html_open(path, "</title>Report", &h, &err);

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && rc == ATW_OK; i++) {
		html_section(h, kinds[i].name, kinds[i].name, "of things that never were");
		scene_init(&s, 1, 1);
		rc = kinds[i].draw(&s);
		if (rc == ATW_OK)
			rc = html_picture(h, &s, &err);
		scene_deinit(&s);
	}
	if (rc == ATW_OK) {
		html_section(h, "table", "Table", NULL);
		rc = table(h);
	}
	if (rc == ATW_OK)
		rc = html_commit(h, &err);
	html_close(h);
	return rc;
}

static int files(const char *folder, const char *format)
{
	const struct picture_format *f = picture_find(format);
	int rc = f ? ATW_OK : atw_err_set(&err, ATW_E_USAGE, "no format %s", format);

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && rc == ATW_OK; i++) {
		char path[4096];
		struct scene s;

		snprintf(path, sizeof(path), "%s/%s-%zu.%s", folder, kinds[i].name, n, format);
		scene_init(&s, 1, 1);
		rc = kinds[i].draw(&s);
		if (rc == ATW_OK)
			rc = picture_write(&s, f, path, &err);
		scene_deinit(&s);
	}
	return rc;
}

int main(int argc, char **argv)
{
	int rc;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: pictures FOLDER FORMAT N | pictures FILE.html N\n");
		return 2;
	}
	n = strtoul(argv[argc - 1], NULL, 10);
	if (n > MOST)
		n = MOST;
	make();
	rc = argc == 3 ? report(argv[1]) : files(argv[1], argv[2]);
	if (rc < 0)
		fprintf(stderr, "pictures: %s\n", err.text);
	return rc < 0;
}
