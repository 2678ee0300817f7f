/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of /proc/PID/maps; and the same bytes as an answer of PAGEMAP_SCAN. */
#include "format/pagemap.h"
#include "format/procmaps.h"
#include "fuzz.h"

static void lines(struct atw_blob text)
{
	struct procmaps_area a;
	size_t pos = 0, last = 0;
	char name[64];
	int r;

	while ((r = procmaps_next(text, &pos, &a)) != ATW_END) {
		FUZZ_CHECK(pos > last && pos <= text.len, "no way ahead");
		last = pos;
		if (r != ATW_OK)
			continue;
		FUZZ_CHECK(a.start < a.end, "an empty area");
		touch(a.name.data, a.name.len);
		procmaps_name(a.name, name, sizeof(name));
		FUZZ_CHECK(strlen(name) < sizeof(name), "a name without end");
	}
}

static void scan(const uint8_t *data, size_t len)
{
	struct pagescan_region v[64];
	struct pagescan_arg a;
	uint64_t at, next;
	size_t n;

	if (len < sizeof(a))
		return;
	memcpy(&a, data, sizeof(a));
	a.start &= ~UINT64_C(4095);
	a.end &= ~UINT64_C(4095);
	if (a.start >= a.end)
		return;
	a.vec_len %= 65;
	n = (len - sizeof(a)) / sizeof(v[0]);
	n = n > 64 ? 64 : n;
	memcpy(v, data + sizeof(a), n * sizeof(v[0]));
	at = a.start;
	n = pagescan_check(&a, v, n, 4096, &next);
	FUZZ_CHECK(n <= a.vec_len, "more regions than there is room for");
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(v[i].start >= at && v[i].end > v[i].start && v[i].end <= a.end,
			   "regions out of order");
		at = v[i].end;
	}
	FUZZ_CHECK(next >= at && next <= a.end, "goes on where it has been");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	lines((struct atw_blob){ data, len });
	scan(data, len);
	return 0;
}
