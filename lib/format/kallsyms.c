// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum { BATCH = 64 };             /* names looked for at the same time */

/* ---- names ---- */

/* One name as it is packed: tokens, and where the next name begins. */
struct name {
	const uint8_t *token;
	size_t n, next;
};

static bool name_at(const struct kallsyms *k, size_t pos, struct name *ret)
{
	size_t used, n = kallsyms_length(k->t.names, pos, k->long_names, &used);

	if (!n)
		return false;
	ret->token = (const uint8_t *)k->t.names.data + pos + used;
	ret->n = n;
	ret->next = pos + used + n;
	return true;
}

/* The first character that the tokens stand for is not the name's: the type. */
static char type_of(const struct kallsyms *k, const struct name *nm)
{
	return k->token[nm->token[0]].text[0];
}

/* Cut where the buffer ends; no kernel writes names that long. */
static void unpack(const struct kallsyms *k, const struct name *nm,
		   char buf[KALLSYMS_NAME])
{
	size_t skip = 1, have = 0;

	for (size_t i = 0; i < nm->n && have < KALLSYMS_NAME - 1; i++, skip = 0) {
		size_t len = k->token[nm->token[i]].len - skip;

		if (len > KALLSYMS_NAME - 1 - have)
			len = KALLSYMS_NAME - 1 - have;
		memcpy(buf + have, k->token[nm->token[i]].text + skip, len);
		have += len;
	}
	buf[have] = '\0';
}

static bool is_named(const struct kallsyms *k, const struct name *nm,
		     const char *want, size_t len)
{
	size_t skip = 1, seen = 0;

	for (size_t i = 0; i < nm->n; i++, skip = 0) {
		const char *text = k->token[nm->token[i]].text + skip;
		size_t n = k->token[nm->token[i]].len - skip;

		if (n > len - seen || memcmp(text, want + seen, n))
			return false;
		seen += n;
	}
	return seen == len;
}

/* ---- addresses ---- */

static uint64_t address_as(const struct kallsyms_tables *t, enum kallsyms_form form,
			   uint32_t i)
{
	const char *p = t->offsets.data;
	uint64_t off;

	if (form == KALLSYMS_ABSOLUTE)
		return get_le64(p + (size_t)i * 8);
	p += (size_t)i * 4;
	off = (uint64_t)(int64_t)(int32_t)get_le32(p);
	switch (form) {
	case KALLSYMS_PERCPU:
		return (int64_t)off >= 0 ? off : t->base - 1 - off;
	case KALLSYMS_PLACE:
		return t->offsets_va + (uint64_t)i * 4 + off;
	default:
		return t->base + get_le32(p);
	}
}

static uint64_t address_of(const struct kallsyms *k, uint32_t i)
{
	return address_as(&k->t, k->form, i);
}

/* The first symbol from `lo` up to before `hi`, one run's, that lies above. */
static uint32_t first_above(const struct kallsyms *k, uint32_t lo, uint32_t hi,
			    uint64_t address)
{
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (address_of(k, mid) <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The next address above this one, in any run; 0 when it is the last. */
static uint64_t next_address(const struct kallsyms *k, uint64_t address)
{
	uint64_t best = 0;

	for (uint32_t r = 0; r < k->nruns; r++) {
		uint32_t i = first_above(k, k->run[r], k->run[r + 1], address);

		if (i < k->run[r + 1] && (!best || address_of(k, i) < best))
			best = address_of(k, i);
	}
	return best;
}

uint64_t kallsyms_size_max(char type)
{
	return type && strchr("bBdDgGrRsSvV", type) ? 1 << 20 : 1 << 16;
}

/* ---- looking for names ---- */

struct batch {
	size_t n;
	const char *name[BATCH];
	size_t len[BATCH];
	uint64_t begins[256];    /* which names a symbol's first token can begin */
	uint64_t follows[256];   /* and its second, when the first is a type alone */
	uint64_t left;           /* which are still to be found */
	uint32_t index[BATCH];
	/* Where the search goes on. */
	uint32_t at;
	size_t pos;
};

static void batch_add(const struct kallsyms *k, struct batch *b, const char *name,
		      size_t len)
{
	uint64_t bit = (uint64_t)1 << b->n;

	for (unsigned i = 0; i < 256; i++) {
		size_t n = k->token[i].len;

		if (n && n - 1 <= len && !memcmp(k->token[i].text + 1, name, n - 1))
			b->begins[i] |= bit;
		if (!n || (n <= len && !memcmp(k->token[i].text, name, n)))
			b->follows[i] |= bit;
	}
	b->name[b->n] = name;
	b->len[b->n++] = len;
	b->left |= bit;
}

/*
 * Until nothing is left to be found, or no symbol is left. Most symbols are
 * done with after their first token, without a look at what it stands for.
 */
static void batch_run(const struct kallsyms *k, struct batch *b)
{
	struct name nm;

	while (b->left && b->at < k->t.num && name_at(k, b->pos, &nm)) {
		uint64_t may = b->begins[nm.token[0]] & b->left;

		if (may && nm.n > 1 && k->token[nm.token[0]].len == 1)
			may &= b->follows[nm.token[1]];
		for (; may; may &= may - 1) {
			unsigned i = (unsigned)__builtin_ctzll(may);

			if (!is_named(k, &nm, b->name[i], b->len[i]))
				continue;
			b->index[i] = b->at;
			b->left &= ~((uint64_t)1 << i);
		}
		b->pos = nm.next;
		b->at++;
	}
}

int kallsyms_find(const struct kallsyms *k, const char *name, size_t len,
		  uint64_t *ret)
{
	struct batch b = { 0 };

	batch_add(k, &b, name, len);
	batch_run(k, &b);
	if (b.left)
		return ATW_E_MISSING;
	*ret = address_of(k, b.index[0]);
	return ATW_OK;
}

size_t kallsyms_find_many(const struct kallsyms *k, const char *const *names,
			  uint64_t *addr, bool *have, size_t n)
{
	size_t found = 0;

	for (size_t from = 0; from < n; from += BATCH) {
		struct batch b = { 0 };

		while (b.n < BATCH && from + b.n < n)
			batch_add(k, &b, names[from + b.n], strlen(names[from + b.n]));
		batch_run(k, &b);
		for (size_t i = 0; i < b.n; i++) {
			have[from + i] = !(b.left >> i & 1);
			if (!have[from + i])
				continue;
			addr[from + i] = address_of(k, b.index[i]);
			found++;
		}
	}
	return found;
}

/* ---- looking for addresses ---- */

/* `above`: where the next one lies, or 0. */
static uint64_t size_of(const struct kallsyms *k, const struct name *nm,
			uint64_t address, uint64_t above)
{
	uint64_t most = kallsyms_size_max(type_of(k, nm));

	return above && above - address < most ? above - address : most;
}

int kallsyms_near(const struct kallsyms *k, uint64_t address,
		  struct kallsyms_symbol *ret)
{
	uint64_t best = 0, size;
	uint32_t at = 0;
	bool found = false;
	struct name nm;
	size_t pos;

	for (uint32_t r = 0; r < k->nruns; r++) {
		uint32_t lo = k->run[r], i = first_above(k, lo, k->run[r + 1], address);

		if (i == lo)
			continue;
		i--;
		if (found && address_of(k, i) <= best)
			continue;
		found = true;
		best = address_of(k, i);
		/* Of names for the same place, the first one. */
		at = best ? first_above(k, lo, i, best - 1) : lo;
	}
	if (!found)
		return ATW_E_MISSING;
	pos = k->at[at / KALLSYMS_STEP];
	for (uint32_t i = at % KALLSYMS_STEP; name_at(k, pos, &nm) && i; i--)
		pos = nm.next;
	if (!name_at(k, pos, &nm))
		return ATW_E_MISSING;
	size = size_of(k, &nm, best, next_address(k, address));
	if (address - best >= size)
		return ATW_E_MISSING;
	ret->address = best;
	ret->size = size;
	ret->type = type_of(k, &nm);
	unpack(k, &nm, ret->name);
	return ATW_OK;
}

int kallsyms_next(const struct kallsyms *k, struct kallsyms_iter *it,
		  struct kallsyms_symbol *ret)
{
	uint64_t a;
	struct name nm;

	if (it->index >= k->t.num || !name_at(k, it->pos, &nm))
		return ATW_END;
	a = address_of(k, it->index);
	if (!it->index || a != address_of(k, it->index - 1))
		it->size = size_of(k, &nm, a, next_address(k, a));
	ret->address = a;
	ret->size = it->size;
	ret->type = type_of(k, &nm);
	unpack(k, &nm, ret->name);
	it->pos = nm.next;
	it->index++;
	return ATW_OK;
}

/* ---- opening ---- */

static int read_tokens(struct kallsyms *k, struct atw_err *err)
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
	}
	return ATW_OK;
}

/* A letter for a symbol's type must come first, in each name. */
static bool begins_name(const struct kallsyms *k, unsigned token)
{
	char c = k->token[token].len ? k->token[token].text[0] : '\0';

	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '?';
}

struct walk {
	bool ok, any_long;       /* any_long: some length is 128 or more */
	bool markers;            /* and the kernel's own index says the same */
	uint32_t stop;           /* the name that is none */
	size_t len;
};

/* kallsyms_markers, which follow at a multiple of 8 (of 4 since 7.0). */
static bool markers_agree(const struct kallsyms *k, size_t end, const size_t *at)
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
 * All names by their lengths. The kernel's own index of every 256th one tells
 * which of two readings is the right one when both come to an end.
 */
static struct walk walk_names(const struct kallsyms *k, bool long_names, size_t *at)
{
	struct atw_blob names = k->t.names;
	struct walk w = { .ok = true };
	const uint8_t *p = names.data;
	bool begins[256];
	size_t pos = 0;

	for (unsigned i = 0; i < 256; i++)
		begins[i] = begins_name(k, i);
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
	w.markers = markers_agree(k, pos, at);
	return w;
}

/* Addresses that start over more often than a few times are not addresses. */
static bool find_runs(struct kallsyms *k)
{
	uint64_t last = 0;

	k->nruns = 0;
	for (uint32_t i = 0; i < k->t.num; i++) {
		uint64_t a = address_of(k, i);

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

/* The way to read addresses that puts this symbol at the anchor. */
static bool prove(struct kallsyms *k, uint32_t stext, bool *disorder)
{
	static const enum kallsyms_form forms[] = {
		KALLSYMS_RELATIVE, KALLSYMS_PERCPU, KALLSYMS_PLACE, KALLSYMS_ABSOLUTE,
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		k->form = forms[i];
		if ((forms[i] == KALLSYMS_ABSOLUTE) != k->t.absolute ||
		    (forms[i] != KALLSYMS_PLACE && !k->t.absolute && !k->t.has_base) ||
		    address_of(k, stext) != k->t.anchor)
			continue;
		if (find_runs(k))
			return true;
		*disorder = true;
	}
	return false;
}

static int refuse(const struct kallsyms *k, uint32_t stext, bool disorder,
		  struct atw_err *err)
{
	unsigned long long anchor = k->t.anchor, base = k->t.base, absolute, place;
	const char *p = k->t.offsets.data;

	if (stext == UINT32_MAX)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "kallsyms: none of %u names is _stext", k->t.num);
	absolute = k->t.absolute ? address_as(&k->t, KALLSYMS_ABSOLUTE, stext) : 0;
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

/* Reads names as k->long_names says; _stext need not be unique. */
static int find_anchor(struct kallsyms *k, struct atw_err *err)
{
	uint32_t first = UINT32_MAX;
	struct batch b = { 0 };
	bool disorder = false;

	batch_add(k, &b, "_stext", 6);
	/* Each proof may cost a look at every address: a few, then it is enough. */
	for (unsigned tries = 0; tries < 8; tries++) {
		batch_run(k, &b);
		if (b.left)
			break;
		if (first == UINT32_MAX)
			first = b.index[0];
		if (prove(k, b.index[0], &disorder))
			return ATW_OK;
		b.left = 1;              /* it stopped behind this one */
	}
	return refuse(k, first, disorder, err);
}

static int read_names(struct kallsyms *k, struct atw_err *err)
{
	size_t n = (k->t.num - 1) / KALLSYMS_STEP + 1;
	struct walk with, without;
	bool differ, twice;
	int r;

	k->at = calloc(n, sizeof(*k->at));
	if (!k->at)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	with = without = walk_names(k, true, k->at);
	differ = with.any_long || !with.ok;
	if (differ)
		without = walk_names(k, false, k->at);
	if (!with.ok && !without.ok)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "kallsyms_names: name %u of %u, at 0x%zx, is none",
				   with.stop, k->t.num, with.len);
	/* What the markers say first, then how kernels have done it since 6.1. */
	k->long_names = with.ok && (with.markers || !without.ok || !without.markers);
	twice = differ && with.ok && without.ok;
	k->names_len = differ ? walk_names(k, k->long_names, k->at).len : with.len;
	r = find_anchor(k, err);
	if (r == ATW_OK || !twice)
		return r;
	k->long_names = !k->long_names;
	k->names_len = walk_names(k, k->long_names, k->at).len;
	return find_anchor(k, NULL) == ATW_OK ? ATW_OK : r;
}

int kallsyms_init(struct kallsyms *ret, const struct kallsyms_tables *t,
		  struct atw_err *err)
{
	struct kallsyms k = { .t = *t };
	unsigned each = t->absolute ? 8 : 4;
	int r;

	/* The shortest name is a length and a token. */
	if (!t->num || t->num > t->names.len / 2 || t->num > t->offsets.len / each)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "kallsyms_num_syms: %u symbols do not lie in 0x%zx bytes of names and 0x%zx of addresses",
				   t->num, t->names.len, t->offsets.len);
	r = read_tokens(&k, err);
	if (r == ATW_OK)
		r = read_names(&k, err);
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
