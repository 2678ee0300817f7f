/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qemu_program.h - installed QEMU programs, and atwalk's plugins for them. */
#pragma once

#include <atwalk/base.h>

/* The first two numbers of the version that `qemu --version` prints. */
int qemu_program_version(const char *qemu, unsigned *major, unsigned *minor,
			 struct atw_err *err);
/*
 * The plugin atwalk-NAME-N.so for this version of QEMU, beside the running program or in
 * the folder where it is installed. ATW_E_MISSING: it is not there, and *ret is the name
 * of its file.
 */
int qemu_program_plugin(const char *name, unsigned major, char *ret, size_t len,
			struct atw_err *err);
