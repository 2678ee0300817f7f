/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atwalk.h - all of libatwalk's public headers. */
#ifndef ATWALK_ATWALK_H
#define ATWALK_ATWALK_H

#include <atwalk/base.h>
#include <atwalk/extract.h>
#include <atwalk/kernel.h>
#include <atwalk/page.h>
#include <atwalk/paging.h>
#include <atwalk/process.h>
#include <atwalk/record.h>
#include <atwalk/source.h>
#include <atwalk/vmcoreinfo.h>
#include <atwalk/walk.h>

#endif
