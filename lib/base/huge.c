/* SPDX-License-Identifier: GPL-2.0-or-later */
/* huge.c - arrays in huge pages. */
#include "base/huge.h"

#include <sys/mman.h>

enum { HUGE_LEAST = 2 << 20 };   /* an array of this size or more is advised: one huge
				  * page of most CPUs */

void *huge_alloc(size_t bytes, bool huge)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (huge)                /* advice only: it may fail */
		madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

void huge_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
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
