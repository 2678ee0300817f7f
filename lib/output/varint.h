/* SPDX-License-Identifier: GPL-2.0-or-later */
/* varint.h - numbers of 7 bits a byte, the lowest first: Thrift's and those of protobuf. */
#pragma once

#include "base/buf.h"

static inline void put_varint(struct buf *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		buf_char(b, (char)(v | 0x80));
	buf_char(b, (char)v);
}
