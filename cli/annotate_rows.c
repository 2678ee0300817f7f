/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate_rows.c - rows of annotate: a reference, and where its address lies. */
#include "annotate.h"
#include "format/capture_fields.h"
#include "target/frame_use.h"

static const char *const states[ANNOTATE_STATES] = {
	[STATE_PRESENT] = "present", [STATE_TABLE] = NULL,
	[STATE_ABSENT] = "absent", [STATE_PROTNONE] = "protnone",
	[STATE_SWAP] = "swap", [STATE_MIGRATION] = "migration",
	[STATE_POISON] = "poison", [STATE_DEVICE] = "device",
	[STATE_MARKER] = "marker", [STATE_GUARD] = "guard",
	[STATE_LOST] = "lost", [STATE_EXCLUDED] = "excluded",
	[STATE_UNSTABLE] = "unstable", [STATE_BAD] = "bad",
	[ANNOTATE_UNREADABLE] = "unreadable",
};
const struct atw_names annotate_states = { ANNOTATE_STATES, states, NULL };

static const char *const kinds[] = {
	[TRACE_KIND_READ] = "read", [TRACE_KIND_WRITE] = "write",
	[TRACE_KIND_BOTH] = "both", [TRACE_KIND_FETCH] = "fetch",
};
static const struct atw_names kind_names = { sizeof(kinds) / sizeof(kinds[0]), kinds, NULL };
static const struct atw_names level_names = { TRACE_LEVELS, trace_level_names, NULL };
static const struct atw_names tlb_names = { TRACE_TLBS, trace_tlb_names, NULL };
static const struct atw_names use_names = { CAPTURE_USES, capture_uses, NULL };
static const char *const area_rights[] = { "readable", "writable", "executable" };
static const struct atw_names area_rights_names = { 3, area_rights, "rwx" };

static const struct atw_column own[A_COLS] = {
	[A_LINE] = { .key = "line", .type = ATW_T_COUNT, .width = 6, .hidden = true,
		     .help = "number of the line in FILE" },
	[A_ADDRESS] = { .key = "address", .type = ATW_T_VA,
			.help = "virtual address, as FILE has it" },
	[A_KIND] = { .key = "kind", .type = ATW_T_ENUM, .width = 5, .names = &kind_names,
		     .help = "kind of the reference: read, write, both, fetch of an instruction" },
	[A_SIZE] = { .key = "size", .type = ATW_T_BYTES, .width = 4, .hidden = true,
		     .help = "bytes referenced" },
	[A_EVENTS] = { .key = "events", .type = ATW_T_COUNT, .width = 6,
		       .help = "references that the line stands for: of perf, its period" },
	[A_WEIGHT] = { .key = "weight", .type = ATW_T_COUNT, .width = 6,
		       .help = "cycles that it took, as the profiler reports" },
	[A_CACHE] = { .key = "cache", .type = ATW_T_ENUM, .width = 7, .names = &level_names,
		      .hidden = true, .help = "where the data came from: a cache, RAM, a device" },
	[A_TLB] = { .key = "tlb", .type = ATW_T_ENUM, .width = 4, .names = &tlb_names,
		    .hidden = true, .help = "whether a TLB had the translation" },
	[A_PAGE] = { .key = "page", .type = ATW_T_BYTES, .width = 4,
		     .help = "bytes of one translation" },
	[A_NODE] = { .key = "node", .type = ATW_T_COUNT, .width = 4,
		     .help = "NUMA node of the frame" },
	[A_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 8,
		      .names = &annotate_states,
		      .help = "what maps it; unreadable: the process may not be read; n/a: it has no such process, or does not say" },
	[A_USE] = { .key = "use", .type = ATW_T_ENUM, .width = 8, .names = &use_names,
		    .help = "what the frame is used for" },
	[A_PAGEFLAGS] = { .key = "pageflags", .type = ATW_T_FLAGS, .hidden = true,
			  .help = "what the kernel says of the page, as /proc/kpageflags" },
	[A_TASK] = { .key = "task", .type = ATW_T_TEXT, .width = 12, .help = "its name" },
	[A_TID] = { .key = "tid", .type = ATW_T_COUNT, .hidden = true,
		    .help = "thread, as FILE has it" },
	[A_CPU] = { .key = "cpu", .type = ATW_T_COUNT, .width = 4, .hidden = true,
		    .help = "CPU, as FILE has it" },
	[A_TIME] = { .key = "time_ns", .type = ATW_T_COUNT, .width = 15, .hidden = true,
		     .help = "time, as FILE has it, in nanoseconds" },
	[A_IP] = { .key = "ip", .type = ATW_T_VA, .hidden = true,
		   .help = "address of the instruction" },
	[A_SYMBOL] = { .key = "symbol", .type = ATW_T_TEXT, .width = 20, .hidden = true,
		       .help = "symbol that FILE has in the line" },
	[A_SEEN_PHYSICAL] = { .key = "sampled_physical", .type = ATW_T_PA, .hidden = true,
			      .help = "physical address that FILE has: then, not now" },
	[A_SEEN_PAGE] = { .key = "sampled_page", .type = ATW_T_BYTES, .hidden = true,
			  .help = "page size that FILE has: then, not now" },
	[A_AREA_RIGHTS] = { .key = "area_rights", .type = ATW_T_LETTERS,
			    .names = &area_rights_names, .hidden = true,
			    .help = "rights of the memory area (VMA)" },
	[A_INPUT] = { .key = "input", .type = ATW_T_TEXT, .hidden = true,
		      .help = "the line itself" },
};

/* A plain table of 100 characters has no room for these. */
static const uint64_t annotate_too_wide = ACOL(A_EVENTS) | ACOL(A_WEIGHT) | ACOL(A_RIGHTS) |
					  ACOL(A_TASK);

void annotate_columns(struct annotate_rows *r, const struct listing *l, bool narrow)
{
	memcpy(r->col, own, sizeof(own));
	r->col[A_PHYSICAL] = l->col[C_PHYSICAL];
	r->col[A_RIGHTS] = l->col[C_RIGHTS];
	r->col[A_PID] = l->col[C_PID];
	r->col[A_AREA] = l->col[C_AREA];
	r->col[A_PHYSICAL].hidden = r->col[A_RIGHTS].hidden = r->col[A_PID].hidden =
		r->col[A_AREA].hidden = false;
	r->col[A_PID].width = 6;
	for (unsigned i = 0; narrow && i < A_COLS; i++)
		r->col[i].hidden |= (annotate_too_wide & ACOL(i)) != 0;
	r->col[A_PHYSICAL].help = "physical address of the byte";
	r->flags = (struct atw_names){ 64, r->flag, NULL };
	for (unsigned i = 0; i < 64; i++)
		r->flag[i] = lnx_page_flag_name(i);
	r->col[A_PAGEFLAGS].names = &r->flags;
	r->schema = (struct atw_schema){ "annotate", r->col, A_COLS };
}

/* ---- a row ---- */

struct annotate_values {
	union atw_value v[A_COLS];
	uint64_t have;
};

static void annotate_set(struct annotate_values *v, enum annotate_col c, uint64_t u)
{
	v->v[c].u = u;
	v->have |= ACOL(c);
}

static void annotate_text(struct annotate_values *v, enum annotate_col c, const char *s)
{
	if (!s)
		return;
	v->v[c].s = s;
	v->have |= ACOL(c);
}

/* Texts of lines have no end; a row's have. */
static const char *annotate_copy(struct atw_blob from, char *to, size_t cap)
{
	size_t n = from.len < cap - 1 ? from.len : cap - 1;

	if (n)
		memcpy(to, from.data, n);
	to[n] = '\0';
	/* A byte that is 0 would end the text. */
	for (size_t i = 0; i < n; i++)
		if (!to[i])
			to[i] = '?';
	return to;
}

/* What the line has. */
static void annotate_put_line(struct annotate_rows *r, struct annotate_values *v,
			      const struct annotate_ref *a, uint64_t line)
{
	static const struct {
		enum trace_has has;
		enum annotate_col col;
	} simple[] = {
		{ TRACE_HAS_ADDRESS, A_ADDRESS }, { TRACE_HAS_SIZE, A_SIZE },
		{ TRACE_HAS_WEIGHT, A_WEIGHT }, { TRACE_HAS_TID, A_TID },
		{ TRACE_HAS_CPU, A_CPU }, { TRACE_HAS_TIME, A_TIME }, { TRACE_HAS_IP, A_IP },
		{ TRACE_HAS_PHYSICAL, A_SEEN_PHYSICAL }, { TRACE_HAS_PAGE_SIZE, A_SEEN_PAGE },
	};
	const struct trace_ref *t = a->ref;
	const uint64_t value[] = {
		t->address, t->size, t->weight, t->tid, t->cpu, t->time, t->ip, t->physical,
		t->page_size,
	};
	enum trace_level level = TRACE_LEVEL_UNKNOWN;
	enum trace_tlb tlb = TRACE_TLB_UNKNOWN;

	annotate_set(v, A_LINE, line);
	annotate_set(v, A_EVENTS, t->count);
	for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
		if (t->has & simple[i].has)
			annotate_set(v, simple[i].col, value[i]);
	if (t->kind != TRACE_KIND_UNKNOWN)
		annotate_set(v, A_KIND, t->kind);
	if (t->has & TRACE_HAS_SOURCE) {
		level = trace_source_level(t->source);
		tlb = trace_source_tlb(t->source);
	}
	if (level != TRACE_LEVEL_UNKNOWN)
		annotate_set(v, A_CACHE, level);
	if (tlb != TRACE_TLB_UNKNOWN)
		annotate_set(v, A_TLB, tlb);
	if (t->symbol.len)
		annotate_text(v, A_SYMBOL, annotate_copy(t->symbol, r->symbol, sizeof(r->symbol)));
	annotate_text(v, A_INPUT, annotate_copy(a->input, r->input, sizeof(r->input)));
}

/* What the source has. */
static void annotate_put_place(struct annotate_values *v, const struct annotate_ref *a)
{
	const struct place *p = &a->place;

	if (a->have_state)
		annotate_set(v, A_STATE, a->state);
	if (p->have & PLACE_HAS_PHYSICAL)
		annotate_set(v, A_PHYSICAL, p->physical);
	if (p->have & PLACE_HAS_PAGE)
		annotate_set(v, A_PAGE, p->page);
	if (p->have & PLACE_HAS_NODE)
		annotate_set(v, A_NODE, p->node);
	if (p->have & PLACE_HAS_RIGHTS) {
		struct row letters = { 0 };

		row_rights(&letters, STATE_PRESENT, p->rights);
		annotate_set(v, A_RIGHTS, letters.v[C_RIGHTS].u);
	}
	if (p->have & PLACE_HAS_FLAGS) {
		annotate_set(v, A_PAGEFLAGS, p->flags);
		annotate_set(v, A_USE, frame_use(p->flags));
	}
	if (p->area && !p->area->rights_unknown)
		annotate_set(v, A_AREA_RIGHTS, p->area->rights);
	annotate_text(v, A_AREA, a->area);
	annotate_text(v, A_TASK, a->task);
	if (a->have_pid)
		annotate_set(v, A_PID, a->pid);
}

int annotate_row(struct annotate_rows *r, const struct annotate_ref *a, uint64_t line,
		 struct atw_output *out, struct atw_err *err)
{
	struct annotate_values v;
	struct atw_row row = { .v = v.v };

	v.have = 0;
	annotate_put_line(r, &v, a, line);
	annotate_put_place(&v, a);
	row.have = v.have;
	return atw_output_row(out, &row, err);
}
