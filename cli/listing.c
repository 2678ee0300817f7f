/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listing.h"

#include "record/schema.h"
#include "trace/lines.h"

static const char *const states[] = {
	[STATE_PRESENT] = "present", [STATE_TABLE] = "table",
	[STATE_ABSENT] = "absent", [STATE_PROTNONE] = "protnone",
	[STATE_SWAP] = "swap", [STATE_MIGRATION] = "migration",
	[STATE_POISON] = "poison", [STATE_DEVICE] = "device",
	[STATE_MARKER] = "marker", [STATE_GUARD] = "guard",
	[STATE_LOST] = "lost", [STATE_EXCLUDED] = "excluded",
	[STATE_UNSTABLE] = "unstable",
	[STATE_BAD] = "bad", [STATE_REPEAT] = "repeat",
};
const struct atw_names listing_states = {
	sizeof(states) / sizeof(states[0]), states, NULL,
};

static const char *const rights[] = {
	"readable", "writable", "executable", "user",
};
static const struct atw_names rights_names = { 4, rights, "rwxu" };

static const struct atw_names s2_rights_names = { 3, rights, "rwx" };

static const char *const differs[DIFFERS_WORDS] = {
	[DIFFERS_UNMAPPED] = "unmapped", [DIFFERS_EXTRA] = "extra",
	[DIFFERS_SMALLER] = "smaller", [DIFFERS_LARGER] = "larger", [DIFFERS_MOVED] = "moved",
	[DIFFERS_PROTECTED] = "protected", [DIFFERS_ROM] = "read-only",
};
static const struct atw_names differs_names = { DIFFERS_WORDS, differs, NULL };

static const struct atw_names verdict_names = { LINES_VERDICTS, lines_verdicts, NULL };

static const struct atw_column columns[C_ALL] = {
	[C_ADDRESS] = COLUMN("address", VA, 0, "virtual address"),
	[C_END] = COLUMN("end", VA, 0,
			 "first address after it; 0 is the top of the address space"),
	[C_SIZE] = COLUMN("size", BYTES, 6, "bytes this row speaks for"),
	[C_PHYSICAL] = COLUMN("physical", PA, 0,
			      "what address maps to; of a table, also a lost one, where it lies"),
	[C_PFN] = COLUMN("pfn", COUNT, 0, "number of the page frame at physical"),
	[C_PAGE] = COLUMN("page", BYTES, 4,
			  "bytes of one translation; more than the mode's page: a large page"),
	[C_PAGES] = COLUMN("pages", COUNT, 6, "table entries merged"),
	[C_STEP] = COLUMN("step", CHANGE_BYTES, 4,
			  "walk -p of a range: bytes from where each of pages leads to where the next does"),
	[C_LEVEL] = COLUMN("level", ENUM, 5, "table the entry is in"),
	[C_INDEX] = COLUMN("index", COUNT, 5, "its slot in that table"),
	[C_ENTRY_AT] = COLUMN("entry_at", PA, 0, "physical address of the entry itself"),
	[C_ENTRY] = COLUMN("entry", HEX, 0, "raw value of the (first) entry"),
	[C_REPEAT] = COLUMN("repeat", BYTES, 6,
			    "state repeat: bytes before address that recur through the range"),
	[C_RIGHTS] = { .key = "rights", .type = ATW_T_LETTERS, .width = 6,
		       .names = &rights_names, .help = "rights left after every level so far" },
	[C_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 8,
		      .names = &listing_states, .help = "what the entry is" },
	[C_AREA] = COLUMN("area", TEXT, 14,
			  "memory area; of a kernel address, its region"),
	[C_FLAGS] = COLUMN("flags", FLAGS, 0,
			   "bits that every entry has; same-page: all map one page"),
	[C_PROPERTIES] = COLUMN("properties", FLAGS, 0,
				"what every entry is, by names that all CPUs share"),
	[C_NODE] = COLUMN("node", COUNT, 0, "NUMA node of what it maps to"),
	[C_PID] = COLUMN("pid", COUNT, 0, "process"),
	[C_TASK] = COLUMN("task", TEXT, 0, "its name"),
	[C_HVA] = COLUMN("hva", VA, 0,
			 "--nested: where the process of the guest has what is at physical"),
	[C_HPA] = COLUMN("hpa", PA, 0, "--nested: physical address in the host of what is at physical"),
	[C_HOST_PAGE] = COLUMN("host_page", BYTES, 9, "--nested: bytes of the host's translation"),
	[C_HOST_STATE] = { .key = "host_state", .type = ATW_T_ENUM, .width = 10,
			   .names = &listing_states, .help = "--nested: what the host's entry is" },
	[C_S2_HPA] = COLUMN("s2_hpa", PA, 0,
			    "--nested: physical address in the host, by the tables of stage 2"),
	[C_S2_PAGE] = COLUMN("s2_page", BYTES, 7, "--nested: bytes of the translation of stage 2"),
	[C_S2_RIGHTS] = { .key = "s2_rights", .type = ATW_T_LETTERS, .width = 9,
			  .names = &s2_rights_names, .help = "--nested: rights that stage 2 leaves" },
	[C_S2_STATE] = { .key = "s2_state", .type = ATW_T_ENUM, .width = 8,
			 .names = &listing_states, .help = "--nested: what the entry of stage 2 is" },
	[C_S2_DIFFERS] = COLUMN("s2_differs", FLAGS, 10,
				"--nested: how stage 2 differs from the host's tables",
				.names = &differs_names),
	[C_SET1] = COLUMN("l1_set", COUNT, 6,
			  "set of the level 1 data cache that the line falls into"),
	[C_SET2] = COLUMN("l2_set", COUNT, 6,
			  "set of the level 2 cache that the line falls into"),
	[C_REFS] = COLUMN("refs", COUNT, 6, "references to the line"),
	[C_READS] = COLUMN("reads", COUNT, 6, "of these, reads"),
	[C_WRITES] = COLUMN("writes", COUNT, 6, "of these, writes"),
	[C_THREADS] = COLUMN("threads", COUNT, 7,
			     "different threads that referenced the line"),
	[C_VERDICT] = COLUMN("verdict", ENUM, 12, "how the line is shared",
			     .names = &verdict_names),
};

/* By bit of enum atw_property. */
static const char *const properties[ATW_PROPERTIES] = {
	"accessed", "dirty", "global", "large", "contiguous",
};
static const struct atw_names property_names = { ATW_PROPERTIES, properties, NULL };

void listing_init(struct listing *l, const char *name, const struct session *src,
		  uint64_t shown)
{
	const struct atw_paging *pg;

	l->src = src;
	l->space = &src->subject.space;
	pg = &l->space->paging;
	memcpy(l->col, columns, sizeof(columns));
	for (unsigned c = 0; c < C_HOSTS; c++)
		l->col[c].hidden = !(shown & COL(c));

	l->flags = (struct atw_names){ 0, l->flag, NULL };
	for (const struct atw_flag *f = pg->flags; f->letter && l->flags.n < MARKS_FIRST; f++)
		l->flag[l->flags.n++] = f->name;
	memcpy(&l->flag[MARKS_FIRST], mark_names, sizeof(mark_names));
	marks_find(&l->marks, pg, src->target->kernel ? atw_kernel_release(src->target->kernel) : NULL);
	/* Arm's short descriptors have no room left; nor have their kernels uffd-wp. */
	if (l->flags.n == MARKS_FIRST)
		l->flags.n = MARK_AT(MARK_UFFD_WP);
	l->same_page = (uint64_t)1 << l->flags.n;
	l->flag[l->flags.n] = "same-page";
	l->marks.unknown &= ~l->same_page;
	l->flags.n = 64;
	l->col[C_FLAGS].names = &l->flags;
	l->col[C_FLAGS].unknown = l->marks.unknown;
	l->col[C_PROPERTIES].names = &property_names;
	l->col[C_PROPERTIES].unknown = ~(uint64_t)atw_known_properties(pg);

	for (unsigned i = 0; i < pg->nlevels; i++)
		l->level[i] = pg->level[i].name;
	l->levels = (struct atw_names){ pg->nlevels, l->level, NULL };
	l->col[C_LEVEL].names = &l->levels;
	l->schema = (struct atw_schema){ name, l->col, C_COUNT };
}

void listing_flags(struct listing *l, const struct atw_names *flags, uint64_t unknown)
{
	size_t free = ARRAY_SIZE(l->flag);

	memset(l->flag, 0, sizeof(l->flag));
	for (size_t i = ARRAY_SIZE(l->flag); i--;) {
		l->flag[i] = i < flags->n ? flags->name[i] : NULL;
		free = l->flag[i] ? free : i;
	}
	l->same_page = free < ARRAY_SIZE(l->flag) ? (uint64_t)1 << free : 0;
	if (l->same_page)
		l->flag[free] = "same-page";
	l->col[C_FLAGS].unknown = unknown & ~l->same_page;
}

void listing_add_host(struct listing *l, bool stage2)
{
	const uint64_t hide = COL(C_SIZE) | COL(C_RIGHTS) | COL(C_FLAGS) | COL(C_INDEX) |
			      COL(C_ENTRY_AT) | COL(C_ENTRY) | COL(C_STEP) |
			      (stage2 ? COL(C_STATE) : 0);
	const uint64_t show = COL(C_HPA) | COL(C_HOST_PAGE) |
			      (stage2 ? COL(C_S2_PAGE) | COL(C_S2_DIFFERS) : COL(C_HOST_STATE));

	l->schema.ncols = C_HOSTS;
	for (unsigned i = 0; i < C_HOSTS; i++)
		l->col[i].hidden = (l->col[i].hidden || hide >> i & 1) && !(show >> i & 1);
}

void listing_add_lines(struct listing *l, uint32_t sets1, uint32_t sets2, bool refs)
{
	l->level[l->levels.n++] = "line";
	l->schema.ncols = C_ALL;
	l->col[C_SET1].hidden = !sets1;
	l->col[C_SET2].hidden = !sets2;
	for (unsigned i = C_REFS; i <= C_VERDICT; i++)
		l->col[i].hidden = !refs;
}

void listing_narrow_lines(struct listing *l, bool refs)
{
	static const uint64_t hide = COL(C_ENTRY_AT) | COL(C_ENTRY) | COL(C_FLAGS) | COL(C_TASK);
	static const uint64_t with_refs = COL(C_INDEX) | COL(C_SET1) | COL(C_SET2) |
					  COL(C_READS) | COL(C_WRITES) | COL(C_THREADS);

	for (unsigned i = 0; i < C_ALL; i++)
		l->col[i].hidden |= (hide | (refs ? with_refs : 0)) >> i & 1;
	l->col[C_SIZE].width = 4;
	l->col[C_PID].width = 6;
}

static enum state listing_state_of(unsigned kind, unsigned loss, enum atw_soft soft)
{
	static const enum state of_soft[] = {
		[ATW_SOFT_NONE] = STATE_ABSENT, [ATW_SOFT_PROTNONE] = STATE_PROTNONE,
		[ATW_SOFT_SWAP] = STATE_SWAP, [ATW_SOFT_MIGRATION] = STATE_MIGRATION,
		[ATW_SOFT_POISON] = STATE_POISON, [ATW_SOFT_DEVICE] = STATE_DEVICE,
		[ATW_SOFT_MARKER] = STATE_MARKER, [ATW_SOFT_GUARD] = STATE_GUARD,
		[ATW_SOFT_UNKNOWN] = STATE_ABSENT,
	};

	if (loss)
		return loss == ATW_LOST_EXCLUDED ? STATE_EXCLUDED :
		       loss == ATW_LOST_UNSTABLE ? STATE_UNSTABLE : STATE_LOST;
	return kind == ATW_LEAF  ? STATE_PRESENT :
	       kind == ATW_TABLE ? STATE_TABLE :
	       kind == ATW_BAD   ? STATE_BAD : of_soft[soft];
}

enum state state_shown(unsigned page_state)
{
	static const uint8_t shown[] = {
		[PAGE_ABSENT] = STATE_ABSENT, [PAGE_PRESENT] = STATE_PRESENT,
		[PAGE_PROTNONE] = STATE_PROTNONE, [PAGE_SWAP] = STATE_SWAP,
		[PAGE_MIGRATION] = STATE_MIGRATION, [PAGE_POISON] = STATE_POISON,
		[PAGE_DEVICE] = STATE_DEVICE, [PAGE_MARKER] = STATE_MARKER,
		[PAGE_GUARD] = STATE_GUARD, [PAGE_LOST] = STATE_LOST,
		[PAGE_EXCLUDED] = STATE_EXCLUDED, [PAGE_DAMAGED] = STATE_LOST,
		[PAGE_UNSTABLE] = STATE_UNSTABLE, [PAGE_BAD] = STATE_BAD,
	};

	return shown[page_state];
}

enum state row_state(const struct listing *l, struct row *r, unsigned level,
		     unsigned kind, unsigned loss, uint64_t word, uint64_t skip)
{
	struct atw_soft_word soft = { .what = ATW_SOFT_NONE };
	enum state st;

	if (kind == ATW_ABSENT && !loss && word)
		soft = atw_soft_decode_at(target_soft(l->src->target), &l->space->paging,
					  ATW_VA(r->v[C_ADDRESS].u), level, word);
	if (soft.pa.u)
		row_physical(l, r, soft.pa.u + skip);
	st = listing_state_of(kind, loss, soft.what);
	row_set(r, C_STATE, st);
	return st;
}

void row_rights(struct row *r, enum state st, unsigned left)
{
	bool user = left & (ATW_UR | ATW_UW | ATW_UX);
	unsigned kernels = left & 7, users = left >> 3 & 7;
	unsigned letters = st == STATE_TABLE ? kernels | users : user ? users : kernels;

	row_set(r, C_RIGHTS, letters | (user ? 8 : 0));
}

void row_flags(const struct listing *l, struct row *r, uint64_t va, uint64_t flags)
{
	row_set(r, C_FLAGS, flags | marks_of_flags(&l->marks, ATW_VA(va), flags));
}

void warn_lacks(const struct common *c, const struct session *o, const struct provider *p)
{
	struct atw_err e;

	if (!p || !p->lacks.status || c->quiet)
		return;
	e = p->lacks;
	atw_err_wrap(&e, "%s", o->name);
	print_error(&e);
}

void note_number(struct atw_output *out, uint64_t n, const char *one, const char *many)
{
	if (n)
		atw_output_note(out, n == 1 ? one : many, n);
}

void row_subject(const struct listing *l, struct row *r)
{
	if (!l->src->subject.mm)
		return;
	row_set(r, C_PID, l->src->subject.pid);
	if (l->src->subject.task[0])
		row_text(r, C_TASK, l->src->subject.task);
}

/* ---- areas of a process ---- */

struct area_name {
	uint64_t first, last;
	char *name;
};

static void listing_forget_areas(struct listing *l)
{
	for (size_t i = 0; i < l->nareas; i++)
		free(l->area[i].name);
	l->nareas = l->at_area = 0;
}

void listing_renew(struct listing *l)
{
	listing_forget_areas(l);
	l->areas_of = 0;
}

void listing_deinit(struct listing *l)
{
	listing_forget_areas(l);
	free(l->area);
	l->area = NULL;
}

static bool listing_add_area(struct listing *l, const struct atw_area *a)
{
	char *name = a->end.u > a->start.u ? strdup(a->name) : NULL;

	if (!name || !array_reserve((void **)&l->area, &l->areas_cap, l->nareas + 1,
				    sizeof(*l->area))) {
		free(name);
		return false;
	}
	l->area[l->nareas++] = (struct area_name){ a->start.u, a->end.u - 1, name };
	return true;
}

/* Read as many areas as possible: a missing name is not an error. */
static void listing_read_areas(struct listing *l)
{
	struct atw_areas *areas;
	_auto_free struct atw_area *a = malloc(sizeof(*a));

	listing_forget_areas(l);
	l->areas_of = l->src->subject.mm;
	if (a && atw_areas_open(l->src->target->kernel, l->src->subject.mm, &areas, NULL) == ATW_OK) {
		while (atw_areas_next(areas, a, NULL) == ATW_OK && listing_add_area(l, a))
			;
		atw_areas_close(areas);
	}
}

void listing_areas(struct listing *l, struct vma_cursor *c)
{
	_auto_free struct atw_area *a = malloc(sizeof(*a));

	listing_forget_areas(l);
	while (a && vma_cursor_next(c, a, NULL) == ATW_OK && listing_add_area(l, a))
		;
}

static bool listing_area_at(struct listing *l, uint64_t address, struct atw_region *ret)
{
	if (l->areas_of != l->src->subject.mm)
		listing_read_areas(l); /* not of live:pagemap or a capture: no mm */
	/* Areas ascend, and rows nearly always do: continue from the last one. */
	if (l->at_area < l->nareas && l->area[l->at_area].first > address)
		l->at_area = 0;
	while (l->at_area < l->nareas && l->area[l->at_area].last < address)
		l->at_area++;
	if (l->at_area == l->nareas)
		return false;
	*ret = (struct atw_region){
		ATW_VA(l->area[l->at_area].first), ATW_VA(l->area[l->at_area].last),
		l->area[l->at_area].name,
	};
	return true;
}

bool listing_region(struct listing *l, uint64_t address, struct atw_region *ret)
{
	struct atw_kernel *k = l->src->target->kernel;

	if (!target_has(l->src->target, TARGET_SYMBOLS) ||
	    (address <= INT64_MAX && l->src->subject.mm))
		return listing_area_at(l, address, ret);
	/* The upper half of a root given by hand may belong to another kernel. */
	if (address <= INT64_MAX || atw_kernel_root_from(k) == ATW_ROOT_GIVEN)
		return false;
	/* Rows come in order, nearly always. */
	if (atw_kernel_region(k, l->region, ret) == ATW_OK && ret->first.u > address)
		l->region = 0;
	while (atw_kernel_region(k, l->region, ret) == ATW_OK) {
		if (ret->last.u >= address)
			return true;
		l->region++;
	}
	l->region = 0;
	return false;
}

bool listing_area(struct listing *l, uint64_t first, uint64_t last,
		  struct atw_region *ret)
{
	return listing_region(l, first, ret) && ret->first.u <= first && last <= ret->last.u;
}

void row_area(struct listing *l, struct row *r, uint64_t first, uint64_t last)
{
	struct atw_region area;

	if (listing_area(l, first, last, &area))
		row_text(r, C_AREA, area.name);
}
