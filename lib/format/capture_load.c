/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_load.c - program headers in a U: line of atwalk-capture(5). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/capture.h"

/* "offset:address:file size:memory size:flags" */
static bool capture_load_parse(const char *s, size_t len, struct capture_load *ret)
{
	uint64_t v[5];

	for (unsigned i = 0; i < 5; i++) {
		const char *e = len ? memchr(s, ':', len) : NULL;
		size_t n = e ? (size_t)(e - s) : len;

		/* num_hex() accepts 0x. */
		if (!e != (i == 4) || (n > 1 && (s[1] | 32) == 'x') || !num_hex(s, n, &v[i]))
			return false;
		s += n + (i < 4);
		len -= n + (i < 4);
	}
	*ret = (struct capture_load){ v[0], v[1], v[2], v[3], v[4] };
	return true;
}

int capture_load(struct atw_blob *loads, struct capture_load *ret, struct atw_err *err)
{
	const char *s = loads->data, *bar;
	struct capture_load load;
	uint64_t last;
	size_t n;

	if (!loads->len)
		return ATW_END;
	bar = memchr(s, '|', loads->len);
	n = bar ? (size_t)(bar - s) : loads->len;
	*loads = (struct atw_blob){ s + n + (bar != NULL), loads->len - n - (bar != NULL) };
	if (!capture_load_parse(s, n, &load) || (bar && !loads->len))
		return atw_err_set(err, ATW_E_FORMAT, "no OFFSET:ADDRESS:SIZE:SIZE:FLAGS with a "
				   "bar between each two");
	if (__builtin_add_overflow(load.va, load.size, &last) ||
	    __builtin_add_overflow(load.offset, load.file_size, &last))
		return atw_err_set(err, ATW_E_DAMAGED, "a load of %" PRIX64 " bytes at %" PRIX64
				   ": beyond 64 bits", load.size, load.va);
	*ret = load;
	return ATW_OK;
}

size_t capture_write_load(const struct capture_load *load, bool first, char *buf, size_t len)
{
	char text[CAPTURE_LOAD_TEXT];
	int n = snprintf(text, sizeof(text), "%s%" PRIX64 ":%" PRIX64 ":%" PRIX64 ":%" PRIX64
			 ":%" PRIX64, first ? "" : "|", load->offset, load->va,
			 load->file_size, load->size, load->flags);

	if ((size_t)n > len)
		return 0;
	memcpy(buf, text, (size_t)n);
	return (size_t)n;
}
