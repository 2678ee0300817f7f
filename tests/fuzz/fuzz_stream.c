/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's migration stream: its records, the registers behind them, and as a source. */
#include "format/qemu_cpus.h"
#include "format/qemu_stream.h"
#include "source.h"

struct seen {
	const struct qemu_stream *s;
	size_t len;
	uint64_t pages;
};

static int on_page(void *arg, const struct qemu_page *p, struct atw_err *err)
{
	struct seen *seen = arg;
	const struct qemu_block *b = &seen->s->block[p->block];

	(void)err;
	seen->pages++;
	FUZZ_CHECK(p->block < seen->s->nblocks, "a page of no block");
	FUZZ_CHECK(p->len && p->start < b->len && p->len <= b->len - p->start,
		   "a page outside of its block");
	FUZZ_CHECK(p->kind == QEMU_PAGE_FILL ||
			   (p->at <= seen->len &&
			    (p->kind == QEMU_PAGE_ZLIB ? p->stored : p->len) <= seen->len - p->at),
		   "a page outside of the file");
	return ATW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct qemu_stream s;
	struct view v = view_direct((struct atw_blob){data, len});
	struct seen seen = {&s, len, 0};
	struct atw_err err = {0};
	struct qemu_cpus cpus;
	int r = qemu_stream_parse(&v, 0, on_page, &seen, &s, &err);

	check_err(r, &err);
	if (r == ATW_OK) {
		FUZZ_CHECK(s.nblocks && s.nblocks <= QEMU_BLOCKS, "%zu blocks", s.nblocks);
		FUZZ_CHECK(memchr(s.machine, 0, sizeof(s.machine)), "a machine without end");
	}
	if (qemu_cpus_parse((struct atw_blob){data, len}, &cpus) == ATW_OK)
		free(cpus.cpu);
	check_file("qemu-stream", data, len);
	return 0;
}
