/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nested.h"

#include "base/bytes.h"
#include "paging/entry.h"

/* ---- the host ---- */

static int nested_read_stage2(struct nested *n, uint32_t pid, struct atw_err *err)
{
	struct atw_kernel *k = n->host.target->kernel;
	struct lnx_task t;
	uint64_t machine = 0;
	int r = guest_process(k, pid, &t, err) ?:
		kvm_machine(k, &t, &machine, err) ?:
		kvm_slots(k, &t, &n->slot, &n->nslots, err);

	return r < 0 ? r : kvm_stage2(k, machine, n->slot, n->nslots, &n->tables, err);
}

/* Guests of an emulator have none, and no kernel is needed to know the rest of the rows. */
static void nested_find_stage2(const struct common *c, struct nested *n, uint32_t pid)
{
	struct atw_err err = { 0 };
	int r = n->host.target->kernel ? nested_read_stage2(n, pid, &err) : ATW_E_NONE;

	n->stage2 = r == ATW_OK;
	if (r < 0 && r != ATW_E_NONE)
		print_warning(c, "%s: stage 2 of the guest cannot be read: %s", n->host.name, err.text);
}

int nested_open(const struct common *c, struct session *guest, struct nested *ret)
{
	struct space_opts space = { .task = NULL };
	struct atw_blob name;
	uint64_t hva;
	uint32_t pid;
	int status;

	*ret = (struct nested){ .guest = guest->target->source, .host_name = "live",
				.of_host = *c };
	if (!target_has(guest->target, TARGET_MEMORY) ||
	    atw_source_outside(ret->guest, ATW_PA(0), &pid, &hva) == ATW_E_UNSUPPORTED)
		return usage_error("walk",
				   "--nested: '%.64s' is not a guest (qemu:PID, kvm:PID, kvm:PID@SOURCE)",
				   guest->name);
	if (atw_fact(ret->guest, "host", &name) == ATW_OK)
		blob_text(name, ret->host_name, sizeof(ret->host_name));
	space.pid = (struct opt_number){ .given = true, .u = pid };
	/* A layout is the guest's. Parts are the host's, because a process has none. */
	ret->of_host.layout = NULL;
	status = open_session(&ret->of_host, ret->host_name, &space, TARGET_TABLES, &ret->host);
	if (status)
		return status;
	listing_init(&ret->list, "host", &ret->host, 0);
	nested_find_stage2(c, ret, pid);
	return EXIT_COMPLETE;
}

void nested_close(struct nested *n)
{
	if (n->host.target)
		listing_deinit(&n->list);
	session_close(&n->host);
	free(n->slot);
}

/* ---- rows ---- */

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

static const struct vmm_slot *nested_slot(const struct nested *n, uint64_t gpa)
{
	for (size_t i = 0; i < n->nslots; i++)
		if (gpa >= n->slot[i].gpa && gpa - n->slot[i].gpa < n->slot[i].len)
			return &n->slot[i];
	return NULL;
}

/* KVM marks absent entries for itself, but none of them stands for a page. */
static enum state nested_state_of(const struct mmu_seen *s)
{
	return s->loss == ATW_LOST_EXCLUDED   ? STATE_EXCLUDED
	       : s->loss == ATW_LOST_UNSTABLE ? STATE_UNSTABLE
	       : s->loss		      ? STATE_LOST
	       : s->kind == ATW_LEAF	      ? STATE_PRESENT
	       : s->kind == ATW_BAD	      ? STATE_BAD
					      : STATE_ABSENT;
}

/* Of the guest's rights those of its kernel, where the two differ: stage 1 decides the rest. */
static unsigned nested_rights(unsigned rights)
{
	return rights & (ATW_KR | ATW_KW | ATW_KX) ?: rights >> 3;
}

static uint64_t nested_differs(const struct nested *n, const struct row *r, uint64_t gpa)
{
	const struct vmm_slot *slot = nested_slot(n, gpa);
	bool host = r->v[C_HOST_STATE].u == STATE_PRESENT;
	bool stage2 = r->v[C_S2_STATE].u == STATE_PRESENT;
	uint64_t there = r->v[C_HOST_PAGE].u, here = r->v[C_S2_PAGE].u, set = 0;

	set |= (uint64_t)(host && r->v[C_S2_STATE].u == STATE_ABSENT) << DIFFERS_UNMAPPED;
	set |= (uint64_t)(stage2 && r->v[C_HOST_STATE].u == STATE_ABSENT) << DIFFERS_EXTRA;
	set |= (uint64_t)(slot && slot->read_only) << DIFFERS_ROM;
	if (stage2 && slot && !slot->read_only && !(r->v[C_S2_RIGHTS].u & ATW_KW))
		set |= 1 << DIFFERS_PROTECTED;
	if (!host || !stage2)
		return set;
	set |= (uint64_t)(here < there) << DIFFERS_SMALLER;
	set |= (uint64_t)(here > there) << DIFFERS_LARGER;
	set |= (uint64_t)(r->v[C_HPA].u != r->v[C_S2_HPA].u) << DIFFERS_MOVED;
	return set;
}

static void nested_fill_stage2(struct row *r, const struct mmu_space *sp,
			       const struct mmu_seen *s, uint64_t gpa)
{
	row_set(r, C_S2_STATE, nested_state_of(s));
	if (s->loss || s->kind != ATW_LEAF)
		return;
	row_set(r, C_S2_HPA, s->pa.u + (gpa - s->va.u));
	row_set(r, C_S2_PAGE,
		(uint64_t)1 << atw_entry_span(&sp->paging, s->level, s->path[s->depth - 1].word));
	row_set(r, C_S2_RIGHTS, nested_rights(s->rights));
}

/* The one piece of a walk; false: there is none. */
static int nested_walk(const struct mmu_space *sp, uint64_t address, bool *any,
		       struct mmu_seen *ret, struct atw_err *err)
{
	struct mmu_walk_opts o = { .want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT),
				   .flags = MMU_WALK_EACH };
	const struct mmu_seen *s;
	struct mmu_walk *walk;
	int r;

	*any = false;
	o.first = o.last = ATW_VA(address);
	r = mmu_walk_open(sp, &o, &walk, err);
	if (r < 0)
		return r;
	r = mmu_walk_next(walk, &s, err);
	*any = r == ATW_OK;
	if (*any)
		*ret = *s;
	mmu_walk_close(walk);
	return r < 0 && r != ATW_E_LIMIT ? r : ATW_OK;
}

static int nested_add_stage2(struct nested *n, struct row *r, uint64_t gpa, struct atw_err *err)
{
	struct mmu_seen s;
	bool any = false;
	int rc = ATW_OK;

	if (!n->stage2 || n->tables.kind == KVM_STAGE2_SHADOW)
		return ATW_OK;
	if (n->tables.kind == KVM_STAGE2_TABLES) {
		rc = nested_walk(&n->tables.space, gpa, &any, &s, err);
		if (rc < 0 || !any)
			return rc;
		nested_fill_stage2(r, &n->tables.space, &s, gpa);
		n->lost += s.loss != ATW_HAVE;
	} else {
		row_set(r, C_S2_STATE, STATE_ABSENT);
	}
	row_set(r, C_S2_DIFFERS, nested_differs(n, r, gpa));
	return ATW_OK;
}

int nested_fill(struct nested *n, struct row *r, struct atw_err *err)
{
	struct mmu_seen s;
	uint64_t hva;
	uint32_t pid;
	bool any;
	int rc;

	/* Of many pages each may lie elsewhere. */
	if (!(r->have & COL(C_PHYSICAL)) || (r->have & COL(C_PAGES) && r->v[C_PAGES].u > 1) ||
	    atw_source_outside(n->guest, ATW_PA(r->v[C_PHYSICAL].u), &pid, &hva) != ATW_OK)
		return ATW_OK;
	row_set(r, C_HVA, hva);
	rc = nested_walk(n->list.space, hva, &any, &s, err);
	if (rc < 0 || !any)
		return rc;
	nested_fill_piece(n, r, &s, hva);
	return nested_add_stage2(n, r, r->v[C_PHYSICAL].u, err);
}

void nested_note(const struct nested *n, struct atw_output *out)
{
	if (!n->stage2)
		return;
	if (n->tables.kind == KVM_STAGE2_SHADOW)
		atw_output_note(out, "KVM shadows the guest's page tables, so there are none of stage 2");
	else if (n->tables.kind == KVM_STAGE2_NONE)
		atw_output_note(out, "no CPU of the guest has tables of stage 2: it has not run");
	else if (n->tables.kind == KVM_STAGE2_EMPTY)
		atw_output_note(out, "stage 2 of the guest maps nothing");
	else
		atw_output_note(out, "stage 2 is %s, its root is at 0x%" PRIx64,
				n->tables.space.paging.name, n->tables.space.low.pa.u);
}
