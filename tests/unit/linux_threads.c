/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A search that another thread has begun is refused, and not begun twice. */
#include "linux/kernel.h"

#include "test.h"

static pthread_t other;

static void *other_thread(void *arg)
{
	(void)arg;
	return NULL;
}

TEST(what_another_thread_looks_for_is_refused)
{
	struct atw_kernel k = { .sought_kmem = { .done = true, .busy = true } };
	struct atw_err err = { 0 };
	struct kmem *m = NULL;
	const struct btf *b = NULL;
	uint64_t at;

	CHECK(!pthread_create(&other, NULL, other_thread, NULL));
	k.sought_kmem.by = other;
	CHECK_EQ(kernel_kmem(&k, &m, &err), ATW_E_USAGE);
	CHECK(strstr(err.text, "two threads"));
	k.sought_types = k.sought_symbols = k.sought_kmem;
	CHECK_EQ(kernel_btf(&k, &b, &err), ATW_E_USAGE);
	CHECK_EQ(kernel_symbol(&k, "schedule", &at, &err), ATW_E_USAGE);
	CHECK(!m && !b);
	k.sought_kmem.by = pthread_self();
	CHECK_EQ(kernel_kmem(&k, &m, &err), ATW_OK);
	pthread_join(other, NULL);
}
