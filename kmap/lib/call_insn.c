/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/call_insn.h"

#include <string.h>

static uint32_t call_insn_word(const uint8_t *b)
{
	uint32_t w;

	memcpy(&w, b, sizeof(w));
	return w;
}

/* The number in the low `bits` of it, signed. */
static int64_t call_insn_extended(uint64_t v, unsigned bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);

	return (int64_t)((v & ((sign << 1) - 1)) ^ sign) - (int64_t)sign;
}

/* Segments, which some calls are padded with, 66, F2 (BND), and REX. */
static size_t call_insn_prefixes(const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && (b[i] == 0x2e || b[i] == 0x36 || b[i] == 0x3e || b[i] == 0x66 ||
			 b[i] == 0xf2 || (b[i] & 0xf0) == 0x40))
		i++;
	return i;
}

static enum call_insn call_insn_x86(uint64_t ip, const uint8_t *b, size_t n,
				    uint64_t *target)
{
	size_t i = call_insn_prefixes(b, n);

	if (i < n && b[i] == 0xe8 && n - i == 5) {
		*target = ip + n +
			  (uint64_t)call_insn_extended(call_insn_word(b + i + 1), 32);
		return CALL_DIRECT;
	}
	/* FF /2 */
	return i + 1 < n && b[i] == 0xff && (b[i + 1] >> 3 & 7) == 2 ? CALL_INDIRECT : CALL_NONE;
}

static enum call_insn call_insn_arm64(uint64_t ip, const uint8_t *b, size_t n,
				      uint64_t *target)
{
	uint32_t w = n == 4 ? call_insn_word(b) : 0;

	if (w >> 26 == 0x25) {
		*target = ip + (uint64_t)(call_insn_extended(w, 26) * 4);
		return CALL_DIRECT;
	}
	/* BLR, and with a key: BLRAA and so on. */
	return (w & 0xfffffc1f) == 0xd63f0000 || (w & 0xfefff800) == 0xd63f0800 ? CALL_INDIRECT
										: CALL_NONE;
}

static enum call_insn call_insn_riscv(uint64_t ip, const uint8_t *b, size_t n,
				      uint64_t *target)
{
	uint32_t w = n == 4 ? call_insn_word(b) : 0;

	/* JAL with x1 for the way back: imm[20|10:1|11|19:12]. */
	if ((w & 0xfff) == 0x0ef) {
		uint64_t imm = (uint64_t)(w >> 31) << 20 | (w >> 12 & 0xff) << 12 |
			       (w >> 20 & 1) << 11 | (w >> 21 & 0x3ff) << 1;

		*target = ip + (uint64_t)call_insn_extended(imm, 21);
		return CALL_DIRECT;
	}
	if ((w & 0x7fff) == 0x00e7)
		return CALL_INDIRECT;
	if (n == 2) {
		uint32_t half = b[0] | (uint32_t)b[1] << 8;

		return (half & 0xf07f) == 0x9002 && half >> 7 & 31 ? CALL_INDIRECT : CALL_NONE;
	}
	return CALL_NONE;
}

enum call_insn call_insn(enum call_machine machine, uint64_t ip, const uint8_t *bytes, size_t n,
			 uint64_t *target)
{
	switch (machine) {
	case CALL_X86:
		return call_insn_x86(ip, bytes, n, target);
	case CALL_ARM64:
		return call_insn_arm64(ip, bytes, n, target);
	case CALL_RISCV:
		return call_insn_riscv(ip, bytes, n, target);
	default:
		return CALL_NONE;
	}
}
