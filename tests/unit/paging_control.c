/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control registers are decoded by name, with values of real CPUs and of QEMU's. */
#include "paging/control.h"

#include "test.h"

static const char *text(const char *reg, uint64_t value)
{
	static char buf[400];
	const struct control_register *r = control_find(reg);

	return r ? control_text(r, value, buf, sizeof(buf)) : "";
}

TEST(registers_of_x86)
{
	CHECK_STR(text("CR0", 0x80050033), "PE MP ET NE WP AM PG");
	CHECK_STR(text("CR4", 0x750ef0), "PSE PAE MCE PGE OSFXSR OSXMMEXCPT UMIP FSGSBASE OSXSAVE SMEP SMAP PKE");
	CHECK_STR(text("CR4", 0x1220a0), "PAE PGE VMXE PCIDE SMEP");
	CHECK_STR(text("EFER", 0xd01), "SCE LME LMA NXE");
}

TEST(registers_of_arm64)
{
	CHECK_STR(text("SCTLR_EL1", 0x200000034f4d91d),
		  "M C SA SA0 SED EOS I DZE UCT nTWE TSCXT IESB EIS SPAN UCI nTLSMD LSMAOE TCF0=0 TCF=0 TWEDEL=0 EPAN");
	CHECK_STR(text("TCR_EL1", 0x500074b5503510),
		  "T0SZ=0x10 IRGN0=1 ORGN0=1 SH0=3 TG0=0 T1SZ=0x10 A1 IRGN1=1 ORGN1=1 SH1=3 TG1=2 IPS=4 AS TBI0 TBI1 HWU0=0 HWU1=0 TBID1 NFD1");
}

TEST(satp)
{
	CHECK_STR(text("satp", 0xa00010000008a2a6), "MODE=0xa ASID=1 PPN=0x8a2a6");
}

TEST(what_is_not_known_is_shown)
{
	char buf[8];

	CHECK_STR(text("CR0", 0), "");
	CHECK_STR(text("CR0", 0x40 | 1), "PE 0x40");
	CHECK_STR(text("CR0", (uint64_t)1 << 63), "0x8000000000000000");
	CHECK(!control_find("CR9"));
	CHECK(!control_field_find(control_find("CR0"), "SMEP"));
	CHECK_EQ(control_field_find(control_find("CR4"), "SMEP")->shift, 20);
	CHECK_STR(control_text(control_find("CR0"), 0x80050033, buf, sizeof(buf)), "PE MP E");
	CHECK_STR(control_text(control_find("CR0"), 0x80050033, buf, 1), "");
}

/* No two fields share a bit. */
TEST(fields_do_not_overlap)
{
	static const char *const names[] = { "CR0", "CR4", "EFER", "SCTLR_EL1", "TCR_EL1", "satp" };

	for (unsigned i = 0; i < 6; i++) {
		uint64_t all = 0;

		for (const struct control_field *f = control_find(names[i])->field; f->width; f++) {
			uint64_t mask = (((uint64_t)1 << f->width) - 1) << f->shift;

			CHECK(f->shift + f->width <= 64);
			CHECK(!(all & mask));
			all |= mask;
		}
	}
}
