/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect.c - cost of collecting everything on this machine, compared with the bare reads
 * of the same data: the line of each task, the words of each page. A careful reader skips
 * the mapcount where the entry already shows that there is one mapping, which is the row
 * below; atwalk does that as well.
 *
 * Most pages belong to children of this process: eight with 64 MiB each, and four with
 * many VMAs. Of all other processes only their files in /proc are read.
 */
#include "live_plain.h"

#include <dirent.h>

#include "census/census.h"
#include "target/provider.h"

enum { DENSE = 8, TYPICAL = 4, MOST = 256, TASKS = 4096 };

struct input {
	pid_t task[TASKS];               /* threads of the kernel among them */
	size_t tasks;
	struct looked_at at[MOST];       /* all processes that may be looked at */
	size_t n;
	int sink;                        /* /dev/null */
};

/* A whole file; seq_file returns at most a page per read. */
static void read_whole(pid_t pid, const char *name)
{
	static char buf[65536];
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	if (fd >= 0)
		close(fd);
}

static void follow_exe(pid_t pid)
{
	char path[64], to[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, to, sizeof(to));
	(void)n;                         /* threads of the kernel have none */
}

/* ---- the ways ---- */

typedef struct answer looking_fn(void *arg);

static struct answer reads(struct input *in, looking_fn *look)
{
	static const char *const texts[] = { "stat", "status", "cgroup" };

	for (size_t i = 0; i < in->tasks; i++) {
		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
			read_whole(in->task[i], texts[k]);
		follow_exe(in->task[i]);
	}
	for (size_t i = 0; i < in->n; i++) {
		read_whole(in->at[i].process.pid, "maps");
		look(&in->at[i]);
	}
	return (struct answer){ 0, 0 };
}

/* The bare cost, as in bench/live: entry, flags and count of each page. */
static struct answer bare_reads(void *arg) { return reads(arg, bare); }
static struct answer least_reads(void *arg) { return reads(arg, bare_counts); }

/* Counting mappings before the first record takes two passes over all entries. */
static void entries_once_more(struct input *in)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct plan *p = &in->at[i].plan;

		read_whole(in->at[i].process.pid, "maps");
		read_pieces(in->at[i].pagemap, p->words, p->nwords, in->at[i].buf);
	}
}

static struct answer bare_reads_twice(void *arg)
{
	entries_once_more(arg);
	return bare_reads(arg);
}

static struct answer least_reads_twice(void *arg)
{
	entries_once_more(arg);
	return least_reads(arg);
}

static struct answer collect(struct input *in, bool refs)
{
	const struct pagemap_provider_opts po = { .flags = true, .counts = true };
	const struct census_collect_opts co = { .refs = refs };
	struct census_writer *w;
	struct census_sink to;
	struct provider *p;
	struct atw_err err = { 0 };

	need(pagemap_provider_open(&po, NULL, NULL, &p, &err), &err);
	need(census_writer_open(in->sink, 0, &w, &err), &err);
	to = census_writer_sink(w);
	need(census_collect(p, &co, &to, &err), &err);
	need(census_writer_end(w, &err), &err);
	census_writer_close(w);
	provider_close(p);
	return (struct answer){ 0, 0 };
}

static struct answer with_refs(void *arg) { return collect(arg, true); }
static struct answer without_refs(void *arg) { return collect(arg, false); }

/* ---- what there is ---- */

/* Every process with readable pages, except this one: its own pages change too much. */
static void look_at_all(struct input *in)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	if (!d)
		err(1, "/proc");
	while ((e = readdir(d)) != NULL && in->n < MOST) {
		struct looked_at *l = &in->at[in->n];
		struct process p = { .pid = (pid_t)strtol(e->d_name, NULL, 10), .hi = UINT64_MAX };
		char path[48];
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)p.pid);
		if (p.pid <= 0 || p.pid == getpid())
			continue;
		if (in->tasks < TASKS)
			in->task[in->tasks++] = p.pid;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		close(fd);
		l->flags = in->at[0].flags;
		l->counts = in->at[0].counts;
		look_at(l, &p);
		if (l->present)
			in->n++;
		else
			look_away(l);
	}
	closedir(d);
}

int main(void)
{
	static const struct way ways[] = {
		{ .name = "bare reads of the same words", .go = bare_reads },
		{ .name = "without counts that the entry has", .go = least_reads },
		{ .name = "collect --no-refs", .go = without_refs, .times = 1.5 },
	};
	static const struct way counted[] = {
		{ .name = "bare reads, of entries twice", .go = bare_reads_twice },
		{ .name = "without counts that the entry has", .go = least_reads_twice },
		{ .name = "collect, mappings counted first", .go = with_refs, .times = 1.5 },
	};
	struct process child[DENSE + TYPICAL];
	static struct input in;
	uint64_t present = 0;

	in.sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	printf("\ncollecting\n");
	if (!look_open(&in.at[0]))
		return 0;
	for (int i = 0; i < DENSE + TYPICAL; i++)
		child[i] = process_start(i < DENSE ? shape_dense : shape_typical,
					 (i < DENSE ? 64 : 600) * MIB, 0);
	look_at_all(&in);
	for (size_t i = 0; i < in.n; i++)
		present += in.at[i].present;
	printf("  %zu tasks, %zu processes, %" PRIu64 " pages that are there\n", in.tasks, in.n,
	       present);
	heading("all processes, ns of CPU time a page", "to least");
	contest(ways, sizeof(ways) / sizeof(ways[0]), &in, present);
	contest(counted, sizeof(counted) / sizeof(counted[0]), &in, present);
	for (int i = 0; i < DENSE + TYPICAL; i++)
		process_stop(&child[i]);
	return 0;
}
