// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmware.c - the format has no official description; this follows what the readers of
 * crash(8) and Volatility agree on. All numbers are little-endian.
 */
#include "format/vmware.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/cleanup.h"

enum {
	VMWARE_HEADER = 12, VMWARE_GROUP = 80, VMWARE_GROUP_NAME = 64,
	VMWARE_GROUPS_MAX = 4096,
	VMWARE_COMPRESSED = 62, VMWARE_BLOCK = 63,
	VMWARE_BLOCK_HEAD = 18,
};

struct vmware_tag {
	struct atw_blob name;
	unsigned nindices;
	uint32_t index[3];
	struct atw_blob value;   /* a number or a text */
	bool block, compressed;
	uint64_t at, len;        /* of a block's bytes in the file */
};

bool vmware_probe(struct atw_blob head)
{
	static const uint32_t magics[] = { 0xbed2bed2, 0xbed3bed3, 0xbad1bad1 };
	const void *p = blob_at(head, 0, VMWARE_HEADER);

	for (size_t i = 0; p && i < ARRAY_SIZE(magics); i++)
		if (get_le32(p) == magics[i])
			return true;
	return false;
}

/* ATW_END: it is the last of its group. */
static int vmware_tag_at(struct atw_blob file, uint64_t *off, struct vmware_tag *ret)
{
	const uint8_t *p = blob_at(file, *off, 2);
	struct vmware_tag t = {.block = false};
	unsigned size;

	if (!p)
		return ATW_E_DAMAGED;
	if (!p[0] && !p[1])
		return ATW_END;
	size = p[0] & 63;
	t.nindices = p[0] >> 6;
	t.name.len = p[1];
	t.name.data = blob_at(file, *off + 2, t.name.len);
	*off += 2 + t.name.len;
	for (unsigned i = 0; i < t.nindices; i++, *off += 4) {
		const void *v = blob_at(file, *off, 4);

		if (!v)
			return ATW_E_DAMAGED;
		t.index[i] = get_le32(v);
	}
	if (!t.name.data)
		return ATW_E_DAMAGED;
	t.block = size >= VMWARE_COMPRESSED;
	t.compressed = size == VMWARE_COMPRESSED;
	if (t.block) {
		const char *head = blob_at(file, *off, VMWARE_BLOCK_HEAD);

		if (!head)
			return ATW_E_DAMAGED;
		t.len = get_le64(head);
		t.at = *off + VMWARE_BLOCK_HEAD + get_le16(head + 16);
		if (!add_u64(t.at, t.len, off))
			return ATW_E_DAMAGED;
	} else {
		t.value.len = size;
		t.value.data = blob_at(file, *off, size);
		*off += size;
		if (!t.value.data)
			return ATW_E_DAMAGED;
	}
	*ret = t;
	return ATW_OK;
}

static uint64_t vmware_number(const struct vmware_tag *t)
{
	uint64_t v = 0;

	memcpy(&v, t->value.data, t->value.len < 8 ? t->value.len : 8);
	return v;
}

static int vmware_take_memory(struct vmware_state *s, const struct vmware_tag *t,
			      struct atw_err *err)
{
	static const char *const names[] = { "regionPPN", "regionPageNum", "regionSize" };

	if (t->block && blob_is(t->name, "Memory")) {
		if (t->compressed)
			return atw_err_set(err, ATW_E_UNSUPPORTED,
					   "its memory at 0x%" PRIx64 " is compressed", t->at);
		s->have_memory = true;
		s->memory = t->at;
		s->memory_len = t->len;
	}
	if (!t->block && blob_is(t->name, "regionsCount"))
		s->nregions = vmware_number(t);
	for (unsigned i = 0; i < ARRAY_SIZE(names) && !t->block; i++) {
		uint64_t v = vmware_number(t);
		struct vmware_region *r;

		if (!blob_is(t->name, names[i]) || t->nindices != 1)
			continue;
		if (t->index[0] >= VMWARE_REGIONS)
			return atw_err_set(err, ATW_E_DAMAGED, "region %" PRIu32 " of its memory",
					   t->index[0]);
		r = &s->region[t->index[0]];
		*(i == 0 ? &r->page : i == 1 ? &r->file_page : &r->pages) = v;
		r->have |= 1u << i;
	}
	return ATW_OK;
}

static void vmware_take_cpu(struct vmware_state *s, const struct vmware_tag *t)
{
	if (t->block || !blob_is(t->name, "CR64") || t->nindices != 2 || t->value.len != 8 ||
	    t->index[0] >= VMWARE_CPUS || t->index[1] >= VMWARE_CRS)
		return;
	s->cr[t->index[0]][t->index[1]] = vmware_number(t);
	s->have_cr[t->index[0]] |= 1u << t->index[1];
	if (t->index[0] >= s->ncpus)
		s->ncpus = t->index[0] + 1;
}

/* `*left`: bytes of the file that no group had. */
static int vmware_take_group(struct vmware_state *s, struct atw_blob file, const char *name,
			     uint64_t off, uint64_t *left, struct atw_err *err)
{
	bool memory = !strncmp(name, "memory", VMWARE_GROUP_NAME);
	bool cpu = !strncmp(name, "cpu", VMWARE_GROUP_NAME);
	struct vmware_tag t;
	int r = ATW_OK;

	while ((memory || cpu) && r == ATW_OK) {
		uint64_t at = off;

		r = vmware_tag_at(file, &off, &t);
		if (r < 0)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "value at 0x%" PRIx64 " is past the end of the file (0x%zx bytes)",
					   at, file.len);
		/* Each of thousands of groups could have all of the file. */
		if (off - at > *left)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "value at 0x%" PRIx64 " is in several groups", at);
		*left -= off - at;
		if (r == ATW_OK && memory)
			r = vmware_take_memory(s, &t, err);
		else if (r == ATW_OK)
			vmware_take_cpu(s, &t);
	}
	return r < 0 ? r : ATW_OK;
}

int vmware_parse(struct atw_blob file, struct vmware_state *ret, struct atw_err *err)
{
	const char *head = blob_at(file, 0, VMWARE_HEADER);
	uint32_t n = head ? get_le32(head + 8) : 0;
	uint64_t left = file.len;

	if (!vmware_probe(file))
		return atw_err_set(err, ATW_E_FORMAT, "is not the state of a VMware guest");
	*ret = (struct vmware_state){.nregions = 0};
	if (n > VMWARE_GROUPS_MAX)
		return atw_err_set(err, ATW_E_DAMAGED, "%" PRIu32 " groups of values", n);
	for (uint32_t i = 0; i < n; i++) {
		const char *g = blob_at(file, VMWARE_HEADER + (uint64_t)i * VMWARE_GROUP,
					VMWARE_GROUP);
		int r;

		if (!g)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "group %" PRIu32 " is past the end of the file (0x%zx bytes)",
					   i, file.len);
		r = vmware_take_group(ret, file, g, get_le64(g + VMWARE_GROUP_NAME), &left, err);
		if (r < 0)
			return r;
	}
	for (uint64_t i = 0; i < ret->nregions; i++)
		if (i >= VMWARE_REGIONS || ret->region[i].have != 7)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "region %" PRIu64 " of %" PRIu64 " of its memory is missing", i,
					   ret->nregions);
	return ATW_OK;
}
