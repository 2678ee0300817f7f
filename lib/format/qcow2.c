// SPDX-License-Identifier: GPL-2.0-or-later
/* qcow2.c - QEMU: docs/interop/qcow2.txt. All numbers are big-endian. */
#include "format/qcow2.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"

#define QCOW2_MAGIC "QFI\xfb"
#define QCOW2_OFFSET UINT64_C(0x00fffffffffffe00)

enum {
	QCOW2_HEADER = 72, QCOW2_HEADER3 = 104, QCOW2_SNAPSHOT = 40,
	/* Incompatible features */
	QCOW2_EXTERNAL_DATA = 1 << 2, QCOW2_EXTENDED_L2 = 1 << 4, QCOW2_KNOWN = 0x1f,
	QCOW2_ZERO_CLUSTER = 1,
};
#define QCOW2_COMPRESSED (UINT64_C(1) << 62)

bool qcow2_probe(struct atw_blob head)
{
	return blob_begins(head, QCOW2_MAGIC);
}

int qcow2_parse(struct atw_blob file, struct qcow2 *ret, struct atw_err *err)
{
	const char *h = blob_at(file, 0, QCOW2_HEADER);
	uint32_t version, bits;
	uint64_t features = 0;

	if (!h || !qcow2_probe(file))
		return atw_err_set(err, ATW_E_FORMAT, "is not a qcow2 image (0x%zx bytes)",
				   file.len);
	version = get_be32(h + 4);
	bits = get_be32(h + 20);
	if (version != 2 && version != 3)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "qcow2 of version %" PRIu32 ", and only 2 and 3 are known",
				   version);
	if (version == 3) {
		const char *h3 = blob_at(file, 0, QCOW2_HEADER3);

		if (!h3)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "the qcow2 header is cut off (0x%zx bytes)", file.len);
		features = get_be64(h3 + 72);
	}
	if (bits < 9 || bits > 21)
		return atw_err_set(err, ATW_E_DAMAGED, "clusters of 2^%" PRIu32 " bytes", bits);
	if (get_be32(h + 32))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "the image is encrypted");
	if (features & QCOW2_EXTERNAL_DATA)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "its clusters are in another file (external data file)");
	if (features & QCOW2_EXTENDED_L2)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "its clusters have subclusters (extended_l2)");
	if (features & ~(uint64_t)QCOW2_KNOWN)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "qcow2 with unknown features 0x%" PRIx64, features);
	*ret = (struct qcow2){
		.file = file, .cluster_bits = bits, .size = get_be64(h + 24),
		.nsnapshots = get_be32(h + 60), .snapshots = get_be64(h + 64),
	};
	return ATW_OK;
}

int qcow2_snapshot_at(const struct qcow2 *q, uint64_t off, struct qcow2_snapshot *ret,
		      struct atw_err *err)
{
	const char *h = blob_at(q->file, off, QCOW2_SNAPSHOT), *extra, *id, *name;
	uint32_t extra_len = h ? get_be32(h + 36) : 0;
	uint16_t id_len = h ? get_be16(h + 12) : 0, name_len = h ? get_be16(h + 14) : 0;

	extra = h ? blob_at(q->file, off + QCOW2_SNAPSHOT, extra_len) : NULL;
	id = extra ? blob_at(q->file, off + QCOW2_SNAPSHOT + extra_len, id_len) : NULL;
	name = id ? blob_at(q->file, off + QCOW2_SNAPSHOT + extra_len + id_len, name_len) : NULL;
	if (!name)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "snapshot at 0x%" PRIx64 " is past the end of the file (0x%zx bytes)",
				   off, q->file.len);
	*ret = (struct qcow2_snapshot){
		.id = {id, id_len}, .name = {name, name_len},
		.l1 = get_be64(h), .l1_len = get_be32(h + 8),
		.state = extra_len >= 8 ? get_be64(extra) : get_be32(h + 32),
		.size = extra_len >= 16 ? get_be64(extra + 8) : q->size,
	};
	ret->next = off + QCOW2_SNAPSHOT + extra_len + id_len + name_len;
	ret->next += -ret->next & 7;
	return ATW_OK;
}

struct qcow2_pieces {
	struct view_piece *v;
	size_t n, cap;
	uint64_t clusters;       /* in all of them */
	uint64_t tables;         /* that had them */
};

static int qcow2_take_cluster(const struct qcow2 *q, struct qcow2_pieces *p, uint64_t start,
			      uint64_t left, uint64_t entry, struct atw_err *err)
{
	uint64_t size = UINT64_C(1) << q->cluster_bits, at = entry & QCOW2_OFFSET;
	uint64_t len = left < size ? left : size;
	struct view_piece *last = p->n ? &p->v[p->n - 1] : NULL;

	if (entry & QCOW2_COMPRESSED)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "its state has a compressed cluster (at 0x%" PRIx64 ")", start);
	if (!at || entry & QCOW2_ZERO_CLUSTER)
		return ATW_OK;
	if (!blob_at(q->file, at, len))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "cluster at 0x%" PRIx64 " is past the end of the file (0x%zx bytes)",
				   at, q->file.len);
	/* No cluster of a state is stored once for two places. */
	if (++p->clusters > (q->file.len >> q->cluster_bits) + 1)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its state has more clusters than the file");
	if (last && last->start + last->len == start && last->at + last->len == at) {
		last->len += len;
		return ATW_OK;
	}
	if (!ARRAY_ROOM(p->v, p->n, p->cap))
		return atw_err_nomem(err);
	p->v[p->n++] = (struct view_piece){start, len, at};
	return ATW_OK;
}

/* `first`: the state's first cluster, by its number in the disk. */
static int qcow2_take_clusters(const struct qcow2 *q, const struct qcow2_snapshot *s,
			       uint64_t first, struct qcow2_pieces *p, struct atw_err *err)
{
	unsigned l2_bits = q->cluster_bits - 3;
	const char *l1 = blob_at(q->file, s->l1, (uint64_t)s->l1_len * 8);
	uint64_t size = UINT64_C(1) << q->cluster_bits, n = (s->state + size - 1) / size;
	int r = ATW_OK;

	if (!l1)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "table at 0x%" PRIx64 " is past the end of the file (0x%zx bytes)",
				   s->l1, q->file.len);
	for (uint64_t i = first >> l2_bits; i < s->l1_len && r == ATW_OK; i++) {
		uint64_t l2_at = get_be64(l1 + i * 8) & QCOW2_OFFSET;
		uint64_t base = (i << l2_bits) - first;
		const char *l2;

		if (!l2_at || base >= n)
			continue;
		if (++p->tables > (q->file.len >> q->cluster_bits) + 1)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "its state has more tables than the file");
		l2 = blob_at(q->file, l2_at, size);
		if (!l2)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "table at 0x%" PRIx64
					   " is past the end of the file (0x%zx bytes)",
					   l2_at, q->file.len);
		for (uint64_t k = 0; k < size / 8 && base + k < n && r == ATW_OK; k++)
			r = qcow2_take_cluster(q, p, (base + k) * size,
					       s->state - (base + k) * size,
					       get_be64(l2 + k * 8), err);
	}
	return r;
}

int qcow2_state(const struct qcow2 *q, const struct qcow2_snapshot *s, struct view *ret,
		struct atw_err *err)
{
	unsigned l1_bits = 2 * q->cluster_bits - 3;
	uint64_t first, sum = 0;
	struct qcow2_pieces p = {0};
	struct view v = {.file = q->file};
	int r;

	/* The state begins behind the disk, with the next entry of the upper table. */
	first = (s->size >> l1_bits) + !!(s->size & ((UINT64_C(1) << l1_bits) - 1));
	if (s->state > UINT64_MAX - (UINT64_C(1) << q->cluster_bits))
		return atw_err_set(err, ATW_E_DAMAGED, "a state of 0x%" PRIx64 " bytes", s->state);
	r = qcow2_take_clusters(q, s, first << (q->cluster_bits - 3), &p, err);
	for (size_t i = 0; i < p.n; i++)
		sum += p.v[i].len;
	if (r == ATW_OK && (!p.n || s->state - sum > q->file.len))
		r = atw_err_set(err, ATW_E_DAMAGED,
				"only 0x%" PRIx64 " of 0x%" PRIx64 " bytes of its state are there", sum,
				s->state);
	if (r < 0) {
		free(p.v);
		return r;
	}
	v.size = s->state;
	v.npieces = p.n;
	v.pieces = v.owned = p.v;
	*ret = v;
	return ATW_OK;
}
