/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * areas [-n] SOURCE [PART...] - every task, and every process's memory areas:
 *
 *	I tid pid ppid state kernel|user name         ppid -1: not known
 *	M pid start-end perms offset major:minor inode name
 *
 * The latter are lines of /proc/PID/maps with one blank between the fields, and
 * names escaped as the kernel does it there; "?" ends one that could not be
 * read. Last comes how long it took.
 * -n hides all that the container knows of the kernel, so that it has to be
 * found in memory. Exit status 0; 4 when something could not be read, which
 * standard error says.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/walk.h"

#include "linux/kernel.h"
#include "source/wrap.h"

static int status;

/* ---- -n ---- */

static ssize_t pass_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			 struct atw_err *e)
{
	return s->below->ops->read(s->below, pa, buf, len, e);
}

static int no_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	return strcmp(key, "machine") ? ATW_E_MISSING : wrap_fact(s, key, ret);
}

static const struct atw_source_ops bare = {
	.name = "bare", .help = "memory and nothing else",
	.close = wrap_close, .read = pass_read, .extent = wrap_extent,
	.fact = no_fact, .describe = wrap_describe,
};

/* ---- lines ---- */

static void complain(uint32_t pid, const struct atw_err *e)
{
	fprintf(stderr, "process %" PRIu32 ": %s\n", pid, e->text);
	status = 4;
}

static void put_name(const char *s)
{
	for (; *s; s++)
		if (*s == '\n')
			fputs("\\012", stdout);
		else
			putchar(*s);
}

/* mm->map_count says how many there are; the gate area is not among them. */
static void check_count(struct atw_kernel *k, const struct lnx_task *t, uint32_t found)
{
	const struct needs *n = kernel_needs(k);
	struct atw_err e = { 0 };
	struct kmem *m;
	uint32_t count;

	if (n->member[N_mm_map_count] == NEED_NONE || kernel_kmem(k, &m, NULL) < 0 ||
	    kmem_u32(m, t->mm + n->member[N_mm_map_count], &count, &e) < 0)
		complain(t->pid, &e);
	else if (count != found)
		complain(t->pid, (atw_err_set(&e, ATW_E_DAMAGED,
					      "%" PRIu32 " areas, but map_count is %" PRIu32,
					      found, count), &e));
}

static void list(struct atw_kernel *k, const struct lnx_task *t)
{
	static struct atw_area a;
	struct atw_err e = { 0 };
	struct atw_areas *areas;
	uint32_t count = 0;
	int r;

	if (atw_areas_open(k, t->mm, &areas, &e) < 0) {
		complain(t->pid, &e);
		return;
	}
	while ((r = atw_areas_next(areas, &a, &e)) != ATW_END) {
		if (r < 0) {
			complain(t->pid, &e);
			continue;
		}
		count += !(a.start.u >> 63);
		if (a.unread)
			complain(t->pid, atw_areas_error(areas));
		printf("M %" PRIu32 " %08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64
		       " %02" PRIx32 ":%02" PRIx32 " %" PRIu64 " ", t->pid, a.start.u, a.end.u,
		       a.read ? 'r' : '-', a.write ? 'w' : '-', a.exec ? 'x' : '-',
		       a.shared ? 's' : 'p', a.offset, a.major, a.minor, a.inode);
		put_name(a.name);
		puts(a.unread ? "?" : "");
	}
	atw_areas_close(areas);
	check_count(k, t, count);
}

int main(int argc, char **argv)
{
	const struct atw_kernel_opts o = { 0 };
	struct atw_err e = { 0 };
	struct timespec from, to;
	struct atw_source *s;
	struct atw_kernel *k;
	struct lnx_tasks *tasks;
	struct lnx_task t;
	bool strip = argc > 1 && !strcmp(argv[1], "-n");
	int r;

	argv += strip;
	argc -= strip;
	if (argc < 2)
		errx(2, "usage: areas [-n] SOURCE [PART...]");
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (atw_source_open(argv[1], (const char *const *)argv + 2, (size_t)argc - 2, &s, &e) < 0)
		errx(3, "%s: %s", argv[1], e.text);
	if (strip)
		s = wrap_new(&bare, s, 0, NULL);
	if (!s || atw_kernel_open(s, &o, &k, &e) < 0 || lnx_tasks_open(k, &tasks, &e) < 0)
		errx(3, "%s: %s", argv[1], e.text);
	while ((r = lnx_tasks_next(tasks, &t, &e)) != ATW_END) {
		if (r < 0) {
			complain(0, &e);
			continue;
		}
		printf("I %" PRIu32 " %" PRIu32 " %" PRId64 " %c %s ", t.pid, t.tgid,
		       t.has_ppid ? (int64_t)t.ppid : -1, t.state, t.kernel ? "kernel" : "user");
		put_name(t.name);
		putchar('\n');
		if (t.leader && t.mm)
			list(k, &t);
	}
	lnx_tasks_close(tasks);
	atw_kernel_close(k);
	atw_source_close(s);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("# %.1f ms\n", (double)(to.tv_sec - from.tv_sec) * 1e3 +
	       (double)(to.tv_nsec - from.tv_nsec) / 1e6);
	return status;
}
