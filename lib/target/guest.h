/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - running guests with memory that only the kernel of this machine can find: kvm:PID,
 * kvm:NAME, kvm:SOCKET.
 */
#pragma once

#include "source/source.h"

/* What follows "kvm:"; NULL: the SOURCE does not begin so. */
const char *guest_word(const char *name);
/*
 * Reads this kernel for that, unless a layout was given; it is closed again. Errors name the
 * source.
 */
int guest_open(const char *name, const struct atw_source_spec *given, struct atw_source **ret,
	       struct atw_err *err);
