/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.h - the version number, defined here only. */
#pragma once

#define ATWALK_VERSION "0.2.0"
