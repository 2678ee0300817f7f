/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a child is read, and what it has in memory is the same before and after: its
 * resident set and page tables, and the blocks of its memfd.
 */
#include "host/process_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { PAGES = 1024, WRITTEN = 3 };

struct child {
	pid_t pid;
	uint64_t page;
	uint8_t *anon, *shared;
	int memfd;
	struct process_memory *pm;
	struct procmaps_area anon_map, shared_map;
};

/* Nothing is written but pages WRITTEN and WRITTEN + 1, and another by way of the file.
 */
static bool child_start(struct child *c)
{
	size_t len;
	char last = 'f';
	struct stat st;

	c->page = (uint64_t)sysconf(_SC_PAGESIZE);
	len = PAGES * c->page;
	c->memfd = memfd_create("ram", MFD_CLOEXEC);
	if (c->memfd < 0 || ftruncate(c->memfd, (off_t)len) < 0)
		return false;
	c->anon = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	c->shared = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, c->memfd, 0);
	if (c->anon == MAP_FAILED || c->shared == MAP_FAILED)
		return false;
	madvise(c->anon, len, MADV_NOHUGEPAGE);
	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(c->anon + WRITTEN * c->page, 'a', 2 * c->page);
		memset(c->shared + WRITTEN * c->page, 's', 2 * c->page);
		raise(SIGSTOP);
		_exit(0);
	}
	if (c->pid < 0 || waitpid(c->pid, NULL, WUNTRACED) != c->pid ||
	    pwrite(c->memfd, &last, 1, (off_t)(9 * c->page)) != 1 ||
	    fstat(c->memfd, &st) < 0)
		return false;
	c->anon_map = (struct procmaps_area){
		.start = (uintptr_t)c->anon,
		.end = (uintptr_t)c->anon + len,
	};
	c->shared_map = (struct procmaps_area){
		.start = (uintptr_t)c->shared,
		.end = (uintptr_t)c->shared + len,
		.inode = st.st_ino,
		.major = 0,
		.minor = (uint32_t)(st.st_dev & 0xff),
	};
	return process_memory_open((uint32_t)c->pid, &c->pm, NULL) == ATW_OK;
}

static void child_end(struct child *c)
{
	process_memory_close(c->pm);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	munmap(c->anon, PAGES * c->page);
	munmap(c->shared, PAGES * c->page);
	close(c->memfd);
}

/* VmRSS, VmPTE and VmSwap, in KiB, as one text. */
static void child_cost(const struct child *c, char *buf, size_t len)
{
	char path[64], line[256];
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)c->pid);
	f = fopen(path, "r");
	*buf = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS", 5) || !strncmp(line, "VmPTE", 5) ||
		    !strncmp(line, "VmSwap", 6))
			snprintf(buf + strlen(buf), len - strlen(buf), "%s", line);
	if (f)
		fclose(f);
	if (!fstat(c->memfd, &st))
		snprintf(buf + strlen(buf), len - strlen(buf), "blocks %lld",
			 (long long)st.st_blocks);
}

static bool is_all(const uint8_t *p, uint8_t byte, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte)
			return false;
	return true;
}

TEST(anonymous)
{
	struct child c = {0};
	struct process_area a;
	enum process_page state;
	uint8_t *buf;
	uint64_t len;

	if (!child_start(&c))
		SKIP("no child whose memory can be read");
	process_area_open((uint32_t)c.pid, &c.anon_map, &a);
	CHECK(!a.file && a.fd == -1);
	CHECK_EQ(process_memory_look(c.pm, &a, a.start + WRITTEN * c.page + 1, &state,
				     &len, NULL),
		 ATW_OK);
	CHECK_EQ(state, PROCESS_PRESENT);
	CHECK(len >= c.page - 1 && len <= 2 * c.page - 1);
	CHECK_EQ(process_memory_look(c.pm, &a, a.start, &state, &len, NULL), ATW_OK);
	CHECK_EQ(state, PROCESS_ZERO);
	CHECK(len >= c.page && len <= WRITTEN * c.page);
	buf = malloc(a.len);
	memset(buf, 0xff, a.len);
	CHECK_EQ(process_memory_read(c.pm, &a, a.start, buf, a.len, NULL), a.len);
	CHECK(is_all(buf, 0, WRITTEN * c.page));
	CHECK(is_all(buf + WRITTEN * c.page, 'a', 2 * c.page));
	CHECK(is_all(buf + (WRITTEN + 2) * c.page, 0, (PAGES - WRITTEN - 2) * c.page));
	CHECK_EQ(process_memory_swapped(c.pm), 0);
	free(buf);
	process_area_close(&a);
	child_end(&c);
}

TEST(memfd)
{
	struct child c = {0};
	struct process_area a;
	enum process_page state;
	uint8_t *buf;
	uint64_t len;

	if (!child_start(&c))
		SKIP("no child whose memory can be read");
	process_area_open((uint32_t)c.pid, &c.shared_map, &a);
	CHECK(a.file && a.fd >= 0);
	CHECK_EQ(process_memory_look(c.pm, &a, a.start + WRITTEN * c.page, &state, &len,
				     NULL),
		 ATW_OK);
	CHECK_EQ(state, PROCESS_PRESENT);
	/* Written through the file: no page of the process, but data. */
	CHECK_EQ(process_memory_look(c.pm, &a, a.start + 9 * c.page, &state, &len, NULL),
		 ATW_OK);
	CHECK_EQ(state, PROCESS_STORED);
	CHECK_EQ(len, c.page);
	CHECK_EQ(process_memory_look(c.pm, &a, a.start + 10 * c.page, &state, &len, NULL),
		 ATW_OK);
	CHECK_EQ(state, PROCESS_ZERO);
	buf = malloc(a.len);
	memset(buf, 0xff, a.len);
	CHECK_EQ(process_memory_read(c.pm, &a, a.start, buf, a.len, NULL), a.len);
	CHECK(is_all(buf + WRITTEN * c.page, 's', 2 * c.page));
	CHECK_EQ(buf[9 * c.page], 'f');
	CHECK(is_all(buf + 10 * c.page, 0, (PAGES - 10) * c.page));
	process_area_close(&a);
	/* Without its file, only what the process maps is known. */
	CHECK_EQ(process_memory_read(c.pm, &a, a.start + WRITTEN * c.page, buf,
				     4 * c.page, NULL),
		 2 * c.page);
	CHECK_EQ(process_memory_read(c.pm, &a, a.start, buf, c.page, NULL), 0);
	free(buf);
	child_end(&c);
}

TEST(nothing_is_allocated)
{
	struct child c = {0};
	struct process_area a[2];
	char before[512], after[512];
	uint8_t *buf;

	if (!child_start(&c))
		SKIP("no child whose memory can be read");
	process_area_open((uint32_t)c.pid, &c.anon_map, &a[0]);
	process_area_open((uint32_t)c.pid, &c.shared_map, &a[1]);
	buf = malloc(a[0].len);
	child_cost(&c, before, sizeof(before));
	CHECK(strstr(before, "VmRSS") && strstr(before, "VmPTE") &&
	      strstr(before, "blocks"));
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(
			process_memory_read(c.pm, &a[i], a[i].start, buf, a[i].len, NULL),
			a[i].len);
		process_area_close(&a[i]);
	}
	child_cost(&c, after, sizeof(after));
	CHECK_STR(after, before);
	free(buf);
	child_end(&c);
}

TEST(it_ends)
{
	struct child c = {0};
	struct process_area a;
	struct atw_err err = {0};
	uint8_t byte;

	if (!child_start(&c))
		SKIP("no child whose memory can be read");
	process_area_open((uint32_t)c.pid, &c.anon_map, &a);
	kill(c.pid, SIGKILL);
	waitpid(c.pid, NULL, 0);
	CHECK_EQ(process_memory_read(c.pm, &a, a.start, &byte, 1, &err), ATW_E_IO);
	CHECK(strstr(err.text, "has ended"));
	CHECK_EQ(process_memory_open((uint32_t)c.pid, &c.pm, &err), ATW_E_MISSING);
	c.pid = -1;
	child_end(&c);
}
