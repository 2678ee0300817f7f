/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a capture become the events that reports are fed. */
#include "base/buf.h"
#include "census/model.h"
#include "test.h"

/* ---- a report that prints its events ---- */

static struct buf out;
static uint32_t events_on;
static int refuse_at;            /* the event that fails; 0: none */
static uint64_t page_flags;      /* of the last pages, with the mask of valid facts */
static uint32_t page_known;
static bool page_swapbacked;

static int print_event(void *state, const struct census_event *ev, struct atw_err *err)
{
	const struct census_pages *p = ev->pages;
	char flags[7];

	(void)state;
	if (refuse_at && !--refuse_at)
		return atw_err_set(err, ATW_E_LIMIT, "enough");
	switch (ev->what) {
	case CENSUS_ON_TASK:
		buf_printf(&out, "task %.*s\n", (int)ev->task->name.len,
			   (const char *)ev->task->name.data);
		break;
	case CENSUS_ON_PROCESS:
		buf_printf(&out, "process %" PRIu32 " %s %" PRIu64 "\n", ev->process->number,
			   ev->process->name, ev->process->pid);
		break;
	case CENSUS_ON_AREA:
		buf_printf(&out, "area %" PRIx64 " %s %s %s\n", ev->area->first,
			   census_flags_text(census_flags(ev->area), flags), ev->area->name,
			   ev->area->unit ? ev->area->unit->name : "-");
		break;
	case CENSUS_ON_AREA_END:
		buf_printf(&out, "area end %" PRIx64 "\n", ev->area->last);
		break;
	case CENSUS_ON_PAGES:
		page_known = p->known;
		page_flags = p->flags;
		page_swapbacked = p->swapbacked;
		buf_printf(&out, "pages %" PRIx64 "*%" PRIu64 "%s%s%s%s%s%s%s", p->va, p->pages,
			   p->present ? " present" : "", p->swapped ? " swapped" : "",
			   p->zero ? " zero" : "", p->device ? " device" : "",
			   p->known & CENSUS_ORIGIN ? p->anon ? " anon" : " file" : "",
			   p->writable ? " w" : "", p->exec ? " x" : "");
		if (p->known & CENSUS_PA)
			buf_printf(&out, " at %" PRIx64 "%s", p->pa, p->same ? " all" : "");
		if (p->known & CENSUS_REFS)
			buf_printf(&out, " %s %" PRIu64, p->counted ? "seen" : "counted", p->refs);
		buf_char(&out, '\n');
		break;
	case CENSUS_ON_PROCESS_END:
		buf_printf(&out, "process end %s exe %s\n", ev->process->name,
			   ev->process->exe ? ev->process->exe->name : "-");
		break;
	case CENSUS_ON_HEADER:
		buf_printf(&out, "header page %" PRIu64 "\n", ev->page);
		break;
	case CENSUS_ON_RAM:
	case CENSUS_ON_SWAP:
	case CENSUS_ON_FRAMES:
	case CENSUS_ON_LOST:
		buf_printf(&out, "other %d\n", ev->what);
		break;
	case CENSUS_ON_CACHED:
		buf_printf(&out, "cached %" PRIu64 ": %" PRIu64 " %" PRIu64 " %" PRIu64 "%s\n",
			   ev->cached->inode, ev->cached->pages, ev->cached->dirty, ev->cached->node,
			   ev->cached_has & CAPTURE_C_NODE ? " node" : "");
		break;
	case CENSUS_ON_END:
		buf_str(&out, "end\n");
		break;
	}
	return ATW_OK;
}

/* Feeds a text of atwalk-capture(5) to the model; returns its events, an error last. */
static const char *play(const char *text)
{
	static struct capture_reader rd;
	const struct atw_blob all = { text, strlen(text) };
	struct census_report report = { .on = events_on, .feed = print_event };
	const struct census_report *const kind = &report;
	void *state = NULL;
	struct census_model *m;
	struct capture_record rec;
	struct capture_run run;
	struct census_sink to;
	static struct atw_err err;
	size_t pos = 0;
	int r;

	buf_deinit(&out);
	out = (struct buf){ 0 };
	buf_str(&out, "");
	if (census_model_open(&kind, &state, 1, &m, &err) != ATW_OK)
		return err.text;
	to = census_model_sink(m);
	capture_init(&rd);
	while ((r = capture_next(&rd, all, true, &pos, &rec, &err)) == ATW_OK) {
		if (rec.letter == 'E')
			continue;
		if (rec.letter != 'M') {
			r = to.record(to.arg, &rec, &err);
		} else {
			while ((r = capture_run(&rd, &rec.m, &run, &err)) == ATW_OK &&
			       (r = to.run(to.arg, &run, &err)) == ATW_OK)
				;
			r = r == ATW_END ? ATW_OK : r;
		}
		if (r != ATW_OK)
			break;
	}
	if (r == ATW_END)
		r = census_model_end(m, &err);
	if (r != ATW_OK)
		buf_printf(&out, "! %s\n", err.text);
	census_model_close(m);
	return out.data;
}

#define ALL (~0u)
#define FRONT "H: atwalk-capture, 1\nH: page, 4096\n"
#define NO_HEAD (ALL & ~CENSUS_ON(HEADER))
#define T(name, pid, mm) "T: " name ", " pid ", " mm ", 0, 0, 0, 0, 0, 0, 0"

/* ---- address spaces ---- */

TEST(each_address_space_once)
{
	events_on = NO_HEAD;
	CHECK_STR(play(FRONT T("kthread", "2", "0") "\n"
		       T("main", "7", "10") ", tgid=7\n"
		       "V: 1000, 1FFF, 1000, 1000, -, 73, NULL\nM: 1000=5052, 1, 0 |\n"
		       T("thread", "8", "10") ", tgid=7\n"
		       "V: 1000, 1FFF, 1000, 1000, -, 73, NULL\nM: 1000=5052, 1, 0 |\n"
		       T("other", "9", "20") ", tgid=9\n"
		       T("late thread", "10", "10") ", tgid=7\n"
		       "V: 1000, 1FFF, 1000, 1000, -, 73, NULL\n"),
		  "task kthread\n"
		  "task main\nprocess 0 main 7\narea 1000 ..rw.B  -\n"
		  "pages 1000*1 present file w at 5000 counted 1\narea end 1fff\n"
		  "process end main exe -\n"
		  "task thread\n"
		  "task other\nprocess 1 other 9\nprocess end other exe -\n"
		  "task late thread\nend\n");
}

/* The number of the address space is missing, but the task has areas. */
TEST(an_address_space_without_a_number)
{
	events_on = NO_HEAD;
	CHECK_STR(play(FRONT T("a", "1", "0") "\nV: 1000, 1FFF, 1000, 0, -, 71, NULL\n"
		       T("b", "2", "0") "\nV: 1000, 1FFF, 1000, 0, -, 71, NULL\n"),
		  "task a\nprocess 0 a 1\narea 1000 ..r...  -\narea end 1fff\nprocess end a exe -\n"
		  "task b\nprocess 1 b 2\narea 1000 ..r...  -\narea end 1fff\nprocess end b exe -\n"
		  "end\n");
}

TEST(files_in_the_page_cache)
{
	events_on = CENSUS_ON(CACHED);
	CHECK_STR(play(FRONT T("a", "1", "1") "\nC: FE:1, 9, 4, 1, /a\n"
		       "C: FE:1, 9, 2, 0, NULL, node=3\n"),
		  "cached 9: 4 1 0\ncached 9: 2 0 3 node\n");
}

TEST(very_many_address_spaces)
{
	struct buf text = { 0 };
	const char *s;
	unsigned n = 0;

	events_on = CENSUS_ON(PROCESS);
	buf_str(&text, FRONT);
	for (unsigned twice = 0; twice < 2; twice++)
		for (unsigned i = 1; i <= 3000; i++)
			buf_printf(&text, "T: a, %u, %X, 0, 0, 0, 0, 0, 0, 0\n", i, i << 6);
	for (s = play(text.data); (s = strstr(s, "process")); s++)
		n++;
	CHECK_EQ(n, 3000);
	buf_deinit(&text);
}

/* ---- areas ---- */

TEST(parts_of_an_area)
{
	events_on = CENSUS_ON(AREA) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES);
	CHECK_STR(play(FRONT T("a", "1", "1") "\n"
		       "V: 1000, 2FFF, 2000, 0, -, 73, NULL, more=1\nM: 1000=5052, 1, 0 |\n"
		       "V: 3000, 4FFF, 2000, 0, -, 73, NULL, more=1\n"
		       "V: 5000, 5FFF, 1000, 0, -, 73, NULL\nM: 5000=6052, 1, 0 |\n"
		       "V: 6000, 6FFF, 1000, 0, -, 71, NULL\n"),
		  "area 1000 ..rw.B  -\npages 1000*1 present file w at 5000 counted 1\n"
		  "pages 5000*1 present file w at 6000 counted 1\narea end 5fff\n"
		  "area 6000 ..r...  -\narea end 6fff\n");
}

/* The first page identifies the original, so the area event is delayed until then. */
TEST(a_copy_has_the_name_of_the_first)
{
	events_on = CENSUS_ON(AREA) | CENSUS_ON(PROCESS_END);
	CHECK_STR(play(FRONT T("a", "1", "1") ", exe=/a/l.so\n"
		       "V: 1000, 1FFF, 1000, 0, -, 75, /a/l.so, dev=8:1, inode=1, offset=0\n"
		       "M: 1000=5212, 2, 0, map=140 |\n"
		       T("b", "2", "2") ", exe=/b/l.so\n"
		       "V: 1000, 1FFF, 1000, 0, -, 75, /b/l.so, dev=8:2, inode=9, offset=0\n"
		       "M: 1000=5212, 2, 0, map=140 |\n"
		       T("c", "3", "3") ", exe=/c/l.so\n"
		       "V: 1000, 1FFF, 1000, 0, -, 75, /c/l.so, dev=8:3, inode=9, offset=0\n"
		       "M: 1000=5212, 2, 0, map=100 |\n"
		       "V: 2000, 2FFF, 1000, 0, -, 75, /d/l.so, dev=8:4, inode=9, offset=1000\n"
		       "M: 2000=5212, 2, 0, map=140 |\n"),
		  "area 1000 .Xr.x. /a/l.so /a/l.so\nprocess end a exe /a/l.so\n"
		  "area 1000 .Xr.x. /b/l.so /a/l.so\nprocess end b exe /a/l.so\n"
		  /* Neither a private copy nor another file offset identifies a file. */
		  "area 1000 .Xr.x. /c/l.so /c/l.so\narea 2000 ..r.x. /d/l.so /d/l.so\n"
		  "process end c exe /c/l.so\n");
}

/* ---- pages ---- */

TEST(pages)
{
	static const char *const all[][2] = {
		{ "1000*2=5612, 3, 0", "pages 1000*2 present file x at 5000 counted 3\n" },
		{ "1000=5052, -, -", "pages 1000*1 present w at 5000\n" },
		{ "1000=5052, 3, 0, refs=2", "pages 1000*1 present file w at 5000 seen 2\n" },
		{ "1000=5052, 1, 1000", "pages 1000*1 present anon w at 5000 counted 1\n" },
		/* The bit of the entry outweighs the page flags, which are read later. */
		{ "1000=5052, 1, 1000, map=140", "pages 1000*1 present file w at 5000 counted 1\n" },
		{ "1000=5052, 1, 0, map=102", "pages 1000*1 present anon w at 5000 counted 1\n" },
		/* Kernels of 5.10 do not set it for large pages of shmem. */
		{ "1000=5052, 1, 40C838, map=103", "pages 1000*1 present file w at 5000 counted 1\n" },
		{ "1000=5052, 1, 410800, map=103", "pages 1000*1 present file w at 5000 counted 1\n" },
		{ "1000=5052, 1, 411800, map=103", "pages 1000*1 present anon w at 5000 counted 1\n" },
		{ "1000=5052, 1, 410000, map=103", "pages 1000*1 present anon w at 5000 counted 1\n" },
		{ "1000*4=5012, 0, 0, state=zero, same=1, map=100",
		  "pages 1000*4 present zero file at 5000 all counted 0\n" },
		{ "1000=5012, 0, 1000000", "pages 1000*1 present zero file at 5000 counted 0\n" },
		{ "1000=F5052, -, -, state=device", "pages 1000*1 present device w at f5000\n" },
		{ "1000=002, -, -, noframe=1, map=140", "pages 1000*1 present file\n" },
		{ "1000*3=00000000, -, -, swap=0:10", "pages 1000*3 swapped\n" },
		{ "1000=00000000, -, -, state=guard", "pages 1000*1\n" },
	};

	events_on = CENSUS_ON(PAGES);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct buf text = { 0 };

		buf_printf(&text, FRONT T("a", "1", "1") "\nV: 1000, 8FFF, 8000, 0, -, 73, NULL\n"
			   "M: %s |\n", all[i][0]);
		CHECK_STR(play(text.data), all[i][1]);
		buf_deinit(&text);
	}
}

/* KPF_ANON, which decides, is not among the recorded page flags. */
TEST(pages_of_unknown_origin)
{
	events_on = CENSUS_ON(PAGES);
	CHECK_STR(play(FRONT "H: pageflags, FFFFEFFF\n" T("a", "1", "1")
		       "\nV: 1000, 1FFF, 1000, 0, -, 73, NULL\nM: 1000=5052, 1, 0 |\n"),
		  "pages 1000*1 present w at 5000 counted 1\n");
	CHECK_STR(play(FRONT "H: pageflags, FFFFEFFF\n" T("a", "1", "1")
		       "\nV: 1000, 1FFF, 1000, 0, -, 73, NULL\nM: 1000=5052, 1, 10800, map=103 |\n"),
		  "pages 1000*1 present anon w at 5000 counted 1\n");
}

static const char *last_of(const char *runs)
{
	struct buf text = { 0 };

	events_on = CENSUS_ON(PAGES);
	buf_printf(&text, FRONT T("a", "1", "1") "\nV: 200000, 3FFFFF, 200000, 0, -, FB, NULL\n"
		   "M: %s |\n", runs);
	play(text.data);
	buf_deinit(&text);
	return !(page_known & CENSUS_BACKED) ? "-" : page_swapbacked ? "shmem" : "file";
}

/* A shmem page of 2 MiB as a kernel of 5.10 shows it: only its head is SWAPBACKED. */
TEST(tails_of_a_folio_have_the_flags_of_the_head)
{
	CHECK_STR(last_of("200000=3E004D2, 1, 40C838, refs=1, order=9, folio=9 | "
			  "201000*511=3E014D2, 1, 410800, refs=1, order=9, folio=9"), "shmem");
	CHECK_STR(last_of("200000=3E004D2, 1, 40C838 | 201000*2=3E014D2, 1, 410800 | "
			  "203000*2=3E034D2, 2, 410800"), "shmem");
	CHECK_STR(last_of("200000=3E004D2, 1, 408838 | 201000*511=3E014D2, 1, 410800"), "file");
	CHECK_STR(last_of("201000*511=3E014D2, 1, 410800"), "-");
	CHECK_STR(last_of("200000=3E004D2, 1, 40C838 | 201000*510=3E024D2, 1, 410800"), "-");
	CHECK_STR(last_of("200000=3E004D2, 1, 40C838 | 201000=3E014D2, 1, 828"), "file");
	CHECK_STR(last_of("200000=3E004D2, 1, 408838 | 201000=3E014D2, 1, 414800"), "shmem");
	CHECK_STR(last_of("200000=3E004D2, 1, -"), "-");
}

/* VM_PFNMAP areas map device memory, whatever the frame number. */
TEST(pages_of_a_device)
{
	events_on = CENSUS_ON(PAGES);
	CHECK_STR(play(FRONT T("a", "1", "1") "\nV: 1000, 1FFF, 1000, 0, -, 473, NULL\n"
		       "M: 1000=5052, -, - |\n"), "pages 1000*1 present device w at 5000\n");
}

TEST(page_sizes)
{
	events_on = CENSUS_ON(HEADER);
	CHECK_STR(play("H: atwalk-capture, 1\nH: page, 65536\nH: a, b\n"),
		  "header page 4096\nheader page 65536\nheader page 65536\n");
}

/* ---- Figure 1 of the LPMA paper ---- */

static char *figure(void)
{
	static char buf[4096];
	FILE *f = fopen("tests/data/paper-figure1.txt", "r");
	size_t n = f ? fread(buf, 1, sizeof(buf) - 1, f) : 0;

	buf[n] = '\0';
	if (f)
		fclose(f);
	return buf;
}

TEST(the_figure)
{
	events_on = NO_HEAD & ~CENSUS_ON(PAGES);
	CHECK_STR(play(figure()),
		  "task swapper\n"
		  "task init\nprocess 0 init 1\n"
		  "area fe94000 ..r.x. /lib/ /lib/\narea end ffb0fff\n"
		  "area ffb1000 ...... /lib/ /lib/\narea end ffb3fff\n"
		  "area ffb4000 ..rwx. /lib/ /lib/\narea end ffc7fff\n"
		  "area ffc8000 ..rwxB  /lib/\narea end ffccfff\n"
		  "process end init exe -\n"
		  "task keventd\ntask ksoftirq\n"
		  "task tiny_sys\nprocess 1 tiny_sys 19\n"
		  "area fc3a000 ..r.x. /lib/ /lib/\narea end fc44fff\n"
		  "area fc45000 ...... /lib/ /lib/\narea end fc49fff\n"
		  "area fc4a000 ..rwx. /lib/ /lib/\narea end fc55fff\n"
		  "process end tiny_sys exe -\nend\n");
	events_on = CENSUS_ON(PAGES);
	CHECK(strstr(play(figure()), "pages ffc3000*1 present w at 23e1000 counted 1\n"));
	CHECK(strstr(out.data, "pages fe94000*1 present at 2876000 counted 22\n"));
}

/* Flag bits of the LPMA kernel have other meanings today and are not reported as such. */
TEST(the_papers_flags_are_others)
{
	events_on = CENSUS_ON(PAGES);
	play("T: a, 1, 10, 0, 0, 0, 0, 0, 0, 0\nV: 1000, 1FFF, 1000, 0, -, 73, NULL\n"
	     "M: 1000=5052, 1, 1000 |\n");
	CHECK_EQ(page_known, CENSUS_REFS | CENSUS_COUNT | CENSUS_PA);
	CHECK_EQ(page_flags, 0);
	play(FRONT T("a", "1", "10") "\nV: 1000, 1FFF, 1000, 0, -, 73, NULL\n"
	     "M: 1000=5052, 1, 1000 |\n");
	CHECK_EQ(page_known, CENSUS_REFS | CENSUS_COUNT | CENSUS_PA | CENSUS_FLAGS |
			     CENSUS_ORIGIN | CENSUS_BACKED);
	CHECK_EQ(page_flags, 0x1000);
}

/*
 * A converted LPMA capture keeps the VMA flags of its kernel, where VM_EXECUTABLE marks
 * the program.
 */
TEST(converted_from_lpma)
{
	static const char body[] = T("a", "1", "1") "\n"
		"V: 1000, 1FFF, 1000, 0, 412, 75, /lib/l\nV: 2000, 2FFF, 1000, 0, 412, 1075, /bin/p\n"
		"V: 3000, 3FFF, 1000, 0, 412, 1077, NULL\n";
	struct buf text = { 0 };

	events_on = CENSUS_ON(AREA);
	buf_printf(&text, FRONT "H: way, paper\n%s", body);
	CHECK_STR(play(text.data), "area 1000 ..r.x. /lib/l /lib/l\n"
		  "area 2000 .Xr.x. /bin/p /bin/p\narea 3000 .XrwxB  -\n");
	text.len = 0;
	buf_printf(&text, FRONT "H: way, pagemap\n%s", body);
	CHECK_STR(play(text.data), "area 1000 .Xr.x. /lib/l /lib/l\n"
		  "area 2000 ..r.x. /bin/p /bin/p\narea 3000 ..rwx.  -\n");
	buf_deinit(&text);
}

/* The sums of P: lines, computed from events: user, read-only, single, shared. */
TEST(the_figures_sums)
{
	static const struct {
		const char *area;
		unsigned user, readonly, single, shared;
	} want[] = {
		/* 8 of the first area's 93 pages are in the figure. */
		{ "fe94000", 8, 8, 0, 8 }, { "ffb1000", 0, 0, 0, 0 }, { "ffb4000", 8, 5, 8, 0 },
		{ "ffc8000", 4, 3, 4, 0 }, { "fc3a000", 3, 3, 0, 3 }, { "fc45000", 0, 0, 0, 0 },
		{ "fc4a000", 2, 2, 2, 0 },
	};
	unsigned i = 0, user = 0, readonly = 0, single = 0, shared = 0;

	events_on = CENSUS_ON(AREA) | CENSUS_ON(PAGES) | CENSUS_ON(AREA_END);
	play(figure());
	for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strncmp(line, "pages", 5)) {
			user++;
			readonly += !strstr(line, " w ");
			single += !strcmp(line + strlen(line) - 9, "counted 1");
			shared += strcmp(line + strlen(line) - 9, "counted 1") != 0;
			CHECK(!strstr(line, " x "));
		} else if (!strncmp(line, "area end", 8)) {
			CHECK(i < sizeof(want) / sizeof(want[0]));
			CHECK_EQ(user, want[i].user);
			CHECK_EQ(readonly, want[i].readonly);
			CHECK_EQ(single, want[i].single);
			CHECK_EQ(shared, want[i].shared);
			user = readonly = single = shared = 0;
			i++;
		} else {
			CHECK(!strncmp(line + 5, want[i].area, strlen(want[i].area)));
		}
	}
	CHECK_EQ(i, sizeof(want) / sizeof(want[0]));
}

/* ---- records out of order, and errors of reports ---- */

static const char *record(const struct capture_record *rec, size_t n)
{
	struct census_report report = { .on = events_on, .feed = print_event };
	const struct census_report *const kind = &report;
	const struct capture_run run = { .va = 1, .pages = UINT64_MAX, .entry = UINT64_MAX };
	static struct atw_err err;
	struct census_model *m;
	struct census_sink to;
	void *state = NULL;
	int r = census_model_open(&kind, &state, 1, &m, &err);

	buf_deinit(&out);
	out = (struct buf){ 0 };
	err.text[0] = '\0';
	to = census_model_sink(m);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = rec[i].letter == 'M' ? to.run(to.arg, &run, &err)
					 : to.record(to.arg, &rec[i], &err);
	if (r == ATW_OK)
		r = census_model_end(m, &err);
	census_model_close(m);
	return err.text;
}

TEST(out_of_order)
{
	const struct capture_record v = {
		.letter = 'V', .v = { .start = UINT64_MAX, .last = 0, .name = { "a", 1 } },
	};
	const struct capture_record t = { .letter = 'T', .t = { .mm = 5 } };
	const struct capture_record all[] = { t, v, { .letter = 'M' }, v, v, t, v, t };

	events_on = ALL;
	CHECK_STR(record((struct capture_record[]){ v }, 1), "V: of no task");
	CHECK_STR(record((struct capture_record[]){ { .letter = 'M' } }, 1), "M: of no area");
	CHECK_STR(record((struct capture_record[]){ t, { .letter = 'M' } }, 2), "M: of no area");
	CHECK_STR(record(all, sizeof(all) / sizeof(all[0])), "");
}

TEST(an_error_of_a_report_ends_the_reading_at_any_event)
{
	static const char text[] =
		FRONT T("a", "1", "1") "\nV: 1000, 1FFF, 1000, 0, -, 71, /a, dev=8:1, inode=1, offset=0\n"
		"M: 1000=5052, 1, 0 |\n" T("b", "2", "2") "\n";
	unsigned events = 0;

	events_on = ALL;
	for (const char *s = play(text); (s = strchr(s, '\n')); s++)
		events++;
	CHECK_EQ(events, 12);
	for (unsigned i = 1; i <= events; i++) {
		const char *end;

		refuse_at = (int)i;
		end = strstr(play(text), "! ");
		if (!end || strcmp(end, "! enough\n")) {
			TEST_FAIL("event %u: %s", i, out.data);
			return;
		}
		CHECK_EQ(refuse_at, 0);
	}
	refuse_at = 0;
	buf_deinit(&out);
}
