/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "map_sizes.h"

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

static int map_sizes_by_page(const void *a, const void *b)
{
	const struct map_size *x = a, *y = b;

	return x->page < y->page ? -1 : x->page > y->page;
}

void map_sizes_note(struct map_sizes *t, uint64_t rows, struct atw_output *out)
{
	char size[16], page[16], text[400] = "";
	uint64_t bytes = 0;
	size_t n = 0;

	qsort(t->v, t->n, sizeof(t->v[0]), map_sizes_by_page);
	for (size_t i = 0; i < t->n && n < sizeof(text); i++) {
		const struct map_size *v = &t->v[i];

		bytes += v->bytes;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s in ",
				      i ? "," : ":", num_human(v->bytes, size));
		if (n < sizeof(text) && v->page > SIZE_UNKNOWN)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "%" PRIu64 " page%s of %s", v->pages,
					      v->pages == 1 ? "" : "s",
					      num_human(v->page, page));
		else if (n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
					      v->page == SIZE_SEVERAL ? "pages of several sizes"
					      : "pages of unknown size");
	}
	atw_output_note(out, "%" PRIu64 " range%s, %s mapped%s", rows, rows == 1 ? "" : "s",
			num_human(bytes, size), text);
}
