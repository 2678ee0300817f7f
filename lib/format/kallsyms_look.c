// SPDX-License-Identifier: GPL-2.0-or-later
/* kallsyms_look.c - lookup of symbols by name and by address. */
#include "format/kallsyms_look.h"

#include "base/cleanup.h"

/* ---- names ---- */

/* The compressed name: its tokens, and the offset of the next name. */
struct name {
	const uint8_t *token;
	size_t n, next;
};

static bool look_name_at(const struct kallsyms *k, size_t pos, struct name *ret)
{
	size_t used, n = kallsyms_length(k->t.names, pos, k->long_names, &used);

	if (!n)
		return false;
	ret->token = (const uint8_t *)k->t.names.data + pos + used;
	ret->n = n;
	ret->next = pos + used + n;
	return true;
}

/* The first character of the expanded tokens is the type and not part of the name. */
static char look_type_of(const struct kallsyms *k, const struct name *nm)
{
	return k->token[nm->token[0]].text[0];
}

/* Truncated to the buffer; kernels have no names of that length. */
static void look_unpack(const struct kallsyms *k, const struct name *nm,
			char buf[KALLSYMS_NAME])
{
	enum { SHORT = 8 };
	size_t skip = 1, have = 0;

	for (size_t i = 0; i < nm->n && have < KALLSYMS_NAME - 1; i++, skip = 0) {
		const struct kallsyms_token *t = &k->token[nm->token[i]];
		size_t len = t->len - skip;

		if (len > KALLSYMS_NAME - 1 - have)
			len = KALLSYMS_NAME - 1 - have;
		if (len <= SHORT && have <= KALLSYMS_NAME - SHORT)
			memcpy(buf + have, t->head + skip, SHORT);
		else
			memcpy(buf + have, t->text + skip, len);
		have += len;
	}
	buf[have] = '\0';
}

static bool look_is_named(const struct kallsyms *k, const struct name *nm,
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

/* The first symbol of a run, from `lo` to before `hi`, with a higher address. */
static uint32_t look_first_above(const struct kallsyms *k, uint32_t lo,
				 uint32_t hi, uint64_t address)
{
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (kallsyms_address(k, mid) <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The same from symbol `i` on, which is of that run and has this address. */
static uint32_t look_first_behind(const struct kallsyms *k, uint32_t i, uint32_t end,
				  uint64_t address)
{
	while (i < end && kallsyms_address(k, i) <= address)
		i++;
	return i;
}

/* The next higher address in any run; 0 if there is none. `it`: at a symbol that has it, or NULL. */
static uint64_t look_next_address(const struct kallsyms *k, const struct kallsyms_iter *it,
				  uint64_t address)
{
	uint64_t best = 0;

	for (uint32_t r = 0; r < k->nruns; r++) {
		uint32_t end = k->run[r + 1];
		uint32_t i = it && it->run == r ? look_first_behind(k, it->index, end, address)
						: look_first_above(k, k->run[r], end, address);

		if (i < end && (!best || kallsyms_address(k, i) < best))
			best = kallsyms_address(k, i);
	}
	return best;
}

uint64_t kallsyms_size_max(char type)
{
	return type && strchr("bBdDgGrRsSvV", type) ? 1 << 20 : 1 << 16;
}

/* ---- looking for names ---- */

void kallsyms_batch_add(const struct kallsyms *k, struct kallsyms_batch *b, const char *name,
			size_t len)
{
	const size_t w = b->n / 64;
	const uint64_t bit = (uint64_t)1 << b->n % 64;

	for (unsigned i = 0; i < 256; i++) {
		const char *text = k->token[i].text;
		size_t n = k->token[i].len;

		if (n && n - 1 <= len && !memcmp(text + 1, name, n - 1))
			b->begins[i].word[w] |= bit;
		if (n <= len && !memcmp(text, name + (len - n), n))
			b->ends[i].word[w] |= bit;
	}
	b->sized[MIN(len, KALLSYMS_NAME - 1u)].word[w] |= bit;
	b->name[b->n] = name;
	b->len[b->n++] = len;
	b->left.word[w] |= bit;
}

/* In bytes, when expanded. */
static size_t look_length(const struct kallsyms *k, const struct name *nm)
{
	size_t len = 0;

	for (size_t i = 0; i < nm->n; i++)
		len += k->token[nm->token[i]].len;
	return len ? len - 1 : 0;
}

/* A symbol that begins and ends as some of the names do, and is as long. */
static void look_compare(const struct kallsyms *k, struct kallsyms_batch *b,
			 const struct name *nm, size_t word, uint64_t may)
{
	for (; may; may &= may - 1) {
		size_t i = word * 64 + (unsigned)__builtin_ctzll(may);

		if (!look_is_named(k, nm, b->name[i], b->len[i]))
			continue;
		b->index[i] = b->at;
		b->left.word[word] &= ~(may & -may);
	}
}

static uint64_t look_left(const struct kallsyms_batch *b)
{
	uint64_t left = 0;

	for (size_t w = 0; w < KALLSYMS_WORDS; w++)
		left |= b->left.word[w];
	return left;
}

/*
 * Nearly all symbols are skipped after two of their tokens, and nearly all others by their
 * length, without expanding them.
 */
void kallsyms_batch_run(const struct kallsyms *k, struct kallsyms_batch *b)
{
	struct name nm;

	while (look_left(b) && b->at < k->t.num && look_name_at(k, b->pos, &nm)) {
		const struct kallsyms_set *begins = &b->begins[nm.token[0]];
		const struct kallsyms_set *ends = &b->ends[nm.token[nm.n - 1]];
		const struct kallsyms_set *sized = NULL;

		for (size_t w = 0; w < KALLSYMS_WORDS; w++) {
			uint64_t may = begins->word[w] & b->left.word[w];

			if (nm.n > 1)
				may &= ends->word[w];
			if (!may)
				continue;
			if (!sized) {
				size_t len = look_length(k, &nm);

				sized = &b->sized[MIN(len, KALLSYMS_NAME - 1u)];
			}
			if (may & sized->word[w])
				look_compare(k, b, &nm, w, may & sized->word[w]);
		}
		b->pos = nm.next;
		b->at++;
	}
}

int kallsyms_find(const struct kallsyms *k, const char *name, size_t len, uint64_t *ret)
{
	struct kallsyms_batch b = { 0 };

	kallsyms_batch_add(k, &b, name, len);
	kallsyms_batch_run(k, &b);
	if (look_left(&b))
		return ATW_E_MISSING;
	*ret = kallsyms_address(k, b.index[0]);
	return ATW_OK;
}

size_t kallsyms_find_many(const struct kallsyms *k, const char *const *names,
			  uint64_t *addr, bool *have, size_t n)
{
	size_t found = 0;

	for (size_t from = 0; from < n; from += KALLSYMS_BATCH) {
		struct kallsyms_batch b = { 0 };

		while (b.n < KALLSYMS_BATCH && from + b.n < n)
			kallsyms_batch_add(k, &b, names[from + b.n], strlen(names[from + b.n]));
		kallsyms_batch_run(k, &b);
		for (size_t i = 0; i < b.n; i++) {
			have[from + i] = !kallsyms_set_has(&b.left, i);
			if (!have[from + i])
				continue;
			addr[from + i] = kallsyms_address(k, b.index[i]);
			found++;
		}
	}
	return found;
}

/* ---- looking for addresses ---- */

/* `above`: the next higher address, or 0. */
static uint64_t look_size_of(const struct kallsyms *k, const struct name *nm,
			     uint64_t address, uint64_t above)
{
	uint64_t most = kallsyms_size_max(look_type_of(k, nm));

	return above && above - address < most ? above - address : most;
}

int kallsyms_near(const struct kallsyms *k, uint64_t address, struct kallsyms_symbol *ret)
{
	uint64_t best = 0, size;
	uint32_t at = 0;
	bool found = false;
	struct name nm;
	size_t pos;

	for (uint32_t r = 0; r < k->nruns; r++) {
		uint32_t lo = k->run[r],
			 i = look_first_above(k, lo, k->run[r + 1], address);

		if (i == lo)
			continue;
		i--;
		if (found && kallsyms_address(k, i) <= best)
			continue;
		found = true;
		best = kallsyms_address(k, i);
		/* At equal addresses, the first symbol. */
		at = best ? look_first_above(k, lo, i, best - 1) : lo;
	}
	if (!found)
		return ATW_E_MISSING;
	pos = k->at[at / KALLSYMS_STEP];
	for (uint32_t i = at % KALLSYMS_STEP; look_name_at(k, pos, &nm) && i; i--)
		pos = nm.next;
	if (!look_name_at(k, pos, &nm))
		return ATW_E_MISSING;
	size = look_size_of(k, &nm, best, look_next_address(k, NULL, address));
	if (address - best >= size)
		return ATW_E_MISSING;
	ret->address = best;
	ret->size = size;
	ret->type = look_type_of(k, &nm);
	look_unpack(k, &nm, ret->name);
	return ATW_OK;
}

int kallsyms_next(const struct kallsyms *k, struct kallsyms_iter *it,
		  struct kallsyms_symbol *ret)
{
	uint64_t a;
	struct name nm;

	if (it->index >= k->t.num || !look_name_at(k, it->pos, &nm))
		return ATW_END;
	while (it->index >= k->run[it->run + 1])
		it->run++;
	a = kallsyms_address(k, it->index);
	if (!it->index || a != kallsyms_address(k, it->index - 1))
		it->size = look_size_of(k, &nm, a, look_next_address(k, it, a));
	ret->address = a;
	ret->size = it->size;
	ret->type = look_type_of(k, &nm);
	look_unpack(k, &nm, ret->name);
	it->pos = nm.next;
	it->index++;
	return ATW_OK;
}
