/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thrift.h - structs in Thrift's compact protocol, as far as Parquet's metadata need it
 * (doc/specs/thrift-compact-protocol.md of Apache Thrift).
 */
#pragma once

#include <string.h>

#include "output/varint.h"

enum thrift_type {
	THRIFT_TRUE = 1, THRIFT_FALSE = 2, THRIFT_I8 = 3, THRIFT_I32 = 5, THRIFT_I64 = 6,
	THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12,
};

/* A struct under way: fields are written in ascending order. */
struct thrift {
	struct buf *b;
	unsigned last;           /* field */
};

static inline void thrift_zigzag(struct buf *b, int64_t v)
{
	put_varint(b, (uint64_t)v << 1 ^ -(uint64_t)(v < 0));
}

static inline void thrift_text(struct buf *b, const char *s)
{
	size_t len = strlen(s);

	put_varint(b, len);
	buf_add(b, s, len);
}

/* Ids of Parquet's fields are at most 15 apart. */
static inline void thrift_field(struct thrift *t, unsigned id, enum thrift_type type)
{
	buf_char(t->b, (char)((id - t->last) << 4 | type));
	t->last = id;
}

static inline void thrift_put_i32(struct thrift *t, unsigned id, int32_t v)
{
	thrift_field(t, id, THRIFT_I32);
	thrift_zigzag(t->b, v);
}

static inline void thrift_put_i64(struct thrift *t, unsigned id, uint64_t v)
{
	thrift_field(t, id, THRIFT_I64);
	thrift_zigzag(t->b, (int64_t)v);
}

static inline void thrift_put_text(struct thrift *t, unsigned id, const char *s)
{
	thrift_field(t, id, THRIFT_BINARY);
	thrift_text(t->b, s);
}

/* A value of type bool is its type. */
static inline void thrift_put_bool(struct thrift *t, unsigned id, bool v)
{
	thrift_field(t, id, v ? THRIFT_TRUE : THRIFT_FALSE);
}

/* Its n elements follow. */
static inline void thrift_list(struct thrift *t, unsigned id, enum thrift_type type, size_t n)
{
	thrift_field(t, id, THRIFT_LIST);
	if (n < 15) {
		buf_char(t->b, (char)(n << 4 | type));
	} else {
		buf_char(t->b, (char)(0xf0 | type));
		put_varint(t->b, n);
	}
}

/* A struct as a field; one that is an element of a list has no head. */
static inline struct thrift thrift_struct(struct thrift *t, unsigned id)
{
	thrift_field(t, id, THRIFT_STRUCT);
	return (struct thrift){ .b = t->b };
}

static inline void thrift_stop(struct thrift *t)
{
	buf_char(t->b, 0);
}
