/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lint.h - put in front of every file that clang-tidy looks at: what it cannot
 * see across files is that a failure returns the status it was given, which is
 * below 0. Without that every `if (r < 0)` looks as if it could be missed.
 */
#include <stdlib.h>

#include <atwalk/base.h>

#define atw_err_set(err, status, ...) \
	((void)(atw_err_set)(err, status, __VA_ARGS__), (status))
#define atw_err_set_param(err, status, ...) \
	((void)(atw_err_set_param)(err, status, __VA_ARGS__), (status))
#define atw_err_nomem(err) ((void)(atw_err_nomem)(err), ATW_E_NOMEM)
