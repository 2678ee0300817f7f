/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of QEMU's monitor, and the texts that may be in it. */
#include "format/qmp.h"
#include "fuzz.h"

static void read_text(struct atw_blob text)
{
	struct atw_blob s;
	struct qmp_section q;
	uint64_t at;
	size_t pos = 0, was;

	qmp_host_address(text, 0, &at);
	if (!qmp_find_memory(text, &s))
		return;
	touch(s.data, s.len);
	for (was = 0; qmp_next_section(s, &pos, &q) == ATW_OK; was = pos) {
		FUZZ_CHECK(pos > was && pos <= s.len, "it does not go on");
		FUZZ_CHECK(q.len && q.gpa + (q.len - 1) >= q.gpa, "past the last address");
		touch(q.block.data, q.block.len);
		qmp_has_backend(text, q.block);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct atw_blob all = {data, len};
	struct buf text = {0};
	struct atw_blob value;

	if (qmp_line(all, &value) != QMP_NONE) {
		touch(value.data, value.len);
		buf_add(&text, "", 0);
		qmp_text(value, &text);
		FUZZ_CHECK(text.failed || (text.len <= value.len && strlen(text.data) == text.len),
			   "longer, or with a NUL");
		if (!text.failed)
			read_text((struct atw_blob){text.data, text.len});
		qmp_has_backend(value, (struct atw_blob){"n1", 2});
	}
	read_text(all);
	buf_deinit(&text);
	return 0;
}
