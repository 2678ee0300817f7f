// SPDX-License-Identifier: GPL-2.0-or-later
/* perf_tail.c - what follows the event in a line of perf script; see perf.c. */
#include "trace/perf_line.h"

/* Bits of perf_mem_data_src, include/uapi/linux/perf_event.h. */
enum {
	PERF_OP_LOAD = 1 << 1,
	PERF_OP_STORE = 1 << 2,
	PERF_OP_EXEC = 1 << 4,
};

/* ---- numbers before the symbol ---- */

/*
 * Numbers are right aligned, which leaves more than one blank before them, unless they are
 * long. Exactly one blank precedes a symbol, which can look like a number: "add".
 */
static bool perf_is_aligned(struct atw_blob w)
{
	const char *s = w.data;

	return words_blank(s[-1]) && words_blank(s[-2]);
}

/* Numbers from this word on. */
static unsigned perf_count_numbers(const struct perf_line *l, unsigned first)
{
	unsigned k = 0;

	for (; k < PERF_NUMBERS && first + k < l->n && words_hex(l->word[first + k]); k++)
		if (k && l->word[first + k].len <= PERF_SHORT &&
		    !perf_is_aligned(l->word[first + k]))
			break;
	return k;
}

/*
 * Which fields the numbers are: those that were selected, or by their form. An instruction
 * precedes a symbol, and what precedes the instruction are the address and weights. Without
 * a data source there is no weight, unless a symbol proves it: addresses of instructions can
 * be as short.
 */
static uint32_t perf_expected(const struct trace_parser *p, const struct atw_blob *w,
			      unsigned k, bool symbol, bool source)
{
	static const uint32_t weight[] = {
		TRACE_FIELD_WEIGHT, TRACE_FIELD_INS_LAT, TRACE_FIELD_RETIRE_LAT,
	};
	uint32_t address = source ? 0 : TRACE_FIELD_ADDR, ret = address | TRACE_FIELD_IP;
	unsigned weights = 0, before = source ? 0 : 1;

	if (p->fields)
		return p->fields & (TRACE_FIELD_IP | weight[0] | weight[1] | weight[2] | address |
				    (symbol ? 0 : TRACE_FIELD_PHYS_ADDR));
	if (!source && k == 1)
		return symbol ? TRACE_FIELD_IP : TRACE_FIELD_ADDR;
	if (symbol)
		weights = k > before + 1 ? k - before - 1 : 0;
	else if (source)
		while (weights < k && w[weights].len <= PERF_WEIGHT && words_digits(w[weights]))
			weights++;
	for (unsigned i = 0; i < weights && i < 3; i++)
		ret |= weight[i];
	return symbol ? ret : ret | TRACE_FIELD_PHYS_ADDR;
}

static int perf_physical(const struct trace_parser *p, struct atw_blob w,
			 struct trace_ref *ret, struct atw_err *err)
{
	int r = words_to_hex(p, w, "a physical address", &ret->physical, err);

	/* perf_virt_to_phys() returns 0 if it cannot find the page. */
	if (r == ATW_OK && ret->physical)
		ret->has |= TRACE_HAS_PHYSICAL;
	return r;
}

static int perf_numbers(const struct trace_parser *p, const struct atw_blob *w, unsigned k,
			bool symbol, bool source, struct trace_ref *ret,
			struct atw_err *err)
{
	uint32_t expected = perf_expected(p, w, k, symbol, source);
	int r = ATW_OK;

	for (unsigned i = 0; r == ATW_OK && i < k && expected; i++) {
		uint32_t field = expected & -expected;

		expected &= ~field;
		switch (field) {
		case TRACE_FIELD_ADDR:
			ret->has |= TRACE_HAS_ADDRESS;
			r = words_to_hex(p, w[i], "an address", &ret->address, err);
			break;
		case TRACE_FIELD_WEIGHT:
			ret->has |= TRACE_HAS_WEIGHT;
			if (!num_dec(w[i].data, w[i].len, &ret->weight))
				r = words_bad(p, w[i], "a weight", err);
			break;
		case TRACE_FIELD_IP:
			ret->has |= TRACE_HAS_IP;
			r = words_to_hex(p, w[i], "an address", &ret->ip, err);
			break;
		case TRACE_FIELD_PHYS_ADDR:
			r = perf_physical(p, w[i], ret, err);
			break;
		}
	}
	return r;
}

/* ---- behind symbol and object ---- */

static bool perf_page_size(struct atw_blob w, uint64_t *ret)
{
	char unit = perf_last(w);

	*ret = 0;
	if (words_is(w, "N/A"))
		return true;
	if (w.len < 2 || !strchr("BKMGT", unit))
		return false;
	w.len -= unit == 'B';
	return words_digits((struct atw_blob){ w.data, w.len - (unit != 'B') }) &&
	       num_size(w.data, w.len, ret);
}

/*
 * Parse the page sizes and the physical address at the end. Words from `first` may belong
 * to it; returns the word behind what is left of them.
 */
static unsigned perf_end(const struct perf_line *l, unsigned first, uint32_t fields,
			 struct atw_blob *physical, struct trace_ref *ret)
{
	unsigned n = l->n, sizes = 0;
	uint64_t size, data = 0;

	while (n > first && sizes < 2 && perf_page_size(l->word[n - 1], &size)) {
		n--;
		sizes++;
		data = size;
	}
	/* Of one page size it is that of the data, unless only the other one was selected. */
	if (sizes && data && !(sizes == 1 && fields & TRACE_FIELD_CODE_PAGE_SIZE &&
			       !(fields & TRACE_FIELD_DATA_PAGE_SIZE))) {
		ret->has |= TRACE_HAS_PAGE_SIZE;
		ret->page_size = data;
	}
	*physical = (struct atw_blob){ 0 };
	if (n > first && words_hex(l->word[n - 1]) &&
	    (!fields || fields & TRACE_FIELD_PHYS_ADDR) && perf_is_aligned(l->word[n - 1]))
		*physical = l->word[--n];
	return n;
}

/* Symbols of words [from, to). */
static struct atw_blob perf_symbol(const struct perf_line *l, unsigned from, unsigned to)
{
	const char *s = l->word[from].data, *end = s;

	for (; from < to; from++) {
		struct atw_blob w = l->word[from];

		/* The object is in parentheses, as parameters of functions are. */
		if (words_begins(w, "(") && end > s)
			break;
		end = (const char *)w.data + w.len;
	}
	return (struct atw_blob){ s, (size_t)(end - s) };
}

/* ---- all of it ---- */

/*
 * The data source: a number and its bits in words, which are sections that begin with '|'.
 * Returns the word behind it, or 0: there is none. *at becomes the word with the number.
 */
static unsigned perf_find_source(const struct perf_line *l, unsigned first, unsigned *at)
{
	unsigned last = 0;

	for (unsigned i = first; i < l->n; i++) {
		if (!last && i > first && words_is(l->word[i], "|OP"))
			*at = i - 1;
		/* Before version 6.9 a name of one section could replace those before it. */
		else if (!last && words_find(l->word[i], "|SNP"))
			*at = first + (perf_count_numbers(l, first) == 2);
		else if (!last)
			continue;
		if (!last || words_find(l->word[i], "|LVL") || words_find(l->word[i], "|SNP") ||
		    words_find(l->word[i], "|TLB") || words_find(l->word[i], "|LCK") ||
		    words_find(l->word[i], "|BLK") || words_find(l->word[i], "|AFF"))
			last = i;
	}
	if (!last)
		return 0;
	/* Its last words are no numbers: "No", "N/A", "Data". */
	for (last++; last < l->n && !words_hex(l->word[last]); last++)
		;
	return last;
}

static int perf_source(const struct trace_parser *p, struct atw_blob w,
		       struct trace_ref *ret, struct atw_err *err)
{
	int r = words_to_hex(p, w, "a data source", &ret->source, err);

	if (r < 0)
		return r;
	ret->has |= TRACE_HAS_SOURCE;
	if (ret->source & PERF_OP_LOAD)
		ret->kind = ret->source & PERF_OP_STORE ? TRACE_KIND_BOTH : TRACE_KIND_READ;
	else if (ret->source & PERF_OP_STORE)
		ret->kind = TRACE_KIND_WRITE;
	else if (ret->source & PERF_OP_EXEC)
		ret->kind = TRACE_KIND_FETCH;
	return ATW_OK;
}

/*
 * Of page faults, perf prints a symbol of the data, too: address, symbol, object,
 * instruction, symbol, object. Returns the word with the instruction, or 0.
 */
static unsigned perf_second_number(const struct trace_parser *p, const struct perf_line *l,
				   unsigned first)
{
	if (!words_find(l->event, "fault") ||
	    (p->fields && (p->fields & (TRACE_FIELD_ADDR | TRACE_FIELD_IP)) !=
				  (TRACE_FIELD_ADDR | TRACE_FIELD_IP)))
		return 0;
	/* The physical address is the last one, behind the object of the symbol. */
	for (unsigned i = first + 2; i + 1 < l->n; i++)
		if (words_hex(l->word[i]) && !words_hex(l->word[i + 1]) &&
		    (l->word[i].len > PERF_SHORT || perf_is_aligned(l->word[i])))
			return i;
	return 0;
}

int perf_tail(const struct trace_parser *p, const struct perf_line *l, unsigned first,
	      struct trace_ref *ret, struct atw_err *err)
{
	unsigned k = perf_count_numbers(l, first), at = 0, behind, symbol, end, second = 0;
	struct atw_blob physical;
	bool source;
	int r = ATW_OK;

	behind = perf_find_source(l, first, &at);
	source = behind != 0;
	if (source) {
		if (at > first && words_hex(l->word[first])) {
			ret->has |= TRACE_HAS_ADDRESS;
			r = words_to_hex(p, l->word[first], "an address", &ret->address, err);
		}
		if (r == ATW_OK)
			r = perf_source(p, l->word[at], ret, err);
		first = behind;
		k = perf_count_numbers(l, first);
	} else if (k == 1 && first + 1 < l->n) {
		second = perf_second_number(p, l, first);
	}
	if (r < 0)
		return r;
	symbol = first + k;
	end = perf_end(l, symbol + (symbol < l->n && !second), p->fields, &physical, ret);
	/* Numbers without any symbol may be followed by page sizes. */
	if (symbol < l->n && perf_page_size(l->word[symbol], &(uint64_t){ 0 }))
		end = perf_end(l, symbol, p->fields, &physical, ret);
	if (second) {
		ret->has |= TRACE_HAS_ADDRESS | TRACE_HAS_IP;
		r = words_to_hex(p, l->word[first], "an address", &ret->address, err);
		if (r == ATW_OK)
			r = words_to_hex(p, l->word[second], "an address", &ret->ip, err);
		symbol = first + 1;
		end = second;
	} else if (k) {
		r = perf_numbers(p, &l->word[first], k, symbol < end, source, ret, err);
	}
	if (r == ATW_OK && symbol < end)
		ret->symbol = perf_symbol(l, symbol, end);
	if (r == ATW_OK && physical.len)
		r = perf_physical(p, physical, ret, err);
	return r;
}
