/* SPDX-License-Identifier: GPL-2.0-or-later */
/* language.h - the language of messages: that of the locale, if there is a catalogue. */
#pragma once

#include <stdbool.h>

/* Once, before any message. Nothing else of the locale is used: numbers stay as they are. */
void language_begin(void);
/*
 * Until (false), messages are in English: they become values that programs read. No other
 * thread may look a message up meanwhile.
 */
void language_plain(bool plain);
bool language_is_plain(void);
