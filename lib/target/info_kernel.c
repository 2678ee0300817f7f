/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_kernel.c - records of the machine and of files, read from kernel memory. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "linux/machine.h"
#include "linux/tasks.h"
#include "target/info.h"

enum { HEAD = 4096, NODES = 1024 };

struct info_kernel_places {
	struct atw_kernel *k;
	struct zone_spans zones;
};

/* The spans of nodes can overlap: the node of an address in several spans is unknown. */
static void info_kernel_place(void *arg, uint64_t pa, struct about_place *ret, uint64_t *last)
{
	const struct info_kernel_places *p = arg;
	unsigned shift = atw_kernel_space(p->k)->paging.page_shift, found = 0;
	struct atw_node n;

	for (size_t i = 0; i < NODES && atw_kernel_node(p->k, i, &n, NULL) == ATW_OK; i++) {
		uint64_t first = n.first << shift, end;

		if (__builtin_add_overflow(n.first, n.pages, &end) || end > UINT64_MAX >> shift)
			end = UINT64_MAX;
		else
			end <<= shift;
		if (pa >= first && pa < end) {
			ret->node = n.id;
			found++;
		}
		if (first > pa && first - 1 < *last)
			*last = first - 1;
		if (end > pa && end - 1 < *last)
			*last = end - 1;
	}
	ret->has_node = found == 1;
	about_zone(&p->zones, shift, pa, ret, last);
}

static int info_kernel_swap_of(void *arg, unsigned type, struct atw_swap *ret)
{
	return atw_swap_device(arg, type, ret, NULL);
}

static int info_kernel_fact(const struct about_to *to, struct atw_source *s,
			    const char *key, struct atw_err *err)
{
	struct atw_blob b;

	return atw_fact(s, key, &b) != ATW_OK ? ATW_OK
		: about_say(to, err, key, "%.*s", (int)(b.len < 255 ? b.len : 255),
			    (const char *)b.data);
}

static int info_kernel_counter(void *arg, const char *key, uint64_t value,
			       struct atw_err *err)
{
	return about_say(*(const struct about_to *const *)arg, err, key, "%" PRIu64, value);
}

/* Missing counters are left out; the first failure of the receiver ends the listing. */
static int info_kernel_counters(struct atw_kernel *k, const struct about_to *to,
				struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = kernel_counters(k, info_kernel_counter, &to, &why);

	if (r == ATW_OK || r == ATW_E_MISSING || r == ATW_E_UNSUPPORTED)
		return ATW_OK;
	return atw_err_give(err, r, &why);
}

/* A kernel without NUMA does not record the nodes of its CPUs. */
static int info_kernel_cpus(struct atw_kernel *k, const struct about_to *to,
			    struct atw_err *err)
{
	uint32_t node = 0, now;
	unsigned first = 0;
	int r = ATW_OK, status = ATW_OK;

	for (unsigned i = 0; r == ATW_OK && status == ATW_OK; i++) {
		r = atw_kernel_cpu_node(k, i, &now, NULL);
		if (i > first && (r != ATW_OK || now != node)) {
			status = about_cpus(to, node, first, i - 1, err);
			first = i;
		}
		node = now;
	}
	return status;
}

static int info_kernel_numbers(struct atw_kernel *k, const struct about_to *to,
			       struct atw_err *err)
{
	const struct atw_vmcoreinfo *vi = atw_kernel_vmcoreinfo(k);
	unsigned shift = atw_kernel_space(k)->paging.page_shift;
	uint64_t n;
	int r = ATW_OK;

	/* When it crashed; 0 before that. */
	if (vi && atw_vmcoreinfo_u64(vi, "CRASHTIME", &n) == ATW_OK && n)
		r = about_say(to, err, "begun", "%" PRIu64 ".0", n);
	if (r == ATW_OK && atw_fact_u64(atw_kernel_space(k)->mem, "cpus", &n) == ATW_OK)
		r = about_say(to, err, "cpus", "%" PRIu64, n);
	if (r == ATW_OK)
		r = info_kernel_cpus(k, to, err) ?:
		    about_say(to, err, "hz", "%d", ABOUT_TICKS);
	if (r == ATW_OK && kernel_ram_pages(k, &n, NULL) == ATW_OK && n <= UINT64_MAX >> shift)
		r = about_say(to, err, "MemTotal", "%" PRIu64, (n << shift) / 1024);
	return r ?: info_kernel_counters(k, to, err);
}

/* Result of the receiver: its failure ends the listing, an unreadable cache does not. */
struct about_slabs {
	const struct about_to *to;
	int status;
};

static int info_kernel_on_slab_cache(void *arg, const struct slab_cache *c,
				     struct atw_err *err)
{
	struct about_slabs *x = arg;

	x->status = about_slab(x->to, (struct atw_blob){ c->name, strlen(c->name) },
			       &c->slab, err);
	return x->status;
}

int about_kernel_slabs(struct atw_kernel *k, const struct about_to *to, struct atw_err *err)
{
	struct about_slabs slab = { to, ATW_OK };
	struct atw_err why;

	slab_caches(k, info_kernel_on_slab_cache, &slab, &why);
	return atw_err_give(err, slab.status, &why);
}

int about_kernel(struct atw_kernel *k, const struct about_to *to, struct atw_err *err)
{
	const char *release = atw_kernel_release(k);
	struct atw_source *mem = atw_kernel_space(k)->mem;
	struct info_kernel_places places = { .k = k };
	struct extents x = { 0 };
	int r = info_kernel_fact(to, mem, "machine", err);

	if (r == ATW_OK && release)
		r = about_say(to, err, "release", "%s", release);
	else if (r == ATW_OK)
		r = info_kernel_fact(to, mem, "release", err);
	if (r == ATW_OK)
		r = info_kernel_numbers(k, to, err);
	if (r == ATW_OK && kernel_ram(k, &x, NULL) == ATW_OK) {
		kernel_zones(k, &places.zones);
		r = about_ram(to, &x, info_kernel_place, &places, err);
		zone_spans_deinit(&places.zones);
		extents_deinit(&x);
	}
	return r == ATW_OK ? about_swap(to, info_kernel_swap_of, k, err) : r;
}

/* Is the task part of this listing? Processes are listed together with their memory. */
static bool info_kernel_is_other(const struct others_opts *o, const struct lnx_task *t)
{
	bool own = t->mm && !t->kernel;

	if (!t->leader)
		return o->threads && own && (!o->mm || t->mm == o->mm);
	return !own && !o->mm;
}

int about_others(struct atw_kernel *k, const struct others_opts *o, const struct about_to *to,
		 struct atw_err *err)
{
	_auto_free struct task_about *a = malloc(sizeof(*a));
	struct lnx_tasks *tasks;
	struct lnx_task t;
	int r = a ? lnx_tasks_open(k, &tasks, err) : atw_err_nomem(err);
	int status = ATW_OK;

	if (r < 0)
		return r;
	/* That list begins behind it. */
	if (!o->mm && tasks_idle(k, &t, NULL) == ATW_OK) {
		about_task(k, &t, NULL, a);
		status = about_tell(to, a, err);
	}
	/* Tasks that cannot be read have been reported along with the processes. */
	while (status == ATW_OK && (r = lnx_tasks_next(tasks, &t, NULL)) != ATW_END &&
	       r != ATW_E_LIMIT) {
		if (r < 0)
			continue;
		if (info_kernel_is_other(o, &t)) {
			about_task(k, &t, NULL, a);
			status = about_tell(to, a, err);
		} else if (t.leader) {
			status = about_passed(to, t.pid, err);
		}
	}
	lnx_tasks_close(tasks);
	return status;
}

const char *about_way(struct atw_source *s)
{
	static const char *const live[] = { "kcore", "bpf" };
	struct atw_blob way;

	for (unsigned i = 0; i < 2 && atw_fact(s, "way", &way) == ATW_OK; i++)
		if (blob_is(way, live[i]))
			return live[i];
	while (s->below)
		s = s->below;
	return s->ops->name;
}

int about_memory(const struct mmu_space *sp, const struct atw_area *a, struct elfunit *ret)
{
	uint8_t head[HEAD];
	struct mmu_seen s;
	ssize_t n;

	if (a->offset || a->end.u - a->start.u < HEAD ||
	    mmu_translate(sp, a->start, &s, NULL) < 0 || s.kind != ATW_LEAF || s.loss)
		return ATW_E_MISSING;
	/* A large page may begin before it. */
	n = atw_read(sp->mem, ATW_PA(s.pa.u + (a->start.u - s.va.u)), head, sizeof(head), NULL);
	if (n <= 0)
		return ATW_E_MISSING;
	return elfunit_parse((struct atw_blob){ head, (size_t)n }, ret) < 0 ? ATW_E_FORMAT : ATW_OK;
}
