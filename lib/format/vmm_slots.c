// SPDX-License-Identifier: GPL-2.0-or-later
/* vmm_slots.c - pieces of a guest's RAM: as a user types them, and against /proc/PID/maps. */
#include "format/vmm_slots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/sorted.h"
#include "format/procmaps.h"

enum { SLOTS_PAGE = 4096 };

/* "GPA:HVA:LEN" of `len` bytes. */
static int slots_parse_one(const char *s, size_t len, struct vmm_slot *ret, struct atw_err *err)
{
	const char *hva = memchr(s, ':', len), *end = s + len;
	const char *size = hva ? memchr(hva + 1, ':', (size_t)(end - hva - 1)) : NULL;
	struct vmm_slot v = { .read_only = false };

	if (!size || !num_hex(s, (size_t)(hva - s), &v.gpa) ||
	    !num_hex(hva + 1, (size_t)(size - hva - 1), &v.address) ||
	    !num_size(size + 1, (size_t)(end - size - 1), &v.len))
		return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_LAYOUT,
					 "'%.*s' is not GPA:HVA:LEN, as in 0:7f0000000000:4G",
					 (int)(len > 64 ? 64 : len), s);
	if (!v.len || (v.gpa | v.address | v.len) % SLOTS_PAGE)
		return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_LAYOUT,
					 "'%.*s' does not consist of whole pages of 4096 bytes",
					 (int)(len > 64 ? 64 : len), s);
	if (v.gpa + v.len < v.len || v.address + v.len < v.len)
		return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_LAYOUT,
					 "'%.*s' ends behind the last address",
					 (int)(len > 64 ? 64 : len), s);
	*ret = v;
	return ATW_OK;
}

bool vmm_slots_sort(struct vmm_slot *v, size_t n, size_t *ret)
{
	SORT(v, n, sorted_by_u64);
	for (size_t i = 1; i < n; i++)
		if (v[i].gpa - v[i - 1].gpa < v[i - 1].len) {
			*ret = i;
			return false;
		}
	return true;
}

int vmm_slots_parse(const char *text, struct vmm_slot **ret, size_t *ret_n, struct atw_err *err)
{
	struct vmm_slot *v = NULL;
	size_t n = 0, cap = 0, twice;
	int r = ATW_OK;

	for (const char *s = text, *e; r == ATW_OK; s = e + 1) {
		e = strchrnul(s, ',');
		if (n == VMM_SLOTS)
			r = atw_err_set_param(err, ATW_E_LIMIT, ATW_PARAM_LAYOUT,
					      "more than %d pieces", VMM_SLOTS);
		else if (!ARRAY_ROOM(v, n, cap))
			r = atw_err_nomem(err);
		else
			r = slots_parse_one(s, (size_t)(e - s), &v[n], err);
		n += r == ATW_OK;
		if (!*e)
			break;
	}
	if (r == ATW_OK && !vmm_slots_sort(v, n, &twice))
		r = atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_LAYOUT,
				      "two pieces have the address 0x%" PRIx64 " of the guest",
				      v[twice].gpa);
	if (r < 0) {
		free(v);
		return r;
	}
	*ret = v;
	*ret_n = n;
	return ATW_OK;
}

int vmm_slots_check(const struct vmm_slot *v, size_t n, struct atw_blob maps,
		    struct atw_err *err)
{
	uint64_t *at = n ? calloc(n, sizeof(*at)) : NULL;  /* readable up to here */
	struct procmaps_area map;
	size_t pos = 0;
	int r;

	if (n && !at)
		return atw_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		at[i] = v[i].address;
	/* Ascending, so one pass is enough. */
	while ((r = procmaps_next(maps, &pos, &map)) != ATW_END)
		for (size_t i = 0; i < n && r == ATW_OK && map.read; i++)
			if (at[i] >= map.start && at[i] < map.end)
				at[i] = map.end;
	r = ATW_OK;
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		if (at[i] - v[i].address < v[i].len)
			r = atw_err_set(err, ATW_E_MISSING,
					"the process has no readable memory at 0x%" PRIx64
					", which is in the piece 0x%" PRIx64 ":0x%" PRIx64
					":0x%" PRIx64,
					at[i], v[i].gpa, v[i].address, v[i].len);
	free(at);
	return r;
}
