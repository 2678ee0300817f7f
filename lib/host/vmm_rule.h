/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm_rule.h - RAM of a guest by QEMU's command line and /proc/PID/maps alone. */
#pragma once

#include "host/vmm.h"

/*
 * Sets machine, RAM, areas and pieces of *v. On failure some may be set, and the sentence has
 * guesses of the layout.
 */
int vmm_by_rule(struct vmm *v, const struct vmm_words *w, struct atw_blob maps,
		struct atw_err *err);
