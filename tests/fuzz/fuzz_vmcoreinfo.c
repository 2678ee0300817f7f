/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMCOREINFO texts, the numbers in them, and the layout they describe. */
#include "format/vmcoreinfo.h"
#include "fuzz.h"
#include "linux/root.h"

static void numbers(const struct atw_vmcoreinfo *vi)
{
	struct vmcoreinfo_line l;
	size_t pos = 0, last;

	do {
		struct atw_blob value;
		char key[200];
		uint64_t v;

		last = pos;
		if (vmcoreinfo_next(vi, &pos, &l) != ATW_OK)
			return;
		FUZZ_CHECK(pos > last && pos <= vi->len, "no way ahead");
		touch(l.key.data, l.key.len);
		touch(l.value.data, l.value.len);
		if (l.key.len >= sizeof(key))
			continue;
		memcpy(key, l.key.data, l.key.len);
		key[l.key.len] = '\0';
		FUZZ_CHECK(atw_vmcoreinfo_text(vi, key, &value) == ATW_OK &&
			   (const char *)value.data <= (const char *)l.value.data,
			   "%s is there and not found", key);
		atw_vmcoreinfo_u64(vi, key, &v);
	} while (pos < vi->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct atw_vmcoreinfo vi = { (const char *)data, len };
	struct layout_guess g;
	struct atw_err err = { 0 };
	int r;

	numbers(&vi);
	vi.len = atw_vmcoreinfo_probe(data, len);
	FUZZ_CHECK(vi.len <= len, "longer than it is");
	FUZZ_CHECK(atw_vmcoreinfo_probe(data, vi.len) == vi.len || !vi.len,
		   "its own text is not one");
	r = layout_from_vmcoreinfo(&vi, &g, &err);
	check_err(r, &err);
	FUZZ_CHECK(layout_from_vmcoreinfo(&vi, &g, NULL) == r,
		   "differs without an error");
	if (r == ATW_OK)
		FUZZ_CHECK(g.paging.nlevels && g.paging.name, "a mode without levels");
	return 0;
}
