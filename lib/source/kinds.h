/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kinds.h - declares the operations of every kind in sources.def. */
#ifndef SOURCE_KINDS_H
#define SOURCE_KINDS_H

#include "source/source.h"

#define SOURCE(name) extern const struct atw_source_ops source_##name;
#include "source/sources.def"
#undef SOURCE

#endif
