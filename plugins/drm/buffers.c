/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buffers.c - the report dma-buf: buffers that devices and processes share. */
#include "drm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "format/procmaps.h"
#include "host/host_file.h"

struct buffers_one {
	struct drm_buffer of;
	uint64_t last_pid, processes;
};

struct buffers {
	struct buffers_one *v;
	size_t n, cap;
	struct { uint64_t pid; size_t of; } *holder;     /* by PID */
	size_t holders, holders_cap;
};

enum { C_INODE, C_SIZE, C_NAME, C_EXPORTER, C_REFERENCES, C_PROCESSES, C_PSS, C_PIDS, C_COUNT };
static const struct atw_plugin_column
	out_inode = DRM_COLUMN("inode", COUNT, .help = "inode of the buffer"),
	out_size = DRM_COLUMN("size", BYTES, .help = "bytes of it"),
	out_name = DRM_COLUMN("name", TEXT, .help = "its name, if it has one"),
	out_exporter = DRM_COLUMN("exporter", TEXT, .help = "the driver that it is of"),
	out_references = DRM_COLUMN("references", COUNT, .hidden = 1, .help = "references to it, of the kernel as well"),
	out_processes = DRM_COLUMN("processes", COUNT, .help = "number of processes that have it open or mapped"),
	out_pss = DRM_COLUMN("pss", BYTES, .help = "bytes for each of these: size by processes"),
	out_pids = DRM_COLUMN("pids", TEXT, .help = "these processes");
static const struct atw_plugin_column *const columns[] = {
	&out_inode, &out_size, &out_name, &out_exporter, &out_references, &out_processes, &out_pss,
	&out_pids, NULL
};

/* NULL: no memory. A buffer without an inode is another one each time. */
static struct buffers_one *buffers_get(struct buffers *b, const struct drm_buffer *of)
{
	for (size_t i = 0; i < b->n && of->has_inode; i++)
		if (b->v[i].of.has_inode && b->v[i].of.inode == of->inode)
			return &b->v[i];
	if (!ARRAY_ROOM(b->v, b->n, b->cap))
		return NULL;
	b->v[b->n] = (struct buffers_one){ .of = *of };
	return &b->v[b->n++];
}

static bool buffers_hold(struct buffers *b, struct buffers_one *o, uint64_t pid)
{
	if (o->processes && o->last_pid == pid)
		return true;
	o->processes++;
	o->last_pid = pid;
	if (!ARRAY_ROOM(b->holder, b->holders, b->holders_cap))
		return false;
	b->holder[b->holders].pid = pid;
	b->holder[b->holders++].of = (size_t)(o - b->v);
	return true;
}

/* "7f00-7f10 rw-s 00000000 00:0d 55 /dmabuf:name": one of maps. */
static bool buffers_line(const struct drm_scan *s, struct drm_buffer *ret)
{
	struct procmaps_area a;
	char name[256];
	size_t pos = 0;

	if (procmaps_next((struct atw_blob){ s->text, s->len }, &pos, &a) != ATW_OK)
		return false;
	procmaps_name(a.name, name, sizeof(name));
	if (strncmp(name, "/dmabuf:", 8))
		return false;
	*ret = (struct drm_buffer){ .has_inode = true, .inode = a.inode };
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name + 8, " "), name + 8);
	return true;
}

static int buffers_take(void *arg, const struct drm_scan *s, struct atw_err *err)
{
	struct buffers *b = arg;
	struct drm_buffer of;
	struct buffers_one *o;

	if (s->fd < 0 ? !buffers_line(s, &of) : !drm_fdinfo_buffer(s->text, s->len, &of))
		return ATW_OK;
	if (!of.has_inode && s->inode) {
		of.has_inode = true;
		of.inode = s->inode;
	}
	o = buffers_get(b, &of);
	if (!o || !buffers_hold(b, o, s->pid))
		return atw_err_nomem(err);
	/* A line of maps has less. */
	if (!o->of.has_size && of.has_size)
		o->of = of;
	return ATW_OK;
}

/* Those that the kernel lists (CONFIG_DMABUF_SYSFS_STATS), also if no process holds them. */
static int buffers_listed(const struct drm *d, struct buffers *b, struct atw_err *err)
{
	char path[600], text[DRM_NAME];
	uint32_t *inode = NULL;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/sys/kernel/dmabuf/buffers", d->root);
	if (host_numbers(path, &inode, &n, NULL) < 0)
		return ATW_OK;
	for (size_t i = 0; i < n; i++) {
		struct buffers_one *o = buffers_get(b, &(struct drm_buffer){
			.has_inode = true, .inode = inode[i] });

		if (!o) {
			free(inode);
			return atw_err_nomem(err);
		}
		snprintf(path, sizeof(path), "%s/sys/kernel/dmabuf/buffers/%u/size", d->root, inode[i]);
		if (!o->of.has_size && host_file_text(path, text, sizeof(text)))
			o->of.has_size = num_dec(text, strlen(text), &o->of.size);
		snprintf(path, sizeof(path), "%s/sys/kernel/dmabuf/buffers/%u/exporter_name", d->root,
			 inode[i]);
		if (!*o->of.exporter && host_file_text(path, text, sizeof(text)))
			memcpy(o->of.exporter, text, sizeof(text));
	}
	free(inode);
	return ATW_OK;
}

static int buffers_put(const struct drm *d, const struct buffers *b, size_t at,
		       struct atw_plugin_output *out, struct atw_err *err)
{
	const struct buffers_one *o = &b->v[at];
	struct buf pids = { 0 };
	union atw_cell c[C_COUNT] = {
		[C_INODE].u = o->of.inode, [C_SIZE].u = o->of.size, [C_NAME].s = o->of.name,
		[C_EXPORTER].s = o->of.exporter, [C_REFERENCES].u = o->of.count,
		[C_PROCESSES].u = o->processes,
	};
	uint64_t known = (uint64_t)o->of.has_inode << C_INODE | (uint64_t)o->of.has_size << C_SIZE |
			 (uint64_t)o->of.has_count << C_REFERENCES | 1 << C_PROCESSES |
			 (*o->of.name ? 1 << C_NAME : 0) | (*o->of.exporter ? 1 << C_EXPORTER : 0);
	int r;

	for (size_t i = 0; i < b->holders; i++)
		if (b->holder[i].of == at)
			buf_printf(&pids, "%s%" PRIu64, pids.len ? "," : "", b->holder[i].pid);
	if (pids.len) {
		c[C_PIDS].s = pids.data;
		known |= 1 << C_PIDS;
	}
	if (o->of.has_size && o->processes) {
		c[C_PSS].u = o->of.size / o->processes;
		known |= 1 << C_PSS;
	}
	r = pids.failed ? atw_err_nomem(err) : d->host->row(out, c, known, err);
	buf_deinit(&pids);
	return r;
}

static int buffers_begin(void *instance, const struct atw_listing *l, void **ret,
			 struct atw_err *err)
{
	*ret = instance;
	return drm_need_machine(instance, l, err);
}

static int buffers_finish(void *state, struct atw_plugin_output *out, struct atw_err *err)
{
	const struct drm *d = state;
	struct buffers b = { 0 };
	struct drm_denied denied;
	int r = drm_scan(d->root, true, buffers_take, &b, &denied, err);

	if (r == ATW_OK)
		r = buffers_listed(d, &b, err);
	for (size_t i = 0; i < b.n && r == ATW_OK; i++)
		r = buffers_put(d, &b, i, out, err);
	if (r == ATW_OK)
		drm_note_denied(d, out, &denied);
	free(b.holder);
	free(b.v);
	return r;
}

const struct atw_plugin_report drm_report_buffers = {
	.size = sizeof(drm_report_buffers), .name = "dma-buf",
	.help = "buffers that devices and processes share", .columns = columns,
	.begin = buffers_begin, .finish = buffers_finish,
};
