/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt_save.h - the header that libvirt puts before a migration stream. Pure. */
#pragma once

#include <atwalk/base.h>

enum libvirt_packing {
	LIBVIRT_RAW, LIBVIRT_GZIP, LIBVIRT_BZIP2, LIBVIRT_XZ, LIBVIRT_LZOP, LIBVIRT_ZSTD,
	LIBVIRT_SPARSE,          /* mapped-ram */
};

struct libvirt_save {
	enum libvirt_packing packing;
	bool unfinished;         /* it says so itself */
	uint64_t stream;         /* offset of what follows the header and the XML */
};

bool libvirt_save_probe(struct atw_blob head);
int libvirt_save_parse(struct atw_blob file, struct libvirt_save *ret, struct atw_err *err);
