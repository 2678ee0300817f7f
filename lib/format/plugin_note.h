/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin_note.h - identity of a plugin, from the file of a shared object that is not
 * loaded. Pure: the file is borrowed, and nothing in it is trusted.
 */
#pragma once

#include <atwalk/plugin.h>

struct plugin_note {
	bool is64;
	uint16_t machine;        /* e_machine */
	uint32_t abi;
	uint32_t size;           /* of its struct atw_plugin */
	uint32_t kinds;          /* enum atw_plugin_kind */
	char name[32];           /* "" if the file has no valid note */
	char version[32];
	char help[112];
	char formats[96];        /* separated by commas */
	char sources[96];        /* likewise */
	char magic[256];         /* see plugin_magic.h */
};

/* Letters a-z, digits, _ and -; not empty. */
bool plugin_name_is_valid(const char *name);
/*
 * On failure *ret has what could be read. ATW_E_FORMAT: no shared object. _MISSING: no note.
 * _DAMAGED: an invalid one, or one that contradicts the file. _UNSUPPORTED: for another
 * version of the interface.
 */
int plugin_note_read(struct atw_blob file, struct plugin_note *ret, struct atw_err *err);
/* "annotator,report" */
void plugin_kinds_text(uint32_t kinds, char ret[64]);
/* Is the word one of those that are separated by commas? */
bool plugin_list_has(const char *list, const char *word);
