/* SPDX-License-Identifier: GPL-2.0-or-later */
/* captured_facts.h - facts about a capture for `info`. */
#ifndef TARGET_CAPTURED_FACTS_H
#define TARGET_CAPTURED_FACTS_H

#include "target/captured.h"
#include "target/target.h"

void captured_facts(const struct captured *c, const struct target_facts *to);

#endif
