/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.h - members of JSON objects and elements of arrays, without a copy. Pure. */
#pragma once

#include <atwalk/base.h>

struct json_cursor {
	const char *s, *end;
	bool object;
};

/* Of an object or an array; of any other value, json_next() finds nothing. */
struct json_cursor json_open(struct atw_blob value);
/*
 * The next member or element. A string comes without its quotes and with its escapes, any
 * other value as its text; `key` is empty in an array. false: there is none, or the text
 * is not JSON.
 */
bool json_next(struct json_cursor *c, struct atw_blob *key, struct atw_blob *value);
/* The first member with this key. */
bool json_member(struct atw_blob object, const char *key, struct atw_blob *ret);
/* A member that is a number of 64 bits; `other` if there is none. */
uint64_t json_number(struct atw_blob object, const char *key, uint64_t other);
