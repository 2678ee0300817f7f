/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mapcounts are dropped and reported as missing where they exceed the memory limit. */
#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/walk.h"

#include "target/provider.h"

#include "test.h"

static unsigned reported;
static struct atw_err why;

static void cannot(void *arg, const char *what, const struct atw_err *err)
{
	(void)arg;
	reported += !strcmp(what, "refs");
	why = *err;
}

TEST(without_a_limit_the_status_is_nomem)
{
	struct provider p = { .cannot = cannot };
	struct atw_err err = { 0 };

	reported = 0;
	CHECK_EQ(provider_leave_counts(&p, &err), ATW_E_NOMEM);
	CHECK_STR(err.text, "out of memory");
	CHECK_EQ(reported, 0);
}

TEST(above_the_limit_counts_are_dropped_and_reported)
{
	struct provider p = { .cannot = cannot, .counts = { .most = 40000 } };
	struct atw_err err = { 0 };

	reported = 0;
	CHECK(counts_add(&p.counts, 5, 1));
	CHECK_EQ(provider_leave_counts(&p, &err), ATW_OK);
	CHECK_EQ(reported, 1);
	CHECK_STR(why.text, "to count how often each frame is mapped takes more than the 40000 bytes of memory that it may take");
	CHECK_EQ(p.counts.slots, 0);
	CHECK_EQ(counts_get(&p.counts, 5), 0);
}

static const struct atw_soft_abi *soft(const void *arg)
{
	static struct atw_soft_abi abi;

	abi = atw_soft_abi_for(arg, NULL);
	return &abi;
}

TEST(a_dump_has_the_same_limit)
{
	static const struct { uint64_t most; bool counted; } table[] = {
		{ 0, true }, { 16 << 20, true }, { 8192, false }, { 40000, false },
	};
	struct atw_source *s = NULL;
	struct atw_kernel *k = NULL;
	struct atw_err err = { 0 };

	if (atw_source_open("tests/data/x86_64-tasks.kdump", NULL, 0, &s, &err) != ATW_OK ||
	    atw_kernel_open(s, NULL, &k, &err) != ATW_OK)
		SKIP("this build cannot read the dump");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct walk_provider_opts o = { .kernel = k, .frames = true, .soft = soft,
			.soft_arg = atw_paging_find("x86_64-4") };
		struct provider *p = NULL;

		CHECK_EQ(walk_provider_open(&o, cannot, NULL, &p, &err), ATW_OK);
		CHECK_EQ(p->ops->tasks(p, &err), ATW_OK);
		reported = 0;
		p->counts.most = table[i].most;
		CHECK_EQ(p->ops->count(p, &err), ATW_OK);
		CHECK_EQ(p->counted, table[i].counted);
		CHECK_EQ(reported, !table[i].counted);
		CHECK_EQ(p->counts.n > 0, table[i].counted);
		provider_close(p);
	}
	atw_kernel_close(k);
	atw_source_close(s);
}
