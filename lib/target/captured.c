/* SPDX-License-Identifier: GPL-2.0-or-later */
/* captured.c - index of a capture: attributes, tasks and ranges of RAM. */
#include "target/captured.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/sorted.h"
#include "base/table.h"

enum { FAULTS = 20 };            /* reported one by one, the rest as a number */

struct captured_reading {
	struct captured *c;
	const struct captured_opts *o;
	struct capture_stream *s;
	struct table spaces;     /* of the tasks so far, if they do not say which are threads */
	uint64_t faults;
	struct atw_err e;
};

/* ---- the machine ---- */

static void captured_header(struct captured *c, const struct capture_header *h)
{
	const struct { const char *key; char *to; size_t len; } texts[] = {
		{ "way", c->way, sizeof(c->way) }, { "machine", c->machine, sizeof(c->machine) },
		{ "release", c->release, sizeof(c->release) },
		{ "begun", c->begun, sizeof(c->begun) }, { "ended", c->ended, sizeof(c->ended) },
		{ "vanished", c->vanished, sizeof(c->vanished) },
		{ "stale", c->stale, sizeof(c->stale) }, { "cpus", c->cpus, sizeof(c->cpus) },
	};
	const struct { const char *key; uint64_t *to; } masks[] = {
		{ "bits", &c->bits }, { "pageflags", &c->pageflags },
		{ "areaflags", &c->areaflags },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (blob_is(h->key, texts[i].key))
			blob_text(h->value, texts[i].to, texts[i].len);
	/* A mask that is none says nothing of any bit. */
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++)
		if (blob_is(h->key, masks[i].key) &&
		    !num_hex(h->value.data, h->value.len, masks[i].to))
			*masks[i].to = 0;
	c->unsized |= blob_is(h->key, "unsized");
	c->old |= blob_is(h->key, "way") && blob_is(h->value, "paper");
}

static int captured_add_ram(struct captured *c, const struct capture_record *rec,
			    struct atw_err *err)
{
	/* Beyond as many ranges as frames are compared with, the node is unknown. */
	if (c->nram == CAPTURE_RAMS)
		return ATW_OK;
	if (!ARRAY_ROOM(c->ram, c->nram, c->rams_cap))
		return atw_err_nomem(err);
	c->ram[c->nram++] = (struct captured_ram){
		rec->r.start, rec->r.last, rec->r.node,
		(rec->has & CAPTURE_R_NODE) && rec->r.node <= UINT32_MAX,
	};
	return ATW_OK;
}

static void captured_swap(struct captured *c, const struct capture_swap *s)
{
	if (s->type >= CAPTURED_SWAPS || !s->name.data)
		return;
	c->swap[s->type].have = true;
	blob_text(s->name, c->swap[s->type].name, sizeof(c->swap[0].name));
}

/* ---- tasks ---- */

static int captured_wrong(struct captured_reading *x, const char *what, uint64_t number)
{
	return atw_err_set(&x->e, ATW_E_DAMAGED, "line %" PRIu64 ": T: %s is %" PRIu64
			   ", which no task has", x->s->rd.line, what, number);
}

static void captured_emit(struct captured_reading *x)
{
	if (x->o->defective)
		*x->o->defective = true;
	if (x->o->damaged)
		x->o->damaged(x->o->arg, &x->e);
}

/* ATW_END: that was one too many. */
static int captured_fault(struct captured_reading *x)
{
	if (x->faults++ < FAULTS)
		captured_emit(x);
	x->s->terse = x->faults >= FAULTS;
	return x->faults == CAPTURE_FAULTS ? ATW_END : ATW_OK;
}

/* *ret: is it of an earlier task? false: no memory. */
static bool captured_again(struct captured_reading *x, uint64_t mm, bool *ret)
{
	struct table_slot *s = table_get(&x->spaces, mm);

	if (!s)
		return false;
	*ret = s->value;
	table_set(&x->spaces, s, 1);
	return true;
}

static int captured_add_task(struct captured_reading *x, const struct capture_record *rec,
			     struct atw_err *err)
{
	struct captured *c = x->c;
	const struct capture_task *t = &rec->t;
	struct captured_task *k;
	bool again = false;

	if (t->pid > UINT32_MAX || t->tgid > UINT32_MAX || t->ppid > UINT32_MAX) {
		captured_wrong(x,
			       t->pid > UINT32_MAX    ? "pid"
			       : t->tgid > UINT32_MAX ? "tgid"
						      : "ppid",
			       t->pid > UINT32_MAX    ? t->pid
			       : t->tgid > UINT32_MAX ? t->tgid
						      : t->ppid);
		/* Its areas are not those of the task before. */
		x->s->rd.in_task = false;
		return captured_fault(x);
	}
	if (!ARRAY_ROOM(c->task, c->ntasks, c->tasks_cap) ||
	    (t->mm && !(rec->has & CAPTURE_T_TGID) && !captured_again(x, t->mm, &again)))
		return atw_err_nomem(err);
	k = &c->task[c->ntasks++];
	*k = (struct captured_task){
		.mark = x->s->mark, .mm = t->mm, .start = t->start, .pid = (uint32_t)t->pid,
		.tgid = (uint32_t)t->tgid, .ppid = (uint32_t)t->ppid, .has = rec->has,
		.owner = CAPTURED_NONE, .kind = capture_task_kind(t, rec->has, again),
	};
	blob_text(t->name, k->name, sizeof(k->name));
	if (x->o->progress)
		x->o->progress(x->o->arg, c->ntasks, 0);
	return ATW_OK;
}

static size_t captured_word(struct captured *c, struct atw_blob b)
{
	size_t at = c->words.len;

	buf_add(&c->words, b.data, b.len < 300 ? b.len : 300);
	buf_char(&c->words, '\0');
	return at;
}

/* Losses with addresses are reported when these addresses are listed. */
static int captured_add_lost(struct captured *c, const struct capture_record *rec,
			     struct atw_err *err)
{
	c->all_lost++;
	if (rec->has & CAPTURE_L_START || c->nlost == CAPTURED_LOST)
		return ATW_OK;
	if (!ARRAY_ROOM(c->lost, c->nlost, c->losts_cap))
		return atw_err_nomem(err);
	c->lost[c->nlost++] = (struct captured_lost){
		rec->l.pid,
		captured_word(c, rec->l.what),
		captured_word(c, rec->l.why),
		rec->has & CAPTURE_L_DENIED,
	};
	return c->words.failed ? atw_err_nomem(err) : ATW_OK;
}

static int captured_record(struct captured_reading *x, const struct capture_record *rec,
			   struct atw_err *err)
{
	struct captured *c = x->c;

	switch (rec->letter) {
	case 'H':
		captured_header(c, &rec->h);
		return ATW_OK;
	case 'R':
		return captured_add_ram(c, rec, err);
	case 'S':
		captured_swap(c, &rec->s);
		return ATW_OK;
	case 'T':
		return captured_add_task(x, rec, err);
	case 'V':
		c->areas++;
		if (c->ntasks && c->task[c->ntasks - 1].areas < UINT32_MAX)
			c->task[c->ntasks - 1].areas++;
		return ATW_OK;
	case 'F':
		c->frames++;
		return ATW_OK;
	case 'L':
		return captured_add_lost(c, rec, err);
	default:
		return ATW_OK;
	}
}

/* ---- owners of areas ---- */

static int captured_by_space(const void *a, const void *b)
{
	const struct captured_task *x = *(struct captured_task *const *)a;
	const struct captured_task *y = *(struct captured_task *const *)b;

	/* Those with areas of their own first, else in the order of the file. */
	return ORDER(x->mm, y->mm) ?: ORDER(!x->areas, !y->areas) ?: ORDER(x, y);
}

/*
 * The areas of an address space are those of the first task that has V: lines for it; all
 * tasks that share the space use them. Areas listed by another task of the same space are
 * the same ones.
 */
static int captured_find_owners(struct captured *c, struct atw_err *err)
{
	_auto_free struct captured_task **v = calloc(c->ntasks + 1, sizeof(struct captured_task *));
	size_t first = 0;

	if (!v)
		return atw_err_nomem(err);
	for (size_t i = 0; i < c->ntasks; i++)
		v[i] = &c->task[i];
	qsort(v, c->ntasks, sizeof(struct captured_task *), captured_by_space);
	for (size_t i = 0; i < c->ntasks; i++) {
		if (v[i]->mm != v[first]->mm)
			first = i;
		if (v[i]->mm && v[first]->areas)
			v[i]->owner = (size_t)(v[first] - c->task);
		else if (v[i]->areas)
			v[i]->owner = (size_t)(v[i] - c->task);
	}
	return ATW_OK;
}

/* ---- all of it ---- */

static void captured_more_faults(struct captured_reading *x)
{
	uint64_t n = x->faults;

	x->faults = 0;
	if (n <= FAULTS)
		return;
	atw_err_set(&x->e, ATW_E_DAMAGED, "%" PRIu64 " more lines are wrong", n - FAULTS);
	captured_emit(x);
}

static int captured_failure(struct captured_reading *x, struct atw_err *err)
{
	x->c->whole &= x->s->of_line;
	if (x->s->over)
		captured_more_faults(x);
	x->e = x->s->e;
	if (x->s->fatal)
		return atw_err_set(err, x->e.status, "%s", x->e.text);
	if (x->s->of_line)
		return captured_fault(x);
	captured_emit(x);
	return ATW_OK;
}

/* ATW_END: enough of it. */
static int captured_lines(struct captured_reading *x, struct atw_err *err)
{
	struct capture_record rec;
	int r;

	while ((r = capture_stream_next(x->s, &rec)) != ATW_END) {
		r = r == ATW_OK ? captured_record(x, &rec, err)
				: captured_failure(x, err);
		if (r != ATW_OK)
			return r;
	}
	captured_more_faults(x);
	return ATW_OK;
}

static int captured_all(struct captured_reading *x, struct atw_err *err)
{
	int r = captured_lines(x, err);

	if (r < 0)
		return r;
	if (r == ATW_END) {
		x->c->whole = false;
		x->c->upto = x->s->base + x->s->pos;
		atw_err_set(&x->e, ATW_E_DAMAGED, "line %" PRIu64 ": %d lines were wrong so far: "
			    "nothing behind it is read", x->s->rd.line, CAPTURE_FAULTS);
		captured_emit(x);
	}
	x->c->page = x->s->rd.page;
	x->c->paper = x->s->rd.paper;
	x->c->old |= x->c->paper;
	x->c->lines = x->s->rd.line;
	return captured_find_owners(x->c, err);
}

int captured_open(const char *path, const struct captured_opts *o, struct captured **ret,
		  struct atw_err *err)
{
	struct captured *c;
	struct captured_reading x = {.o = o};
	int r;

	c = calloc(1, sizeof(*c));
	if (!c)
		return atw_err_nomem(err);
	c->path = path;
	c->whole = true;
	c->made = o->made;
	c->upto = UINT64_MAX;
	c->bits = c->pageflags = c->areaflags = UINT64_MAX;
	x.c = c;
	r = capture_stream_open_path(path, &x.s, err) ?: captured_all(&x, err);
	capture_stream_close(x.s);
	table_deinit(&x.spaces);
	if (r != ATW_OK) {
		captured_close(c);
		return r;
	}
	*ret = c;
	return ATW_OK;
}

void captured_close(struct captured *c)
{
	if (!c)
		return;
	free(c->task);
	free(c->ram);
	free(c->lost);
	buf_deinit(&c->words);
	free(c);
}

size_t captured_find(const struct captured *c, uint64_t pid)
{
	for (size_t i = 0; i < c->ntasks; i++)
		if (c->task[i].pid == pid)
			return i;
	for (size_t i = 0; i < c->ntasks; i++)
		if (captured_process(&c->task[i]) == pid)
			return i;
	return CAPTURED_NONE;
}
