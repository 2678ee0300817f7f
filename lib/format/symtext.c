// SPDX-License-Identifier: GPL-2.0-or-later
/* symtext.c - index of symbols in text form. */
#include "format/symtext.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/num.h"
#include "base/sorted.h"
#include "format/kallsyms.h"

/* ---- one line ---- */

struct fields {
	struct atw_blob address, name, module;
	char type;
};

static bool symtext_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word of the line, empty at its end; *p is advanced. */
static struct atw_blob symtext_word(const char **p, const char *end)
{
	const char *from;

	while (*p < end && symtext_blank(**p))
		++*p;
	from = *p;
	while (*p < end && !symtext_blank(**p))
		++*p;
	return (struct atw_blob){ from, (size_t)(*p - from) };
}

static bool symtext_split(const char *p, const char *end, struct fields *ret)
{
	struct atw_blob type;
	const char *m;

	ret->address = symtext_word(&p, end);
	type = symtext_word(&p, end);
	ret->type = type.len ? *(const char *)type.data : '\0';
	ret->name = symtext_word(&p, end);
	ret->module = symtext_word(&p, end);
	m = ret->module.data;
	if (ret->module.len) {
		if (ret->module.len < 3 || m[0] != '[' || m[ret->module.len - 1] != ']')
			return false;
		ret->module.data = m + 1;
		ret->module.len -= 2;
	}
	return type.len == 1 && ret->name.len && ret->name.len < SYMTEXT_NAME &&
	       !symtext_word(&p, end).len;
}

/* The line at `off` without its line end; *next is the offset of the next line. */
static size_t symtext_line_end(struct atw_blob text, size_t off, size_t *next)
{
	const char *p = text.data, *nl = memchr(p + off, '\n', text.len - off);
	size_t end = nl ? (size_t)(nl - p) : text.len;

	*next = end + (nl != NULL);
	while (end > off && p[end - 1] == '\r')
		end--;
	return end;
}

/* false: the line is not a symbol. */
static bool symtext_parse(struct atw_blob text, size_t off, size_t end,
			  struct symtext_line *ret)
{
	const char *p = (const char *)text.data + off;
	size_t name;
	struct fields f;

	if (!symtext_split(p, (const char *)text.data + end, &f) || f.address.len > 16 ||
	    !num_hex(f.address.data, f.address.len, &ret->address))
		return false;
	name = (size_t)((const char *)f.name.data - p);
	if (name > UINT16_MAX)
		return false;
	ret->at = (uint32_t)off;
	ret->name = (uint16_t)name;
	ret->len = (uint16_t)f.name.len;
	return true;
}

/* ---- opening ---- */

static int symtext_read_lines(struct symtext *s, struct atw_blob text,
			      struct atw_err *err)
{
	size_t cap = 0, next, number = 1;

	for (size_t off = 0; off < text.len; off = next, number++) {
		size_t end = symtext_line_end(text, off, &next);

		if (end == off)
			continue;
		/* A line has about 40 bytes; array_reserve() doubles. */
		if (!array_reserve((void **)&s->line, &cap, (size_t)s->n + 1,
				   sizeof(*s->line)))
			return atw_err_nomem(err);
		if (symtext_parse(text, off, end, &s->line[s->n])) {
			s->n++;
			continue;
		}
		s->bad++;
		if (!s->first_bad)
			s->first_bad = (uint32_t)number;
		/*
		 * Text that consists of other lines is rejected before its last line is
		 * read.
		 */
		if (s->bad > 1000 && s->bad > s->n)
			break;
	}
	if (!s->n || s->bad > s->n)
		return atw_err_set(err, ATW_E_FORMAT,
				   "is not a list of symbols: line %u is not an address, a type and a name",
				   s->first_bad ? s->first_bad : 1);
	return ATW_OK;
}

static int symtext_by_address(const void *a, const void *b, void *lines)
{
	const struct symtext_line *l = lines;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	return ORDER(l[i].address, l[j].address) ?: ORDER(i, j);
}

/*
 * System.map and the kernel's part of /proc/kallsyms are sorted; modules follow in the
 * order in which they were loaded. Only the part behind the sorted prefix is sorted, and
 * then both are merged backwards.
 */
static int symtext_sort(struct symtext *s, struct atw_err *err)
{
	uint32_t a = 1, b, *rest;

	while (a < s->n && s->line[a - 1].address <= s->line[a].address)
		a++;
	b = s->n - a;
	if (!b)
		return ATW_OK;
	s->order = malloc(s->n * sizeof(*s->order));
	rest = malloc(b * sizeof(*rest));
	if (!s->order || !rest) {
		free(rest);
		return atw_err_nomem(err);
	}
	for (uint32_t i = 0; i < a; i++)
		s->order[i] = i;
	for (uint32_t i = 0; i < b; i++)
		rest[i] = a + i;
	qsort_r(rest, b, sizeof(*rest), symtext_by_address, s->line);
	for (uint32_t to = s->n; b; ) {
		if (a && symtext_by_address(&s->order[a - 1], &rest[b - 1], s->line) > 0)
			s->order[--to] = s->order[--a];
		else
			s->order[--to] = rest[--b];
	}
	free(rest);
	return ATW_OK;
}

static int symtext_check_addresses(const struct symtext *s, struct atw_err *err)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->line[i].address)
			return ATW_OK;
	atw_err_set(err, ATW_E_PERM,
		    "has no addresses: every one of its %u symbols is at 0", s->n);
	atw_err_hint(err, "the kernel hides them in /proc/kallsyms from those without CAP_SYSLOG (sysctl kernel.kptr_restrict): read it as root");
	return ATW_E_PERM;
}

int symtext_init(struct symtext *ret, struct atw_blob text, struct atw_err *err)
{
	struct symtext s = { .text = text };
	const char *nul;
	int r;

	if (text.len > UINT32_MAX)
		return atw_err_set(err, ATW_E_LIMIT,
				   "has 0x%zx bytes, too many for a list of symbols", text.len);
	if (!text.len)
		return atw_err_set(err, ATW_E_FORMAT, "is empty");
	/* Control characters do occur in symbols: RISC-V has labels with 0x02. */
	nul = memchr(text.data, 0, text.len);
	if (nul)
		return atw_err_set(err, ATW_E_FORMAT,
				   "is not a list of symbols: byte 0x%zx is 0, which no text has",
				   (size_t)(nul - (const char *)text.data));
	r = symtext_read_lines(&s, text, err) ?:
	    symtext_check_addresses(&s, err) ?:
	    symtext_sort(&s, err);
	if (r < 0)
		symtext_deinit(&s);
	else
		*ret = s;
	return r;
}

void symtext_deinit(struct symtext *s)
{
	free(s->line);
	free(s->order);
	*s = (struct symtext){ 0 };
}

/* ---- lookups ---- */

static const char *symtext_name_of(const struct symtext *s, const struct symtext_line *l)
{
	return (const char *)s->text.data + l->at + l->name;
}

/* Of a line that has been validated. */
static struct fields symtext_fields_of(const struct symtext *s,
				       const struct symtext_line *l)
{
	size_t next, end = symtext_line_end(s->text, l->at, &next);
	const char *p = s->text.data;
	struct fields f;

	symtext_split(p + l->at, p + end, &f);
	return f;
}

size_t symtext_find_many(const struct symtext *s, const char *const *names,
			 uint64_t *addr, bool *have, size_t n)
{
	uint64_t lens[SYMTEXT_NAME / 64] = { 0 };
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(names[i]);

		have[i] = false;
		if (len < SYMTEXT_NAME)
			lens[len / 64] |= (uint64_t)1 << len % 64;
	}
	for (uint32_t l = 0; l < s->n && found < n; l++) {
		const struct symtext_line *line = &s->line[l];

		if (!(lens[line->len / 64] >> line->len % 64 & 1))
			continue;
		for (size_t i = 0; i < n; i++) {
			if (have[i] ||
			    strncmp(names[i], symtext_name_of(s, line), line->len) ||
			    names[i][line->len])
				continue;
			have[i] = true;
			addr[i] = line->address;
			found++;
		}
	}
	return found;
}

static uint32_t symtext_nth(const struct symtext *s, uint32_t i)
{
	return s->order ? s->order[i] : i;
}

/* The number of symbols at or below this address. */
static uint32_t symtext_up_to(const struct symtext *s, uint64_t address)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->line[symtext_nth(s, mid)].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void symtext_copy(char *to, size_t cap, struct atw_blob from)
{
	size_t n = from.len < cap - 1 ? from.len : cap - 1;

	if (n)
		memcpy(to, from.data, n);
	to[n] = '\0';
}

/* Up to the next symbol; at equal addresses the first one counts, see kallsyms.h. */
static uint64_t symtext_size_of(const struct symtext *s, uint32_t first, uint32_t above)
{
	const struct symtext_line *l = &s->line[symtext_nth(s, first)];
	uint64_t size = kallsyms_size_max(symtext_fields_of(s, l).type);

	if (above < s->n && s->line[symtext_nth(s, above)].address - l->address < size)
		size = s->line[symtext_nth(s, above)].address - l->address;
	return size;
}

static void symtext_describe(const struct symtext *s, const struct symtext_line *l,
			     struct symtext_symbol *ret)
{
	struct fields f = symtext_fields_of(s, l);
	uint32_t first = l->address ? symtext_up_to(s, l->address - 1) : 0;

	ret->address = l->address;
	ret->size = symtext_size_of(s, first, symtext_up_to(s, l->address));
	ret->type = f.type;
	symtext_copy(ret->name, sizeof(ret->name), f.name);
	symtext_copy(ret->module, sizeof(ret->module), f.module);
}

int symtext_near(const struct symtext *s, uint64_t address, struct symtext_symbol *ret)
{
	uint32_t above = symtext_up_to(s, address), first;
	uint64_t a;

	if (!above)
		return ATW_E_MISSING;
	a = s->line[symtext_nth(s, above - 1)].address;
	/* At equal addresses, the first symbol. */
	first = a ? symtext_up_to(s, a - 1) : 0;
	if (address - a >= symtext_size_of(s, first, above))
		return ATW_E_MISSING;
	symtext_describe(s, &s->line[symtext_nth(s, first)], ret);
	return ATW_OK;
}

int symtext_next(const struct symtext *s, uint32_t *it, struct symtext_symbol *ret)
{
	if (*it >= s->n)
		return ATW_END;
	symtext_describe(s, &s->line[(*it)++], ret);
	return ATW_OK;
}
