/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nested.h"

#include "paging/entry.h"

int nested_open(const struct common *c, struct session *guest, struct nested *ret)
{
	struct space_opts space = { .task = NULL };
	uint64_t hva;
	uint32_t pid;
	int status;

	*ret = (struct nested){ .guest = guest->target->source };
	if (!target_has(guest->target, TARGET_MEMORY) ||
	    atw_source_outside(ret->guest, ATW_PA(0), &pid, &hva) == ATW_E_UNSUPPORTED)
		return usage_error("walk", "--nested: '%.64s' is not a running guest (qemu:PID, kvm:PID)",
				   guest->name);
	space.pid = (struct opt_number){ .given = true, .u = pid };
	status = open_session(c, "live", &space, TARGET_TABLES, &ret->host);
	if (!status)
		listing_init(&ret->list, "host", &ret->host, 0);
	return status;
}

void nested_close(struct nested *n)
{
	if (n->host.target)
		listing_deinit(&n->list);
	session_close(&n->host);
}

static void nested_fill_piece(struct nested *n, struct row *r, const struct mmu_seen *s,
			      uint64_t hva)
{
	const struct mmu_step *last = s->depth ? &s->path[s->depth - 1] : NULL;
	struct row there = { .have = 0 };
	enum state st = row_state(&n->list, &there, s->level, s->kind, s->loss,
				  last ? last->word : 0, hva - s->va.u);

	row_set(r, C_HOST_STATE, st);
	n->lost += s->loss != ATW_HAVE;
	if (st != STATE_PRESENT || !last)
		return;
	row_set(r, C_HPA, s->pa.u + (hva - s->va.u));
	row_set(r, C_HOST_PAGE, (uint64_t)1 << atw_entry_span(&n->list.space->paging, s->level,
							       last->word));
}

int nested_fill(struct nested *n, struct row *r, struct atw_err *err)
{
	struct mmu_walk_opts o = { .want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT),
				   .flags = MMU_WALK_EACH };
	const struct mmu_seen *s;
	struct mmu_walk *walk;
	uint64_t hva;
	uint32_t pid;
	int rc;

	/* Of many pages each may lie elsewhere. */
	if (!(r->have & COL(C_PHYSICAL)) || (r->have & COL(C_PAGES) && r->v[C_PAGES].u > 1) ||
	    atw_source_outside(n->guest, ATW_PA(r->v[C_PHYSICAL].u), &pid, &hva) != ATW_OK)
		return ATW_OK;
	row_set(r, C_HVA, hva);
	o.first = o.last = ATW_VA(hva);
	rc = mmu_walk_open(n->list.space, &o, &walk, err);
	if (rc < 0)
		return rc;
	rc = mmu_walk_next(walk, &s, err);
	if (rc == ATW_OK)
		nested_fill_piece(n, r, s, hva);
	mmu_walk_close(walk);
	return rc < 0 && rc != ATW_E_LIMIT ? rc : ATW_OK;
}
