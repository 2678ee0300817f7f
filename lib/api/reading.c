/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reading.c - memory by physical and by virtual address, and why there is none. */
#include "api/api.h"

#include "base/cleanup.h"
#include "base/message.h"

static int reading_end(uint64_t first, uint64_t got, struct atw_err *err)
{
	if (first + got >= first)
		return ATW_OK;
	return atw_err_set(err, ATW_E_USAGE, "addresses end at 0x%" PRIx64, UINT64_MAX);
}

/* ---- by physical address ---- */

/* Why there are no bytes at `pa` in a source that reports no error. */
static int reading_explain_hole(struct atw_target *t, atw_pa pa, struct atw_err *err)
{
	struct atw_extent e;
	int r = atw_extent_at(t->t->source, pa, &e);

	if (r == ATW_OK && e.start.u <= pa.u && e.kind == ATW_EXCLUDED)
		return atw_err_set(err, ATW_E_MISSING,
				   "physical address 0x%" PRIx64 " was excluded from the dump", pa.u);
	if (r == ATW_END)
		return atw_err_set(err, ATW_E_MISSING,
				   "physical address 0x%" PRIx64 " is above all memory of the source",
				   pa.u);
	return atw_err_set(err, ATW_E_MISSING, "physical address 0x%" PRIx64 " is not in the source",
			   pa.u);
}

ssize_t atw_target_read(struct atw_target *target, atw_pa pa, void *buf, size_t len,
			struct atw_err *err)
{
	int r = atw_target_need(target, ATW_CAP_MEMORY, err);
	ssize_t got;

	if (r < 0)
		return r;
	got = atw_read(target->t->source, pa, buf, len, err);
	if (got < 0 || (size_t)got == len)
		return got;
	r = reading_end(pa.u, (uint64_t)got, err) ?:
	    reading_explain_hole(target, ATW_PA(pa.u + (uint64_t)got), err);
	return got ? got : r;
}

/* ---- by virtual address ---- */

static int reading_explain_entry(enum atw_state state, atw_va va, struct atw_err *err)
{
	/* Words of a sentence about an address. */
	static const struct {
		int status;
		const char *why;
	} reasons[] = {
		[ATW_STATE_ABSENT] = { ATW_E_NONE, N_("not mapped") },
		[ATW_STATE_PROTNONE] = { ATW_E_NONE, N_("its page may not be accessed") },
		[ATW_STATE_SWAP] = { ATW_E_NONE, N_("its page is on swap") },
		[ATW_STATE_MIGRATION] = { ATW_E_NONE, N_("its page is being moved") },
		[ATW_STATE_POISON] = { ATW_E_NONE, N_("its page has hardware poison") },
		[ATW_STATE_DEVICE] = { ATW_E_NONE, N_("its page is in the memory of a device") },
		[ATW_STATE_MARKER] = { ATW_E_NONE, N_("not mapped: its entry is a marker") },
		[ATW_STATE_GUARD] = { ATW_E_NONE, N_("not mapped: it is in a guard region") },
		[ATW_STATE_LOST] = { ATW_E_MISSING, N_("its page table is not in the source") },
		[ATW_STATE_EXCLUDED] = { ATW_E_MISSING, N_("its page table was excluded from the dump") },
		[ATW_STATE_DAMAGED] = { ATW_E_DAMAGED, N_("its page table cannot be read") },
		[ATW_STATE_UNSTABLE] = { ATW_E_MISSING, N_("its page table changed each time it was read") },
		[ATW_STATE_BAD] = { ATW_E_NONE, N_("reserved bits of its entry are set") },
	};

	if (state >= ARRAY_SIZE(reasons) || !reasons[state].why)
		state = ATW_STATE_ABSENT;
	return atw_err_set(err, reasons[state].status, "virtual address 0x%" PRIx64 ": %s", va.u,
			   message(reasons[state].why));
}

/* Why there are no bytes at `va`: it is mapped to no memory, or to some that is not there. */
static int reading_explain(struct atw_space *s, atw_va va, struct atw_err *err)
{
	const struct mmu_space *sp = &s->subject.space;
	struct mmu_seen seen;
	enum atw_state state;
	ssize_t got;
	char byte;
	atw_pa pa;
	int r = mmu_translate(sp, va, &seen, err);

	if (r < 0)
		return r;
	state = api_entry_state(s->target->t, sp, &seen, &pa);
	if (state == ATW_STATE_DAMAGED && err->status)
		return atw_err_wrap(err, "virtual address 0x%" PRIx64, va.u);
	if (state != ATW_STATE_PRESENT)
		return reading_explain_entry(state, va, err);
	pa.u += va.u - seen.va.u;
	got = atw_read(sp->mem, pa, &byte, 1, err);
	if (got > 0)
		return reading_explain_entry(ATW_STATE_UNSTABLE, va, err);
	if (!got)
		reading_explain_hole(s->target, pa, err);
	return atw_err_wrap(err, "virtual address 0x%" PRIx64, va.u);
}

ssize_t atw_space_read(struct atw_space *space, atw_va va, void *buf, size_t len,
		       struct atw_err *err)
{
	int r = api_given(space, "the address space", err) ?:
		atw_target_need(space->target, ATW_CAP_TABLES | ATW_CAP_MEMORY, err);
	struct atw_err why = { 0 };
	ssize_t got;

	if (r < 0)
		return r;
	got = mmu_space_read(&space->subject.space, va, buf, len, err);
	if (got < 0 || (size_t)got == len)
		return got;
	r = reading_end(va.u, (uint64_t)got, &why) ?:
	    reading_explain(space, ATW_VA(va.u + (uint64_t)got), &why);
	atw_err_give(err, r, &why);
	return got ? got : r;
}
