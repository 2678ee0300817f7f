/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find_target.c - targets of `atwalk find`: physical memory, or the frames that virtual
 * addresses and symbols lead to.
 */
#include <ctype.h>

#include "find.h"
#include "base/message.h"
#include "base/sorted.h"

static int find_target_wrong(const char *text, const char *why)
{
	return usage_error("find", "'%s' %s", text, message(why));
}

/* A single address stands for its page. */
static struct rmap_range find_target_page(uint64_t at, uint64_t page)
{
	return (struct rmap_range){
		.first = at & -page, .last = at | (page - 1), .byte = true, .at = at,
	};
}

/* PHYS, PHYS-PHYS or PHYS+LENGTH; a single one stands for its page. */
static int find_target_parse_physical(const char *text, uint64_t page,
				      struct rmap_range *ret)
{
	const char *dash = strchr(text, '-'), *plus = strchr(text, '+'), *sep = dash ? dash : plus;
	size_t len = sep ? (size_t)(sep - text) : strlen(text);
	uint64_t first, end, n;

	if (!num_hex(text, len, &first))
		return find_target_wrong(
			text, "is neither a hexadecimal address nor a symbol");
	if (!sep) {
		*ret = find_target_page(first, page);
		return EXIT_COMPLETE;
	}
	if (dash) {
		if (!num_hex(dash + 1, strlen(dash + 1), &end))
			return find_target_wrong(
				text, "does not end with a hexadecimal address");
		if (end == first)
			return find_target_wrong(text, "is an empty range");
		if (end - 1 < first)
			return find_target_wrong(text, "ends before it starts");
		*ret = (struct rmap_range){.first = first, .last = end - 1, .at = first};
		return EXIT_COMPLETE;
	}
	if (!num_size(plus + 1, strlen(plus + 1), &n))
		return find_target_wrong(
			text, "has an invalid length (expected 4096, 0x1000, 4K, 2M, 1G)");
	if (!n || __builtin_add_overflow(first, n - 1, &end))
		return find_target_wrong(text, n ? "runs past the last address"
						 : "is an empty range");
	*ret = (struct rmap_range){.first = first, .last = end, .at = first};
	return EXIT_COMPLETE;
}

/* Any valid hexadecimal number is one, even "add" and "face". */
static bool find_target_is_symbol(const char *text)
{
	uint64_t n;

	return (isalpha((unsigned char)*text) || *text == '_' || *text == '.') &&
	       !num_hex(text, strcspn(text, "+-"), &n);
}

int find_check(const char *text)
{
	struct rmap_range w;

	return find_target_is_symbol(text) ? EXIT_COMPLETE
					   : find_target_parse_physical(text, 4096, &w);
}

/* Is any of it memory, as far as the source knows? */
static bool find_target_is_memory(const struct find *f, const struct rmap_range *w)
{
	return target_is_ram(f->src.target, w->first, w->last);
}

int find_parse(struct find *f, const char *text, bool is_virtual)
{
	const struct atw_paging *pg = &f->src.subject.space.paging;
	struct find_target *t = &f->target[f->ntargets];
	struct atw_err err = { 0 };
	int status;

	*t = (struct find_target){
		.text = text, .is_virtual = is_virtual || find_target_is_symbol(text)};
	if (!t->is_virtual) {
		status = find_target_parse_physical(text, (uint64_t)1 << pg->page_shift,
						    &t->phys);
		if (status)
			return status;
		t->is_virtual = pg->pa_bits < 64 && t->phys.last >> pg->pa_bits;
		/* Not memory, but perhaps an address of the selected process. */
		t->is_either = !t->is_virtual && f->src.subject.pid &&
			       !find_target_is_memory(f, &t->phys);
	}
	f->ntargets++;
	if (!t->is_virtual && !t->is_either)
		return EXIT_COMPLETE;
	if (address_arg_parse(&f->src, text, &t->va, &err) == ATW_OK) {
		if (!t->va.ownerless || target_has(f->src.target, TARGET_OWNER))
			return EXIT_COMPLETE;
		atw_err_set(&err, ATW_E_USAGE,
			    "'%s' is a user-space address: specify a process with --pid or --task", text);
	}
	if (!t->is_either)
		return print_error(&err);
	t->is_either = false;
	return EXIT_COMPLETE;
}

/* ---- from virtual addresses to frames ---- */

struct translation {
	struct find *f;
	const struct address *a;
	size_t from;             /* its ranges are f->want.v from here on */
	uint64_t mapped, lost;   /* bytes; pieces that cannot be read */
	uint8_t what;            /* enum atw_soft of a word without a frame */
};

static int find_target_add_wanted(struct find *f, const struct rmap_range *w,
				  struct atw_err *err)
{
	if (!array_reserve((void **)&f->want.v, &f->wants, f->want.n + 1, sizeof(*w)))
		return atw_err_nomem(err);
	f->want.v[f->want.n++] = *w;
	return ATW_OK;
}

/* `len` bytes at `va` lie at `pa`. */
static int find_target_add_frames(void *arg, uint64_t va, uint64_t pa, uint64_t len,
				  struct atw_err *err)
{
	struct translation *t = arg;
	uint64_t first = t->a->first > va ? t->a->first : va, last = va + (len - 1);
	struct rmap_range *before =
		t->f->want.n > t->from ? &t->f->want.v[t->f->want.n - 1] : NULL;
	struct rmap_range w;

	last = t->a->last < last ? t->a->last : last;
	if (first > last)
		return ATW_OK;
	w = (struct rmap_range){.first = pa + (first - va), .last = pa + (last - va)};
	w.at = w.first;
	t->mapped += last - first + 1;
	if (!t->a->is_range) {
		uint64_t page = (uint64_t)1 << t->f->src.subject.space.paging.page_shift;

		w = find_target_page(w.at, page);
	} else if (before && before->last + 1 == w.first) {
		before->last = w.last;
		return ATW_OK;
	}
	return find_target_add_wanted(t->f, &w, err);
}

/* A non-present PTE may refer to a page. */
static int find_target_add_kept(struct translation *t, const struct mmu_space *sp,
				const struct mmu_seen *s, uint64_t slot,
				struct atw_err *err)
{
	const struct atw_soft_word soft = atw_soft_decode_at(target_soft(t->f->src.target), &sp->paging, s->va,
							     s->level, s->path[s->depth - 1].word);
	int r = ATW_OK;

	switch (soft.what) {
	case ATW_SOFT_PROTNONE:
	case ATW_SOFT_MIGRATION:
	case ATW_SOFT_POISON:
	case ATW_SOFT_DEVICE:
		for (uint32_t i = 0; i < s->count && r == ATW_OK; i++)
			r = find_target_add_frames(t, s->va.u + i * slot, soft.pa.u, slot,
						   err);
		return r;
	default:
		t->what = (uint8_t)soft.what;
		return ATW_OK;
	}
}

static int find_target_translate(struct translation *t, struct atw_err *err)
{
	const struct mmu_space *sp = &t->f->src.subject.space;
	/* Recurring tables lead to the same frames. */
	const struct mmu_walk_opts wo = {
		.first = ATW_VA(t->a->first), .last = ATW_VA(t->a->last),
		.flags = MMU_WALK_FOLD | MMU_WALK_SOFT,
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT),
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r = mmu_walk_open(sp, &wo, &w, err);

	if (r < 0)
		return r;
	while (r == ATW_OK && (r = mmu_walk_next(w, &s, err)) == ATW_OK) {
		uint64_t slot = s->count ? s->size / s->count : s->size;

		t->lost += s->loss != ATW_HAVE;
		if (s->loss || s->repeat_of || s->kind == ATW_BAD)
			continue;
		if (s->kind == ATW_ABSENT)
			r = find_target_add_kept(t, sp, s, slot, err);
		for (uint32_t i = 0; s->kind == ATW_LEAF && i < s->count && r == ATW_OK; i++)
			r = find_target_add_frames(t, s->va.u + i * slot,
						   mmu_seen_pa(sp, s, i).u, slot, err);
	}
	mmu_walk_close(w);
	return r == ATW_END ? ATW_OK : r;
}

/* Merge frames that are mapped several times in a range. */
static void find_target_merge(struct translation *t)
{
	struct rmap_range *v = t->f->want.v + t->from;
	size_t n = t->f->want.n - t->from, kept = 0;

	if (!n || !t->a->is_range)
		return;
	qsort(v, n, sizeof(*v), sorted_by_u64);
	for (size_t i = 1; i < n; i++)
		if (v[i].first <= v[kept].last || v[i].first == v[kept].last + 1)
			v[kept].last = v[i].last > v[kept].last ? v[i].last : v[kept].last;
		else
			v[++kept] = v[i];
	t->f->want.n = t->from + kept + 1;
}

enum { SHOWN = 4 };              /* ranges in a sentence */

/* Format "init_task is at physical 0x2c0e940" for the notes. */
static void find_target_note_looked(const struct find_target *ft,
				    const struct translation *t)
{
	const struct rmap_range *v = t->f->want.v + t->from;
	size_t n = t->f->want.n - t->from;
	struct buf *b = &t->f->looked;

	if (!n)
		return;
	if (b->len)
		buf_char(b, '\n');
	buf_printf(b, _("%s is at physical "), ft->text);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		if (!t->a->is_range)
			buf_printf(b, "0x%" PRIx64, v[i].at);
		else
			buf_printf(b, "%s0x%" PRIx64 "-0x%" PRIx64, i ? ", " : "", v[i].first,
				   v[i].last + 1);
	}
	if (n > SHOWN)
		buf_printf(b, _(" and %zu ranges more"), n - SHOWN);
	if (t->mapped <= t->a->last - t->a->first)
		buf_printf(b, _("; %" PRIu64 " bytes of it are mapped"), t->mapped);
}

static int find_target_note_unmapped(const struct find_target *ft,
				     const struct translation *t)
{
	struct find *f = t->f;
	const char *process = f->src.subject.label[0] ? f->src.subject.label :
			      f->src.subject.given ? _("these page tables") : _("the kernel");
	struct atw_err err = { 0 };

	if (t->lost)
		atw_err_set(&err, ATW_E_LIMIT, "%s: cannot translate %s: a page table cannot be read",
			    f->src.name, ft->text);
	else if (t->what == ATW_SOFT_NONE)
		atw_err_set(&err, ATW_E_NONE, "%s: %s is not mapped by %s", f->src.name, ft->text,
			    process);
	else
		atw_err_set(&err, ATW_E_NONE, "%s: %s is not in memory: %s", f->src.name, ft->text,
			    atw_soft_name(t->what));
	return print_error(&err);
}

/*
 * Resolve one virtual target in the page tables of f->src. Returns 0 or an exit status.
 */
static int find_target_resolve(struct find *f, const struct find_target *ft,
			       bool *ret_mapped)
{
	struct translation t = { .f = f, .a = &ft->va, .from = f->want.n };
	struct atw_err err = { 0 };
	int r = target_has(f->src.target, TARGET_TABLES)
			? find_target_translate(&t, &err)
			: find_translate_by_pages(f, &ft->va, find_target_add_frames, &t,
						  &t.lost, &err);

	if (r < 0 && r != ATW_E_LIMIT)
		return print_error(&err);
	t.lost += r == ATW_E_LIMIT;
	*ret_mapped = f->want.n > t.from;
	if (ft->is_either && !*ret_mapped)
		return EXIT_COMPLETE;
	find_target_merge(&t);
	find_target_note_looked(ft, &t);
	f->untranslated += t.lost;
	if (!*ret_mapped && find_target_note_unmapped(ft, &t) == EXIT_NO)
		f->unmapped++;
	return EXIT_COMPLETE;
}

/*
 * With --pid N, a number that is both a physical address and an address of N is taken as
 * the former.
 */
static void find_target_note_taken(const struct find *f, const struct find_target *t)
{
	struct mmu_seen s;

	if (f->src.subject.pid && f->src.target->kernel &&
	    mmu_translate(&f->src.subject.space, ATW_VA(t->phys.at), &s, NULL) == ATW_OK && !s.loss &&
	    s.kind == ATW_LEAF)
		print_warning(f->c, "%s: %s is taken as a physical address; use --virtual to take it as one of %s",
			      f->src.name, t->text, f->src.subject.label);
}

/* Resolve the address in the selected process, or in the only one that maps it. */
static int find_target_resolve_virtual(struct find *f, const struct space_opts *space,
				       const struct find_target *t, bool *ret_mapped)
{
	const struct subject own = f->src.subject;
	bool unmapped = false;
	int status = EXIT_COMPLETE;

	*ret_mapped = false;
	if (t->va.ownerless)
		status = select_owner(f->c, &f->src, space, t->text, t->va.first, t->va.last,
				      &unmapped);
	if (!status && unmapped)
		f->unmapped++;
	else if (!status)
		status = find_target_resolve(f, t, ret_mapped);
	f->src.subject = own;
	return status;
}

/* Was any of it filtered out when the dump was made? */
static bool find_target_is_excluded(const struct find *f, const struct rmap_range *w)
{
	uint64_t at = w->first;
	struct atw_extent e;

	if (!target_has(f->src.target, TARGET_MEMORY))
		return false;
	while (atw_extent_at(f->src.target->source, ATW_PA(at), &e) == ATW_OK &&
	       e.start.u <= w->last) {
		if (e.kind == ATW_EXCLUDED)
			return true;
		if (!e.len || e.start.u + (e.len - 1) >= w->last || e.start.u + e.len <= at)
			break;
		at = e.start.u + e.len;
	}
	return false;
}

int find_resolve(struct find *f, const struct space_opts *space)
{
	bool mapped, any = false;
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < f->ntargets && !status; i++) {
		struct find_target *t = &f->target[i];

		mapped = false;
		if (t->is_virtual || t->is_either)
			status = find_target_resolve_virtual(f, space, t, &mapped);
		any |= mapped;
		if (status || t->is_virtual || mapped)
			continue;
		if (!find_target_is_memory(f, &t->phys))
			print_warning(f->c, "%s: %s is not part of its memory", f->src.name, t->text);
		else
			find_target_note_taken(f, t);
		if (find_target_is_excluded(f, &t->phys))
			print_warning(f->c, "%s: %s was excluded when the dump was made; only its mappings are known",
				      f->src.name, t->text);
		if (find_target_add_wanted(f, &t->phys, &err) < 0)
			status = print_error(&err);
	}
	/* Search all processes for other mappings of the frames of one. */
	if (any && f->src.subject.pid)
		subject_default(f->src.target, &f->src.subject);
	/* Skip the search if no target is mapped. */
	if (f->want.n)
		rmap_sort(&f->want);
	return status;
}
