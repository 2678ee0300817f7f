/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proto.h - fields of messages of protocol buffers, one after the other. Pure. */
#pragma once

#include "base/bytes.h"

/* What is left of a message. */
struct proto {
	const uint8_t *at, *end;
};

enum proto_type { PROTO_VARINT, PROTO_FIXED64, PROTO_BYTES, PROTO_FIXED32 = 5 };

struct proto_field {
	uint32_t number;
	enum proto_type type;
	uint64_t value;          /* of all types but PROTO_BYTES */
	struct atw_blob bytes;   /* PROTO_BYTES; borrowed */
};

enum proto_result { PROTO_END, PROTO_FIELD, PROTO_WRONG };

static inline struct proto proto_of(struct atw_blob b)
{
	const uint8_t *at = b.data;

	return (struct proto){ at, at ? at + b.len : at };
}
/* PROTO_WRONG: the message ends within a field, or has one of an unknown type. */
enum proto_result proto_next(struct proto *p, struct proto_field *ret);
/* A packed array of numbers; PROTO_END behind the last. */
enum proto_result proto_varint(struct proto *p, uint64_t *ret);
