/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk.c - walks of the public API. */
#include "api/api.h"

/* ---- walks ---- */

static const uint32_t WALK_FLAGS =
	ATW_WALK_EACH | ATW_WALK_TABLES | ATW_WALK_NONPRESENT | ATW_WALK_FOLD;

struct atw_walk {
	struct atw_space *space;
	struct mmu_walk *walk;
	struct api_path path;
	struct atw_walk_entry row;
};

static struct mmu_walk_opts walk_opts(const struct atw_walk_opts *o)
{
	return (struct mmu_walk_opts){
		.first = o->first,
		.last = o->last.u ? o->last : ATW_VA(UINT64_MAX),
		.want = o->flags & ATW_WALK_TABLES ? ATW_K_ANY : 0,
		.flags = (o->flags & ATW_WALK_EACH ? MMU_WALK_EACH : 0) |
			 (o->flags & ATW_WALK_FOLD ? MMU_WALK_FOLD : 0) |
			 (o->flags & ATW_WALK_NONPRESENT ? MMU_WALK_SOFT : 0),
		.depth = o->depth,
		.budget = o->budget,
	};
}

int atw_walk_open(struct atw_space *space, const struct atw_walk_opts *opts,
		  struct atw_walk **ret, struct atw_err *err)
{
	struct atw_walk_opts o;
	struct mmu_walk_opts mo;
	struct atw_walk *w;
	int r = api_both(space, "the address space", ret, err) ?:
		atw_target_need(space->target, ATW_CAP_TABLES, err) ?:
		api_opts(&o, sizeof(o), opts, err);

	if (r == ATW_OK && o.flags & ~WALK_FLAGS)
		r = atw_err_set(err, ATW_E_USAGE, "options: flags 0x%x are not known",
				o.flags & ~WALK_FLAGS);
	if (r == ATW_OK)
		r = API_NEW(&w, err);
	if (r != ATW_OK)
		return r;
	mo = walk_opts(&o);
	w->space = space;
	r = mmu_walk_open(&space->subject.space, &mo, &w->walk, err);
	if (r < 0)
		free(w);
	else
		*ret = w;
	return r;
}

int atw_walk_next(struct atw_walk *walk, const struct atw_walk_entry **ret,
		  struct atw_err *err)
{
	const struct mmu_step *last;
	const struct mmu_seen *s;
	struct atw_walk_entry *e;
	int r = api_both(walk, "the walk", ret, err);

	if (r == ATW_OK)
		r = mmu_walk_next(walk->walk, &s, err);
	if (r != ATW_OK)
		return r;
	e = &walk->row;
	*e = (struct atw_walk_entry){
		.va = s->va,
		.bytes = s->size,
		.page_size = s->count ? s->size / s->count : s->size,
		.repeat_of = s->repeat_of,
		.count = s->count,
		.level = s->level,
		.nsteps = api_path_set(&walk->path, s),
		.step = walk->path.ref,
	};
	e->state = api_entry_state(walk->space->target->t, &walk->space->subject.space, s,
				   &e->pa);
	e->perms = e->state == ATW_STATE_PRESENT || e->state == ATW_STATE_TABLE
			   ? s->rights
			   : 0;
	if (s->depth) {
		last = &s->path[s->depth - 1];
		e->word = last->word;
		e->at = last->at;
	}
	*ret = e;
	return ATW_OK;
}

void atw_walk_prune(struct atw_walk *walk)
{
	if (walk)
		mmu_walk_prune(walk->walk);
}

void atw_walk_close(struct atw_walk *walk)
{
	if (!walk)
		return;
	mmu_walk_close(walk->walk);
	free(walk);
}

/* ---- entries in the words of the public API ---- */

_Static_assert((int)ATW_STATE_BAD == (int)PAGE_BAD &&
		       (int)ATW_STATE_LOST == (int)PAGE_LOST &&
		       (int)ATW_STATE_SWAP == (int)PAGE_SWAP,
	       "states of pages have the numbers of the public API");
_Static_assert((int)ATW_PERM_KX == (int)ATW_KX && (int)ATW_PERM_UX == (int)ATW_UX,
	       "permissions too");

enum atw_state api_page_state(uint8_t state)
{
	return state <= PAGE_BAD ? (enum atw_state)state : ATW_STATE_HIDDEN;
}

static enum atw_state api_loss_state(enum mmu_loss loss)
{
	return loss == ATW_LOST_EXCLUDED ? ATW_STATE_EXCLUDED :
	       loss == ATW_LOST_DAMAGED ? ATW_STATE_DAMAGED :
	       loss == ATW_LOST_UNSTABLE ? ATW_STATE_UNSTABLE : ATW_STATE_LOST;
}

enum atw_state api_kind_state(enum atw_kind kind, enum mmu_loss loss)
{
	return loss ? api_loss_state(loss) :
	       kind == ATW_TABLE ? ATW_STATE_TABLE :
	       kind == ATW_LEAF ? ATW_STATE_PRESENT :
	       kind == ATW_BAD ? ATW_STATE_BAD : ATW_STATE_ABSENT;
}

enum atw_state api_entry_state(struct target *t, const struct mmu_space *sp,
			       const struct mmu_seen *s, atw_pa *pa)
{
	uint64_t word = s->depth ? s->path[s->depth - 1].word : 0;
	struct atw_soft_word soft;

	*pa = s->loss || s->kind == ATW_LEAF || s->kind == ATW_TABLE ? s->pa : ATW_PA(0);
	if (s->loss || s->kind != ATW_ABSENT || !word || s->repeat_of)
		return api_kind_state(s->kind, s->loss);
	soft = atw_soft_decode_at(target_soft(t), &sp->paging, s->va, s->level, word);
	*pa = soft.pa;
	return api_page_state(provider_soft_state(soft.what));
}

uint32_t api_path_set(struct api_path *p, const struct mmu_seen *s)
{
	for (unsigned i = 0; i < s->depth; i++) {
		p->step[i] = (struct atw_step){
			.at = s->path[i].at,
			.word = s->path[i].word,
			.level = s->path[i].level,
			.index = s->path[i].index,
			.state = api_kind_state(s->path[i].kind, 0),
			.perms = s->path[i].rights,
		};
		p->ref[i] = &p->step[i];
	}
	return s->depth;
}
