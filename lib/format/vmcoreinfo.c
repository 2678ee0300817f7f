// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmcoreinfo.c - parser of VMCOREINFO: lines KEY=VALUE that kernel/vmcore_info.c
 * (kernel/crash_core.c before 6.9) writes at boot, starting with OSRELEASE.
 */
#include "format/vmcoreinfo.h"

#include "base/bytes.h"
#include "base/num.h"

static bool vmcoreinfo_printable(char c)
{
	return c >= 0x20 && c <= 0x7e;
}

int vmcoreinfo_next(const struct atw_vmcoreinfo *vi, size_t *pos,
		    struct vmcoreinfo_line *ret)
{
	const char *line, *end, *p, *equals = NULL;

	if (!vi || !vi->text)
		return ATW_END;
	line = p = vi->text + *pos;
	end = vi->text + vi->len;
	for (; p < end && vmcoreinfo_printable(*p); p++) {
		if (equals)
			continue;
		if (*p == '=')
			equals = p;
		else if (*p == ' ')
			return ATW_END;          /* other text, not a key */
	}
	if (!equals || equals == line)
		return ATW_END;
	/*
	 * A line without an end is rejected, because its value may be incomplete: in a
	 * stale copy of the text other data follow where a page was reused.
	 */
	if (p < end && *p != '\n' && *p)
		return ATW_END;
	ret->key = (struct atw_blob){ line, (size_t)(equals - line) };
	ret->value = (struct atw_blob){ equals + 1, (size_t)(p - equals - 1) };
	*pos = (size_t)(p - vi->text) + (p < end && *p == '\n');
	return ATW_OK;
}

size_t atw_vmcoreinfo_probe(const void *data, size_t len)
{
	struct atw_vmcoreinfo vi = { data, len };
	struct vmcoreinfo_line l;
	size_t pos = 0;

	/* The kernel image also has the format string, "OSRELEASE=%s". */
	if (vmcoreinfo_next(&vi, &pos, &l) != ATW_OK ||
	    !blob_is(l.key, "OSRELEASE") || !l.value.len ||
	    memchr(l.value.data, '%', l.value.len) ||
	    memchr(l.value.data, ' ', l.value.len))
		return 0;
	while (vmcoreinfo_next(&vi, &pos, &l) == ATW_OK)
		;
	return pos;
}

int atw_vmcoreinfo_text(const struct atw_vmcoreinfo *vi, const char *key,
			struct atw_blob *ret)
{
	struct vmcoreinfo_line l;
	size_t pos = 0;

	while (vmcoreinfo_next(vi, &pos, &l) == ATW_OK) {
		if (key && blob_is(l.key, key)) {
			*ret = l.value;
			return ATW_OK;
		}
	}
	return ATW_E_MISSING;
}

int atw_vmcoreinfo_u64(const struct atw_vmcoreinfo *vi, const char *key, uint64_t *ret)
{
	struct atw_blob value;
	uint64_t v = 0;
	const char *s;
	bool ok;
	int r = atw_vmcoreinfo_text(vi, key, &value);

	if (r < 0)
		return r;
	s = value.data;
	if (text_begins(key, "SYMBOL(") || !strcmp(key, "KERNELOFFSET")) {
		ok = num_hex(s, value.len, &v);
	} else if (value.len && *s == '-') {
		/* NUMBER(phys_base) is signed; the caller gets its bits. */
		ok = num_dec(s + 1, value.len - 1, &v) && v <= (uint64_t)1 << 63;
		v = -v;
	} else {
		ok = num_any(s, value.len, &v);
	}
	if (!ok)
		return ATW_E_DAMAGED;
	*ret = v;
	return ATW_OK;
}
