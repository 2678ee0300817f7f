// SPDX-License-Identifier: GPL-2.0-or-later
/* libvirt_save.c - libvirt: src/qemu/qemu_saveimage.h, struct _virQEMUSaveHeader. */
#include "format/libvirt_save.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define LIBVIRT_MAGIC "LibvirtQemudSave"
#define LIBVIRT_PARTIAL "LibvirtQemudPart"

enum {
	LIBVIRT_HEADER = 92,
	LIBVIRT_VERSION = 2,
	/* Where QEMU writes a sparse file itself, it starts at a multiple of some block. */
	LIBVIRT_ALIGN = 512,
	LIBVIRT_SOUGHT = 1 << 20,
};

bool libvirt_save_probe(struct atw_blob head)
{
	return blob_begins(head, LIBVIRT_MAGIC) || blob_begins(head, LIBVIRT_PARTIAL);
}

static uint64_t libvirt_find_stream(struct atw_blob file, uint64_t from)
{
	static const char magic[] = "QEVM";
	uint64_t at = from + (-from & (LIBVIRT_ALIGN - 1));
	const void *p = blob_at(file, from, 4);

	if (p && !memcmp(p, magic, 4))
		return from;
	for (; at < from + LIBVIRT_SOUGHT; at += LIBVIRT_ALIGN) {
		p = blob_at(file, at, 4);
		if (p && !memcmp(p, magic, 4))
			return at;
	}
	return from;
}

/* Numbers are in the byte order of the host that saved it. */
int libvirt_save_parse(struct atw_blob file, struct libvirt_save *ret, struct atw_err *err)
{
	const char *h = blob_at(file, 0, LIBVIRT_HEADER);
	uint32_t version, len, packing;
	bool swapped;

	if (!h)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "libvirt's header is cut off (0x%zx bytes)", file.len);
	swapped = get_le32(h + 16) > UINT16_MAX;
	version = swapped ? get_be32(h + 16) : get_le32(h + 16);
	len = swapped ? get_be32(h + 20) : get_le32(h + 20);
	packing = swapped ? get_be32(h + 28) : get_le32(h + 28);
	if (version != LIBVIRT_VERSION)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "libvirt's header has version %" PRIu32
				   ", and only 2 is known", version);
	if (packing > LIBVIRT_SPARSE)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "libvirt's compression number %" PRIu32 " is not known", packing);
	if (!blob_at(file, LIBVIRT_HEADER, (uint64_t)len + 1))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the file ends (0x%zx bytes) inside of libvirt's description of %" PRIu32
				   " bytes", file.len, len);
	*ret = (struct libvirt_save){
		.packing = packing,
		.unfinished = blob_begins(file, LIBVIRT_PARTIAL),
		.stream = LIBVIRT_HEADER + (uint64_t)len,
	};
	if (packing == LIBVIRT_SPARSE)
		ret->stream = libvirt_find_stream(file, ret->stream);
	return ATW_OK;
}
