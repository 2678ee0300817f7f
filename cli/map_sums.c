/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_sums.c - sums of the rows of map, by node and by page size. */
#include "map.h"
#include "base/message.h"
#include "base/sorted.h"

/* ---- sums ---- */

void node_sum_add(struct node_sum *s, int64_t node, uint64_t bytes)
{
	size_t i = 0;

	while (i < s->n && s->v[i].node != node)
		i++;
	if (i == s->n) {
		if (!array_reserve((void **)&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
			return;
		s->v[s->n++] = (struct node_bytes){ .node = node };
	}
	s->v[i].bytes += bytes;
}

void node_sum_note(struct node_sum *s, struct atw_output *out)
{
	char text[1000] = "", size[16];
	size_t n = 0;

	if (!s->wanted || !s->n)
		return;
	/* NODE_NONE, as a number without a sign, comes last. */
	qsort(s->v, s->n, sizeof(*s->v), sorted_by_u64);
	for (size_t i = 0; i < s->n && n < sizeof(text); i++) {
		const struct node_bytes *b = &s->v[i];

		num_human(b->bytes, size);
		n += (size_t)(b->node == NODE_NONE
			? snprintf(text + n, sizeof(text) - n, _("%s%s unknown"), i ? ", " : "", size)
			: snprintf(text + n, sizeof(text) - n, "%s%s on %" PRIi64, i ? ", " : "",
				   size, b->node));
	}
	atw_output_note(out, "by node: %s", text);
}

void node_sum_deinit(struct node_sum *s)
{
	free(s->v);
	*s = (struct node_sum){ 0 };
}

/* ---- what the kernel says ---- */

void map_node_init(struct map_node *m, const struct common *c, const struct session *src)
{
	struct atw_err err = { 0 };

	*m = (struct map_node){
		.sum.wanted = asks_for(c, "node"),
		.page_shift = src->subject.space.paging.page_shift,
	};
	if (m->sum.wanted && src->target->kernel && atw_memmap_open(src->target->kernel, &m->memmap, &err) < 0)
		print_warning(c, "%s: cannot read NUMA nodes: %s", src->name, err.text);
}

void map_node_deinit(struct map_node *m)
{
	atw_memmap_close(m->memmap);
	node_sum_deinit(&m->sum);
}

/* Of memory at `pa`; *same: of how many bytes from there on, up to `size`. */
static int64_t map_node_at(struct map_node *m, uint64_t pa, uint64_t size, uint64_t *same)
{
	uint64_t page = (uint64_t)1 << m->page_shift, end = pa + size;
	uint64_t at = pa & ~(page - 1);
	int64_t node = NODE_NONE;

	*same = size;
	if (!m->memmap || !size)
		return node;
	do {
		uint64_t frames = (end - at + (page - 1)) >> m->page_shift, len;
		uint32_t id = 0;
		bool have = atw_memmap_node(m->memmap, at >> m->page_shift, frames, &id, &len);
		int64_t now = have ? (int64_t)id : NODE_NONE;

		if (at > pa && now != node)
			break;
		node = now;
		at += len << m->page_shift;
	} while (at < end);
	*same = (at < end ? at : end) - pa;
	return node;
}

/* How much lies at its `pa`: some ranges map one page over and over. */
static uint64_t map_node_there(const struct mmu_range *g)
{
	return g->loss || g->kind != ATW_LEAF || g->scattered || g->repeat_of ? 0 :
	       g->same_pa ? g->page : g->size;
}

int64_t map_node_of(struct map_node *m, const struct mmu_range *g)
{
	uint64_t same;
	int64_t node = map_node_at(m, g->pa.u, map_node_there(g), &same);

	return same == map_node_there(g) ? node : NODE_NONE;
}

uint64_t map_node_border(struct map_node *m, const struct mmu_range *g)
{
	uint64_t same;

	if (!m->memmap || map_node_there(g) != g->size)
		return 0;
	map_node_at(m, g->pa.u, g->size, &same);
	return same < g->size ? g->va.u + same : 0;
}

void map_node_count(struct map_node *m, const struct mmu_range *g)
{
	uint64_t pa = g->pa.u, left = g->size, same;

	if (!m->sum.wanted)
		return;
	if (map_node_there(g) != g->size) {
		node_sum_add(&m->sum, map_node_of(m, g), g->size);
		return;
	}
	for (; left; pa += same, left -= same) {
		int64_t node = map_node_at(m, pa, left, &same);

		node_sum_add(&m->sum, node, same);
	}
}

/* ---- by page size ---- */

void map_sizes_add(struct map_sizes *t, uint64_t page, uint64_t bytes, uint64_t pages)
{
	size_t i;

	for (i = 0; i < t->n && t->v[i].page != page; i++)
		;
	if (i == sizeof(t->v) / sizeof(t->v[0]))
		return;
	if (i == t->n)
		t->v[t->n++] = (struct map_size){ .page = page };
	t->v[i].bytes += bytes;
	t->v[i].pages += pages;
}

void map_sizes_note(struct map_sizes *t, uint64_t rows, struct atw_output *out)
{
	char size[16], page[16], text[400] = "";
	uint64_t bytes = 0;
	size_t n = 0;

	qsort(t->v, t->n, sizeof(t->v[0]), sorted_by_u64);
	for (size_t i = 0; i < t->n && n < sizeof(text); i++) {
		const struct map_size *v = &t->v[i];

		bytes += v->bytes;
		num_human(v->bytes, size);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", i ? _(", ") : _(": "));
		if (n < sizeof(text) && v->page > SIZE_UNKNOWN)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      _("%s in %" PRIu64 " page%s of %s"), size, v->pages,
					      v->pages == 1 ? "" : "s",
					      num_human(v->page, page));
		else if (n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      v->page == SIZE_SEVERAL ? _("%s in pages of several sizes")
					      : _("%s in pages of unknown size"), size);
	}
	atw_output_note(out, "%" PRIu64 " range%s, %s mapped%s", rows, rows == 1 ? "" : "s",
			num_human(bytes, size), text);
}
