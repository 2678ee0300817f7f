/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_folder.h - small files that spare a later command a search, kept until the
 * machine is switched off.
 *
 * What lies there is only taken from files that this user alone could have written, and a
 * failure is never an error: it is searched again.
 */
#pragma once

#include <atwalk/base.h>

/*
 * $ATWALK_RUNTIME_DIR, else /run/atwalk of root, and $XDG_RUNTIME_DIR/atwalk of others.
 * false: there is none, or the program has more rights than its caller (AT_SECURE).
 */
bool runtime_folder_path(char *ret, size_t len);

/*
 * What was written to a file of the folder, if it is not longer than `most`; to be freed.
 * NULL: it is not there, is longer, is damaged, or is or lies in what others may write to.
 */
void *runtime_folder_read(const char *folder, const char *name, size_t most, size_t *ret_len);

/*
 * Replaces the file as a whole, and removes those of guests that have ended: their names
 * are "guest-PID-" and more. The folder is made.
 */
void runtime_folder_write(const char *folder, const char *name, const void *data, size_t len);

/* FNV-1a: the same in each run, unlike base/hash.h. Continues `sum`; 0 at first. */
uint64_t runtime_folder_sum(uint64_t sum, const void *data, size_t len);
