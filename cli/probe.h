/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe.h - answers of `atwalk probe`. */
#pragma once

#include "atwalk.h"

/* What one question found. */
struct probe_answer {
	bool yes, hinted;
	char why[1024], command[256];
};

/* Sets the command that grants these capabilities, or why there is none. */
void probe_needs(struct probe_answer *a, const char *caps);
int probe_put_row(struct atw_output *out, const char *name, const char *gives,
		  const struct probe_answer *a, struct atw_err *err);

/* ---- probe_vm.c ---- */

/* What stands in the way of reading the guest of this process: a row for each check. */
int probe_machine(struct atw_output *out, uint64_t pid, struct atw_err *err);
