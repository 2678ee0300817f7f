/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_vmas.c - tasks and areas from a capture. Data that is missing from it is reported as
 * unknown.
 */
#include "target/capture_vmas.h"

#include "record/record.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/message.h"
#include "base/num.h"
#include "linux/kpf.h"
#include "linux/vm_flags.h"
#include "target/procfs_vmas.h"

/* ---- lines of one task ---- */

/* Up to the first task, so that what stands before all of them is known. */
static int capture_vmas_cursor_open(const struct capture_provider *m,
				    struct capture_cursor *k, struct atw_err *err)
{
	struct capture_record rec;
	int r = capture_stream_open_path(m->c->path, &k->s, err);

	if (r != ATW_OK)
		return r;
	k->upto = m->c->upto;
	k->s->terse = true;              /* the first reader reported it */
	while (!k->s->rd.tasks && (r = capture_stream_next(k->s, &rec)) != ATW_END)
		if (k->s->fatal)
			return atw_err_set(err, r, "%s", k->s->e.text);
	return ATW_OK;
}

int capture_cursor_begin(const struct capture_provider *m, struct capture_cursor *k,
			 size_t task, struct atw_err *err)
{
	const struct captured_task *t = &m->c->task[m->of[task]];
	struct capture_record rec;
	int r = ATW_OK;

	k->open = k->fault = k->cut = false;
	if (t->owner == CAPTURED_NONE)
		return ATW_OK;
	t = &m->c->task[t->owner];
	if (!k->s)
		r = capture_vmas_cursor_open(m, k, err);
	if (r == ATW_OK)
		r = capture_stream_seek(k->s, &t->mark, err);
	if (r != ATW_OK)
		return r;
	r = capture_stream_next(k->s, &rec);
	if (r != ATW_OK || rec.letter != 'T' || rec.t.pid != t->pid)
		return atw_err_set(err, ATW_E_DAMAGED, "the file changed while it was read");
	k->open = true;
	k->pid = t->pid;
	return ATW_OK;
}

int capture_cursor_next(struct capture_cursor *k, struct capture_record *ret,
			struct atw_err *err)
{
	int r;

	while (k->open) {
		const struct capture_reader *rd = &k->s->rd;

		r = capture_stream_next(k->s, ret);
		if (r != ATW_END && k->s->mark.at >= k->upto) {
			k->open = false;
			k->cut = true;
			break;
		}
		if (r == ATW_OK && !strchr("TFCE", ret->letter))
			return ATW_OK;
		if (r < 0 && k->s->fatal) {
			k->open = false;
			return atw_err_set(err, r, "%s", k->s->e.text);
		}
		/* An area or the end that is wrong says nothing of pages before it. */
		k->fault |= r < 0 && k->s->of_line && !rd->ended &&
			    (rd->in_area || !rd->in_task);
		k->open = r < 0 && !k->s->over;
		k->cut |= r < 0 && k->s->over;
	}
	return ATW_END;
}

/* ---- tasks ---- */

static bool capture_vmas_is_listed(const struct provider *p, uint32_t pid)
{
	return p->ntasks && p->task[p->ntasks - 1].pid == pid;
}

void capture_why(struct atw_err *ret, struct atw_blob text)
{
	int len = (int)(text.len < 300 ? text.len : 300);

	/* A byte that ends texts would leave nothing of it. */
	if (len && *(const char *)text.data)
		atw_err_set(ret, ATW_E_MISSING, "%.*s", len, (const char *)text.data);
	else
		atw_err_set(ret, ATW_E_MISSING, "and no reason is given");
}

/* Report the read errors of the capture: all, or those of the listed task. */
static void capture_vmas_emit_lost(struct provider *p, bool all, uint64_t pid)
{
	const struct captured *c = capture_of(p)->c;
	struct atw_err why = { 0 };
	char what[400];

	for (size_t i = 0; i < c->nlost; i++) {
		const struct captured_lost *l = &c->lost[i];

		if (!all && l->pid != pid)
			continue;
		capture_why(&why, blob_of(c->words.data + l->why));
		why.status = l->denied ? ATW_E_PERM : why.status;
		if (l->pid)
			snprintf(what, sizeof(what), _("when the capture was taken, process %" PRIu64 ": %s"),
				 l->pid, c->words.data + l->what);
		else
			snprintf(what, sizeof(what), _("when the capture was taken, %s"),
				 c->words.data + l->what);
		provider_cannot(p, what, &why);
	}
}

static int capture_tasks(struct provider *p, struct atw_err *err)
{
	struct capture_provider *m = capture_of(p);
	const struct captured *c = m->c;

	m->of = calloc(c->ntasks + 1, sizeof(*m->of));
	if (!m->of)
		return atw_err_nomem(err);
	num_dec(c->vanished, strlen(c->vanished), &p->ended);
	for (size_t i = 0; i < c->ntasks; i++) {
		const struct captured_task *t = &c->task[i];
		struct page_task *k;

		/* Threads follow their process. */
		if (!captured_has_memory(t) ||
		    (captured_process(t) != t->pid &&
		     capture_vmas_is_listed(p, captured_process(t))))
			continue;
		k = provider_add_task(p);
		if (!k)
			return atw_err_nomem(err);
		k->pid = captured_process(t);
		k->start = t->start;
		k->mm = t->mm;
		k->shared = t->owner != i;
		memcpy(k->name, t->name, sizeof(k->name));
		m->of[p->ntasks - 1] = i;
	}
	if (p->every)
		capture_vmas_emit_lost(p, true, 0);
	return ATW_OK;
}

static int capture_find(struct provider *p, uint32_t pid, size_t *ret, struct atw_err *err)
{
	for (size_t i = 0; i < p->ntasks; i++)
		if (p->task[i].pid == pid) {
			*ret = i;
			if (!p->every)
				capture_vmas_emit_lost(
					p, false,
					capture_of(p)->c->task[capture_of(p)->of[i]].pid);
			return ATW_OK;
		}
	return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu32, pid);
}

/* ---- areas ---- */

/* Pages that no area has stand in an area without anything. */
static bool capture_is_outside(const struct captured *c, const struct capture_record *rec)
{
	return !c->paper && !rec->v.name.data &&
	       !(rec->has & (CAPTURE_V_FLAGS | CAPTURE_V_PROT));
}

bool capture_area_rights(const struct captured *c, const struct capture_record *rec,
			 uint8_t *ret)
{
	uint64_t f = rec->v.flags, prot = rec->v.prot;

	if (rec->has & CAPTURE_V_FLAGS && (c->areaflags & VM_RIGHTS) == VM_RIGHTS) {
		*ret = (uint8_t)((f & VM_READ ? ATW_UR : 0) | (f & VM_WRITE ? ATW_UW : 0) |
				 (f & VM_EXEC ? ATW_UX : 0));
		return true;
	}
	*ret = (uint8_t)((prot & CAPTURE_USER ? ATW_UR : 0) | (prot & CAPTURE_WRITE ? ATW_UW : 0) |
			 (prot & CAPTURE_EXEC ? ATW_UX : 0));
	return rec->has & CAPTURE_V_PROT;
}

static struct capture_vmas *capture_vmas_of(struct vma_cursor *c)
{
	return (struct capture_vmas *)c;
}

static int capture_vmas_open(struct vma_cursor *cur, struct atw_err *err)
{
	struct capture_vmas *c = capture_vmas_of(cur);

	c->pending = false;
	return capture_cursor_begin(capture_of(cur->p), &c->lines, cur->task, err);
}

static void capture_vmas_fill_area(const struct captured *c,
				   const struct capture_record *rec, struct atw_area *ret)
{
	const struct capture_area *v = &rec->v;
	uint8_t rights = 0;

	ret->rights_unknown = !capture_area_rights(c, rec, &rights);
	ret->at = 0;
	ret->start = ATW_VA(v->start);
	ret->flags = rec->has & CAPTURE_V_FLAGS ? v->flags & c->areaflags : 0;
	ret->read = rights & ATW_UR;
	ret->write = rights & ATW_UW;
	ret->exec = rights & ATW_UX;
	ret->shared = v->shared || ret->flags & VM_MAYSHARE;
	ret->offset = v->offset;
	ret->major = (uint32_t)v->dev.a;
	ret->minor = (uint32_t)v->dev.b;
	ret->inode = v->inode;
	ret->file = v->inode != 0;
	ret->unread = false;
	blob_text(v->name, ret->name, sizeof(ret->name));
}

/* The next V: line; it stays pending. */
static int capture_vmas_next_area(struct capture_vmas *c, struct atw_err *err)
{
	int r = ATW_OK;

	while (!c->pending && (r = capture_cursor_next(&c->lines, &c->next, err)) == ATW_OK)
		c->pending = c->next.letter == 'V';
	return r;
}

/* An area that was too long for one line has several lines. */
static int capture_vmas_next(struct vma_cursor *cur, struct atw_area *ret,
			     struct atw_err *err)
{
	const struct captured *of = capture_of(cur->p)->c;
	struct capture_vmas *c = capture_vmas_of(cur);
	bool more;
	int r;

	while ((r = capture_vmas_next_area(c, err)) == ATW_OK &&
	       capture_is_outside(of, &c->next))
		c->pending = false;
	if (r != ATW_OK)
		return r;
	capture_vmas_fill_area(of, &c->next, ret);
	do {
		ret->end = ATW_VA(c->next.v.last + 1);
		more = c->next.v.more;
		c->pending = false;
		r = capture_vmas_next_area(c, err);
	} while (r == ATW_OK && more && c->next.v.start == ret->end.u);
	return r < 0 ? r : ATW_OK;
}

static void capture_vmas_close(struct vma_cursor *cur)
{
	capture_stream_close(capture_vmas_of(cur)->lines.s);
}

/* ---- what it does not know ---- */

static int capture_count(struct provider *p, struct atw_err *err)
{
	return ATW_OK;                   /* it was done before: FACT_MAPPED */
}

static int capture_swap(struct provider *p, unsigned type, struct atw_swap *ret,
			struct atw_err *err)
{
	const struct captured *c = capture_of(p)->c;

	if (type >= CAPTURED_SWAPS || !c->swap[type].have)
		return ATW_E_UNSUPPORTED;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->name, c->swap[type].name, sizeof(ret->name));
	return ATW_OK;
}

/* ---- all of it ---- */

static void capture_vmas_close_provider(struct provider *p)
{
	struct capture_provider *m = capture_of(p);

	free(m->of);
	free(m);
}

static const struct provider_ops capture_ops = {
	.name = "capture",
	.tasks = capture_tasks,
	.find = capture_find,
	.vma_cursor_size = sizeof(struct capture_vmas),
	.page_cursor_size = sizeof(struct capture_pages),
	.vmas_open = capture_vmas_open,
	.vmas_next = capture_vmas_next,
	.vmas_close = capture_vmas_close,
	.pages_open = capture_pages_open,
	.pages_next = capture_pages_next,
	.pages_close = capture_pages_close,
	.facts = capture_facts,
	.count = capture_count,
	.swap = capture_swap,
	.close = capture_vmas_close_provider,
};

static const char *const used_names[64] = {
	"accessed", "dirty", [MARK_AT(MARK_SOFT_DIRTY)] = "soft-dirty",
	[MARK_AT(MARK_EXCLUSIVE)] = "exclusive", [MARK_AT(MARK_FILE)] = "file",
	[MARK_AT(MARK_UFFD_WP)] = "uffd-wp",
};
static const struct atw_names used = { 64, used_names, NULL };

int capture_provider_open(const struct captured *c, provider_cannot_fn *cannot, void *arg,
			  struct provider **ret, struct atw_err *err)
{
	struct capture_provider *m = calloc(1, sizeof(*m));

	if (!m)
		return atw_err_nomem(err);
	m->c = c;
	m->page = c->page;
	for (size_t i = 0; i < CAPTURED_SWAPS; i++)
		m->swaps |= c->swap[i].have;
	/* Words of /proc/PID/pagemap have none of these two. */
	m->table = (c->bits & (CAPTURE_ACCESSED | CAPTURE_DIRTY)) == (CAPTURE_ACCESSED | CAPTURE_DIRTY);
	m->p = (struct provider){
		.ops = &capture_ops, .cannot = cannot, .arg = arg, .way = "capture",
		.told_counts = true, .flags = m->table ? &used : &pagemap_flags,
		.unknown = m->table ? MARKS_ALL : 0, .user_last = UINT64_MAX,
		.page_shift = (unsigned)__builtin_ctzll(c->page),
		.area_rights = !(c->bits & CAPTURE_WRITE),
		.no_kinds = !(c->areaflags & VM_HUGETLB) && !(c->pageflags >> KPF_HUGE & 1),
	};
	*ret = &m->p;
	return ATW_OK;
}
