/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path.c - entries of page tables in the words of the public API. */
#include "api/api.h"
#include "target/provider.h"

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

enum atw_state api_loss_state(enum mmu_loss loss)
{
	switch (loss) {
	case ATW_LOST_EXCLUDED:
		return ATW_STATE_EXCLUDED;
	case ATW_LOST_DAMAGED:
		return ATW_STATE_DAMAGED;
	case ATW_LOST_UNSTABLE:
		return ATW_STATE_UNSTABLE;
	default:
		return ATW_STATE_LOST;
	}
}

enum atw_state api_entry_state(struct target *t, const struct mmu_space *sp,
			       const struct mmu_seen *s, atw_pa *pa)
{
	uint64_t word = s->depth ? s->path[s->depth - 1].word : 0;
	struct atw_soft_word soft;

	*pa = s->pa;
	if (s->loss)
		return api_loss_state(s->loss);
	if (s->kind == ATW_LEAF)
		return ATW_STATE_PRESENT;
	if (s->kind == ATW_TABLE)
		return ATW_STATE_TABLE;
	*pa = ATW_PA(0);
	if (s->kind == ATW_BAD)
		return ATW_STATE_BAD;
	if (!word || s->repeat_of)
		return ATW_STATE_ABSENT;
	soft = atw_soft_decode_at(target_soft(t), &sp->paging, s->va, s->level, word);
	*pa = soft.pa;
	return api_page_state(provider_soft_state(soft.what));
}

/* What lies on the way are tables; the last one is what the piece is. */
static enum atw_state path_state(const struct mmu_seen *s, unsigned i)
{
	switch (s->path[i].kind) {
	case ATW_TABLE:
		return ATW_STATE_TABLE;
	case ATW_LEAF:
		return ATW_STATE_PRESENT;
	case ATW_BAD:
		return ATW_STATE_BAD;
	default:
		return ATW_STATE_ABSENT;
	}
}

uint32_t api_path_set(struct api_path *p, const struct mmu_seen *s)
{
	for (unsigned i = 0; i < s->depth; i++) {
		p->step[i] = (struct atw_step){
			.at = s->path[i].at,
			.word = s->path[i].word,
			.level = s->path[i].level,
			.index = s->path[i].index,
			.state = path_state(s, i),
			.perms = s->path[i].rights,
		};
		p->ref[i] = &p->step[i];
	}
	return s->depth;
}
