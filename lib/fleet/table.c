/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet/table.h"

#include "record/schema.h"

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
	for (; column->from; column++) {
		int i = schema_find(sc, column->from, strlen(column->from));
		union atw_value v;

		if (i < 0 || !(from->have >> i & 1))
			continue;
		v = from->v[i];
		if (column->pages && __builtin_mul_overflow(v.u, page, &v.u))
			continue;
		to->v[column->to] = v;
		to->have |= (uint64_t)1 << column->to;
	}
}
