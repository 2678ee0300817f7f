/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/format_fields.h"

#include "base/num.h"

struct kmap_quoted kmap_quote(struct atw_blob b)
{
	struct kmap_quoted q;

	snprintf(q.s, sizeof(q.s), "%.*s%s", (int)(b.len < 40 ? b.len : 40),
		 b.len ? (const char *)b.data : "", b.len > 40 ? "..." : "");
	return q;
}

int kmap_address(const char *what, struct atw_blob b, uint64_t *ret, struct atw_err *err)
{
	b = trim(b);
	if (blob_is(b, KMAP_NULL)) {
		*ret = 0;
		return ATW_OK;
	}
	if (num_hex(b.data, b.len, ret))
		return ATW_OK;
	if (blob_is(b, "(____ptrval____)")) {
		atw_err_set(err, ATW_E_FORMAT, "%s: hidden by the kernel: '(____ptrval____)'", what);
		atw_err_hint(err, "boot that kernel with no_hash_pointers");
		return ATW_E_FORMAT;
	}
	return atw_err_set(err, ATW_E_FORMAT, "%s: '%s' is not an address", what, kmap_quote(b).s);
}

int kmap_count(const char *what, struct atw_blob b, uint64_t *ret, struct atw_err *err)
{
	b = trim(b);
	return num_dec(b.data, b.len, ret) ? ATW_OK :
	       atw_err_set(err, ATW_E_FORMAT, "%s: '%s' is not a number", what, kmap_quote(b).s);
}

int kmap_number(const char *what, struct atw_blob b, int64_t *ret, struct atw_err *err)
{
	bool minus;
	uint64_t v;

	b = trim(b);
	minus = begins(&b, "-");
	if (!num_dec(b.data, b.len, &v) || v > (uint64_t)INT64_MAX + minus)
		return atw_err_set(err, ATW_E_FORMAT, "%s: '%s%s' is not a number", what,
				   minus ? "-" : "", kmap_quote(b).s);
	*ret = (int64_t)(minus ? -v : v);
	return ATW_OK;
}
