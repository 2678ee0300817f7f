/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images of CRIU, as the plugin criu reads them: the bytes as an image of each type. */
#include "plugins/criu/proto.c"
#include "plugins/criu/image.c"

#include "fuzz.h"

static struct atw_blob all;

static void inside(struct atw_blob b)
{
	const uint8_t *at = b.data, *first = all.data;

	FUZZ_CHECK(!b.len || (at >= first && at + b.len <= first + all.len), "%zu bytes are outside", b.len);
}

static void message(struct proto p)
{
	struct image_task task;
	struct image_core core;
	struct image_mm mm;
	struct image_area area;
	struct image_pages pages;
	struct image_file file;
	struct image_memfd memfd;
	enum image_result r;
	size_t n = 0;
	uint32_t tid;

	if (image_task(p, &task)) {
		FUZZ_CHECK(task.pid, "a process without a number");
		while (image_thread(&task, &tid))
			FUZZ_CHECK(++n <= all.len, "threads do not end");
	}
	if (image_core(p, &core))
		inside(core.name);
	if (image_mm(p, &mm))
		for (n = 0; (r = image_area_next(&mm, &area)) != IMAGE_END && r != IMAGE_WRONG;)
			FUZZ_CHECK(++n <= all.len, "areas do not end");
	image_pages(p, &pages);
	if (image_file(p, &file) || image_reg_file(p, &file))
		inside(file.name);
	if (image_memfd(p, &memfd))
		inside(memfd.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const enum image_magic magic[] = {
		IMAGE_PSTREE, IMAGE_CORE, IMAGE_MM, IMAGE_PAGEMAP, IMAGE_FILES, IMAGE_REG_FILES,
		IMAGE_MEMFD,
	};
	struct image_reader m;
	struct proto p;

	all = (struct atw_blob){ data, len };
	message(proto_of(all));
	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++) {
		if (!image_open(all, magic[i], &m))
			continue;
		while (image_next(&m, &p) == IMAGE_ENTRY) {
			FUZZ_CHECK(m.pos <= len && m.n <= len / 4, "it is at %zu of %zu", m.pos, len);
			message(p);
		}
	}
	return 0;
}
