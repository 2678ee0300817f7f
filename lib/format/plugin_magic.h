/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin_magic.h - how files of a plugin's sources are recognized: "NAME@OFFSET=BYTES", a
 * text of its note; see struct atw_plugin_note. Pure.
 */
#pragma once

#include <atwalk/base.h>

/* Is each element about one of the sources, and does it have a digit that is known? */
bool plugin_magic_is_valid(const char *magic, const char *sources);
/* Do these first bytes of a file fit an element about the source? */
bool plugin_magic_matches(const char *magic, const char *source, struct atw_blob head);
