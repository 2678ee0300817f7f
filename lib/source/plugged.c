/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugged.c - sources of plugins, and targets as far as they are kinds of source. What a plugin returns is checked before it is used: its
 * extents once, when it is opened, and the length of each read.
 */
#include "source/plugged.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "format/plugin_magic.h"
#include "output/batch.h"
#include "source/extents.h"

enum {
	PLUGGED_EXTENTS = 1 << 20,
	PLUGGED_CPUS = 65536,
	PLUGGED_TEXT = 1 << 20,          /* bytes of a fact */
	PLUGGED_TYPES = 64 << 20,        /* and of `btf` */
};

struct plugged {
	const struct plugin_device *of;
	void *state;
	bool opened;
	struct file file;        /* ATW_SOURCE_FILE */
	uint8_t stored[8];       /* the length of it */
	struct extents map;
	uint64_t last;           /* while it is opened: where the extent before ends */
};

static const struct plugin_device *plugged_of(const struct atw_source *s)
{
	return ((const struct plugin_source *)s->ops)->of;
}

static int plugged_result(const struct plugged *p, int r, struct atw_err *why,
			  struct atw_err *err)
{
	return atw_err_give(err, batch_result(r, p->of->plugin, why), why);
}

/* An error about what the plugin returned begins with its name. */
static int plugged_wrong(const struct plugged *p, int status, struct atw_err *err)
{
	atw_err_wrap(err, "plugin %s", p->of->plugin);
	return status;
}

/* ---- opening ---- */

static int plugged_add(struct plugged *p, uint64_t i, const struct atw_plugin_extent *e,
		       struct atw_err *err)
{
	static const enum atw_extent_kind kinds[] = {
		[ATW_MEMORY_ABSENT] = ATW_NONE, [ATW_MEMORY_DATA] = ATW_DATA,
		[ATW_MEMORY_ZERO] = ATW_ZERO, [ATW_MEMORY_EXCLUDED] = ATW_EXCLUDED,
	};
	uint64_t end;

	if (e->kind > ATW_MEMORY_EXCLUDED || e->reserved)
		return plugged_wrong(p, atw_err_set(err, ATW_E_UNSUPPORTED,
						"extent %" PRIu64 " is of no known kind (%" PRIu32 "): it needs a newer atwalk",
						i, e->kind), err);
	if (!e->len)
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"extent %" PRIu64 " at 0x%" PRIx64 " has no bytes", i,
						e->start), err);
	if (!add_u64(e->start, e->len, &end))
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"extent %" PRIu64 " at 0x%" PRIx64 ": 0x%" PRIx64 " bytes reach past the last 64-bit address",
						i, e->start, e->len), err);
	if (e->start < p->last)
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"extent %" PRIu64 " at 0x%" PRIx64 " begins before the end of the one before it, 0x%" PRIx64,
						i, e->start, p->last), err);
	p->last = end;
	return e->kind == ATW_MEMORY_ABSENT
		? ATW_OK : extents_add(&p->map, e->start, e->len, 0, kinds[e->kind], err);
}

static int plugged_find_extents(struct plugged *p, struct atw_err *err)
{
	int r = ATW_OK;

	for (uint64_t i = 0; r == ATW_OK; i++) {
		struct atw_plugin_extent e = { .size = sizeof(e) };
		struct atw_err why = { 0 };

		r = p->of->of.extent(p->state, i, &e, &why);
		if (r == ATW_END)
			break;
		if (r != ATW_OK)
			return plugged_result(p, r, &why, err);
		if (i == PLUGGED_EXTENTS)
			return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"it has more than %d extents", PLUGGED_EXTENTS), err);
		r = plugged_add(p, i, &e, err);
	}
	if (r < 0)
		return r;
	if (!p->map.n)
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"it has no memory"), err);
	return extents_build(&p->map, err);
}

/* Whatever loops over CPUs must come to an end. */
static int plugged_check_cpus(struct atw_source *s, struct atw_err *err)
{
	const struct plugged *p = s->impl;
	uint64_t n = 0;
	int r = atw_fact_u64(s, "cpus", &n);

	if (r != ATW_OK && r != ATW_E_MISSING)
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"its fact 'cpus' is not a number of 8 bytes"), err);
	if (n > PLUGGED_CPUS)
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"it states %" PRIu64 " CPUs", n), err);
	return ATW_OK;
}

static int plugged_open(struct atw_source *s, const struct atw_source_spec *spec,
			struct atw_err *err)
{
	struct plugged *p = calloc(1, sizeof(*p));
	struct atw_plugin_input in = { .size = sizeof(in), .text = spec->path };
	struct atw_err why = { 0 };
	int r = ATW_OK;

	if (!p)
		return atw_err_nomem(err);
	s->impl = p;
	p->of = plugged_of(s);
	if (spec->nparts)
		return atw_err_set(err, ATW_E_USAGE,
				   "is not one part of a split set: only kdump-compressed dumps are split");
	if (p->of->of.flags & ATW_SOURCE_FILE)
		r = file_open(spec->path, &p->file, err);
	if (r < 0)
		return r;
	in.data = p->file.map.data;
	in.len = p->file.map.len;
	for (size_t i = 0; i < sizeof(p->stored); i++)
		p->stored[i] = (uint8_t)(in.len >> 8 * i);
	r = plugged_result(p, p->of->of.open(p->of->instance, &in, &p->state, &why), &why, err);
	p->opened = r == ATW_OK;
	return r < 0 ? r : plugged_find_extents(p, err) ?: plugged_check_cpus(s, err);
}

static void plugged_close(struct atw_source *s)
{
	struct plugged *p = s->impl;

	if (!p)
		return;
	if (p->opened && p->of->of.close)
		p->of->of.close(p->state);
	extents_deinit(&p->map);
	file_close(&p->file);
	free(p);
	s->impl = NULL;
}

/* ---- memory ---- */

static ssize_t plugged_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			    struct atw_err *err)
{
	struct plugged *p = s->impl;
	const struct extent *e = extents_find(&p->map, pa.u);
	struct atw_err why = { 0 };
	int64_t got;

	if (!e || e->kind == ATW_EXCLUDED)
		return 0;
	if (len > e->len - (pa.u - e->start))
		len = (size_t)(e->len - (pa.u - e->start));
	if (e->kind == ATW_ZERO) {
		memset(buf, 0, len);
		return (ssize_t)len;
	}
	got = len ? p->of->of.read(p->state, pa.u, buf, len, &why) : 0;
	if (got < 0)
		return plugged_result(p, got < INT32_MIN ? INT32_MIN : (int)got, &why, err);
	if ((uint64_t)got > len)
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"it read %" PRId64 " bytes at 0x%" PRIx64 ", where %zu were asked for",
						got, pa.u, len), err);
	/* A hole is not what its extents have here. */
	if (!got && len)
		return plugged_wrong(p, atw_err_set(err, ATW_E_DAMAGED,
						"it has no bytes at 0x%" PRIx64 ", where one of its extents has data",
						pa.u), err);
	return (ssize_t)got;
}

static int plugged_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct plugged *p = s->impl;

	return extents_extent(&p->map, pa, ret);
}

/* ---- facts ---- */

/* "cr3" of "cpu12.cr3"; NULL: it is none of a CPU. */
static const char *plugged_cpu_key(const char *key)
{
	size_t digits;

	if (strncmp(key, "cpu", 3))
		return NULL;
	digits = strspn(key + 3, "0123456789");
	return digits && key[3 + digits] == '.' ? key + 4 + digits : NULL;
}

/* Only what struct atw_plugin_source has: other facts lead to other ways of reading. */
static bool plugged_is_fact(const char *key)
{
	static const char *const keys[] = {
		"vmcoreinfo", "machine", "release", "cpus", "stored", "truncated", "damaged",
		"root", "paging", "ignore", "init_task", "btf",
	};
	static const char *const of_cpu[] = { "cr0", "cr2", "cr3", "cr4", "prstatus" };
	const char *cpu = plugged_cpu_key(key);

	for (size_t i = 0; cpu && i < sizeof(of_cpu) / sizeof(of_cpu[0]); i++)
		if (!strcmp(of_cpu[i], cpu))
			return true;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

static int plugged_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct plugged *p = s->impl;
	const struct atw_plugin_source *of = &p->of->of;
	const void *data = NULL;
	uint64_t len = 0;

	if (of->flags & ATW_SOURCE_FILE && !strcmp(key, "stored")) {
		*ret = (struct atw_blob){ p->stored, sizeof(p->stored) };
		return ATW_OK;
	}
	if (!of->fact || !plugged_is_fact(key) ||
	    of->fact(p->state, key, &data, &len) != ATW_OK || !data || !len ||
	    len > (strcmp(key, "btf") ? PLUGGED_TEXT : PLUGGED_TYPES))
		return ATW_E_MISSING;
	*ret = (struct atw_blob){ data, (size_t)len };
	return ATW_OK;
}

static void plugged_describe(struct atw_source *s, char *buf, size_t len)
{
	const struct plugged *p = s->impl;
	const char *own = p->of->of.describe ? p->of->of.describe(p->state) : NULL;

	own = own ? own : p->of->of.help;
	snprintf(buf, len, "%s (plugin %s)", own ? own : p->of->of.name, p->of->plugin);
}

/* ---- the kind ---- */

static int plugged_open_target(struct atw_source *s, const struct atw_source_spec *spec,
			       struct atw_err *err)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED, "has processes, and no physical memory");
}

static void plugged_close_target(struct atw_source *s)
{
}

void plugin_source_init(struct plugin_source *ret, const struct plugin_device *of)
{
	bool target = of->target.open;

	*ret = (struct plugin_source){
		.ops = {
			.name = of->of.name,
			.help = of->of.help ? of->of.help : "",
			.open = target ? plugged_open_target : plugged_open,
			.close = target ? plugged_close_target : plugged_close,
			.read = plugged_read,
			.extent = plugged_extent,
			.fact = plugged_fact,
			.describe = plugged_describe,
		},
		.of = of,
	};
}

const struct plugin_device *plugin_source_target(const struct atw_source_ops *kind)
{
	return kind && kind->open == plugged_open_target
		? ((const struct plugin_source *)kind)->of : NULL;
}

bool plugin_source_knows(const struct plugin_source *s, struct atw_blob head)
{
	return plugin_source_is_file(s) && plugin_magic_matches(s->of->magic, s->of->of.name, head);
}
