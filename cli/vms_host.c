/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vms_host.c - virtual machines of KVM in the memory of a host: processes with one among their
 * files, the memory slots of these machines, and the memory of the processes by page tables.
 */
#include "vms.h"
#include "linux/kernel.h"
#include "linux/soft.h"
#include "linux/task_info.h"
#include "ps.h"
#include "base/message.h"

enum { VMS_CMDLINE_MAX = 4 << 20 };

/* ---- the process ---- */

/* Its command line is in its own memory. */
static int vms_host_cmdline(struct vms *x, const struct lnx_task *t, const struct mmu_space *sp,
			    struct buf *ret, struct atw_err *err)
{
	struct members v;
	uint64_t start = 0, end = 0;
	ssize_t got;
	int r = kernel_access_types(x->host.target->kernel, FOR_ABOUT, &v, err) ?:
		member_get(&v, t->mm, N_mm_arg_start, &start, err) ?:
		member_get(&v, t->mm, N_mm_arg_end, &end, err);

	if (r < 0)
		return r;
	if (end < start || end - start > VMS_CMDLINE_MAX)
		return atw_err_set(err, ATW_E_DAMAGED, "it begins at 0x%" PRIx64 " and ends at 0x%" PRIx64,
				   start, end);
	if (!array_reserve((void **)&ret->data, &ret->cap, end - start + 1, 1))
		return atw_err_nomem(err);
	got = mmu_space_read(sp, ATW_VA(start), ret->data, end - start, err);
	if (got < 0)
		return (int)got;
	ret->len = (size_t)got;
	return ret->len == end - start ? ATW_OK
		: atw_err_set(err, ATW_E_MISSING, "the source lacks the page at 0x%" PRIx64,
			      start + ret->len);
}

static void vms_host_identify(struct vms *x, const struct lnx_task *t, const struct mmu_space *sp,
			      struct vmm_process *p)
{
	_auto_free struct task_about *about = calloc(1, sizeof(*about));
	struct atw_err err = { 0 };
	struct buf cmdline = { 0 };
	char arch[96], program[ABOUT_NAME];
	int r;

	snprintf(arch, sizeof(arch), "qemu-system-%.72s", x->host.target->machine);
	snprintf(program, sizeof(program), "%s", t->name);
	if (about)
		about_task(x->host.target->kernel, t, NULL, about);
	if (about && about->has & CAPTURE_T_EXE)
		blob_text(about->t.exe, program, sizeof(program));
	r = vms_host_cmdline(x, t, sp, &cmdline, &err);
	vmm_process_set(p, program, vmm_arch_of(arch), (struct atw_blob){ cmdline.data, cmdline.len });
	if (r < 0 && (vms_wants(x->c, V_NAME) || vms_wants(x->c, V_RAM)))
		vms_missing(x, p, _("command line"), &err);
	buf_deinit(&cmdline);
}

/* ---- its memory ---- */

static void vms_host_swapped(struct vms *x, const struct mmu_space *sp, struct vmm_process *p)
{
	const struct mmu_walk_opts o = { .last = ATW_VA(INT64_MAX), .flags = MMU_WALK_SOFT };
	const struct atw_soft_abi *abi = target_soft(x->host.target);
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r;

	if (mmu_walk_open(sp, &o, &w, NULL) < 0)
		return;
	while ((r = mmu_walk_next(w, &s, NULL)) == ATW_OK)
		if (!s->loss && s->kind == ATW_ABSENT && s->depth &&
		    atw_soft_decode(abi, &sp->paging, s->level, s->path[s->depth - 1].word).what ==
			    ATW_SOFT_SWAP)
			p->swapped += s->size;
	mmu_walk_close(w);
	if (r == ATW_END)
		p->have |= VMM_HAS_SWAPPED;
}

/* What its page tables map is what ps lists. */
static void vms_host_measure(struct vms *x, const struct lnx_task *t, const struct mmu_space *sp,
			     struct vmm_process *p)
{
	_auto_free struct usage *u = calloc(1, sizeof(*u));
	struct ps_walker walker = { .target = x->host.target };

	if (!u)
		return;
	u->mm = t->mm;
	if (ps_walk_space(&walker, u, sp, &p->why_cost) == ATW_OK && u->lost)
		atw_err_set(&p->why_cost, ATW_E_MISSING, "%" PRIu64 " of its page tables cannot be read",
			    u->lost);
	if (p->why_cost.status == ATW_OK) {
		for (unsigned i = 0; i < ARRAY_SIZE(u->bytes); i++) {
			p->resident += u->bytes[i] + u->hugetlb[i];
			p->large += u->hugetlb[i] + (i > sp->paging.page_shift ? u->bytes[i] : 0);
		}
		p->have |= VMM_HAS_RESIDENT | VMM_HAS_LARGE;
		vms_host_swapped(x, sp, p);
	}
	atw_memmap_close(walker.memmap);
}

/* Its RAM by memory slots, where no command line has it, and stage 2. */
void vms_read_kvm(struct vms *x, const struct lnx_task *t, struct vms_machine *m)
{
	struct atw_kernel *k = x->host.target->kernel;
	struct vmm_slot *slot = NULL;
	struct atw_err why = { 0 };
	uint64_t machine;
	size_t n = 0;
	int r = kvm_machine(k, t, &machine, &why) ?: kvm_slots(k, t, &slot, &n, &why);

	/* Not of KVM. */
	if (r == ATW_E_NONE)
		return;
	if (!(m->p.have & VMM_HAS_RAM)) {
		m->p.why_ram = why;
		for (size_t i = 0; i < n; i++)
			m->p.ram += slot[i].read_only ? 0 : slot[i].len;
		m->p.have |= r == ATW_OK ? VMM_HAS_RAM : 0;
	}
	if (r == ATW_OK && x->stage2)
		r = kvm_stage2(k, machine, slot, n, &m->stage2, &why);
	m->has_stage2 = r == ATW_OK && x->stage2;
	m->why_stage2 = why;
	free(slot);
}

/* ---- all of them ---- */

static int vms_host_put(struct vms *x, const struct lnx_task *t, struct atw_err *err)
{
	struct vms_machine m = { .p.pid = t->pid };
	struct atw_err why = { 0 };
	struct atw_mm mm;
	int r = atw_mm_of(x->host.target->kernel, t, &mm, &why);

	if (r == ATW_END)
		return ATW_OK;           /* it has ended meanwhile */
	if (r < 0) {
		snprintf(m.p.program, sizeof(m.p.program), "%s", t->name);
		vms_missing(x, &m.p, _("page tables"), &why);
		return ATW_OK;
	}
	vms_host_identify(x, t, &mm.space, &m.p);
	vms_host_measure(x, t, &mm.space, &m.p);
	vms_read_kvm(x, t, &m);
	snprintf(m.source, sizeof(m.source), "kvm:%" PRIu32 "@%s", t->pid, x->host.name);
	return vms_put(x, &m, err);
}

/* ATW_E_NONE: it has no machine. ATW_END: that cannot be read, for the reason in *why. */
static int vms_host_look(struct vms *x, const struct lnx_task *t, struct atw_err *why,
			 struct atw_err *err)
{
	uint64_t machine;
	int r = kvm_machine(x->host.target->kernel, t, &machine, why);

	return r == ATW_OK ? vms_host_put(x, t, err) : r == ATW_E_NONE ? r : ATW_END;
}

static int vms_host_one(struct vms *x, const char *word, struct atw_err *err)
{
	uint32_t pid = vms_pid(word);
	struct atw_err why = { 0 };
	struct lnx_task t;
	int r = guest_process(x->host.target->kernel, pid, &t, err);

	if (r == ATW_E_MISSING)
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu32, pid);
	if (r == ATW_OK)
		r = t.mm ? vms_host_look(x, &t, &why, err) : ATW_E_NONE;
	if (r == ATW_E_NONE)
		return atw_err_set(err, r, "process %" PRIu32 " does not run a virtual machine", pid);
	if (r != ATW_END)
		return r;
	atw_err_give(err, why.status, &why);
	return atw_err_wrap(err, "process %" PRIu32, pid);
}

/* What keeps us from a process mostly keeps us from all of them. */
struct vms_unread {
	uint64_t n;
	struct atw_err first;
};

static int vms_host_task(struct vms *x, const struct lnx_task *t, struct vms_unread *unread,
			 struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = t->leader && t->mm ? vms_host_look(x, t, &why, err) : ATW_OK;

	if (r == ATW_END && !unread->n++)
		unread->first = why;
	return r == ATW_END || r == ATW_E_NONE ? ATW_OK : r;
}

static int vms_host_all(struct vms *x, struct atw_err *err)
{
	struct vms_unread unread = { .n = 0 };
	struct target_tasks tasks;
	struct atw_err why = { 0 };
	struct target_task t;
	int r = target_tasks_open(x->host.target, &tasks, err), end;

	if (r < 0)
		return r;
	while (r == ATW_OK && (end = target_tasks_next(&tasks, &t, &why)) != ATW_END) {
		if (end == ATW_OK) {
			r = vms_host_task(x, &t.task, &unread, err);
			continue;
		}
		/* The list goes on behind what cannot be read. */
		atw_err_wrap(&why, "%s", x->host.name);
		print_error(&why);
		x->incomplete++;
		if (end == ATW_E_LIMIT)
			break;
		why = (struct atw_err){ 0 };
	}
	target_tasks_close(&tasks);
	if (r == ATW_OK && unread.n) {
		print_incomplete("%s: whether %" PRIu64 " processes run virtual machines cannot be read: %s",
				 x->host.name, unread.n, unread.first.text);
		x->incomplete++;
	}
	return r;
}

int vms_put_hosted(struct vms *x, char **argv, int argc, struct atw_err *err)
{
	int r = ATW_OK;

	for (int i = 0; r == ATW_OK && i < argc; i++)
		if (!vms_had(argv, i))
			r = vms_host_one(x, argv[i], err);
	return r < 0 || argc ? r : vms_host_all(x, err);
}
