/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin_tasks.c - tasks, areas and pages that a plugin returns, written as a capture to a
 * file in memory. Whatever reads captures reads it then. The order of areas and runs is checked
 * here, where the plugin can be named.
 */
#include "target/plugin_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/io.h"
#include "base/table.h"
#include "format/capture.h"
#include "linux/vm_flags.h"
#include "output/batch.h"

enum {
	PTASKS_PIECE = 1 << 20,          /* written at once */
	PTASKS_PAGE_MOST = 1 << 20,      /* bytes of the smallest page of any CPU, at most */
};

struct plugin_reader {
	const struct plugin_device *of;
	void *state;
	int fd;
	uint64_t page, lines, tasks, areas, lost;
	uint64_t mapped, present;        /* bytes of all areas; pages in memory */
	struct table spaces;             /* those that were listed */
	struct buf text;                 /* lines that are not written yet */
	bool frames;
	/* Of the task, and of the area. */
	uint32_t pid;
	uint64_t last_end;               /* of the area before */
	struct atw_plugin_area area;
	struct buf runs;                 /* of the M: line that is not complete */
	struct buf before, behind;       /* lines before and behind the V: line */
	uint64_t before_lines, behind_lines;
	uint64_t upto, resident;
	char line[CAPTURE_LINE];
};

/* ---- errors ---- */

static int plugin_tasks_failed(const struct plugin_reader *x, int r, struct atw_err *why,
			       struct atw_err *err)
{
	return atw_err_give(err, batch_result(r, x->of->plugin, why), why);
}

/* Of what the plugin returned: its name and the place are put in front. */
static int plugin_tasks_wrong(const struct plugin_reader *x, struct atw_err *err)
{
	int status = err ? err->status : ATW_E_DAMAGED;

	if (x->area.end)
		atw_err_wrap(err, "area at 0x%" PRIx64, x->area.start);
	if (x->pid)
		atw_err_wrap(err, "process %" PRIu32, x->pid);
	atw_err_wrap(err, "plugin %s", x->of->plugin);
	return status;
}

/* ---- lines ---- */

static int plugin_tasks_flush(struct plugin_reader *x, size_t least, struct atw_err *err)
{
	if (x->text.failed || x->before.failed || x->behind.failed || x->runs.failed)
		return atw_err_nomem(err);
	if (x->text.len < least)
		return ATW_OK;
	if (io_write(x->fd, x->text.data, x->text.len) < x->text.len)
		return atw_err_set(err, io_status(errno), "%m");
	x->text.len = 0;
	return ATW_OK;
}

static int plugin_tasks_line(struct plugin_reader *x, const struct capture_record *rec,
			     struct buf *to, uint64_t *lines, struct atw_err *err)
{
	size_t n = capture_write(rec, x->line, sizeof(x->line));

	if (!n) {
		atw_err_set(err, ATW_E_DAMAGED, "a text is too long");
		return plugin_tasks_wrong(x, err);
	}
	buf_add(to, x->line, n);
	++*lines;
	return to->failed ? atw_err_nomem(err) : ATW_OK;
}

static int plugin_tasks_put(struct plugin_reader *x, const struct capture_record *rec,
			    struct atw_err *err)
{
	return plugin_tasks_line(x, rec, &x->text, &x->lines, err) ?:
	       plugin_tasks_flush(x, PTASKS_PIECE, err);
}

static int plugin_tasks_header(struct plugin_reader *x, const char *key, struct atw_blob value,
			       struct atw_err *err)
{
	const struct capture_record rec = { .letter = 'H', .h = { blob_of(key), value } };

	return plugin_tasks_put(x, &rec, err);
}

/* ---- the head ---- */

static struct atw_blob plugin_tasks_fact(const struct plugin_reader *x, const char *key)
{
	const void *data = NULL;
	uint64_t len = 0;

	if (!x->of->target.fact || x->of->target.fact(x->state, key, &data, &len) != ATW_OK || !data)
		return (struct atw_blob){ 0 };
	return (struct atw_blob){ data, len < 64 ? (size_t)len : 64 };
}

static int plugin_tasks_find_page(struct plugin_reader *x, struct atw_err *err)
{
	struct atw_blob b = plugin_tasks_fact(x, "page");

	x->page = b.len == 8 ? get_le64(b.data) : 4096;
	if (b.len && (b.len != 8 || x->page < 512 || x->page > PTASKS_PAGE_MOST ||
		      x->page & (x->page - 1))) {
		atw_err_set(err, ATW_E_DAMAGED, "its fact 'page' is not the size of a page");
		return plugin_tasks_wrong(x, err);
	}
	return ATW_OK;
}

static int plugin_tasks_head(struct plugin_reader *x, struct atw_err *err)
{
	static const char *const facts[] = { "machine", "release" };
	char page[24], bits[24], flags[24];
	int r = plugin_tasks_find_page(x, err);

	snprintf(page, sizeof(page), "%" PRIu64, x->page);
	/* Rights are those of areas. */
	snprintf(bits, sizeof(bits), "%X", (unsigned)(CAPTURE_PRESENT | CAPTURE_USER));
	snprintf(flags, sizeof(flags), "%X", (unsigned)(VM_RIGHTS | VM_SHARED | VM_MAYSHARE));
	r = r ?: plugin_tasks_header(x, "atwalk-capture", blob_of("1"), err) ?:
	    plugin_tasks_header(x, "page", blob_of(page), err) ?:
	    plugin_tasks_header(x, "way", blob_of(x->of->of.name), err) ?:
	    plugin_tasks_header(x, "bits", blob_of(bits), err) ?:
	    plugin_tasks_header(x, "areaflags", blob_of(flags), err) ?:
	    plugin_tasks_header(x, "pageflags", blob_of("0"), err);
	for (size_t i = 0; i < ARRAY_SIZE(facts) && r == ATW_OK; i++) {
		struct atw_blob b = plugin_tasks_fact(x, facts[i]);

		if (b.len)
			r = plugin_tasks_header(x, facts[i], b, err);
	}
	return r;
}

/* ---- runs ---- */

/* The M: line that was collected so far. */
static int plugin_tasks_end_runs(struct plugin_reader *x, struct atw_err *err)
{
	const struct capture_record rec = { .letter = 'M', .m = { x->runs.data, x->runs.len } };
	int r = x->runs.len ? plugin_tasks_line(x, &rec, &x->behind, &x->behind_lines, err) : ATW_OK;

	x->runs.len = 0;
	return r;
}

static int plugin_tasks_add_run(struct plugin_reader *x, const struct capture_run *run,
				struct atw_err *err)
{
	size_t n = capture_write_run(run, x->line, CAPTURE_TAIL);

	buf_add(&x->runs, x->line, n);
	return x->runs.len > CAPTURE_LINE - 2 * CAPTURE_TAIL ? plugin_tasks_end_runs(x, err) : ATW_OK;
}

/* Pages that could not be read: an L: line, which comes before the area. */
static int plugin_tasks_add_hole(struct plugin_reader *x, uint64_t va, uint64_t pages,
				 struct atw_err *err)
{
	const struct capture_record rec = {
		.letter = 'L', .has = CAPTURE_L_START | CAPTURE_L_LAST,
		.l = { .pid = x->pid, .what = blob_of("pages"), .why = blob_of("the source does not have them"),
		       .start = va, .last = va + pages * x->page - 1 },
	};

	x->lost++;
	return plugin_tasks_line(x, &rec, &x->before, &x->before_lines, err);
}

static int plugin_tasks_run(struct plugin_reader *x, uint64_t va, uint64_t pages, uint64_t state,
			    uint64_t frame, struct atw_err *err)
{
	static const uint64_t frames = UINT64_C(1) << CAPTURE_PA_BITS;
	struct capture_run run = { .va = va, .pages = pages };
	bool none = x->area.flags & ATW_AREA_RIGHTS &&
		    !(x->area.flags & (ATW_AREA_READ | ATW_AREA_WRITE | ATW_AREA_EXEC));

	if (va < x->upto || va % x->page || !pages || pages > (x->area.end - va) / x->page ||
	    va >= x->area.end) {
		atw_err_set(err, ATW_E_DAMAGED,
			    "%" PRIu64 " pages at 0x%" PRIx64 " are not in it, or not behind those before",
			    pages, va);
		return plugin_tasks_wrong(x, err);
	}
	x->upto = va + pages * x->page;
	if (state == ATW_PAGE_UNKNOWN)
		return plugin_tasks_add_hole(x, va, pages, err);
	if (state == ATW_PAGE_SWAPPED) {
		run.has = CAPTURE_M_SWAP;
		run.swap.a = CAPTURE_SWAP_UNKNOWN;
		return plugin_tasks_add_run(x, &run, err);
	}
	if (state != ATW_PAGE_PRESENT) {
		atw_err_set(err, ATW_E_UNSUPPORTED,
			    "pages at 0x%" PRIx64 " are of no known state (%" PRIu64 "): it needs a newer atwalk",
			    va, state);
		return plugin_tasks_wrong(x, err);
	}
	run.entry = CAPTURE_PRESENT | (none ? 0 : CAPTURE_USER);
	if (frame == ATW_FRAME_UNKNOWN) {
		run.has = CAPTURE_M_NOFRAME;
		run.noframe = 1;
	} else if (frame % x->page || frame >= frames || pages > (frames - frame) / x->page) {
		atw_err_set(err, ATW_E_DAMAGED,
			    "pages at 0x%" PRIx64 " have the physical address 0x%" PRIx64 ", which none has",
			    va, frame);
		return plugin_tasks_wrong(x, err);
	} else {
		run.entry |= frame;
		x->frames = true;
	}
	x->resident += pages * x->page;
	x->present += pages;
	return plugin_tasks_add_run(x, &run, err);
}

static int plugin_tasks_pages(struct plugin_reader *x, struct atw_err *err)
{
	/* An area without any page says so. */
	const struct capture_record none = {
		.letter = 'P', .has = CAPTURE_P_SWAP | CAPTURE_P_ANON | CAPTURE_P_FILE | CAPTURE_P_HUGE,
	};
	int r = ATW_OK;

	while (r == ATW_OK) {
		struct atw_plugin_pages b = { .size = sizeof(b) };
		struct atw_err why = { 0 };

		r = x->of->target.pages(x->state, &b, &why);
		if (r == ATW_END)
			break;
		if (r != ATW_OK)
			return plugin_tasks_failed(x, r, &why, err);
		if (!b.n || b.n > ATW_BATCH_RUNS || b.reserved || !b.address || !b.count || !b.state) {
			atw_err_set(err, ATW_E_DAMAGED, "a batch of runs has %" PRIu32 " of them, or lacks an array",
				    b.n);
			return plugin_tasks_wrong(x, err);
		}
		for (uint32_t i = 0; i < b.n && r == ATW_OK; i++)
			r = plugin_tasks_run(x, b.address[i], b.count[i], b.state[i],
					     b.frame ? b.frame[i] : ATW_FRAME_UNKNOWN, err);
	}
	if (r < 0)
		return r;
	if (!x->behind_lines && !x->runs.len && !x->before_lines)
		return plugin_tasks_line(x, &none, &x->behind, &x->behind_lines, err);
	return plugin_tasks_end_runs(x, err);
}

/* ---- areas ---- */

static int plugin_tasks_check_area(struct plugin_reader *x, struct atw_err *err)
{
	const struct atw_plugin_area *a = &x->area;
	static const uint32_t known = ATW_AREA_READ | ATW_AREA_WRITE | ATW_AREA_EXEC |
				      ATW_AREA_RIGHTS | ATW_AREA_SHARED | ATW_AREA_PAGES;
	uint64_t size = a->end - a->start;

	if (a->flags & ~known || a->reserved || a->reserved2 || a->file > 1)
		atw_err_set(err, ATW_E_UNSUPPORTED, "it has an unknown flag (0x%" PRIx32 "): it needs a newer atwalk",
			    a->flags);
	else if (a->start >= a->end || a->start % x->page || a->end % x->page)
		atw_err_set(err, ATW_E_DAMAGED, "it ends at 0x%" PRIx64 ", and pages have %" PRIu64 " bytes",
			    a->end, x->page);
	else if (a->start < x->last_end)
		atw_err_set(err, ATW_E_DAMAGED, "it begins before the end of the one before it, 0x%" PRIx64,
			    x->last_end);
	else if (size > INT64_MAX - x->mapped)
		atw_err_set(err, ATW_E_DAMAGED, "all areas together have more than 2^63 bytes");
	else
		return ATW_OK;
	/* The place is shown, whatever it is. */
	x->area.end = x->area.end ? x->area.end : 1;
	return plugin_tasks_wrong(x, err);
}

static int plugin_tasks_area(struct plugin_reader *x, struct atw_err *err)
{
	const struct atw_plugin_area *a = &x->area;
	struct capture_record rec = { .letter = 'V' };
	int r = plugin_tasks_check_area(x, err);

	if (r < 0)
		return r;
	x->last_end = a->end;
	x->mapped += a->end - a->start;
	x->areas++;
	x->upto = a->start;
	x->resident = x->before_lines = x->behind_lines = 0;
	x->before.len = x->behind.len = x->runs.len = 0;
	if (a->flags & ATW_AREA_PAGES)
		r = plugin_tasks_pages(x, err);
	rec.v = (struct capture_area){
		.start = a->start, .last = a->end - 1, .size = a->end - a->start,
		.resident = x->resident, .name = blob_of(a->name), .inode = a->inode,
		.offset = a->offset, .shared = a->flags & ATW_AREA_SHARED ? 1 : 0,
		.flags = (a->flags & ATW_AREA_READ ? VM_READ : 0u) |
			 (a->flags & ATW_AREA_WRITE ? VM_WRITE : 0u) |
			 (a->flags & ATW_AREA_EXEC ? VM_EXEC : 0u) |
			 (a->flags & ATW_AREA_SHARED ? VM_SHARED | VM_MAYSHARE : 0u),
	};
	rec.has = (a->flags & ATW_AREA_RIGHTS ? CAPTURE_V_FLAGS : 0) |
		  (a->inode ? CAPTURE_V_INODE : 0) | (a->file ? CAPTURE_V_OFFSET : 0) |
		  (a->flags & ATW_AREA_SHARED ? CAPTURE_V_SHARED : 0);
	buf_add(&x->text, x->before.data, x->before.len);
	x->lines += x->before_lines;
	r = r ?: plugin_tasks_put(x, &rec, err);
	buf_add(&x->text, x->behind.data, x->behind.len);
	x->lines += x->behind_lines;
	return r ?: plugin_tasks_flush(x, PTASKS_PIECE, err);
}

static int plugin_tasks_areas(struct plugin_reader *x, struct atw_err *err)
{
	int r = ATW_OK;

	x->last_end = 0;
	while (r == ATW_OK) {
		struct atw_err why = { 0 };

		x->area = (struct atw_plugin_area){ .size = sizeof(x->area) };
		r = x->of->target.area(x->state, &x->area, &why);
		if (r == ATW_OK)
			r = plugin_tasks_area(x, err);
		else if (r != ATW_END)
			r = plugin_tasks_failed(x, r, &why, err);
	}
	x->area = (struct atw_plugin_area){ 0 };
	return r == ATW_END ? ATW_OK : r;
}

/* ---- tasks ---- */

static int plugin_tasks_task(struct plugin_reader *x, const struct atw_plugin_task *t,
			     struct atw_err *err)
{
	struct capture_record rec = { .letter = 'T' };
	struct table_slot *seen;
	int r;

	x->pid = t->pid;
	if (!t->pid || t->flags & ~(uint32_t)ATW_TASK_PARENT) {
		atw_err_set(err, ATW_E_DAMAGED, "task %" PRIu64 " has no number, or an unknown flag (0x%" PRIx32 ")",
			    x->tasks + 1, t->flags);
		return plugin_tasks_wrong(x, err);
	}
	if (x->tasks == CAPTURE_TASKS) {
		atw_err_set(err, ATW_E_DAMAGED, "it has more than %d tasks", CAPTURE_TASKS);
		return plugin_tasks_wrong(x, err);
	}
	x->tasks++;
	rec.t = (struct capture_task){
		.name = blob_of(t->name), .pid = t->pid, .mm = t->space,
		.tgid = t->tgid ? t->tgid : t->pid, .ppid = t->ppid, .exe = blob_of(t->exe),
	};
	rec.has = CAPTURE_T_TGID | (t->flags & ATW_TASK_PARENT ? CAPTURE_T_PPID : 0) |
		  (t->exe ? CAPTURE_T_EXE : 0);
	r = plugin_tasks_put(x, &rec, err);
	if (r < 0 || !t->space)
		return r;
	seen = table_get(&x->spaces, t->space);
	if (!seen)
		return atw_err_nomem(err);
	if (seen->value)
		return ATW_OK;
	table_set(&x->spaces, seen, 1);
	return plugin_tasks_areas(x, err);
}

static int plugin_tasks_all(struct plugin_reader *x, struct atw_err *err)
{
	int r = ATW_OK;

	while (r == ATW_OK) {
		struct atw_plugin_task t = { .size = sizeof(t) };
		struct atw_err why = { 0 };

		r = x->of->target.task(x->state, &t, &why);
		if (r == ATW_OK)
			r = plugin_tasks_task(x, &t, err);
		else if (r != ATW_END)
			r = plugin_tasks_failed(x, r, &why, err);
	}
	x->pid = 0;
	return r == ATW_END ? ATW_OK : r;
}

static int plugin_tasks_lost(struct plugin_reader *x, struct atw_err *err)
{
	int r = x->of->target.lost ? ATW_OK : ATW_END;

	while (r == ATW_OK) {
		struct atw_plugin_lost l = { .size = sizeof(l) };
		struct capture_record rec = { .letter = 'L' };
		struct atw_err why = { 0 };

		r = x->of->target.lost(x->state, &l, &why);
		if (r == ATW_END)
			break;
		if (r != ATW_OK)
			return plugin_tasks_failed(x, r, &why, err);
		rec.l = (struct capture_lost){ .pid = l.pid, .what = blob_of(l.what ? l.what : "pages"),
					       .why = blob_of(l.why ? l.why : "no reason is given") };
		x->lost++;
		r = plugin_tasks_put(x, &rec, err);
	}
	return r < 0 ? r : ATW_OK;
}

static int plugin_tasks_write(struct plugin_reader *x, struct atw_err *err)
{
	struct capture_record end = { .letter = 'E' };
	int r = plugin_tasks_head(x, err) ?: plugin_tasks_all(x, err) ?: plugin_tasks_lost(x, err);
	char pages[24];

	/* Which of them large pages map is not known. */
	snprintf(pages, sizeof(pages), "%" PRIu64, x->present);
	r = r ?: plugin_tasks_header(x, "unsized", blob_of(pages), err);
	end.e = (struct capture_end){ x->lines, x->tasks, x->areas, x->lost };
	r = r ?: plugin_tasks_put(x, &end, err) ?: plugin_tasks_flush(x, 1, err);
	return r == ATW_OK && lseek(x->fd, 0, SEEK_SET) < 0 ? atw_err_set(err, io_status(errno), "%m") : r;
}

/* ---- opening ---- */

static int plugin_tasks_open(struct plugin_reader *x, const struct atw_source_spec *spec,
			     struct plugin_tasks *ret, struct atw_err *err)
{
	const struct atw_plugin_target *t = &x->of->target;
	struct atw_plugin_input in = { .size = sizeof(in), .text = spec->path };
	struct atw_err why = { 0 };
	struct file file = { 0 };
	const char *about;
	int r = ATW_OK;

	if (t->flags & ATW_SOURCE_FILE)
		r = file_open(spec->path, &file, err);
	if (r < 0)
		return r;
	in.data = file.map.data;
	in.len = file.map.len;
	r = t->open(x->of->instance, &in, &x->state, &why);
	if (r == ATW_OK) {
		r = plugin_tasks_write(x, err);
		about = t->describe ? t->describe(x->state) : NULL;
		about = about ? about : t->help;
		snprintf(ret->about, sizeof(ret->about), "%s (plugin %s)", about ? about : t->name,
			 x->of->plugin);
		if (t->close)
			t->close(x->state);
	} else {
		r = plugin_tasks_failed(x, r, &why, err);
	}
	file_close(&file);
	return r;
}

int plugin_tasks_read(const struct plugin_device *of, const struct atw_source_spec *spec,
		      struct plugin_tasks *ret, struct atw_err *err)
{
	_auto_free struct plugin_reader *x = calloc(1, sizeof(*x));
	_auto_fd int fd = memfd_create("atwalk", MFD_CLOEXEC);
	int r;

	if (!x)
		return atw_err_nomem(err);
	if (fd < 0)
		return atw_err_set(err, io_status(errno), "%m");
	if (spec->nparts)
		return atw_err_set(err, ATW_E_USAGE,
				   "is not one part of a split set: only kdump-compressed dumps are split");
	x->of = of;
	x->fd = fd;
	r = plugin_tasks_open(x, spec, ret, err);
	ret->frames = x->frames;
	buf_deinit(&x->text);
	buf_deinit(&x->runs);
	buf_deinit(&x->before);
	buf_deinit(&x->behind);
	table_deinit(&x->spaces);
	if (r < 0)
		return r;
	ret->fd = fd;
	fd = -1;
	return ATW_OK;
}
