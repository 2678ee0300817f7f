// SPDX-License-Identifier: GPL-2.0-or-later
/* qemu_stream.c - source of QEMU's migration streams that are a file of their own. */
#include "source/qemu_saved.h"

static int stream_probe(struct atw_blob head, const char *path)
{
	return qemu_stream_probe(head) ? 100 : 0;
}

static int stream_open(struct atw_source *s, const struct atw_source_spec *spec,
		       struct atw_err *err)
{
	int r = mapped_open(s, spec, sizeof(struct qemu_saved), err);

	return r < 0 ? r : qemu_saved_index(s, 0, "QEMU stream, ", err);
}

const struct atw_source_ops source_qemu_stream = {
	.name = "qemu-stream",
	.help = "guest saved by QEMU: migrate, with mapped-ram or without",
	.probe = stream_probe,
	.open = stream_open,
	QEMU_SAVED_OPS,
};
