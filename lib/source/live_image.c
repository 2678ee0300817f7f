// SPDX-License-Identifier: GPL-2.0-or-later
/* live_image.c - mapping of the kernel's image, beside the map of all RAM. */
#include "source/live_image.h"

#include "base/cleanup.h"
#include "format/vmcoreinfo.h"

void live_image_find(struct live_image *i, const char *vmcoreinfo, size_t len)
{
	const struct atw_vmcoreinfo vi = { .text = vmcoreinfo, .len = len };

	*i = (struct live_image){ 0 };
	atw_vmcoreinfo_u64(&vi, "NUMBER(kimage_voffset)", &i->offset);
}

void live_image_add(struct live_image *i, uint64_t pa, uint64_t va, uint64_t len)
{
	if (!i->offset || va - pa != i->offset || !len || pa + len < pa)
		return;
	if (i->first == i->end) {
		i->first = pa;
		i->end = pa + len;
	}
	i->first = MIN(i->first, pa);
	i->end = MAX(i->end, pa + len);
}

bool live_image_at(const struct live_image *i, uint64_t pa, uint64_t *ret)
{
	*ret = pa + i->offset;
	return pa >= i->first && pa < i->end;
}
