/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proto.c - fields of messages of protocol buffers. */
#include "proto.h"

enum { PROTO_VARINT_BYTES = 10 };

enum proto_result proto_varint(struct proto *p, uint64_t *ret)
{
	uint64_t v = 0;

	if (p->at == p->end)
		return PROTO_END;
	for (unsigned i = 0; i < PROTO_VARINT_BYTES && p->at < p->end; i++) {
		uint8_t byte = *p->at++;

		v |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80)) {
			*ret = v;
			return PROTO_FIELD;
		}
	}
	return PROTO_WRONG;
}

/* So many bytes; NULL: there are fewer. */
static const uint8_t *proto_take(struct proto *p, uint64_t n)
{
	const uint8_t *at = p->at;

	if (n > (uint64_t)(p->end - p->at))
		return NULL;
	p->at += n;
	return at;
}

static enum proto_result proto_take_bytes(struct proto *p, struct proto_field *ret)
{
	const uint8_t *at;
	uint64_t n;

	if (proto_varint(p, &n) != PROTO_FIELD || !(at = proto_take(p, n)))
		return PROTO_WRONG;
	ret->bytes = (struct atw_blob){ at, (size_t)n };
	return PROTO_FIELD;
}

enum proto_result proto_next(struct proto *p, struct proto_field *ret)
{
	const uint8_t *at;
	uint64_t key;
	enum proto_result r = proto_varint(p, &key);

	if (r != PROTO_FIELD)
		return r;
	/* Field numbers have 29 bits, and 0 is none. */
	if (key >> 32 || !(key >> 3))
		return PROTO_WRONG;
	*ret = (struct proto_field){ .number = (uint32_t)(key >> 3), .type = (enum proto_type)(key & 7) };
	switch (ret->type) {
	case PROTO_VARINT:
		return proto_varint(p, &ret->value) == PROTO_FIELD ? PROTO_FIELD : PROTO_WRONG;
	case PROTO_BYTES:
		return proto_take_bytes(p, ret);
	case PROTO_FIXED64:
		at = proto_take(p, 8);
		ret->value = at ? get_le64(at) : 0;
		return at ? PROTO_FIELD : PROTO_WRONG;
	case PROTO_FIXED32:
		at = proto_take(p, 4);
		ret->value = at ? get_le32(at) : 0;
		return at ? PROTO_FIELD : PROTO_WRONG;
	}
	return PROTO_WRONG;
}
