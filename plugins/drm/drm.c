/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drm.c - the plugin drm: memory of devices, in page tables and beside them. */
#include "drm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "host/host_file.h"

#include <dirent.h>

/* ---- BARs ---- */

enum { DRM_BARS = 6, DRM_MEMORY = 0x200 };       /* IORESOURCE_MEM */

struct drm_bar {
	uint64_t first, last;
	unsigned number;
	size_t device, driver;   /* offsets in `texts` */
};

/* Of one listing. */
struct drm_rows {
	const struct atw_host *host;
	struct drm_bar *bar;     /* by address */
	size_t n, cap;
	struct buf texts;
	size_t last;             /* bar of the last row */
	const struct atw_plugin_column *flags;
};

static int drm_by_first(const void *a, const void *b)
{
	const struct drm_bar *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* "0xSTART 0xEND 0xFLAGS": a line for each BAR; unused ones are zeroes. */
static bool drm_add_bar(struct drm_rows *x, const char *line, unsigned number, size_t device,
			size_t driver)
{
	uint64_t v[3];

	for (unsigned i = 0; i < 3; i++) {
		size_t n = strcspn(line, " \n");

		if (!num_hex(line, n, &v[i]))
			return true;
		line += n + (line[n] == ' ');
	}
	if (!(v[2] & DRM_MEMORY) || !v[1] || v[1] < v[0])
		return true;
	if (!ARRAY_ROOM(x->bar, x->n, x->cap))
		return false;
	x->bar[x->n++] = (struct drm_bar){ v[0], v[1], number, device, driver };
	return true;
}

static bool drm_add_device(struct drm_rows *x, const char *folder, const char *name)
{
	char path[900], driver[256] = "", text[4096];
	size_t device, driver_at;
	bool good = true;

	snprintf(path, sizeof(path), "%s/%.200s/resource", folder, name);
	if (!host_file_text(path, text, sizeof(text)))
		return true;
	snprintf(path, sizeof(path), "%s/%.200s/driver", folder, name);
	if (!drm_link_name(path, driver, sizeof(driver)))
		*driver = '\0';
	device = buf_keep(&x->texts, name, strlen(name));
	driver_at = buf_keep(&x->texts, driver, strlen(driver));
	for (const char *s = text, *next; s && *s && good; s = next) {
		static const char end[] = "\n";
		unsigned number = 0;

		for (const char *k = text; k < s; k++)
			number += *k == *end;
		if (number >= DRM_BARS)
			break;
		next = strchr(s, *end);
		next = next ? next + 1 : NULL;
		good = drm_add_bar(x, s, number, device, driver_at);
	}
	return good && !x->texts.failed;
}

static bool drm_read_bars(const char *root, struct drm_rows *x)
{
	char folder[600];
	struct dirent *e;
	bool good = true;
	DIR *d;

	snprintf(folder, sizeof(folder), "%s/sys/bus/pci/devices", root);
	d = opendir(folder);
	while (d && good && (e = readdir(d)))
		if (*e->d_name != '.')
			good = drm_add_device(x, folder, e->d_name);
	if (d)
		closedir(d);
	if (x->n)
		qsort(x->bar, x->n, sizeof(*x->bar), drm_by_first);
	return good;
}

/* NULL: no device has the address. */
static const struct drm_bar *drm_find_bar(struct drm_rows *x, uint64_t pa)
{
	size_t a = 0, b = x->n;

	if (x->last < x->n && pa >= x->bar[x->last].first && pa <= x->bar[x->last].last)
		return &x->bar[x->last];
	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (x->bar[mid].first <= pa)
			a = mid + 1;
		else
			b = mid;
	}
	if (!a || pa > x->bar[a - 1].last)
		return NULL;
	x->last = a - 1;
	return &x->bar[x->last];
}

/* ---- the annotator ---- */

enum { IN_PHYSICAL, IN_FLAGS };
enum { OUT_DEVICE, OUT_DRIVER, OUT_BAR, OUT_MEMORY, OUT_CACHED };

static const char *const cached_words[] = { "uncached", "cached" };

static const struct atw_plugin_column
	in_physical = DRM_COLUMN("physical", ADDRESS),
	in_flags = DRM_COLUMN("flags", FLAGS, .flags = ATW_INPUT_OPTIONAL),
	out_device = DRM_COLUMN("device", TEXT, .help = "the PCI device that has the memory"),
	out_driver = DRM_COLUMN("driver", TEXT, .help = "its driver"),
	out_bar = DRM_COLUMN("bar", COUNT, .help = "number of its BAR that has the address"),
	out_memory = DRM_COLUMN("memory", TEXT, .help = "memory type of the mapping: wb, wc, uc, ...; of devices alone"),
	out_cached = DRM_COLUMN("caching", ENUM, .names = cached_words, .nnames = 2, .hidden = 1,
				.help = "of devices: uncached, or cached, which is mostly a mistake");
static const struct atw_plugin_column *const inputs[] = { &in_physical, &in_flags, NULL };
static const struct atw_plugin_column *const outputs[] = {
	&out_device, &out_driver, &out_bar, &out_memory, &out_cached, NULL
};

static void drm_end(void *state)
{
	struct drm_rows *x = state;

	free(x->bar);
	buf_deinit(&x->texts);
	free(x);
}

static int drm_begin(void *instance, const struct atw_listing *l, void **ret,
		     struct atw_err *err)
{
	const struct drm *d = instance;
	struct drm_rows *x = calloc(1, sizeof(*x));

	if (!x)
		return d->host->error(err, ATW_E_NOMEM, "out of memory");
	x->host = d->host;
	x->flags = l->inputs[IN_FLAGS];
	/* Addresses of a dump are of another machine. */
	if ((*d->root || l->flags & ATW_LISTING_RUNNING) && !drm_read_bars(d->root, x)) {
		drm_end(x);
		return d->host->error(err, ATW_E_NOMEM, "out of memory");
	}
	*ret = x;
	return ATW_OK;
}

/* The names of memory types among those of page-table entries, on all CPUs. */
static const char *drm_memory_type(const struct atw_plugin_column *flags, uint64_t set, bool *cached)
{
	static const char *const types[] = { "wb", "wc", "uc", "uc-minus", "wt", "wp", "nc", "io" };

	for (uint32_t i = 0; i < flags->nnames && i < 64; i++) {
		if (!(set >> i & 1) || !flags->names[i])
			continue;
		for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
			if (!strcmp(flags->names[i], types[k])) {
				*cached = !k || !strcmp(types[k], "wt") || !strcmp(types[k], "wp");
				return types[k];
			}
	}
	return NULL;
}

static int drm_put_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct drm_rows *x = state;

	for (uint32_t i = 0; i < b->nrows && x->n; i++) {
		uint64_t bit = UINT64_C(1) << i % 64, *const *known = b->out_known;
		const struct drm_bar *bar;
		const char *type = NULL;
		bool cached = false;

		if (!(b->in_known[IN_PHYSICAL][i / 64] & bit))
			continue;
		bar = drm_find_bar(x, b->in[IN_PHYSICAL][i].u);
		if (!bar)
			continue;
		b->out[OUT_DEVICE][i].s = x->texts.data + bar->device;
		b->out[OUT_DRIVER][i].s = x->texts.data + bar->driver;
		b->out[OUT_BAR][i].u = bar->number;
		known[OUT_DEVICE][i / 64] |= bit;
		known[OUT_DRIVER][i / 64] |= *b->out[OUT_DRIVER][i].s ? bit : 0;
		known[OUT_BAR][i / 64] |= bit;
		if (x->flags && b->in_known[IN_FLAGS][i / 64] & bit)
			type = drm_memory_type(x->flags, b->in[IN_FLAGS][i].u, &cached);
		if (!type)
			continue;
		b->out[OUT_MEMORY][i].s = type;
		b->out[OUT_CACHED][i].u = cached;
		known[OUT_MEMORY][i / 64] |= bit;
		known[OUT_CACHED][i / 64] |= bit;
	}
	return ATW_OK;
}

const struct atw_annotator drm_annotator = {
	.size = sizeof(drm_annotator), .inputs = inputs, .columns = outputs, .begin = drm_begin,
	.rows = drm_put_rows, .end = drm_end,
};

/* ---- the plugin ---- */

int drm_need_machine(struct drm *d, const struct atw_listing *l, struct atw_err *err)
{
	d->allow = l->flags & ATW_LISTING_UNREADABLE;
	if (*d->root || (l->flags & ATW_LISTING_RUNNING && l->flags & ATW_LISTING_PIDS))
		return ATW_OK;
	return d->host->error(err, ATW_E_UNSUPPORTED,
			      "it needs the running system, or its /proc and /sys by the option root=FOLDER");
}

void drm_note_denied(const struct drm *d, struct atw_plugin_output *out,
		     const struct drm_denied *denied)
{
	char text[384];

	if (!denied->n)
		return;
	if (denied->n == 1)
		snprintf(text, sizeof(text), "descriptors of process %s may not be read: %s",
			 denied->names, strerror(denied->why));
	else
		snprintf(text, sizeof(text), "descriptors of %" PRIu64 " processes may not be read: %s: %s",
			 denied->n, denied->names, strerror(denied->why));
	if (!d->allow) {
		d->host->incomplete(out, "%s", text);
		return;
	}
	d->host->note(out, "%s", text);
	d->host->warn(d->host, "%s", text);
}

static const struct atw_annotator *drm_get_annotator(void *instance)
{
	return &drm_annotator;
}

static const struct atw_plugin_report *drm_get_report(void *instance, uint32_t i)
{
	static const struct atw_plugin_report *const all[] = {
		&drm_report_clients, &drm_report_devices, &drm_report_buffers,
	};

	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

static void drm_stop(void *instance)
{
	struct drm *d = instance;

	free(d->root);
	free(d);
}

/* "root=FOLDER" */
static int drm_start(const struct atw_host *host, const char *options, void **ret,
		     struct atw_err *err)
{
	struct drm *d;

	if (options && *options && (strncmp(options, "root=", 5) != 0 || !options[5] || strlen(options) > 400))
		return host->error(err, ATW_E_USAGE, "unknown option '%.64s'; known: root=FOLDER", options);
	d = calloc(1, sizeof(*d));
	if (d)
		d->root = strdup(options && *options ? options + 5 : "");
	if (!d || !d->root) {
		free(d);
		return host->error(err, ATW_E_NOMEM, "out of memory");
	}
	d->host = host;
	*ret = d;
	return ATW_OK;
}

ATW_PLUGIN("drm", "1", ATW_PLUGIN_ANNOTATOR | ATW_PLUGIN_REPORT,
	   "memory of GPUs by client, dma-bufs, and device memory in page tables",
	   .start = drm_start, .stop = drm_stop, .annotator = drm_get_annotator,
	   .report = drm_get_report);
