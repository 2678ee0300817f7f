/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture.c - a capture as a source: it is read, and has no page tables. */
#include <string.h>

#include "atwalk.h"
#include "progress.h"
#include "provider/captured.h"

bool is_capture(const struct opened *o)
{
	struct atw_blob path;

	return atw_fact(o->source, "capture", &path) == ATW_OK;
}

int no_tables(const struct opened *o, const char *what)
{
	struct atw_err err = { 0 };

	atw_err_set(&err, ATW_E_UNSUPPORTED,
		    "%s: is a capture: it tells which pages processes had; %s needs page tables or the kernel's memory",
		    o->name, what);
	atw_err_hint(&err, "a dump, or live on that machine, has them");
	return complain(&err);
}

struct reading {
	struct opened *o;
	struct progress progress;
};

static void damaged(void *arg, const struct atw_err *err)
{
	struct reading *x = arg;
	struct atw_err e = *err;

	x->o->defective = true;
	atw_err_wrap(&e, "%s", x->o->name);
	complain(&e);
}

static void progress(void *arg, uint64_t tasks, uint64_t all)
{
	progress_at(&((struct reading *)arg)->progress, tasks, all);
}

/* No mode: nothing is known of entries but what the capture says of them. */
static const struct atw_flag no_flags[1];
static const struct atw_paging no_mode = {
	.name = "a capture", .va_bits = 64, .pa_bits = CAPTURE_PA_BITS, .flags = no_flags,
};

int attach_capture(const struct common *c, struct opened *o, const struct space_opts *space)
{
	const struct { bool given; const char *name; } tables[] = {
		{ space->pti, "--pti" }, { space->cpu.given, "--cpu" },
		{ space->root.given, "--root" }, { space->paging, "--paging" },
		{ space->pte_ext, "--pte-ext" }, { space->cbit.given, "--cbit" },
		{ space->kernel, "--kernel" },
	};
	struct reading x = { .o = o };
	const struct captured_opts co = { damaged, progress, &x };
	struct atw_err err = { 0 };
	struct atw_blob path;
	int r;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].given)
			return no_tables(o, tables[i].name);
	if (check_whose(space, &err) < 0)
		return complain(&err);
	atw_fact(o->source, "capture", &path);
	progress_begin(&x.progress, c, false, o->name, "tasks");
	r = captured_open(path.data, &co, &o->capture, &err);
	progress_end(&x.progress);
	if (r < 0) {
		atw_err_wrap(&err, "%s", o->name);
		return complain(&err);
	}
	o->space = (struct atw_space){ .mem = o->source, .paging = no_mode };
	o->space.paging.page_shift = (uint8_t)__builtin_ctzll(o->capture->page);
	return space->pid.given || space->task ? select_process(o, space) : EXIT_COMPLETE;
}
