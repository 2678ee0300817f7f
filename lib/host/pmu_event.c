/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/pmu_event.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"

static bool pmu_event_number(const char *s, size_t len, uint64_t *ret)
{
	if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return num_hex(s + 2, len - 2, ret);
	return num_dec(s, len, ret);
}

static struct atw_blob pmu_event_trimmed(struct atw_blob b)
{
	const char *s = b.data;

	while (b.len && strchr(" \t\r\n", s[b.len - 1]))
		b.len--;
	return b;
}

int pmu_term_next(struct atw_blob events, size_t *pos, struct pmu_term *ret, struct atw_err *err)
{
	struct atw_blob all = pmu_event_trimmed(events);
	const char *s = (const char *)all.data + *pos, *end, *equals;
	size_t len;

	if (*pos >= all.len)
		return ATW_END;
	end = memchr(s, ',', all.len - *pos);
	len = end ? (size_t)(end - s) : all.len - *pos;
	*pos += len + (end != NULL);
	equals = memchr(s, '=', len);
	*ret = (struct pmu_term){ { s, equals ? (size_t)(equals - s) : len }, 1 };
	if (!ret->name.len ||
	    (equals &&
	     !pmu_event_number(equals + 1, len - ret->name.len - 1, &ret->value)))
		return atw_err_set(err, ATW_E_FORMAT, "'%.*s' is not a term of an event", (int)len, s);
	return ATW_OK;
}

/* "3" or "0-7" at *s, which then is behind it. */
static bool pmu_event_range(const char **s, const char *end, unsigned *first,
			    unsigned *last)
{
	uint64_t n[2];

	for (unsigned i = 0; i < 2; i++) {
		const char *from = *s;

		while (*s < end && **s >= '0' && **s <= '9')
			++*s;
		if (!num_dec(from, (size_t)(*s - from), &n[i]) || n[i] > 63)
			return false;
		if (i || *s == end || **s != '-') {
			*first = (unsigned)n[0];
			*last = (unsigned)n[i];
			return *first <= *last;
		}
		++*s;
	}
	return false;
}

int pmu_term_put(struct pmu_event *e, const struct pmu_term *t, struct atw_blob format,
		 struct atw_err *err)
{
	static const char *const words[] = { "config:", "config1:", "config2:" };
	struct atw_blob all = pmu_event_trimmed(format);
	const char *s = all.data, *end = s + all.len;
	uint64_t left = t->value, *to = NULL;
	unsigned first, last;

	for (unsigned i = 0; i < ARRAY_SIZE(words) && !to; i++) {
		size_t len = strlen(words[i]);

		if (all.len > len && !memcmp(s, words[i], len)) {
			to = &e->config[i];
			s += len;
		}
	}
	while (to) {
		unsigned n;
		uint64_t mask;

		if (!pmu_event_range(&s, end, &first, &last)) {
			to = NULL;
			break;
		}
		n = last - first + 1;
		mask = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
		*to = (*to & ~(mask << first)) | (left & mask) << first;
		left = n == 64 ? 0 : left >> n;
		if (s == end)
			break;
		if (*s++ != ',')
			to = NULL;
	}
	if (!to || left)
		return atw_err_set(err, ATW_E_FORMAT, "%.*s=0x%llx does not fit the format '%.*s'",
				   (int)t->name.len, (const char *)t->name.data,
				   (unsigned long long)t->value, (int)all.len,
				   (const char *)all.data);
	return ATW_OK;
}
