/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.h - the version number, defined here only. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define ATWALK_VERSION "0.2.0"

#endif
