/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.c - tables of the fields of control registers. */
#include "paging/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Intel SDM, volume 3A, 2.5 "Control Registers"; AMD APM, volume 2, 3.1. */
static const struct control_field cr0[] = {
	{ 0, 1, "PE" }, { 1, 1, "MP" }, { 2, 1, "EM" }, { 3, 1, "TS" }, { 4, 1, "ET" },
	{ 5, 1, "NE" }, { 16, 1, "WP" }, { 18, 1, "AM" }, { 29, 1, "NW" }, { 30, 1, "CD" },
	{ 31, 1, "PG" }, { 0 }
};
static const struct control_field cr4[] = {
	{ 0, 1, "VME" }, { 1, 1, "PVI" }, { 2, 1, "TSD" }, { 3, 1, "DE" }, { 4, 1, "PSE" },
	{ 5, 1, "PAE" }, { 6, 1, "MCE" }, { 7, 1, "PGE" }, { 8, 1, "PCE" }, { 9, 1, "OSFXSR" },
	{ 10, 1, "OSXMMEXCPT" }, { 11, 1, "UMIP" }, { 12, 1, "LA57" }, { 13, 1, "VMXE" },
	{ 14, 1, "SMXE" }, { 16, 1, "FSGSBASE" }, { 17, 1, "PCIDE" }, { 18, 1, "OSXSAVE" },
	{ 19, 1, "KL" }, { 20, 1, "SMEP" }, { 21, 1, "SMAP" }, { 22, 1, "PKE" }, { 23, 1, "CET" },
	{ 24, 1, "PKS" }, { 25, 1, "UINTR" }, { 27, 1, "LASS" }, { 28, 1, "LAM_SUP" },
	{ 32, 1, "FRED" }, { 0 }
};
/* SDM, volume 3A, 2.2.1; AMD APM, volume 2, 3.1.7 "Extended Feature Enable Register". */
static const struct control_field efer[] = {
	{ 0, 1, "SCE" }, { 8, 1, "LME" }, { 10, 1, "LMA" }, { 11, 1, "NXE" }, { 12, 1, "SVME" },
	{ 13, 1, "LMSLE" }, { 14, 1, "FFXSR" }, { 15, 1, "TCE" }, { 17, 1, "MCOMMIT" },
	{ 18, 1, "INTWB" }, { 20, 1, "UAIE" }, { 21, 1, "AIBRSE" }, { 0 }
};
/* Arm ARM (DDI 0487), D24.2 "General system control registers", SCTLR_EL1. */
static const struct control_field sctlr_el1[] = {
	{ 0, 1, "M" }, { 1, 1, "A" }, { 2, 1, "C" }, { 3, 1, "SA" }, { 4, 1, "SA0" },
	{ 5, 1, "CP15BEN" }, { 6, 1, "nAA" }, { 7, 1, "ITD" }, { 8, 1, "SED" }, { 9, 1, "UMA" },
	{ 10, 1, "EnRCTX" }, { 11, 1, "EOS" }, { 12, 1, "I" }, { 13, 1, "EnDB" }, { 14, 1, "DZE" },
	{ 15, 1, "UCT" }, { 16, 1, "nTWI" }, { 18, 1, "nTWE" }, { 19, 1, "WXN" },
	{ 20, 1, "TSCXT" }, { 21, 1, "IESB" }, { 22, 1, "EIS" }, { 23, 1, "SPAN" },
	{ 24, 1, "E0E" }, { 25, 1, "EE" }, { 26, 1, "UCI" }, { 27, 1, "EnDA" },
	{ 28, 1, "nTLSMD" }, { 29, 1, "LSMAOE" }, { 30, 1, "EnIB" }, { 31, 1, "EnIA" },
	{ 32, 1, "CMOW" }, { 33, 1, "MSCEn" }, { 35, 1, "BT0" }, { 36, 1, "BT1" },
	{ 37, 1, "ITFSB" }, { 38, 2, "TCF0" }, { 40, 2, "TCF" }, { 42, 1, "ATA0" },
	{ 43, 1, "ATA" }, { 44, 1, "DSSBS" }, { 45, 1, "TWEDEn" }, { 46, 4, "TWEDEL" },
	{ 50, 1, "TMT0" }, { 51, 1, "TMT" }, { 52, 1, "TME0" }, { 53, 1, "TME" },
	{ 54, 1, "EnASR" }, { 55, 1, "EnAS0" }, { 56, 1, "EnALS" }, { 57, 1, "EPAN" },
	{ 58, 1, "TCSO0" }, { 59, 1, "TCSO" }, { 60, 1, "EnTP2" }, { 61, 1, "NMI" },
	{ 62, 1, "SPINTMASK" }, { 63, 1, "TIDCP" }, { 0 }
};
/* The same, TCR_EL1. */
static const struct control_field tcr_el1[] = {
	{ 0, 6, "T0SZ" }, { 7, 1, "EPD0" }, { 8, 2, "IRGN0" }, { 10, 2, "ORGN0" }, { 12, 2, "SH0" },
	{ 14, 2, "TG0" }, { 16, 6, "T1SZ" }, { 22, 1, "A1" }, { 23, 1, "EPD1" }, { 24, 2, "IRGN1" },
	{ 26, 2, "ORGN1" }, { 28, 2, "SH1" }, { 30, 2, "TG1" }, { 32, 3, "IPS" }, { 36, 1, "AS" },
	{ 37, 1, "TBI0" }, { 38, 1, "TBI1" }, { 39, 1, "HA" }, { 40, 1, "HD" }, { 41, 1, "HPD0" },
	{ 42, 1, "HPD1" }, { 43, 4, "HWU0" }, { 47, 4, "HWU1" }, { 51, 1, "TBID0" },
	{ 52, 1, "TBID1" }, { 53, 1, "NFD0" }, { 54, 1, "NFD1" }, { 55, 1, "E0PD0" },
	{ 56, 1, "E0PD1" }, { 57, 1, "TCMA0" }, { 58, 1, "TCMA1" }, { 59, 1, "DS" },
	{ 60, 1, "MTX0" }, { 61, 1, "MTX1" }, { 0 }
};
/* RISC-V privileged specification, "Supervisor Address Translation and Protection". */
static const struct control_field satp[] = {
	{ 60, 4, "MODE" }, { 44, 16, "ASID" }, { 0, 44, "PPN" }, { 0 }
};

static const struct control_register registers[] = {
	{ "CR0", "Intel SDM 3A, 2.5", cr0 }, { "CR4", "Intel SDM 3A, 2.5", cr4 },
	{ "EFER", "Intel SDM 3A, 2.2.1", efer },
	{ "SCTLR_EL1", "Arm ARM, D24.2, SCTLR_EL1", sctlr_el1 },
	{ "TCR_EL1", "Arm ARM, D24.2, TCR_EL1", tcr_el1 },
	{ "satp", "RISC-V privileged, satp", satp },
};

const struct control_register *control_find(const char *name)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (!strcmp(registers[i].name, name))
			return &registers[i];
	return NULL;
}

const struct control_field *control_field_find(const struct control_register *r, const char *name)
{
	for (const struct control_field *f = r->field; f->width; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

const char *control_text(const struct control_register *r, uint64_t value, char *buf, size_t len)
{
	uint64_t rest = value;
	size_t n = 0;

	if (len)
		buf[0] = '\0';
	for (const struct control_field *f = r->field; f->width && n < len; f++) {
		uint64_t v = control_get(f, value);

		rest &= ~((((uint64_t)1 << f->width) - 1) << f->shift);
		if (f->width > 1)
			n += (size_t)snprintf(buf + n, len - n, "%s%s=%s%" PRIx64, n ? " " : "",
					      f->name, v > 9 ? "0x" : "", v);
		else if (v)
			n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? " " : "", f->name);
	}
	if (rest && n < len)
		snprintf(buf + n, len - n, "%s0x%" PRIx64, n ? " " : "", rest);
	return buf;
}
