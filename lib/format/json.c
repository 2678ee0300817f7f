// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - RFC 8259, as far as one level of a value has to be taken apart. */
#include "format/json.h"

#include "base/bytes.h"
#include "base/num.h"

static void json_skip_blanks(struct json_cursor *c)
{
	while (c->s < c->end &&
	       (*c->s == ' ' || *c->s == '\t' || *c->s == '\n' || *c->s == '\r'))
		c->s++;
}

static bool json_string(struct json_cursor *c, struct atw_blob *ret)
{
	const char *s = c->s + 1;

	if (c->s >= c->end || *c->s != '"')
		return false;
	for (c->s = s; c->s < c->end && *c->s != '"'; c->s++)
		if (*c->s == '\\' && c->s + 1 < c->end)
			c->s++;
	if (c->s >= c->end)
		return false;
	*ret = (struct atw_blob){s, (size_t)(c->s++ - s)};
	return true;
}

/* What is inside of an object or an array is only searched for its end. */
static bool json_value(struct json_cursor *c, struct atw_blob *ret)
{
	const char *s = c->s;
	uint64_t depth = 0;

	if (json_string(c, ret))
		return true;
	for (c->s = s; c->s < c->end; c->s++) {
		struct atw_blob inside;

		if (*c->s == '"') {
			if (!json_string(c, &inside))
				return false;
			c->s--;
		} else if (*c->s == '{' || *c->s == '[') {
			depth++;
		} else if ((*c->s == '}' || *c->s == ']' || *c->s == ',') && !depth) {
			break;
		} else if (*c->s == '}' || *c->s == ']') {
			depth--;
		}
	}
	*ret = (struct atw_blob){s, (size_t)(c->s - s)};
	while (ret->len && (s[ret->len - 1] == ' ' || s[ret->len - 1] == '\n'))
		ret->len--;
	return !depth && ret->len;
}

struct json_cursor json_open(struct atw_blob value)
{
	struct json_cursor c = {.s = value.data, .object = blob_begins(value, "{")};

	c.end = c.s + (c.object || blob_begins(value, "[") ? value.len : 0);
	return c;
}

/* The bracket that opens it is the separator before the first member. */
bool json_next(struct json_cursor *c, struct atw_blob *key, struct atw_blob *value)
{
	json_skip_blanks(c);
	if (c->s >= c->end || *c->s == '}' || *c->s == ']')
		return false;
	c->s++;
	json_skip_blanks(c);
	*key = (struct atw_blob){"", 0};
	if (c->object) {
		if (!json_string(c, key))
			return false;
		json_skip_blanks(c);
		if (c->s >= c->end || *c->s++ != ':')
			return false;
		json_skip_blanks(c);
	}
	if (c->s < c->end && (*c->s == '}' || *c->s == ']'))
		return false;
	return json_value(c, value);
}

bool json_member(struct atw_blob object, const char *key, struct atw_blob *ret)
{
	struct json_cursor c = json_open(object);
	struct atw_blob name, value;

	while (c.object && json_next(&c, &name, &value))
		if (blob_is(name, key)) {
			*ret = value;
			return true;
		}
	return false;
}

uint64_t json_number(struct atw_blob object, const char *key, uint64_t other)
{
	struct atw_blob value;
	uint64_t n;

	return json_member(object, key, &value) && num_dec(value.data, value.len, &n)
		       ? n
		       : other;
}
