/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers.h - registers of the CPU that runs the callback; see registers.c. */
#pragma once

#include "recorder.h"

enum { ARGS = 4 };
enum { REG_SP, REG_RESULT, REG_LINK, REG_ARG, REGISTERS = REG_ARG + ARGS };

/* false: how this machine calls functions is not known. */
bool registers_init(void);
bool register_read(unsigned reg, uint64_t *ret);
/* Memory, also what is not mapped with all of RAM. */
bool memory_read(uint64_t va, void *ret, uint64_t len);
/* At the first instruction of a function: where it returns to; 0: not known. */
uint64_t return_address(uint64_t sp);
