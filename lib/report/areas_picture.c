/* SPDX-License-Identifier: GPL-2.0-or-later */
/* areas_picture.c - drawing of every VMA page by page, by mapcount. */
#include <stdarg.h>

#include "report/page_map.h"
#include "report/picture.h"
#include "report/report.h"

struct areas_picture_area {
	size_t head, name, note, tag;    /* offsets in `texts`; head 0: unchanged */
	size_t marks, end;               /* in `marks` */
	uint64_t first, at, resident;
};

struct areas_picture_areas {
	struct areas_picture_area *v;
	size_t n, cap;
	struct buf texts, marks;
	size_t head;                     /* of the current process */
	uint64_t page;
};

static size_t areas_picture_keep(struct areas_picture_areas *s, const char *fmt, ...)
	ATW_PRINTF(2, 3);

static size_t areas_picture_keep(struct areas_picture_areas *s, const char *fmt, ...)
{
	char *text;
	va_list ap;
	size_t at;

	/* Offset 0 is no text. */
	if (!s->texts.len)
		buf_char(&s->texts, '\0');
	at = s->texts.len;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0) {
		s->texts.failed = true;
	} else {
		buf_add(&s->texts, text, strlen(text) + 1);
		free(text);
	}
	va_end(ap);
	return at;
}

static int areas_picture_on_area(struct areas_picture_areas *s,
				 const struct census_area *a, struct atw_err *err)
{
	if (!ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = (struct areas_picture_area){
		.head = s->head, .marks = s->marks.len, .first = a->first, .at = a->first,
		.name = areas_picture_keep(
			s, "%s", *a->name ? a->name : census_class_names.name[a->class]),
	};
	s->head = 0;
	return s->texts.failed ? atw_err_nomem(err) : ATW_OK;
}

static int areas_picture_on_pages(struct areas_picture_areas *s,
				  const struct census_pages *p, struct atw_err *err)
{
	struct areas_picture_area *a = &s->v[s->n - 1];

	map_keep_pages(&s->marks, &a->at, p, s->page);
	a->resident += is_resident(p) ? p->pages : 0;
	return s->marks.failed ? atw_err_nomem(err) : ATW_OK;
}

static int areas_picture_on_area_end(struct areas_picture_areas *s,
				     const struct census_area *v, struct atw_err *err)
{
	struct areas_picture_area *a = &s->v[s->n - 1];
	char flags[7];

	/* `at` is 0 behind the last address. */
	if (a->at ? a->at <= v->last : s->marks.len == a->marks)
		map_keep(&s->marks, MAP_ABSENT, (v->last - a->at) / s->page + 1);
	a->end = s->marks.len;
	a->tag = areas_picture_keep(s, "%s", census_flags_text(census_flags(v), flags));
	a->note = areas_picture_keep(s, "0x%" PRIx64 " to 0x%" PRIx64, v->first, v->last);
	return s->marks.failed || s->texts.failed ? atw_err_nomem(err) : ATW_OK;
}

static int areas_picture_feed(void *state, const struct census_event *ev,
			      struct atw_err *err)
{
	struct areas_picture_areas *s = state;

	s->page = ev->page;
	switch (ev->what) {
	case CENSUS_ON_PROCESS:
		s->head = areas_picture_keep(s, "%s, %" PRIu64, ev->process->name,
					     ev->process->pid);
		return s->texts.failed ? atw_err_nomem(err) : ATW_OK;
	case CENSUS_ON_AREA:
		return areas_picture_on_area(s, ev->area, err);
	case CENSUS_ON_AREA_END:
		return areas_picture_on_area_end(s, ev->area, err);
	case CENSUS_ON_PAGES:
		return areas_picture_on_pages(s, ev->pages, err);
	default:
		return ATW_OK;
	}
}

/* 1, 2, 3, 4 to 9, 10 and more, in darkening colours; then states without memory. */
enum { K_ONE, K_TWO, K_THREE, K_NINE, K_MANY, K_SWAPPED, K_ZERO, K_UNKNOWN, K_DEVICE, K_ODD,
       KEYS };

/* By enum map_mark, of which numbers below MAP_MANY are counts. */
static const uint8_t keys[] = {
	[MAP_ABSENT] = CHART_NONE, [1] = K_ONE, [2] = K_TWO, [3] = K_THREE,
	[4 ... 9] = K_NINE, [MAP_MANY] = K_MANY, [MAP_SWAPPED] = K_SWAPPED,
	[MAP_ZERO] = K_ZERO, [MAP_UNKNOWN] = K_UNKNOWN, [MAP_DEVICE] = K_DEVICE,
	[MAP_ODD] = K_ODD,
};

static int areas_picture_larger(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ORDER(y, x);
}

/* The minimum of resident pages of the VMAs that are shown. */
static int areas_picture_least(const struct areas_picture_areas *s, uint64_t *ret,
			       struct atw_err *err)
{
	_auto_free uint64_t *resident = calloc(s->n + 1, sizeof(*resident));

	if (!resident)
		return atw_err_nomem(err);
	for (size_t i = 0; i < s->n; i++)
		resident[i] = s->v[i].resident;
	qsort(resident, s->n, sizeof(*resident), areas_picture_larger);
	*ret = s->n > CHART_STRIPS ? resident[CHART_STRIPS - 1] : 0;
	return ATW_OK;
}

/* The runs of the VMAs that may be shown, and the index of each VMA's first run. */
static int areas_picture_spread(const struct areas_picture_areas *s,
				struct chart_run **run, struct chart_strip *strip,
				struct atw_err *err)
{
	size_t n = 0, cap = 0;
	enum map_mark mark;
	uint64_t pages, few = 0;
	int rc = areas_picture_least(s, &few, err);

	for (size_t i = 0; rc == ATW_OK && i < s->n; i++) {
		const struct areas_picture_area *a = &s->v[i];
		size_t at = a->marks, from = n;

		while (a->resident >= few &&
		       map_kept(&s->marks, &at, a->end, &mark, &pages)) {
			if (!array_reserve((void **)run, &cap, n + 1, sizeof(**run)))
				return atw_err_nomem(err);
			(*run)[n++] = (struct chart_run){pages, keys[mark]};
		}
		strip[i] = (struct chart_strip){
			.head = a->head ? s->texts.data + a->head : NULL,
			.name = s->texts.data + a->name, .tag = s->texts.data + a->tag,
			.note = s->texts.data + a->note,
			.n = n - from, .weight = a->resident,
		};
	}
	/* The array is final, so pointers into it can be set. */
	n = 0;
	for (size_t i = 0; rc == ATW_OK && *run && i < s->n; i++) {
		strip[i].run = *run + n;
		n += strip[i].n;
	}
	return rc;
}

static int areas_picture_draw(void *state, struct scene *s, struct atw_err *err)
{
	const struct areas_picture_areas *a = state;
	_auto_free struct chart_strip *strip = calloc(a->n + 1, sizeof(*strip));
	_auto_free struct chart_run *run = NULL;
	const struct chart_key key[KEYS] = {
		[K_ONE] = { "mapped once", 0xe69f00 },
		[K_TWO] = { "twice", 0xa6cfe8 }, [K_THREE] = { "3 times", 0x6fb2dc },
		[K_NINE] = { "4 to 9", 0x2f85bd }, [K_MANY] = { "10 and more", 0x0b4a78 },
		[K_SWAPPED] = { "swapped", 0xd55e00 }, [K_ZERO] = { "zeroes", 0xfaf3c0 },
		[K_UNKNOWN] = { "not counted", 0x9a9a9a }, [K_DEVICE] = { "device", 0xcc79a7 },
		[K_ODD] = { "guard or on its way", 0x009e73 },
	};
	char of[48];
	struct chart_strips c = {
		.head = { "Areas of processes, page by page", picture_pages(a->page, of),
			  "areas", AXIS_COUNT },
		.key = key, .nkeys = KEYS, .strip = strip, .n = a->n,
	};
	int rc;

	if (!strip)
		return atw_err_nomem(err);
	rc = areas_picture_spread(a, &run, strip, err);
	return rc < 0 ? rc : chart_strips(&c, s, err);
}

static void areas_picture_deinit(void *state)
{
	struct areas_picture_areas *s = state;

	free(s->v);
	buf_deinit(&s->texts);
	buf_deinit(&s->marks);
}

const struct census_picture picture_areas = {
	.of.name = "areas",
	.of.on = CENSUS_ON(PROCESS) | CENSUS_ON(AREA) | CENSUS_ON(AREA_END) |
		  CENSUS_ON(PAGES),
	.of.state = sizeof(struct areas_picture_areas),
	.of.feed = areas_picture_feed,
	.of.deinit = areas_picture_deinit,
	.draw = areas_picture_draw,
};
