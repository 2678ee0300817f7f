/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drm.h - memory of GPUs and other devices, from /proc and /sys. */
#pragma once

#include <inttypes.h>

#include <atwalk/plugin.h>

#include "base/buf.h"

struct drm {
	const struct atw_host *host;
	char *root;              /* "", or a copy of the files of another machine */
	bool allow;              /* processes that may not be read are no failure */
};

#define DRM_COLUMN(n, t, ...) \
	{ .size = sizeof(struct atw_plugin_column), .name = n, .type = ATW_COLUMN_##t, __VA_ARGS__ }

/* ---- fdinfo.c: a file of /proc/PID/fdinfo; see drm-usage-stats.rst of the kernel. Pure. ---- */

enum drm_amount { DRM_TOTAL, DRM_SHARED, DRM_RESIDENT, DRM_PURGEABLE, DRM_ACTIVE, DRM_EVICTED,
		  DRM_AMOUNTS };
enum { DRM_REGIONS = 16, DRM_NAME = 64 };

struct drm_region {
	char name[DRM_NAME];
	uint64_t v[DRM_AMOUNTS]; /* bytes */
	uint32_t have;           /* bit of each that is known */
};

struct drm_client {
	char driver[DRM_NAME], pdev[DRM_NAME], name[DRM_NAME];
	bool has_id;
	uint64_t id;
	struct drm_region region[DRM_REGIONS];
	size_t regions;
};

/* false: not a file of a DRM device. */
bool drm_fdinfo(const char *text, size_t len, struct drm_client *ret);

struct drm_buffer {
	uint64_t inode, size, count;
	bool has_inode, has_size, has_count;
	char exporter[DRM_NAME], name[DRM_NAME];
};
/* false: not a dma-buf. */
bool drm_fdinfo_buffer(const char *text, size_t len, struct drm_buffer *ret);

/* ---- scan.c: every descriptor of every process ---- */

struct drm_scan {
	uint64_t pid;
	const char *task;        /* its name; "" if it is not known */
	int fd;                  /* -1: a line of maps in place of a descriptor */
	const char *text;        /* fdinfo, or the line */
	size_t len;
	uint64_t inode;          /* of the open file, 0: not known */
};
/* Processes of which the descriptors may not be read. */
struct drm_denied {
	uint64_t n;
	int why;                 /* errno of the first one */
	char names[256];         /* the first ones: "1 (init), 2 (sh)" */
};
typedef int drm_scan_fn(void *arg, const struct drm_scan *s, struct atw_err *err);

/*
 * Descriptors of devices and dma-bufs, by PID and number; `maps`: also lines of maps of
 * dma-bufs.
 */
int drm_scan(const char *root, bool maps, drm_scan_fn *fn, void *arg, struct drm_denied *denied,
	     struct atw_err *err);
/* The last part of what a link leads to; false: it is none. */
bool drm_link_name(const char *path, char *ret, size_t len);

/* ---- the others ---- */

extern const struct atw_annotator drm_annotator;
extern const struct atw_plugin_report drm_report_clients, drm_report_devices, drm_report_buffers;

/* The note about processes that may not be read, if there are any. */
void drm_note_denied(const struct drm *d, struct atw_plugin_output *out,
		     const struct drm_denied *denied);
/* Common to the reports: the running machine, or its files. */
int drm_need_machine(struct drm *d, const struct atw_listing *l, struct atw_err *err);
