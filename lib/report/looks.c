// SPDX-License-Identifier: GPL-2.0-or-later
/* looks.c - times and processes of several snapshots. */
#include "report/looks.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/num.h"

void looks_deinit(struct looks *l)
{
	free(l->at);
	*l = (struct looks){ 0 };
}

bool looks_number(struct atw_blob text, uint64_t *ret)
{
	return text.data && num_dec(text.data, text.len, ret);
}

bool looks_fraction(struct atw_blob text, unsigned digits, uint64_t *ret)
{
	const char *s = text.data, *point = text.len ? memchr(s, '.', text.len) : NULL;
	size_t whole = point ? (size_t)(point - s) : text.len;
	uint64_t n, part = 0, unit = 1;

	for (unsigned i = 0; i < digits; i++)
		unit *= 10;
	if (!whole || !num_dec(s, whole, &n) || n > UINT64_MAX / unit - 1)
		return false;
	for (unsigned i = 0; i < digits; i++) {
		size_t k = whole + 1 + i;

		part = part * 10 + (k < text.len && s[k] >= '0' && s[k] <= '9' ?
				    (uint64_t)(s[k] - '0') : 0);
	}
	/* Only digits, at least one, behind a point. */
	for (size_t k = whole + 1; k < text.len; k++)
		if (s[k] < '0' || s[k] > '9')
			return false;
	if (point && whole + 1 == text.len)
		return false;
	*ret = n * unit + part;
	return true;
}

bool looks_thousandths(struct atw_blob text, uint64_t *ret)
{
	return looks_fraction(text, 3, ret);
}

static int looks_same_kernel(struct looks *l, struct atw_blob release,
			     struct atw_err *err)
{
	size_t n = release.len < sizeof(l->release) ? release.len : sizeof(l->release) - 1;

	if (!l->release[0] && n)
		memcpy(l->release, release.data, n);
	if (n == strlen(l->release) && !memcmp(l->release, release.data, n))
		return ATW_OK;
	return atw_err_set(err, ATW_E_USAGE, "is of Linux %.*s, and those before it are of %s: "
			   "looks are at one machine", (int)n, (const char *)release.data, l->release);
}

int looks_feed(struct looks *l, const struct census_event *ev, struct atw_err *err)
{
	if (!l->open) {
		if (!ARRAY_ROOM(l->at, l->n, l->cap))
			return atw_err_nomem(err);
		l->at[l->n++] = UINT64_MAX;
		l->open = true;
	}
	if (ev->what == CENSUS_ON_HEADER && blob_is(ev->header->key, "begun"))
		looks_thousandths(ev->header->value, &l->at[l->n - 1]);
	if (ev->what == CENSUS_ON_HEADER && blob_is(ev->header->key, "release"))
		return looks_same_kernel(l, ev->header->value, err);
	if (ev->what != CENSUS_ON_END)
		return ATW_OK;
	l->open = false;
	if (l->n > 1 && l->at[l->n - 1] != UINT64_MAX && l->at[l->n - 2] != UINT64_MAX &&
	    l->at[l->n - 1] < l->at[l->n - 2])
		return atw_err_set(err, ATW_E_USAGE, "was taken before the one in front of it: "
				   "looks are given in their order");
	return ATW_OK;
}

bool looks_between(const struct looks *l, size_t a, size_t b, uint64_t *ret_ms)
{
	if (l->at[a] == UINT64_MAX || l->at[b] == UINT64_MAX || l->at[b] <= l->at[a])
		return false;
	*ret_ms = l->at[b] - l->at[a];
	return true;
}

/* ---- processes ---- */

void look_processes_deinit(struct look_processes *p)
{
	free(p->v);
	table_deinit(&p->table);
	*p = (struct look_processes){ 0 };
}

static bool looks_same(const struct look_process *a, const struct look_process *b)
{
	return a->pid == b->pid && a->has_start == b->has_start && a->start == b->start;
}

int look_processes_find(struct look_processes *p, uint64_t pid, bool has_start,
			uint64_t start, struct atw_blob name, size_t *ret,
			struct atw_err *err)
{
	struct look_process want = { .pid = pid, .start = has_start ? start : 0,
				     .has_start = has_start };
	const uint64_t key = hash_two(want.pid, want.start);
	const struct table_slot *s = NULL;
	size_t at, len = name.len < sizeof(want.name) ? name.len : sizeof(want.name) - 1;

	while ((s = table_next(&p->table, key, s)))
		if (looks_same(&p->v[s->value - 1], &want))
			break;
	at = s ? s->value - 1 : p->n;
	if (!s) {
		if (!ARRAY_ROOM(p->v, p->n, p->cap) ||
		    !table_add(&p->table, key, p->n + 1))
			return atw_err_nomem(err);
		p->v[p->n++] = want;
	}
	if (len)
		memcpy(p->v[at].name, name.data, len);
	p->v[at].name[len] = '\0';
	if (len < name.len)
		memcpy(p->v[at].name + len - 3, "...", 3);
	*ret = at;
	return ATW_OK;
}
