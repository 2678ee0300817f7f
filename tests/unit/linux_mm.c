/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A second root table for user mode is detected. */
#include "linux/process.h"

#include "linux/tasks.h"
#include "kernel_memory.h"
#include "test.h"

#define NX ((uint64_t)1 << 63)

/* What a process has under isolation, and what lies behind swapper_pg_dir. */
struct pair {
	uint64_t kernel[512], user[512], swapper[512];
};

static void fill(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	p->kernel[0] = 0x1067 | NX;
	p->user[0] = 0x1067;
	p->kernel[255] = 0x2067 | NX;
	p->user[255] = 0x2067;
	for (unsigned i = 273; i < 280; i++)
		p->kernel[i] = (0x100u + i) << 12 | 0x63;
	p->kernel[508] = 0x5063;
	p->kernel[511] = 0x6067;
	p->user[508] = p->swapper[508] = 0x5063;         /* the entry area is shared */
	p->user[511] = p->swapper[511] = 0x7067;         /* of the text only a part */
}

static bool isolated(const struct pair *p)
{
	return mm_is_user_copy(p->kernel, p->user, p->swapper);
}

TEST(two_copies)
{
	struct pair p;

	fill(&p);
	CHECK(isolated(&p));
	CHECK(mm_is_user_copy(p.kernel, p.user, NULL));
	p.user[0] &= ~(uint64_t)0x60;                    /* the CPU sets these */
	CHECK(isolated(&p));
	p.kernel[0] &= ~NX;                              /* a CPU without NX */
	CHECK(isolated(&p));
}

TEST(entries_of_the_process_alone)
{
	struct pair p;

	fill(&p);
	p.kernel[509] = p.user[509] = 0x8067;            /* modify_ldt() */
	CHECK(isolated(&p));
	p.user[509] = 0x9067;
	CHECK(!isolated(&p));
	p.kernel[509] = p.user[509] = 0;
	p.kernel[1] = p.user[1] = 0x9063;                /* not for users */
	CHECK(isolated(&p));
}

/* Where the hypervisor enters the kernel, user mode maps none of it. */
TEST(user_mode_without_the_kernel)
{
	struct pair p;

	fill(&p);
	memset(p.user + 256, 0, 256 * 8);
	memset(p.swapper, 0, sizeof(p.swapper));
	CHECK(isolated(&p));
	CHECK(mm_is_user_copy(p.kernel, p.user, NULL));
	p.user[255] |= NX;
	CHECK(!isolated(&p));
	p.user[255] = 0;                                 /* only one of them agrees */
	CHECK(!isolated(&p));
	fill(&p);                                        /* without NX nothing shows it */
	p.kernel[0] &= ~NX;
	p.kernel[255] &= ~NX;
	memset(p.user + 256, 0, 256 * 8);
	memset(p.swapper, 0, sizeof(p.swapper));
	CHECK(!isolated(&p));
}

TEST(what_else_lies_behind_a_root)
{
	struct pair p;

	fill(&p);
	memset(p.user, 0, sizeof(p.user));               /* boot option pti=off */
	memset(p.swapper, 0, sizeof(p.swapper));
	CHECK(!isolated(&p));
	memset(p.kernel, 0, 256 * 8);                    /* and nothing mapped yet */
	CHECK(!isolated(&p));
	fill(&p);                                        /* the root of another process */
	memcpy(p.user, p.kernel, sizeof(p.user));
	CHECK(!isolated(&p));
	CHECK(!mm_is_user_copy(p.kernel, p.user, NULL));
	fill(&p);
	p.user[0] |= NX;
	CHECK(!isolated(&p));
	fill(&p);
	p.user[3] = 0x1234;
	CHECK(!isolated(&p));
	fill(&p);
	p.user[300] = 0xdeadbeef;
	CHECK(!isolated(&p));
}

/* ---- out of memory ---- */

enum { MM = 0x100, PGD = 0x8000 };

static struct atw_kernel *kernel(struct kmemory *k)
{
	struct atw_kernel *n = calloc(1, sizeof(*n));

	kset(k, N_mm_pgd, 8, 8);
	kset(k, N_task_mm, 0, 8);
	n->mem = &k->s;
	n->space = n->own = k->space;
	n->needs = k->n;
	n->needs_done = n->symbols_done = n->sought_kmem.done = n->sought_types.done = true;
	n->kmem = k->m;
	return n;
}

static void put_pair(struct kmemory *k, uint64_t at)
{
	struct pair p;

	fill(&p);
	memcpy(k->bytes + at, p.kernel, 4096);
	memcpy(k->bytes + at + 4096, p.user, 4096);
}

TEST(spaces_of_an_mm)
{
	struct kmemory *k = kmemory_new();
	struct atw_kernel *n = kernel(k);
	struct atw_err err = { 0 };
	struct atw_mm mm;

	put_pair(k, PGD);
	kpoint(k, MM + 8, PGD);
	CHECK_EQ(atw_mm_open(n, KBASE + MM, &mm, &err), ATW_OK);
	CHECK(mm.isolated);
	CHECK_EQ(mm.root.u, PGD);
	CHECK_EQ(mm.user_root.u, PGD + 4096);
	CHECK(mm.space.low.pa.u == PGD + 4096 && mm.space.high.have &&
	      mm.space.high.pa.u == PGD);
	/* Not at a multiple of two pages: it cannot be. */
	memset(k->bytes + PGD, 0, 8192);
	put_pair(k, PGD + 4096);
	kpoint(k, MM + 8, PGD + 4096);
	CHECK_EQ(atw_mm_open(n, KBASE + MM, &mm, &err), ATW_OK);
	CHECK(!mm.isolated && !mm.space.high.have);
	CHECK_EQ(mm.space.low.pa.u, PGD + 4096);
	CHECK_EQ(mm.user_root.u, mm.root.u);
	kpoint(k, MM + 8, KSIZE - 4096);                 /* the second page is not there */
	CHECK_EQ(atw_mm_open(n, KBASE + MM, &mm, &err), ATW_OK);
	CHECK(!mm.isolated);
	kput64(k, MM + 8, 0x1000);
	CHECK_EQ(atw_mm_open(n, KBASE + MM, &mm, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "mm at 0xffff888000000100"));
	free(n);
	kmemory_free(k);
}

TEST(arm64_keeps_the_kernels_root)
{
	struct kmemory *k = kmemory_new();
	struct atw_kernel *n = kernel(k);
	struct atw_mm mm;

	put_pair(k, PGD);
	kpoint(k, MM + 8, PGD);
	n->own.paging = *atw_paging_find("arm64-4k-48");
	n->own.high = (struct mmu_root){ ATW_PA(0x12000), true };
	n->own.low.have = false;
	CHECK_EQ(atw_mm_open(n, KBASE + MM, &mm, NULL), ATW_OK);
	CHECK(!mm.isolated && mm.space.high.pa.u == 0x12000 && mm.space.low.pa.u == PGD);
	CHECK(mm.space.high.have && mm.space.low.have);
	free(n);
	kmemory_free(k);
}
