/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clients.c - the report drm: memory of GPUs by process and client. */
#include "drm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Several descriptors, also of several processes, may be one client. */
struct clients_one {
	uint64_t pid, last_pid, processes, fds;
	char task[64];
	struct drm_client of;
};

struct clients {
	struct clients_one *v;
	size_t n, cap;
};

enum { C_PID, C_TASK, C_DEVICE, C_DRIVER, C_CLIENT, C_NAME, C_REGION, C_TOTAL, C_SHARED, C_RESIDENT,
       C_PURGEABLE, C_ACTIVE, C_EVICTED, C_PROCESSES, C_FDS, C_COUNT };
static const struct atw_plugin_column
	out_pid = DRM_COLUMN("pid", COUNT, .help = "the first process that has the client open"),
	out_task = DRM_COLUMN("task", TEXT, .help = "its name"),
	out_device = DRM_COLUMN("device", TEXT, .help = "address of the device on its bus"),
	out_driver = DRM_COLUMN("driver", TEXT, .help = "its driver"),
	out_client = DRM_COLUMN("client", COUNT, .help = "number of the client"),
	out_name = DRM_COLUMN("client_name", TEXT, .hidden = 1, .help = "its name, if it gave one"),
	out_region = DRM_COLUMN("region", TEXT, .help = "where the memory is, in words of the driver; memory: RAM"),
	out_total = DRM_COLUMN("total", BYTES, .help = "bytes of all buffers, in memory or not"),
	out_shared = DRM_COLUMN("shared", BYTES, .help = "of these, shared with other clients, each of which counts them"),
	out_resident = DRM_COLUMN("resident", BYTES, .help = "bytes that are in this region"),
	out_purgeable = DRM_COLUMN("purgeable", BYTES, .hidden = 1, .help = "of these, can be dropped at any time"),
	out_active = DRM_COLUMN("active", BYTES, .hidden = 1, .help = "of these, in use by the device now"),
	out_evicted = DRM_COLUMN("evicted", BYTES, .hidden = 1, .help = "bytes that should be in this region and are elsewhere (amdgpu)"),
	out_processes = DRM_COLUMN("processes", COUNT, .help = "number of processes that have the client open"),
	out_fds = DRM_COLUMN("fds", COUNT, .hidden = 1, .help = "number of descriptors of it");
static const struct atw_plugin_column *const columns[] = {
	&out_pid, &out_task, &out_device, &out_driver, &out_client, &out_name, &out_region, &out_total,
	&out_shared, &out_resident, &out_purgeable, &out_active, &out_evicted, &out_processes, &out_fds,
	NULL
};

/* Without a device, numbers of clients are of all devices. */
static bool clients_same(const struct drm_client *a, const struct drm_client *b)
{
	return a->has_id && b->has_id && a->id == b->id && !strcmp(a->pdev, b->pdev);
}

static int clients_take(void *arg, const struct drm_scan *s, struct atw_err *err)
{
	struct clients *c = arg;
	struct clients_one one = { .pid = s->pid, .last_pid = s->pid, .processes = 1, .fds = 1 };

	if (!drm_fdinfo(s->text, s->len, &one.of))
		return ATW_OK;
	for (size_t i = 0; i < c->n; i++) {
		struct clients_one *o = &c->v[i];

		if (!clients_same(&o->of, &one.of))
			continue;
		o->fds++;
		o->processes += o->last_pid != s->pid;
		o->last_pid = s->pid;
		return ATW_OK;
	}
	if (!ARRAY_ROOM(c->v, c->n, c->cap))
		return atw_err_nomem(err);
	snprintf(one.task, sizeof(one.task), "%s", s->task);
	c->v[c->n++] = one;
	return ATW_OK;
}

static void clients_text(union atw_cell *c, uint64_t *known, unsigned col, const char *s)
{
	c[col].s = s;
	*known |= (uint64_t)(*s != '\0') << col;
}

static int clients_put(const struct drm *d, const struct clients_one *o, const struct drm_region *r,
		       struct atw_plugin_output *out, struct atw_err *err)
{
	static const uint8_t amounts[DRM_AMOUNTS] = {
		[DRM_TOTAL] = C_TOTAL, [DRM_SHARED] = C_SHARED, [DRM_RESIDENT] = C_RESIDENT,
		[DRM_PURGEABLE] = C_PURGEABLE, [DRM_ACTIVE] = C_ACTIVE, [DRM_EVICTED] = C_EVICTED,
	};
	union atw_cell c[C_COUNT] = {
		[C_PID].u = o->pid, [C_CLIENT].u = o->of.id, [C_PROCESSES].u = o->processes,
		[C_FDS].u = o->fds,
	};
	uint64_t known = 1 << C_PID | 1 << C_PROCESSES | 1 << C_FDS | (uint64_t)o->of.has_id << C_CLIENT;

	clients_text(c, &known, C_TASK, o->task);
	clients_text(c, &known, C_DEVICE, o->of.pdev);
	clients_text(c, &known, C_DRIVER, o->of.driver);
	clients_text(c, &known, C_NAME, o->of.name);
	if (r)
		clients_text(c, &known, C_REGION, r->name);
	for (unsigned i = 0; r && i < DRM_AMOUNTS; i++) {
		c[amounts[i]].u = r->v[i];
		known |= (uint64_t)(r->have >> i & 1) << amounts[i];
	}
	return d->host->row(out, c, known, err);
}

static int clients_begin(void *instance, const struct atw_listing *l, void **ret,
			 struct atw_err *err)
{
	*ret = instance;
	return drm_need_machine(instance, l, err);
}

static int clients_finish(void *state, struct atw_plugin_output *out, struct atw_err *err)
{
	const struct drm *d = state;
	struct clients c = { 0 };
	struct drm_denied denied;
	int r = drm_scan(d->root, false, clients_take, &c, &denied, err);

	for (size_t i = 0; i < c.n && r == ATW_OK; i++) {
		const struct clients_one *o = &c.v[i];

		bool any = false;

		for (size_t k = 0; k < o->of.regions && r == ATW_OK; k++) {
			if (!o->of.region[k].have)
				continue;
			any = true;
			r = clients_put(d, o, &o->of.region[k], out, err);
		}
		/* Some drivers report no memory. */
		if (!any && r == ATW_OK)
			r = clients_put(d, o, NULL, out, err);
	}
	if (r == ATW_OK)
		drm_note_denied(d, out, &denied);
	free(c.v);
	return r;
}

const struct atw_plugin_report drm_report_clients = {
	.size = sizeof(drm_report_clients), .name = "drm",
	.help = "memory of GPUs by process and client", .columns = columns,
	.begin = clients_begin, .finish = clients_finish,
};
