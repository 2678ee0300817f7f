/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.c - lookup of equal parts of files. */
#include "report/parts.h"
#include "report/report.h"

/* X depends on the process; no file has S. */
#define SAME_FLAGS 0x3cu

void parts_deinit(struct parts *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i]);
	free(g->v);
	table_deinit(&g->table);
	*g = (struct parts){ 0 };
}

static uint64_t parts_hash(const struct part *x)
{
	uint64_t what = (uint64_t)x->class << 8 | (x->flags & SAME_FLAGS);

	return hash_two(hash_two(x->pos, x->size), (uint64_t)x->unit->number << 32 | what);
}

static bool parts_same(const struct part *x, const struct part *y)
{
	return x->unit == y->unit && x->class == y->class && x->pos == y->pos &&
	       x->size == y->size && !((x->flags ^ y->flags) & SAME_FLAGS);
}

struct part *parts_of(struct parts *g, const struct census_area *a)
{
	const struct part want = {
		.number = (uint32_t)g->n, .unit = a->unit, .class = a->class,
		.flags = census_flags(a), .pos = a->pos,
		.size = a->unit->keyed ? 0 : a->last - a->first + 1,
	};
	const uint64_t key = parts_hash(&want);
	const struct table_slot *s = NULL;
	struct part *x;

	while ((s = table_next(&g->table, key, s)))
		if (parts_same(table_ptr(s->value), &want))
			return table_ptr(s->value);
	if (!ARRAY_ROOM(g->v, g->n, g->cap))
		return NULL;
	x = malloc(sizeof(*x));
	if (!x || !table_add(&g->table, key, (uintptr_t)x)) {
		free(x);
		return NULL;
	}
	*x = want;
	return g->v[g->n++] = x;
}

void part_add(struct part *g, const struct census_area *a, uint64_t page)
{
	uint64_t pages = (a->last - a->first) / page + 1;

	g->flags |= census_flags(a);
	g->guess |= a->guess;
	g->incomplete |= a->incomplete;
	g->used++;
	g->mapped += pages;
	g->pages = MAX(g->pages, pages);
}

static int parts_compare(const void *a, const void *b)
{
	const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;
	uint32_t ux = census_unit_root(x->unit)->number, uy = census_unit_root(y->unit)->number;

	return ORDER(ux, uy) ?: ORDER(x->pos, y->pos) ?: ORDER(x->class, y->class) ?:
	       ORDER(x->size, y->size) ?:
	       ORDER(x->flags & SAME_FLAGS, y->flags & SAME_FLAGS) ?:
	       ORDER(x->number, y->number);
}

static bool parts_is_copy(const struct part *a, const struct part *b)
{
	return census_unit_root(a->unit) == census_unit_root(b->unit) && a->pos == b->pos &&
	       a->class == b->class && a->size == b->size &&
	       !((a->flags ^ b->flags) & SAME_FLAGS);
}

size_t parts_sort(struct parts *g)
{
	struct part **v = g->v, *t;
	size_t n = 0;

	SORT(v, g->n, parts_compare);
	for (size_t i = 0; i < g->n; i++) {
		if (!n || !parts_is_copy(v[n - 1], v[i])) {
			t = v[n];
			v[n++] = v[i];
			v[i] = t;
			continue;
		}
		t = v[n - 1];
		t->flags |= v[i]->flags;
		t->guess |= v[i]->guess;
		t->used += v[i]->used;
		t->mapped += v[i]->mapped;
		t->pages = MAX(t->pages, v[i]->pages);
		v[i]->next = t->next;
		t->next = v[i];
	}
	return n;
}

/* ---- pieces ---- */

/* A GiB of them, which no system has as code and data of files. */
#define PIECES_MOST ((size_t)1 << 20)

struct piece {
	uint32_t part;
	uint64_t at;                     /* pages before it, by PIECE */
	struct piece *next;              /* of the part */
	uint8_t half[PIECE / 2];
};

/* ---- counting ---- */

static int parts_too_many(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_LIMIT, "with it programs and libraries have more than "
			   "%zu pages", PIECES_MOST * PIECE);
}

/* NULL: *status has the reason. */
static struct piece *parts_piece_of(struct pieces *t, uint32_t part, uint64_t at,
				     int *status, struct atw_err *err)
{
	const uint64_t key = hash_two(part, at);
	const struct table_slot *s = NULL;
	struct piece *p = t->last;

	if (p && p->part == part && p->at == at)
		return p;
	while ((s = table_next(&t->table, key, s))) {
		p = table_ptr(s->value);
		if (p->part == part && p->at == at)
			return t->last = p;
	}
	if (t->table.n == PIECES_MOST) {
		*status = parts_too_many(err);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p || !table_add(&t->table, key, (uintptr_t)p)) {
		free(p);
		*status = atw_err_nomem(err);
		return NULL;
	}
	p->part = part;
	p->at = at;
	return t->last = p;
}

static void parts_count_users(struct piece *p, unsigned at)
{
	unsigned shift = at % 2 * 4;

	if ((p->half[at / 2] >> shift & 15) < MAP_MANY)
		p->half[at / 2] += 1 << shift;
}

/* Fast path for whole pieces: 16 pages at a time. */
static void parts_count_all(struct piece *p)
{
	const uint64_t ones = 0x1111111111111111;

	_Static_assert(MAP_MANY == 10, "where the bits for 8 and 2 are set");
	for (unsigned i = 0; i < PIECE / 16; i++) {
		uint64_t v, many;

		memcpy(&v, p->half + 8 * i, 8);
		many = v >> 3 & v >> 1 & ones;
		v += ones & ~many;
		memcpy(p->half + 8 * i, &v, 8);
	}
}

int pieces_count(struct pieces *t, uint32_t part, uint64_t at, uint64_t pages,
		 struct atw_err *err)
{
	int status = ATW_OK;

	while (pages) {
		unsigned from = at % PIECE;
		unsigned n = PIECE - from < pages ? PIECE - from : (unsigned)pages;
		struct piece *p = parts_piece_of(t, part, at / PIECE, &status, err);

		if (!p)
			return status;
		if (n == PIECE)
			parts_count_all(p);
		for (unsigned i = 0; i < n && n < PIECE; i++)
			parts_count_users(p, from + i);
		at += n;
		pages -= n;
	}
	return ATW_OK;
}

/* ---- results ---- */

int pieces_sort(struct pieces *t, size_t parts, struct atw_err *err)
{
	t->first = calloc(parts + 1, sizeof(struct piece *));
	if (!t->first)
		return atw_err_nomem(err);
	for (size_t i = 0; i < t->table.slots; i++) {
		struct piece *p = table_ptr(t->table.slot[i].value);

		if (p) {
			p->next = t->first[p->part];
			t->first[p->part] = p;
		}
	}
	return ATW_OK;
}

static int parts_by_place(const void *a, const void *b)
{
	const struct piece *x = *(struct piece *const *)a, *y = *(struct piece *const *)b;

	return ORDER(x->at, y->at);
}

static void parts_add_piece(struct piece *to, const struct piece *from)
{
	for (unsigned i = 0; i < PIECE / 2; i++) {
		unsigned low = (to->half[i] & 15u) + (from->half[i] & 15u);
		unsigned high = (to->half[i] >> 4) + (from->half[i] >> 4);

		low = low < MAP_MANY ? low : MAP_MANY;
		high = high < MAP_MANY ? high : MAP_MANY;
		to->half[i] = (uint8_t)(low | high << 4);
	}
}

/* Counts of 16 pages from `at` on, which is a multiple of 16. */
static uint64_t parts_sixteen(const struct piece *p, unsigned at)
{
	return get_le64(p->half + at / 2);
}

int pieces_gather(const struct pieces *t, const struct part *g, struct part_pieces *ret,
		  struct atw_err *err)
{
	size_t n = 0;

	ret->n = 0;
	for (; g; g = g->next)
		for (struct piece *p = t->first[g->number]; p; p = p->next) {
			if (!ARRAY_ROOM(ret->v, ret->n, ret->cap))
				return atw_err_nomem(err);
			ret->v[ret->n++] = p;
		}
	SORT(ret->v, ret->n, parts_by_place);
	for (size_t i = 0; i < ret->n; i++)
		if (n && ret->v[n - 1]->at == ret->v[i]->at)
			parts_add_piece(ret->v[n - 1], ret->v[i]);
		else
			ret->v[n++] = ret->v[i];
	ret->n = n;
	ret->resident = 0;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < PIECE / 16; k++) {
			uint64_t v = parts_sixteen(ret->v[i], 16 * k);

			v |= v >> 2;
			ret->resident += (uint64_t)__builtin_popcountll((v | v >> 1) &
									0x1111111111111111);
		}
	return ATW_OK;
}

/* Adjacent pages with the same count, to one of two. */
struct marks {
	struct map *map;
	struct map_text *text;
	bool incomplete;                 /* unmapped pages need not be absent */
	enum map_mark mark;
	uint64_t pages;
};

static void parts_put_marks(struct marks *m)
{
	if (m->map)
		map_add(m->map, m->mark, m->pages);
	else
		map_text_add(m->text, m->mark, m->pages);
}

static void parts_add_marks(struct marks *m, enum map_mark mark, uint64_t pages)
{
	if (m->incomplete && mark == MAP_ABSENT)
		mark = MAP_MISSING;
	if (pages && mark != m->mark) {
		parts_put_marks(m);
		m->mark = mark;
		m->pages = 0;
	}
	m->pages += pages;
}

void pieces_marks(const struct part_pieces *p, uint64_t pages, bool incomplete,
		  struct map *map, struct map_text *text)
{
	struct marks m = {
		.map = map, .text = text, .incomplete = incomplete, .mark = MAP_ABSENT
	};
	uint64_t at = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct piece *piece = p->v[i];
		uint64_t first = piece->at * PIECE;

		parts_add_marks(&m, MAP_ABSENT, first - at);
		for (at = first; at < first + PIECE && at < pages;) {
			unsigned k = (unsigned)(at - first);
			enum map_mark mark = piece->half[k / 2] >> k % 2 * 4 & 15;
			bool all = !(k % 16) && pages - at >= 16 &&
				   parts_sixteen(piece, k) ==
					   mark * UINT64_C(0x1111111111111111);

			parts_add_marks(&m, mark, all ? 16 : 1);
			at += all ? 16 : 1;
		}
	}
	parts_add_marks(&m, MAP_ABSENT, pages - at);
	parts_put_marks(&m);
}

void pieces_deinit(struct pieces *t)
{
	for (size_t i = 0; i < t->table.slots; i++)
		free(table_ptr(t->table.slot[i].value));
	table_deinit(&t->table);
	free(t->first);
}
