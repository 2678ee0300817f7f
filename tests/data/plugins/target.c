/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.c - a target for tests/cli/plugin-target.sh: a few tasks, areas and pages, and each
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

struct place {
	unsigned task, area, batch, lost, process;
};

static struct place place;

static int open_it(void *instance, const struct atw_plugin_input *in, void **ret,
		   struct atw_err *err)
{
	if (is("open"))
		return host->error(err, ATW_E_UNSUPPORTED, "'%s' is not to its liking", in->text);
	if (is("silent"))
		return -77;
	opened++;
	/* All of it is read before another one is opened. */
	memset(&place, 0, sizeof(place));
	*ret = &place;
	return ATW_OK;
}

static void close_it(void *state)
{
	if (is("closed"))
		fprintf(stderr, "closed %d\n", opened);
	opened--;
}

/* 7 with a thread, 9 that shares its memory, 11 that has ended, 12 with little. */
static int task(void *state, struct atw_plugin_task *ret, struct atw_err *err)
{
	static const struct atw_plugin_task all[] = {
		{ .pid = 7, .flags = ATW_TASK_PARENT, .ppid = 1, .space = 70, .name = "seven", .exe = "/bin/seven" },
		{ .pid = 8, .tgid = 7, .space = 70, .name = "a thread" },
		{ .pid = 9, .flags = ATW_TASK_PARENT, .ppid = 7, .space = 70, .name = "nine, or so" },
		{ .pid = 11, .name = "ended" },
		{ .pid = 12, .space = 120 },
	};
	struct place *p = state;
	size_t size = ret->size;

	if (is("endless") && p->task < 5000000) {
		ret->pid = ++p->task;
		return ATW_OK;
	}
	if (is("task") && p->task == 1)
		return host->error(err, ATW_E_IO, "it has lost task 1");
	if (p->task == sizeof(all) / sizeof(all[0]))
		return ATW_END;
	*ret = all[p->task++];
	ret->size = size;
	p->process = ret->pid;
	p->area = 0;
	if (is("number"))
		ret->pid = 0;
	if (is("flag"))
		ret->flags = 2;
	return ATW_OK;
}

static int area(void *state, struct atw_plugin_area *ret, struct atw_err *err)
{
	enum { RW = ATW_AREA_READ | ATW_AREA_WRITE | ATW_AREA_RIGHTS, PAGES = ATW_AREA_PAGES };
	static const struct atw_plugin_area all[] = {
		{ .start = 0x1000, .end = 0x5000, .flags = ATW_AREA_READ | ATW_AREA_EXEC | ATW_AREA_RIGHTS | PAGES,
		  .file = 1, .offset = 0x2000, .inode = 5, .name = "/lib/a,b" },
		{ .start = 0x5000, .end = 0x9000, .flags = RW | PAGES, .name = "[heap]" },
		{ .start = 0xa000, .end = 0xc000, .flags = PAGES },
		{ .start = 0xc000, .end = 0xd000, .flags = ATW_AREA_RIGHTS | PAGES },
		{ .start = 0x10000, .end = 0x12000, .flags = RW | PAGES | ATW_AREA_SHARED, .name = "lost" },
		{ .start = 0x20000, .end = 0x21000, .flags = RW, .name = "unread" },
	};
	struct place *p = state;
	unsigned n = is("incomplete") ? 6 : is("unread") ? 5 : 4;
	size_t size = ret->size;

	if (is("area") && p->area == 1)
		return host->error(err, ATW_E_IO, "it has lost area 1");
	if (p->area == (p->process == 12 ? 1 : n))
		return ATW_END;
	*ret = all[p->area++];
	ret->size = size;
	p->batch = 0;
	if (is("odd") && p->area == 2)
		ret->start += 1;
	if (is("empty") && p->area == 2)
		ret->end = ret->start;
	if (is("overlap") && p->area == 2)
		ret->start -= 0x1000;
	if (is("huge") && p->area == 2)
		ret->end = UINT64_MAX - 0xfff;
	if (is("bit") && p->area == 2)
		ret->flags |= 64;
	if (is("long") && p->area == 2) {
		static char name[70000];

		ret->name = memset(name, 'x', sizeof(name) - 1);
	}
	return ATW_OK;
}

static int pages(void *state, struct atw_plugin_pages *ret, struct atw_err *err)
{
	static const uint64_t address[][2] = {
		{ 0x1000, 0x3000 }, { 0x5000, 0x8000 }, { 0xa000 }, { 0xc000 }, { 0x10000, 0x11000 },
	};
	static const uint64_t count[][2] = { { 1, 2 }, { 2, 1 }, { 1 }, { 1 }, { 1, 1 } };
	static const uint64_t kind[][2] = {
		{ ATW_PAGE_PRESENT, ATW_PAGE_PRESENT }, { ATW_PAGE_PRESENT, ATW_PAGE_SWAPPED },
		{ ATW_PAGE_PRESENT }, { ATW_PAGE_PRESENT }, { ATW_PAGE_UNKNOWN, ATW_PAGE_PRESENT },
	};
	static const uint64_t frame[][2] = {
		{ 0x100000, 0x200000 }, { ATW_FRAME_UNKNOWN, 0 }, { 0x100000 }, { 0x300000 },
		{ 0, 0x400000 },
	};
	static uint64_t other[2];
	struct place *p = state;
	unsigned i = p->area - 1;

	if (is("pages") && p->batch)
		return host->error(err, ATW_E_IO, "it has lost batch 1");
	if (p->batch++ || is("none"))
		return ATW_END;
	ret->n = 1 + (i != 2 && i != 3);
	ret->address = address[i];
	ret->count = count[i];
	ret->state = kind[i];
	if (!is("frameless"))
		ret->frame = frame[i];
	if (i != 1)
		return ATW_OK;
	memcpy(other, address[i], sizeof(other));
	if (is("outside") || is("before") || is("half")) {
		other[1] = is("outside") ? 0x9000 : is("half") ? 0x8800 : 0x6000;
		ret->address = other;
	}
	if (is("zero") || is("many")) {
		other[0] = is("zero") ? 0 : UINT64_MAX / 4096 + 2;
		other[1] = 1;
		ret->count = other;
	}
	if (is("state")) {
		other[0] = 4;
		ret->state = other;
	}
	if (is("frame") || is("high")) {
		other[0] = is("frame") ? 0x10 : UINT64_C(0xfffffffffff000);
		ret->frame = other;
	}
	if (is("batch"))
		ret->n = ATW_BATCH_RUNS + 1;
	if (is("array"))
		ret->state = NULL;
	return ATW_OK;
}

static int lost(void *state, struct atw_plugin_lost *ret, struct atw_err *err)
{
	struct place *p = state;

	if (is("lost"))
		return host->error(err, ATW_E_IO, "it has lost what is lost");
	if (p->lost++ || !is("incomplete"))
		return ATW_END;
	ret->pid = 12;
	ret->what = "areas";
	ret->why = "the disk was full";
	return ATW_OK;
}

static int fact(void *state, const char *key, const void **ret, uint64_t *ret_len)
{
	static const uint64_t page = 4096, odd = 5000, one = 1;

	if (!strcmp(key, "page")) {
		*ret = is("pagesize") ? &odd : is("tiny") ? &one : &page;
		*ret_len = is("short") ? 4 : 8;
		return ATW_OK;
	}
	*ret = strcmp(key, "machine") ? "9.9" : "x86_64";
	*ret_len = strlen(*ret);
	return strcmp(key, "machine") && strcmp(key, "release") ? ATW_E_MISSING : ATW_OK;
}

static const char *describe(void *state)
{
	return is("plain") ? NULL : "five tasks";
}

#ifndef NAME
#define NAME "saved"
#endif
#ifndef NOTED
#define NOTED NAME
#endif
#ifndef SIZE
#define SIZE sizeof(struct atw_plugin_target)
#endif
#ifndef FLAGS
#define FLAGS 0
#endif

static const struct atw_plugin_target target = {
	.size = SIZE, .name = NAME, .help = "a few tasks", .flags = FLAGS,
	.open = open_it, .task = task, .area = area,
#ifndef LACKS_PAGES
	.pages = pages,
#endif
	.lost = lost, .fact = fact, .describe = describe, .close = close_it,
};

static const struct atw_plugin_target *get(void *instance, uint32_t i)
{
	return i ? NULL : &target;
}

#ifdef TWICE
static int extent(void *state, uint64_t i, struct atw_plugin_extent *ret, struct atw_err *err)
{
	return ATW_END;
}

static int64_t read_it(void *state, uint64_t pa, void *buf, uint64_t len, struct atw_err *err)
{
	return 0;
}

static const struct atw_plugin_source source = {
	.size = sizeof(source), .name = NAME, .open = open_it, .extent = extent, .read = read_it,
};

static const struct atw_plugin_source *get_source(void *instance, uint32_t i)
{
	return i ? NULL : &source;
}
#define SOURCE .source = get_source,
#else
#define SOURCE
#endif

static int start(const struct atw_host *h, const char *options, void **ret, struct atw_err *err)
{
	host = h;
	mistake = options ? options : "";
	return ATW_OK;
}

ATW_PLUGIN_WITH("saved", "1", ATW_PLUGIN_TARGET, "a target of tests", "", NOTED, "",
		.start = start, SOURCE .target = get);
