/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk over random memory. Whatever lies there, a listing of all kinds
 * has every address once, in order; translate says the same about each; and
 * no tree of tables costs more than the budget.
 */
#include "tables.h"

enum { BUDGET = 24, PIECES = 1000 };

struct listing {
	const struct machine *m;
	struct mmu_walk_opts o;
	uint64_t next;           /* the first address not listed yet */
	uint64_t seen;
	bool ended;
};

/* The first address a walk has to say something about, from `at` up. */
static uint64_t due(const struct mmu_space *sp, uint64_t at)
{
	const struct atw_paging *pg = &sp->paging;
	uint64_t all = UINT64_MAX >> (64 - pg->va_bits);
	uint64_t upper = pg->halves == ATW_SIGNED ? ~(all >> 1) :
			 pg->halves == ATW_SPLIT && sp->high.have ? ~all : UINT64_MAX;
	uint64_t low_last = pg->halves == ATW_SIGNED ? all >> 1 : all;

	return at > low_last && at < upper ? upper : at;
}

/* Past the last address it has to say something about? */
static bool is_end(const struct mmu_space *sp, uint64_t at)
{
	const struct atw_paging *pg = &sp->paging;

	return pg->halves == ATW_FLAT ? at == (UINT64_MAX >> (64 - pg->va_bits)) + 1
				      : !at;
}

/* One address inside the piece, asked for by itself. */
static void same_alone(const struct listing *l, const struct mmu_seen *s, uint32_t i)
{
	const struct mmu_space *sp = &l->m->sp;
	uint64_t slot = (uint64_t)1 << sp->paging.level[s->level].shift;
	uint64_t va = s->va.u + i * slot + (slot - 1);
	struct mmu_seen one, out;
	struct atw_err err = { 0 };
	int r = mmu_translate(sp, ATW_VA(va), &one, &err);

	FUZZ_CHECK(r == ATW_OK, "0x%" PRIx64 " is listed: %s", va, err.text);
	/* A table in several pages is lost as one, an entry by itself. */
	if (s->loss && atw_table_bytes(&sp->paging, s->level) > (size_t)1 << l->m->shift)
		return;
	FUZZ_CHECK(one.kind == s->kind && one.loss == s->loss && one.level == s->level &&
		   one.va.u == s->va.u + i * slot,
		   "0x%" PRIx64 ": kind %u loss %u level %u alone, %u %u %u listed", va,
		   one.kind, one.loss, one.level, s->kind, s->loss, s->level);
	if (s->loss)
		return;
	FUZZ_CHECK(one.rights == s->rights, "0x%" PRIx64 ": rights %x alone, %x listed",
		   va, one.rights, s->rights);
	FUZZ_CHECK(one.path[one.depth - 1].word == mmu_seen_word(sp, s, i), "0x%" PRIx64,
		   va);
	FUZZ_CHECK(s->kind != ATW_LEAF || one.pa.u == mmu_seen_pa(sp, s, i).u,
		   "0x%" PRIx64 ": 0x%" PRIx64 " alone, 0x%" PRIx64 " listed", va,
		   one.pa.u, mmu_seen_pa(sp, s, i).u);
	FUZZ_CHECK(one.depth == s->depth, "0x%" PRIx64 ": depth %u alone, %u listed", va,
		   one.depth, s->depth);
	mmu_seen_one(sp, s, i, &out);
	FUZZ_CHECK(out.va.u == one.va.u && out.size == one.size && out.count == 1 &&
		   out.pa.u == (s->kind == ATW_TABLE ? s->pa.u : one.pa.u),
		   "0x%" PRIx64 ": taken out of its piece it is another", va);
	for (unsigned k = 0; k < one.depth; k++)
		FUZZ_CHECK(out.path[k].word == one.path[k].word &&
			   out.path[k].at.u == one.path[k].at.u &&
			   out.path[k].index == one.path[k].index &&
			   out.path[k].kind == one.path[k].kind &&
			   out.path[k].rights == one.path[k].rights,
			   "0x%" PRIx64 ": path[%u] alone and listed differ", va, k);
}

static void piece(struct listing *l, const struct mmu_seen *s)
{
	const struct mmu_space *sp = &l->m->sp;
	unsigned bottom = l->o.depth && l->o.depth < sp->paging.nlevels
			  ? sp->paging.nlevels - l->o.depth : 0;

	FUZZ_CHECK(s->level < sp->paging.nlevels && s->count, "level %u", s->level);
	FUZZ_CHECK(s->size == (uint64_t)s->count << sp->paging.level[s->level].shift,
		   "size");
	FUZZ_CHECK(s->depth <= sp->paging.nlevels, "depth %u", s->depth);
	FUZZ_CHECK(s->va.u == due(sp, l->next),
		   "piece at 0x%" PRIx64 ", 0x%" PRIx64 " is next", s->va.u, l->next);
	FUZZ_CHECK(!(l->o.flags & MMU_WALK_EACH) || s->count == 1 || s->loss,
		   "EACH has %u",
		   s->count);
	for (unsigned i = 0; i < s->depth; i++)
		FUZZ_CHECK(s->path[i].level == sp->paging.nlevels - 1 - i, "path[%u]", i);
	if (s->repeat_of)
		FUZZ_CHECK(s->size % s->repeat_of == 0 && l->o.flags & MMU_WALK_FOLD,
			   "repeat");
	else if (!l->o.depth && (s->loss || s->kind != ATW_TABLE) &&
		 (l->seen < 200 || l->seen % 8 == 0)) {
		same_alone(l, s, 0);
		same_alone(l, s, s->count - 1);
	}
	if (s->loss || s->kind != ATW_TABLE || s->level == bottom || s->repeat_of)
		l->next = s->va.u + s->size;
}

static void list(struct machine *m, uint32_t flags, unsigned depth)
{
	struct listing l = { .m = m, .o = {
		.last = ATW_VA(UINT64_MAX), .want = 0xf,
		.flags = flags, .depth = depth, .budget = BUDGET,
	} };
	const struct mmu_seen *s;
	struct atw_err err = { 0 };
	struct mmu_walk *w;
	int r = mmu_walk_open(&m->sp, &l.o, &w, &err);

	FUZZ_CHECK(r == ATW_OK, "%s", err.text);
	while (l.seen++ < PIECES && (r = mmu_walk_next(w, &s, &err)) == ATW_OK)
		piece(&l, s);
	check_err(r, &err);
	FUZZ_CHECK(r >= 0 || r == ATW_E_LIMIT, "status %d", r);
	FUZZ_CHECK(mmu_walk_stats(w).tables <= BUDGET, "the budget is %u", BUDGET);
	FUZZ_CHECK(r != ATW_E_LIMIT || mmu_walk_next(w, &s, &err) == r, "it goes on");
	FUZZ_CHECK(r != ATW_END || is_end(&m->sp, l.next),
		   "ends at 0x%" PRIx64, l.next);
	mmu_walk_close(w);
}

/* A part of the address space, folded pieces taken apart now and then. */
static void part(struct machine *m, struct input *in)
{
	uint64_t a = take(in, 8), b = take(in, 8), last = 0;
	struct mmu_walk_opts o = {
		.first = ATW_VA(a < b ? a : b),
		.last = ATW_VA(a < b ? b : a), .want = (uint32_t)take(in, 1) & 0xf,
		.flags = (uint32_t)take(in, 1) & 7, .depth = (unsigned)take(in, 1) & 7,
		.budget = BUDGET,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	bool any = false;

	if (mmu_walk_open(&m->sp, &o, &w, NULL) < 0)
		return;
	for (int i = 0; i < 500 && mmu_walk_next(w, &s, NULL) == ATW_OK; i++) {
		uint64_t end = s->va.u + s->size - 1;

		FUZZ_CHECK(s->va.u <= o.last.u && end >= o.first.u,
			   "0x%" PRIx64 "-0x%" PRIx64 " was not asked for", s->va.u, end);
		FUZZ_CHECK(!any || s->va.u > last, "0x%" PRIx64 " is listed twice",
			   s->va.u);
		if (s->kind == ATW_TABLE && !s->loss && !s->repeat_of && i % 5 == 4) {
			mmu_walk_prune(w);
		} else if (s->repeat_of && i % 2) {
			mmu_walk_unfold(w);
			continue;
		} else if (s->kind == ATW_TABLE && !s->loss && !s->repeat_of) {
			continue;
		}
		last = end;
		any = true;
	}
	mmu_walk_close(w);
}

/* Bytes by virtual address are those that translation leads to. */
static void bytes(struct machine *m, uint64_t va)
{
	static uint8_t buf[3 * 4096], one[1];
	ssize_t n = mmu_space_read(&m->sp, ATW_VA(va), buf, sizeof(buf), NULL);
	struct mmu_seen s;

	FUZZ_CHECK(n <= (ssize_t)sizeof(buf), "read %zd", n);
	FUZZ_CHECK(n <= 0 || va + (uint64_t)(n - 1) >= va,
		   "it went past the last address");
	for (ssize_t i = 0; i < n; i += i ? 997 : 1) {
		FUZZ_CHECK(mmu_translate(&m->sp, ATW_VA(va + (uint64_t)i), &s, NULL) ==
			   ATW_OK &&
			   s.kind == ATW_LEAF && !s.loss, "byte %zd is not mapped", i);
		FUZZ_CHECK(atw_read(&m->s, ATW_PA(s.pa.u + (va + (uint64_t)i - s.va.u)),
				    one, 1, NULL) == 1 && *one == buf[i], "byte %zd", i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len }, question;
	struct machine *m;

	if (len > 4096)
		return 0;
	question = (struct input){ data, len < 19 ? len : 19 };
	in.p += question.len;
	in.len -= question.len;
	m = machine_new(&in);
	list(m, 0, 0);
	list(m, MMU_WALK_EACH, m->options >> 4 & 3);
	list(m, MMU_WALK_FOLD | MMU_WALK_SOFT, 0);
	bytes(m, get_le64(m->bytes));
	part(m, &question);
	bytes(m, question.len >= 8 ? get_le64(question.p) : 0);
	bytes(m, UINT64_MAX - 5);
	return 0;
}
