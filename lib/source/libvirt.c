// SPDX-License-Identifier: GPL-2.0-or-later
/* libvirt.c - source of virsh save and managedsave: a header, then QEMU's stream. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/spool.h"
#include "format/libvirt_save.h"
#include "source/qemu_saved.h"

static int libvirt_probe(struct atw_blob head, const char *path)
{
	return libvirt_save_probe(head) ? 100 : 0;
}

/* The mapping of the file becomes one of the stream. */
static int libvirt_unpack(struct mapped *m, const struct libvirt_save *v, struct atw_err *err)
{
	_auto_fd int fd = open(m->file.path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_auto_fd int copy = -1;
	struct file unpacked = {0};
	struct atw_blob was;
	char path[32];
	int r;

	if (fd < 0)
		return atw_err_set(err, ATW_E_IO, "%m");
	r = spool_unpacked(fd, v->stream, &copy, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	r = file_open(path, &unpacked, err);
	if (r < 0)
		return r;
	was = m->file.map;
	m->file.map = unpacked.map;
	unpacked.map = was;
	file_close(&unpacked);
	m->view = view_direct(m->file.map);
	return ATW_OK;
}

static int libvirt_open(struct atw_source *s, const struct atw_source_spec *spec,
			struct atw_err *err)
{
	struct libvirt_save v;
	struct qemu_saved *q;
	int r = mapped_open(s, spec, sizeof(*q), err);

	if (r < 0)
		return r;
	q = s->impl;
	r = libvirt_save_parse(q->m.file.map, &v, err);
	if (r < 0)
		return r;
	if (v.packing != LIBVIRT_RAW && v.packing != LIBVIRT_SPARSE) {
		r = libvirt_unpack(&q->m, &v, err);
		v.stream = 0;
	}
	if (r < 0)
		return r;
	return qemu_saved_index(s, v.stream,
				v.unfinished ? "saved by libvirt, unfinished, " :
					       "saved by libvirt, ", err);
}

const struct atw_source_ops source_libvirt = {
	.name = "libvirt",
	.help = "guest saved by libvirt: virsh save, managedsave",
	.probe = libvirt_probe,
	.open = libvirt_open,
	QEMU_SAVED_OPS,
};
