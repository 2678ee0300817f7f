/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call instructions are recognised in bytes as assemblers write them, with what objdump
 * prints beside.
 */
#include "test.h"

#include "kmap/lib/call_insn.h"

#define IP UINT64_C(0xffffffff81000000)

static const struct {
	enum call_machine machine;
	size_t n;
	uint8_t b[8];
	enum call_insn want;
	int64_t target;          /* from IP */
	const char *text;
} cases[] = {
	{ CALL_X86, 5, { 0xe8, 0x10, 0, 0, 0 }, CALL_DIRECT, 0x15, "call .+0x15" },
	{ CALL_X86, 5, { 0xe8, 0xf0, 0xff, 0xff, 0xff }, CALL_DIRECT, -0xb, "call .-0xb" },
	{ CALL_X86, 6, { 0x2e, 0xe8, 0, 0x10, 0, 0 }, CALL_DIRECT, 0x1006, "cs call .+0x1006" },
	{ CALL_X86, 2, { 0xff, 0xd0 }, CALL_INDIRECT, 0, "call *%rax" },
	{ CALL_X86, 3, { 0x41, 0xff, 0xd3 }, CALL_INDIRECT, 0, "call *%r11" },
	{ CALL_X86, 3, { 0xff, 0x50, 0x18 }, CALL_INDIRECT, 0, "call *0x18(%rax)" },
	{ CALL_X86, 7, { 0xff, 0x14, 0xc5, 0, 0x10, 0, 0x82 }, CALL_INDIRECT, 0,
	  "call *-0x7dfff000(,%rax,8)" },
	{ CALL_X86, 2, { 0xff, 0xe0 }, CALL_NONE, 0, "jmp *%rax" },
	{ CALL_X86, 2, { 0xff, 0xc0 }, CALL_NONE, 0, "inc %eax" },
	{ CALL_X86, 5, { 0xe9, 0x10, 0, 0, 0 }, CALL_NONE, 0, "jmp .+0x15" },
	{ CALL_X86, 1, { 0xc3 }, CALL_NONE, 0, "ret" },
	{ CALL_X86, 1, { 0xff }, CALL_NONE, 0, "cut off" },
	{ CALL_X86, 0, { 0 }, CALL_NONE, 0, "nothing" },
	{ CALL_ARM64, 4, { 0x04, 0, 0, 0x94 }, CALL_DIRECT, 0x10, "bl .+0x10" },
	{ CALL_ARM64, 4, { 0xff, 0xff, 0xff, 0x97 }, CALL_DIRECT, -4, "bl .-4" },
	{ CALL_ARM64, 4, { 0x60, 0x00, 0x3f, 0xd6 }, CALL_INDIRECT, 0, "blr x3" },
	{ CALL_ARM64, 4, { 0x1f, 0x08, 0x3f, 0xd6 }, CALL_INDIRECT, 0, "blraaz x0" },
	{ CALL_ARM64, 4, { 0x41, 0x08, 0x3f, 0xd7 }, CALL_INDIRECT, 0, "blraa x2, x1" },
	{ CALL_ARM64, 4, { 0x60, 0x00, 0x1f, 0xd6 }, CALL_NONE, 0, "br x3" },
	{ CALL_ARM64, 4, { 0xc0, 0x03, 0x5f, 0xd6 }, CALL_NONE, 0, "ret" },
	{ CALL_ARM64, 4, { 0x04, 0, 0, 0x14 }, CALL_NONE, 0, "b .+0x10" },
	{ CALL_RISCV, 4, { 0xef, 0x00, 0x40, 0x01 }, CALL_DIRECT, 0x14, "jal .+0x14" },
	{ CALL_RISCV, 4, { 0xef, 0xf0, 0x9f, 0xff }, CALL_DIRECT, -8, "jal .-8" },
	{ CALL_RISCV, 4, { 0xef, 0x10, 0x00, 0x00 }, CALL_DIRECT, 0x1000, "jal .+0x1000" },
	{ CALL_RISCV, 4, { 0x6f, 0x00, 0x40, 0x01 }, CALL_NONE, 0, "j .+0x14" },
	{ CALL_RISCV, 4, { 0xe7, 0x80, 0x07, 0x00 }, CALL_INDIRECT, 0, "jalr a5" },
	{ CALL_RISCV, 4, { 0x67, 0x80, 0x00, 0x00 }, CALL_NONE, 0, "ret" },
	{ CALL_RISCV, 2, { 0x82, 0x97 }, CALL_INDIRECT, 0, "c.jalr a5" },
	{ CALL_RISCV, 2, { 0x82, 0x87 }, CALL_NONE, 0, "c.jr a5" },
	{ CALL_RISCV, 2, { 0x02, 0x90 }, CALL_NONE, 0, "c.ebreak" },
};

TEST(what_is_a_call_and_of_what)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t target = IP;
		enum call_insn got = call_insn(cases[i].machine, IP, cases[i].b, cases[i].n,
					       &target);

		if (got != cases[i].want || target != IP + (uint64_t)cases[i].target)
			TEST_FAIL("%s: %d, to %#llx", cases[i].text, got, (unsigned long long)target);
	}
	CHECK_EQ(sizeof(cases) / sizeof(*cases), 30);
}
