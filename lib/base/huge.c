/* SPDX-License-Identifier: GPL-2.0-or-later */
/* huge.c - arrays in huge pages. */
#include "base/huge.h"

#include <sys/mman.h>

/* One huge page of most CPUs. */
static const size_t HUGE_LEAST = 2 << 20;

/* Whole huge pages; 0: there are none so large. */
static size_t huge_round(size_t bytes)
{
	return bytes > SIZE_MAX - 2 * HUGE_LEAST ? 0 : (bytes + HUGE_LEAST - 1) & -HUGE_LEAST;
}

static char *huge_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *huge_alloc(size_t bytes, bool huge)
{
	size_t all = huge_round(bytes), head;
	char *p = all ? huge_map(all) : NULL;

	if (!p || !huge)
		return p;
	/* Kernels before 6.7 do not align it. */
	head = -(uintptr_t)p & (HUGE_LEAST - 1);
	if (head) {
		munmap(p, all);
		p = huge_map(all + HUGE_LEAST);
		if (!p)
			return NULL;
		head = -(uintptr_t)p & (HUGE_LEAST - 1);
		if (head)
			munmap(p, head);
		munmap(p + head + all, HUGE_LEAST - head);
		p += head;
	}
	madvise(p, all, MADV_HUGEPAGE);          /* advice only: it may fail */
	return p;
}

void huge_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, huge_round(bytes));
}

bool huge_reserve(void **array, size_t *cap, size_t need, size_t elem, bool huge)
{
	size_t bytes = *cap ? *cap * elem : HUGE_LEAST, all;
	void *p;

	if (need <= *cap)
		return true;
	if (__builtin_mul_overflow(need, elem, &all) || all > SIZE_MAX / 4)
		return false;
	while (bytes < all)
		bytes *= 2;
	if (!*array) {
		p = huge_alloc(bytes, huge);
	} else {
		p = mremap(*array, *cap * elem, bytes, MREMAP_MAYMOVE);
		p = p == MAP_FAILED ? NULL : p;
		if (p && huge)
			madvise(p, bytes, MADV_HUGEPAGE);
	}
	if (!p)
		return false;
	*array = p;
	*cap = bytes / elem;
	return true;
}
