/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_picture.c - map of RAM: each frame by its type, along Hilbert's curve. */
#include "report/picture.h"
#include "report/report.h"

struct machine_picture_machine {
	uint64_t start, last, page;
	bool ram;                        /* an R: line was seen */
	bool frames;                     /* the map has been created */
	struct hilbert map;
};

/* R: lines precede all F: lines, so the size of the map is known when these begin. */
static int machine_picture_on_frames(struct machine_picture_machine *m,
				     const struct capture_frames *f, struct atw_err *err)
{
	int rc = ATW_OK;

	if (!m->frames) {
		if (!m->ram)
			return ATW_OK;
		rc = hilbert_init(&m->map, m->start, m->last, m->page, CAPTURE_USES, err);
		m->frames = rc == ATW_OK;
	}
	if (m->frames)
		hilbert_add(&m->map, f->pa, f->pages, f->use);
	return rc;
}

static int machine_picture_feed(void *state, const struct census_event *ev,
				struct atw_err *err)
{
	struct machine_picture_machine *m = state;

	m->page = ev->page;
	switch (ev->what) {
	case CENSUS_ON_RAM:
		if (!m->ram || ev->ram->start < m->start)
			m->start = ev->ram->start;
		m->last = MAX(m->last, ev->ram->last);
		m->ram = true;
		return ATW_OK;
	case CENSUS_ON_FRAMES:
		return machine_picture_on_frames(m, ev->frames, err);
	default:
		return ATW_OK;
	}
}

static int machine_picture_draw(void *state, struct scene *s, struct atw_err *err)
{
	static const struct chart_key use[CAPTURE_USES] = {
		[CAPTURE_FREE] = { "free", 0xcfdce6 }, [CAPTURE_ANON] = { "anon", 0xe69f00 },
		[CAPTURE_FILE] = { "file", 0x56b4e9 }, [CAPTURE_SHMEM] = { "shmem", 0xcc79a7 },
		[CAPTURE_SLAB] = { "slab", 0x009e73 },
		[CAPTURE_PGTABLE] = { "page tables", 0xf0e442 },
		[CAPTURE_HUGETLB] = { "hugetlb", 0x7f5200 }, [CAPTURE_KSM] = { "ksm", 0xf3cf80 },
		[CAPTURE_ZEROES] = { "zeroes", 0xf7f7f7 },
		[CAPTURE_KERNEL] = { "kernel", 0x0072b2 },
		[CAPTURE_RESERVED] = { "reserved", 0x7d7d7d },
		[CAPTURE_OFFLINE] = { "offline", 0x404040 },
		[CAPTURE_HWPOISON] = { "hwpoison", 0xd55e00 },
		[CAPTURE_UNKNOWN] = { "unknown", 0xb9b0a4 },
	};
	const struct machine_picture_machine *m = state;

	if (!m->frames)
		return atw_err_set(err, ATW_E_LIMIT,
				   "there is no map of RAM: frames were not collected");
	return hilbert_draw(&m->map, "What RAM is used for", use, s, err);
}

static void machine_picture_deinit(void *state)
{
	struct machine_picture_machine *m = state;

	hilbert_deinit(&m->map);
}

const struct census_picture picture_machine = {
	.of.name = "machine",
	.of.on = CENSUS_ON(RAM) | CENSUS_ON(FRAMES),
	.of.state = sizeof(struct machine_picture_machine),
	.of.feed = machine_picture_feed,
	.of.deinit = machine_picture_deinit,
	.draw = machine_picture_draw,
};
