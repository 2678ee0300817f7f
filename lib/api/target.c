/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.c - targets of the public API. */
#include <stdio.h>

#include "api/api.h"
#include "source/wrap.h"

/* ---- options ---- */

/* No options are as large as this; a `size` that is was never set. */
enum { API_OPTS_MAX = 4096 };

int api_opts(void *ret, size_t len, const void *opts, struct atw_err *err)
{
	const unsigned char *byte = opts;
	size_t size;

	memset(ret, 0, len);
	if (!opts)
		return ATW_OK;
	memcpy(&size, opts, sizeof(size));
	if (size < sizeof(size) || size > API_OPTS_MAX)
		return atw_err_set(
			err, ATW_E_USAGE,
			"options: `size` is %zu: it is to be that of the struct", size);
	for (size_t i = len; i < size; i++)
		if (byte[i])
			return atw_err_set(err, ATW_E_USAGE,
					   "options: byte %zu is set, which libatwalk %s "
					   "does not know",
					   i, atw_version());
	memcpy(ret, opts, size < len ? size : len);
	return ATW_OK;
}

int api_given(const void *handle, const char *what, struct atw_err *err)
{
	return handle ? ATW_OK : atw_err_set(err, ATW_E_USAGE, "%s is NULL", what);
}

int api_both(const void *handle, const char *what, const void *ret, struct atw_err *err)
{
	int r = api_given(handle, what, err);

	return r == ATW_OK ? api_given(ret, "ret", err) : r;
}

int api_reserved(uint32_t reserved, struct atw_err *err)
{
	return !reserved ? ATW_OK
			 : atw_err_set(err, ATW_E_USAGE, "options: `reserved` is not zero");
}

/* ---- what a cursor could not read, reported once behind its last row ---- */

void api_lost_add(struct api_lost *lost, const char *what, const struct atw_err *why)
{
	if (lost->n++)
		return;
	lost->first = *why;
	if (what && *what)
		atw_err_wrap(&lost->first, "%s", what);
}

void api_lost_cannot(void *lost, const char *what, const struct atw_err *why)
{
	api_lost_add(lost, what, why);
}

int api_lost_end(struct api_lost *lost, struct atw_err *err)
{
	if (!lost->n || lost->reported)
		return ATW_END;
	lost->reported = true;
	if (lost->n == 1)
		atw_err_set(err, ATW_E_PARTIAL, "%s", lost->first.text);
	else
		atw_err_set(err, ATW_E_PARTIAL, "%.440s; and %" PRIu64 " more",
			    lost->first.text, lost->n - 1);
	if (lost->first.hint[0])
		atw_err_hint(err, "%s", lost->first.hint);
	return ATW_E_PARTIAL;
}

/* ---- opening ---- */

static void target_set_info(struct atw_target *t)
{
	const struct target *in = t->t;
	struct atw_blob defect;

	if (target_defect(in, 0, &defect))
		snprintf(t->defect, sizeof(t->defect), "%.*s", (int)defect.len,
			 (const char *)defect.data);
	else if (in->defective)
		snprintf(t->defect, sizeof(t->defect), "damaged");
	t->info = (struct atw_target_info){
		.source = t->source,
		.kind = target_has(in, TARGET_HERE)      ? "running kernel"
			: target_has(in, TARGET_RUNNING) ? "running guest"
							 : in->backend->noun,
		.format = target_format(in),
		.release = in->release,
		.paging = target_has(in, TARGET_TABLES) ? in->space.paging.name : "",
		.defect = t->defect,
		.page_size = (uint64_t)1 << in->space.paging.page_shift,
	};
}

static int target_limit_rate(struct atw_target *t, uint64_t rate, struct atw_err *err)
{
	struct atw_source *paced;
	int r;

	if (!rate || !target_has(t->t, TARGET_RUNNING))
		return ATW_OK;
	t->pace.rate = rate;
	t->paced = true;
	if (!target_has(t->t, TARGET_MEMORY))
		return ATW_OK;
	r = paced_source(t->t->source, &t->pace, &paced, err);
	if (r == ATW_OK)
		t->t->source = paced;
	return r;
}

/* Options that only page tables give a meaning to. */
static int target_check_opts(const struct atw_target *t, const struct atw_open_opts *o,
			     struct atw_err *err)
{
	if (o->root && !o->paging)
		return atw_err_set(err, ATW_E_USAGE, "root: it needs paging, too");
	if (!o->root && !o->paging && !o->paging_ext && !o->cpu_plus_one &&
	    !o->kernel_file)
		return ATW_OK;
	return target_need(t->t, TARGET_TABLES, "choosing page tables", err);
}

static int target_open_with(struct atw_target *t, const struct atw_open_opts *o,
			    struct atw_err *err)
{
	const struct target_opts to = {
		.paging = o->paging,
		.pte_ext = o->paging_ext,
		.kernel_file = o->kernel_file,
		.has_root = o->root,
		.root = ATW_PA(o->root),
		.has_cpu = o->cpu_plus_one,
		.cpu = o->cpu_plus_one - (uint64_t)1,
	};
	struct atw_source_spec given = { .parts = o->parts, .layout = o->layout };
	int r;

	while (o->parts && o->parts[given.nparts])
		given.nparts++;
	r = target_open(t->source, &given, NULL, &t->t, err) ?:
	    target_check_opts(t, o, err) ?:
	    target_limit_rate(t, o->max_rate, err);
	return r == ATW_OK ? target_attach(t->t, &to, NULL, err) : r;
}

int atw_target_open(const char *source, const struct atw_open_opts *opts,
		    struct atw_target **ret, struct atw_err *err)
{
	struct atw_open_opts o;
	struct atw_target *t;
	int r = api_opts(&o, sizeof(o), opts, err) ?:
		api_both(source, "the source", ret, err) ?:
		api_reserved(o.reserved, err);

	if (r < 0)
		return r;
	t = calloc(1, sizeof(*t));
	if (t)
		t->source = strdup(source);
	if (!t || !t->source) {
		free(t);
		return atw_err_nomem(err);
	}
	r = target_open_with(t, &o, err);
	if (r < 0) {
		atw_target_close(t);
		return r;
	}
	target_set_info(t);
	*ret = t;
	return ATW_OK;
}

void atw_target_close(struct atw_target *target)
{
	if (!target)
		return;
	target_close(target->t);
	free(target->source);
	free(target);
}

/* ---- capabilities ---- */

static const struct {
	uint32_t cap, needs; /* enum atw_cap, enum target_cap */
	const char *what;
} target_caps_table[] = {
	{ATW_CAP_MEMORY, TARGET_MEMORY, "reading physical memory"},
	{ATW_CAP_TABLES, TARGET_TABLES, "walking page tables"},
	{ATW_CAP_SYMBOLS, TARGET_SYMBOLS, "finding symbols"},
	{ATW_CAP_TASKS, TARGET_TASKS, "listing all tasks"},
	{ATW_CAP_PROCESSES, TARGET_PAGES, "listing processes"},
	{ATW_CAP_FRAMES, TARGET_MEMORY | TARGET_SYMBOLS, "listing frames"},
	{ATW_CAP_RMAP, TARGET_RMAP, "finding mappings of a frame"},
};

enum { TARGET_CAPS = sizeof(target_caps_table) / sizeof(target_caps_table[0]) };

uint32_t atw_target_caps(const struct atw_target *target)
{
	uint32_t caps = 0;

	if (!target)
		return 0;
	for (size_t i = 0; i < TARGET_CAPS; i++)
		if (target_has(target->t, target_caps_table[i].needs))
			caps |= target_caps_table[i].cap;
	return caps | (target_has(target->t, TARGET_RUNNING) ? ATW_CAP_RUNNING : 0);
}

int atw_target_need(const struct atw_target *target, uint32_t caps, struct atw_err *err)
{
	uint32_t known = ATW_CAP_RUNNING;
	int r = api_given(target, "the target", err);

	for (size_t i = 0; i < TARGET_CAPS && r == ATW_OK; i++) {
		known |= target_caps_table[i].cap;
		if (caps & target_caps_table[i].cap)
			r = target_need(target->t, target_caps_table[i].needs,
					target_caps_table[i].what, err);
	}
	if (r == ATW_OK && caps & ~known)
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"libatwalk %s does not know the capabilities 0x%x",
				atw_version(), caps & ~known);
	if (r == ATW_OK && caps & ATW_CAP_RUNNING &&
	    !target_has(target->t, TARGET_RUNNING))
		r = atw_err_set(err, ATW_E_UNSUPPORTED, "%s is not a running kernel",
				target->source);
	return r;
}

const struct atw_target_info *atw_target_get_info(const struct atw_target *target)
{
	return target ? &target->info : NULL;
}

/* ---- symbols of the kernel ---- */

static int target_lend_symbol(struct atw_target *t, const struct atw_symbol **ret)
{
	t->symbol = (struct atw_symbol){
		.name = t->found.name,
		.va = ATW_VA(t->found.address),
		.bytes = t->found.size,
		.type = (unsigned char)t->found.type,
	};
	*ret = &t->symbol;
	return ATW_OK;
}

int atw_symbol_at(struct atw_target *target, atw_va va, const struct atw_symbol **ret,
		  struct atw_err *err)
{
	struct lnx_symbol found;
	int r = atw_target_need(target, ATW_CAP_SYMBOLS, err) ?:
		api_given(ret, "ret", err) ?:
		atw_kernel_symbol_at(target->t->kernel, va.u, &found, err);

	if (r < 0)
		return r;
	target->found = found;
	return target_lend_symbol(target, ret);
}

/* VMCOREINFO names some symbols and has no type and size of them. */
int atw_symbol_find(struct atw_target *target, const char *name,
		    const struct atw_symbol **ret, struct atw_err *err)
{
	struct lnx_symbol found;
	uint64_t at;
	int r = atw_target_need(target, ATW_CAP_SYMBOLS, err) ?:
		api_given(ret, "ret", err) ?:
		api_given(name, "the name", err) ?:
		atw_kernel_symbol(target->t->kernel, name, &at, err);

	if (r != ATW_OK)
		return r;
	if (atw_kernel_symbol_at(target->t->kernel, at, &found, NULL) < 0 ||
	    found.address != at)
		found = (struct lnx_symbol){.address = at};
	/* Of several at this address, the one that was asked for. */
	if (strcmp(found.name, name))
		found.type = 0;
	snprintf(found.name, sizeof(found.name), "%s", name);
	target->found = found;
	return target_lend_symbol(target, ret);
}
