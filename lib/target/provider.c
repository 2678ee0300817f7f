/* SPDX-License-Identifier: GPL-2.0-or-later */
/* provider.c - functions shared by all providers. */
#include "target/provider.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "linux/kpf.h"
#include "target/frame_use.h"

struct page_task *provider_add_task(struct provider *p)
{
	struct page_task *t;

	if (!ARRAY_ROOM(p->task, p->ntasks, p->tasks_cap))
		return NULL;
	t = &p->task[p->ntasks++];
	*t = (struct page_task){ 0 };
	return t;
}

unsigned known_properties(const struct provider *p)
{
	if (p->properties)
		return p->properties;
	return ATW_LARGE | (p->used ? ATW_ACCESSED | ATW_DIRTY : 0);
}

bool run_properties(const struct provider *p, const struct page_run *r, unsigned *ret)
{
	unsigned known = known_properties(p);

	if (r->state != PAGE_PRESENT)
		return false;
	if (p->properties) {
		*ret = r->properties;
		return true;
	}
	if (r->have & RUN_SIZE_HIDDEN || !r->slot ||
	    (known & ATW_ACCESSED && !(r->have & RUN_USED)))
		return false;
	*ret = (r->slot >> p->page_shift > 1 ? ATW_LARGE : 0) |
	       (known & ATW_ACCESSED && r->accessed ? ATW_ACCESSED : 0) |
	       (known & ATW_DIRTY && r->dirty ? ATW_DIRTY : 0);
	return true;
}

void provider_cannot(struct provider *p, const char *what, const struct atw_err *err)
{
	if (p->cannot)
		p->cannot(p->arg, what, err);
}

int provider_leave_counts(struct provider *p, struct atw_err *err)
{
	struct atw_err why;

	if (!p->counts.most)
		return atw_err_nomem(err);
	atw_err_set(&why, ATW_E_LIMIT,
		    "to count how often each frame is mapped takes more than the %" PRIu64 " bytes of memory that it may take",
		    p->counts.most);
	counts_deinit(&p->counts);
	provider_cannot(p, "refs", &why);
	return ATW_OK;
}

enum page_state provider_soft_state(enum atw_soft what)
{
	static const uint8_t states[] = {
		[ATW_SOFT_NONE] = PAGE_ABSENT, [ATW_SOFT_PROTNONE] = PAGE_PROTNONE,
		[ATW_SOFT_SWAP] = PAGE_SWAP, [ATW_SOFT_MIGRATION] = PAGE_MIGRATION,
		[ATW_SOFT_POISON] = PAGE_POISON, [ATW_SOFT_DEVICE] = PAGE_DEVICE,
		[ATW_SOFT_MARKER] = PAGE_MARKER, [ATW_SOFT_GUARD] = PAGE_GUARD,
		[ATW_SOFT_UNKNOWN] = PAGE_ABSENT,
	};

	return states[what];
}

enum page_state provider_loss_state(enum mmu_loss loss)
{
	static const uint8_t states[] = {
		[ATW_LOST] = PAGE_LOST, [ATW_LOST_EXCLUDED] = PAGE_EXCLUDED,
		[ATW_LOST_DAMAGED] = PAGE_DAMAGED, [ATW_LOST_UNSTABLE] = PAGE_UNSTABLE,
	};

	return states[loss];
}

int provider_take(struct provider *p, const struct provider *lead, struct atw_err *err)
{
	p->task = malloc((lead->ntasks + 1) * sizeof(*p->task));
	if (!p->task)
		return atw_err_nomem(err);
	memcpy(p->task, lead->task, lead->ntasks * sizeof(*p->task));
	p->ntasks = lead->ntasks;
	p->every = lead->every;
	p->brief = lead->brief;
	p->follows = true;
	p->counts = lead->counts;
	p->counted = lead->counted;
	return ATW_OK;
}

bool provider_lead(struct provider *p)
{
	if (p->ops->lead)
		p->ops->lead(p);
	return p->ops->follow;
}

int provider_follow(struct provider *p, struct provider *lead, struct atw_err *err)
{
	/* What a SOURCE leads to may depend on what is allowed, and that may change. */
	if (p->ops != lead->ops)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "the source is read in another way now");
	return p->ops->follow(p, lead, err);
}

void provider_close(struct provider *p)
{
	if (!p)
		return;
	if (!p->follows)
		counts_deinit(&p->counts);
	free(p->task);
	p->ops->close(p);
}

int vma_cursor_open_at(struct provider *p, size_t task, uint64_t from, struct vma_cursor **ret,
		       struct atw_err *err)
{
	if (!*ret)
		*ret = calloc(1, p->ops->vma_cursor_size);
	if (!*ret)
		return atw_err_nomem(err);
	(*ret)->p = p;
	(*ret)->task = task;
	(*ret)->from = from;
	return p->ops->vmas_open(*ret, err);
}

int vma_cursor_open(struct provider *p, size_t task, struct vma_cursor **ret,
		    struct atw_err *err)
{
	return vma_cursor_open_at(p, task, 0, ret, err);
}

void vma_cursor_close(struct vma_cursor *c)
{
	if (c && c->p->ops->vmas_close)
		c->p->ops->vmas_close(c);
	free(c);
}

int page_cursor_open(struct provider *p, const struct page_query *q,
		     struct page_cursor **ret, struct atw_err *err)
{
	if (!*ret)
		*ret = calloc(1, p->ops->page_cursor_size);
	if (!*ret)
		return atw_err_nomem(err);
	(*ret)->p = p;
	(*ret)->q = *q;
	return p->ops->pages_open(*ret, err);
}

void page_cursor_close(struct page_cursor *c)
{
	if (c && c->p->ops->pages_close)
		c->p->ops->pages_close(c);
	free(c);
}

bool provider_doubts(const struct page_run *r, const struct frame_facts *f)
{
	if ((r->state != PAGE_PRESENT && r->state != PAGE_PROTNONE) || !(f->have & FACT_FLAGS) ||
	    f->page.flags & kpf(KPF_ZERO_PAGE))
		return false;
	return f->have & FACT_COUNT ? !f->page.count : !f->page.flags;
}

void provider_settle(struct frame_facts *f, bool again)
{
	if (!again || f->page.flags & (kpf(KPF_LRU) | kpf(KPF_ANON)))
		f->have |= FACT_STALE;
	f->alike = 0;
}

bool provider_is_stale(const struct frame_facts *f)
{
	return f->have & FACT_STALE || (f->have & FACT_FLAGS && f->page.flags & frame_types()) ||
	       (f->have & FACT_REFS && !f->page.refcount);
}
