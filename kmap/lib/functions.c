/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions.c - the functions of a kernel, and which of them a KMAP has named. */
#include "kmap/lib/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sorted.h"

bool kmap_functions_of_add(struct kmap_functions_of *f, uint64_t at, const char *name)
{
	if (!array_reserve((void **)&f->v, &f->room, f->n + 1, sizeof(*f->v)))
		return false;
	f->v[f->n++] = (struct kmap_function){ at, f->names.len };
	buf_add(&f->names, name, strlen(name) + 1);
	return !f->names.failed;
}

static int functions_compare(const void *a, const void *b, void *arg)
{
	const struct kmap_function *x = a, *y = b;
	const char *names = arg;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* Of names for one place the first that was added is the first. */
	if (!strcmp(names + x->name, names + y->name))
		return 0;
	return x->name < y->name ? -1 : 1;
}

void kmap_functions_of_sort(struct kmap_functions_of *f)
{
	size_t n = 0;

	if (!f->n)
		return;
	qsort_r(f->v, f->n, sizeof(*f->v), functions_compare, f->names.data);
	for (size_t i = 0; i < f->n; i++)
		if (!n || functions_compare(&f->v[n - 1], &f->v[i], f->names.data))
			f->v[n++] = f->v[i];
	f->n = n;
}

void kmap_functions_of_deinit(struct kmap_functions_of *f)
{
	free(f->v);
	buf_deinit(&f->names);
	*f = (struct kmap_functions_of){ 0 };
}

/* ---- which are named ---- */

static size_t functions_words(size_t bits)
{
	return bits / 64 + 1;
}

/* false: it was set. */
static bool functions_set(uint64_t *bits, size_t i)
{
	uint64_t bit = UINT64_C(1) << (i & 63);
	bool was = bits[i / 64] & bit;

	bits[i / 64] |= bit;
	return !was;
}

bool kmap_named_open(struct kmap_named *n, const struct kmap_functions_of *of, size_t nsites)
{
	*n = (struct kmap_named){
		.of = of, .nsites = nsites,
		.function = calloc(functions_words(of->n), sizeof(uint64_t)),
		.site = calloc(functions_words(nsites), sizeof(uint64_t)),
	};
	if (n->function && n->site)
		return true;
	kmap_named_close(n);
	return false;
}

void kmap_named_close(struct kmap_named *n)
{
	free(n->function);
	free(n->site);
	*n = (struct kmap_named){ 0 };
}

void kmap_named_forget(struct kmap_named *n)
{
	if (!n->of)
		return;
	memset(n->function, 0, functions_words(n->of->n) * sizeof(uint64_t));
	memset(n->site, 0, functions_words(n->nsites) * sizeof(uint64_t));
	memset(n->recent, 0, sizeof(n->recent));
}

bool kmap_named_site(struct kmap_named *n, size_t site)
{
	return n->of && site < n->nsites && functions_set(n->site, site);
}

bool kmap_named_one(struct kmap_named *n, size_t i)
{
	return functions_set(n->function, i);
}

size_t kmap_named_take(struct kmap_named *n, uint64_t ip, size_t *first)
{
	uint64_t *recent = &n->recent[(ip * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
	size_t low, end;

	*first = 0;
	if (!ip || !n->of || !n->of->n || *recent == ip)
		return 0;
	*recent = ip;
	low = end = SORTED_UP_TO(n->of->v, n->of->n, at, ip);
	if (!end)
		return 0;
	while (low && n->of->v[low - 1].at == n->of->v[end - 1].at)
		low--;
	*first = low;
	if (!kmap_named_one(n, low))
		return low;
	for (size_t i = low + 1; i < end; i++)
		kmap_named_one(n, i);
	return end;
}
