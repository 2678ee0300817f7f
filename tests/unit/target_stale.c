/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame that was freed after its entry was read is not reported as mapped. */
#include "target/provider.h"

#include "linux/kpf.h"
#include "test.h"

static const uint32_t both = FACT_FLAGS | FACT_COUNT;

static bool doubts(enum page_state state, uint32_t have, uint64_t flags, uint64_t count)
{
	const struct page_run r = { .state = (uint8_t)state };
	const struct frame_facts f = {
		.have = have, .page = { .flags = flags, .count = count },
	};

	return provider_doubts(&r, &f);
}

TEST(what_is_mapped_is_counted)
{
	CHECK(!doubts(PAGE_PRESENT, both, kpf(KPF_ANON) | kpf(KPF_LRU), 1));
	CHECK(doubts(PAGE_PRESENT, both, kpf(KPF_ANON) | kpf(KPF_LRU), 0));
	CHECK(doubts(PAGE_PROTNONE, both, kpf(KPF_ANON), 0));
	CHECK(doubts(PAGE_PRESENT, both, 0, 0));
	CHECK(doubts(PAGE_PRESENT, FACT_FLAGS, 0, 0));
	CHECK(!doubts(PAGE_PRESENT, FACT_FLAGS, kpf(KPF_LRU), 0));
	CHECK(!doubts(PAGE_PRESENT, FACT_COUNT, 0, 0));
	CHECK(!doubts(PAGE_PRESENT, both, kpf(KPF_ZERO_PAGE), 0));
	CHECK(!doubts(PAGE_MIGRATION, both, kpf(KPF_ANON), 0));
}

static bool stale(uint64_t flags, bool again)
{
	struct frame_facts f = { .have = both, .page = { .flags = flags }, .alike = 7 };

	provider_settle(&f, again);
	return !f.alike && provider_is_stale(&f);
}

/* Memory of devices stays where it is; what processes have is always counted. */
TEST(the_entry_settles_it)
{
	CHECK(stale(0, false));
	CHECK(!stale(0, true));
	CHECK(!stale(kpf(KPF_RESERVED), true));
	CHECK(stale(kpf(KPF_ANON), true));
	CHECK(stale(kpf(KPF_LRU), true));
}
