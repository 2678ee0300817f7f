/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect_others.c - tasks without memory, emitted between the processes in the order of
 * ps. A provider lists them before all others, so they are buffered until their turn.
 */
#include "census/collect.h"

struct other {
	bool memory;                 /* placeholder of process `t.pid`, which is not
				      * emitted here */
	uint32_t has;
	struct capture_task t;
	struct census_texts texts;   /* in `words` */
};

struct others {
	struct other *v;
	size_t n, cap, emitted;
	struct buf words;
};

struct census_texts census_texts_keep(struct buf *b, const struct capture_task *t)
{
	return (struct census_texts){
		.name = buf_keep(b, t->name.data, t->name.len),
		.cgroup = buf_keep(b, t->cgroup.data, t->cgroup.len),
		.exe = buf_keep(b, t->exe.data, t->exe.len),
	};
}

void census_texts_set(struct capture_task *t, const struct buf *b,
		      const struct census_texts *at)
{
	t->name.data = t->name.data ? b->data + at->name : NULL;
	t->cgroup.data = t->cgroup.data ? b->data + at->cgroup : NULL;
	t->exe.data = t->exe.data ? b->data + at->exe : NULL;
}

static int others_add(struct others *o, const struct other *v, struct atw_err *err)
{
	if (!ARRAY_ROOM(o->v, o->n, o->cap))
		return atw_err_nomem(err);
	o->v[o->n++] = *v;
	return o->words.failed ? atw_err_nomem(err) : ATW_OK;
}

static int others_on(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct others *o = arg;
	const struct other v = {
		.has = rec->has, .t = rec->t,
		.texts = census_texts_keep(&o->words, &rec->t),
	};

	return others_add(o, &v, err);
}

static int others_on_process(void *arg, uint32_t pid, struct atw_err *err)
{
	const struct other v = { .memory = true, .t.pid = pid };

	return others_add(arg, &v, err);
}

int collect_others(struct collect *c, struct others **ret, struct atw_err *err)
{
	struct others *o = calloc(1, sizeof(*o));
	const struct about_to to = {others_on, o, others_on_process};
	int r;

	if (!o)
		return atw_err_nomem(err);
	r = c->p->ops->others(c->p, &to, err);
	if (r != ATW_OK) {
		others_drop(o);
		return r;
	}
	*ret = o;
	return ATW_OK;
}

static int others_emit(struct collect *c, const struct others *o, const struct other *v,
		       struct atw_err *err)
{
	struct capture_record rec = { .letter = 'T', .has = v->has, .t = v->t };

	census_texts_set(&rec.t, &o->words, &v->texts);
	return c->to->record(c->to->arg, &rec, err);
}

/* Its process ended before it was emitted, so its address space is not in the capture. */
static bool others_is_gone(const struct collect *c, const struct other *v)
{
	return v->t.mm && v->has & CAPTURE_T_TGID && v->t.tgid == c->gone;
}

int others_emit_before(struct collect *c, struct others *o, uint64_t pid,
		       struct atw_err *err)
{
	size_t end = o->emitted;
	int r = ATW_OK;

	while (end < o->n && !(o->v[end].memory && o->v[end].t.pid == pid))
		end++;
	/* A process that is no longer in the list has no position. */
	if (end == o->n && pid != UINT64_MAX)
		return ATW_OK;
	for (; r == ATW_OK && o->emitted < end; o->emitted++)
		if (!o->v[o->emitted].memory && !others_is_gone(c, &o->v[o->emitted]))
			r = others_emit(c, o, &o->v[o->emitted], err);
	return r;
}

void others_drop(struct others *o)
{
	if (!o)
		return;
	free(o->v);
	buf_deinit(&o->words);
	free(o);
}
