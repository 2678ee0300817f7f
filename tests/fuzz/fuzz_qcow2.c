/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files around a migration stream: snapshots of disk images, libvirt's header. */
#include "format/libvirt_save.h"
#include "format/qcow2.h"
#include "source.h"

static void snapshots(const uint8_t *data, size_t len)
{
	struct qcow2_snapshot s;
	struct atw_err err = {0};
	struct qcow2 q;
	int r = qcow2_parse((struct atw_blob){data, len}, &q, &err);

	check_err(r, &err);
	s.next = r == ATW_OK ? q.snapshots : 0;
	for (uint32_t i = 0; r == ATW_OK && i < q.nsnapshots && i < 8; i++) {
		struct view v = {0};

		r = qcow2_snapshot_at(&q, s.next, &s, &err);
		check_err(r, &err);
		if (r < 0)
			break;
		touch(s.name.data, s.name.len);
		if (qcow2_state(&q, &s, &v, &err) == ATW_OK) {
			uint64_t end = 0;

			for (size_t k = 0; k < v.npieces; k++) {
				FUZZ_CHECK(v.pieces[k].start >= end, "pieces overlap");
				end = v.pieces[k].start + v.pieces[k].len;
				FUZZ_CHECK(end <= v.size && v.pieces[k].at <= len &&
						   v.pieces[k].len <= len - v.pieces[k].at,
					   "a piece outside of the file");
			}
		}
		view_deinit(&v);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct libvirt_save save;
	struct atw_err err = {0};

	if (libvirt_save_probe((struct atw_blob){data, len})) {
		int r = libvirt_save_parse((struct atw_blob){data, len}, &save, &err);

		check_err(r, &err);
		FUZZ_CHECK(r < 0 || save.stream < len, "a stream past the end");
		check_file("libvirt", data, len);
		return 0;
	}
	snapshots(data, len);
	check_file("qcow2", data, len);
	return 0;
}
