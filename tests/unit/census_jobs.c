/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads change nothing about the stream, nor about where and why it ends. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "census/census.h"
#include "census/tape.h"
#include "linux/kpf.h"
#include "target/provider.h"
#include "test.h"
#include "unit/census_heard.h"

enum {
	K = 4096, FIRST = 100, TASKS = 97,
	LARGE = 150,             /* with more runs than a tape has room for */
	DAMAGED = 160, FAILING = 170,
	LARGE_RUNS = 260000, RUNS = 5,
};

/* ---- a provider ---- */

struct fake {
	struct provider p;
	bool fails;              /* at a task: for good */
	bool leads;
};

struct fake_vmas {
	struct vma_cursor c;
	unsigned next;
};

struct fake_pages {
	struct page_cursor c;
	struct page_run run;
	uint64_t pa, left;
};

static atomic_uint shares, listings;     /* of slab caches */
static unsigned failing_listings;        /* the first ones, which fail in the middle */
static unsigned opened, closed, most_opened;
static bool running;

static uint32_t pid_of(const struct provider *p, size_t task)
{
	return p->task[task].pid;
}

static int fake_tasks(struct provider *p, struct atw_err *err)
{
	for (uint32_t i = 0; i < TASKS; i++) {
		struct page_task *t = provider_add_task(p);

		if (!t)
			return atw_err_nomem(err);
		t->pid = FIRST + i;
		t->mm = 0x1000 + i;
		snprintf(t->name, sizeof(t->name), "task%u", i);
	}
	return ATW_OK;
}

static void fake_lead(struct provider *p)
{
	((struct fake *)p)->leads = true;
}

static int fake_follow(struct provider *p, struct provider *lead, struct atw_err *err)
{
	if (lead->ntasks != TASKS || !((struct fake *)lead)->leads)
		abort();
	p->counted = lead->counted;
	((struct fake *)p)->fails = ((struct fake *)lead)->fails;
	return fake_tasks(p, err);
}

static void fake_prepare(struct provider *p, unsigned part, unsigned parts)
{
	(void)p;
	if (parts > 16 || atomic_fetch_or(&shares, 1u << part) & 1u << part)
		abort();
}

static int fake_vmas_open(struct vma_cursor *c, struct atw_err *err)
{
	(void)err;
	((struct fake_vmas *)c)->next = 0;
	return pid_of(c->p, c->task) % 10 == 3 ? ATW_END : ATW_OK;
}

static int fake_vmas_next(struct vma_cursor *c, struct atw_area *ret, struct atw_err *err)
{
	struct fake_vmas *v = (struct fake_vmas *)c;
	uint32_t pid = pid_of(c->p, c->task);

	if (((struct fake *)c->p)->fails && pid == FAILING)
		return atw_err_nomem(err);
	if (v->next == 2)
		return ATW_END;
	*ret = (struct atw_area){ .start = { 0x10000 }, .end = { 0x20000 }, .read = true };
	if (v->next++) {
		ret->start.u = 0x100000000;
		ret->end.u = 0x200000000;
	} else {
		ret->file = true;
		ret->major = 8;
		ret->inode = pid % 7 + 1;
		snprintf(ret->name, sizeof(ret->name), "/file%" PRIu64, ret->inode);
	}
	return ATW_OK;
}

static int fake_pages_open(struct page_cursor *c, struct atw_err *err)
{
	(void)err;
	((struct fake_pages *)c)->left =
		c->q.first ? 0 : pid_of(c->p, c->q.task) == LARGE ? LARGE_RUNS : RUNS;
	return ATW_OK;
}

/* Neighbours differ in what may be done with them. */
static int fake_pages_next(struct page_cursor *c, const struct page_run **ret, struct atw_err *err)
{
	struct fake_pages *f = (struct fake_pages *)c;
	uint64_t i = f->left;

	(void)err;
	if (!i)
		return ATW_END;
	f->left--;
	f->pa = (i % 1000 + pid_of(c->p, c->q.task)) * K;
	f->run = (struct page_run){
		.va = 0x100000000 + (uint64_t)(LARGE_RUNS - i) * K, .size = K, .slot = K, .count = 1,
		.state = PAGE_PRESENT, .have = RUN_RIGHTS, .pa = &f->pa,
		.rights = i % 3 ? ATW_UR : ATW_UR | ATW_UW,
	};
	*ret = &f->run;
	return ATW_OK;
}

static int fake_facts(struct page_cursor *c, const struct page_run *r, uint32_t i, uint64_t off,
		      uint64_t mapped, struct frame_facts *ret, struct atw_err *err)
{
	(void)off, (void)mapped, (void)err;
	*ret = (struct frame_facts){ .have = FACT_FLAGS | FACT_COUNT };
	ret->page.count = 1 + r->pa[i] / K % 2 + pid_of(c->p, c->q.task) % 2;
	ret->page.flags = kpf(KPF_LRU) | kpf(KPF_ANON);
	return ATW_OK;
}

static int fake_count(struct provider *p, struct atw_err *err)
{
	for (uint64_t pfn = 0; pfn < 2000; pfn++)
		if (!counts_add(&p->counts, pfn, 1))
			return atw_err_nomem(err);
	p->counted = true;
	return ATW_OK;
}

static int fake_machine(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	(void)p, (void)to, (void)err;
	return ATW_OK;
}

static int fake_slabs(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	const struct capture_slab s = { .size = 64, .objects = 64, .slabs = 1, .pages = 1 };
	bool fails = atomic_fetch_add(&listings, 1) < failing_listings;
	int r = about_slab(to, blob_of("first"), &s, err);

	(void)p;
	if (r == ATW_OK && fails)
		return atw_err_set(err, ATW_E_IO, "half of it");
	return r == ATW_OK ? about_slab(to, blob_of("second"), &s, err) : r;
}

/* A thread of the kernel before every eighth process; one of a process that ends. */
static int fake_others(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	struct task_about a;
	int r = ATW_OK;

	(void)p;
	for (uint32_t pid = FIRST; pid < FIRST + TASKS && r == ATW_OK; pid++) {
		about_nothing(&a, 1000 + pid, "kworker", 0);
		if (pid % 8 == 0)
			r = about_tell(to, &a, err);
		if (r == ATW_OK)
			r = about_passed(to, pid, err);
		about_nothing(&a, 2000 + pid, "thread", 0x1000);
		a.t.tgid = pid;
		a.has |= CAPTURE_T_TGID;
		if (r == ATW_OK && pid % 10 == 3)
			r = about_tell(to, &a, err);
	}
	return r;
}

static int fake_about(struct provider *p, size_t task, const struct vma_cursor *vmas,
		      struct task_about *ret, struct atw_err *err)
{
	const struct page_task *t = &p->task[task];
	struct atw_err why = { .status = ATW_E_DAMAGED, .text = "something is missing" };

	(void)vmas;
	if (t->pid % 11 == 0)
		provider_cannot(p, "a part of it", &why);
	if (t->pid == DAMAGED)
		return atw_err_set(err, ATW_E_DAMAGED, "its task_struct is odd");
	about_nothing(ret, t->pid, t->name, t->mm);
	return ATW_OK;
}

static int fake_file(struct vma_cursor *c, const struct atw_area *a, struct elfunit *ret)
{
	(void)c;
	if (a->inode % 3 == 0)
		return ATW_E_FORMAT;
	if (a->inode % 2)
		return ATW_E_MISSING;
	*ret = (struct elfunit){ .build = { { 0xab, (uint8_t)a->inode }, 2 } };
	return ATW_OK;
}

static void fake_close(struct provider *p)
{
	closed++;
	free(p);
}

static const struct provider_ops fake_ops = {
	.name = "fake", .tasks = fake_tasks, .lead = fake_lead, .follow = fake_follow, .prepare = fake_prepare,
	.vma_cursor_size = sizeof(struct fake_vmas), .page_cursor_size = sizeof(struct fake_pages),
	.vmas_open = fake_vmas_open, .vmas_next = fake_vmas_next, .pages_open = fake_pages_open,
	.pages_next = fake_pages_next, .facts = fake_facts, .count = fake_count,
	.machine = fake_machine, .slabs = fake_slabs, .others = fake_others, .about = fake_about, .file = fake_file,
	.close = fake_close,
};

static struct fake *fake_open(void)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->p.ops = &fake_ops;
	f->p.page_shift = 12;
	f->p.user_last = INT64_MAX;
	f->p.way = "fake";
	f->p.running = f->p.here = running;
	return f;
}

static int another(void *arg, struct provider **ret, struct atw_err *err)
{
	(void)arg;
	if (opened == most_opened)
		return atw_err_set(err, ATW_E_LIMIT, "no more of them");
	opened++;
	*ret = &fake_open()->p;
	return ATW_OK;
}

/* ---- the stream ---- */

/* Of the moment or the process. */
static bool is_passing(const struct capture_record *rec)
{
	return rec->letter == 'H' && (blob_is(rec->h.key, "begun") || blob_is(rec->h.key, "ended") ||
				      blob_is(rec->h.key, "collector"));
}

static int on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	return is_passing(rec) ? ATW_OK : heard_on_record(arg, rec, err);
}

struct ended {
	struct heard h;
	struct atw_err err;
	int r;
};

static struct ended collect(unsigned jobs, size_t left, bool fails)
{
	const struct census_collect_opts o = { .refs = true, .slabs = true, .jobs = jobs,
						 .another = another };
	struct ended e = { .h.left = left };
	struct census_sink to = heard_sink(&e.h);
	struct fake *f = fake_open();

	to.record = on_record;
	opened = closed = 0;
	atomic_store(&shares, 0);
	atomic_store(&listings, 0);
	f->fails = fails;
	e.r = census_collect(&f->p, &o, &to, &e.err);
	if (closed != opened)
		abort();
	provider_close(&f->p);
	return e;
}

static void check_same(unsigned jobs, size_t left, bool fails)
{
	struct ended one = collect(0, left, fails), all = collect(jobs, left, fails);

	CHECK(opened == MIN(jobs, most_opened) || all.r < 0);
	CHECK_EQ(one.r, all.r);
	CHECK_STR(all.err.text, one.err.text);
	CHECK_EQ(all.h.text.len, one.h.text.len);
	CHECK(!memcmp(all.h.text.data, one.h.text.data, one.h.text.len));
	buf_deinit(&one.h.text);
	buf_deinit(&all.h.text);
}

/* ---- a writer ---- */

struct written {
	struct census_sink to;       /* the writer's */
	unsigned texts;              /* lines that came as text */
	char *text;
	size_t len;
	int r;
};

static int written_on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct written *w = arg;

	return is_passing(rec) ? ATW_OK : w->to.record(w->to.arg, rec, err);
}

static int written_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct written *w = arg;

	return w->to.run(w->to.arg, run, err);
}

static int written_on_lines(void *arg, const char *text, size_t len,
			    const struct capture_end *count, struct atw_err *err)
{
	struct written *w = arg;

	w->texts += (unsigned)count->lines;
	return w->to.lines(w->to.arg, text, len, count, err);
}

static struct written write_all(unsigned jobs, bool fails)
{
	const struct census_collect_opts o = { .refs = true, .slabs = true, .jobs = jobs,
						 .another = another };
	struct written w = { .texts = 0 };
	const struct census_sink to = {
		.record = written_on_record, .run = written_on_run, .arg = &w,
		.lines = written_on_lines,
	};
	int fd = memfd_create("capture", MFD_CLOEXEC);
	struct census_writer *writer = NULL;
	struct atw_err err = { 0 };
	struct fake *f = fake_open();

	if (census_writer_open(fd, 0, &writer, NULL) != ATW_OK)
		abort();
	w.to = census_writer_sink(writer);
	opened = closed = 0;
	atomic_store(&shares, 0);
	atomic_store(&listings, 0);
	f->fails = fails;
	w.r = census_collect(&f->p, &o, &to, &err);
	if (census_writer_end(writer, NULL) != ATW_OK)
		abort();
	census_writer_close(writer);
	provider_close(&f->p);
	w.len = (size_t)lseek(fd, 0, SEEK_CUR);
	w.text = malloc(w.len);
	if (!w.text || pread(fd, w.text, w.len, 0) != (ssize_t)w.len)
		abort();
	close(fd);
	return w;
}

/* The last line, too, which counts the others. */
TEST(what_threads_format_is_the_same)
{
	most_opened = 8;
	for (int fails = 0; fails < 2; fails++) {
		struct written one = write_all(0, fails), all = write_all(3, fails);

		CHECK_EQ(one.r, all.r);
		CHECK_EQ(one.r == ATW_OK, !fails);
		CHECK_EQ(one.texts, 0u);
		/* All of one task are many, and all tasks have some. */
		CHECK(all.texts > LARGE_RUNS * 20 / 4000 + TASKS / 2);
		CHECK_EQ(one.len, all.len);
		CHECK(!memcmp(one.text, all.text, one.len));
		free(one.text);
		free(all.text);
	}
}

TEST(the_stream_is_the_same)
{
	struct ended one = collect(0, 0, false);

	/* All that is different about some tasks occurs. */
	CHECK_EQ(one.r, ATW_OK);
	CHECK(strstr(one.h.text.data, "H: vanished, 10\n"));
	CHECK(strstr(one.h.text.data, "L: 160, task, its task_struct is odd\n"));
	CHECK(strstr(one.h.text.data, "L: 110, a part of it, something is missing\n"));
	CHECK(strstr(one.h.text.data, "T: kworker, 1104"));
	CHECK(!strstr(one.h.text.data, "T: thread"));
	CHECK(strstr(one.h.text.data, "H: slab.first, 64 64 - 1 1\nH: slab.second, 64 64 - 1 1\n"));
	buf_deinit(&one.h.text);

	most_opened = 8;
	check_same(1, 0, false);
	check_same(5, 0, false);
	/* Each part of what is read before was read, once. */
	CHECK_EQ(atomic_load(&shares), 0xffffu);
	/* Fewer threads than wanted; and none. */
	most_opened = 1;
	check_same(5, 0, false);
	most_opened = 0;
	check_same(5, 0, false);
}

TEST(a_failure_is_the_same)
{
	most_opened = 8;
	check_same(2, 0, true);
	for (size_t left = 3; left < 700; left += 97)
		check_same(2, left, false);
}

TEST(slab_caches_are_listed_by_a_thread)
{
	struct ended one, all;

	running = true;
	one = collect(0, 0, false);
	most_opened = 8;
	check_same(2, 0, false);
	CHECK_EQ(atomic_load(&listings), 1u);
	/* What a thread could not list is listed again, and half of it is not repeated. */
	failing_listings = 1;
	all = collect(2, 0, false);
	CHECK_EQ(atomic_load(&listings), 2u);
	CHECK_EQ(all.r, ATW_OK);
	CHECK_STR(all.h.text.data, one.h.text.data);
	failing_listings = 0;
	running = false;
	buf_deinit(&one.h.text);
	buf_deinit(&all.h.text);
}

TEST(a_tape_is_played_once)
{
	struct tape t = { .len = 0 };
	struct turn turn = { .tape = &t, .most = 1 << 20 };
	const struct census_sink sink = tape_sink(&turn, false);
	struct capture_run run = { .va = K, .pages = 1, .entry = 2 };
	struct heard h = { .left = 0 };
	const struct census_sink to = heard_sink(&h);
	const struct tape_to play = { .sink = &to };
	struct atw_err err = { 0 };
	size_t at;

	CHECK_EQ(sink.run(sink.arg, &run, &err), ATW_OK);
	at = t.len;
	run.va = 2 * K;
	CHECK_EQ(sink.run(sink.arg, &run, &err), ATW_OK);
	CHECK(t.len - at < at);
	CHECK_EQ(tape_play(&t, &play, &err), ATW_OK);
	tape_clear(&t);
	/* It is not taken for like one that is gone. */
	run.va = 3 * K;
	CHECK_EQ(sink.run(sink.arg, &run, &err), ATW_OK);
	CHECK_EQ(tape_play(&t, &play, &err), ATW_OK);
	CHECK_STR(h.text.data, " 00001000=00000002, -, - |\n 00002000=00000002, -, - |\n"
			       " 00003000=00000002, -, - |\n");
	buf_deinit(&h.text);
	tape_deinit(&t);
}

static int on_lines(void *arg, const char *text, size_t len, const struct capture_end *count,
		    struct atw_err *err)
{
	struct heard *h = arg;

	(void)err;
	buf_printf(&h->text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ":\n", count->lines,
		   count->tasks, count->areas, count->lost);
	buf_add(&h->text, text, len);
	return ATW_OK;
}

TEST(a_tape_has_lines_between_records)
{
	struct tape t = { .len = 0 };
	struct turn turn = { .tape = &t, .most = 1 << 20 };
	const struct census_sink sink = tape_sink(&turn, true);
	const struct capture_record area = { .letter = 'V', .v = { .start = K, .last = 2 * K - 1 } };
	const struct capture_record lost = { .letter = 'L', .l = { .what = { "x", 1 }, .why = { "y", 1 } } };
	const struct capture_run run = { .va = K, .pages = 2, .entry = 2 };
	struct heard h = { .left = 0 };
	struct census_sink to = heard_sink(&h);
	const struct tape_to play = { .sink = &to };
	struct atw_err err = { 0 };

	to.lines = on_lines;
	/* Twice: nothing of the first time is left. */
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sink.record(sink.arg, &area, &err), ATW_OK);
		CHECK_EQ(sink.run(sink.arg, &run, &err), ATW_OK);
		CHECK_EQ(sink.run(sink.arg, &run, &err), ATW_OK);
		CHECK_EQ(sink.record(sink.arg, &lost, &err), ATW_OK);
		CHECK_EQ(sink.run(sink.arg, &run, &err), ATW_OK);
		h.text.len = 0;
		CHECK_EQ(tape_play(&t, &play, &err), ATW_OK);
		tape_clear(&t);
		buf_char(&h.text, '\0');
		CHECK_STR(h.text.data,
			  "2 0 1 0:\n"
			  "V: 00001000, 00001FFF, 00000000, 00000000, -, -, NULL\n"
			  "M: 00001000*2=00000002, -, - | 00001000*2=00000002, -, - |\n"
			  "L: 0, x, y\n"
			  "1 0 0 0:\n"
			  "M: 00001000*2=00000002, -, - |\n");
	}
	buf_deinit(&h.text);
	tape_deinit(&t);
}
