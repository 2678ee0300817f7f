/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The public API over a dump and a capture of tests/data: exact rows, options of other
 * sizes, several cursors at once, and misuse that is an error with a sentence.
 */
#include <atwalk/atwalk.h>

#include <fcntl.h>
#include <unistd.h>

#include "test.h"

#define DUMP "tests/data/x86_64-tasks.kdump"
#define CAPTURE "tests/data/captures/server.cap"

static struct atw_err err;

/* Several tests use one target each; what fails to open fails the first CHECK. */
static struct atw_target *open_target(const char *source)
{
	struct atw_target *t = NULL;

	atw_target_open(source, NULL, &t, NULL);
	return t;
}

static struct atw_space *open_process(struct atw_target *t, uint32_t pid)
{
	const struct atw_subject subject = { .size = sizeof(subject), .pid = pid };
	struct atw_space *s = NULL;

	atw_space_open(t, &subject, &s, NULL);
	return s;
}

TEST(version_macros)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", ATW_VERSION_MAJOR, ATW_VERSION_MINOR,
		 ATW_VERSION_PATCH);
	CHECK_STR(atw_version(), text);
	CHECK(ATW_VERSION_AT_LEAST(0, 1, 9));
	CHECK(ATW_VERSION_AT_LEAST(0, 2, 0));
	CHECK(!ATW_VERSION_AT_LEAST(0, 2, 1));
	CHECK(!ATW_VERSION_AT_LEAST(0, 3, 0));
	CHECK(!ATW_VERSION_AT_LEAST(1, 0, 0));
}

TEST(targets)
{
	struct atw_target *t = open_target(DUMP), *c = open_target(CAPTURE);
	const struct atw_target_info *i;

	CHECK(t && c);
	i = atw_target_get_info(t);
	CHECK_STR(i->source, DUMP);
	CHECK_STR(i->kind, "dump");
	CHECK_STR(i->format, "kdump");
	CHECK_STR(i->release, "6.1.0-50-cloud-amd64");
	CHECK_STR(i->paging, "x86_64-4");
	CHECK_STR(i->defect, "");
	CHECK_EQ(i->page_size, 4096);
	CHECK_EQ(atw_target_caps(t), ATW_CAP_MEMORY | ATW_CAP_TABLES | ATW_CAP_SYMBOLS |
				     ATW_CAP_TASKS | ATW_CAP_PROCESSES |
				     ATW_CAP_FRAMES | ATW_CAP_RMAP);
	CHECK_EQ(atw_target_need(t, ATW_CAP_TABLES | ATW_CAP_RMAP, &err), ATW_OK);
	CHECK_EQ(atw_target_need(t, ATW_CAP_RUNNING, &err), ATW_E_UNSUPPORTED);
	CHECK_EQ(atw_target_need(t, 1u << 30, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(atw_target_get_info(c)->kind, "capture");
	CHECK_STR(atw_target_get_info(c)->paging, "");
	CHECK_EQ(atw_target_caps(c), ATW_CAP_TASKS | ATW_CAP_PROCESSES | ATW_CAP_RMAP);
	err = (struct atw_err){ 0 };
	CHECK_EQ(atw_target_need(c, ATW_CAP_TASKS | ATW_CAP_TABLES, &err), ATW_E_UNSUPPORTED);
	CHECK(strstr(err.text, "walking page tables"));
	CHECK(err.hint[0]);
	atw_target_close(t);
	atw_target_close(c);
	atw_target_close(NULL);
	CHECK_EQ(atw_target_open("tests/data/README", NULL, &t, &err), ATW_E_FORMAT);
	CHECK_EQ(atw_target_open("tests/data/none", NULL, &t, &err), ATW_E_MISSING);
}

/* Programs of other releases have structs of other sizes. */
TEST(options_of_any_size)
{
	struct { size_t size; const char *const *parts; } old = { sizeof(old), NULL };
	struct { struct atw_open_opts known; uint64_t more; } later = { { 0 }, 0 };
	struct { size_t size; atw_va first; } from = { sizeof(from), ATW_VA(0x4a9000) };
	const struct atw_open_opts *o = &later.known;
	const struct atw_walk_entry *e;
	struct atw_target *t = NULL;
	struct atw_space *s;
	struct atw_walk *w;

	CHECK_EQ(atw_target_open(DUMP, (const void *)&old, &t, &err), ATW_OK);
	s = open_process(t, 1);
	CHECK(s);
	CHECK_EQ(atw_walk_open(s, (const void *)&from, &w, &err), ATW_OK);
	CHECK_EQ(atw_walk_next(w, &e, &err), ATW_OK);
	CHECK_EQ(e->va.u, 0x4a9000);
	atw_walk_close(w);
	atw_space_close(s);
	atw_target_close(t);
	later.known.size = sizeof(later);
	CHECK_EQ(atw_target_open(DUMP, o, &t, &err), ATW_OK);
	atw_target_close(t);
	later.more = 1;
	REFUSED(atw_target_open(DUMP, o, &t, &err));
	CHECK(strstr(err.text, atw_version()));
	later.known.size = 0;
	REFUSED(atw_target_open(DUMP, o, &t, &err));
	later.known.size = (size_t)1 << 40;
	REFUSED(atw_target_open(DUMP, o, &t, &err));
	later.known = (struct atw_open_opts){ .size = sizeof(later.known), .reserved = 1 };
	REFUSED(atw_target_open(DUMP, o, &t, &err));
	later.known = (struct atw_open_opts){ .size = sizeof(later.known), .root = 0x8410000 };
	REFUSED(atw_target_open(DUMP, o, &t, &err));
	later.known.paging = "x86_64-4";
	CHECK_EQ(atw_target_open(DUMP, o, &t, &err), ATW_OK);
	CHECK_EQ(atw_space_open(t, NULL, &s, &err), ATW_OK);
	CHECK_EQ(atw_space_get_info(s)->root.u, 0x8410000);
	atw_space_close(s);
	atw_target_close(t);
}

TEST(misuse)
{
	const struct atw_subject both = { .size = sizeof(both), .comm = "init", .pid = 1 };
	const struct atw_walk_opts flags = { .size = sizeof(flags), .flags = 1u << 20 };
	struct atw_target *t = open_target(DUMP);
	struct atw_space *s = NULL, *kernel = NULL;
	struct atw_report *report;
	struct atw_pages *pages;
	struct atw_vmas *vmas;
	struct atw_walk *w;
	struct atw_rmap *r;

	CHECK(t);
	CHECK_EQ(atw_space_open(t, NULL, &kernel, &err), ATW_OK);
	REFUSED(atw_target_open(NULL, NULL, &t, &err));
	REFUSED(atw_target_open(DUMP, NULL, NULL, &err));
	REFUSED(atw_target_need(NULL, 0, &err));
	REFUSED(atw_space_open(NULL, NULL, &s, &err));
	REFUSED(atw_space_open(t, &both, &s, &err));
	REFUSED(atw_translate(NULL, ATW_VA(0), NULL, &err));
	REFUSED(atw_translate_many(kernel, NULL, 1, NULL, NULL, &err));
	REFUSED(atw_walk_open(kernel, &flags, &w, &err));
	REFUSED(atw_walk_next(NULL, NULL, &err));
	REFUSED(atw_vmas_open(kernel, &vmas, &err));
	REFUSED(atw_pages_open(kernel, NULL, &pages, &err));
	REFUSED(atw_rmap_open(t, ATW_PA(0), 0, NULL, &r, &err));
	REFUSED(atw_rmap_open(t, ATW_PA(UINT64_MAX), 2, NULL, &r, &err));
	REFUSED(atw_report_open("nothing", &t, 1, NULL, &report, &err));
	REFUSED(atw_report_open("use", &t, 0, NULL, &report, &err));
	CHECK_EQ(atw_target_caps(NULL), 0);
	CHECK(!atw_target_get_info(NULL));
	CHECK(!atw_space_get_info(NULL));
	CHECK(!atw_report_column(NULL, 0));
	/* Without a struct for the error nothing else changes. */
	CHECK_EQ(atw_walk_next(NULL, NULL, NULL), ATW_E_USAGE);
	atw_space_close(NULL);
	atw_walk_close(NULL);
	atw_ranges_close(NULL);
	atw_tasks_close(NULL);
	atw_vmas_close(NULL);
	atw_pages_close(NULL);
	atw_frames_close(NULL);
	atw_rmap_close(NULL);
	atw_report_close(NULL);
	atw_space_close(kernel);
	atw_target_close(t);
}

TEST(translations)
{
	const atw_va many[] = { { 0x400123 }, { 0 }, { 0x401000 }, { UINT64_C(1) << 60 } };
	const struct atw_translation *tr;
	struct atw_target *t = open_target(DUMP);
	struct atw_space *s = open_process(t, 1);
	uint8_t state[4];
	char perms[5];
	atw_pa pa[4];

	CHECK(s);
	CHECK_STR(atw_space_get_info(s)->comm, "init");
	CHECK_STR(atw_space_get_info(s)->label, "process 1 (init)");
	CHECK_EQ(atw_space_get_info(s)->mm.u, UINT64_C(0xffff895781060000));
	CHECK_EQ(atw_translate(s, ATW_VA(0x400123), &tr, &err), ATW_OK);
	CHECK_EQ(tr->va.u, 0x400123);
	CHECK_EQ(tr->pa.u, 0x9211123);
	CHECK_EQ(tr->page_size, 4096);
	CHECK_EQ(tr->state, ATW_STATE_PRESENT);
	atw_perms_letters(tr->perms, perms);
	CHECK_STR(perms, "r--u");
	CHECK_EQ(tr->level, 0);
	CHECK_EQ(tr->nsteps, 4);
	CHECK_EQ(tr->step[0]->at.u, 0x106b000);
	CHECK_EQ(tr->step[0]->state, ATW_STATE_TABLE);
	CHECK_EQ(tr->step[3]->at.u, 0x3aa5000);
	CHECK_EQ(tr->step[3]->word, UINT64_C(0x8000000009211025));
	CHECK_EQ(tr->step[3]->state, ATW_STATE_PRESENT);
	CHECK_EQ(atw_translate(s, ATW_VA(0), &tr, &err), ATW_OK);
	CHECK_EQ(tr->state, ATW_STATE_ABSENT);
	CHECK_EQ(tr->pa.u, 0);
	REFUSED(atw_translate(s, many[3], &tr, &err));
	CHECK_EQ(atw_translate_many(s, many, 4, pa, state, &err), ATW_OK);
	CHECK_EQ(pa[0].u, 0x9211123);
	CHECK_EQ(state[0], ATW_STATE_PRESENT);
	CHECK_EQ(state[1], ATW_STATE_ABSENT);
	CHECK_EQ(pa[2].u, 0xf83d000);
	CHECK_EQ(state[3], ATW_STATE_BAD);
	CHECK_EQ(pa[3].u, 0);
	atw_space_close(s);
	atw_target_close(t);
}

/* A capture has no page tables: its pages answer. */
/* Each has a reason of its own, a short read as well. */
TEST(reads)
{
	static const struct {
		uint32_t pid;
		uint64_t va;
		int status;
		const char *text;
	} virtual[] = {
		{ 0, 5, ATW_E_NONE, "virtual address 0x5: not mapped" },
		{ 103, 0x7ff0f34ee000, ATW_E_NONE,
		  "virtual address 0x7ff0f34ee000: its page is on swap" },
		{ 1, 0x400000, ATW_E_MISSING,
		  "virtual address 0x400000: physical address 0x9211000 is not in the source" },
		{ 1, 0x800000000000, ATW_E_USAGE,
		  "0x800000000000 is not an address that x86_64-4 can translate (48 bits)" },
	};
	struct atw_target *t = open_target(DUMP);
	struct atw_space *s;
	static char buf[8192];

	CHECK(t);
	CHECK_EQ(atw_target_read(t, ATW_PA(0), buf, 16, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "physical address 0x0 is not in the source");
	CHECK_EQ(atw_target_read(t, ATW_PA(UINT64_MAX), buf, 16, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "physical address 0xffffffffffffffff is above all memory of the source");
	CHECK_EQ(atw_target_read(t, ATW_PA(0), buf, 16, NULL), ATW_E_MISSING);
	CHECK_EQ(atw_target_read(t, ATW_PA(0), buf, 0, &err), 0);
	CHECK_EQ(atw_target_read(t, ATW_PA(0x7cc9000), buf, 8192, &err), 4096);
	CHECK_EQ(err.status, ATW_E_MISSING);
	CHECK_STR(err.text, "physical address 0x7cca000 is not in the source");
	for (size_t i = 0; i < sizeof(virtual) / sizeof(virtual[0]); i++) {
		if (virtual[i].pid)
			s = open_process(t, virtual[i].pid);
		else
			CHECK_EQ(atw_space_open(t, NULL, &s, &err), ATW_OK);
		CHECK(s);
		CHECK_EQ(atw_space_read(s, ATW_VA(virtual[i].va), buf, 16, &err), virtual[i].status);
		CHECK_EQ(err.status, virtual[i].status);
		CHECK_STR(err.text, virtual[i].text);
		CHECK_EQ(atw_space_read(s, ATW_VA(virtual[i].va), buf, 16, NULL), virtual[i].status);
		atw_space_close(s);
	}
	CHECK_EQ(atw_space_open(t, NULL, &s, &err), ATW_OK);
	CHECK_EQ(atw_space_read(s, ATW_VA(UINT64_C(0xffffffffaaac9000)), buf, 8192, &err), 4096);
	CHECK_EQ(err.status, ATW_E_MISSING);
	CHECK_STR(err.text, "virtual address 0xffffffffaaaca000: "
			    "physical address 0x7cca000 is not in the source");
	atw_space_close(s);
	atw_target_close(t);
}

TEST(translations_of_a_capture)
{
	const struct atw_page_run *run;
	const struct atw_translation *tr;
	struct atw_target *t = open_target(CAPTURE);
	struct atw_space *s = open_process(t, 100);
	struct atw_pages *pages;
	struct atw_walk *w;
	uint8_t state[3];
	atw_va many[3];
	atw_pa pa[3];

	CHECK(s);
	CHECK_EQ(atw_pages_open(s, NULL, &pages, &err), ATW_OK);
	CHECK_EQ(atw_pages_next(pages, &run, &err), ATW_OK);
	CHECK_EQ(run->state, ATW_STATE_PRESENT);
	CHECK(run->pa);
	CHECK_EQ(atw_translate(s, ATW_VA(run->va.u + 5), &tr, &err), ATW_OK);
	CHECK_EQ(tr->state, ATW_STATE_PRESENT);
	CHECK_EQ(tr->pa.u, run->pa[0].u + 5);
	CHECK_EQ(tr->nsteps, 0);
	CHECK_EQ(atw_translate(s, ATW_VA(0x1000), &tr, &err), ATW_OK);
	CHECK_EQ(tr->state, ATW_STATE_ABSENT);
	many[0] = ATW_VA(run->va.u + 7);
	many[1] = ATW_VA(0x1000);
	many[2] = ATW_VA(UINT64_C(0xffff888000000000));
	CHECK_EQ(atw_translate_many(s, many, 3, pa, state, &err), ATW_OK);
	CHECK_EQ(state[0], ATW_STATE_PRESENT);
	CHECK_EQ(pa[0].u, run->pa[0].u + 7);
	CHECK_EQ(state[1], ATW_STATE_ABSENT);
	CHECK_EQ(state[2], ATW_STATE_HIDDEN);
	CHECK_EQ(pa[2].u, 0);
	CHECK_EQ(atw_walk_open(s, NULL, &w, &err), ATW_E_UNSUPPORTED);
	CHECK_EQ(atw_space_read(s, run->va, &w, 8, &err), ATW_E_UNSUPPORTED);
	atw_pages_close(pages);
	atw_space_close(s);
	atw_target_close(t);
}

TEST(walks_and_ranges)
{
	const struct atw_walk_opts tables = { .size = sizeof(tables), .flags = ATW_WALK_TABLES,
					      .last = ATW_VA(0x400fff) };
	const struct atw_ranges_opts loose = { .size = sizeof(loose), .split = ATW_SPLIT_NOTHING,
					       .last = ATW_VA(0x4fffff) };
	const struct atw_ranges_opts strict = { .size = sizeof(strict),
						.last = ATW_VA(0x401fff) };
	const struct atw_walk_entry *e;
	const struct atw_range *g;
	struct atw_target *t = open_target(DUMP);
	struct atw_space *s = open_process(t, 1);
	struct atw_ranges *ranges;
	struct atw_walk *w;

	CHECK(s);
	CHECK_EQ(atw_walk_open(s, &tables, &w, &err), ATW_OK);
	for (unsigned level = 3; level; level--) {
		CHECK_EQ(atw_walk_next(w, &e, &err), ATW_OK);
		CHECK_EQ(e->state, ATW_STATE_TABLE);
		CHECK_EQ(e->level, level);
		CHECK_EQ(e->nsteps, 4 - level);
	}
	CHECK_EQ(e->at.u, 0x3aa9010);
	CHECK_EQ(e->pa.u, 0x3aa5000);
	CHECK_EQ(atw_walk_next(w, &e, &err), ATW_OK);
	CHECK_EQ(e->va.u, 0x400000);
	CHECK_EQ(e->pa.u, 0x9211000);
	CHECK_EQ(e->bytes, 4096);
	CHECK_EQ(e->page_size, 4096);
	CHECK_EQ(e->state, ATW_STATE_PRESENT);
	CHECK_EQ(atw_walk_next(w, &e, &err), ATW_END);
	atw_walk_close(w);
	CHECK_EQ(atw_walk_open(s, &tables, &w, &err), ATW_OK);
	CHECK_EQ(atw_walk_next(w, &e, &err), ATW_OK);
	atw_walk_prune(w);
	CHECK_EQ(atw_walk_next(w, &e, &err), ATW_END);
	atw_walk_close(w);

	CHECK_EQ(atw_ranges_open(s, &strict, &ranges, &err), ATW_OK);
	CHECK_EQ(atw_ranges_next(ranges, &g, &err), ATW_OK);
	CHECK_EQ(g->va.u, 0x400000);
	CHECK_EQ(g->bytes, 4096);
	CHECK_EQ(g->flags, 0);
	CHECK_EQ(atw_ranges_next(ranges, &g, &err), ATW_OK);
	CHECK_EQ(g->va.u, 0x401000);
	CHECK_EQ(g->pa.u, 0xf83d000);
	CHECK_EQ(atw_ranges_next(ranges, &g, &err), ATW_END);
	atw_ranges_close(ranges);
	CHECK_EQ(atw_ranges_open(s, &loose, &ranges, &err), ATW_OK);
	CHECK_EQ(atw_ranges_next(ranges, &g, &err), ATW_OK);
	CHECK_EQ(g->va.u, 0x400000);
	CHECK_EQ(g->flags, ATW_RANGE_MIXED_PERMS | ATW_RANGE_SCATTERED);
	atw_ranges_close(ranges);
	atw_space_close(s);
	atw_target_close(t);
}

TEST(tasks)
{
	const struct atw_tasks_opts processes = { .size = sizeof(processes), .processes = 1 };
	const struct atw_task *k;
	struct atw_target *t = open_target(DUMP);
	struct atw_tasks *a, *b;
	unsigned n = 1;

	CHECK(t);
	CHECK_EQ(atw_tasks_open(t, NULL, &a, &err), ATW_OK);
	CHECK_EQ(atw_tasks_next(a, &k, &err), ATW_OK);
	CHECK_EQ(k->pid, 1);
	CHECK_EQ(k->tgid, 1);
	CHECK_EQ(k->state, 'S');
	CHECK_EQ(k->mm.u, UINT64_C(0xffff895781060000));
	CHECK_STR(k->comm, "init");
	CHECK(k->known & ATW_TASK_KERNEL && !k->kernel);
	/* Two cursors do not disturb each other. */
	CHECK_EQ(atw_tasks_open(t, &processes, &b, &err), ATW_OK);
	CHECK_EQ(atw_tasks_next(b, &k, &err), ATW_OK);
	CHECK_EQ(k->pid, 1);
	CHECK_EQ(atw_tasks_next(b, &k, &err), ATW_OK);
	CHECK(k->pid > 2 && k->mm.u);
	CHECK_EQ(atw_tasks_next(a, &k, &err), ATW_OK);
	CHECK_EQ(k->pid, 2);
	CHECK_STR(k->comm, "kthreadd");
	CHECK(k->kernel);
	for (n = 2; atw_tasks_next(a, &k, &err) == ATW_OK; n++)
		;
	CHECK_EQ(n, 78);
	CHECK_EQ(atw_tasks_next(a, &k, &err), ATW_END);
	for (n = 2; atw_tasks_next(b, &k, &err) == ATW_OK; n++)
		CHECK(!k->kernel && k->pid == k->tgid);
	CHECK_EQ(n, 22);
	atw_tasks_close(a);
	atw_tasks_close(b);
	atw_target_close(t);
}

TEST(vmas_and_pages)
{
	const struct atw_pages_opts opts = { .size = sizeof(opts), .frames = 1,
					     .first = ATW_VA(0x400000),
					     .last = ATW_VA(0x402fff) };
	const struct atw_page_run *run;
	const struct atw_vma *v;
	struct atw_target *t = open_target(DUMP);
	struct atw_space *s = open_process(t, 1);
	struct atw_pages *pages;
	struct atw_vmas *vmas;
	unsigned n = 1;

	CHECK(s);
	CHECK_EQ(atw_vmas_open(s, &vmas, &err), ATW_OK);
	CHECK_EQ(atw_pages_open(s, &opts, &pages, &err), ATW_OK);
	CHECK_EQ(atw_vmas_next(vmas, &v, &err), ATW_OK);
	CHECK_EQ(v->start.u, 0x400000);
	CHECK_EQ(v->end.u, 0x401000);
	CHECK_EQ(v->flags, ATW_VMA_READ | ATW_VMA_FILE);
	CHECK_STR(v->name, "/init");
	CHECK_EQ(atw_pages_next(pages, &run, &err), ATW_OK);
	CHECK_EQ(run->va.u, 0x400000);
	CHECK_EQ(run->count, 1);
	CHECK_EQ(run->pa[0].u, 0x9211000);
	CHECK(run->frame);
	CHECK_EQ(run->frame->pa.u, 0x9211000);
	CHECK_EQ(run->frame->mapcount, 1);
	CHECK(run->frame->known & ATW_FRAME_FLAGS);
	CHECK_EQ(run->frame->flags >> 3 & 1, 1);
	CHECK_STR(atw_frame_flag_name(3), "UPTODATE");
	CHECK_EQ(atw_pages_next(pages, &run, &err), ATW_OK);
	CHECK_EQ(run->va.u, 0x401000);
	CHECK_EQ(run->frame->mapcount, 22);
	CHECK_EQ(atw_pages_next(pages, &run, &err), ATW_OK);
	CHECK_EQ(run->va.u, 0x402000);
	while (atw_vmas_next(vmas, &v, &err) == ATW_OK)
		n++;
	CHECK_EQ(n, 11);
	atw_vmas_close(vmas);
	atw_pages_close(pages);
	atw_space_close(s);
	atw_target_close(t);
}

TEST(frames)
{
	const struct atw_frames_opts opts = { .size = sizeof(opts), .first = ATW_PA(0x9211000),
					      .last = ATW_PA(0x9212fff) };
	const struct atw_frame *f;
	struct atw_target *t = open_target(DUMP);
	struct atw_frames *c;

	CHECK(t);
	CHECK_EQ(atw_frames_open(t, &opts, &c, &err), ATW_OK);
	CHECK_EQ(atw_frames_next(c, &f, &err), ATW_OK);
	CHECK_EQ(f->pa.u, 0x9211000);
	CHECK_EQ(f->head.u, 0x9211000);
	CHECK_EQ(f->mapcount, 1);
	CHECK_EQ(atw_frames_next(c, &f, &err), ATW_OK);
	CHECK_EQ(f->pa.u, 0x9212000);
	CHECK_EQ(atw_frames_next(c, &f, &err), ATW_END);
	atw_frames_close(c);
	atw_target_close(t);
	t = open_target(CAPTURE);
	CHECK(t);
	CHECK_EQ(atw_frames_open(t, NULL, &c, &err), ATW_E_UNSUPPORTED);
	atw_target_close(t);
}

TEST(symbols)
{
	const struct atw_symbol *s;
	struct atw_target *t = open_target(DUMP);

	CHECK(t);
	CHECK_EQ(atw_symbol_find(t, "init_task", &s, &err), ATW_OK);
	CHECK_EQ(s->va.u, UINT64_C(0xffffffffab21aa40));
	CHECK_STR(s->name, "init_task");
	CHECK_EQ(s->type, 'D');
	CHECK_EQ(atw_symbol_at(t, ATW_VA(s->va.u + 8), &s, &err), ATW_OK);
	CHECK_STR(s->name, "init_task");
	CHECK_EQ(atw_symbol_find(t, "no_such_symbol", &s, &err), ATW_E_MISSING);
	CHECK_STR(s->name, "init_task");
	atw_target_close(t);
}

/* The list has every symbol that can be found by its name. */
TEST(list_of_symbols)
{
	struct atw_target *t = open_target(DUMP);
	struct atw_symbols *list = NULL;
	const struct atw_symbol *sym, *same;
	unsigned n, found = 0;
	int rc;

	CHECK(t);
	REFUSED(atw_symbols_open(t, NULL, &err));
	REFUSED(atw_symbols_next(NULL, &sym, &err));
	CHECK_EQ(atw_symbols_open(t, &list, &err), ATW_OK);
	for (n = 0; (rc = atw_symbols_next(list, &sym, &err)) == ATW_OK; n++)
		if (!strcmp(sym->name, "init_task") || !strcmp(sym->name, "linux_banner")) {
			CHECK_EQ(atw_symbol_find(t, sym->name, &same, &err), ATW_OK);
			CHECK_EQ(same->va.u, sym->va.u);
			CHECK_EQ(same->bytes, sym->bytes);
			CHECK_EQ(same->type, sym->type);
			found++;
		}
	CHECK_EQ(rc, ATW_END);
	CHECK_EQ(found, 2);
	CHECK_EQ(n, 87182);
	CHECK_EQ(atw_symbols_next(list, &sym, &err), ATW_END);
	atw_symbols_close(list);
	atw_target_close(t);
	t = open_target(CAPTURE);
	CHECK(atw_symbols_open(t, &list, &err) < 0);
	atw_target_close(t);
}

TEST(rmap)
{
	const struct atw_rmap_opts one = { .size = sizeof(one), .pid = 1 };
	const struct atw_mapping *m;
	struct atw_target *t = open_target(DUMP);
	struct atw_rmap *r;
	unsigned n = 0;

	CHECK(t);
	CHECK_EQ(atw_rmap_open(t, ATW_PA(0x9211000), 4096, NULL, &r, &err), ATW_OK);
	CHECK_EQ(atw_rmap_next(r, &m, &err), ATW_OK);
	CHECK_EQ(m->pid, 1);
	CHECK_STR(m->comm, "init");
	CHECK_EQ(m->va.u, 0x400000);
	CHECK_EQ(m->entry_at.u, 0x3aa5000);
	CHECK_EQ(m->state, ATW_STATE_PRESENT);
	CHECK_EQ(m->npids, 1);
	CHECK_EQ(m->pids[0], 1);
	CHECK_EQ(m->times, 1);
	CHECK_EQ(atw_rmap_next(r, &m, &err), ATW_OK);
	CHECK_EQ(m->pid, 0);
	CHECK_STR(m->comm, "[kernel]");
	CHECK_EQ(m->va.u, UINT64_C(0xffff895789211000));
	CHECK_EQ(m->bytes, 4096);
	CHECK_EQ(atw_rmap_next(r, &m, &err), ATW_OK);
	CHECK_EQ(m->va.u, UINT64_C(0xffffffffac011000));
	CHECK_EQ(atw_rmap_next(r, &m, &err), ATW_END);
	atw_rmap_close(r);
	/* Text of a program that 22 processes run. */
	CHECK_EQ(atw_rmap_open(t, ATW_PA(0xf83d000), 4096, NULL, &r, &err), ATW_OK);
	while (atw_rmap_next(r, &m, &err) == ATW_OK)
		n += m->pid != 0;
	CHECK_EQ(n, 22);
	atw_rmap_close(r);
	CHECK_EQ(atw_rmap_open(t, ATW_PA(0xf83d000), 4096, &one, &r, &err), ATW_OK);
	CHECK_EQ(atw_rmap_next(r, &m, &err), ATW_OK);
	CHECK_EQ(m->pid, 1);
	CHECK_EQ(atw_rmap_next(r, &m, &err), ATW_END);
	atw_rmap_close(r);
	atw_target_close(t);
}

TEST(rmap_of_a_capture)
{
	const struct atw_page_run *run;
	const struct atw_mapping *m;
	struct atw_target *t = open_target(CAPTURE);
	struct atw_space *s = open_process(t, 100);
	struct atw_pages *pages;
	struct atw_rmap *r;

	CHECK(s);
	CHECK_EQ(atw_pages_open(s, NULL, &pages, &err), ATW_OK);
	CHECK_EQ(atw_pages_next(pages, &run, &err), ATW_OK);
	CHECK_EQ(atw_rmap_open(t, run->pa[0], 4096, NULL, &r, &err), ATW_OK);
	CHECK_EQ(atw_rmap_next(r, &m, &err), ATW_OK);
	CHECK_EQ(m->pid, 100);
	CHECK_STR(m->comm, "server");
	CHECK_EQ(m->va.u, run->va.u);
	CHECK_EQ(m->word, 0);
	atw_rmap_close(r);
	atw_pages_close(pages);
	atw_space_close(s);
	atw_target_close(t);
}

TEST(reports)
{
	const struct atw_report_opts by = { .size = sizeof(by), .by = "unit" };
	const struct atw_report_row *row;
	struct atw_target *t = open_target(CAPTURE);
	struct atw_report *r;
	const char *title;
	int pid, pss, name;

	CHECK(t);
	CHECK_STR(atw_report_name(0, &title), "basic");
	CHECK(title && title[0]);
	CHECK(!atw_report_name(1000, &title));
	REFUSED(atw_report_open("basic", &t, 1, &by, &r, &err));
	CHECK_EQ(atw_report_open("use", &t, 1, NULL, &r, &err), ATW_OK);
	atw_target_close(t);
	pid = atw_report_find_column(r, "pid");
	pss = atw_report_find_column(r, "pss");
	name = atw_report_find_column(r, "name");
	CHECK(pid >= 0 && pss >= 0 && name >= 0);
	CHECK_EQ(atw_report_find_column(r, "none"), (uint64_t)ATW_E_NONE);
	CHECK_STR(atw_report_column(r, (size_t)pss)->name, "pss");
	CHECK_EQ(atw_report_column(r, (size_t)pss)->type, ATW_COLUMN_BYTES);
	CHECK_EQ(atw_report_column(r, (size_t)name)->type, ATW_COLUMN_TEXT);
	CHECK_EQ(atw_report_next(r, &row, &err), ATW_OK);
	CHECK_EQ(row->cell[pid].u, 100);
	CHECK_EQ(row->cell[pss].u / 1024, 106);
	CHECK_STR(row->cell[name].s, "server");
	CHECK_EQ(atw_report_next(r, &row, &err), ATW_OK);
	CHECK_EQ(row->cell[pid].u, 110);
	CHECK_STR(row->cell[name].s, "worker");
	CHECK_EQ(atw_report_next(r, &row, &err), ATW_END);
	atw_report_close(r);
}

/* Rows of each over the dump; `end`: what the last call returns. */
TEST(every_report)
{
	static const struct { const char *name; unsigned rows; int end; } want[] = {
		{ "basic", 22, ATW_END }, { "areas", 304, ATW_END }, { "units", 6, ATW_END },
		{ "totals", 1, ATW_END }, { "alerts", 86, ATW_END }, { "count", 1, ATW_END },
		{ "pages", 240, ATW_END }, { "machine", 7, ATW_E_PARTIAL },
		{ "use", 22, ATW_END }, { "stacks", 196, ATW_END }, { "tasks", 78, ATW_END },
		{ "nodes", 23, ATW_E_PARTIAL }, { "kernel", 0, ATW_E_PARTIAL },
	};
	struct atw_target *t = open_target(DUMP);
	const struct atw_report_row *row;
	struct atw_report *r;
	size_t text = 0;
	unsigned n;
	int rc;

	CHECK(t);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK_EQ(atw_report_open(want[i].name, &t, 1, NULL, &r, &err), ATW_OK);
		for (n = 0; (rc = atw_report_next(r, &row, &err)) == ATW_OK; n++)
			for (size_t k = 0; k < row->ncells; k++)
				if (row->known >> k & 1 &&
				    atw_report_column(r, k)->type == ATW_COLUMN_TEXT)
					text += strlen(row->cell[k].s);
		CHECK_EQ(n, want[i].rows);
		CHECK_EQ(rc, want[i].end);
		CHECK_EQ(atw_report_next(r, &row, &err), ATW_END);
		atw_report_close(r);
	}
	CHECK(text);
	atw_target_close(t);
}

struct stop_after {
	uint64_t calls, most;
	bool wrong;
};

static bool stop_after(void *arg, uint64_t done, uint64_t all)
{
	struct stop_after *s = arg;

	s->wrong |= all && done > all;
	return ++s->calls < s->most;
}

/* A progress function that returns false ends a report and a capture. */
TEST(stopped)
{
	struct stop_after all = { 0, UINT64_MAX, false }, some;
	struct atw_report_opts opts = { .size = sizeof(opts), .progress = stop_after, .arg = &all };
	struct atw_capture_opts co = { .size = sizeof(co), .progress = stop_after, .arg = &some };
	static const char *const source[] = { DUMP, CAPTURE };
	struct atw_target *t;
	struct atw_report *r;

	for (size_t i = 0; i < 2; i++) {
		t = open_target(source[i]);
		CHECK(t);
		all.calls = 0;
		opts.arg = &all;
		CHECK_EQ(atw_report_open("use", &t, 1, &opts, &r, &err), ATW_OK);
		atw_report_close(r);
		CHECK(all.calls >= 2 && !all.wrong);
		some = (struct stop_after){ 0, 2, false };
		opts.arg = &some;
		r = NULL;
		CHECK_EQ(atw_report_open("use", &t, 1, &opts, &r, &err), (uint64_t)ATW_E_STOPPED);
		CHECK(!r);
		CHECK(some.calls >= 2 && some.calls <= all.calls);
		if (i == 0) {
			int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

			some = (struct stop_after){ 0, 2, false };
			CHECK_EQ(atw_capture_write(t, &co, fd, &err), (uint64_t)ATW_E_STOPPED);
			close(fd);
		}
		atw_target_close(t);
	}
}

/* Rows of a program's own: types, words, letters, and what is not known. */
TEST(filters)
{
	static const char *const states[] = { "absent", "present", NULL, "swap" };
	static const char *const rights[] = { "readable", "writable" };
	static const struct atw_report_column column[] = {
		{ .name = "size", .type = ATW_COLUMN_BYTES },
		{ .name = "state", .type = ATW_COLUMN_ENUM, .names = states, .nnames = 4 },
		{ .name = "rights", .type = ATW_COLUMN_LETTERS, .names = rights, .nnames = 2,
		  .letters = "rw" },
		{ .name = "task", .type = ATW_COLUMN_TEXT },
	};
	static const struct atw_report_column *const columns[] = {
		&column[0], &column[1], &column[2], &column[3],
	};
	static const struct { const char *expr; bool match; } want[] = {
		{ "size>=2M", true }, { "size>2M", false }, { "present", true }, { "swap", false },
		{ "writable and not swap", true }, { "rights=rw", true }, { "rights=r-", false },
		{ "task=init", true }, { "task~ni and size=2M", true }, { "task!=init", false },
	};
	const union atw_cell cell[] = { { .u = 2 << 20 }, { .u = 1 }, { .u = 3 }, { .s = "init" } };
	struct atw_report_row row = { .cell = cell, .known = 15, .ncells = 4 };
	struct atw_report_column wrong = { .name = "x", .type = 99 };
	const struct atw_report_column *one = &wrong;
	struct atw_filter *f = NULL;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK_EQ(atw_filter_open(want[i].expr, columns, 4, &f, &err), ATW_OK);
		CHECK_EQ(atw_filter_match(f, &row), want[i].match);
		atw_filter_close(f);
	}
	CHECK_EQ(atw_filter_open("size<=2M or swap", columns, 4, &f, &err), ATW_OK);
	row.known = 2;
	CHECK(!atw_filter_match(f, &row));
	row = (struct atw_report_row){ .cell = cell, .known = 15, .ncells = 3 };
	CHECK(!atw_filter_match(f, &row));
	CHECK(!atw_filter_match(NULL, &row) && !atw_filter_match(f, NULL));
	atw_filter_close(f);
	REFUSED(atw_filter_open("sizes>1", columns, 4, &f, &err));
	REFUSED(atw_filter_open("size>", columns, 4, &f, &err));
	REFUSED(atw_filter_open("x=1", columns, 0, &f, &err));
	REFUSED(atw_filter_open(NULL, columns, 4, &f, &err));
	REFUSED(atw_filter_open("x=1", &one, 1, &f, &err));
	wrong = (struct atw_report_column){ .name = "x", .type = ATW_COLUMN_LETTERS };
	REFUSED(atw_filter_open("x=1", &one, 1, &f, &err));
	one = NULL;
	REFUSED(atw_filter_open("x=1", &one, 1, &f, &err));
	atw_filter_close(NULL);
}

/* What is written of a dump reads back with the same processes. */
TEST(captures)
{
	char path[] = "/tmp/atwalk-api.XXXXXX";
	int fd = mkstemp(path), rc;
	struct atw_target *t = open_target(DUMP), *c;
	const struct atw_task *k;
	struct atw_tasks *tasks;
	unsigned n = 0;

	CHECK(t && fd >= 0);
	rc = atw_capture_write(t, NULL, fd, &err);
	atw_target_close(t);
	close(fd);
	c = open_target(path);
	unlink(path);
	CHECK_EQ(rc, ATW_OK);
	CHECK(c);
	CHECK_EQ(atw_capture_write(c, NULL, 1, &err), ATW_E_UNSUPPORTED);
	CHECK_EQ(atw_tasks_open(c, NULL, &tasks, &err), ATW_OK);
	while (atw_tasks_next(tasks, &k, &err) == ATW_OK)
		n++;
	CHECK_EQ(n, 75);
	atw_tasks_close(tasks);
	atw_target_close(c);
}

/* A capture of one process has its pages, and no other process. */
TEST(capture_of_a_process)
{
	struct atw_capture_opts opts = { .size = sizeof(opts), .pid = 1 };
	char path[] = "/tmp/atwalk-api.XXXXXX";
	int fd = mkstemp(path), rc;
	struct atw_target *t = open_target(DUMP), *c;
	struct atw_tasks_opts processes = { .size = sizeof(processes), .processes = 1 };
	const struct atw_task *k;
	struct atw_tasks *tasks;
	unsigned n = 0;

	CHECK(t && fd >= 0);
	rc = atw_capture_write(t, &opts, fd, &err);
	CHECK_EQ(rc, ATW_OK);
	opts.pid = 4000000;
	CHECK_EQ(atw_capture_write(t, &opts, fd, &err), ATW_E_NONE);
	atw_target_close(t);
	close(fd);
	c = open_target(path);
	unlink(path);
	CHECK(c);
	CHECK_EQ(atw_tasks_open(c, &processes, &tasks, &err), ATW_OK);
	while (atw_tasks_next(tasks, &k, &err) == ATW_OK) {
		CHECK_EQ(k->pid, 1);
		n++;
	}
	CHECK_EQ(n, 1);
	atw_tasks_close(tasks);
	atw_target_close(c);
}
