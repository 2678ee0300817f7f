/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet/table.h"

void fleet_put_sums(struct report_row *row, const uint8_t column[FLEET_SUMS],
		    const struct smaps *s, bool paper, bool unsized)
{
	enum { RSS, PSS, USS, SWAP, HUGE, HUGETLB };

	row_u(row, column[RSS], s->rss);
	row_if(row, !s->uncounted, column[PSS], smaps_pss(s));
	row_if(row, !s->uncounted, column[USS], s->uss);
	row_if(row, !paper, column[SWAP], s->swap);
	row_if(row, !paper && !unsized && smaps_knows_huge(s), column[HUGE], smaps_huge(s));
	row_if(row, !paper, column[HUGETLB], s->hugetlb);
}

void fleet_unit_id(struct buf *ret, const char *build, const char *device, uint64_t inode,
		   const char *name)
{
	ret->len = 0;
	if (build)
		buf_str(ret, build);
	else if (device)
		buf_printf(ret, "%s:%" PRIu64, device, inode);
	else
		buf_str(ret, name);
}

void fleet_unit_id_of(struct buf *ret, const struct census_unit *u)
{
	char device[48], build[2 * CAPTURE_BUILD + 1];

	u = census_unit_root(u);
	device_text(u, device);
	build_text(&u->build, build);
	fleet_unit_id(ret, *build ? build : NULL, u->keyed ? device : NULL, u->inode, u->name);
}

void fleet_take_row(struct report_row *to, const struct fleet_column *column,
		    const struct atw_schema *sc, const struct atw_row *from, uint64_t page)
{
	for (; column->from; column++)
		for (size_t i = 0; i < sc->ncols; i++) {
			uint64_t bytes;

			if (strcmp(sc->col[i].key, column->from) != 0 || !(from->have >> i & 1))
				continue;
			to->v[column->to] = from->v[i];
			to->have |= (uint64_t)1 << column->to;
			if (!column->pages)
				continue;
			if (__builtin_mul_overflow(from->v[i].u, page, &bytes))
				to->have &= ~((uint64_t)1 << column->to);
			to->v[column->to].u = bytes;
		}
}

static void fleet_say(void *arg, const char *fmt, ...)
{
}

static void fleet_leave_out(void *arg, enum atw_param param, const char *fmt, ...)
{
}

int fleet_rows_of(const struct census_report *from, void *state,
		  int (*row)(void *arg, const struct atw_row *row, struct atw_err *err), void *arg,
		  struct atw_err *err)
{
	/* What is not known is null in its table; read errors are in `lost`. */
	const struct census_out out = {
		.row = row, .text = fleet_say, .note = fleet_say, .left_out = fleet_leave_out,
		.lacks = fleet_say, .whole = true, .arg = arg,
	};

	return from->finish(state, &out, err);
}
