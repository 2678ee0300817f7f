/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target.h"

#include <string.h>

void take_whose(struct opened *to, const struct opened *from)
{
	to->space = from->space;
	to->user_space = from->user_space;
	to->pid = from->pid;
	to->mm = from->mm;
	memcpy(to->process, from->process, sizeof(to->process));
	memcpy(to->task, from->task, sizeof(to->task));
}

int parse_target(const struct opened *src, const char *text, struct address *ret,
		 struct atw_err *err)
{
	int r = parse_address(src, text, ret, err);

	if (r < 0 || ret->last <= INT64_MAX || !(src->pagemap || src->capture))
		return r;
	/* Nobody's: what is wrong is that memory cannot be read, if that was wanted. */
	if (src->pagemap && !src->user_space && no_memory_why(src, err))
		return err->status;
	r = atw_err_set(err, ATW_E_UNSUPPORTED,
			"%s: %s: is a kernel address, and %s tells of those of processes alone",
			src->name, text, src->capture ? "a capture" : "/proc");
	if (!src->capture)
		atw_err_hint(err, "live:bpf reads the kernel's own tables");
	return r;
}

int find_targets(const struct common *c, const struct space_opts *space, struct opened *src,
		 char **argv, struct target *t, int n)
{
	const struct opened own = *src;
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE;

	for (int i = 0; i < n; i++)
		if (parse_target(src, argv[i], &t[i].a, &err) < 0)
			return complain(&err);
	for (int i = 0; i < n && !status; i++) {
		if (!t[i].a.whose || src->capture)
			continue;
		status = select_owner(c, src, space, argv[i], t[i].a.first, t[i].a.last,
				      &t[i].nobody);
		t[i].owned = true;
		t[i].whose = *src;
		take_whose(src, &own);
	}
	return status;
}
