/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atwalk.h - all of libatwalk's public headers. */
#ifndef ATWALK_ATWALK_H
#define ATWALK_ATWALK_H

#include <atwalk/base.h>
#include <atwalk/column.h>
#include <atwalk/plugin.h>
#include <atwalk/process.h>
#include <atwalk/report.h>
#include <atwalk/rmap.h>
#include <atwalk/space.h>
#include <atwalk/symbol.h>
#include <atwalk/target.h>

#endif
