/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.c - a source for tests/cli/plugin-source.sh: a few page tables of x86-64, and each
 * mistake that an option names. By -D, one that is wrong when it is loaded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/plugin.h>

static const struct atw_host *host;
static const char *mistake = "";
static int opened;

static int is(const char *name)
{
	return !strcmp(mistake, name);
}

enum { PAGE = 4096, TABLES = 4 };
enum { PRESENT = 1, WRITABLE = 2, USER = 4, LARGE = 128 };

/* From 0x1000 on: a root, two tables below it, and one of pages. */
static uint64_t table[TABLES][PAGE / 8];

static void fill(void)
{
	const uint64_t leads = PRESENT | WRITABLE | USER;

	table[0][0] = 0x2000 | leads;
	table[1][0] = 0x3000 | leads;
	table[2][0] = 0x200000 | leads | LARGE;
	table[2][1] = 0x4000 | leads;
	table[2][2] = 0x6000 | leads;    /* known to be zero */
	table[2][3] = 0x5000 | leads;    /* excluded */
	table[2][4] = 0x9000 | leads;    /* absent */
	table[3][0] = 0x5000 | PRESENT;
	table[3][1] = 0x7000 | PRESENT | WRITABLE;
}

static int open_it(void *instance, const struct atw_plugin_input *in, void **ret,
		   struct atw_err *err)
{
	if (is("open"))
		return host->error(err, ATW_E_UNSUPPORTED, "'%s' is not to its liking", in->text);
	if (is("silent"))
		return -77;
	if (in->data || in->len)
		return host->error(err, ATW_E_USAGE, "there is a file");
	fill();
	opened++;
	*ret = table;
	return ATW_OK;
}

static void close_it(void *state)
{
	if (is("closed"))
		fprintf(stderr, "closed %d\n", opened);
	opened--;
}

static int extent(void *state, uint64_t i, struct atw_plugin_extent *ret, struct atw_err *err)
{
	static const struct atw_plugin_extent all[] = {
		{ .start = 0x1000, .len = TABLES * PAGE, .kind = ATW_MEMORY_DATA },
		{ .start = 0x5000, .len = PAGE, .kind = ATW_MEMORY_EXCLUDED },
		{ .start = 0x6000, .len = 2 * PAGE, .kind = ATW_MEMORY_ZERO },
		{ .start = 0x8000, .len = 2 * PAGE, .kind = ATW_MEMORY_ABSENT },
		{ .start = 0xa000, .len = PAGE, .kind = ATW_MEMORY_EXCLUDED },
	};
	size_t size = ret->size;

	if (is("endless")) {
		ret->start = i * PAGE;
		ret->len = PAGE / 2;
		ret->kind = ATW_MEMORY_DATA;
		return ATW_OK;
	}
	if (is("fails") && i == 1)
		return host->error(err, ATW_E_IO, "it has lost extent %" PRIu64, i);
	if (i == sizeof(all) / sizeof(all[0]) || is("empty"))
		return ATW_END;
	*ret = all[i];
	ret->size = size;
	if (i != 1)
		return ATW_OK;
	if (is("overlap"))
		ret->start -= 1;
	if (is("descending"))
		ret->start = 0;
	if (is("nothing"))
		ret->len = 0;
	if (is("top"))
		ret->len = UINT64_MAX - 0x4000;
	if (is("kind"))
		ret->kind = 4;
	return ATW_OK;
}

static int64_t read_it(void *state, uint64_t pa, void *buf, uint64_t len, struct atw_err *err)
{
	/* As many bytes as there are, or what the option says. */
	if (pa < 0x1000 || pa >= 0x5000 || len > 0x5000 - pa)
		return host->error(err, ATW_E_DAMAGED, "0x%" PRIx64 " was never offered", pa);
	if (is("reads") && pa >= 0x3000)
		return host->error(err, ATW_E_IO, "the cable is off at 0x%" PRIx64, pa);
	if (is("long") && pa >= 0x3000)
		return (int64_t)len + 1;
	if (is("huge") && pa >= 0x3000)
		return INT64_MAX;
	if (is("negative") && pa >= 0x3000)
		return INT64_MIN;
	if (is("none") && pa >= 0x3000)
		return 0;
	if (is("short") && len > 7)
		len = 7;
	memcpy(buf, (const char *)table + (pa - 0x1000), len);
	return (int64_t)len;
}

static int fact(void *state, const char *key, const void **ret, uint64_t *ret_len)
{
	static const uint64_t one = 1, many = UINT64_MAX, cr0 = 0x80050033, cr3 = 0x1000, cr4 = 0x20;
	static const struct {
		const char *key;
		const void *data;
		uint64_t len;
	} all[] = {
		{ "machine", "x86_64", 6 }, { "release", "9.9", 3 }, { "cpus", &one, 8 },
		{ "cpu0.cr0", &cr0, 8 }, { "cpu0.cr3", &cr3, 8 }, { "cpu0.cr4", &cr4, 8 },
		/* Not among the facts of plugins. */
		{ "way", "kcore", 5 }, { "image.start", &one, 8 }, { "percpu", &one, 8 },
	};

	if (!strcmp(key, "cpus") && (is("cpus") || is("number") || is("null"))) {
		*ret = is("null") ? NULL : is("cpus") ? (const void *)&many : "a number";
		*ret_len = is("number") ? 9 : 8;
		return ATW_OK;
	}
	if (!strcmp(key, "vmcoreinfo") && is("length")) {
		*ret = "short";
		*ret_len = UINT64_MAX;
		return ATW_OK;
	}
	if (!strcmp(key, "truncated") && is("truncated")) {
		*ret = "the cable was \033[1mtoo short";
		*ret_len = strlen(*ret);
		return ATW_OK;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(key, all[i].key)) {
			*ret = all[i].data;
			*ret_len = all[i].len;
			return ATW_OK;
		}
	return ATW_E_MISSING;
}

static const char *describe(void *state)
{
	return "four tables";
}

#ifndef NAME
#define NAME "tables"
#endif
#ifndef NOTED
#define NOTED NAME
#endif
#ifndef MAGIC
#define MAGIC ""
#endif

static const struct atw_plugin_source source_of = {
	.size = sizeof(source_of), .name = NAME, .help = "for tests",
#ifdef FLAGS
	.flags = FLAGS,
#endif
	.open = open_it, .extent = extent,
#ifndef LACKS_READ
	.read = read_it,
#endif
	.fact = fact, .describe = describe, .close = close_it,
};

static const struct atw_plugin_source *source(void *instance, uint32_t i)
{
	return i ? NULL : &source_of;
}

static int start(const struct atw_host *h, const char *options, void **ret, struct atw_err *err)
{
	host = h;
	mistake = options ? options : "";
	return ATW_OK;
}

ATW_PLUGIN_WITH("tables", "1", ATW_PLUGIN_SOURCE, "for tests",
		"", NOTED, MAGIC,
		.start = start, .source = source);
