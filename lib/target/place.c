// SPDX-License-Identifier: GPL-2.0-or-later
/* place.c - placement of single virtual addresses. */
#include "target/place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/sorted.h"
#include "linux/kpf.h"
#include "linux/page.h"

struct place_slot {
	uint64_t serial, page;   /* serial 0: free */
	struct place place;
};

struct placer {
	struct target *target;
	struct place_opts o;
	struct place_process *process[PLACE_PROCESSES];
	size_t n;
	struct place_process *last;
	uint64_t serial, clock;
	uint64_t block;          /* bytes of the smallest large page; 0: there is none */
	unsigned page_shift;
	struct place_slot *slot;
	/* Addresses of the kernel. */
	struct subject kernel;
	struct mmu_lookup *lookup;
	struct atw_memmap *memmap;
	bool kernel_tried;
	struct atw_err kernel_why;
};

/* ---- areas ---- */

static void place_forget_areas(struct place_process *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->area[i].name);
	p->n = 0;
}

static void place_learn_large(const struct placer *pl, struct place_process *p,
			      const struct atw_area *a, struct place_area *ret)
{
	struct large_may may = { 0 };
	struct large_scan scan;

	if (!pl->o.large || !pl->block || !p->prov->ops->large ||
	    !target_has(pl->target, TARGET_ELIGIBLE))
		return;
	p->prov->ops->large(p->vmas, a, pl->block, &may);
	large_begin(&scan, a->start.u, a->end.u, &may, pl->block);
	ret->large_known = true;
	ret->first = scan.first;
	ret->last = scan.last;
	ret->inside = scan.area;
	ret->unset = scan.unknown;
	ret->edge = scan.edge;
}

/* `behind`: where the last one ends; damaged lists are not in order. */
static int place_add_area(const struct placer *pl, struct place_process *p,
			  const struct atw_area *a, uint64_t *behind, struct atw_err *err)
{
	struct place_area *to;

	if (a->end.u <= a->start.u || a->start.u < *behind)
		return ATW_OK;
	if (!array_reserve((void **)&p->area, &p->cap, p->n + 1, sizeof(*p->area)))
		return atw_err_nomem(err);
	to = &p->area[p->n];
	*to = (struct place_area){
		.start = a->start.u, .end = a->end.u, .name = strdup(a->name),
		.rights = (uint8_t)((a->read ? 1 : 0) | (a->write ? 2 : 0) | (a->exec ? 4 : 0)),
		.rights_unknown = a->rights_unknown,
	};
	if (!to->name)
		return atw_err_nomem(err);
	*behind = a->end.u;
	p->n++;
	place_learn_large(pl, p, a, to);
	return ATW_OK;
}

/* What cannot be read of them is reported, and the others are used. */
static int place_read_areas(struct placer *pl, struct place_process *p,
			    struct atw_err *err)
{
	struct atw_area *a = malloc(sizeof(*a));
	struct atw_err why = { 0 };
	uint64_t behind = 0;
	int r;

	if (!a)
		return atw_err_nomem(err);
	r = vma_cursor_open(p->prov, p->task, &p->vmas, &why);
	place_forget_areas(p);
	p->stale = false;
	p->serial = ++pl->serial;
	if (r == ATW_END)
		r = atw_err_set(err, ATW_E_NONE, "process %" PRIu64 " has ended",
				p->subject.pid);
	else if (r < 0)
		*err = why;
	while (r == ATW_OK && (r = vma_cursor_next(p->vmas, a, &why)) != ATW_END) {
		if (r == ATW_E_NOMEM) {
			*err = why;
			break;
		}
		if (r < 0)
			provider_cannot(p->prov, p->prov->task[p->task].name, &why);
		if (r == ATW_E_LIMIT)
			break;
		r = r < 0 ? ATW_OK : place_add_area(pl, p, a, &behind, err);
	}
	free(a);
	return r == ATW_END || r == ATW_E_LIMIT ? ATW_OK : r;
}

/* The area that has the address, or NULL. */
static const struct place_area *place_area_at(const struct place_process *p,
					      uint64_t address)
{
	size_t i = SORTED_UP_TO(p->area, p->n, start, address);

	return i && address < p->area[i - 1].end ? &p->area[i - 1] : NULL;
}

enum large_why place_why_small(const struct place_area *a, uint64_t address)
{
	return address >= a->first && address <= a->last ? a->inside : a->edge;
}

/* ---- processes ---- */

static void place_close_process(struct place_process *p)
{
	place_forget_areas(p);
	free(p->area);
	page_cursor_close(p->pages);
	vma_cursor_close(p->vmas);
	provider_close(p->prov);
	*p = (struct place_process){ 0 };
}

/* A failure is kept: it holds for all addresses of the process. */
static void place_open_process(struct placer *pl, struct place_process *p, uint64_t pid)
{
	struct target_query q = {
		.alone = true, .frames = true, .flags = true, .pace = pl->o.pace,
	};
	int r = subject_by_pid(pl->target, pid, SUBJECT_BOTH, &p->subject, &p->why);

	p->asked = pid;
	p->serial = ++pl->serial;
	if (r == ATW_OK) {
		q.pid = (uint32_t)p->subject.pid;
		q.mm = p->subject.mm;
		r = target_process(pl->target, &q, pl->o.cannot, pl->o.arg, &p->prov, &p->task,
				   &p->why);
	}
	if (r == ATW_OK)
		r = place_read_areas(pl, p, &p->why);
	if (r == ATW_OK) {
		p->why = (struct atw_err){ 0 };
		pl->page_shift = p->prov->page_shift;
	}
}

static struct place_process *place_process_of(struct placer *pl, uint64_t pid,
					      struct atw_err *err)
{
	struct place_process *p = pl->last;
	size_t at = 0;

	if (p && p->asked == pid)
		return p;
	for (size_t i = 0; i < pl->n; i++) {
		if (pl->process[i]->asked == pid)
			return pl->last = pl->process[i];
		if (pl->process[i]->used < pl->process[at]->used)
			at = i;
	}
	if (pl->n < PLACE_PROCESSES) {
		p = calloc(1, sizeof(*p));
		if (!p) {
			atw_err_nomem(err);
			return NULL;
		}
		pl->process[pl->n++] = p;
	} else {
		/* The one that was not used for the longest time. */
		p = pl->process[at];
		place_close_process(p);
	}
	place_open_process(pl, p, pid);
	return pl->last = p;
}

/* ---- user addresses ---- */

static void place_frame(struct place_process *p, const struct page_run *run, uint32_t i,
			uint64_t off, struct place *ret)
{
	struct frame_facts f = { 0 };
	struct atw_err why = { 0 };
	int r = page_cursor_facts(p->pages, run, i, off, run->slot, &f, &why);

	if (r == ATW_E_DAMAGED)
		provider_cannot(p->prov, "struct pages", &why);
	if (r != ATW_OK || (p->prov->running && provider_is_stale(&f)))
		return;
	if (f.have & FACT_FLAGS) {
		ret->flags = f.page.flags;
		ret->have |= PLACE_HAS_FLAGS;
	}
	if (f.have & FACT_NODE) {
		ret->node = f.page.node;
		ret->have |= PLACE_HAS_NODE;
	}
	if (run->guess && f.have & FACT_FLAGS && f.page.flags & kpf(KPF_HWPOISON))
		ret->state = PAGE_POISON;
}

static void place_from_run(struct place_process *p, const struct page_run *run,
			   uint64_t address, struct place *ret)
{
	uint64_t off = address - run->va, page = (uint64_t)1 << p->prov->page_shift;
	uint32_t i = (uint32_t)(off / run->slot);

	if (run->have & RUN_STATE_HIDDEN)
		return;
	ret->state = run->state;
	ret->have |= PLACE_HAS_STATE;
	if (run->have & RUN_RIGHTS) {
		ret->rights = run->rights;
		ret->have |= PLACE_HAS_RIGHTS;
	}
	if (run->state == PAGE_PRESENT && !(run->have & RUN_SIZE_HIDDEN)) {
		ret->page = run->slot;
		ret->have |= PLACE_HAS_PAGE;
	}
	if (!run->pa || i >= run->count)
		return;
	off -= i * run->slot;
	ret->physical = run->pa[i] + off;
	ret->have |= PLACE_HAS_PHYSICAL;
	if (run->state == PAGE_PRESENT || run->state == PAGE_PROTNONE)
		place_frame(p, run, i, off & ~(page - 1), ret);
}

/* All but what depends on the byte is that of its page. */
static int place_look_up(struct place_process *p, uint64_t address, struct place *ret,
			 struct atw_err *err)
{
	uint64_t page = ((uint64_t)1 << p->prov->page_shift) - 1;
	const struct page_query q = {
		.task = p->task, .first = address & ~page, .last = address | page,
		.vmas = p->vmas,
	};
	const struct page_run *run;
	int r = page_cursor_open(p->prov, &q, &p->pages, err);

	/* Where nothing is, there need not be a run. */
	ret->state = PAGE_ABSENT;
	while (r == ATW_OK && (r = page_cursor_next(p->pages, &run, err)) == ATW_OK) {
		if (address < run->va || address - run->va > run->size - 1)
			continue;
		place_from_run(p, run, address, ret);
		return ATW_OK;
	}
	if (r != ATW_END)
		return r;
	/* Of a process that runs, a run has what is absent, too. */
	if (p->prov->running && address <= p->prov->user_last)
		return atw_err_set(err, ATW_E_NONE, "process %" PRIu64 " has ended",
				   p->subject.pid);
	ret->have |= PLACE_HAS_STATE;
	return ATW_OK;
}

static int place_user(struct placer *pl, struct place_process *p, uint64_t address,
		      struct place *ret, struct atw_err *err)
{
	uint64_t number, low;
	struct place_slot *s;
	int r = ATW_OK;

	p->used = ++pl->clock;
	if (p->stale)
		r = place_read_areas(pl, p, err);
	if (r < 0) {
		/* It holds for the other addresses as well. */
		p->why = *err;
		return r;
	}
	number = address >> p->prov->page_shift;
	low = address & (((uint64_t)1 << p->prov->page_shift) - 1);
	s = &pl->slot[(size_t)hash_two(p->serial, number) & (PLACE_PAGES - 1)];
	if (s->serial != p->serial || s->page != number) {
		struct place found = { .process = p };

		r = place_look_up(p, address - low, &found, err);
		if (r < 0)
			return r;
		*s = (struct place_slot){ p->serial, number, found };
	}
	*ret = s->place;
	ret->physical += low;
	/* Areas can begin and end within a page of the hardware only if damaged. */
	ret->area = place_area_at(p, address);
	return ATW_OK;
}

/* ---- addresses of the kernel ---- */

static int place_open_kernel(struct placer *pl)
{
	struct atw_err *why = &pl->kernel_why;
	int r = target_need(pl->target, TARGET_TABLES, "an address of the kernel", why);

	pl->kernel_tried = true;
	subject_default(pl->target, &pl->kernel);
	if (r == ATW_OK)
		r = mmu_lookup_open(&pl->kernel.space, &pl->lookup, why);
	/* Without it flags and nodes are not known. */
	if (r == ATW_OK && pl->target->kernel)
		atw_memmap_open(pl->target->kernel, &pl->memmap, NULL);
	return r;
}

static uint8_t place_state_of(const struct mmu_place *m)
{
	if (m->loss)
		return (uint8_t)provider_loss_state(m->loss);
	return m->kind == ATW_LEAF ? PAGE_PRESENT :
	       m->kind == ATW_BAD ? PAGE_BAD : PAGE_ABSENT;
}

static int place_of_kernel(struct placer *pl, uint64_t address, struct place *ret,
			   struct atw_err *err)
{
	struct lnx_page page;
	struct mmu_place m;
	unsigned shift;
	int r;

	ret->kernel = true;
	if (!pl->kernel_tried)
		place_open_kernel(pl);
	if (!pl->lookup) {
		*err = pl->kernel_why;
		return ATW_E_UNSUPPORTED;
	}
	r = mmu_lookup(pl->lookup, ATW_VA(address), &m, err);
	/* An address that no table can translate maps nothing. */
	if (r == ATW_E_USAGE) {
		ret->state = PAGE_ABSENT;
		ret->have = PLACE_HAS_STATE;
		return ATW_OK;
	}
	if (r < 0)
		return r;
	ret->state = place_state_of(&m);
	ret->have = PLACE_HAS_STATE;
	if (ret->state != PAGE_PRESENT)
		return ATW_OK;
	ret->rights = m.rights;
	ret->page = m.size;
	ret->physical = m.pa.u;
	ret->have |= PLACE_HAS_RIGHTS | PLACE_HAS_PAGE | PLACE_HAS_PHYSICAL;
	shift = pl->kernel.space.paging.page_shift;
	if (!pl->memmap || atw_memmap_page(pl->memmap, m.pa.u >> shift, &page, NULL) < 0)
		return ATW_OK;
	ret->flags = page.flags;
	ret->have |= PLACE_HAS_FLAGS;
	if (page.have_node) {
		ret->node = page.node;
		ret->have |= PLACE_HAS_NODE;
	}
	return ATW_OK;
}

/* ---- all of it ---- */

/* x86 has one area of processes among the kernel's addresses: [vsyscall]. */
static bool place_is_user(const struct placer *pl, const struct place_process *p,
			  uint64_t address)
{
	uint64_t last = INT64_MAX;

	/* Without page tables a provider does not know where addresses of the kernel begin. */
	if (p->prov && target_has(pl->target, TARGET_TABLES))
		last = p->prov->user_last;
	return address <= last || (p->prov && place_area_at(p, address));
}

int placer_find(struct placer *pl, uint64_t pid, uint64_t address, struct place *ret,
		struct atw_err *err)
{
	struct place_process *p = NULL;

	*ret = (struct place){ 0 };
	pid = pl->o.pid ? pl->o.pid : pid;
	if (pid) {
		p = place_process_of(pl, pid, err);
		if (!p)
			return ATW_E_NOMEM;
		ret->process = p;
	}
	if (p ? !place_is_user(pl, p, address) : address > INT64_MAX) {
		ret->process = NULL;
		return place_of_kernel(pl, address, ret, err);
	}
	if (!p)
		return atw_err_set(err, ATW_E_USAGE,
				   "0x%" PRIx64 " is a user-space address of an unknown process",
				   address);
	if (p->why.status) {
		*err = p->why;
		return p->why.status;
	}
	return place_user(pl, p, address, ret, err);
}

void placer_renew(struct placer *p)
{
	for (size_t i = 0; i < p->n; i++)
		p->process[i]->stale = true;
	/* A process may have started, or be readable by now. */
	for (size_t i = 0; i < p->n; i++)
		if (p->process[i]->why.status)
			p->process[i]->asked = UINT64_MAX;
}

uint64_t placer_page(const struct placer *p)
{
	return (uint64_t)1 << p->page_shift;
}

int placer_open(struct target *t, const struct place_opts *opts, struct placer **ret,
		struct atw_err *err)
{
	struct placer *p = calloc(1, sizeof(*p));
	const struct atw_paging *pg = &t->space.paging;

	if (p)
		p->slot = calloc(PLACE_PAGES, sizeof(*p->slot));
	if (!p || !p->slot) {
		free(p);
		return atw_err_nomem(err);
	}
	p->target = t;
	p->o = *opts;
	p->page_shift = pg->page_shift ? pg->page_shift : 12;
	if (pg->nlevels >= 2)
		p->block = (uint64_t)1 << pg->level[1].shift;
	*ret = p;
	return ATW_OK;
}

void placer_close(struct placer *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		place_close_process(p->process[i]);
		free(p->process[i]);
	}
	mmu_lookup_close(p->lookup);
	atw_memmap_close(p->memmap);
	free(p->slot);
	free(p);
}
