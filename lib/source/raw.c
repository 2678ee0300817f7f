// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * raw.c - source of plain images: the file's first byte is the byte at the load address.
 * Holes of a sparse file read as zeroes.
 *
 * The format has no magic number, so it is never detected.
 */
#include "source/raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/mapped.h"

static int raw_probe(struct atw_blob head, const char *path)
{
	return 0;
}

static int raw_open(struct atw_source *s, const struct atw_source_spec *spec,
		    struct atw_err *err)
{
	uint64_t load = spec->has_load ? spec->load : 0, missing = 0;
	struct mapped *m;
	int r = mapped_open(s, spec, sizeof(*m), err);

	if (r < 0)
		return r;
	m = s->impl;
	r = mapped_add(m, load, m->file.map.len, 0, &missing, err);
	if (r < 0)
		return r;
	snprintf(m->what, sizeof(m->what), "raw image at 0x%" PRIx64, load);
	return extents_build(&m->map, err);
}

const struct atw_source_ops source_raw = {
	.name = "raw",
	.help = "plain image of memory; raw:PATH@ADDRESS says where it starts",
	.probe = raw_probe,
	.open = raw_open,
	MAPPED_ONLY_OPS,
};

int raw_set_pieces(struct atw_source *s, const struct raw_piece *v, size_t n,
		   struct atw_err *err)
{
	struct mapped *m = s->impl;
	uint64_t missing = 0;
	int r = ATW_OK;

	extents_deinit(&m->map);
	m->map = (struct extents){ 0 };
	file_holes_deinit(&m->holes);
	m->holes = (struct file_holes){ 0 };
	m->holes_sought = false;
	m->truncated[0] = '\0';
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = mapped_add(m, v[i].at, v[i].len, v[i].offset, &missing, err);
	if (r < 0)
		return r;
	mapped_truncated(m, missing);
	snprintf(m->what, sizeof(m->what), "raw image in %zu pieces", n);
	return extents_build(&m->map, err);
}

static int raw_open_all(struct atw_source *s, const char *path, const struct raw_piece *v,
			size_t n, struct atw_err *err)
{
	struct atw_source_spec spec = { .path = path };

	return mapped_open(s, &spec, sizeof(struct mapped), err) ?: raw_set_pieces(s, v, n, err);
}

int raw_open_pieces(const char *path, const struct raw_piece *v, size_t n,
		    struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return atw_err_nomem(err);
	s->ops = &source_raw;
	r = raw_open_all(s, path, v, n, err);
	if (r < 0)
		atw_source_close(s);
	else
		*ret = s;
	return r;
}
