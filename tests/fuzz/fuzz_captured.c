/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_captured.c - captures as sources: for any file, page ranges cover all addresses in
 * order, VMAs do not overlap, and a task that is read twice is the same.
 */
#include "fuzz.h"
#include "target/captured.h"
#include "target/provider.h"

/* A run that repeats a page 2^50 times is emitted in full, which takes too long. */
enum { RUNS = 20000, TASKS = 50 };

struct seen {
	uint64_t runs, present, areas;
};

static void cannot(void *arg, const char *what, const struct atw_err *err)
{
	(void)arg;
	FUZZ_CHECK(*what && err->status < 0 && *err->text, "an incomplete error");
}

static void damaged(void *arg, const struct atw_err *err)
{
	cannot(arg, "file", err);
}

static void areas(struct provider *p, size_t task, struct seen *s)
{
	static struct atw_area a;
	struct vma_cursor *c = NULL;
	struct atw_err err = { 0 };
	uint64_t last = 0;
	int r = vma_cursor_open(p, task, &c, &err);

	while (r == ATW_OK && (r = vma_cursor_next(c, &a, &err)) == ATW_OK) {
		FUZZ_CHECK(a.end.u - 1 >= a.start.u, "an area without an end");
		FUZZ_CHECK(!s->areas || a.start.u > last, "areas overlap");
		last = a.end.u - 1;
		s->areas++;
	}
	vma_cursor_close(c);
	check_err(r == ATW_END ? ATW_OK : r, &err);
}

static void facts(struct page_cursor *c, const struct page_run *run)
{
	const uint32_t at[] = { 0, run->count / 2, run->count - 1 };
	struct atw_err err = { 0 };
	struct frame_facts f;

	for (size_t i = 0; i < 3 && run->pa; i++) {
		page_cursor_facts(c, run, at[i], 0, run->slot, &f, &err);
		page_cursor_facts(c, run, at[i], run->slot - ((uint64_t)1 << c->p->page_shift), 0, &f, &err);
	}
}

static void pages(struct provider *p, struct page_query q, struct page_cursor **cursor,
		  struct seen *s)
{
	const struct page_run *run;
	struct atw_err err = { 0 };
	uint64_t at = q.first;
	bool ended = false;
	int r = page_cursor_open(p, &q, cursor, &err);

	while (r == ATW_OK && s->runs < RUNS &&
	       (r = page_cursor_next(*cursor, &run, &err)) == ATW_OK) {
		FUZZ_CHECK(!ended, "a run after the end");
		FUZZ_CHECK(run->count && (run->slot || !run->size), "an empty run");
		FUZZ_CHECK(s->runs ? run->va == at : run->va <= at, "a hole between runs");
		FUZZ_CHECK(q.areas_only || run->slot * run->count == run->size,
			   "the slots do not add up to the run");
		at = run->va + run->size;
		ended = !at;
		s->runs++;
		s->present += run->state == PAGE_PRESENT ? run->size : 0;
		facts(*cursor, run);
	}
	FUZZ_CHECK(r != ATW_END || ended, "the runs end early");
	check_err(r == ATW_END ? ATW_OK : r, &err);
}

static void look(struct captured *c, bool areas_only)
{
	struct page_cursor *cursor = NULL;
	struct provider *p;
	struct atw_err err = { 0 };
	int r = capture_provider_open(c, cannot, NULL, &p, &err);

	FUZZ_CHECK(r == ATW_OK, "%s", err.text);
	p->every = true;
	r = p->ops->tasks(p, &err);
	check_err(r, &err);
	for (size_t i = 0; i < p->ntasks && i < TASKS; i++) {
		struct seen once = { 0 }, again = { 0 }, part = { 0 };
		struct page_query q = {
			.task = i, .last = UINT64_MAX, .areas_only = areas_only,
		};

		areas(p, i, &once);
		pages(p, q, &cursor, &once);
		q.first = (uint64_t)0x1003 << p->page_shift;
		pages(p, q, &cursor, &part);
		q.first = 0;
		areas(p, i, &again);
		pages(p, q, &cursor, &again);
		FUZZ_CHECK(once.runs == again.runs && once.present == again.present &&
			   once.areas == again.areas, "the second read differs");
	}
	page_cursor_close(cursor);
	provider_close(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct captured_opts o = { .damaged = damaged };
	struct captured *c = NULL;
	struct atw_err err = { 0 };
	char name[64];
	int fd = memory_file(data, len, name);
	int r = captured_open(name, &o, &c, &err);

	check_err(r, &err);
	if (r == ATW_OK) {
		look(c, false);
		look(c, true);
	}
	captured_close(c);
	close(fd);
	return 0;
}
