/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is not there is never passed as fact, though processes of this test change under the
 * walk: memory that comes and goes, processes that die, numbers that are given again.
 * ATWALK_CHURN: so many times as many walks of the first of them.
 */
#include "test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "linux/linux.h"
#include "linux/process.h"
#include "walk/walk.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
/*
 * Alone in its GiB, and in its 512 of them: with the last page the tables of
 * three levels go.
 */
#define CHURN (UINT64_C(0x300000000000))
#define CHURN_LEN (64 * MIB)
/* The same entries of other tables. */
#define ELSEWHERE (CHURN - 1024 * GIB)
#define PAIR 8192u
/*
 * What the pages are full of. Read as an entry it is present, the user's and
 * writable, and leads to where no machine has memory.
 */
#define DECOY ((UINT64_C(1) << 45) | 0x67)

enum {
	/* What is counted; how long that takes is up to the machine. */
	WALKS = 2000, PAIR_WALKS = 10000, SLOW_WALKS = 20, DEATHS = 30, AREA_LISTS = 200,
	TASK_LISTS = 120,
	PATIENCE = 1200,         /* seconds: only a hang gets there */
};

struct live {
	struct atw_source *s;
	struct atw_kernel *k;
};

static bool live_open(struct live *l)
{
	const struct atw_kernel_opts ko = { 0 };
	struct atw_err err = { 0 };
	int r = atw_source_open("live:bpf", NULL, 0, &l->s, &err);

	l->k = NULL;
	if (r == ATW_E_PERM || r == ATW_E_UNSUPPORTED) {
		printf("skip - %s\n", err.text);
		test_skipped = true;
		return false;
	}
	if (r == ATW_OK)
		r = atw_kernel_open(l->s, &ko, &l->k, &err);
	if (r < 0)
		TEST_FAIL("%s", err.text);
	return r == ATW_OK;
}

static void live_close(struct live *l)
{
	atw_kernel_close(l->k);
	atw_source_close(l->s);
}

static int mm_of(struct live *l, pid_t pid, struct atw_mm *ret)
{
	uint64_t mm;
	int r = atw_source_mm_of(l->s, (uint64_t)pid, &mm, NULL);

	return r < 0 ? r : atw_mm_open(l->k, mm, ret, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Dies with us, whatever happens. */
static pid_t child(void (*run)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		run();
	_exit(0);
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void come_and_go(void)
{
	for (;;) {
		uint64_t *p = mmap((void *)CHURN, CHURN_LEN, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		madvise(p, CHURN_LEN, MADV_NOHUGEPAGE);
		/* The first words of a page are those of the tables' that are in use. */
		for (uint64_t page = 0; page < CHURN_LEN / 4096; page++)
			for (unsigned i = 0; i < 40; i++)
				p[page * 512 + i] = DECOY;
		munmap(p, CHURN_LEN);
	}
}

/*
 * The tables of one place become those of another within microseconds: here
 * everything may be written, there nothing.
 */
static void trade_places(void)
{
	for (;;) {
		volatile uint64_t *p;

		for (unsigned write = 0; write < 2; write++) {
			p = mmap((void *)(write ? CHURN : ELSEWHERE), PAIR,
				 write ? PROT_READ | PROT_WRITE : PROT_READ,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			if (p == MAP_FAILED)
				_exit(1);
			for (unsigned i = 0; i < PAIR; i += 4096) {
				if (write)
					p[i / 8] = DECOY;
				(void)p[i / 8];
			}
			munmap((void *)p, PAIR);
		}
	}
}

/* Is it what a process may really have there? Counted by what is wrong. */
struct verdict {
	uint64_t walks, leaves, churned, changed, unstable, wrong, ended;
	uint64_t va, word;
};

static void look(const struct atw_mm *mm, uint64_t first, struct verdict *v)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(0x7effffffffff),
	};
	const struct mmu_seen *s;
	struct mmu_walk *w = NULL;
	int r = mmu_walk_open(&mm->space, &o, &w, NULL);

	while (r == ATW_OK && (r = mmu_walk_next(w, &s, NULL)) == ATW_OK) {
		bool in = s->va.u >= CHURN && s->va.u < CHURN + CHURN_LEN;
		bool there = s->va.u >= ELSEWHERE && s->va.u < ELSEWHERE + PAIR;
		bool wrong = s->kind == ATW_BAD || (s->loss && s->loss != ATW_LOST_UNSTABLE);

		v->unstable += s->loss == ATW_LOST_UNSTABLE;
		for (uint32_t i = 0; !s->loss && s->kind == ATW_LEAF && i < s->count; i++) {
			wrong |= mmu_seen_pa(&mm->space, s, i).u >> 45 != 0;
			v->leaves++;
			v->churned += in;
		}
		/* All that is there can be written; and there is nothing around it. */
		wrong |= in && !s->loss && (s->rights & (ATW_UR | ATW_UW)) != (ATW_UR | ATW_UW);
		wrong |= there && !s->loss && s->rights & ATW_UW;
		wrong |= !in && !there && !s->loss && s->va.u >= ELSEWHERE && s->va.u < CHURN + 512 * GIB;
		if (wrong && !v->wrong++) {
			v->va = s->va.u;
			v->word = s->path[s->depth - 1].word;
		}
	}
	if (w)
		v->changed += mmu_walk_stats(w).changed;
	v->ended += r == ATW_E_LIMIT;
	v->walks++;
	mmu_walk_close(w);
}

/* A reader that is held up before every read, so that all may be others' by then. */
struct slow {
	struct atw_source s;     /* comes first */
	uint64_t reads;
};

static ssize_t slow_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			 struct atw_err *err)
{
	struct slow *w = (struct slow *)s;

	usleep((useconds_t)(w->reads++ % 7 * 500));
	return atw_read(s->below, pa, buf, len, err);
}

static int slow_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	return atw_extent_at(s->below, pa, ret);
}

static const struct atw_source_ops slow_ops = {
	.name = "slow", .help = "waits",
	.read = slow_read, .extent = slow_extent, .live = true,
};

/* Walks so often, and until there was something to be wrong about. */
static bool watch_enough(const struct verdict *v, uint64_t walks, bool slow)
{
	return v->walks >= walks && (slow ? v->changed : v->churned);
}

static void watch(void (*run)(void), uint64_t walks, bool slow)
{
	struct slow wait = { .s = { .ops = &slow_ops } };
	struct verdict v = { 0 };
	struct atw_mm mm;
	struct live l;
	double end;
	pid_t pid;

	if (!live_open(&l))
		return;
	pid = child(run);
	end = now() + PATIENCE;
	wait.s.below = l.s;
	if (mm_of(&l, pid, &mm) == ATW_OK) {
		if (slow)
			mm.space.mem = &wait.s;
		while (!watch_enough(&v, walks, slow) && now() < end)
			look(&mm, slow ? ELSEWHERE : 0, &v);
	}
	stop(pid);
	live_close(&l);
	printf("%" PRIu64 " walks, %" PRIu64 " leaves of what comes and goes, %" PRIu64
	       " entries changed meanwhile, %" PRIu64 " times given up\n",
	       v.walks, v.churned, v.changed, v.unstable);
	if (v.wrong)
		TEST_FAIL("%" PRIu64 " wrong, first 0x%" PRIx64 ": entry 0x%" PRIx64,
			  v.wrong, v.va, v.word);
	CHECK(watch_enough(&v, walks, slow));
	CHECK_EQ(v.ended, 0);
}

TEST(memory_that_comes_and_goes)
{
	const char *text = getenv("ATWALK_CHURN");
	int times = text && atoi(text) > 0 ? atoi(text) : 1;

	watch(come_and_go, (uint64_t)times * WALKS, false);
}

TEST(tables_that_become_others)
{
	watch(trade_places, PAIR_WALKS, false);
}

TEST(a_slow_reader_is_not_fooled)
{
	watch(trade_places, SLOW_WALKS, true);
}

/* ---- processes that end ---- */

static void live_shortly(void)
{
	char *p = mmap((void *)CHURN, CHURN_LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	madvise(p, CHURN_LEN, MADV_NOHUGEPAGE);
	memset(p, 1, CHURN_LEN);
	usleep((useconds_t)(getpid() % 8 * 500));
}

TEST(processes_that_die)
{
	double end = now() + PATIENCE;
	struct verdict v = { 0 };
	uint64_t children = 0;
	struct atw_mm mm;
	struct live l;

	if (!live_open(&l))
		return;
	for (; v.ended < DEATHS && now() < end; children++) {
		pid_t pid = child(live_shortly);
		uint64_t before = v.ended;

		if (mm_of(&l, pid, &mm) == ATW_OK)
			while (v.ended == before && !v.wrong)
				look(&mm, 0, &v);
		waitpid(pid, NULL, 0);
		/* What is gone stays gone, though its memory is others' by now. */
		CHECK(mm_of(&l, pid, &mm) < 0);
	}
	live_close(&l);
	printf("%" PRIu64 " processes, %" PRIu64 " walks, %" PRIu64 " ended under one\n",
	       children, v.walks, v.ended);
	if (v.wrong)
		TEST_FAIL("%" PRIu64 " wrong, first 0x%" PRIx64 ": entry 0x%" PRIx64,
			  v.wrong, v.va, v.word);
	CHECK_EQ(v.ended, DEATHS);
}

/* ---- numbers that are given again ---- */

static void rest(void)
{
	for (;;)
		pause();
}

/* A child that has this number; 0: that cannot be arranged. */
static pid_t child_with(pid_t pid)
{
	for (int i = 0; i < 50; i++) {
		FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");
		bool set = f && fprintf(f, "%d", (int)pid - 1) > 0;
		pid_t got;

		if (f)
			set &= !fclose(f);
		if (!set)
			return 0;
		got = child(rest);
		if (got == pid)
			return got;
		stop(got);
	}
	return 0;
}

/* The task with this PID; its start time distinguishes it from the previous one. */
static bool task_of(struct live *l, pid_t pid, struct lnx_task *ret)
{
	return lnx_task_by_pid(l->k, (uint32_t)pid, ret, NULL) == ATW_OK;
}

TEST(a_number_that_is_given_again)
{
	struct lnx_task first, second;
	struct verdict v = { 0 };
	struct atw_mm mm;
	struct live l;
	pid_t pid, again;

	if (!live_open(&l))
		return;
	pid = child(rest);
	CHECK(task_of(&l, pid, &first));
	CHECK_EQ(atw_mm_of(l.k, &first, &mm, NULL), ATW_OK);
	CHECK(mmu_space_lives(&mm.space));
	stop(pid);
	again = child_with(pid);
	if (!again) {
		printf("skip - the kernel does not let us choose a number\n");
		test_skipped = true;
		live_close(&l);
		return;
	}
	CHECK(task_of(&l, again, &second));
	CHECK_EQ(second.pid, first.pid);
	CHECK(second.start > first.start);
	/* What was asked of the first is not answered by the second. */
	CHECK(!mmu_space_lives(&mm.space));
	look(&mm, 0, &v);
	CHECK_EQ(v.ended, 1);
	CHECK_EQ(v.leaves, 0);
	CHECK_EQ(atw_mm_of(l.k, &first, &mm, NULL), ATW_END);
	CHECK_EQ(atw_mm_of(l.k, &second, &mm, NULL), ATW_OK);
	stop(again);
	live_close(&l);
}

/* ---- areas that come and go ---- */

#define FIXED (CHURN + 512 * GIB)
enum { AREAS = 1000, MOST = 60000 };

static int ready[2];             /* a byte comes once a child has its areas */

/* Every other page may be read only: as many areas as pages. */
static void many_areas(uint64_t n)
{
	char *p = mmap((void *)FIXED, n * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	for (uint64_t i = 0; i < n; i += 2)
		if (mprotect(p + i * 4096, 4096, PROT_READ))
			_exit(1);
}

static void areas_come_and_go(void)
{
	many_areas(AREAS);
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	for (uint64_t n = 0;; n++) {
		void *p = mmap((void *)(CHURN + n % 50 * MIB), 8192, PROT_READ,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		if (n % 3)
			munmap((void *)(CHURN + n % 25 * MIB), 8192);
	}
}

static void sixty_thousand(void)
{
	many_areas(MOST);
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

struct areas_seen {
	uint64_t fixed, all, wrong, skipped;
	struct atw_err err;
};

static void list_areas(struct live *l, uint64_t mm, struct areas_seen *v)
{
	struct atw_areas *areas = NULL;
	struct atw_area a;
	uint64_t ended = 0;
	int r = atw_areas_open(l->k, mm, &areas, &v->err);

	while (r == ATW_OK && (r = atw_areas_next(areas, &a, &v->err)) != ATW_END) {
		if (r == ATW_E_MISSING) {        /* it never held still, and says so */
			v->skipped++;
			r = ATW_OK;
			continue;
		}
		if (r < 0)
			break;
		uint64_t i = (a.start.u - FIXED) / 4096;

		v->all++;
		v->wrong += a.start.u < ended;
		ended = a.end.u;
		if (a.start.u < FIXED || a.start.u >= FIXED + MOST * UINT64_C(4096))
			continue;
		v->fixed++;
		v->wrong += a.end.u - a.start.u != 4096 || a.write != i % 2 || !a.read;
	}
	v->wrong += r < 0;
	atw_areas_close(areas);
}

static uint64_t mm_at(struct live *l, pid_t pid)
{
	uint64_t mm = 0;

	return atw_source_mm_of(l->s, (uint64_t)pid, &mm, NULL) == ATW_OK ? mm : 0;
}

TEST(areas_that_come_and_go)
{
	uint64_t lists = 0, skipped = 0, all = 0, mm;
	struct live l;
	pid_t pid;
	char c;

	if (!live_open(&l))
		return;
	CHECK_EQ(pipe(ready), 0);
	pid = child(areas_come_and_go);
	close(ready[1]);
	CHECK_EQ(read(ready[0], &c, 1), 1);
	close(ready[0]);
	mm = mm_at(&l, pid);
	for (struct areas_seen v; lists < AREA_LISTS && !test_failures; lists++) {
		v = (struct areas_seen){ 0 };
		list_areas(&l, mm, &v);
		skipped += v.skipped;
		all += v.all;
		if (v.fixed != AREAS || v.wrong)
			TEST_FAIL("list %" PRIu64 ": %" PRIu64 " of those that stay, %" PRIu64 " wrong: %s",
				  lists, v.fixed, v.wrong, v.err.text);
	}
	stop(pid);
	live_close(&l);
	printf("%" PRIu64 " lists, %" PRIu64 " areas, %" PRIu64 " times one never held still\n",
	       lists, all, skipped);
}

TEST(sixty_thousand_areas)
{
	struct areas_seen v = { 0 };
	struct live l;
	pid_t pid;
	char c;

	if (!live_open(&l))
		return;
	CHECK_EQ(pipe(ready), 0);
	pid = child(sixty_thousand);
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		printf("skip - a process cannot have so many areas here\n");
		test_skipped = true;
		stop(pid);
		live_close(&l);
		return;
	}
	close(ready[0]);
	list_areas(&l, mm_at(&l, pid), &v);
	stop(pid);
	live_close(&l);
	CHECK_STR(v.err.text, "");
	CHECK_EQ(v.fixed, MOST);
	CHECK_EQ(v.wrong, 0);
}

/* ---- tasks that come and go ---- */

enum { STAY = 200 };

static void breed(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

TEST(tasks_that_come_and_go)
{
	pid_t stay[STAY], breeder[2];
	uint64_t lists = 0, most = 0;
	struct live l;

	if (!live_open(&l))
		return;
	for (unsigned i = 0; i < 2; i++)
		breeder[i] = child(breed);
	for (unsigned i = 0; i < STAY; i++)
		stay[i] = child(rest);
	for (; lists < TASK_LISTS && !test_failures; lists++) {
		struct atw_err err = { 0 };
		struct lnx_tasks *tasks;
		uint64_t n = 0, all = 0;
		struct lnx_task t;
		int r = lnx_tasks_open(l.k, &tasks, &err);

		while (r == ATW_OK && (r = lnx_tasks_next(tasks, &t, &err)) == ATW_OK) {
			all++;
			for (unsigned i = 0; i < STAY; i++)
				n += (pid_t)t.pid == stay[i];
		}
		lnx_tasks_close(tasks);
		if (all > most)
			most = all;
		if (n != STAY || r != ATW_END)
			TEST_FAIL("list %" PRIu64 ": %" PRIu64 " of %d that stay: %s", lists, n, STAY,
				  err.text);
	}
	for (unsigned i = 0; i < STAY; i++)
		stop(stay[i]);
	for (unsigned i = 0; i < 2; i++)
		stop(breeder[i]);
	live_close(&l);
	printf("%" PRIu64 " lists of up to %" PRIu64 " tasks\n", lists, most);
}
