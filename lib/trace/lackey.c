// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lackey.c - lines of valgrind --tool=lackey --trace-mem=yes.
 *
 *	==1234== Lackey, an example Valgrind tool
 *	I  0401ab70,3
 *	 S 1fff000708,8
 *	 L 0401b770,4
 *	 M 1fff000700,8
 *
 * An instruction is followed by its loads, stores and modifications. Addresses are
 * hexadecimal, sizes decimal.
 */
#include "trace/parsers.h"
#include "trace/words.h"

static enum trace_kind lackey_kind(struct atw_blob line)
{
	const char *s = line.data;

	if (line.len < 4 || s[2] != ' ')
		return TRACE_KIND_UNKNOWN;
	if (s[0] == 'I' && s[1] == ' ')
		return TRACE_KIND_FETCH;
	if (s[0] != ' ')
		return TRACE_KIND_UNKNOWN;
	switch (s[1]) {
	case 'L':
		return TRACE_KIND_READ;
	case 'S':
		return TRACE_KIND_WRITE;
	case 'M':
		return TRACE_KIND_BOTH;
	}
	return TRACE_KIND_UNKNOWN;
}

/* "==1234== TEXT" */
static bool lackey_remark(struct atw_blob line, struct atw_blob *pid, struct atw_blob *text)
{
	const char *s = line.data, *end;

	if (!words_begins(line, "=="))
		return false;
	end = memmem(s + 2, line.len - 2, "==", 2);
	if (!end)
		return false;
	*pid = (struct atw_blob){ s + 2, (size_t)(end - s) - 2 };
	*text = words_trim((struct atw_blob){ end + 2, line.len - (size_t)(end + 2 - s) });
	return words_digits(*pid);
}

bool lackey_detect(const struct atw_blob *line, size_t n)
{
	struct trace_parser p = { 0 };
	struct trace_ref ref;
	struct atw_blob pid, text;

	for (size_t i = 0; i < n; i++) {
		ref = (struct trace_ref){ 0 };
		if (lackey_remark(line[i], &pid, &text) && words_begins(text, "Lackey"))
			return true;
		if (lackey_kind(line[i]) && lackey_parse(&p, line[i], &ref, NULL) == ATW_OK)
			return true;
	}
	return false;
}

int lackey_parse(struct trace_parser *p, struct atw_blob line, struct trace_ref *ret,
		 struct atw_err *err)
{
	const char *s = line.data, *comma;
	struct atw_blob address, size, pid, text;
	int r;

	ret->kind = lackey_kind(line);
	if (!ret->kind) {
		/* Every process begins with this remark; a child may follow its parent. */
		if (lackey_remark(line, &pid, &text) && words_begins(text, "Lackey"))
			return words_to_u32(p, pid, "the number of a process", &p->pid, err)
				       ? ATW_E_FORMAT
				       : ATW_END;
		return ATW_END;
	}
	address = words_trim((struct atw_blob){ s + 3, line.len - 3 });
	comma = address.len ? memchr(address.data, ',', address.len) : NULL;
	if (!comma)
		return words_bad(p, address, "an address and a size", err);
	s = address.data;
	size = (struct atw_blob){ comma + 1, (size_t)(s + address.len - comma) - 1 };
	address.len = (size_t)(comma - s);
	r = words_to_hex(p, address, "an address", &ret->address, err);
	if (r == ATW_OK)
		r = words_to_u32(p, size, "a size", &ret->size, err);
	if (r < 0)
		return r;
	ret->has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE;
	if (ret->kind == TRACE_KIND_FETCH) {
		ret->ip = ret->address;
		ret->has |= TRACE_HAS_IP;
	}
	if (p->pid) {
		ret->pid = p->pid;
		ret->has |= TRACE_HAS_PID;
	}
	return ATW_OK;
}
