// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lime.c - source of LiME files (`insmod lime.ko path=... format=lime`), and of AVML
 * without compression.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "format/avml.h"
#include "source/source.h"
#include "source/mapped.h"

static int lime_probe(struct atw_blob head, const char *path)
{
	const uint8_t *p = blob_at(head, 0, 8);

	return p && get_le32(p) == LIME_MAGIC ? 100 : 0;
}

static int lime_open(struct atw_source *s, const struct atw_source_spec *spec,
		     struct atw_err *err)
{
	uint64_t off = 0, missing = 0;
	struct lime_range range;
	unsigned ranges = 0;
	struct mapped *m;
	int r = mapped_open(s, spec, sizeof(*m), err);

	if (r < 0)
		return r;
	m = s->impl;
	while (off < m->file.map.len) {
		r = lime_header(m->file.map, off, LIME_MAGIC, LIME_VERSION, &range, err);
		if (r < 0)
			return r;
		if (r == ATW_END) {
			missing = off + LIME_HEADER - m->file.map.len;
			break;
		}
		r = mapped_add(m, range.start, range.len, range.data, &missing, err);
		if (r < 0) {
			atw_err_wrap(err, "range header at 0x%" PRIx64, off);
			return r;
		}
		ranges++;
		if (missing)
			break;
		off = range.data + range.len;
	}
	if (!m->map.n)
		return atw_err_set(err, ATW_E_DAMAGED,
			"range header at 0x0: the file ends (0x%zx bytes) before any memory",
			m->file.map.len);
	mapped_truncated(m, missing);
	snprintf(m->what, sizeof(m->what), "LiME, %u range%s", ranges,
		 ranges == 1 ? "" : "s");
	return extents_build(&m->map, err);
}

const struct atw_source_ops source_lime = {
	.name = "lime",
	.help = "LiME ranges",
	.probe = lime_probe,
	.open = lime_open,
	MAPPED_ONLY_OPS,
};
