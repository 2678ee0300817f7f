/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nested.h - --nested: where the process of a guest has its memory, where the host does, and
 * what the CPU's own tables of the guest (stage 2) have.
 */
#pragma once

#include "listing.h"
#include "target/guest.h"

struct nested {
	struct atw_source *guest;
	char host_name[512];
	struct common of_host;           /* without what only the guest has; for the session */
	struct session host;             /* the guest's host, with the process of the guest */
	struct listing list;
	uint64_t lost;                   /* tables of the host that cannot be read */
	bool stage2;                     /* is known; else there are no such columns */
	struct kvm_stage2 tables;
	struct vmm_slot *slot;
	size_t nslots;
};

/* Before anything is printed; the exit status is 0 if it is open. */
int nested_open(const struct common *c, struct session *guest, struct nested *ret);
/* A zeroed struct is accepted. */
void nested_close(struct nested *n);
/* The columns of the host for what is at `physical` of the row. */
int nested_fill(struct nested *n, struct row *r, struct atw_err *err);
/* Remarks on what stage 2 is, behind the rows. */
void nested_note(const struct nested *n, struct atw_output *out);
