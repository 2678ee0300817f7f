// SPDX-License-Identifier: GPL-2.0-or-later
/* words.c - numbers in lines of traces. */
#include "trace/words.h"

#include <inttypes.h>
#include "base/message.h"

int words_bad(const struct trace_parser *p, struct atw_blob text, const char *what,
	      struct atw_err *err)
{
	/* A sentence has room for a word, not for a line. */
	int shown = text.len < 60 ? (int)text.len : 60;

	return atw_err_set(err, ATW_E_FORMAT, "line %" PRIu64 ": '%.*s%s' is not %s", p->line,
			   shown, text.len ? (const char *)text.data : "",
			   text.len > 60 ? "..." : "", message(what));
}

int words_to_hex(const struct trace_parser *p, struct atw_blob text, const char *what,
		 uint64_t *ret, struct atw_err *err)
{
	return text.len && num_hex(text.data, text.len, ret)
		       ? ATW_OK
		       : words_bad(p, text, what, err);
}

int words_to_u32(const struct trace_parser *p, struct atw_blob text, const char *what,
		 uint32_t *ret, struct atw_err *err)
{
	uint64_t v;

	if (!text.len || !num_dec(text.data, text.len, &v) || v > UINT32_MAX)
		return words_bad(p, text, what, err);
	*ret = (uint32_t)v;
	return ATW_OK;
}

int words_to_time(const struct trace_parser *p, struct atw_blob text, uint64_t *ret,
		  struct atw_err *err)
{
	const char *s = text.data, *dot = text.len ? memchr(s, '.', text.len) : NULL;
	size_t whole = dot ? (size_t)(dot - s) : text.len;
	size_t decimals = dot ? text.len - whole - 1 : 0;
	uint64_t seconds, part = 0;

	if (!whole || !num_dec(s, whole, &seconds) || seconds > UINT64_MAX / 1000000000 - 1 ||
	    decimals > 9 || (dot && (!decimals || !num_dec(dot + 1, decimals, &part))))
		return words_bad(p, text, "a time in seconds", err);
	for (size_t i = decimals; i < 9; i++)
		part *= 10;
	*ret = seconds * 1000000000 + part;
	return ATW_OK;
}
