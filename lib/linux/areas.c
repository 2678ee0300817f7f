// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * areas.c - iterator over the VMAs of an mm_struct.
 *
 * Since d4af56c5c7c6 (6.1) VMAs are in a maple tree, before in a list. Both must be in
 * ascending order: a VMA that begins before the previous one ended is an error, so a
 * circular list ends. areas_tree.c has the tree.
 *
 * A running process changes them while they are read. What was read is valid if nothing
 * had changed by then, or nothing on the path to it; else reading restarts behind the
 * last VMA that was returned.
 *
 * The VMAs of a running process are read ahead, those of several leaves at once, and are
 * valid if nothing had changed when all of them were read. Otherwise none of them is
 * used, and the rest is read one by one.
 */
#include "linux/areas_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "linux/vm_flags.h"

enum {
	AREAS = 1 << 24,
	TRIES = 64,              /* for one VMA of a running process */
	SKIPS = 1000,            /* limit of VMAs that changed on every attempt */
	FAULTS = 8,              /* consecutive errors that end the listing */
};

/* Values that change with each change of the VMAs, as far as the kernel counts them. */
struct stamp {
	uint64_t seq, root, count, total, users;
};

enum areas_phase { TREE, LIST, GATE, DONE };

struct atw_areas {
	struct members v;
	struct names names;
	struct named_files files;        /* of a running process */
	uint64_t mm;
	enum areas_phase phase;
	uint64_t ended;          /* end of the last VMA */
	uint64_t from;           /* those that end at it or before it are not wanted */
	uint32_t count;

	struct areas_tree tree;  /* TREE */
	uint64_t next;           /* LIST: the vm_area_struct */
	struct atw_err unread;
	bool live, again;        /* again: reading must restart */
	bool unproved;           /* something was read after the last check of the
				  * stamp */
	unsigned skipped;
	struct stamp stamp;      /* value when this pass began */
};

/* ---- opening ---- */

static int areas_start_tree(struct atw_areas *a, struct atw_err *err)
{
	int r;

	a->phase = TREE;
	r = areas_tree_start(&a->tree, &a->v, a->mm, a->ended, err);
	if (r == ATW_E_LIMIT)
		a->phase = DONE;
	return r;
}

/* One read: these members of mm_struct are in its first few hundred bytes. */
static const enum need_member stamped[] = {
	N_mm_users, N_mm_lock_seq, N_mm_ma_root, N_mm_map_count, N_mm_total_vm,
};

static void areas_take_stamp(const struct atw_areas *a, struct stamp *ret)
{
	const struct { enum need_member id; uint64_t *to; } part[] = {
		{ N_mm_users, &ret->users }, { N_mm_lock_seq, &ret->seq },
		{ N_mm_ma_root, &ret->root }, { N_mm_map_count, &ret->count },
		{ N_mm_total_vm, &ret->total },
	};
	/* With a sequence number the other values are redundant. */
	size_t n = member_have(&a->v, N_mm_lock_seq) ? 2 : ARRAY_SIZE(part);

	*ret = (struct stamp){ .users = 1 };
	members_hold(&a->v, a->mm, stamped, n == 2 ? 2 : ARRAY_SIZE(stamped));
	for (size_t i = 0; i < n; i++)
		if (member_have(&a->v, part[i].id))
			member_get(&a->v, a->mm, part[i].id, part[i].to, NULL);
	members_release(&a->v);
}

/* Restart from the first VMA that was not returned. */
static int areas_start(struct atw_areas *a, struct atw_err *err)
{
	if (a->live)
		areas_take_stamp(a, &a->stamp);
	a->unproved = true;
	if (member_have(&a->v, N_mm_ma_root))
		return areas_start_tree(a, err);
	a->phase = LIST;
	if (member_have(&a->v, N_vma_next))
		return member_get(&a->v, a->mm, N_mm_mmap, &a->next, err);
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "memory areas cannot be found: this kernel has neither a tree nor a list of them");
}

static void areas_use_files(struct atw_areas *a, struct named_files *files)
{
	a->names.files = files;
	files->backing = a->names.backing;
}

int areas_open_at(struct members v, uint64_t mm, unsigned page_shift,
		  unsigned release, struct atw_areas **ret, struct atw_err *err)
{
	struct atw_areas *a;
	int r = needs_check(v.n, FOR_AREAS, err);

	if (r < 0)
		return r;
	a = calloc(1, sizeof(*a));
	if (!a)
		return atw_err_nomem(err);
	a->v = v;
	a->mm = mm;
	a->live = kmem_is_live(v.m);
	if (a->live)
		a->v.ahead = kmem_ahead_create(v.m);
	a->tree.ahead = a->v.ahead;
	r = areas_start(a, err);
	/* An unreadable entry may have been freed meanwhile. */
	a->again = r < 0 && r != ATW_E_UNSUPPORTED && a->live;
	if (r < 0 && !a->again) {
		atw_areas_close(a);
		return atw_err_wrap(err, "mm at 0x%" PRIx64, mm);
	}
	names_init(&a->names, a->v, mm, page_shift, release);
	/* Each read of a running kernel is a system call, and several areas have one file. */
	if (a->live)
		areas_use_files(a, &a->files);
	*ret = a;
	return ATW_OK;
}

static unsigned areas_release_of(const struct atw_kernel *k)
{
	unsigned major, minor;
	struct atw_blob b;
	char text[32];

	if (!k->have_vi || atw_vmcoreinfo_text(&k->vi, "OSRELEASE", &b) < 0)
		return 0;
	blob_text(b, text, sizeof(text));
	return sscanf(text, "%3u.%3u", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

int areas_open_named(struct atw_kernel *k, uint64_t mm, struct named_files *files,
		     struct atw_areas **ret, struct atw_err *err)
{
	int r = atw_areas_open(k, mm, ret, err);

	if (r == ATW_OK && files)
		areas_use_files(*ret, files);
	return r;
}

int atw_areas_open(struct atw_kernel *k, uint64_t mm, struct atw_areas **ret,
		   struct atw_err *err)
{
	struct members v = { 0 };
	int r = kernel_access(k, FOR_AREAS, &v, err);

	return r < 0 ? r
		     : areas_open_at(v, mm, k->own.paging.page_shift, areas_release_of(k),
				     ret, err);
}

int areas_open_unnamed(struct atw_kernel *k, uint64_t mm, struct atw_areas **ret,
		       struct atw_err *err)
{
	int r = atw_areas_open(k, mm, ret, err);

	if (r == ATW_OK)
		(*ret)->tree.unnamed = true;
	return r;
}

void areas_begin_at(struct atw_areas *a, uint64_t from)
{
	a->from = from;
}

void atw_areas_close(struct atw_areas *a)
{
	if (!a)
		return;
	kmem_ahead_destroy(a->v.ahead);
	named_files_deinit(&a->files);
	free(a);
}

/* ---- one area ---- */

static int areas_fill_held(struct atw_areas *a, uint64_t vma, struct atw_area *ret,
			   struct atw_err *err)
{
	uint64_t page = (uint64_t)1 << a->names.page_shift;
	int r;

	memset(ret, 0, offsetof(struct atw_area, name) + 1);
	ret->at = vma;
	r = member_get(&a->v, vma, N_vma_start, &ret->start.u, err) ?:
	    member_get(&a->v, vma, N_vma_end, &ret->end.u, err) ?:
	    member_get(&a->v, vma, N_vma_flags, &ret->flags, err);
	if (r < 0)
		return atw_err_wrap(err, "area at 0x%" PRIx64, vma);
	if (ret->start.u >= ret->end.u || (ret->start.u | ret->end.u) & (page - 1))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "area at 0x%" PRIx64 ": goes from 0x%" PRIx64 " to 0x%" PRIx64,
				   vma, ret->start.u, ret->end.u);
	if (ret->start.u < a->ended)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "area at 0x%" PRIx64 ": begins at 0x%" PRIx64
				   ", where the one before it has not ended",
				   vma, ret->start.u);
	a->ended = ret->end.u;
	ret->read = ret->flags & VM_READ;
	ret->write = ret->flags & VM_WRITE;
	ret->exec = ret->flags & VM_EXEC;
	ret->shared = ret->flags & VM_MAYSHARE;
	ret->rights_unknown = false;
	a->unread.status = a->tree.unnamed || ret->end.u <= a->from
				   ? ATW_OK : names_fill(&a->names, ret, &a->unread);
	ret->unread = a->unread.status < 0;
	return ATW_OK;
}

/* Members that belong together, read at once if the process runs. */
static int areas_fill(struct atw_areas *a, uint64_t vma, struct atw_area *ret,
		      struct atw_err *err)
{
	int r;

	area_hold(&a->v, vma);
	r = areas_fill_held(a, vma, ret, err);
	members_release(&a->v);
	return r;
}

/* ---- all of them ---- */

static int areas_fill_slot(struct atw_areas *a, const struct maple_slot *s,
			   struct atw_area *ret, struct atw_err *err)
{
	uint64_t ended = a->ended;
	int r = areas_fill(a, s->entry, ret, err);

	if (r == ATW_OK && (ret->start.u != s->first || ret->end.u - 1 != s->last)) {
		a->ended = ended;        /* so that the following VMAs are not reported
					  * as overlapping */
		r = atw_err_set(err, ATW_E_DAMAGED, "area at 0x%" PRIx64
				": its tree has it from 0x%" PRIx64 " to 0x%" PRIx64,
				s->entry, s->first, s->last);
	}
	return r;
}

static int areas_next_of_tree(struct atw_areas *a, struct atw_area *ret,
			      struct atw_err *err)
{
	/* What was returned before the restart of a running process is passed, too. */
	uint64_t from = a->live && a->ended > a->from ? a->ended : a->from;
	struct maple_slot s;
	int r = areas_tree_next(&a->tree, &a->v, a->ended, from, &s, err);

	if (r == ATW_OK)
		return areas_fill_slot(a, &s, ret, err);
	if (r == ATW_END || r == ATW_E_LIMIT)
		a->phase = r == ATW_END ? GATE : DONE;
	return r;
}

/* Was it returned before the restart? */
static bool areas_is_done(const struct atw_areas *a, uint64_t vma)
{
	uint64_t end;

	return a->ended && member_get(&a->v, vma, N_vma_end, &end, NULL) == ATW_OK &&
	       end <= a->ended;
}

static int areas_next_in_list(struct atw_areas *a, struct atw_area *ret,
			      struct atw_err *err)
{
	uint64_t vma;
	int r;

	a->phase = GATE;                 /* a broken list cannot be continued */
	do {
		vma = a->next;
		if (!vma)
			return ATW_END;
		r = member_get(&a->v, vma, N_vma_next, &a->next, err);
	} while (r == ATW_OK && a->live && areas_is_done(a, vma) && a->count++ < AREAS);
	if (r == ATW_OK)
		r = areas_fill(a, vma, ret, err);
	if (r == ATW_OK)
		a->phase = LIST;
	return r;
}

/* What is not wanted is read as well: that the order of a list is right, all of it shows. */
static int areas_next_of_list(struct atw_areas *a, struct atw_area *ret,
			      struct atw_err *err)
{
	int r;

	do
		r = areas_next_in_list(a, ret, err);
	while (r == ATW_OK && ret->end.u <= a->from && a->count++ < AREAS);
	return r;
}

/*
 * x86: maps shows a VMA that is in no mm. arch/x86/entry/vsyscall/vsyscall_64.c,
 * get_gate_vma(): not if it is disabled, and not in 32-bit processes.
 */
static int areas_next_of_gate(struct atw_areas *a, struct atw_area *ret,
			      struct atw_err *err)
{
	enum { MODE_NONE = 2, HAS_VSYSCALL = 2 };
	const struct needs *n = a->v.n;
	uint64_t gate = n->symbol[Y_gate_vma], mode = n->symbol[Y_vsyscall_mode];
	uint64_t flags = HAS_VSYSCALL, narrow = 0;
	uint32_t value = MODE_NONE;

	a->phase = DONE;
	if (!gate || !mode || kmem_u32(a->v.m, mode, &value, NULL) < 0 ||
	    value == MODE_NONE)
		return ATW_END;
	if (member_have(&a->v, N_mm_context_flags))
		member_get(&a->v, a->mm, N_mm_context_flags, &flags, NULL);
	else if (member_have(&a->v, N_mm_ia32))
		member_get(&a->v, a->mm, N_mm_ia32, &narrow, NULL);
	if (!(flags & HAS_VSYSCALL) || narrow)
		return ATW_END;
	if (areas_fill(a, gate, ret, err) < 0)
		return err->status;
	snprintf(ret->name, sizeof(ret->name), "[vsyscall]");
	return ATW_OK;
}

static int areas_next_of(struct atw_areas *a, struct atw_area *ret, struct atw_err *err)
{
	return a->phase == TREE   ? areas_next_of_tree(a, ret, err)
	       : a->phase == LIST ? areas_next_of_list(a, ret, err)
				  : areas_next_of_gate(a, ret, err);
}

/* The same for a running process. */
static int areas_next_moving(struct atw_areas *a, struct atw_area *ret,
			     struct atw_err *err)
{
	uint64_t from = a->ended, reached = 0;
	unsigned ends = 0, faults = 0;
	bool same;

	for (unsigned i = 0; i < TRIES; i++) {
		enum areas_phase phase;
		struct stamp now;
		uint64_t reads = kmem_reads(a->v.m);
		int r = a->again ? areas_start(a, err) : ATW_OK;

		a->again = false;
		phase = a->phase;
		if (r == ATW_OK)
			r = areas_next_of(a, ret, err);
		else
			a->phase = DONE;
		a->unproved |= kmem_reads(a->v.m) != reads;
		if (r >= 0 && !a->unproved)
			return r;
		areas_take_stamp(a, &now);
		if (!now.users) {
			a->phase = DONE;
			return atw_err_set(err, ATW_E_LIMIT,
					   "the process ended while its areas were read");
		}
		/* The seqcount of newer kernels is odd while VMAs are changed. */
		same = !memcmp(&now, &a->stamp, sizeof(now)) && !(now.seq & 1);
		a->unproved = !same;
		if (phase == GATE || (same && r >= 0) || (same && ++faults == FAULTS) ||
		    (r == ATW_OK && phase == TREE && !a->tree.ahead &&
		     areas_tree_holds(&a->tree, &a->v, a->mm)) ||
		    (r == ATW_END && ++ends == 2))
			return r;
		if (r == ATW_OK)
			reached = a->ended;
		a->ended = from;
		a->again = true;
		areas_tree_one_by_one(&a->tree, &a->v);
	}
	if (!reached)
		reached = from + ((uint64_t)1 << a->names.page_shift);
	a->ended = reached;
	if (a->skipped++ == SKIPS) {
		a->phase = DONE;
		return atw_err_set(err, ATW_E_LIMIT,
				   "its areas from 0x%" PRIx64 " on never hold still", from);
	}
	return atw_err_set(err, ATW_E_MISSING, "its areas from 0x%" PRIx64 " to 0x%" PRIx64
			   " never hold still", from, reached);
}

int atw_areas_next(struct atw_areas *a, struct atw_area *ret, struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = ATW_END;

	while (r == ATW_END && a->phase != DONE) {
		if (a->count == AREAS) {
			a->phase = DONE;
			atw_err_set(&why, ATW_E_LIMIT, "it has more than %d areas", AREAS);
			r = ATW_E_LIMIT;
			break;
		}
		r = a->live ? areas_next_moving(a, ret, &why)
			    : areas_next_of(a, ret, &why);
	}
	a->count++;
	if (r < 0 && err) {
		*err = why;
		atw_err_wrap(err, "mm at 0x%" PRIx64, a->mm);
	}
	return r;
}

const struct atw_err *atw_areas_error(const struct atw_areas *a)
{
	return &a->unread;
}

int areas_size(struct atw_kernel *k, uint64_t mm, uint64_t *ret)
{
	_auto_free struct atw_areas *a = calloc(1, sizeof(*a));
	_auto_free struct atw_area *gate = malloc(sizeof(*gate));
	struct atw_err why = { 0 };
	uint64_t pages = 0;
	int r;

	if (!a || !gate)
		return ATW_E_NOMEM;
	a->v.n = kernel_needs(k);
	a->mm = mm;
	r = kernel_kmem(k, &a->v.m, &why);
	if (r == ATW_OK && !member_have(&a->v, N_mm_total_vm))
		r = ATW_E_UNSUPPORTED;
	if (r == ATW_OK)
		r = member_get(&a->v, mm, N_mm_total_vm, &pages, &why);
	if (r < 0)
		return r;
	names_init(&a->names, a->v, mm, k->own.paging.page_shift, areas_release_of(k));
	pages <<= k->own.paging.page_shift;
	/* The vsyscall area is in no mm. */
	if (areas_next_of_gate(a, gate, &why) == ATW_OK)
		pages += gate->end.u - gate->start.u;
	*ret = pages;
	return ATW_OK;
}
