/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.c - the words that rows of every listing are made of. */
#include "atwalk.h"

static const char *const states[] = {
	[STATE_PRESENT] = "present", [STATE_TABLE] = "table",
	[STATE_ABSENT] = "absent", [STATE_PROTNONE] = "protnone",
	[STATE_SWAP] = "swap", [STATE_MIGRATION] = "migration",
	[STATE_POISON] = "poison", [STATE_DEVICE] = "device",
	[STATE_MARKER] = "marker", [STATE_GUARD] = "guard",
	[STATE_LOST] = "lost", [STATE_EXCLUDED] = "excluded",
	[STATE_BAD] = "bad", [STATE_REPEAT] = "repeat",
};
const struct atw_names state_names = {
	sizeof(states) / sizeof(states[0]), states, NULL,
};

static const char *const rights[] = {
	"readable", "writable", "executable", "user",
};
const struct atw_names rights_names = { 4, rights, "rwxu" };

enum state state_of(unsigned kind, unsigned loss,
		    const struct atw_soft_word *soft)
{
	static const enum state of_soft[] = {
		[ATW_SOFT_NONE] = STATE_ABSENT, [ATW_SOFT_PROTNONE] = STATE_PROTNONE,
		[ATW_SOFT_SWAP] = STATE_SWAP, [ATW_SOFT_MIGRATION] = STATE_MIGRATION,
		[ATW_SOFT_POISON] = STATE_POISON, [ATW_SOFT_DEVICE] = STATE_DEVICE,
		[ATW_SOFT_MARKER] = STATE_MARKER, [ATW_SOFT_GUARD] = STATE_GUARD,
		[ATW_SOFT_UNKNOWN] = STATE_ABSENT,
	};

	if (loss)
		return loss == ATW_LOST_EXCLUDED ? STATE_EXCLUDED : STATE_LOST;
	switch (kind) {
	case ATW_LEAF:
		return STATE_PRESENT;
	case ATW_TABLE:
		return STATE_TABLE;
	case ATW_BAD:
		return STATE_BAD;
	default:
		return soft ? of_soft[soft->what] : STATE_ABSENT;
	}
}

uint64_t rights_bits(unsigned r)
{
	bool user = r & (ATW_UR | ATW_UW | ATW_UX);

	return user ? (r >> 3 & 7) | 8 : r & 7;
}

void flag_names_init(struct flag_names *f, const struct atw_paging *pg)
{
	f->names = (struct atw_names){ 0, f->name, NULL };
	for (const struct atw_flag *p = pg->flags; p->letter && f->names.n < 64; p++)
		f->name[f->names.n++] = p->name;
}

const struct atw_names *level_names(const struct atw_paging *pg,
				    const char *store[ATW_MAX_LEVELS],
				    struct atw_names *ret)
{
	for (unsigned l = 0; l < pg->nlevels; l++)
		store[l] = pg->level[l].name;
	*ret = (struct atw_names){ pg->nlevels, store, NULL };
	return ret;
}
