/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kdump_set.c - the files of one kdump-compressed dump, which may be split. */
#include "source/kdump_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/sorted.h"
#include "format/view.h"

/* ---- one file ---- */

/* Only a hint: whether it is taken makes no difference to what is read. */
static void kdump_advise(const void *p, uint64_t len, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)p & ~(page - 1);

	(void)madvise((void *)start, (size_t)((uintptr_t)p + len - start), advice);
}

static int kdump_get_bitmap(struct kdump_file *f, uint64_t off, int which,
			    const struct file_holes *holes, const uint8_t **ret,
			    struct atw_err *err)
{
	struct atw_blob b;
	int rc;

	/* Flattened and in pieces, it is copied: a hole in a piece is no such memory. */
	if (!view_at(&f->view, off, f->h.bitmap_len) &&
	    f->h.bitmap_len > f->file.map.len - file_holes_total(holes))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "bitmaps of %" PRIu64 " bytes are more than the file holds",
				   f->h.bitmap_len);
	rc = view_blob(&f->view, off, f->h.bitmap_len, &f->owned[which], &b);
	if (rc < 0)
		return atw_err_set(err, rc, rc == ATW_E_NOMEM ?
				   "no memory for a bitmap of %" PRIu64 " bytes" :
				   "its bitmap of %" PRIu64 " bytes is cut off",
				   f->h.bitmap_len);
	*ret = b.data;
	if (f->owned[which])
		return 0;
	/* Read from end to end, unlike the rest of the file. */
	kdump_advise(b.data, b.len, MADV_WILLNEED);
	off = (uint64_t)((const char *)b.data - (const char *)f->file.map.data);
	return rank_gaps_init(&f->gaps[which], holes, off, f->h.max_pfn) ? 0 :
		atw_err_nomem(err);
}

static int kdump_get_bitmaps(struct kdump_file *f, struct atw_err *err)
{
	/* A page of bitmap is 128 MiB of memory. */
	enum { HOLE_MIN = 1 << 16 };
	bool one = f->h.bitmap2 == f->h.bitmap1;
	struct file_holes holes = { 0 };
	int rc = file_holes_find(&f->file, 0, f->file.map.len, HOLE_MIN, &holes, err) ?:
		 kdump_get_bitmap(f, f->h.bitmap1, 0, &holes, &f->had, err);

	if (rc == 0 && !one)
		rc = kdump_get_bitmap(f, f->h.bitmap2, 1, &holes, &f->stored, err);
	file_holes_deinit(&holes);
	if (rc < 0)
		return rc;
	if (one)
		f->stored = f->had;
	return rank_init(&f->rank, f->stored, f->h.max_pfn, &f->gaps[one ? 0 : 1]) ? 0 :
		atw_err_set(err, ATW_E_NOMEM, "no memory for the index of %" PRIu64 " frames",
			    f->h.max_pfn);
}

static int kdump_open_parsed(struct kdump_file *f, struct atw_err *err)
{
	int rc;

	/* QEMU's records are of 16 KiB: looking at each passes all the file. */
	kdump_advise(f->file.map.data, f->file.map.len, MADV_SEQUENTIAL);
	rc = view_open(f->file.map, &f->view, err);
	kdump_advise(f->file.map.data, f->file.map.len, MADV_RANDOM);
	if (rc < 0)
		return rc;
	rc = kdump_parse(&f->view, &f->h, err);
	if (rc < 0)
		return rc;
	rc = kdump_get_bitmaps(f, err);
	if (rc < 0)
		return rc;
	/* Each part has the bitmaps of all, but descriptors of its own only. */
	f->first_desc = rank_before(&f->rank, f->h.start_pfn);
	f->ndescs = rank_before(&f->rank, f->h.end_pfn) - f->first_desc;
	return 0;
}

static int kdump_open_file(struct kdump_file *f, const char *path, struct atw_err *err)
{
	int rc = file_open(path, &f->file, err);

	if (rc < 0)
		return rc;
	rc = kdump_open_parsed(f, err);
	if (rc < 0)
		atw_err_about(err, path);
	return rc;
}

static void kdump_close_file(struct kdump_file *f)
{
	rank_deinit(&f->rank);
	free(f->owned[0]);
	free(f->owned[1]);
	rank_gaps_deinit(&f->gaps[0]);
	rank_gaps_deinit(&f->gaps[1]);
	view_deinit(&f->view);
	file_close(&f->file);
}

uint64_t kdump_file_short(const struct kdump_file *f)
{
	uint64_t end = f->h.descs + f->ndescs * KDUMP_DESC_SIZE, stop;
	uint64_t n = f->ndescs < 512 ? f->ndescs : 512;
	char d[KDUMP_DESC_SIZE];

	if (end <= f->view.size) {
		for (uint64_t i = f->ndescs - n; i < f->ndescs; i++) {
			/* Wild offsets and sizes are damage, not a missing end. */
			if (view_read(&f->view, f->h.descs + i * KDUMP_DESC_SIZE,
				      d, sizeof(d)) &&
			    get_le32(d + 8) <= 2 * f->h.block_size &&
			    add_u64(get_le64(d), get_le32(d + 8), &stop) &&
			    stop >> 48 == 0 && stop > end)
				end = stop;
		}
	}
	end = end > f->view.size ? end - f->view.size : 0;
	return end > f->view.missing ? end : f->view.missing;
}

/* ---- a set of them ---- */

static bool kdump_same_vmcoreinfo(const struct kdump_file *a, const struct kdump_file *b)
{
	uint64_t off = 0, len = a->h.vmcoreinfo.len, n;
	char x[256], y[256];

	if (len != b->h.vmcoreinfo.len)
		return false;
	for (; off < len; off += n) {
		n = len - off < sizeof(x) ? len - off : sizeof(x);
		if (!view_read_padded(&a->view, a->h.vmcoreinfo.off + off, x, (size_t)n) ||
		    !view_read_padded(&b->view, b->h.vmcoreinfo.off + off, y, (size_t)n) ||
		    memcmp(x, y, (size_t)n))
			return false;
	}
	return true;
}

static const char *kdump_difference(const struct kdump_file *a,
				    const struct kdump_file *b)
{
	if (a->h.block_size != b->h.block_size || a->h.bits != b->h.bits)
		return _("block sizes differ");
	if (a->h.max_pfn != b->h.max_pfn)
		return _("amounts of memory differ");
	if (strcmp(a->h.release, b->h.release) || strcmp(a->h.kversion, b->h.kversion) ||
	    strcmp(a->h.machine, b->h.machine))
		return _("kernel versions differ");
	if (strcmp(a->h.nodename, b->h.nodename))
		return _("host names differ");
	if (!kdump_same_vmcoreinfo(a, b))
		return _("vmcoreinfo notes differ");
	return NULL;
}

static int kdump_check(const struct kdump_set *s, struct atw_err *err)
{
	for (size_t i = 0; i < s->nfiles; i++) {
		const struct kdump_file *f = &s->files[i];
		const char *why;

		why = kdump_difference(&s->files[0], f);
		if (s->nfiles > 1 && !f->h.split)
			atw_err_set(err, ATW_E_USAGE,
				    "is a whole dump, not a part of a split one");
		else if (why)
			atw_err_set(err, ATW_E_USAGE,
				    "is not a part of the same dump as %s: the %s",
				    s->files[0].file.path, why);
		else
			continue;
		atw_err_about(err, f->file.path);
		return ATW_E_USAGE;
	}
	return 0;
}

/*
 * Cut [0, max_pfn) at every file's ends. Between two cuts one file answers:
 * the first given, where several do.
 */
static int kdump_make_spans(struct kdump_set *s, struct atw_err *err)
{
	size_t n = 0;
	_auto_free uint64_t *cuts = calloc(2 * s->nfiles + 2, sizeof(*cuts));

	s->spans = calloc(2 * s->nfiles + 2, sizeof(*s->spans));
	if (!cuts || !s->spans)
		return atw_err_set(err, ATW_E_NOMEM, "no memory for %zu parts", s->nfiles);
	cuts[n++] = 0;
	cuts[n++] = s->max_pfn;
	for (size_t i = 0; i < s->nfiles; i++) {
		cuts[n++] = s->files[i].h.start_pfn;
		cuts[n++] = s->files[i].h.end_pfn;
	}
	qsort(cuts, n, sizeof(*cuts), sorted_by_u64);
	for (size_t c = 0; c + 1 < n; c++) {
		struct kdump_span span = { cuts[c], cuts[c + 1], NULL };

		if (span.start == span.end)
			continue;
		for (size_t i = 0; i < s->nfiles && !span.file; i++)
			if (s->files[i].h.start_pfn <= span.start &&
			    s->files[i].h.end_pfn >= span.end)
				span.file = &s->files[i];
		s->spans[s->nspans++] = span;
	}
	return 0;
}

int kdump_set_open(struct kdump_set *s, const struct atw_source_spec *spec,
		   struct atw_err *err)
{
	int rc = 0;

	*s = (struct kdump_set){ 0 };
	s->files = calloc(1 + spec->nparts, sizeof(*s->files));
	if (!s->files)
		return atw_err_set(err, ATW_E_NOMEM, "no memory for %zu parts",
				   1 + spec->nparts);
	for (size_t i = 0; i <= spec->nparts && rc == 0; i++) {
		/* Counted first: what a failed open left is closed as well. */
		s->nfiles = i + 1;
		rc = kdump_open_file(&s->files[i],
				     i ? spec->parts[i - 1] : spec->path, err);
	}
	if (rc == 0)
		rc = kdump_check(s, err);
	if (rc < 0)
		return rc;
	s->max_pfn = s->files[0].h.max_pfn;
	s->shift = s->files[0].h.block_shift;
	return kdump_make_spans(s, err);
}

void kdump_set_deinit(struct kdump_set *s)
{
	for (size_t i = 0; i < s->nfiles; i++)
		kdump_close_file(&s->files[i]);
	free(s->files);
	free(s->spans);
	*s = (struct kdump_set){ 0 };
}

const struct kdump_span *kdump_set_span(const struct kdump_set *s, uint64_t pfn)
{
	return &s->spans[SORTED_UP_TO(s->spans, s->nspans - 1, end, pfn)];
}

/* ---- frames ---- */

enum atw_extent_kind kdump_span_kind(const struct kdump_span *span, uint64_t pfn)
{
	const struct kdump_file *f = span->file;

	if (!f)
		return ATW_NONE;
	if (bitmap_test(f->stored, f->h.max_pfn, pfn))
		return ATW_DATA;
	return bitmap_test(f->had, f->h.max_pfn, pfn) ? ATW_EXCLUDED : ATW_NONE;
}

/* A bit for each of 64 frames: is it of this kind? */
static uint64_t kdump_kind_word(const struct kdump_file *f, enum atw_extent_kind kind,
				uint64_t pfn)
{
	uint64_t stored = bitmap_word(f->stored, f->h.max_pfn, pfn);

	if (kind == ATW_DATA)
		return stored;
	if (kind == ATW_EXCLUDED)
		return bitmap_word(f->had, f->h.max_pfn, pfn) & ~stored;
	return ~(bitmap_word(f->had, f->h.max_pfn, pfn) | stored);
}

/* From frame n on, the first that is not known to be no memory without a look. */
static uint64_t kdump_skip_gaps(const struct kdump_file *f, uint64_t n)
{
	uint64_t had = rank_gaps_end(&f->gaps[0], n), stored = had;

	if (f->stored != f->had)
		stored = rank_gaps_end(&f->gaps[1], n);
	return had < stored ? had : stored;
}

uint64_t kdump_span_run(const struct kdump_span *span, enum atw_extent_kind kind,
			uint64_t pfn)
{
	uint64_t at = pfn & ~UINT64_C(63), other;

	if (!span->file)
		return span->end;
	other = ~kdump_kind_word(span->file, kind, at) & ~UINT64_C(0) << (pfn & 63);
	while (!other) {
		at += 64;
		/* A page of the bitmap, which a hole is made of. */
		if (kind == ATW_NONE && !(at % (UINT64_C(4096) * 8)))
			at = kdump_skip_gaps(span->file, at);
		if (at >= span->end)
			return span->end;
		other = ~kdump_kind_word(span->file, kind, at);
	}
	at += (unsigned)__builtin_ctzll(other);
	return at < span->end ? at : span->end;
}
