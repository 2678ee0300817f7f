/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alerts.c - VMAs with pages of one user next to shared pages: Figure 7 of Movall et al.
 *
 * The paper counts all pages of one user as copies. Most are not: a page of a file that
 * no other process has touched yet looks the same. The origin of each page distinguishes
 * the two: a private copy no longer belongs to a file.
 */
#include "report/report.h"
#include "base/message.h"

enum cause { RELOCATIONS, WRITTEN, FORKED, ONE_USER, UNKNOWN, CAUSES };

static const char *const causes[CAUSES] = {
	[RELOCATIONS] = "text_relocations", [WRITTEN] = "written_data",
	[FORKED] = "forked", [ONE_USER] = "one_user", [UNKNOWN] = "unknown",
};
static const struct atw_names cause_names = { CAUSES, causes, NULL };

/* Explanations below the rows. */
static const char *const meaning[CAUSES] = {
	[RELOCATIONS] =
		N_("code was written to, and each process that does so has a copy of its own: "
		 "text relocations, for it was not built as position-independent code "
		 "(-fPIC); or a debugger's breakpoints"),
	[WRITTEN] = N_("data of a file were written to, as data are; the rest still is the file's"),
	[FORKED] = N_("memory of no file: shared since fork(2), until it is written to"),
	[ONE_USER] =
		N_("pages of a file that no other process has touched yet: "
		 "nothing was copied"),
	[UNKNOWN] = N_("copies cannot be distinguished from pages of one user"),
};

enum {
	L_PID, L_TASK, L_NAME, L_ADDRESS, L_FLAGS, L_CLASS, L_SINGLE, L_SHARED, L_COPIED, L_ALONE,
	L_CAUSE, L_GUESS, L_VMFLAGS, L_COUNT,
};

static const struct atw_column columns[L_COUNT] = {
	[L_PID] = COLUMN("pid", COUNT, 7, "of the process"),
	[L_TASK] = COLUMN("task", TEXT, 15, "its name"),
	[L_NAME] = COLUMN("name", TEXT, 32, "of the area; empty: none"),
	[L_ADDRESS] = COLUMN("address", VA, 0, "where the area begins"),
	[L_FLAGS] = COLUMN("flags", LETTERS, 0,
			"S stack, X the program's own, r w x rights, B heap or .bss",
			.names = &census_flag_names),
	[L_CLASS] = COLUMN("class", ENUM, 0,
			"what it is for", .names = &census_class_names),
	[L_SINGLE] = COLUMN("single", PAGES, 7, "pages mapped once"),
	[L_SHARED] = COLUMN("shared", PAGES, 7, "and more than once"),
	[L_COPIED] = COLUMN("copied", PAGES, 7,
			"pages of a file's area that are private copies"),
	[L_ALONE] = COLUMN("one_user", PAGES, 8,
			"pages of the file that just have one user so far"),
	[L_CAUSE] = COLUMN("cause", ENUM, 0,
			"what that comes from, most likely", .names = &cause_names),
	[L_GUESS] = GUESS_COLUMN,
	[L_VMFLAGS] = COLUMN("vma_flags", HEX, 0,
			"the kernel's flags of the area", .hidden = true),
};
static const struct atw_schema schema = { "alerts", columns, L_COUNT };

struct alert {
	const char *task, *name;         /* name: NULL: none */
	uint64_t pid, address, vm_flags;
	uint64_t single, shared, copied, alone;
	uint8_t flags, class, cause;
	bool guess, no_origin, no_vm_flags;
	bool no_refs;                    /* some of its pages have no mapcount */
};

struct alerts {
	struct alert *v;
	size_t n, cap;
	struct intern names;
	struct alert now;                /* the current VMA */
	uint64_t uncounted;              /* VMAs without the mapcounts that are needed */
};

static bool alerts_private_file(const struct census_area *a)
{
	return a->unit && !a->shared && (a->class <= CENSUS_DATA || a->class == CENSUS_FILE);
}

static void alerts_on_pages(struct alerts *s, const struct census_pages *p)
{
	struct alert *a = &s->now;

	if (!is_resident(p))
		return;
	if (!(p->known & CENSUS_ORIGIN))
		a->no_origin = true;
	else if (p->anon && alerts_private_file(p->area))
		a->copied += p->pages;
	if (!(p->known & CENSUS_REFS)) {
		a->no_refs = true;
	} else if (p->refs == 1) {
		a->single += p->pages;
		a->alone += (p->known & CENSUS_ORIGIN) && !p->anon ? p->pages : 0;
	} else if (p->refs) {
		a->shared += p->pages;
	}
}

/* Copies of code are the most significant cause in a VMA. */
static enum cause alerts_cause_of(const struct alert *a, const struct census_area *v)
{
	if (a->copied && (v->class == CENSUS_TEXT || v->class == CENSUS_RODATA))
		return RELOCATIONS;
	if (!v->unit || v->class == CENSUS_BSS || v->class == CENSUS_HEAP ||
	    v->class == CENSUS_ANON || v->class == CENSUS_STACK)
		return v->shared ? ONE_USER : FORKED;
	if (a->no_origin)
		return UNKNOWN;
	return a->copied ? WRITTEN : ONE_USER;
}

static int alerts_on_area_end(struct alerts *s, const struct census_area *v,
			      struct atw_err *err)
{
	struct alert *a = &s->now;
	struct atw_blob task = v->process->task->name, name = v->v->name;

	/* [vdso] and similar VMAs belong to the kernel. */
	if (v->class == CENSUS_SPECIAL)
		return ATW_OK;
	a->single += v->rest.single;
	a->shared += v->rest.shared;
	a->no_refs |= v->rest.single + v->rest.shared < v->rest.user;
	a->no_origin |= v->rest.user != 0;
	a->cause = alerts_cause_of(a, v);
	if (a->no_refs && a->cause != RELOCATIONS) {
		s->uncounted++;
		return ATW_OK;
	}
	if (!(a->single && a->shared) && a->cause != RELOCATIONS)
		return ATW_OK;
	a->task = report_text(&s->names, task);
	a->name = name.data ? report_text(&s->names, name) : NULL;
	if (!a->task || (name.data && !a->name) || !ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	a->pid = v->process->pid;
	a->address = v->first;
	a->flags = (uint8_t)census_flags(v);
	a->class = v->class;
	a->guess = v->guess;
	a->vm_flags = v->v->flags;
	a->no_vm_flags = !(v->v_has & CAPTURE_V_FLAGS);
	s->v[s->n++] = *a;
	return ATW_OK;
}

static int alerts_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct alerts *s = state;

	if (ev->what == CENSUS_ON_AREA_END)
		return alerts_on_area_end(s, ev->area, err);
	if (ev->what == CENSUS_ON_PAGES)
		alerts_on_pages(s, ev->pages);
	else
		s->now = (struct alert){ .task = NULL };
	return ATW_OK;
}

/* ---- output ---- */

static int alerts_row(const struct alert *a, const struct census_out *out,
		      struct atw_err *err)
{
	struct report_row row = { .have = 0 };

	row_u(&row, L_PID, a->pid);
	row_s(&row, L_TASK, a->task);
	row_s(&row, L_NAME, a->name ? a->name : "");
	row_u(&row, L_ADDRESS, a->address);
	row_u(&row, L_FLAGS, a->flags);
	row_u(&row, L_CLASS, a->class);
	row_if(&row, !a->no_refs, L_SINGLE, a->single);
	row_if(&row, !a->no_refs, L_SHARED, a->shared);
	row_if(&row, !a->no_origin, L_COPIED, a->copied);
	row_if(&row, !a->no_origin && !a->no_refs, L_ALONE, a->alone);
	row_u(&row, L_CAUSE, a->cause);
	row_u(&row, L_GUESS, a->guess);
	row_if(&row, !a->no_vm_flags, L_VMFLAGS, a->vm_flags);
	return row_out(&row, out, err);
}

/* Also copied code without shared pages: each row has its line. */
static void alerts_paper(const struct alert *a, const struct census_out *out)
{
	char single[24] = "n/a", shared[24] = "n/a", flags[24] = "n/a";

	if (!a->no_refs) {
		snprintf(single, sizeof(single), "%" PRIu64, a->single);
		snprintf(shared, sizeof(shared), "%" PRIu64, a->shared);
	}
	if (!a->no_vm_flags)
		snprintf(flags, sizeof(flags), "%08" PRIX64, a->vm_flags);
	out->text(out->arg, "Alert! VMA [%s] in \"%s\" has %s single usage and %s"
		  " shared usage, flags = %s\n", a->name ? a->name : "NULL", a->task, single,
		  shared, flags);
}

static int alerts_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct alerts *s = state;
	uint64_t of[CAUSES] = { 0 };
	int r = ATW_OK;

	for (size_t i = 0; i < s->n && r == ATW_OK; i++) {
		of[s->v[i].cause]++;
		if (out->paper)
			alerts_paper(&s->v[i], out);
		else
			r = alerts_row(&s->v[i], out, err);
	}
	for (unsigned c = 0; c < CAUSES && r == ATW_OK && !out->paper; c++)
		if (of[c] && out->whole)
			out->note(out->arg, "%s (%" PRIu64 "): %s", causes[c], of[c], message(meaning[c]));
	if (s->uncounted)
		out->note(out->arg, "n/a: pages of %" PRIu64 " areas have no recorded mapcount",
			  s->uncounted);
	return r;
}

static void alerts_deinit(void *state)
{
	struct alerts *s = state;

	free(s->v);
	intern_deinit(&s->names);
}

const struct census_report report_alerts = {
	.name = "alerts",
	.title = "Alerts",
	.help = "areas with copied pages, or with pages of one user beside shared ones, "
		"and why",
	.on = CENSUS_ON(AREA) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES),
	.schema = &schema,
	.paper = true,
	.state = sizeof(struct alerts),
	.feed = alerts_feed,
	.finish = alerts_finish,
	.deinit = alerts_deinit,
};
