/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two cursors of VMAs and two of pages that are read in turn from one provider return the
 * same as one after the other, for page tables, /proc and captures.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "census/census.h"
#include "linux/kpf.h"
#include "linux/linux.h"
#include "paging/paging.h"
#include "target/captured.h"
#include "target/provider.h"
#include "test.h"

enum { K = 4096, PAGES = 3000 };

/* Flags of frames that no idle memory changes. */
static uint64_t steady(uint64_t flags)
{
	return flags & (kpf(KPF_ANON) | kpf(KPF_MMAP) | kpf(KPF_HUGE) | kpf(KPF_KSM));
}

/* ---- what cursors return, as text ---- */

static void put_area(struct buf *b, const struct atw_area *a)
{
	buf_printf(b, "%" PRIx64 "-%" PRIx64 " %d%d%d%d%d %" PRIx64 " %" PRIx64 " %u:%u %" PRIu64 " %s\n",
		   a->start.u, a->end.u, a->read, a->write, a->exec, a->shared,
		   a->rights_unknown, a->flags, a->offset, a->major, a->minor, a->inode,
		   a->name);
}

static void put_run(struct buf *b, struct page_cursor *c, const struct page_run *r)
{
	struct frame_facts f;
	int rc;

	buf_printf(b, "%" PRIx64 "+%" PRIx64 "/%" PRIx64 " %u %x %" PRIx64 " %u %u %u %u.%" PRIu64 "\n",
		   r->va, r->size, r->slot, r->count, r->have, r->flags, r->state,
		   r->have & RUN_LEVEL ? r->level : 0, r->rights, r->swap_type,
		   r->swap_offset);
	for (uint32_t i = 0; r->pa && i < r->count; i++) {
		rc = page_cursor_facts(c, r, i, 0, r->slot, &f, NULL);
		buf_printf(b, " %" PRIx64 " %" PRIx64 " %d", r->pa[i],
			   r->word ? r->word[i] : 0, rc);
		if (rc == ATW_OK)
			buf_printf(b, " %x %" PRIx64 " %" PRIu64, f.have,
				   steady(f.page.flags),
				   f.have & FACT_COUNT ? f.page.count : 0);
		buf_char(b, '\n');
	}
}

/* ---- one after the other ---- */

static void vmas_alone(struct provider *p, size_t task, struct buf *b)
{
	struct atw_area *a = malloc(sizeof(*a));
	struct vma_cursor *c = NULL;

	CHECK(a && vma_cursor_open(p, task, &c, NULL) == ATW_OK);
	while (vma_cursor_next(c, a, NULL) == ATW_OK)
		put_area(b, a);
	vma_cursor_close(c);
	free(a);
}

static void pages_alone(struct provider *p, const struct page_query *q, struct buf *b)
{
	const struct page_run *r;
	struct page_cursor *c = NULL;

	CHECK_EQ(page_cursor_open(p, q, &c, NULL), ATW_OK);
	while (page_cursor_next(c, &r, NULL) == ATW_OK)
		put_run(b, c, r);
	page_cursor_close(c);
}

/* ---- in turn ---- */

/* Rows of one cursor are looked at when the others have gone on. */
static void in_turn(struct provider *p, const struct page_query q[2], struct buf vma[2],
		    struct buf page[2])
{
	struct atw_area *a = malloc(2 * sizeof(*a));
	struct vma_cursor *v[2] = { NULL, NULL };
	struct page_cursor *c[2] = { NULL, NULL };
	const struct page_run *r[2];
	int rv[2] = { ATW_OK, ATW_OK }, rc[2] = { ATW_OK, ATW_OK };

	CHECK(a != NULL);
	for (unsigned i = 0; i < 2; i++) {
		struct page_query with = q[i];

		CHECK_EQ(vma_cursor_open(p, q[i].task, &v[i], NULL), ATW_OK);
		with.vmas = i ? v[i] : NULL;
		CHECK_EQ(page_cursor_open(p, &with, &c[i], NULL), ATW_OK);
	}
	while (rv[0] == ATW_OK || rv[1] == ATW_OK || rc[0] == ATW_OK || rc[1] == ATW_OK) {
		for (unsigned i = 0; i < 2; i++) {
			rc[i] = rc[i] == ATW_OK ? page_cursor_next(c[i], &r[i], NULL) : rc[i];
			rv[i] = rv[i] == ATW_OK ? vma_cursor_next(v[i], &a[i], NULL) : rv[i];
		}
		for (unsigned i = 0; i < 2; i++) {
			if (rv[i] == ATW_OK)
				put_area(&vma[i], &a[i]);
			if (rc[i] == ATW_OK)
				put_run(&page[i], c[i], r[i]);
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(rv[i], ATW_END);
		CHECK_EQ(rc[i], ATW_END);
		vma_cursor_close(v[i]);
		page_cursor_close(c[i]);
	}
	free(a);
}

static void check(struct provider *p, const struct page_query q[2])
{
	struct buf vma[2][2] = { 0 }, page[2][2] = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		vmas_alone(p, q[i].task, &vma[0][i]);
		pages_alone(p, &q[i], &page[0][i]);
	}
	in_turn(p, q, vma[1], page[1]);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(vma[0][i].len && page[0][i].len);
		CHECK(vma[0][i].data && vma[1][i].data && page[0][i].data && page[1][i].data);
		CHECK_STR(vma[1][i].data, vma[0][i].data);
		CHECK_STR(page[1][i].data, page[0][i].data);
		for (unsigned k = 0; k < 2; k++) {
			buf_deinit(&vma[k][i]);
			buf_deinit(&page[k][i]);
		}
	}
}

/* ---- page tables, and a capture of them ---- */

static const struct atw_soft_abi *soft(const void *arg)
{
	static struct atw_soft_abi abi;

	abi = atw_soft_abi_for(arg, NULL);
	return &abi;
}

static void check_capture(struct provider *tables)
{
	const struct census_collect_opts o = { .refs = true };
	const struct captured_opts co = { .damaged = NULL };
	int fd = memfd_create("capture", MFD_CLOEXEC);
	struct census_writer *w = NULL;
	struct captured *c = NULL;
	struct census_sink sink;
	struct provider *p = NULL;
	struct atw_err err = { 0 };
	char path[32];

	CHECK_EQ(census_writer_open(fd, 0, &w, &err), ATW_OK);
	sink = census_writer_sink(w);
	CHECK_EQ(census_collect(tables, &o, &sink, &err), ATW_OK);
	CHECK_EQ(census_writer_end(w, &err), ATW_OK);
	census_writer_close(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(captured_open(path, &co, &c, &err), ATW_OK);
	CHECK_EQ(capture_provider_open(c, NULL, NULL, &p, &err), ATW_OK);
	CHECK_EQ(p->ops->tasks(p, &err), ATW_OK);
	CHECK(p->ntasks >= 2);
	check(p, (const struct page_query[2]){
		{ .task = 0, .last = UINT64_MAX, .each = true },
		{ .task = 1, .last = UINT64_MAX, .each = true },
	});
	provider_close(p);
	captured_close(c);
	close(fd);
}

static bool open_dump(struct atw_source **s, struct atw_kernel **k, struct provider **p)
{
	struct walk_provider_opts o = {
		.frames = true, .soft = soft, .soft_arg = atw_paging_find("x86_64-4"),
	};

	if (atw_source_open("tests/data/x86_64-tasks.kdump", NULL, 0, s, NULL) != ATW_OK ||
	    atw_kernel_open(*s, NULL, k, NULL) != ATW_OK)
		return false;
	o.kernel = *k;
	return walk_provider_open(&o, NULL, NULL, p, NULL) == ATW_OK;
}

static void close_dump(struct atw_source *s, struct atw_kernel *k, struct provider *p)
{
	provider_close(p);
	atw_kernel_close(k);
	atw_source_close(s);
}

TEST(of_page_tables)
{
	struct provider *p = NULL;
	struct atw_kernel *k = NULL;
	struct atw_source *s = NULL;

	if (!open_dump(&s, &k, &p))
		SKIP("this build cannot read the dump");
	CHECK_EQ(p->ops->tasks(p, NULL), ATW_OK);
	CHECK(p->ntasks >= 2);
	check(p, (const struct page_query[2]){
		{ .task = 0, .last = p->user_last, .each = true },
		{ .task = 1, .last = p->user_last, .each = true },
	});
	close_dump(s, k, p);
}

TEST(of_a_capture)
{
	struct provider *p = NULL;
	struct atw_kernel *k = NULL;
	struct atw_source *s = NULL;

	if (!open_dump(&s, &k, &p))
		SKIP("this build cannot read the dump");
	check_capture(p);
	close_dump(s, k, p);
}

/* ---- /proc ---- */

/* Has pages of its own, with gaps, and two kinds of permissions. */
static pid_t holder(char *m)
{
	pid_t parent = getpid(), pid;
	int ready[2];
	char c = 0;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		for (size_t i = 0; i < PAGES; i++)
			if (i % 7 && i / 100 % 3)
				m[i * K] = 1;
		mprotect(m + 500 * K, 500 * K, PROT_READ);
		if (write(ready[1], &c, 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

TEST(of_proc)
{
	char *m = mmap(NULL, PAGES * K, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pagemap_provider_opts o = { .flags = true, .counts = true };
	uint64_t first = (uintptr_t)m, last = first + PAGES * K - 1;
	struct provider *p = NULL;
	struct atw_err err = { 0 };
	pid_t pid;

	if (sysconf(_SC_PAGESIZE) != K)
		SKIP("pages are of another size here");
	CHECK(m != MAP_FAILED);
	madvise(m, PAGES * K, MADV_NOHUGEPAGE);
	pid = holder(m);
	CHECK(pid > 0);
	o.only = (uint32_t)pid;
	CHECK_EQ(pagemap_provider_open(&o, NULL, NULL, &p, &err), ATW_OK);
	CHECK_EQ(p->ops->tasks(p, &err), ATW_OK);
	CHECK_EQ(p->ntasks, 1);
	check(p, (const struct page_query[2]){
		{ .first = first, .last = last, .each = true },
		{ .first = first + 777 * K, .last = last - 55 * K },
	});
	provider_close(p);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(m, PAGES * K);
}
