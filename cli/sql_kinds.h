/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_kinds.h - the tables of atwalk sql. */
#pragma once

#include "common/sql.h"

/* All of them by number; NULL past the end. */
const struct sql_kind *sql_kind(size_t i);
/* The same of a recording of kmap, read by atwalk-kmap. */
const struct sql_kind *sql_recording_kind(size_t i);
