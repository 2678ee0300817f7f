/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nested.h - --nested: where the process of a guest has its memory, and where the host does. */
#pragma once

#include "listing.h"

struct nested {
	struct atw_source *guest;
	struct session host;             /* this kernel, with the process of the guest */
	struct listing list;
	uint64_t lost;                   /* tables of the host that cannot be read */
};

/* Before anything is printed; the exit status is 0 if it is open. */
int nested_open(const struct common *c, struct session *guest, struct nested *ret);
/* A zeroed struct is accepted. */
void nested_close(struct nested *n);
/* The columns of the host for what is at `physical` of the row. */
int nested_fill(struct nested *n, struct row *r, struct atw_err *err);
