/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path.c - entries of page tables in the words of the public API. */
#include "api/api.h"

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
