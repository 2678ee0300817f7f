/* SPDX-License-Identifier: GPL-2.0-or-later */
/* address_args.h - address arguments of walk and map, and the process that maps each. */
#ifndef CLI_ADDRESS_ARGS_H
#define CLI_ADDRESS_ARGS_H

#include "atwalk.h"

struct address_arg {
	struct address a;
	bool owned, unmapped; /* its process was searched for; none maps it */
	struct subject owner; /* the process found */
};

/*
 * Parses all addresses before any process is read. Prints errors; returns 0 or an exit
 * status.
 */
int address_args_find(const struct common *c, const struct space_opts *space,
		      struct session *s, char **argv, struct address_arg *arg, int n);
/* Parses one address. Without page tables only addresses of processes are valid. */
int address_arg_parse(const struct session *s, const char *text, struct address *ret,
		      struct atw_err *err);

/* Each in turn, with its process as the session's, until one fails. */
typedef int address_arg_fn(void *arg, const struct address_arg *t, struct atw_err *err);
int address_args_each(struct session *s, const struct address_arg *t, int n,
		      address_arg_fn *fn, void *arg, struct atw_err *err);
/* A row for an address that no process maps. */
int address_arg_put_unmapped(const struct address_arg *t, struct atw_output *out,
			     struct atw_err *err);

#endif
