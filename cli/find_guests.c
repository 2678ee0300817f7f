/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find_guests.c - the processes of a virtual machine that have a frame of this host: the
 * frame is a page of the process that runs the machine, and that is RAM of the guest.
 */
#include "find.h"
#include "base/message.h"
#include "host/vmm_process.h"
#include "source/source.h"
#include "linux/spaces.h"

struct find_guest {
	uint32_t pid;
	bool is;                 /* of a virtual machine; others are kept to ask once */
	char source[32];         /* "qemu:PID" */
	char name[128];
	struct find_va { uint64_t va, bytes; bool byte; } *v;
	size_t n, cap;
};

static struct find_guest *find_guest_of(struct find *f, uint32_t pid)
{
	struct vmm_process p;
	struct find_guest *g;

	for (size_t i = 0; i < f->nguests; i++)
		if (f->guest[i].pid == pid)
			return &f->guest[i];
	if (!ARRAY_ROOM(f->guest, f->nguests, f->guests_cap))
		return NULL;
	g = &f->guest[f->nguests++];
	*g = (struct find_guest){ .pid = pid };
	g->is = vmm_process_identify(pid, &p, NULL) == ATW_OK;
	if (!g->is)
		return g;
	vmm_process_source(&p, g->source);
	if (p.name[0])
		snprintf(g->name, sizeof(g->name), "%s", p.name);
	else
		snprintf(g->name, sizeof(g->name), "%" PRIu32, pid);
	return g;
}

int find_guests_note(struct find *f, const struct find_owner *w, const struct rmap_entry *h,
		     struct atw_err *err)
{
	struct find_guest *g;

	if (!f->guests || !w->have_pid || h->kind != ATW_LEAF)
		return ATW_OK;
	g = find_guest_of(f, w->pid);
	if (g && !g->is)
		return ATW_OK;
	if (!g || !ARRAY_ROOM(g->v, g->n, g->cap))
		return atw_err_nomem(err);
	g->v[g->n++] = (struct find_va){ h->va, h->bytes, h->byte };
	return ATW_OK;
}

/* Addresses of the guest in one mapping of its process. */
static int find_guest_want(struct find *f, const struct find_va *v, struct atw_err *err)
{
	struct atw_source *mem = f->src.target->source;
	const uint64_t page = (uint64_t)1 << f->src.subject.space.paging.page_shift;
	uint64_t len;
	atw_pa pa;

	for (uint64_t done = 0; done < v->bytes; done += len) {
		struct rmap_range *range;

		if (atw_source_inside(mem, v->va + done, &pa, &len) != ATW_OK)
			return ATW_OK;   /* not RAM: the program's own, or a device's */
		if (len > v->bytes - done)
			len = v->bytes - done;
		if (!array_reserve((void **)&f->want.v, &f->wants, f->want.n + 1,
				   sizeof(*f->want.v)))
			return atw_err_nomem(err);
		range = &f->want.v[f->want.n++];
		if (v->byte)
			*range = (struct rmap_range){
				.first = pa.u & ~(page - 1), .last = pa.u | (page - 1),
				.byte = true, .at = pa.u };
		else
			*range = (struct rmap_range){ .first = pa.u, .last = pa.u + (len - 1) };
	}
	return ATW_OK;
}

/* As find_list() of the guest, but its rows go to the output of the host. */
static int find_guest_list(struct find *in, struct find *host, const struct find_guest *g,
			   struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = ATW_OK;

	in->finder.kept = soft_kept;
	in->finder.kept_arg = target_soft(in->src.target);
	find_init_columns(in);
	in->out = host->out;
	in->in_guest = g->name;
	/* Flags of another architecture have no names in this table. */
	in->foreign = in->src.subject.space.paging.family !=
		      host->src.subject.space.paging.family;
	for (size_t i = 0; i < g->n && r == ATW_OK; i++)
		r = find_guest_want(in, &g->v[i], err);
	if (r < 0 || !in->want.n)
		return r;
	rmap_sort(&in->want);
	if (spaces_collect(in->src.target->kernel, &in->spaces, &why) < 0) {
		print_incomplete("%s: cannot search the page tables of processes: %s",
				 in->src.name, why.text);
		in->limit = true;
	}
	return find_in_all(in, err);
}

static int find_in_guest(struct find *f, const struct find_guest *g, bool *part,
			 struct atw_err *err)
{
	static const struct space_opts usual = { .task = NULL };
	struct find *in = calloc(1, sizeof(*in));
	int r = ATW_OK;

	if (!in)
		return atw_err_nomem(err);
	in->c = f->c;
	in->finder = (struct rmap){ .want = &in->want, .all = f->finder.all };
	if (open_session(f->c, g->source, &usual, TARGET_RMAP, &in->src)) {
		*part = true;
	} else {
		r = find_guest_list(in, f, g, err);
		f->mappings += in->mappings;
		f->entries += in->entries;
		f->roots += in->roots;
		f->guests_searched++;
		*part |= r == ATW_OK && find_settle(in);
	}
	/* The output is the host's. */
	find_deinit(in);
	session_close(&in->src);
	free(in);
	return r;
}

int find_in_guests(struct find *f, bool *part, struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; i < f->nguests && r == ATW_OK; i++)
		if (f->guest[i].is)
			r = find_in_guest(f, &f->guest[i], part, err);
	return r;
}

void find_guests_deinit(struct find *f)
{
	for (size_t i = 0; i < f->nguests; i++)
		free(f->guest[i].v);
	free(f->guest);
}
