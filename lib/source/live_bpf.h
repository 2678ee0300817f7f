/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_bpf.h - the running kernel's memory through BPF and its direct map. */
#pragma once

#include "source/source.h"

/*
 * Make `s` read so: its operations become those of this way. After a failure
 * `s` is as it was. ATW_E_PERM says what would allow it. `remember`: as in
 * struct atw_source_spec.
 */
int live_bpf_open(struct atw_source *s, const char *remember, struct atw_err *err);
