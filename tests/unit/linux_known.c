/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one kernel found of its types and symbols, another of the same source need not find. */
#include "linux/kernel.h"

#include "linux/linux.h"
#include "source/source.h"
#include "test.h"

struct opened {
	struct atw_source *src;
	struct atw_kernel *k;
};

static bool open_dump(struct opened *o, const char *path, const struct remembered *known)
{
	const struct atw_kernel_opts opts = { .known = known };
	struct atw_err err = { 0 };

	if (atw_source_open(path, NULL, 0, &o->src, &err) == ATW_OK &&
	    atw_kernel_open(o->src, &opts, &o->k, &err) == ATW_OK)
		return true;
	printf("    %s\n", err.text);
	return false;
}

static void close_dump(struct opened *o)
{
	atw_kernel_close(o->k);
	atw_source_close(o->src);
	*o = (struct opened){ .k = NULL };
}

static void check_same(const struct needs *a, const struct needs *b)
{
	CHECK(a->types && b->types && a->symbols == b->symbols);
	CHECK(!memcmp(a->member, b->member, sizeof(a->member)));
	CHECK(!memcmp(a->size, b->size, sizeof(a->size)));
	CHECK(!memcmp(a->constant, b->constant, sizeof(a->constant)));
	CHECK(!memcmp(a->symbol, b->symbol, sizeof(a->symbol)));
}

TEST(what_is_known_is_not_searched_again)
{
	struct opened first = { .k = NULL }, second = { .k = NULL };
	struct remembered *known;
	struct needs found;

	CHECK(open_dump(&first, "tests/data/x86_64-tasks.kdump", NULL));
	known = atw_kernel_known(first.k);
	found = *kernel_needs(first.k);
	CHECK(known && first.k->types && first.k->symbols);
	close_dump(&first);
	CHECK(open_dump(&second, "tests/data/x86_64-tasks.kdump", known));
	free(known);
	check_same(kernel_needs(second.k), &found);
	CHECK(!second.k->types && !second.k->symbols);
	close_dump(&second);
}

TEST(of_another_kernel_nothing_is_taken)
{
	struct opened first = { .k = NULL }, second = { .k = NULL };
	struct remembered *known;
	struct needs found;

	CHECK(open_dump(&first, "tests/data/x86_64-tasks.kdump", NULL));
	known = atw_kernel_known(first.k);
	CHECK(open_dump(&second, "tests/data/riscv64-sv57.elf", NULL));
	found = *kernel_needs(second.k);
	close_dump(&second);
	CHECK(open_dump(&second, "tests/data/riscv64-sv57.elf", known));
	free(known);
	CHECK_EQ(kernel_needs(second.k)->types, found.types);
	CHECK(!memcmp(kernel_needs(second.k)->symbol, found.symbol, sizeof(found.symbol)));
	close_dump(&first);
	close_dump(&second);
}
