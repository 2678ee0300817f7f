/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF: every type of the blob, its size, and members by path. The first line
 * of the input is the path.
 */
#include "format/btf.h"
#include "fuzz.h"

enum { IDS = 300 };

static void type(const struct btf *b, uint32_t id, const char *path)
{
	struct btf_member m;
	uint64_t size;
	uint32_t found;
	int r;

	FUZZ_CHECK(btf_kind(b, id) < BTF_KINDS, "id %u", id);
	if (*btf_name(b, id)) {
		r = btf_find(b, btf_kind(b, id), btf_name(b, id), &found);
		FUZZ_CHECK(r == ATW_OK && found <= id, "%s is there and not found",
			   btf_name(b, id));
	}
	r = btf_size(b, id, &size);
	FUZZ_CHECK(r == ATW_OK || r < 0, "size: %d", r);
	if (btf_member(b, id, path, &m) == ATW_OK)
		btf_size(b, m.type, &size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	char *path = take_line(&in);
	struct atw_blob blob = { in.p, in.len };
	struct atw_err err = { 0 };
	struct btf b = { 0 };
	uint32_t off;
	int r = btf_init(&b, blob, &err);

	check_err(r, &err);
	btf_length(blob);
	for (uint32_t id = 0; r == ATW_OK && id < b.n + 2 && id < IDS; id++)
		type(&b, id, path);
	if (r == ATW_OK) {
		check_err(btf_offset(&b, "task_struct", path, &off, &err), &err);
		FUZZ_CHECK(btf_kind(&b, UINT32_MAX) == BTF_VOID &&
			   !*btf_name(&b, UINT32_MAX), "an id that is none");
	}
	btf_deinit(&b);
	free(path);
	return 0;
}
