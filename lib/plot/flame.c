/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame.c - flame graphs from folded stacks. */
#include "plot/chart.h"

#include "base/table.h"

#define PITCH 19.0                       /* points per frame */
#define SEEN  0.4                        /* narrower frames are not drawn */
#define NAMED 16.0                       /* adjacent frames that are narrower are
					  * merged */

struct flame_frame {
	uint64_t value;                  /* including the frames above it */
	uint32_t parent, depth;
	uint32_t name;                   /* in names */
	uint32_t child, next;            /* 0: none; frame 0 is no child */
};

struct flame {
	struct flame_frame *frame;
	size_t n, cap;
	struct buf names;
	struct table table;              /* index, by parent and name */
};

static const char *flame_name_of(const struct flame *f, uint32_t i)
{
	return f->names.data + f->frame[i].name;
}

static int flame_new_frame(struct flame *f, uint32_t parent, const char *name, size_t len,
			   uint32_t *ret, struct atw_err *err)
{
	struct flame_frame frame = {.parent = parent, .name = (uint32_t)f->names.len};

	if (f->n >= FLAME_FRAMES || f->names.len > UINT32_MAX / 2)
		return atw_err_set(err, ATW_E_LIMIT, "the stacks have more than %d frames",
				   FLAME_FRAMES);
	if (!ARRAY_ROOM(f->frame, f->n, f->cap))
		return atw_err_nomem(err);
	buf_add(&f->names, name, len);
	buf_add(&f->names, "", 1);
	if (f->names.failed)
		return atw_err_nomem(err);
	if (f->n) {
		frame.depth = f->frame[parent].depth + 1;
		frame.next = f->frame[parent].child;
		f->frame[parent].child = (uint32_t)f->n;
	}
	f->frame[f->n] = frame;
	*ret = (uint32_t)f->n++;
	return ATW_OK;
}

static int flame_find(struct flame *f, uint32_t parent, const char *name, size_t len,
		      uint32_t *ret, struct atw_err *err)
{
	const uint64_t key = hash_bytes(parent, name, len);
	const struct table_slot *slot = NULL;
	uint32_t i;
	int rc;

	while ((slot = table_next(&f->table, key, slot))) {
		const char *has = flame_name_of(f, i = (uint32_t)slot->value);

		if (f->frame[i].parent == parent && !strncmp(has, name, len) && !has[len]) {
			*ret = i;
			return ATW_OK;
		}
	}
	rc = flame_new_frame(f, parent, name, len, &i, err);
	if (rc < 0)
		return rc;
	*ret = i;
	return table_add(&f->table, key, i) ? ATW_OK : atw_err_nomem(err);
}

int flame_open(struct flame **ret, struct atw_err *err)
{
	struct flame *f = calloc(1, sizeof(*f));
	uint32_t root;

	if (!f || flame_new_frame(f, 0, "all", 3, &root, NULL) < 0) {
		flame_close(f);
		return atw_err_nomem(err);
	}
	*ret = f;
	return ATW_OK;
}

void flame_close(struct flame *f)
{
	if (!f)
		return;
	free(f->frame);
	table_deinit(&f->table);
	buf_deinit(&f->names);
	free(f);
}

int flame_add(struct flame *f, const char *stack, uint64_t value, struct atw_err *err)
{
	uint32_t at = 0;

	f->frame[0].value = chart_add(f->frame[0].value, value);
	while (*stack && f->frame[at].depth < FLAME_DEPTH) {
		size_t len = strcspn(stack, ";");
		int rc = ATW_OK;

		if (len) {
			rc = flame_find(f, at, stack, len, &at, err);
			if (rc < 0)
				return rc;
			f->frame[at].value = chart_add(f->frame[at].value, value);
		}
		stack += len + (stack[len] == ';');
	}
	return ATW_OK;
}

/*
 * A box of the graph: frames of one name whose parents are in one box as well. Small
 * adjacent ones are merged into "N others", and so are the frames above them.
 */
struct pile {
	uint64_t value;
	const uint32_t *frame;
	size_t n;
	char others[32];                 /* the name of merged frames */
};

struct drawing {
	const struct flame *f;
	const struct chart_head *head;
	struct scene *s;
	double bottom;                   /* of the lowest frame */
	uint32_t highest;                /* depth */
	size_t folded, hidden;
};

/* A colour identifies a name and nothing else; warm and light, with black text on it. */
static uint32_t flame_color_of(const char *name)
{
	static const uint32_t warm[] = {
		0xf6c667, 0xf0a95b, 0xf4d58d, 0xe8b04a, 0xf2bc8c, 0xf7dfa5, 0xeea56a, 0xe9c46a,
	};

	uint32_t h = UINT32_C(3533229586);

	/*
	 * The same in every run, so not a hash of base/hash.h, which is keyed randomly.
	 */
	for (const char *s = name; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT32_C(16777619);
	return warm[(h ^ h >> 15) % ARRAY_SIZE(warm)];
}

static int flame_by_name(const void *a, const void *b, void *arg)
{
	const struct flame *f = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(flame_name_of(f, x), flame_name_of(f, y));

	return order ? order : x < y ? -1 : x > y;
}

/* Frames of one name are adjacent, so the first frame is a unique tie-breaker. */
static int flame_larger(const void *a, const void *b)
{
	const struct pile *x = a, *y = b;

	return ORDER(y->value, x->value) ?: ORDER(x->frame, y->frame);
}

static void flame_put_frame(struct drawing *d, const struct pile *p, uint32_t depth,
			    double x, double w)
{
	double y = d->bottom - PITCH * (depth + 1.0), all = (double)d->f->frame[0].value;
	const char *name = *p->others ? p->others : flame_name_of(d->f, p->frame[0]);
	uint32_t color = !depth || *p->others ? SCENE_REST : flame_color_of(name);
	struct buf tip = { 0 };
	char text[AXIS_TEXT];

	buf_printf(&tip, "%s: %s %s, %.1f%%", name,
		   axis_number(d->head->unit, p->value, text), d->head->of,
		   all > 0 ? 100.0 * (double)p->value / all : 0);
	chart_group(d->s, &tip, NULL, SCENE_ZOOM);
	scene_rect(d->s, x, y, w > 2 ? w - 0.6 : w, PITCH - 1, color);
	scene_fit(d->s, x + 4, y + 13, SCENE_START, 11, 0, palette_on(color), w - 8, name);
	scene_end(d->s);
	d->highest = MAX(d->highest, depth);
}

/* The children of these frames, grouped by name. */
static uint32_t *flame_children(const struct drawing *d, const struct pile *p, size_t *n)
{
	uint32_t *child;
	size_t at = 0;

	*n = 0;
	for (size_t i = 0; i < p->n; i++)
		for (uint32_t c = d->f->frame[p->frame[i]].child; c; c = d->f->frame[c].next)
			++*n;
	child = calloc(*n + 1, sizeof(*child));
	for (size_t i = 0; child && i < p->n; i++)
		for (uint32_t c = d->f->frame[p->frame[i]].child; c; c = d->f->frame[c].next)
			child[at++] = c;
	if (child)
		qsort_r(child, *n, sizeof(*child), flame_by_name, (void *)d->f);
	return child;
}

static size_t flame_make_piles(const struct drawing *d, const uint32_t *child, size_t n,
			       struct pile *pile)
{
	size_t piles = 0;

	for (size_t i = 0, to; i < n; i = to) {
		struct pile p = { .frame = child + i };

		for (to = i; to < n && !strcmp(flame_name_of(d->f, child[to]),
					       flame_name_of(d->f, child[i]));
		     to++)
			p.value = chart_add(p.value, d->f->frame[child[to]].value);
		p.n = to - i;
		pile[piles++] = p;
	}
	qsort(pile, piles, sizeof(*pile), flame_larger);
	return piles;
}

/* Merge the small ones from pile `from` on; their frames are appended to `all`. */
static void flame_fold(struct drawing *d, struct pile *pile, size_t from, size_t to,
		       uint32_t *all)
{
	struct pile one = { .frame = all };

	for (size_t i = from; i < to; i++) {
		memcpy(all + one.n, pile[i].frame, pile[i].n * sizeof(*all));
		one.n += pile[i].n;
		one.value = chart_add(one.value, pile[i].value);
	}
	snprintf(one.others, sizeof(one.others), "%zu others", to - from);
	d->folded += to - from;
	pile[from] = one;
}

/* The depth is bounded by FLAME_DEPTH. */
static void flame_put_pile(struct drawing *d, const struct pile *p, uint32_t depth,
			   double x, double w)
{
	size_t n, piles, large = 0;
	_auto_free uint32_t *child = flame_children(d, p, &n);
	_auto_free struct pile *pile = calloc(n + 1, sizeof(*pile));
	_auto_free uint32_t *rest = calloc(n + 1, sizeof(*rest));
	double per_point = p->value ? w / (double)p->value : 0;

	flame_put_frame(d, p, depth, x, w);
	if (!child || !pile || !rest) {
		d->s->status = ATW_E_NOMEM;
		return;
	}
	piles = flame_make_piles(d, child, n, pile);
	while (large < piles && (double)pile[large].value * per_point >= NAMED)
		large++;
	if (piles - large > 1) {
		flame_fold(d, pile, large, piles, rest);
		piles = large + 1;
	}
	for (size_t i = 0; i < piles; i++) {
		double part = (double)pile[i].value * per_point;

		if (!(part >= SEEN)) {
			d->hidden++;
			continue;
		}
		flame_put_pile(d, &pile[i], depth + 1, x, part);
		x += part;
	}
}

int flame_draw(struct flame *f, const struct chart_head *head, struct scene *s,
	       struct atw_err *err)
{
	static const uint32_t root;
	const struct pile all = { .value = f->frame[0].value, .frame = &root, .n = 1 };
	struct drawing d = { .f = f, .head = head, .s = s };
	double width = CHART_WIDTH - 2 * CHART_MARGIN;
	struct buf below = { 0 };
	char text[AXIS_TEXT];

	/* The height is only known after drawing, so the graph is laid out twice. */
	flame_put_pile(&d, &all, 0, CHART_MARGIN, width);
	s->n = 0;
	s->texts.len = 1;
	d = (struct drawing){
		.f = f, .head = head, .s = s, .bottom = 72 + PITCH * (d.highest + 1.0),
	};
	scene_size(s, CHART_WIDTH, d.bottom + CHART_MARGIN);
	flame_put_pile(&d, &all, 0, CHART_MARGIN, width);
	buf_printf(&below, "%s %s", axis_number(head->unit, f->frame[0].value, text), head->of);
	if (d.folded)
		buf_printf(&below, "; %zu small frames are put together as others", d.folded);
	if (d.hidden)
		buf_printf(&below, "; %zu too narrow to be seen, with all above them", d.hidden);
	chart_head(s, head->title, &below);
	return scene_done(s, err);
}
