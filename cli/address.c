/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address.c - parser for ADDRESS arguments: hexadecimal, a symbol, symbol+OFFSET
 * (hexadecimal as well), A-B, A+LENGTH (with K, M, G where A is a symbol).
 */
#include <ctype.h>

#include "listing.h"
#include "base/message.h"

static int address_find_symbol(const struct session *o, const char *name, size_t len,
			       uint64_t *ret, struct atw_err *err)
{
	char text[512];

	if (!o->target->kernel || !len || len >= sizeof(text))
		return ATW_E_MISSING;
	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	return atw_kernel_symbol(o->target->kernel, text, ret, err);
}

/* Parse one address. Any valid hexadecimal number is one, even "add" and "face". */
static bool address_parse_point(const struct session *o, const char *s, size_t len,
				uint64_t *ret)
{
	const char *plus = memchr(s, '+', len);
	uint64_t base, off = 0;

	if (num_hex(s, len, ret))
		return true;
	if (address_find_symbol(o, s, plus ? (size_t)(plus - s) : len, &base, NULL) < 0)
		return false;
	if (plus && !num_hex(plus + 1, len - (size_t)(plus + 1 - s), &off))
		return false;
	*ret = base + off;
	return true;
}

static bool address_is_word(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && s[i] != '+' && (isalnum((unsigned char)s[i]) || strchr("_.$", s[i])))
		i++;
	return i && (i == len || s[i] == '+') && !isdigit((unsigned char)*s);
}

/* A truncated or damaged source may have lost its symbols. */
static bool address_lacks_symbols(const struct session *o)
{
	uint32_t count;

	return o->target->kernel && o->target->defective && !atw_kernel_symbols_from(o->target->kernel, &count, NULL);
}

/* Every kernel has init_task, but lists data only with CONFIG_KALLSYMS_ALL. */
static bool address_lacks_data(const struct session *o)
{
	uint32_t count;
	uint64_t at;

	return o->target->kernel && atw_kernel_symbols_from(o->target->kernel, &count, NULL) &&
	       atw_kernel_symbol(o->target->kernel, "init_task", &at, NULL) == ATW_E_MISSING;
}

static int address_unknown(const struct session *o, const char *text, const char *part,
			   size_t len, struct atw_err *err)
{
	struct atw_err why = { 0 };
	uint64_t at;
	int r;

	if (!len)
		return atw_err_set(err, ATW_E_USAGE, "'%s' lacks an address", text);
	/*
	 * Symbols are looked up in physical memory, which the user asked for and did not
	 * get.
	 */
	if (address_is_word(part, len) && target_fell_back(o->target, err))
		return atw_err_wrap(err, "%s", o->name);
	/* It may be a symbol: without the symbol table that cannot be decided. */
	r = address_find_symbol(o, part, len, &at, &why);
	if (r < 0 && (r != ATW_E_MISSING ||
		      (address_is_word(part, len) && address_lacks_symbols(o))))
		return atw_err_set(err, r,
				   "%s: cannot look up '%.*s': cannot read the kernel's symbols: %s",
				   o->name, (int)(len < 200 ? len : 200), part, why.text);
	atw_err_set(err, ATW_E_USAGE,
		    "'%.*s' is neither a hexadecimal address nor a symbol of %s",
		    (int)(len < 200 ? len : 200), part, o->name);
	if (strchr(text, '/'))
		atw_err_hint(err, "use -o FILE to write to a file");
	else if (strpbrk(text, ",:") || strstr(text, ".."))
		atw_err_hint(err, "type a range as A-B or A+LENGTH, and several addresses as separate words");
	else if (*text == '&' || *text == '*')
		atw_err_hint(err, "type only the name of the symbol: %.64s", text + 1);
	else if (address_is_word(part, len) && address_lacks_data(o))
		atw_err_hint(err, "this kernel lists functions and no data (CONFIG_KALLSYMS_ALL): --kernel System.map adds it");
	if (o->suggest)
		o->suggest(err, text, o->name);
	return ATW_E_USAGE;
}

/* Parse A-B, half open; the end of the address space may be written as 0. */
static int address_from_to(const char *text, uint64_t first, uint64_t end,
			   struct address *ret, struct atw_err *err)
{
	if (first == end)
		return atw_err_set(err, ATW_E_USAGE, "range '%s' is empty", text);
	if (end - 1 < first)
		return atw_err_set(err, ATW_E_USAGE, "range '%s' ends before it starts", text);
	*ret = (struct address){ .first = first, .last = end - 1, .is_range = true };
	return ATW_OK;
}

/* Parse A+LENGTH. */
static int address_from_on(const char *text, uint64_t first, const char *length,
			   struct address *ret, struct atw_err *err)
{
	uint64_t len, last;

	if (!num_size(length, strlen(length), &len))
		return atw_err_set(err, ATW_E_USAGE,
				   "'%s': '%s' is neither a length (4096, 0x1000, 4K, 2M, 1G) nor an offset",
				   text, length);
	if (!len)
		return atw_err_set(err, ATW_E_USAGE, "range '%s' is empty", text);
	if (__builtin_add_overflow(first, len - 1, &last))
		return atw_err_set(err, ATW_E_USAGE,
				   "range '%s' runs past the end of the address space", text);
	*ret = (struct address){ .first = first, .last = last, .is_range = true };
	return ATW_OK;
}

static int address_parse(const struct session *o, const char *text, struct address *ret,
			 struct atw_err *err)
{
	const char *dash = strchr(text, '-'), *plus = strchr(text, '+');
	uint64_t first, end;

	if (dash) {
		if (!address_parse_point(o, text, (size_t)(dash - text), &first))
			return address_unknown(o, text, text, (size_t)(dash - text), err);
		if (!address_parse_point(o, dash + 1, strlen(dash + 1), &end))
			return address_unknown(o, text, dash + 1, strlen(dash + 1), err);
		return address_from_to(text, first, end, ret, err);
	}
	if (address_parse_point(o, text, strlen(text), &first)) {
		*ret = (struct address){ .first = first, .last = first };
		return ATW_OK;
	}
	if (!plus)
		return address_unknown(o, text, text, strlen(text), err);
	if (!address_parse_point(o, text, (size_t)(plus - text), &first))
		return address_unknown(o, text, text, (size_t)(plus - text), err);
	return address_from_on(text, first, plus + 1, ret, err);
}

/* Is any byte of the range within the addresses that the mode can translate? */
static bool address_reachable(const struct atw_paging *pg, const struct address *a)
{
	atw_va low_last = atw_va_canonical(pg, pg->halves == ATW_SIGNED
		? ((uint64_t)1 << (pg->va_bits - 1)) - 1 : UINT64_MAX, false);

	return atw_va_valid(pg, ATW_VA(a->first)) || atw_va_valid(pg, ATW_VA(a->last)) ||
	       (a->first <= low_last.u && a->last > low_last.u);
}

int parse_address(const struct session *o, const char *text, struct address *ret,
		  struct atw_err *err)
{
	const struct atw_paging *pg = &o->subject.space.paging;
	struct address a = { 0 };
	int r = address_parse(o, text, &a, err);

	if (r < 0)
		return r;
	if (pg->nlevels && !address_reachable(pg, &a))
		return atw_err_set(err, ATW_E_USAGE,
				   "%s: not an address of %s, which translates %u bits",
				   text, pg->name, pg->va_bits);
	a.ownerless = !o->subject.given && pg->va_bits > 32 && !(a.last >> 63);
	*ret = a;
	return ATW_OK;
}

int parse_owned(const struct session *o, const char *text, struct address *ret,
		struct atw_err *err)
{
	int r = parse_address(o, text, ret, err);

	if (r == ATW_OK && ret->ownerless) {
		atw_err_set(err, ATW_E_USAGE,
			    "'%s' is a user-space address, and no process is selected", text);
		atw_err_hint(err, "%s", message(tables_hint(o)));
		return ATW_E_USAGE;
	}
	return r;
}

/* ---- several of them ---- */

int address_arg_parse(const struct session *s, const char *text, struct address *ret,
		      struct atw_err *err)
{
	const struct target *t = s->target;
	int r = parse_address(s, text, ret, err);

	if (r < 0 || ret->last <= INT64_MAX || target_has(t, TARGET_TABLES))
		return r;
	/*
	 * A kernel address: report why memory cannot be read, if the user asked for a
	 * method that reads it.
	 */
	if (!s->subject.given && target_fell_back(t, err))
		return atw_err_wrap(err, "%s", s->name);
	r = target_need_kernel(t, err);
	if (r < 0)
		atw_err_wrap(err, "%s: %s", s->name, text);
	return r;
}

int address_args_find(const struct common *c, const struct space_opts *space,
		      struct session *s, char **argv, struct address_arg *arg, int n)
{
	const struct subject own = s->subject;
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE;

	for (int i = 0; i < n; i++)
		if (address_arg_parse(s, argv[i], &arg[i].a, &err) < 0)
			return print_error(&err);
	for (int i = 0; i < n && !status; i++) {
		if (!arg[i].a.ownerless || !target_has(s->target, TARGET_OWNER))
			continue;
		status = select_owner(c, s, space, argv[i], arg[i].a.first, arg[i].a.last,
				      &arg[i].unmapped);
		arg[i].owned = true;
		arg[i].owner = s->subject;
		s->subject = own;
	}
	return status;
}

int address_args_each(struct session *s, const struct address_arg *t, int n,
		      address_arg_fn *fn, void *arg, struct atw_err *err)
{
	const struct subject own = s->subject;
	int r = ATW_OK;

	for (int i = 0; i < n && r == ATW_OK; i++) {
		if (t[i].owned)
			s->subject = t[i].owner;
		r = fn(arg, &t[i], err);
		s->subject = own;
	}
	return r;
}

int address_arg_put_unmapped(const struct address_arg *t, struct atw_output *out,
			     struct atw_err *err)
{
	struct row r = { 0 };

	row_set(&r, C_ADDRESS, t->a.first);
	row_set(&r, C_STATE, STATE_ABSENT);
	return row_put(&r, out, err);
}
