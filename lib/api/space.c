/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.c - address spaces of the public API, and translations. */
#include "api/api.h"

/* ---- opening ---- */

static int space_by_name(struct atw_target *t, const struct atw_subject *subject,
			 struct subject *ret, struct atw_err *err)
{
	struct subject_matches m;
	int r = subject_named(t->t, subject->comm, &m, err);

	if (r == ATW_OK && m.n == 1)
		r = subject_by_task(t->t, &m.first, subject->half, ret, err);
	else if (r == ATW_OK && m.n)
		r = atw_err_set(err, ATW_E_NONE, "%u processes are called %.64s: %.300s",
				m.n, subject->comm, m.list.data ? m.list.data : "");
	else if (r == ATW_OK && m.unread.status)
		r = atw_err_set(err, m.unread.status,
				"no process that could be read is called %.64s: %.300s",
				subject->comm, m.unread.text);
	else if (r == ATW_OK)
		r = atw_err_set(err, ATW_E_NONE, "no process is called %.64s",
				subject->comm);
	subject_matches_deinit(&m);
	return r;
}

static int space_find(struct atw_target *t, const struct atw_subject *subject,
		      struct subject *ret, struct atw_err *err)
{
	int r;

	if (subject->half > ATW_HALF_KERNEL)
		return atw_err_set(err, ATW_E_USAGE, "half: there is no %" PRIu32,
				   subject->half);
	if (subject->comm && subject->pid)
		return atw_err_set(err, ATW_E_USAGE, "both comm and pid are given");
	if (!subject->comm && !subject->pid) {
		r = atw_target_need(t, ATW_CAP_TABLES, err);
		if (r == ATW_OK)
			subject_default(t->t, ret);
		return r;
	}
	r = atw_target_need(t, ATW_CAP_PROCESSES, err);
	if (r < 0)
		return r;
	return subject->comm
		       ? space_by_name(t, subject, ret, err)
		       : subject_by_pid(t->t, subject->pid, subject->half, ret, err);
}

int atw_space_open(struct atw_target *target, const struct atw_subject *subject,
		   struct atw_space **ret, struct atw_err *err)
{
	struct atw_subject w;
	struct atw_space *s;
	int r = api_opts(&w, sizeof(w), subject, err) ?:
		api_both(target, "the target", ret, err) ?:
		API_NEW(&s, err);

	if (r != ATW_OK)
		return r;
	s->target = target;
	r = space_find(target, &w, &s->subject, err);
	if (r < 0) {
		free(s);
		return r;
	}
	s->info = (struct atw_space_info){
		.comm = s->subject.task,
		.label = s->subject.label,
		.root = s->subject.space.low.have ? s->subject.space.low.pa
						  : s->subject.space.high.pa,
		.mm = ATW_VA(s->subject.mm),
		.pid = (uint32_t)s->subject.pid,
	};
	*ret = s;
	return ATW_OK;
}

void atw_space_close(struct atw_space *space)
{
	if (!space)
		return;
	mmu_lookup_close(space->lookup);
	page_cursor_close(space->pages);
	provider_close(space->prov);
	free(space);
}

const struct atw_space_info *atw_space_get_info(const struct atw_space *space)
{
	return space ? &space->info : NULL;
}

int api_provider_open(struct atw_space *space, bool frames, struct api_lost *lost,
		      struct provider **ret, size_t *task, struct atw_err *err)
{
	struct atw_target *t = space->target;
	const struct target_query q = {
		.pid = (uint32_t)space->subject.pid,
		.mm = space->subject.mm,
		.alone = true,
		.frames = frames,
		.flags = frames,
		.counts = frames,
		.cgroups = frames,
		.pace = t->paced ? &t->pace : NULL,
	};

	if (!space->subject.pid)
		return atw_err_set(err, ATW_E_USAGE,
				   "the address space is of no process: there are no "
				   "VMAs in it");
	return target_process(t->t, &q, api_lost_cannot, lost, ret, task, err);
}

/* ---- one address ---- */

static int space_translate_by_tables(struct atw_space *s, atw_va va, struct atw_err *err)
{
	const struct mmu_space *sp = &s->subject.space;
	struct atw_translation *t = &s->translation;
	struct mmu_seen seen;
	enum atw_state state;
	atw_pa pa;
	int r = mmu_translate(sp, va, &seen, err);

	if (r < 0)
		return r;
	state = api_entry_state(s->target->t, sp, &seen, &pa);
	*t = (struct atw_translation){
		.va = va,
		.page_size = seen.size,
		.state = state,
		.perms = state == ATW_STATE_PRESENT ? seen.rights : 0,
		.level = seen.level,
		.nsteps = api_path_set(&s->path, &seen),
		.step = s->path.ref,
	};
	/* Of what could not be read, it is the table that is lost. */
	if (pa.u && !seen.loss)
		t->pa = ATW_PA(pa.u + (va.u - seen.va.u));
	return ATW_OK;
}

static void space_translate_run(struct atw_space *s, atw_va va,
				const struct page_run *run)
{
	struct atw_translation *t = &s->translation;
	uint64_t i = (va.u - run->va) / run->slot;

	*t = (struct atw_translation){
		.va = va,
		.page_size = run->slot,
		.state = run->have & RUN_STATE_HIDDEN ? ATW_STATE_HIDDEN
						      : api_page_state(run->state),
		.perms = run->have & RUN_RIGHTS ? run->rights : 0,
	};
	if (run->pa && i < run->count && run->pa[i])
		t->pa = ATW_PA(run->pa[i] + (va.u - run->va - i * run->slot));
}

static int space_translate_refuse_kernel(struct atw_space *s, atw_va va,
					 struct atw_err *err)
{
	int r = target_need_kernel(s->target->t, err);

	if (r < 0)
		atw_err_wrap(err, "0x%" PRIx64, va.u);
	return r;
}

static int space_translate_by_pages(struct atw_space *s, atw_va va, struct atw_err *err)
{
	struct page_query q = {.vmas = NULL};
	const struct page_run *run;
	uint64_t page;
	int r = ATW_OK;

	if (!s->prov)
		r = api_provider_open(s, false, &s->lost, &s->prov, &s->task, err);
	if (r < 0)
		return r;
	page = (uint64_t)1 << s->prov->page_shift;
	if (va.u > s->prov->user_last)
		return space_translate_refuse_kernel(s, va, err);
	s->translation = (struct atw_translation){.va = va, .page_size = page};
	q.task = s->task;
	q.first = va.u & -page;
	q.last = va.u | (page - 1);
	r = page_cursor_open(s->prov, &q, &s->pages, err);
	while (r == ATW_OK) {
		r = page_cursor_next(s->pages, &run, err);
		if (r == ATW_OK && va.u >= run->va && va.u - run->va < run->size) {
			space_translate_run(s, va, run);
			break;
		}
	}
	if (r < 0)
		return r;
	/* [vsyscall] is a page of processes up there; of others nothing is known. */
	if (va.u >> 63 && s->translation.state == ATW_STATE_ABSENT)
		return space_translate_refuse_kernel(s, va, err);
	return ATW_OK;
}

int atw_translate(struct atw_space *space, atw_va va, const struct atw_translation **ret,
		  struct atw_err *err)
{
	int r = api_both(space, "the address space", ret, err);

	if (r < 0)
		return r;
	r = target_has(space->target->t, TARGET_TABLES)
		    ? space_translate_by_tables(space, va, err)
		    : space_translate_by_pages(space, va, err);
	if (r == ATW_OK)
		*ret = &space->translation;
	return r;
}

/* ---- many ---- */

/* In blocks that stay in the CPU's cache. */
enum { SPACE_BLOCK = 256 };

/* Returns how many were translated: all of them, unless *r is the error of the next one. */
static size_t space_block_by_tables(struct atw_space *s, const atw_va *va, size_t n,
				    atw_pa *pa, uint8_t *state, int *r, struct atw_err *err)
{
	struct mmu_brief brief[SPACE_BLOCK];
	struct mmu_place place;
	atw_pa to[SPACE_BLOCK];

	mmu_lookup_many(s->lookup, va, n, to, brief);
	for (size_t i = 0; i < n; i++) {
		enum atw_state is = ATW_STATE_BAD;

		if (brief[i].status == ATW_OK) {
			is = api_kind_state(brief[i].kind, brief[i].loss);
		} else if (brief[i].status != ATW_E_USAGE) {
			*r = mmu_lookup(s->lookup, va[i], &place, err);
			return i;
		}
		state[i] = (uint8_t)is;
		pa[i] = to[i];
	}
	return n;
}

static int space_many_by_tables(struct atw_space *s, const atw_va *va, size_t n, atw_pa *pa,
				uint8_t *state, struct atw_err *err)
{
	int r = ATW_OK;

	if (!s->lookup)
		r = mmu_lookup_open(&s->subject.space, &s->lookup, err);
	for (size_t i = 0; i < n && r == ATW_OK;)
		i += space_block_by_tables(s, va + i, n - i < SPACE_BLOCK ? n - i : SPACE_BLOCK,
					   pa + i, state + i, &r, err);
	return r;
}

static int space_many_by_pages(struct atw_space *s, atw_va va, atw_pa *pa,
			       enum atw_state *state, struct atw_err *err)
{
	int r = space_translate_by_pages(s, va, err);

	*state = ATW_STATE_HIDDEN;
	if (r == ATW_E_UNSUPPORTED)
		return ATW_OK;
	if (r < 0)
		return r;
	*state = s->translation.state;
	*pa = s->translation.pa;
	return ATW_OK;
}

int atw_translate_many(struct atw_space *space, const atw_va *va, size_t n, atw_pa *pa,
		       uint8_t *state, struct atw_err *err)
{
	int r = api_given(space, "the address space", err);

	if (n && (!va || !pa || !state))
		return atw_err_set(err, ATW_E_USAGE, "an array is NULL");
	if (r < 0)
		return r;
	if (target_has(space->target->t, TARGET_TABLES))
		return space_many_by_tables(space, va, n, pa, state, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		enum atw_state is = ATW_STATE_ABSENT;
		atw_pa to = ATW_PA(0);

		r = space_many_by_pages(space, va[i], &to, &is, err);
		state[i] = (uint8_t)is;
		pa[i] = is == ATW_STATE_PRESENT ? to : ATW_PA(0);
	}
	return r;
}

void atw_perms_letters(uint32_t perms, char ret[5])
{
	if (ret)
		atw_rights_letters(perms, ret);
}
