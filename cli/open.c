/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.c - from what the user typed to a source, a kernel and addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atwalk.h"
#include "base/num.h"

static void trace(void *arg, atw_pa pa, size_t len, ssize_t result)
{
	(void)arg;
	fprintf(stderr, "atwalk: read 0x%" PRIx64 "+%zu: %zd\n", pa.u, len, result);
}

/* The kernel's release decides what absent words mean; two places have it. */
static void find_release(struct opened *o)
{
	const struct atw_vmcoreinfo *vi = o->kernel ?
		atw_kernel_vmcoreinfo(o->kernel) : NULL;
	struct atw_blob b;

	if ((vi && atw_vmcoreinfo_text(vi, "OSRELEASE", &b) == ATW_OK) ||
	    atw_fact(o->source, "release", &b) == ATW_OK)
		snprintf(o->release, sizeof(o->release), "%.*s",
			 (int)(b.len < 95 ? b.len : 95), (const char *)b.data);
}

static int open_kernel(const struct space_opts *space, struct opened *o,
		       struct atw_err *err)
{
	char ext[128];
	struct atw_kernel_opts ko = {
		.paging = space->paging, .has_root = space->root.given,
		.root = ATW_PA(space->root.u), .ext = space->pte_ext, .cpu = -1,
	};
	int r;

	if (space->cpu.given) {
		if (space->cpu.u > INT32_MAX)
			return atw_err_set(err, ATW_E_USAGE,
					   "--cpu: there is no CPU %" PRIu64, space->cpu.u);
		ko.cpu = (int)space->cpu.u;
	}
	if (space->cbit.given) {
		snprintf(ext, sizeof(ext), "%.90s%scbit=%" PRIu64,
			 ko.ext ? ko.ext : "", ko.ext ? "," : "", space->cbit.u);
		ko.ext = ext;
	}
	r = atw_kernel_open(o->source, &ko, &o->kernel, err);
	if (r < 0)
		return r;
	o->user_space = space->cpu.given || space->root.given;
	find_release(o);
	o->soft = atw_soft_abi_for(&atw_kernel_space(o->kernel)->paging,
				   o->release[0] ? o->release : NULL);
	return ATW_OK;
}

/* What a container says is wrong with itself bears on every answer. */
static void remark_defects(const struct common *c, const struct opened *o)
{
	static const char *const keys[] = { "truncated", "damaged" };
	struct atw_blob text;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (atw_fact(o->source, keys[i], &text) == ATW_OK)
			remark(c, "%s: %.*s", o->name, (int)text.len,
			       (const char *)text.data);
}

int attach_kernel(const struct common *c, struct opened *o,
		  const struct space_opts *space)
{
	struct atw_err err = { 0 };
	int r = open_kernel(space, o, &err);

	if (r < 0) {
		if (r != ATW_E_USAGE)
			atw_err_wrap(&err, "%s", o->name);
		return complain(&err);
	}
	if (c->verbose)
		remark(c, "%s: %s, root from %s", o->name,
		       atw_kernel_space(o->kernel)->paging.name,
		       atw_kernel_root_why(o->kernel));
	return EXIT_COMPLETE;
}

int open_source(const struct common *c, const char *name,
		const struct space_opts *space, struct opened *ret)
{
	struct opened o = { .name = name };
	struct atw_source *traced;
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE;

	if (atw_source_open(name, c->parts.v, c->parts.n, &o.source, &err) < 0)
		return complain(&err);
	if (c->verbose > 1 &&
	    atw_source_trace(o.source, trace, NULL, &traced, &err) == ATW_OK)
		o.source = traced;
	remark_defects(c, &o);
	find_release(&o);
	if (space)
		status = attach_kernel(c, &o, space);
	if (status)
		close_source(&o);
	else
		*ret = o;
	return status;
}

void close_source(struct opened *o)
{
	atw_kernel_close(o->kernel);
	atw_source_close(o->source);
}

/* ---- addresses ---- */

/* VMCOREINFO names a few symbols, which is enough to find one's way. */
static bool find_symbol(const struct opened *o, const char *name, size_t len,
			uint64_t *ret)
{
	const struct atw_vmcoreinfo *vi = atw_kernel_vmcoreinfo(o->kernel);
	char key[128];

	if (!vi || !len || len > 100)
		return false;
	snprintf(key, sizeof(key), "SYMBOL(%.*s)", (int)len, name);
	return atw_vmcoreinfo_u64(vi, key, ret) == ATW_OK;
}

static int check_valid(const struct opened *o, const char *text,
		       const struct address *a, struct atw_err *err)
{
	const struct atw_space *sp = atw_kernel_space(o->kernel);
	uint64_t bad = !atw_va_valid(&sp->paging, ATW_VA(a->first)) ? a->first : a->last;

	if (!a->is_range && !atw_va_valid(&sp->paging, ATW_VA(bad)))
		return atw_err_set(err, ATW_E_USAGE,
				   "%s: no address of %s (%u bits, sign-extended)", text,
				   sp->paging.name, sp->paging.va_bits);
	if (!o->user_space && sp->paging.va_bits > 32 && !(a->last >> 63)) {
		atw_err_set(err, ATW_E_USAGE,
			    "%s: is a user address, and nothing says of which process", text);
		atw_err_hint(err, "--cpu N takes the page tables a CPU was using, --root PHYS any others");
		return ATW_E_USAGE;
	}
	return ATW_OK;
}

int parse_address(const struct opened *o, const char *text, struct address *ret,
		  struct atw_err *err)
{
	size_t name = strcspn(text, "+");
	struct num_range range;
	struct address a = { 0 };
	uint64_t base, off = 0;

	if (num_range(text, 1, &range, err) == ATW_OK) {
		a = (struct address){ range.first, range.last,
				      strpbrk(text, "+-") != NULL };
	} else if (find_symbol(o, text, name, &base)) {
		if (text[name] && !num_any(text + name + 1, strlen(text + name + 1), &off))
			return atw_err_set(err, ATW_E_USAGE,
					   "'%s': '%s' is not an offset", text,
					   text + name + 1);
		a.first = a.last = base + off;
	} else {
		/* What begins with a number was meant as one: then *err says what
		 * is wrong with it. */
		if (!strchr("0123456789", text[0]) && text[0] &&
		    !strchr(text, '-') && !num_hex(text, name, &base))
			return atw_err_set(err, ATW_E_USAGE,
					   "'%s' is neither an address (hexadecimal) nor a symbol that %s names",
					   text, o->name);
		return ATW_E_USAGE;
	}
	*ret = a;
	return check_valid(o, text, &a, err);
}

void output_opts(const struct common *c, const struct opened *o,
		 struct atw_output_opts *ret)
{
	*ret = (struct atw_output_opts){
		.format = c->format, .path = c->output, .columns = c->columns,
		.filter = c->filter, .sort = c->sort, .group = c->group,
		.units = !c->units || *c->units == 'h' ? ATW_UNITS_HUMAN :
			 *c->units == 'b' ? ATW_UNITS_BYTES : ATW_UNITS_PAGES,
		.page_shift = o && o->kernel ?
			atw_kernel_space(o->kernel)->paging.page_shift : 12,
		.color = c->color && *c->color == 'a' && c->color[1] == 'l' ? true :
			 c->color && *c->color == 'n' ? false :
			 !c->output && isatty(STDOUT_FILENO),
	};
}
