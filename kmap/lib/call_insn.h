/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_insn.h - is an instruction a call, and of what? Intel SDM 2, CALL; Arm ARM, BL and
 * BLR; RISC-V unprivileged specification, JAL, JALR and C.JALR. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum call_insn { CALL_NONE, CALL_DIRECT, CALL_INDIRECT };
enum call_machine { CALL_OTHER, CALL_X86, CALL_ARM64, CALL_RISCV };

/* *target: of a direct call. Jumps that leave no way back are none. */
enum call_insn call_insn(enum call_machine machine, uint64_t ip, const uint8_t *bytes, size_t n,
			 uint64_t *target);
