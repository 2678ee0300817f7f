// SPDX-License-Identifier: GPL-2.0-or-later
/* kallsyms.c - detection of the variant of kallsyms tables that is consistent. */
#include "format/kallsyms_look.h"

#include <stdlib.h>

#include "base/cleanup.h"

static int kallsyms_read_tokens(struct kallsyms *k, struct atw_err *err)
{
	struct atw_blob tokens = k->t.tokens;

	if (k->t.index.len < 512)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "kallsyms_token_index: 0x%zx bytes instead of 512",
				   k->t.index.len);
	for (unsigned i = 0; i < 256; i++) {
		size_t off = get_le16((const char *)k->t.index.data + i * 2), left;
		const char *text = blob_at(tokens, off, 1), *end = NULL;

		left = text ? tokens.len - off : 0;
		if (left > KALLSYMS_NAME)
			left = KALLSYMS_NAME;
		if (left)
			end = memchr(text, 0, left);
		if (!end)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "kallsyms_token_index: token %u at 0x%zx does not end in the 0x%zx bytes of kallsyms_token_table",
					   i, off, tokens.len);
		k->token[i].text = text;
		k->token[i].len = (size_t)(end - text);
		memcpy(k->token[i].head, text, MIN(k->token[i].len, sizeof(k->token[i].head)));
	}
	return ATW_OK;
}

/* The first character of each name is the letter of the symbol's type. */
static bool kallsyms_begins_name(const struct kallsyms *k, unsigned token)
{
	char c = k->token[token].len ? k->token[token].text[0] : '\0';

	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '?';
}

struct walk {
	bool ok, any_long;       /* any_long: some length is 128 or more */
	bool markers;            /* consistent with kallsyms_markers */
	uint32_t stop;           /* index of the first invalid name */
	size_t len;
};

/* kallsyms_markers, which follow at a multiple of 8 (of 4 since 7.0). */
static bool kallsyms_markers_agree(const struct kallsyms *k, size_t end, const size_t *at)
{
	uint32_t n = (k->t.num - 1) / KALLSYMS_STEP + 1;

	for (size_t align = 4; align <= 8; align += 4) {
		const char *p =
			blob_at(k->t.names, (end + align - 1) & -align, (uint64_t)n * 4);
		uint32_t i = 0;

		while (p && i < n && get_le32(p + (size_t)i * 4) == at[i])
			i++;
		if (i == n)
			return true;
	}
	return false;
}

/*
 * Decodes the lengths of all names. If both encodings of long names are plausible,
 * kallsyms_markers, the kernel's index of every 256th name, selects one.
 */
static struct walk kallsyms_walk_names(const struct kallsyms *k, bool long_names,
				       size_t *at)
{
	struct atw_blob names = k->t.names;
	struct walk w = { .ok = true };
	const uint8_t *p = names.data;
	bool begins[256];
	size_t pos = 0;

	for (unsigned i = 0; i < 256; i++)
		begins[i] = kallsyms_begins_name(k, i);
	for (uint32_t i = 0; i < k->t.num; i++) {
		size_t used, len = kallsyms_length(names, pos, long_names, &used);

		if (!len || !begins[p[pos + used]]) {
			w.ok = false;
			w.stop = i;
			w.len = pos;
			return w;
		}
		if (i % KALLSYMS_STEP == 0)
			at[i / KALLSYMS_STEP] = pos;
		w.any_long |= p[pos] & 0x80;
		pos += used + len;
	}
	w.len = pos;
	w.markers = kallsyms_markers_agree(k, pos, at);
	return w;
}

/* A table that descends more than a few times does not hold addresses. */
static bool kallsyms_find_runs(struct kallsyms *k)
{
	uint64_t last = 0;

	k->nruns = 0;
	for (uint32_t i = 0; i < k->t.num; i++) {
		uint64_t a = kallsyms_address(k, i);

		if (!i || a < last) {
			if (k->nruns == KALLSYMS_RUNS)
				return false;
			k->run[k->nruns++] = i;
		}
		last = a;
	}
	k->run[k->nruns] = k->t.num;
	return true;
}

/* The encoding of addresses in which this symbol has the address of the anchor. */
static bool kallsyms_prove(struct kallsyms *k, uint32_t stext, bool *disorder)
{
	static const enum kallsyms_form forms[] = {
		KALLSYMS_RELATIVE, KALLSYMS_PERCPU, KALLSYMS_PLACE, KALLSYMS_ABSOLUTE,
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		k->form = forms[i];
		if ((forms[i] == KALLSYMS_ABSOLUTE) != k->t.absolute ||
		    (forms[i] != KALLSYMS_PLACE && !k->t.absolute && !k->t.has_base) ||
		    kallsyms_address(k, stext) != k->t.anchor)
			continue;
		if (kallsyms_find_runs(k))
			return true;
		*disorder = true;
	}
	return false;
}

static int kallsyms_refuse(const struct kallsyms *k, uint32_t stext, bool disorder,
			   struct atw_err *err)
{
	unsigned long long anchor = k->t.anchor, base = k->t.base, absolute, place;
	const char *p = k->t.offsets.data;

	if (stext == UINT32_MAX)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "kallsyms: none of %u names is _stext", k->t.num);
	absolute = k->t.absolute ? kallsyms_address_as(&k->t, KALLSYMS_ABSOLUTE, stext) : 0;
	place = k->t.offsets_va + 4ull * stext;
	if (disorder)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "kallsyms: _stext is at 0x%llx, but the %u addresses start over more than %d times",
				   anchor, k->t.num, KALLSYMS_RUNS);
	if (k->t.absolute)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "kallsyms_addresses: _stext, symbol %u, is at 0x%llx and not at 0x%llx",
				   stext, absolute, anchor);
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "kallsyms_offsets: _stext, symbol %u, has 0x%x, which with base 0x%llx%s or from its own place at 0x%llx is never 0x%llx",
			   stext, get_le32(p + (size_t)stext * 4), base,
			   k->t.has_base ? "" : " (unknown)", place, anchor);
}

/* Decodes names according to k->long_names; _stext need not be unique. */
static int kallsyms_find_anchor(struct kallsyms *k, struct atw_err *err)
{
	uint32_t first = UINT32_MAX;
	struct kallsyms_batch b = { 0 };
	bool disorder = false;

	kallsyms_batch_add(k, &b, "_stext", 6);
	/* Each check may visit every address, so the number of checks is limited. */
	for (unsigned tries = 0; tries < 8; tries++) {
		kallsyms_batch_run(k, &b);
		if (kallsyms_set_has(&b.left, 0))
			break;
		if (first == UINT32_MAX)
			first = b.index[0];
		if (kallsyms_prove(k, b.index[0], &disorder))
			return ATW_OK;
		b.left.word[0] = 1;      /* the search stopped behind this one */
	}
	return kallsyms_refuse(k, first, disorder, err);
}

static int kallsyms_read_names(struct kallsyms *k, struct atw_err *err)
{
	size_t n = (k->t.num - 1) / KALLSYMS_STEP + 1;
	struct walk with, without;
	bool differ, twice;
	int r;

	k->at = calloc(n, sizeof(*k->at));
	if (!k->at)
		return atw_err_nomem(err);
	with = without = kallsyms_walk_names(k, true, k->at);
	differ = with.any_long || !with.ok;
	if (differ)
		without = kallsyms_walk_names(k, false, k->at);
	if (!with.ok && !without.ok)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "kallsyms_names: name %u of %u, at 0x%zx, is none",
				   with.stop, k->t.num, with.len);
	/*
	 * Prefer the encoding that the markers confirm, then that of kernels since 6.1.
	 */
	k->long_names = with.ok && (with.markers || !without.ok || !without.markers);
	twice = differ && with.ok && without.ok;
	k->names_len =
		differ ? kallsyms_walk_names(k, k->long_names, k->at).len : with.len;
	r = kallsyms_find_anchor(k, err);
	if (r == ATW_OK || !twice)
		return r;
	k->long_names = !k->long_names;
	k->names_len = kallsyms_walk_names(k, k->long_names, k->at).len;
	return kallsyms_find_anchor(k, NULL) == ATW_OK ? ATW_OK : r;
}

int kallsyms_init(struct kallsyms *ret, const struct kallsyms_tables *t,
		  struct atw_err *err)
{
	struct kallsyms k = { .t = *t };
	unsigned each = t->absolute ? 8 : 4;
	int r;

	/* The shortest name is a length and one token. */
	if (!t->num || t->num > t->names.len / 2 || t->num > t->offsets.len / each)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "kallsyms_num_syms: %u symbols do not lie in 0x%zx bytes of names and 0x%zx of addresses",
				   t->num, t->names.len, t->offsets.len);
	r = kallsyms_read_tokens(&k, err) ?: kallsyms_read_names(&k, err);
	if (r < 0)
		kallsyms_deinit(&k);
	else
		*ret = k;
	return r;
}

void kallsyms_deinit(struct kallsyms *k)
{
	free(k->at);
	*k = (struct kallsyms){ 0 };
}
