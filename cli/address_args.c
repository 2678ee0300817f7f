/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "address_args.h"

#include "listing.h"

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
