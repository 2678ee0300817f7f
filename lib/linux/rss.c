/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rss.c - resident pages of mm_structs, as the kernel counts them. */
#include "linux/rss.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "linux/kernel.h"
#include "linux/kmem.h"

/* Per read: of so many mm_structs, if the machine has few CPUs. */
enum { RSS_MOST = 64, RSS_ITEMS = 1024, RSS_CPUS = RSS_ITEMS / RSS_KINDS - 1 };

struct rss_reader {
	struct kmem_ahead *ahead;
	uint64_t offset[RSS_CPUS];       /* of per-CPU data */
	size_t cpus;
	uint32_t first, size;            /* of the array in an mm_struct; of an element */
	uint32_t count, counters;        /* members of an element */
	uint32_t index[RSS_KINDS], elements;
};

static int rss_unsupported(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "this kernel has no exact counters of resident pages");
}

static int rss_find_cpus(struct rss_reader *s, struct atw_kernel *k, struct atw_err *err)
{
	struct atw_blob all;
	int r;

	if (atw_fact(k->mem, "percpu", &all) == ATW_OK) {
		s->cpus = all.len / sizeof(*s->offset);
		if (s->cpus > RSS_CPUS)
			return rss_unsupported(err);
		memcpy(s->offset, all.data, s->cpus * sizeof(*s->offset));
		return ATW_OK;
	}
	while ((r = s->cpus < RSS_CPUS ? atw_kernel_percpu(k, (unsigned)s->cpus,
							   &s->offset[s->cpus], err)
				       : rss_unsupported(err)) == ATW_OK)
		s->cpus++;
	return r == ATW_END && s->cpus ? ATW_OK : r < 0 ? r : rss_unsupported(err);
}

static int rss_find(struct rss_reader *s, struct atw_kernel *k, struct atw_err *err)
{
	static const enum need_const index[RSS_KINDS] = {
		[RSS_ANON] = C_rss_anon, [RSS_SHMEM] = C_rss_shmem, [RSS_FILE] = C_rss_file,
	};
	const struct needs *n = kernel_members(k);

	s->counters = n->member[N_percpu_counters];
	s->count = n->member[N_percpu_counter];
	s->size = n->size[S_percpu_counter];
	if (n->member[N_mm_rss] == NEED_NONE || s->counters == NEED_NONE ||
	    s->count == NEED_NONE || n->member[N_mm_rss] < s->counters || s->size > 256 ||
	    s->counters + 8 > s->size || s->count + 8 > s->size)
		return rss_unsupported(err);
	s->first = n->member[N_mm_rss] - s->counters;
	for (unsigned i = 0; i < RSS_KINDS; i++) {
		if (!n->have_const[index[i]] || n->constant[index[i]] < 0 ||
		    n->constant[index[i]] > 15)
			return rss_unsupported(err);
		s->index[i] = (uint32_t)n->constant[index[i]];
		s->elements = s->index[i] >= s->elements ? s->index[i] + 1 : s->elements;
	}
	return rss_find_cpus(s, k, err);
}

static const char *rss_element(const struct rss_reader *s, uint64_t mm, enum rss_kind kind)
{
	const char *p = kmem_ahead_find(s->ahead, mm + s->first, (size_t)s->size * s->elements);

	return p ? p + (size_t)s->index[kind] * s->size : NULL;
}

/* percpu_counter_sum(): its own count, and what each CPU still holds. */
static struct rss rss_sum(const struct rss_reader *s, uint64_t mm)
{
	struct rss ret = { .known = true };

	for (unsigned kind = 0; kind < RSS_KINDS; kind++) {
		const char *p = rss_element(s, mm, kind);
		int64_t sum = p ? (int64_t)get_le64(p + s->count) : -1;

		for (size_t cpu = 0; p && cpu < s->cpus; cpu++) {
			const void *one = kmem_ahead_find(
				s->ahead, get_le64(p + s->counters) + s->offset[cpu], 4);

			sum = one ? (int64_t)((uint64_t)sum + (uint64_t)(int64_t)(int32_t)get_le32(one))
				  : INT64_MIN;
			if (!one)
				break;
		}
		ret.known &= sum >= 0;
		ret.pages[kind] = sum < 0 ? 0 : (uint64_t)sum;
	}
	return ret;
}

static void rss_read_some(struct rss_reader *s, const uint64_t *mm, size_t n, struct rss *ret)
{
	kmem_ahead_forget(s->ahead);
	for (size_t i = 0; i < n; i++)
		if (mm[i])
			kmem_ahead_add(s->ahead, mm[i] + s->first,
				       (size_t)s->size * s->elements);
	kmem_ahead_read(s->ahead);
	for (size_t i = 0; i < n; i++)
		for (unsigned kind = 0; mm[i] && kind < RSS_KINDS; kind++) {
			const char *p = rss_element(s, mm[i], kind);

			for (size_t cpu = 0; p && cpu < s->cpus; cpu++)
				kmem_ahead_add(s->ahead, get_le64(p + s->counters) +
							 s->offset[cpu], 4);
		}
	kmem_ahead_read(s->ahead);
	for (size_t i = 0; i < n; i++)
		ret[i] = mm[i] ? rss_sum(s, mm[i]) : (struct rss){ 0 };
}

int rss_read(struct atw_kernel *k, const uint64_t *mm, size_t n, struct rss *ret,
	     struct atw_err *err)
{
	_auto_free struct rss_reader *s = calloc(1, sizeof(*s));
	struct kmem *m;
	size_t most;
	int r = s ? rss_find(s, k, err) : atw_err_nomem(err);

	if (r == ATW_OK)
		r = kernel_kmem(k, &m, err);
	if (r != ATW_OK)
		return r;
	s->ahead = kmem_ahead_create(m);
	if (!s->ahead)
		return atw_err_nomem(err);
	most = RSS_ITEMS / (1 + RSS_KINDS * s->cpus);
	most = most < RSS_MOST ? most : RSS_MOST;
	for (size_t i = 0; i < n; i += most)
		rss_read_some(s, mm + i, n - i < most ? n - i : most, ret + i);
	kmem_ahead_destroy(s->ahead);
	return ATW_OK;
}
