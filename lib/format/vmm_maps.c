// SPDX-License-Identifier: GPL-2.0-or-later
/* vmm_maps.c - QEMU, softmmu/physmem.c, ram_block_add(); util/mmap-alloc.c. */
#include "format/vmm_maps.h"

#include "base/bytes.h"

struct vmm_maps_cursor {
	struct atw_blob text;
	size_t pos;
	bool smaps;
};

/* JIT buffers are executable; heaps and stacks have a name. */
static bool vmm_maps_may_be(const struct procmaps_area *a)
{
	return a->read && a->write && !a->exec && !blob_begins(a->name, "[heap]") &&
	       !blob_begins(a->name, "[stack");
}

/* "VmFlags: rd wr mr mw me dc ac" of the mapping before *pos; `flag` is as " dc". */
static bool vmm_maps_has_flag(struct atw_blob text, size_t pos, const char *flag)
{
	static const char key[] = "VmFlags:";

	while (pos < text.len) {
		const char *s = (const char *)text.data + pos;
		const char *e = memchr(s, '\n', text.len - pos);
		struct atw_blob line = {s, e ? (size_t)(e - s) : text.len - pos};
		struct procmaps_area next;
		size_t at = pos;

		if (procmaps_next(text, &at, &next) == ATW_OK)
			return false;
		if (blob_begins(line, key))
			return memmem(line.data, line.len, flag, strlen(flag));
		pos += line.len + 1;
	}
	return false;
}

/* The next mapping that may be RAM. */
static bool vmm_maps_next(struct vmm_maps_cursor *c, struct procmaps_area *ret)
{
	int r;

	while ((r = procmaps_next(c->text, &c->pos, ret)) != ATW_END)
		if (r == ATW_OK && vmm_maps_may_be(ret) &&
		    (!c->smaps || vmm_maps_has_flag(c->text, c->pos, " dc")))
			return true;
	return false;
}

static bool vmm_maps_goes_on(const struct procmaps_area *a, const struct procmaps_area *b)
{
	return a->end == b->start && a->shared == b->shared && a->inode == b->inode &&
	       a->major == b->major && a->minor == b->minor &&
	       (!a->inode || b->offset == a->offset + (a->end - a->start));
}

/* The first mapping from `c` on that has this size, or is part of such a run. */
static bool vmm_maps_sized(struct vmm_maps_cursor c, uint64_t size,
			   struct procmaps_area *ret)
{
	struct procmaps_area next;

	if (!vmm_maps_next(&c, ret))
		return false;
	while (ret->end - ret->start < size) {
		if (!vmm_maps_next(&c, &next) || !vmm_maps_goes_on(ret, &next))
			return false;
		ret->end = next.end;
	}
	return ret->end - ret->start == size;
}

size_t vmm_maps_find(struct atw_blob maps, bool smaps, uint64_t size,
		     struct procmaps_area *v, size_t max)
{
	struct vmm_maps_cursor c = {maps, 0, smaps};
	struct procmaps_area a, found;
	uint64_t behind = 0;
	size_t n = 0;

	for (;;) {
		struct vmm_maps_cursor here = c;

		if (!vmm_maps_next(&c, &a))
			return n;
		if (a.start < behind || !vmm_maps_sized(here, size, &found))
			continue;
		behind = found.end;
		/* The last `max` of ascending ones, so the first of descending ones. */
		if (max) {
			size_t keep = n < max ? n : max - 1;

			memmove(v + 1, v, keep * sizeof(*v));
			v[0] = found;
		}
		n++;
	}
}

size_t vmm_maps_largest(struct atw_blob maps, struct procmaps_area *v, size_t max)
{
	struct vmm_maps_cursor c = {maps, 0, false};
	struct procmaps_area a;
	size_t n = 0, at;

	while (vmm_maps_next(&c, &a)) {
		for (at = n; at && v[at - 1].end - v[at - 1].start < a.end - a.start; at--)
			if (at < max)
				v[at] = v[at - 1];
		if (at < max)
			v[at] = a;
		n += n < max;
	}
	return n;
}

bool vmm_maps_next_late(struct atw_blob smaps, size_t *pos, struct procmaps_area *ret)
{
	int r;

	while ((r = procmaps_next(smaps, pos, ret)) != ATW_END)
		if (r == ATW_OK && vmm_maps_has_flag(smaps, *pos, " um"))
			return true;
	return false;
}
