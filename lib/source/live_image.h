/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_image.h - mapping of the kernel's image, beside the map of all RAM.
 *
 * arm64 maps both, and since Linux 7.3 the data of the image is mapped in the image's own
 * place alone. All of it is at one distance; its addresses are learnt step by step from
 * the kernel's page tables, because other addresses at that distance need not belong to
 * it. Pure.
 */
#pragma once

#include <atwalk/base.h>

struct live_image {
	uint64_t offset;         /* virtual - physical; 0: not known */
	uint64_t first, end;     /* physical addresses that are known; none: equal */
};

/* VMCOREINFO's NUMBER(kimage_voffset): arm64 alone has it. */
void live_image_find(struct live_image *i, const char *vmcoreinfo, size_t len);
/* The kernel maps these bytes there: are they of the image? */
void live_image_add(struct live_image *i, uint64_t pa, uint64_t va, uint64_t len);
/* What lies between two addresses of the image is the image's, or not mapped at all. */
bool live_image_at(const struct live_image *i, uint64_t pa, uint64_t *ret);
