// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The running kernel is read as a source. Reads only this process and its children;
 * skipped where the kernel forbids it.
 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/source.h"
#include "format/vmcoreinfo.h"

#include "base/cleanup.h"
#include "host/host_file.h"
#include "host/bpf_task.h"

enum { PAGE = 4096, HUGE = 2 << 20 };

/* NULL, and the reason printed, where it cannot be had. */
static struct atw_source *open_way(const char *way)
{
	struct atw_err err = { 0 };
	struct atw_source *s;
	int r = atw_source_open(way, NULL, 0, &s, &err);

	if (r == ATW_OK)
		return s;
	if (r == ATW_E_PERM || r == ATW_E_UNSUPPORTED) {
		printf("skip - %s\n", err.text);
		test_skipped = true;
	} else {
		TEST_FAIL("%s", err.text);
	}
	return NULL;
}

static struct atw_source *open_live(void)
{
	return open_way("live:bpf");
}

/* Physical address of a page of ours; 0 where the kernel keeps it to itself. */
static uint64_t physical(const void *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t e = 0;

	if (fd < 0 || pread(fd, &e, 8, (off_t)((uintptr_t)p / PAGE * 8)) != 8)
		e = 0;
	if (fd >= 0)
		close(fd);
	return (e & ((UINT64_C(1) << 55) - 1)) * PAGE;
}

static uint64_t mm_of(struct atw_source *s, pid_t pid)
{
	uint64_t mm = 0;

	return atw_source_mm_of(s, (uint64_t)pid, &mm, NULL) == ATW_OK ? mm : 0;
}

/* The sentence about a process that does not exist; empty if it may. */
static const char *why_none(struct atw_source *s, uint64_t pid)
{
	static struct atw_err err;
	uint64_t mm;

	return atw_source_mm_of(s, pid, &mm, &err) == ATW_E_NONE ? err.text : "";
}

TEST(says_which_ways_there_are)
{
	struct atw_source *s;
	struct atw_err err = { 0 };
	const char *const part = "x";

	if (access("/proc/kcore", F_OK)) {
		CHECK_EQ(atw_source_open("live:kcore", NULL, 0, &s, &err), ATW_E_UNSUPPORTED);
		CHECK_STR(err.text, "live: this kernel has no /proc/kcore (CONFIG_PROC_KCORE)");
	}
	CHECK_EQ(atw_source_open("live:magic", NULL, 0, &s, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "live: 'magic' is no way to read the running kernel");
	CHECK_EQ(atw_source_open("live", &part, 1, &s, &err), ATW_E_USAGE);
	CHECK_EQ(atw_source_open("./live", NULL, 0, &s, &err), ATW_E_MISSING);
	CHECK_EQ(atw_source_open("lively", NULL, 0, &s, &err), ATW_E_MISSING);
}

TEST(pagemap_is_no_source_of_memory)
{
	struct atw_source *s = NULL;
	struct atw_err err = { 0 };

	CHECK_EQ(atw_source_open("live:pagemap", NULL, 0, &s, &err), ATW_E_UNSUPPORTED);
	CHECK(!s);
	CHECK_STR(err.text, "live: /proc/PID/pagemap leads to no memory that can be read");
}

TEST(tells_facts)
{
	struct atw_source *s = open_live();
	struct atw_vmcoreinfo vi;
	struct atw_blob b;
	struct utsname u;
	uint64_t cpus;

	if (!s)
		return;
	uname(&u);
	CHECK_EQ(atw_fact(s, "machine", &b), ATW_OK);
	CHECK_EQ(b.len, strlen(u.machine));
	CHECK_EQ(atw_fact(s, "vmcoreinfo", &b), ATW_OK);
	vi = (struct atw_vmcoreinfo){ b.data, b.len };
	CHECK_EQ(atw_vmcoreinfo_probe(b.data, b.len), b.len);
	CHECK_EQ(atw_vmcoreinfo_text(&vi, "OSRELEASE", &b), ATW_OK);
	CHECK(b.len == strlen(u.release) && !memcmp(b.data, u.release, b.len));
	CHECK_EQ(atw_fact_u64(s, "cpus", &cpus), ATW_OK);
	CHECK_EQ(cpus, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_EQ(atw_fact(s, "pid.1.mm", &b), ATW_E_MISSING);
	CHECK_EQ(atw_fact(s, "truncated", &b), ATW_E_MISSING);
	atw_source_close(s);
}

/* Every page of ours holds what we wrote into it, seen from the other side. */
static void own_pages(const char *way)
{
	struct atw_source *s = open_way(way);
	uint8_t buf[PAGE];
	uint8_t *m;

	if (!s)
		return;
	m = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m != MAP_FAILED);
	for (size_t i = 0; i < 64 * PAGE; i++)
		m[i] = (uint8_t)(i * 2654435761u >> 13);
	for (size_t i = 0; i < 64; i++) {
		uint64_t pa = physical(m + i * PAGE);

		if (!pa) {
			atw_source_close(s);
			SKIP("pagemap gives no frame numbers without CAP_SYS_ADMIN");
		}
		CHECK_EQ(atw_read(s, ATW_PA(pa), buf, PAGE, NULL), PAGE);
		/* A page may move between the two questions. */
		if (physical(m + i * PAGE) != pa)
			continue;
		CHECK(!memcmp(buf, m + i * PAGE, PAGE));
		CHECK_EQ(atw_read(s, ATW_PA(pa + 123), buf, 7, NULL), 7);
		CHECK(!memcmp(buf, m + i * PAGE + 123, 7));
	}
	munmap(m, 64 * PAGE);
	atw_source_close(s);
}

TEST(reads_our_own_pages)
{
	own_pages("live:bpf");
}

TEST(reads_our_own_pages_through_kcore)
{
	own_pages("live:kcore");
}

/* More than one run of the program can carry, at no page's beginning. */
TEST(reads_large_pieces)
{
	struct atw_source *s = open_live();
	uint8_t *m, *huge, *buf = malloc(HUGE);
	uint64_t pa;

	if (!s) {
		free(buf);
		return;
	}
	m = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m != MAP_FAILED && buf);
	huge = (uint8_t *)(((uintptr_t)m + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
	madvise(huge, HUGE, MADV_HUGEPAGE);
	for (size_t i = 0; i < HUGE; i++)
		huge[i] = (uint8_t)(i * 2654435761u >> 11);
	pa = physical(huge);
	if (!pa || pa % HUGE || physical(huge + HUGE - PAGE) != pa + HUGE - PAGE) {
		printf("skip - no large page to read\n");
		test_skipped = true;
	} else {
		CHECK_EQ(atw_read(s, ATW_PA(pa + 77), buf, HUGE - 77, NULL), HUGE - 77);
		CHECK(!memcmp(buf, huge + 77, HUGE - 77) || physical(huge) != pa);
	}
	munmap(m, 2 * HUGE);
	free(buf);
	atw_source_close(s);
}

/* Where no place of the shared area begins, there is a copy after all. */
TEST(reads_into_its_own_memory_what_it_reads_elsewhere)
{
	struct atw_source *s = open_live();
	uint8_t *m, *own, *second, plain[2 * PAGE];
	struct atw_err err = { 0 };

	if (!s)
		return;
	m = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m != MAP_FAILED);
	memset(m, 0x5a, 4 * PAGE);
	own = atw_buffer_open(s, 4 * PAGE);
	second = atw_buffer_open(s, PAGE);
	CHECK(own && second);
	for (int i = 0; i < 4 && !test_skipped; i++) {
		uint64_t pa = physical(m + i * PAGE);
		struct atw_piece piece[] = {
			{ ATW_PA(pa), own + i * PAGE, PAGE, 0 },
			{ ATW_PA(pa + 8), plain, 100, 0 },
			{ ATW_PA(pa + 100), second, PAGE - 100, 0 },
		};

		if (!pa) {
			printf("skip - physical addresses are hidden\n");
			test_skipped = true;
			break;
		}
		memset(m + i * PAGE, 0x10 + i, PAGE);
		atw_read_many(s, piece, ARRAY_SIZE(piece), &err);
		if (physical(m + i * PAGE) != pa)
			continue;
		CHECK_EQ(piece[0].got, PAGE);
		CHECK_EQ(piece[1].got, 100);
		CHECK_EQ(piece[2].got, PAGE - 100);
		CHECK(!memcmp(own + i * PAGE, m + i * PAGE, PAGE));
		CHECK(!memcmp(plain, m + i * PAGE, 100));
		CHECK(!memcmp(second, m + i * PAGE, PAGE - 100));
		/* What it had is still there, whatever was read meanwhile. */
		CHECK(!i || own[0] == 0x10 || physical(m) == 0);
		CHECK_EQ(atw_read(s, ATW_PA(pa), own + 100, 200, NULL), 200);
		CHECK(own[100] == 0x10 + i && own[299] == 0x10 + i);
		memset(own, 0x10, PAGE);
	}
	atw_buffer_close(s, second);
	atw_buffer_close(s, own);
	munmap(m, 4 * PAGE);
	atw_source_close(s);
}

TEST(what_is_not_ram_is_not_read)
{
	struct atw_source *s = open_live();
	struct atw_extent e;
	uint64_t at = 0, data = 0, before = 0;
	uint8_t buf[2 * PAGE];

	if (!s)
		return;
	while (atw_extent_at(s, ATW_PA(at), &e) == ATW_OK) {
		CHECK_EQ(e.start.u, at);
		if (e.kind == ATW_DATA) {
			data += e.len;
		} else {
			CHECK_EQ(e.kind, ATW_NONE);
			CHECK_EQ(atw_read(s, e.start, buf, 8, NULL), 0);
			/* A read that reaches the hole ends there. */
			if (e.len >= PAGE && before >= PAGE)
				CHECK_EQ(atw_read(s, ATW_PA(at - 16), buf, 64, NULL), 16);
		}
		before = e.kind == ATW_DATA ? e.len : 0;
		at += e.len;
	}
	CHECK(data > 0);
	CHECK_EQ(atw_read(s, ATW_PA(at), buf, 8, NULL), 0);
	CHECK_EQ(atw_read(s, ATW_PA(UINT64_MAX - 7), buf, 8, NULL), 0);
	atw_source_close(s);
}

TEST(finds_processes)
{
	struct atw_source *s = open_live();
	pid_t kid;
	uint64_t mm;

	if (!s)
		return;
	mm = mm_of(s, getpid());
	CHECK(mm >> 63 && mm % 8 == 0);
	kid = fork();
	if (!kid) {
		pause();
		_exit(0);
	}
	mm = mm_of(s, kid);
	CHECK(mm && mm != mm_of(s, getpid()));
	CHECK_EQ(mm_of(s, kid), mm);
	kill(kid, SIGKILL);
	/* Ended, and not yet waited for. */
	waitid(P_PID, (id_t)kid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	CHECK_EQ(mm_of(s, kid), 0);
	CHECK(strstr(why_none(s, (uint64_t)kid), " has ended: its address space is gone"));
	waitpid(kid, NULL, 0);
	CHECK_EQ(mm_of(s, kid), 0);
	CHECK(strstr(why_none(s, (uint64_t)kid), "there is no process "));
	CHECK_STR(why_none(s, 0), "there is no process 0");
	CHECK_STR(why_none(s, UINT64_C(1) << 40), "there is no process 1099511627776");
	atw_source_close(s);
}

enum { KIDS = 80, LIST_MOST = 64, LIST_TURNS = 10000 };

/* From init_task round to it again: how many of them follow each other; -1: it cannot be read so. */
static int kids_in_list(struct atw_source *s, const struct bpf_types *t, const pid_t *kid)
{
	static uint8_t bytes[LIST_MOST][PAGE];
	uint32_t part = t->task_tasks < t->task_tgid ? t->task_tasks : t->task_tgid;
	uint64_t at[LIST_MOST], init = 0;
	struct atw_direct d;
	int found = 0;
	struct atw_chain c = {
		.len = t->task_tgid + t->task_tasks + 16 - 2 * part,
		.next = t->task_tasks - part, .back = t->task_tasks - part,
		.max = LIST_MOST, .at = at, .buf = bytes,
	};

	if (atw_fact_u64(s, "init_task", &init) < 0)
		return -1;
	c.va = init + part;
	for (int turn = 0; turn < LIST_TURNS; turn++) {
		size_t n = atw_source_list(s, &c);

		if (!n)
			return -1;
		for (size_t i = 1; i < n && found < KIDS; i++) {
			uint32_t tgid;

			if (!atw_source_direct(s, at[i], &d) || at[i] - d.va >= d.size)
				return 0;
			memcpy(&tgid, (uint8_t *)bytes + i * c.len + t->task_tgid - part, 4);
			found += tgid == (uint32_t)kid[found];
		}
		if (n == 1)
			break;
		c.va = at[n - 1];
	}
	return found;
}

TEST(structs_of_a_list_at_one_moment)
{
	struct atw_source *s = open_live();
	struct bpf_types types;
	struct host_btf file = { 0 };
	struct btf btf = { 0 };
	pid_t kid[KIDS];
	int found = 0;

	if (!s)
		return;
	CHECK_EQ(host_btf_read(&file, NULL), ATW_OK);
	CHECK_EQ(btf_init(&btf, file.bytes, NULL), ATW_OK);
	CHECK_EQ(bpf_types_find(&btf, &types, NULL), ATW_OK);
	btf_deinit(&btf);
	host_btf_close(&file);
	for (int i = 0; i < KIDS; i++) {
		kid[i] = fork();
		if (!kid[i]) {
			pause();
			_exit(0);
		}
	}
	/* The last of those that were read may end before the next are. */
	for (int i = 0; i < 100 && found >= 0 && found < KIDS; i++)
		found = kids_in_list(s, &types, kid);
	for (int i = 0; i < KIDS; i++) {
		kill(kid[i], SIGKILL);
		waitpid(kid[i], NULL, 0);
	}
	atw_source_close(s);
	if (found < 0)
		SKIP("this kernel runs no such program");
	CHECK_EQ(found, KIDS);
}

/* The list of processes says the same as the kernel's own function. */
TEST(both_ways_to_a_process_agree)
{
	struct atw_source *s = open_live();
	struct host_bpf bpf = { 0 };
	struct bpf_tasks call = { .bpf = &bpf }, list = { .bpf = &bpf, .way = LIVE_TASK_LIST };
	struct host_btf file = { 0 };
	struct btf types = { 0 };
	struct atw_err err = { 0 };
	uint64_t own = 0, a = 0, b = 0;
	pid_t kid;
	int r;

	if (!s)
		return;
	atw_source_close(s);
	CHECK_EQ(bpf_open(&bpf, NULL), ATW_OK);
	CHECK_EQ(host_btf_read(&file, NULL), ATW_OK);
	CHECK_EQ(btf_init(&types, file.bytes, NULL), ATW_OK);
	CHECK_EQ(bpf_types_find(&types, &call.types, NULL), ATW_OK);
	btf_deinit(&types);
	host_btf_close(&file);
	list.types = call.types;
	CHECK_EQ(bpf_own_mm(&call, &own, NULL), ATW_OK);
	r = bpf_task_mm(&list, (uint64_t)getpid(), &a, &err);
	if (r == ATW_E_UNSUPPORTED) {
		bpf_close(&bpf);
		SKIP("in a PID namespace only the kernel can find processes");
	}
	CHECK_EQ(r, ATW_OK);
	CHECK_EQ(a, own);
	CHECK_EQ(bpf_task_mm(&call, (uint64_t)getpid(), &b, NULL), ATW_OK);
	CHECK_EQ(b, own);
	kid = fork();
	if (!kid) {
		pause();
		_exit(0);
	}
	CHECK_EQ(bpf_task_mm(&list, (uint64_t)kid, &a, NULL), ATW_OK);
	CHECK_EQ(bpf_task_mm(&call, (uint64_t)kid, &b, NULL), ATW_OK);
	kill(kid, SIGKILL);
	waitpid(kid, NULL, 0);
	CHECK_EQ(a, b);
	CHECK_EQ(bpf_task_mm(&list, (uint64_t)kid, &a, &err), ATW_E_NONE);
	CHECK(!strncmp(err.text, "there is no process ", 20));
	CHECK_EQ(bpf_task_mm(&call, (uint64_t)kid, &b, &err), ATW_E_NONE);
	/* In one kernel the function finds every process but the first. */
	a = b = 0;
	r = bpf_task_mm(&list, 1, &a, NULL);
	CHECK_EQ(bpf_task_mm(&call, 1, &b, NULL), r);
	CHECK_EQ(b, a);
	if (call.way != LIVE_TASK_KFUNC)
		printf("note - this kernel has no function for it: only the list was tried\n");
	bpf_tasks_close(&call);
	bpf_close(&bpf);
}

TEST(what_cannot_be_read_is_said)
{
	struct atw_source *s = open_live();
	struct host_bpf bpf = { 0 };
	struct atw_err err = { 0 };
	uint64_t v;

	if (!s)
		return;
	atw_source_close(s);
	CHECK_EQ(bpf_open(&bpf, NULL), ATW_OK);
	/* Neither a user's address nor one between the halves is the kernel's. */
	CHECK_EQ(bpf_copy(&bpf, (uintptr_t)&v, &v, 8, &err), ATW_E_IO);
	CHECK_EQ(bpf_copy(&bpf, UINT64_C(0x8000000000000000), &v, 8, &err), ATW_E_IO);
	CHECK_STR(err.text, "the kernel has nothing to read at 0x8000000000000000");
	bpf_close(&bpf);
	bpf_close(&bpf);
}
