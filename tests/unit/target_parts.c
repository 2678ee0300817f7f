/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A long task of a dump has parts: each ends where its areas say, and all of them are all. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "linux/linux.h"
#include "paging/paging.h"
#include "target/provider.h"
#include "test.h"

enum { MIB = 1 << 20 };

struct opened {
	struct atw_source *src;
	struct atw_kernel *k;
	struct provider *p;
};

static const struct atw_soft_abi *soft(const void *arg)
{
	static struct atw_soft_abi abi;

	abi = atw_soft_abi_for(arg, NULL);
	return &abi;
}

static bool open_dump(struct opened *o)
{
	struct walk_provider_opts opts = {
		.soft = soft, .soft_arg = atw_paging_find("x86_64-4"),
	};

	if (atw_source_open("tests/data/x86_64-tasks.kdump", NULL, 0, &o->src, NULL) != ATW_OK ||
	    atw_kernel_open(o->src, NULL, &o->k, NULL) != ATW_OK)
		return false;
	opts.kernel = o->k;
	return walk_provider_open(&opts, NULL, NULL, &o->p, NULL) == ATW_OK &&
	       o->p->ops->tasks(o->p, NULL) == ATW_OK;
}

static void close_dump(struct opened *o)
{
	provider_close(o->p);
	atw_kernel_close(o->k);
	atw_source_close(o->src);
}

/* Bytes of areas between two addresses; is `end` in one, or where one ends? */
static uint64_t areas_between(struct provider *p, size_t task, uint64_t from, uint64_t end, bool *in)
{
	struct atw_area *a = malloc(sizeof(*a));
	struct vma_cursor *c = NULL;
	uint64_t bytes = 0;

	*in = false;
	if (!a || vma_cursor_open(p, task, &c, NULL) != ATW_OK)
		abort();
	while (vma_cursor_next(c, a, NULL) == ATW_OK) {
		uint64_t first = MAX(a->start.u, from), last = MIN(a->end.u, end);

		bytes += last > first ? last - first : 0;
		*in |= a->start.u < end && end <= a->end.u;
	}
	vma_cursor_close(c);
	free(a);
	return bytes;
}

/* Does a cursor that begins there begin with the area that ends behind it? */
static void check_begins(struct provider *p, size_t task, uint64_t from)
{
	struct atw_area *all = malloc(sizeof(*all)), *a = malloc(sizeof(*a));
	struct vma_cursor *c = NULL, *at = NULL;

	CHECK(all && a && vma_cursor_open(p, task, &c, NULL) == ATW_OK &&
	      vma_cursor_open_at(p, task, from, &at, NULL) == ATW_OK);
	while (all && a && vma_cursor_next(c, all, NULL) == ATW_OK) {
		if (all->end.u <= from)
			continue;
		CHECK_EQ(vma_cursor_next(at, a, NULL), ATW_OK);
		CHECK_EQ(a->start.u, all->start.u);
		CHECK_EQ(a->end.u, all->end.u);
		CHECK_STR(a->name, all->name);
	}
	CHECK(a && vma_cursor_next(at, a, NULL) == ATW_END);
	vma_cursor_close(c);
	vma_cursor_close(at);
	free(all);
	free(a);
}

TEST(parts_of_tasks)
{
	struct opened o = { .p = NULL };
	size_t parted = 0;

	if (!open_dump(&o))
		SKIP("this build cannot read the dump");
	for (size_t t = 0; t < o.p->ntasks; t++) {
		uint64_t from = 0, end = 0;
		size_t parts = 0;
		bool in;

		while (o.p->ops->part(o.p, t, from, &end) == ATW_OK) {
			uint64_t bytes = areas_between(o.p, t, from, end, &in);

			CHECK(end > from && in);
			CHECK(bytes >= 32 * (uint64_t)MIB && bytes <= 96 * (uint64_t)MIB);
			check_begins(o.p, t, end - 1);
			check_begins(o.p, t, end);
			from = end;
			parts++;
		}
		/* `sparse` has 5.3 GiB, no other one more than 24 MiB. */
		if (o.p->task[t].pid == 98)
			CHECK(parts >= 100);
		else
			CHECK_EQ(parts, 0);
		parted += parts > 0;
		CHECK(!parts || areas_between(o.p, t, from, UINT64_MAX, &in) < 96 * (uint64_t)MIB);
	}
	CHECK_EQ(parted, 1);
	close_dump(&o);
}
