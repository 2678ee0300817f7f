/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Different targets share nothing: threads that ask all there is to ask, each its own
 * target, get what one thread gets. `make tsan` runs this under ThreadSanitizer.
 */
#include <atwalk/atwalk.h>

#include <pthread.h>

#include "test.h"

enum { THREADS = 4 };

struct answers {
	const char *source;
	uint64_t tasks, vmas, pages, entries, rows, mapped;
	uint64_t symbol;
	int64_t status;          /* of the first that failed */
};

static int ask_process(struct answers *a, struct atw_target *t, uint32_t pid)
{
	const struct atw_subject subject = { .size = sizeof(subject), .pid = pid };
	const struct atw_page_run *run;
	const struct atw_vma *v;
	struct atw_pages *pages;
	struct atw_vmas *vmas;
	struct atw_space *s;
	int r = atw_space_open(t, &subject, &s, NULL);

	if (r < 0)
		return r;
	r = atw_vmas_open(s, &vmas, NULL);
	while (r == ATW_OK && atw_vmas_next(vmas, &v, NULL) == ATW_OK)
		a->vmas++;
	if (r == ATW_OK)
		atw_vmas_close(vmas);
	if (r == ATW_OK)
		r = atw_pages_open(s, NULL, &pages, NULL);
	while (r == ATW_OK && atw_pages_next(pages, &run, NULL) == ATW_OK)
		a->pages += run->count;
	if (r == ATW_OK)
		atw_pages_close(pages);
	atw_space_close(s);
	return r;
}

static int ask_tables(struct answers *a, struct atw_target *t)
{
	const struct atw_walk_entry *e;
	const struct atw_symbol *sym;
	const struct atw_mapping *m;
	struct atw_space *s;
	struct atw_walk *w;
	struct atw_rmap *rmap;
	int r = atw_space_open(t, NULL, &s, NULL);

	if (r < 0)
		return r;
	r = atw_walk_open(s, NULL, &w, NULL);
	while (r == ATW_OK && atw_walk_next(w, &e, NULL) == ATW_OK)
		a->entries += e->count;
	if (r == ATW_OK)
		atw_walk_close(w);
	atw_space_close(s);
	if (r == ATW_OK)
		r = atw_rmap_open(t, ATW_PA(0xf83d000), 4096, NULL, &rmap, NULL);
	while (r == ATW_OK && atw_rmap_next(rmap, &m, NULL) == ATW_OK)
		a->mapped++;
	if (r == ATW_OK)
		atw_rmap_close(rmap);
	if (r == ATW_OK)
		r = atw_symbol_find(t, "init_task", &sym, NULL);
	a->symbol = r == ATW_OK ? sym->va.u : 0;
	return r;
}

static int ask_report(struct answers *a, struct atw_target *t)
{
	const struct atw_report_row *row;
	struct atw_report *report;
	int r = atw_report_open("use", &t, 1, NULL, &report, NULL);

	while (r == ATW_OK && atw_report_next(report, &row, NULL) == ATW_OK)
		a->rows++;
	if (r == ATW_OK)
		atw_report_close(report);
	return r;
}

static void *ask(void *arg)
{
	const struct atw_tasks_opts processes = { .size = sizeof(processes), .processes = 1 };
	struct answers *a = arg;
	const struct atw_task *k;
	struct atw_tasks *tasks;
	struct atw_target *t;
	int r = atw_target_open(a->source, NULL, &t, NULL);

	a->status = r;
	if (r < 0)
		return NULL;
	r = atw_tasks_open(t, &processes, &tasks, NULL);
	while (r == ATW_OK && atw_tasks_next(tasks, &k, NULL) == ATW_OK) {
		a->tasks++;
		r = ask_process(a, t, k->pid);
	}
	if (r == ATW_OK)
		atw_tasks_close(tasks);
	if (r == ATW_OK && atw_target_caps(t) & ATW_CAP_TABLES)
		r = ask_tables(a, t);
	if (r == ATW_OK)
		r = ask_report(a, t);
	a->status = r;
	atw_target_close(t);
	return NULL;
}

TEST(threads_with_a_target_each)
{
	static const char *const source[] = {
		"tests/data/x86_64-tasks.kdump", "tests/data/captures/server.cap",
	};
	struct answers alone[2] = { { .source = source[0] }, { .source = source[1] } };
	struct answers got[THREADS] = { 0 };
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++) {
		got[i].source = source[i % 2];
		CHECK_EQ(pthread_create(&thread[i], NULL, ask, &got[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	ask(&alone[0]);
	ask(&alone[1]);
	CHECK_EQ(alone[0].status, ATW_OK);
	CHECK_EQ(alone[0].tasks, 22);
	CHECK_EQ(alone[0].mapped, 23);
	CHECK_EQ(alone[0].symbol, UINT64_C(0xffffffffab21aa40));
	CHECK_EQ(alone[1].status, ATW_OK);
	CHECK_EQ(alone[1].tasks, 2);
	CHECK_EQ(alone[1].rows, 2);
	for (int i = 0; i < THREADS; i++)
		CHECK(!memcmp(&got[i], &alone[i % 2], sizeof(got[i])));
}
