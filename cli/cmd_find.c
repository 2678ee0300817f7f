// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_find.c - mappings of physical memory, and the page tables that lead to it. */
#include "find.h"
#include "base/message.h"

struct find_opts {
	struct space_opts space;
	bool all, virtual, guests;
};

static const struct opt options[] = {
	{ 0, "all", OPT_FLAG, offsetof(struct find_opts, all), NULL,
	  "list every entry in a row of its own", NULL },
	{ 0, "virtual", OPT_FLAG, offsetof(struct find_opts, virtual), NULL,
	  "take numbers as virtual addresses, of the kernel or of a process", NULL },
	{ 0, "guests", OPT_FLAG, offsetof(struct find_opts, guests), NULL,
	  "search the virtual machines that have it as their RAM, too", NULL },
	OPT_FREEZE(struct find_opts, space),
	OPT_SUBJECT(struct find_opts, space),
	{ 0 }
};

/* Columns of listings, in an order of their own, and some more. */
static const struct { enum col is; bool hidden; } shared[] = {
	{ C_PID, false }, { C_TASK, false }, { C_ADDRESS, false }, { C_END, true },
	{ C_SIZE, false }, { C_PHYSICAL, false }, { C_PFN, true }, { C_PAGE, true },
	{ C_PAGES, true },
	{ C_LEVEL, false }, { C_INDEX, false }, { C_ENTRY_AT, false },
	{ C_ENTRY, false }, { C_RIGHTS, false }, { C_PROPERTIES, true }, { C_STATE, false },
	{ C_AREA, false },
};
enum {
	SHARED = sizeof(shared) / sizeof(shared[0]),
	F_PHYSICAL = 5, F_PROPERTIES = 14, /* of these */
	F_TIMES = SHARED, F_STRIDE, F_PROCESSES, F_PAGEFLAGS, F_GUEST, F_FLAGS,
	F_COUNT
};
_Static_assert((int)F_COUNT == (int)FIND_COLUMNS, "struct find has room for them");

/* Of an entry that leads to another table each time. */
enum { FIND_LOOKS = 8 };

static const struct atw_column extra[] = {
	COLUMN("times", COUNT, 5,
	       "addresses that this row stands for: so often does it recur"),
	COLUMN("stride", BYTES, 6, "more than one: bytes from each to the next"),
	HIDDEN_COLUMN("processes", TEXT, 0,
		      "all that share the address space, with commas between"),
	HIDDEN_COLUMN("pageflags", FLAGS, 0,
		      "flags of the frame at physical, as in /proc/kpageflags"),
	HIDDEN_COLUMN("guest", TEXT, 10,
		      "with --guests: name or process of the virtual machine that the row is of"),
};

/* ---- rows ---- */

void find_init_columns(struct find *f)
{
	listing_init(&f->list, "find", &f->src, 0);
	for (size_t i = 0; i < SHARED; i++) {
		f->col[i] = f->list.col[shared[i].is];
		f->col[i].hidden = shared[i].hidden;
	}
	memcpy(f->col + SHARED, extra, sizeof(extra));
	for (unsigned i = 0; i < ARRAY_SIZE(f->frame_flag); i++)
		f->frame_flag[i] = lnx_page_flag_name(i);
	f->frame_flags = (struct atw_names){ ARRAY_SIZE(f->frame_flag), f->frame_flag, NULL };
	f->col[F_PAGEFLAGS].names = &f->frame_flags;
	f->col[F_FLAGS] = f->list.col[C_FLAGS];
	f->col[F_FLAGS].hidden = false;
	f->col[F_GUEST].hidden = !f->guests;
	f->schema = (struct atw_schema){ "find", f->col, F_COUNT };
}

/* Where a kernel has no struct pages that can be read, the column is n/a. */
static void find_open_memmap(struct find *f)
{
	struct atw_err why = { 0 };
	bool wanted = asks_for(f->c, "pageflags");

	/* A filter may name a flag without its column. */
	for (unsigned i = 0; i < ARRAY_SIZE(f->frame_flag) && !wanted; i++)
		wanted = f->frame_flag[i] && asks_for(f->c, f->frame_flag[i]);
	if (wanted && f->src.target->kernel &&
	    atw_memmap_open(f->src.target->kernel, &f->memmap, &why) < 0)
		print_warning(f->c, "%s: cannot read flags of frames: %s", f->src.name,
			      why.text);
}

struct find_frame {
	bool known;
	uint64_t flags;
};

static struct find_frame find_read_frame(struct find *f, uint64_t pa)
{
	unsigned shift = f->src.subject.space.paging.page_shift;
	struct atw_err why = { 0 };
	struct lnx_page page;

	if (!f->memmap || atw_memmap_page(f->memmap, pa >> shift, &page, &why) < 0)
		return (struct find_frame){ .known = false };
	return (struct find_frame){ true, page.flags };
}

static bool find_ended(const struct mmu_space *sp)
{
	return sp && sp->mem && atw_source_is_live(sp->mem) && !mmu_space_lives(sp);
}

/*
 * Flags of a frame that is no longer a table are those of its next use, so the entry is
 * read again behind them. false: it leads to no table now, or its process has ended.
 */
static bool find_read_table(struct find *f, const struct find_owner *w,
			    struct rmap_entry *h, struct find_frame *ret)
{
	const struct mmu_space *own = w->space ? &w->space->mm.space : NULL;
	enum rmap_now now = RMAP_MOVED;

	for (unsigned i = 0; now == RMAP_MOVED && i < FIND_LOOKS; i++) {
		*ret = find_read_frame(f, h->pa);
		now = rmap_look(&f->src.subject.space, h);
	}
	ret->known &= now == RMAP_HOLDS;
	return now != RMAP_GONE && !find_ended(own);
}

int find_open(struct find *f, const struct provider *from, struct atw_err *err)
{
	struct atw_output_opts oo;

	find_init_columns(f);
	find_open_memmap(f);
	if (from && from->flags) {
		f->col[F_FLAGS].names = from->flags;
		f->col[F_FLAGS].unknown = from->unknown;
	}
	if (from)
		f->col[F_PROPERTIES].unknown = ~(uint64_t)known_properties(from);
	output_opts(f->c, &f->src, &oo);
	return atw_output_open(&oo, &f->schema, &f->out, err);
}

/* The same for all rows of an address space. */
static bool find_list_pids(struct find *f, const struct owned_space *s)
{
	if (f->pids_of == s)
		return true;
	f->pids.len = 0;
	for (size_t i = 0; i < s->n; i++)
		buf_printf(&f->pids, "%s%" PRIu32, i ? "," : "", s->pid[i]);
	f->pids_of = s;
	return !f->pids.failed;
}

static int find_put(struct find *f, const struct find_owner *w, const struct rmap_entry *h,
		    struct find_frame frame, const struct row *r, struct atw_err *err)
{
	uint64_t times = h ? h->times : 1, stride = h ? h->stride : 0;
	union atw_value v[F_COUNT] = { 0 };
	struct atw_row row = { v, 0 };

	for (size_t i = 0; i < SHARED; i++) {
		v[i] = r->v[shared[i].is];
		if (r->have & COL(shared[i].is))
			row.have |= (uint64_t)1 << i;
	}
	v[F_FLAGS] = r->v[C_FLAGS];
	if (r->have & COL(C_FLAGS) && !f->foreign)
		row.have |= 1u << F_FLAGS;
	v[F_GUEST].s = f->in_guest;
	row.have |= f->in_guest ? 1u << F_GUEST : 0;
	v[F_TIMES].u = times;
	v[F_STRIDE].u = stride;
	row.have |= 1u << F_TIMES | (times > 1 ? 1u << F_STRIDE : 0);
	v[F_PAGEFLAGS].u = frame.flags;
	row.have |= frame.known && row.have >> F_PHYSICAL & 1 ? 1u << F_PAGEFLAGS : 0;
	if (w->space) {
		if (!find_list_pids(f, w->space))
			return atw_err_nomem(err);
		v[F_PROCESSES].s = f->pids.data;
		row.have |= 1u << F_PROCESSES;
	}
	return atw_output_row(f->out, &row, err);
}

static void find_set_owner(struct row *r, const struct find_owner *w)
{
	row_text(r, C_TASK, w->task);
	row_set_if(r, w->have_pid, C_PID, w->pid);
}

/* The area that all of the row lies in; areas come in order, and so do hits. */
struct find_cursor {
	struct atw_areas *areas;
	struct atw_area now;
	bool have, reported;     /* reported: the name of this one is missing */
	unsigned looks;
};

static void find_no_area(struct find *f, const struct find_owner *w, const struct atw_err *why)
{
	/* A process that has ended has no areas. */
	if (w->space && find_ended(&w->space->mm.space))
		return;
	if (!f->nameless++) {
		f->nameless_why = *why;
		atw_err_wrap(&f->nameless_why, "%s", w->task);
		if (f->thread)
			find_jobs_nameless(f->thread, &f->nameless_why);
	}
}

/* Areas that changed while they were read are read again from the first one. */
static bool find_areas_again(struct find *f, struct find_cursor *c, const struct find_owner *w)
{
	if (!target_has(f->src.target, TARGET_RUNNING) || !w->space || ++c->looks >= FIND_LOOKS)
		return false;
	atw_areas_close(c->areas);
	c->areas = NULL;
	return atw_areas_open(f->src.target->kernel, w->space->at, &c->areas, NULL) == ATW_OK;
}

static const char *find_area_of(struct find *f, struct find_cursor *c,
				const struct find_owner *w, const struct rmap_entry *h)
{
	struct atw_region region;
	struct atw_err why = { 0 };

	if (w->regions)
		return listing_area(&f->list, h->va, h->end - 1, &region) ? region.name : NULL;
	while (c->areas && (!c->have || c->now.end.u <= h->va)) {
		int r = atw_areas_next(c->areas, &c->now, &why);

		c->have = r == ATW_OK;
		c->reported = false;
		if (r < 0 && find_areas_again(f, c, w))
			continue;
		if (r < 0)
			find_no_area(f, w, &why);
		if (r == ATW_END || r == ATW_E_LIMIT) {
			atw_areas_close(c->areas);
			c->areas = NULL;
		}
	}
	if (!c->have || c->now.start.u > h->va || h->end - 1 >= c->now.end.u)
		return NULL;
	if (c->now.unread && c->areas && !c->reported) {
		find_no_area(f, w, atw_areas_error(c->areas));
		c->reported = true;
	}
	return *c->now.name || !c->now.unread ? c->now.name : NULL;
}

/* What is only known of tables. */
static enum state find_set_entry(struct find *f, struct row *r,
				 const struct rmap_entry *h)
{
	row_set(r, C_LEVEL, h->level);
	row_set(r, C_INDEX, h->index);
	row_set(r, C_ENTRY_AT, h->entry_at);
	row_set(r, C_ENTRY, h->word);
	return row_state(&f->list, r, h->level, h->kind, ATW_HAVE, h->word, 0);
}

int find_put_hit(struct find *f, const struct find_owner *w, const char *area,
		 const struct rmap_entry *h, struct atw_err *err)
{
	struct row r = { 0 };
	struct rmap_entry table;
	struct find_frame frame;
	enum state st = h->kind == ATW_LEAF ? STATE_PRESENT : STATE_PROTNONE;

	if (h->kind == ATW_TABLE && f->memmap) {
		table = *h;
		if (!find_read_table(f, w, &table, &frame))
			return ATW_OK;
		h = &table;
	} else {
		frame = find_read_frame(f, h->pa);
	}
	find_set_owner(&r, w);
	row_set(&r, C_ADDRESS, h->va);
	if (!target_has(f->src.target, TARGET_TABLES))
		row_set(&r, C_STATE, st);
	else
		st = find_set_entry(f, &r, h);
	row_set(&r, C_END, h->end);
	/* What a table could map is no amount of memory. */
	row_set_if(&r, h->kind != ATW_TABLE, C_SIZE, h->bytes);
	row_physical(&f->list, &r, h->pa);
	row_set(&r, C_PAGES, h->count);
	row_set_if(&r, st == STATE_PRESENT, C_PAGE, (uint64_t)1 << h->span);
	if (st == STATE_PRESENT || st == STATE_TABLE) {
		row_rights(&r, st, h->rights);
		if (!h->flagless)
			row_flags(&f->list, &r, h->va, h->flags);
		row_set_if(&r, !h->opaque, C_PROPERTIES, h->properties);
	}
	if (area)
		row_text(&r, C_AREA, area);
	if (find_guests_note(f, w, h, err) < 0)
		return ATW_E_NOMEM;
	if (h->kind == ATW_TABLE)
		f->entries += h->times;
	else
		f->mappings += h->times * h->count;
	return find_put(f, w, h, frame, &r, err);
}

/* No entry points to a root table: a register does. */
int find_put_root(struct find *f, const struct find_owner *w, const struct mmu_space *sp,
		  atw_pa root, struct atw_err *err)
{
	const struct atw_paging *pg = &f->list.space->paging;
	uint64_t bytes = atw_table_bytes(pg, pg->nlevels - 1u);
	struct find_frame frame;
	struct row r = { 0 };

	if (!rmap_wants(&f->finder, root.u, bytes))
		return ATW_OK;
	frame = find_read_frame(f, root.u);
	if (f->memmap && find_ended(sp))
		return ATW_OK;
	f->roots++;
	find_set_owner(&r, w);
	row_physical(&f->list, &r, root.u);
	row_set(&r, C_SIZE, bytes);
	row_set(&r, C_STATE, STATE_TABLE);
	return find_put(f, w, NULL, frame, &r, err);
}

int find_flush(struct find *f, const struct find_owner *w, struct atw_err *err)
{
	struct find_cursor c = {0};
	struct atw_err why = { 0 };
	int r = ATW_OK;

	rmap_merge(&f->finder);
	/* It is no longer one of all processes. */
	if (w->space && !f->src.subject.given && find_ended(&w->space->mm.space))
		f->finder.n = 0;
	if (f->finder.n && w->space &&
	    atw_areas_open(f->src.target->kernel, w->space->at, &c.areas, &why) < 0)
		find_no_area(f, w, &why);
	if (f->finder.n && w->space && w->space->n > 1)
		f->shared_by++;
	for (size_t i = 0; i < f->finder.n && r == ATW_OK; i++) {
		const struct rmap_entry *h = &f->finder.hit[i];

		r = find_put_hit(f, w,
				 h->kind == ATW_TABLE ? NULL : find_area_of(f, &c, w, h),
				 h, err);
	}
	atw_areas_close(c.areas);
	f->finder.n = 0;
	return r;
}

/* ---- the answer as a whole ---- */

static void find_tally(char *buf, size_t len, uint64_t n, const char *one,
		       const char *many)
{
	snprintf(buf, len, message(n == 1 ? one : many), n);
}

void find_note_targets(const struct find *f)
{
	char *save, *line = f->looked.failed || !f->looked.data ? NULL
			    : strtok_r(f->looked.data, "\n", &save);

	for (; line; line = strtok_r(NULL, "\n", &save)) {
		atw_output_note(f->out, "%s", line);
		if (f->c->format != FORMAT_PLAIN)
			print_warning(f->c, "%s: %s", f->src.name, line);
	}
}

static void find_summary(struct find *f)
{
	char mappings[64], entries[64], roots[64];

	find_tally(mappings, sizeof(mappings), f->mappings, N_("%" PRIu64 " mapping"),
		   N_("%" PRIu64 " mappings"));
	find_tally(entries, sizeof(entries), f->entries, N_("%" PRIu64 " table entry"),
		   N_("%" PRIu64 " table entries"));
	find_tally(roots, sizeof(roots), f->roots, N_("%" PRIu64 " root table"),
		   N_("%" PRIu64 " root tables"));
	find_note_targets(f);
	if (f->guests)
		atw_output_note(f->out, f->guests_searched == 1
				? _("%" PRIu64 " virtual machine has that as its RAM, and was searched")
				: _("%" PRIu64 " virtual machines have that as their RAM, and were searched"),
				f->guests_searched);
	if (f->src.subject.given)
		atw_output_note(f->out, "%s, %s, %s%s", mappings, entries, roots,
				f->c->filter ? _(" before --filter") : "");
	else
		atw_output_note(f->out, "%s, %s, %s%s; %" PRIu64 " address spaces of processes searched",
				mappings, entries, roots, f->c->filter ? _(" before --filter") : "",
				(uint64_t)f->spaces.n);
	if (f->shared_by)
		atw_output_note(f->out, "%" PRIu64 " of the address spaces %s several processes; the column processes lists them all",
				f->shared_by, f->shared_by == 1 ? "belongs to" : "belong to");
}

void find_print_untranslated(const struct find *f)
{
	if (f->untranslated)
		print_incomplete("%s: %" PRIu64 " translation%s of virtual addresses failed; pages may be missing",
				 f->src.name, f->untranslated, f->untranslated == 1 ? "" : "s");
}

/* What was not looked at, in one sentence each. */
bool find_settle(struct find *f)
{
	const struct rmap *n = &f->finder;
	const struct spaces *s = &f->spaces;
	uint64_t lost = n->lost + n->excluded + n->damaged;

	bool unread = !f->src.subject.given && (s->bad_tasks || s->bad_spaces);

	print_defects(f->c, &f->src);
	find_print_untranslated(f);
	if (unread)
		print_incomplete("%s: cannot read %" PRIu64 " task%s and %" PRIu64 " address space%s; mappings may be missing: %.300s",
				 f->src.name, s->bad_tasks, s->bad_tasks == 1 ? "" : "s",
				 s->bad_spaces, s->bad_spaces == 1 ? "" : "s", s->first.text);
	if (lost)
		print_incomplete("%s: cannot read %" PRIu64 " page table%s (%" PRIu64 " not in the source, %" PRIu64 " excluded, %" PRIu64 " damaged); mappings may be missing%s%.200s",
				 f->src.name, lost, lost == 1 ? "" : "s", n->lost, n->excluded, n->damaged,
				 n->damaged ? ": " : "", n->damage.text);
	if (n->unstable)
		print_incomplete("%s: %" PRIu64 " page table%s kept changing while being read; mappings may be missing",
				 f->src.name, n->unstable, n->unstable == 1 ? "" : "s");
	if (f->nameless)
		print_incomplete("%s: %" PRIu64 " area%s or area names could not be read; names may be missing: %.300s",
				 f->src.name, f->nameless, f->nameless == 1 ? "" : "s", f->nameless_why.text);
	return lost || n->unstable || unread || f->limit || f->untranslated || f->nameless || f->src.target->defective;
}

static int find_list(struct find *f)
{
	struct atw_err err = { 0 }, why = { 0 };
	bool tasks, part = false;
	int r;

	f->finder.kept = soft_kept;
	f->finder.kept_arg = target_soft(f->src.target);
	r = find_open(f, NULL, &err);
	if (r < 0)
		return print_error(&err);
	tasks = !f->want.n || (f->src.subject.given && !f->src.subject.label[0]) ||
		spaces_collect(f->src.target->kernel, &f->spaces, &why) == ATW_OK;
	if (f->want.n)
		r = f->src.subject.given ? find_in_one(f, &err) : find_in_all(f, &err);
	thaw(&f->src);
	if (r == ATW_OK)
		r = find_in_guests(f, &part, &err);
	if (r == ATW_OK) {
		find_summary(f);
		r = atw_output_commit(f->out, &err);
	}
	if (r < 0)
		return print_error(&err);
	part |= find_settle(f);
	if (!tasks && !f->src.subject.given) {
		print_incomplete("%s: cannot search the page tables of processes: %s", f->src.name,
				 why.text);
		part = true;
	}
	return part ? EXIT_PARTIAL : f->unmapped ? EXIT_NO :
	       f->mappings || f->entries || f->roots ? EXIT_COMPLETE : EXIT_NO;
}

void find_deinit(struct find *f)
{
	atw_memmap_close(f->memmap);
	spaces_deinit(&f->spaces);
	buf_deinit(&f->pids);
	buf_deinit(&f->looked);
	free(f->target);
	free(f->finder.hit);
	rmap_ranges_deinit(&f->want);
	free(f->want.v);
	find_guests_deinit(f);
}

static int find_run_command(const struct common *c, void *opts, int argc, char **argv)
{
	struct find_opts *o = opts;
	struct find *f;
	int status = EXIT_COMPLETE;
	bool opened;

	if (argc < 2)
		return usage_error("find", argc ? "PHYS or ADDRESS is missing"
						   : "SOURCE is missing");
	f = calloc(1, sizeof(*f));
	if (f)
		f->target = calloc((size_t)argc, sizeof(*f->target));
	if (!f || !f->target) {
		free(f);
		return print_nomem();
	}
	f->c = c;
	f->space = &o->space;
	f->guests = o->guests;
	f->finder = (struct rmap){.want = &f->want, .all = o->all};
	/* Nonsense is reported before a large dump is opened. */
	for (int i = 1; i < argc && !status; i++)
		status = find_check(argv[i]);
	if (!status)
		status = open_frozen(c, argv[0], &o->space, TARGET_RMAP, &f->src);
	opened = !status;
	if (opened && o->guests && !target_has(f->src.target, TARGET_HERE))
		status = usage_error("find", "--guests: only the running kernel has them, by its page tables: live");
	for (int i = 1; i < argc && !status; i++)
		status = find_parse(f, argv[i], o->virtual);
	if (!status)
		status = find_resolve(f, &o->space);
	if (!status)
		status = target_has(f->src.target, TARGET_TABLES) ? find_list(f)
								  : find_by_pages(f);
	atw_output_close(f->out);
	find_deinit(f);
	if (opened)
		session_close(&f->src);
	free(f);
	return status;
}

const struct command cmd_find = {
	.name = "find",
	.args = "SOURCE PHYS|ADDRESS...",
	.summary = "list the mappings of physical memory",
	.about =
		"Lists every virtual address, of every process and of the kernel, that maps\n"
		"the physical page or range PHYS, by pages of any size; non-present entries\n"
		"that refer to the page; and, if PHYS is a page table, the table entries that\n"
		"point to it. PHYS is hexadecimal: A, A-B or A+LENGTH. A symbol, a kernel\n"
		"address, or an address of the process given with --pid is translated first.\n"
		"Exit status 1: nothing maps it; 4: some tables or tasks could not be read.",
	.common = OPT_COMMON_LISTING | OPT_COMMON_ADDRESSES,
	.options = options,
	.opts_size = sizeof(struct find_opts),
	.run = find_run_command,
};
